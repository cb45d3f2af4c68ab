//===- Runner.h - making and running thread blocks ----------------------------------------===//
#ifndef VGPU_EXEC_RUNNER_H
#define VGPU_EXEC_RUNNER_H

#include "vgpu/Exec/SpinWatch.h"
#include "vgpu/Machine/Block.h"

namespace vgpu {

/// Repeats: the block goes round in the same states for ever, unless another one changes memory.
enum class RunStatus : uint8_t { Done, Yielded, Stopped, Repeats };

/// Prepares the block's memory and registers, in those of a block of the launch that has ended.
std::unique_ptr<Block> makeBlock(LaunchState &launch, uint64_t linearIndex,
                                 std::unique_ptr<Block> ended = nullptr);
/// Runs until the block is done, has used about `budget` warp instructions, or a fault stops it.
RunStatus runBlock(Block &block, uint64_t budget);
/// Reports a block that repeats itself, and with it `numOthers` more.
void reportRepetition(Block &block, size_t numOthers);
/// Called by barrier families: the split of `warp` parked at `pc` goes on behind it.
void wakeParked(Warp &warp, uint32_t mask, uint32_t pc);
/// Completes barriers that only waited for threads that have exited.
void recheckBarriers(Block &block);

} // namespace vgpu

#endif // VGPU_EXEC_RUNNER_H
