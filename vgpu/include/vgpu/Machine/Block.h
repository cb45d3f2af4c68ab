//===- Block.h - a thread block while it runs --------------------------------------------===//
#ifndef VGPU_MACHINE_BLOCK_H
#define VGPU_MACHINE_BLOCK_H

#include "vgpu/Events/Observer.h"
#include "vgpu/Machine/Warp.h"
#include "llvm/ADT/STLExtras.h"
#include <any>

namespace vgpu {

/// One of the 16 named barriers of a block (PTX: bar, barrier).
struct NamedBarrier {
  uint32_t expectedThreads = 0; ///< 0: all threads of the block
  uint32_t reduction = 0;       ///< bar.red: accumulated and/or/popc
  std::vector<BarrierArrival> arrivals;
};

class SpinWatch;
struct Cluster;

struct Block {
  LaunchState *launch = nullptr;
  std::array<uint32_t, 3> coords = {0, 0, 0};
  uint64_t linearIndex = 0;
  Cluster *cluster = nullptr;
  uint32_t rank = 0; ///< in the cluster
  uint32_t numThreads = 0;
  uint64_t *executed = nullptr; ///< by pc; belongs to the host thread that runs the block
  std::vector<Warp> warps;
  std::vector<uint8_t> shared, sharedShadow;
  std::vector<uint8_t> local, localShadow; ///< localBytes of each thread, one after the other
  std::array<NamedBarrier, 16> barriers;
  /// State a family keeps per block (mbarriers, wgmma groups, pending bulk copies), by family name.
  std::vector<std::pair<const void *, std::any>> familyState;

  /// The state of a family, default-constructed on first use; `key` is any address unique to it.
  template <class State> State &state(const void *key) {
    for (auto &entry : familyState)
      if (entry.first == key)
        return *std::any_cast<std::shared_ptr<State> &>(entry.second);
    familyState.emplace_back(key, std::make_shared<State>());
    return *std::any_cast<std::shared_ptr<State> &>(familyState.back().second);
  }

  std::array<uint32_t, 3> threadCoords(uint32_t linearThread) const;
  bool isDone() const {
    return llvm::all_of(warps, [](const Warp &warp) { return warp.isDone(); });
  }
};

/// The blocks that run together: those of a cluster, or a single one.
struct Cluster {
  LaunchState *launch = nullptr;
  std::vector<std::unique_ptr<Block>> blocks; ///< by rank
  uint64_t steps = 0;                         ///< warp instructions executed so far
  uint64_t version = 0;        ///< grows whenever something a Retry may wait for has changed
  uint64_t timeOutVersion = 0; ///< the version when waits last timed out because nothing went on
  uint32_t timeOuts = 0;       ///< how often in a row that was in vain
  std::shared_ptr<SpinWatch> watch; ///< of the runner
  bool isSuspect = false;           ///< it repeated itself when it was last looked at

  /// The block with this index in the grid, or null.
  Block *find(uint64_t linearIndex) const {
    for (const auto &block : blocks)
      if (block->linearIndex == linearIndex)
        return block.get();
    return nullptr;
  }
};

/// The block whose shared memory is accessed.
inline Block &homeOf(const MemoryAccess &access) {
  return access.owner ? *access.owner : *access.warp.block;
}

} // namespace vgpu

#endif // VGPU_MACHINE_BLOCK_H
