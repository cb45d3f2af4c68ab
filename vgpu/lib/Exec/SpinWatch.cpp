//===- SpinWatch.cpp - does a block repeat itself for ever? -------------------------------===//
#include "vgpu/Exec/SpinWatch.h"
#include "RegisterPool.h"
#include "vgpu/Exec/Mbarrier.h"
#include "vgpu/Machine/Block.h"
#include "vgpu/Machine/Launch.h"
#include "llvm/Support/xxhash.h"
#include <algorithm>
#include <map>
#include <utility>

namespace vgpu {

namespace {

/// Rounds with turns of odd lengths that a state must survive: a warp may have been missing what
/// another one wrote and took back between two of its looks.
constexpr unsigned numShakes = 16;

uint64_t digestOf(llvm::ArrayRef<uint8_t> bytes, uint64_t before) {
  return llvm::xxh3_64bits(bytes) ^ (before * 0x9e3779b97f4a7c15ull + 1);
}

/// Where all lanes are and what the block's barriers know. What is not in here, in the registers or
/// in memory must not decide what the block does.
void describeControl(Block &block, std::vector<uint64_t> &out) {
  auto addAll = [&](const auto &list) {
    out.push_back(list.size());
    out.insert(out.end(), list.begin(), list.end());
  };
  for (const Warp &warp : block.warps) {
    out.insert(out.end(), {warp.exitedMask, warp.timedOut, warp.splits.size()});
    for (const Split &split : warp.splits) {
      out.insert(out.end(),
                 {split.pc, split.mask, uint64_t(split.state), split.members, split.executeMask});
      addAll(split.meetings);
    }
    for (const Meeting &meeting : warp.meetings) {
      if (meeting.pending == 0 && meeting.arrived == 0)
        continue; // no lane uses it any more
      out.insert(out.end(), {meeting.pc, meeting.pending, meeting.arrived});
      addAll(meeting.outer);
    }
  }
  for (const NamedBarrier &barrier : block.barriers) {
    out.insert(out.end(), {barrier.expectedThreads, barrier.reduction, barrier.arrivals.size()});
    for (const BarrierArrival &arrival : barrier.arrivals)
      out.insert(out.end(), {arrival.warp, arrival.mask, arrival.pc, arrival.waits});
  }
  // Of the number of a phase only the parity decides anything, but for waits that compare it with
  // what an arrival gave; that is in a register.
  for (const auto &[address, barrier] : mbarriersOf(block))
    out.insert(out.end(), {address, barrier.expected, barrier.pending, uint64_t(barrier.txCount),
                           barrier.phase & 1});
  describeClusterBarrier(block, out);
  describeRegisterPool(block, out);
  out.push_back(callDepthOf(block));
}

void describeControl(const Cluster &cluster, std::vector<uint64_t> &out) {
  out.clear();
  for (const std::unique_ptr<Block> &block : cluster.blocks)
    describeControl(*block, out);
}

size_t registerBytesOf(const Block &block) { return block.launch->program->registerBytes; }
const uint8_t *registersOf(const Warp &warp) { return warp.planes[unsigned(Plane::Register)]; }

/// How often the block's host thread has read a clock.
uint64_t countClockReads(const Block &block) {
  uint64_t count = 0;
  const Program &program = *block.launch->program;
  for (const Inst &inst : program.code)
    if (isClockRead(program, inst))
      count += block.executed[inst.pc];
  return count;
}

/// Whether an instruction does nothing but compute its results.
bool onlyComputes(const Inst &inst) {
  switch (inst.instClass) {
  case InstClass::Integer:
  case InstClass::Float32:
  case InstClass::Float64:
  case InstClass::Half:
  case InstClass::Convert:
  case InstClass::Move:
  case InstClass::Compare:
    return inst.flow == Flow::Plain;
  default:
    return false;
  }
}

/// Bytes of a register's row, for all lanes of a warp.
uint32_t rowBytesOf(const Slot &slot) { return slot.bytes ? slot.bytes * warpSize : 4; }

} // namespace

RegisterRows findDecidingRows(const std::vector<const Inst *> &instructions) {
  RegisterRows rows;
  bool hasNew = true;
  auto add = [&](uint32_t offset, uint32_t bytes) {
    uint32_t &known = rows[offset];
    hasNew |= known < bytes;
    known = std::max(known, bytes);
  };
  auto decides = [&](const Slot &slot) {
    if (slot.plane != Plane::Register || slot.isSink)
      return false;
    auto next = rows.lower_bound(slot.offset + rowBytesOf(slot));
    return next != rows.begin() && std::prev(next)->first + std::prev(next)->second > slot.offset;
  };
  while (std::exchange(hasNew, false))
    for (const Inst *inst : instructions) {
      bool matters = !onlyComputes(*inst);
      for (unsigned i = 0; i < inst->numDst; ++i)
        matters |= decides(inst->dst(i));
      if (!matters)
        continue;
      for (unsigned i = 0; i < inst->numSrc; ++i)
        if (inst->src(i).plane == Plane::Register)
          add(inst->src(i).offset, rowBytesOf(inst->src(i)));
      if (inst->isGuarded)
        add(inst->guardOffset, 4);
    }
  return rows;
}

uint64_t digestOf(const GlobalMemory &memory) {
  uint64_t digest = 0;
  for (const Allocation &allocation : memory.allocations())
    if (!allocation.isFreed)
      digest = digestOf(llvm::ArrayRef(allocation.host, allocation.sizeBytes), digest);
  return digest;
}

uint64_t digestOf(const Cluster &cluster, const RegisterRows &rows, uint64_t before) {
  std::vector<uint64_t> lanes;
  describeControl(cluster, lanes);
  auto bytes = reinterpret_cast<const uint8_t *>(lanes.data());
  uint64_t digest = digestOf(llvm::ArrayRef(bytes, lanes.size() * sizeof(uint64_t)), before);
  for (const std::unique_ptr<Block> &block : cluster.blocks) {
    for (const Warp &warp : block->warps)
      for (auto [offset, size] : rows)
        digest = digestOf(llvm::ArrayRef(registersOf(warp) + offset, size), digest);
    digest = digestOf(llvm::ArrayRef(block->shared), digest);
    digest = digestOf(llvm::ArrayRef(block->local), digest);
  }
  return digest;
}

void SpinWatch::lookNow(uint64_t steps, uint64_t duration) {
  isLooking = false;
  nextLook = steps;
  minDuration = duration;
}

void SpinWatch::beforeRound(const Cluster &cluster, uint64_t steps) {
  if (!isLooking && steps >= nextLook) {
    isLooking = true;
    lookEnd = steps + std::max(minDuration, steps / 8);
    minDuration = 1 << 13;
    nextLook = 2 * steps;
    rounds = 0;
    interval = 4;
    shakesLeft = 0;
    isRelieved = false;
    takeSnapshot(cluster);
  } else if (isLooking && steps >= lookEnd) {
    isLooking = false;
  }
}

uint64_t SpinWatch::quantum(uint64_t usual) const {
  return shakesLeft ? 1 + (shakesLeft * 37) % 101 : usual;
}

void SpinWatch::takeSnapshot(const Cluster &cluster) {
  describeControl(cluster, control);
  registers.clear();
  shared.clear();
  for (const std::unique_ptr<Block> &block : cluster.blocks) {
    for (const Warp &warp : block->warps)
      registers.insert(registers.end(), registersOf(warp),
                       registersOf(warp) + registerBytesOf(*block));
    shared.insert(shared.end(), block->shared.begin(), block->shared.end());
  }
  hasDigests = false;
  const Block &first = *cluster.blocks[0];
  executed.assign(first.executed, first.executed + first.launch->program->code.size());
  clockReads = countClockReads(first);
  if (isRelieved && ++snapshotsSinceRelief > 2)
    isRelieved = false;
}

/// Whether lanes, barriers and shared memory are as they were; and registers, or those that decide something.
bool SpinWatch::isLikeSnapshot(const Cluster &cluster) {
  scratch.clear();
  describeControl(cluster, scratch);
  if (scratch != control)
    return false;
  const uint8_t *before = shared.data();
  for (const std::unique_ptr<Block> &block : cluster.blocks) {
    if (!std::equal(block->shared.begin(), block->shared.end(), before))
      return false;
    before += block->shared.size();
  }
  before = registers.data();
  for (const std::unique_ptr<Block> &block : cluster.blocks)
    for (const Warp &warp : block->warps) {
      if (!std::equal(before, before + registerBytesOf(*block), registersOf(warp)))
        return rounds >= interval && areDecidingRegistersSame(cluster); // seldom: it takes longer
      before += registerBytesOf(*block);
    }
  return true;
}

bool SpinWatch::areDecidingRegistersSame(const Cluster &cluster) {
  const Block &first = *cluster.blocks[0];
  std::vector<const Inst *> instructions;
  for (const Inst &inst : first.launch->program->code)
    if (first.executed[inst.pc] != executed[inst.pc])
      instructions.push_back(&inst);
  constexpr size_t mostInstructions = 4096;
  if (instructions.size() > mostInstructions)
    return false;
  RegisterRows rows = findDecidingRows(instructions);
  const uint8_t *before = registers.data();
  for (const std::unique_ptr<Block> &block : cluster.blocks)
    for (const Warp &warp : block->warps) {
      for (auto [offset, bytes] : rows)
        if (!std::equal(before + offset, before + offset + bytes, registersOf(warp) + offset))
          return false;
      before += registerBytesOf(*block);
    }
  return true;
}

SpinWatch::Answer SpinWatch::afterRound(Cluster &cluster) {
  if (!isLooking)
    return Answer::GoOn;
  if (shakesLeft) {
    --shakesLeft;
    return Answer::GoOn;
  }
  ++rounds;
  if (!isLikeSnapshot(cluster)) {
    if (rounds < interval)
      return Answer::GoOn;
    rounds = 0;
    interval *= 2;
    takeSnapshot(cluster);
    return Answer::GoOn;
  }
  uint64_t now[2] = {0, digestOf(*cluster.launch->memory)};
  for (const std::unique_ptr<Block> &block : cluster.blocks)
    now[0] = digestOf(llvm::ArrayRef(block->local), now[0]);
  bool isSame = hasDigests && std::equal(now, now + 2, digests);
  std::copy(now, now + 2, digests);
  hasDigests = true;
  if (!isSame)
    return Answer::GoOn;
  uint64_t reads = countClockReads(*cluster.blocks[0]);
  if (reads != clockReads) { // time is the state that changes
    isLooking = false;
    nextLook = ~uint64_t(0);
    return Answer::GoOn;
  }
  if (!isRelieved) {
    isRelieved = true;
    snapshotsSinceRelief = 0;
    shakesLeft = numShakes;
    return Answer::Relieve;
  }
  isLooking = false;
  return Answer::Repeats;
}

void SpinWatch::relieved(bool haveLanesGoneOn) {
  if (haveLanesGoneOn)
    isRelieved = false; // another state: it must come twice itself
}

} // namespace vgpu
