//===- LivelockWatch.cpp - do all blocks together repeat themselves for ever? -------------===//
#include "vgpu/Exec/LivelockWatch.h"
#include "vgpu/Exec/SpinWatch.h"
#include "vgpu/Machine/Block.h"
#include "vgpu/Machine/Launch.h"

namespace vgpu {

namespace {

/// Warp instructions before the first look: most waits are over by then.
constexpr uint64_t fewSteps = 1 << 20;
/// Rotations with turns of other lengths that the states must survive.
constexpr unsigned numShakes = 16;
/// Bytes that are read for a digest in the time of a warp instruction, with room to spare.
constexpr uint64_t bytesPerStep = 4;

uint64_t countBytes(const std::deque<std::unique_ptr<Cluster>> &clusters) {
  const LaunchState &launch = *clusters.front()->launch;
  uint64_t bytes = 0;
  for (const Allocation &allocation : launch.memory->allocations())
    bytes += allocation.isFreed ? 0 : allocation.sizeBytes;
  for (const auto &cluster : clusters)
    for (const auto &block : cluster->blocks)
      bytes += block->shared.size() + block->local.size() +
               block->warps.size() * launch.program->registerBytes;
  return bytes;
}

} // namespace

bool LivelockWatch::hasSeen(uint64_t digest) {
  if (rotation > 0 && digest == saved)
    return true;
  if (++rotation >= power) {
    power *= 2;
    saved = digest;
  }
  return false;
}

bool LivelockWatch::afterRotation(const std::deque<std::unique_ptr<Cluster>> &clusters,
                                  const std::vector<uint64_t> &executed) {
  if (shakesLeft) {
    --shakesLeft;
    return false;
  }
  uint64_t steps = 0;
  for (const auto &cluster : clusters)
    steps += cluster->steps;
  if (lastSteps == 0) {
    lastSteps = steps;
    nextLook = steps + fewSteps;
  }
  if (steps < nextLook)
    return false;
  nextLook = steps + countBytes(clusters) / bytesPerStep;
  const Program &program = *clusters.front()->launch->program;
  std::vector<const Inst *> instructions;
  for (const Inst &inst : program.code) {
    if (executed[inst.pc] == 0)
      continue;
    if (isClockRead(program, inst))
      return false; // time is a state that never comes again
    instructions.push_back(&inst);
  }
  RegisterRows rows = findDecidingRows(instructions);
  uint64_t digest = digestOf(*clusters.front()->launch->memory);
  for (const auto &cluster : clusters)
    digest = digestOf(*cluster, rows, digest);
  if (!hasSeen(digest))
    return false;
  if (isShaken)
    return true;
  isShaken = true;
  shakesLeft = numShakes;
  rotation = 0;
  power = 1;
  return false;
}

} // namespace vgpu
