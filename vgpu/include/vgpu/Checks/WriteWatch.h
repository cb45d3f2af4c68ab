//===- WriteWatch.h - who wrote some bytes last ---------------------------------------------===//
//
// Not a check: it answers the question that follows a wrong value. The launch that is asked has run
// before; it runs again with an eye on a few bytes of global memory (LaunchConfig::watch).
//
//===-----------------------------------------------------------------------------------===//
#ifndef VGPU_CHECKS_WRITEWATCH_H
#define VGPU_CHECKS_WRITEWATCH_H

#include "vgpu/Events/Finding.h"
#include "vgpu/Events/Observer.h"
#include <optional>

namespace vgpu {

class WriteWatch : public Observer {
public:
  WriteWatch(uint64_t begin, uint64_t end) : begin(begin), end(end) {}
  void onAccess(const MemoryAccess &access) override;
  /// Where the bytes were written, stored to or updated; empty if they were not.
  const std::optional<AccessSite> &lastWrite() const { return last; }

private:
  uint64_t begin, end; ///< device addresses
  std::optional<AccessSite> last;
};

} // namespace vgpu

#endif // VGPU_CHECKS_WRITEWATCH_H
