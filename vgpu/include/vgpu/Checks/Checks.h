//===- Checks.h - the observers of a launch
//------------------------------------------------------------===//
#ifndef VGPU_CHECKS_CHECKS_H
#define VGPU_CHECKS_CHECKS_H

#include "vgpu/Counters/Counters.h"
#include "vgpu/Exec/Launch.h"

namespace vgpu {

class MemoryCounter;

/// Creates the observers that the launch's configuration asks for and registers them in `state`.
class CheckPipeline {
public:
  explicit CheckPipeline(LaunchState &state);
  ~CheckPipeline();
  /// The counters, from the executions by pc and from what the memory counter saw.
  Counters counters(llvm::ArrayRef<uint64_t> executed) const;

private:
  LaunchState &state;
  std::vector<std::unique_ptr<Observer>> owned;
  std::unique_ptr<PoisonTracker> poison;
  MemoryCounter *memory = nullptr;
};

} // namespace vgpu

#endif // VGPU_CHECKS_CHECKS_H
