//===- Runner.h - making and running thread blocks ----------------------------------------===//
#ifndef VGPU_EXEC_RUNNER_H
#define VGPU_EXEC_RUNNER_H

#include "vgpu/Exec/SpinWatch.h"
#include "vgpu/Machine/Block.h"

namespace vgpu {

/// Repeats: the cluster goes round in the same states for ever, unless another one changes memory.
enum class RunStatus : uint8_t { Done, Yielded, Stopped, Repeats };

/// Prepares memory and registers of the blocks of a cluster, in those of one of the launch that has
/// ended. Clusters are numbered like blocks, x first.
std::unique_ptr<Cluster> makeCluster(LaunchState &launch, uint64_t index,
                                     std::unique_ptr<Cluster> ended = nullptr);
/// Runs until the blocks are done, have used about `budget` warp instructions, or a fault stops
/// them.
RunStatus runCluster(Cluster &cluster, uint64_t budget);
/// Reports a cluster that repeats itself, and with it `numOthers` more.
void reportRepetition(Cluster &cluster, size_t numOthers);
/// Called by barrier families: the split of `warp` parked at `pc` goes on after it.
void wakeParked(Warp &warp, uint32_t mask, uint32_t pc);
/// Completes barriers that only waited for threads that have exited.
void recheckBarriers(Block &block);

} // namespace vgpu

#endif // VGPU_EXEC_RUNNER_H
