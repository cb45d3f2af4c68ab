//===- Observers.h - the observers of a launch ---------------------------------------------===//
#ifndef VGPU_LIB_OBSERVERS_H
#define VGPU_LIB_OBSERVERS_H

#include "vgpu/Counters/Counters.h"
#include "vgpu/Machine/Launch.h"

namespace vgpu {

class EventTrace;
class MemoryCounter;
class PoisonTracker;
class RaceCheck;
class WriteWatch;

/// Creates the observers that the launch's configuration names and registers them in `state`.
class CheckPipeline {
public:
  explicit CheckPipeline(LaunchState &state);
  ~CheckPipeline();
  /// Whether the blocks of all these pipelines did without each other, so that the order in which
  /// they ran could not show. Only told if races on global memory are watched.
  static bool areIndependent(llvm::ArrayRef<std::unique_ptr<CheckPipeline>> pipelines);
  /// Takes over what another pipeline of the same launch has counted.
  void absorb(const CheckPipeline &other);
  /// Who wrote the bytes of LaunchConfig::watch last, if anybody did.
  std::optional<AccessSite> lastWrite() const;
  /// What the block of LaunchConfig::trace did; empty if it did not run in this pipeline.
  std::optional<llvm::json::Value> takeTrace();
  /// The counters, from the executions by pc and from what the memory counter saw.
  Counters counters(llvm::ArrayRef<uint64_t> executed) const;

private:
  const Program &program;
  std::vector<std::unique_ptr<Observer>> owned;
  std::unique_ptr<PoisonTracker> poison;
  MemoryCounter *memory = nullptr;
  RaceCheck *races = nullptr;
  WriteWatch *watch = nullptr;
  EventTrace *trace = nullptr;
};

} // namespace vgpu

#endif // VGPU_LIB_OBSERVERS_H
