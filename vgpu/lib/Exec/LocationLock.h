//===- LocationLock.h - atomic access to global memory among host threads --------------------===//
//
// Blocks run on several host threads. An update of memory, and an access of 128 bits, which the
// host does not move at once, hold the locks of the 64-byte lines they touch.
//
//===-----------------------------------------------------------------------------------===//
#ifndef VGPU_LIB_EXEC_LOCATIONLOCK_H
#define VGPU_LIB_EXEC_LOCATIONLOCK_H

#include "vgpu/Exec/LaneMemory.h"
#include "vgpu/Machine/Launch.h"
#include <mutex>

namespace vgpu {

/// Keeps blocks on other host threads away from the `bytes` one lane accesses, if there are any.
class LocationLock {
public:
  LocationLock(const Warp &warp, const LaneAddresses &lanes, unsigned lane, unsigned bytes) {
    bool isOwn = lanes.space == ptx::Space::Shared && !lanes.isMixed; // of the block
    if (!isOwn && warp.launch->config.numThreads != 1)
      take(lanes.host[lane], bytes);
  }
  /// The same for an element that a bulk reduction updates.
  LocationLock(const uint8_t *host, unsigned bytes) { take(host, bytes); }

private:
  void take(const uint8_t *host, unsigned bytes) {
    // A host array need not be aligned as its device address is, so that two lines may be touched.
    unsigned begin = stripeOf(host), end = stripeOf(host + bytes - 1);
    first = std::unique_lock(stripes[std::min(begin, end)]);
    if (begin != end)
      second = std::unique_lock(stripes[std::max(begin, end)]);
  }

  static constexpr unsigned numStripes = 64;
  static unsigned stripeOf(const uint8_t *host) {
    return (reinterpret_cast<uintptr_t>(host) >> 6) % numStripes;
  }
  static inline std::mutex stripes[numStripes];
  std::unique_lock<std::mutex> first, second; ///< in the order of the stripes: no deadlock
};

} // namespace vgpu

#endif // VGPU_LIB_EXEC_LOCATIONLOCK_H
