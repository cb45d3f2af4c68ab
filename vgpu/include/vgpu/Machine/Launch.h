//===- Launch.h - what all blocks of one launch share ------------------------------------===//
#ifndef VGPU_MACHINE_LAUNCH_H
#define VGPU_MACHINE_LAUNCH_H

#include "vgpu/Events/CheckSet.h"
#include "vgpu/Events/FindingSink.h"
#include "vgpu/Machine/Program.h"
#include "vgpu/Memory/GlobalMemory.h"
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace vgpu {

class DefinednessTracker;
class Observer;

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
  uint64_t count() const { return uint64_t(x) * y * z; }
};

/// Bytes of an argument that is a buffer.
struct WatchedBytes {
  unsigned argument = 0;
  uint64_t offset = 0, bytes = 0;
};

/// A block whose events are recorded (LaunchResult::trace).
struct TracedBlock {
  uint64_t block = 0;   ///< its linear index in the grid
  bool isAlone = false; ///< only it runs, with the other blocks of its cluster
};

/// When asynchronous operations take effect: when they are issued, or when they are waited for.
/// Hardware chooses any time in between.
enum class AsyncTime : uint8_t { Early, Late };
/// "early" or "late".
llvm::Expected<AsyncTime> parseAsyncTime(llvm::StringRef name);

struct LaunchConfig {
  std::string entry;
  Dim3 grid, block;
  std::optional<Dim3> cluster; ///< blocks of a cluster; empty: what the kernel requires, or one
  uint32_t dynamicSharedBytes = 0;
  std::string arch = "sm_80"; ///< sets limits; may be newer than the PTX's .target
  CheckSet checks;
  AsyncTime asyncTime = AsyncTime::Early;
  bool countMemory = true;         ///< bank conflicts and sectors; costs some speed
  uint64_t stepLimit = 1ull << 34; ///< warp instructions of one block before it counts as endless
  double timeLimitSeconds = 0;     ///< a launch that takes longer is ended; 0: none is
  unsigned numThreads = 0;         ///< host threads; 0: all cores
  /// Tell who wrote these last (LaunchResult::lastWrite); blocks run in order, on one host thread.
  std::optional<WatchedBytes> watch;
  std::optional<TracedBlock> trace;
  /// Called on the calling thread now and then; gives false to end the launch early.
  std::function<bool()> poll;
};

/// Each thread of the host has its own.
struct LaunchState {
  const Program *program = nullptr;
  LaunchConfig config;
  Dim3 cluster; ///< blocks of a cluster; divides the grid
  GlobalMemory *memory = nullptr;
  std::vector<uint8_t> params;          ///< .param window
  std::vector<uint8_t> constants;       ///< .const window
  uint32_t sharedBytes = 0;             ///< static + dynamic
  uint64_t watchedAddress = 0;          ///< of LaunchConfig::watch
  std::vector<Observer *> observers;    ///< empty: nothing is observed
  DefinednessTracker *poison = nullptr; ///< null: definedness is not tracked
  FindingSink *findings = nullptr;
  bool stop = false; ///< a fault in one block ends the launch
  /// Warp instructions whose time calls of the host have taken, not counted yet.
  uint64_t extraSteps = 0;
  size_t printedBytes = 0;
  std::map<uint64_t, std::string> printed; ///< by vprintf, by linear index of the block

  Dim3 clusterGrid() const {
    return {config.grid.x / cluster.x, config.grid.y / cluster.y, config.grid.z / cluster.z};
  }
  /// Whether two blocks, by linear index, are of the same cluster.
  bool areInOneCluster(uint64_t a, uint64_t b) const {
    if (cluster.count() == 1)
      return a == b;
    std::array<uint32_t, 3> x = blockCoords(a), y = blockCoords(b);
    return x[0] / cluster.x == y[0] / cluster.x && x[1] / cluster.y == y[1] / cluster.y &&
           x[2] / cluster.z == y[2] / cluster.z;
  }
  bool isObserved() const { return !observers.empty(); }
  std::array<uint32_t, 3> blockCoords(uint64_t linearIndex) const {
    const Dim3 &grid = config.grid;
    return {static_cast<uint32_t>(linearIndex % grid.x),
            static_cast<uint32_t>(linearIndex / grid.x % grid.y),
            static_cast<uint32_t>(linearIndex / grid.x / grid.y)};
  }
};

} // namespace vgpu

#endif // VGPU_MACHINE_LAUNCH_H
