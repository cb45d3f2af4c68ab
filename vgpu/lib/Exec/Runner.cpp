//===- Runner.cpp - running the warps of a block -----------------------------------------===//
//
// A warp runs until its lanes wait or its quantum is used up; then the next warp runs. The order is
// fixed, so a run can be repeated. When no warp can go on the block is deadlocked, and the state of
// every warp is the message.
//
//===-----------------------------------------------------------------------------------===//
#include "vgpu/Exec/Runner.h"
#include "Late.h"
#include "RegisterPool.h"
#include "vgpu/Events/Definedness.h"
#include "vgpu/Exec/Mbarrier.h"
#include "vgpu/Machine/Block.h"
#include "vgpu/Machine/Launch.h"
#include "vgpu/Machine/Report.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>
#include <utility>

namespace vgpu {

namespace {

/// Warp instructions after which another warp gets its turn; long enough to stay in cache, short
/// enough that a spinning warp does not hold up the one it waits for.
constexpr uint64_t warpQuantum = 4096;

bool isWaitingHere(const Split &split, uint32_t pc) {
  return split.state == Split::State::Gathering && split.pc == pc;
}

/// The gathered splits follow the one that completed the gathering: they go on, or wait with it.
void advanceGathered(Warp &warp, size_t except, uint32_t pc, Outcome outcome) {
  for (size_t i = 0; i < warp.splits.size(); ++i) {
    Split &other = warp.splits[i];
    if (i == except || !isWaitingHere(other, pc))
      continue;
    other.state = outcome == Outcome::Park ? Split::State::Parked : Split::State::Ready;
    if (outcome == Outcome::Continue)
      ++other.pc;
  }
}

/// Quanta in a row after which lanes that wait to reconverge go on alone: the lanes they wait for
/// may be spinning on something only they can change (a lock they hold).
constexpr uint32_t patience = 4;

/// Runs one split of a warp. The split is held by value: a divergent branch grows `warp.splits`.
class SplitRunner {
public:
  SplitRunner(Block &block, Warp &warp)
      : block(block), warp(warp), launch(*block.launch),
        isWatched(block.cluster->watch->endsTurnsAtJumps()) {}

  /// Runs `warp.splits[index]` for at most `quantum` instructions. Returns how many it executed.
  uint64_t run(size_t index, uint64_t quantum);

private:
  template <bool isObserved> uint64_t loop(uint64_t quantum);
  uint32_t gather(const Inst &inst, uint32_t mask);
  bool branch(const Inst &inst, uint32_t takenMask, uint32_t target);
  bool indexedBranch(const Inst &inst, uint32_t mask);
  bool exitLanes(uint32_t mask);
  bool arrive();
  void enter(const Inst &inst, llvm::SmallVector<uint32_t, 4> &meetings);

  Block &block;
  Warp &warp;
  LaunchState &launch;
  const bool isWatched;
  Split split;
  size_t index = 0;
};

uint64_t SplitRunner::run(size_t splitIndex, uint64_t quantum) {
  index = splitIndex;
  split = warp.splits[index];
  bool isObserved = launch.poison != nullptr;
  uint64_t executed = isObserved ? loop<true>(quantum) : loop<false>(quantum);
  if (split.mask == 0)
    warp.splits.erase(warp.splits.begin() + index);
  else
    warp.splits[index] = split;
  warp.executedInstructions += executed;
  return executed;
}

/// Whether the instruction waits until all lanes of the warp are there that take part in it.
static bool mustGather(const Inst &inst) {
  return inst.flow == Flow::Collective || (inst.flow == Flow::Blocking && inst.isAligned);
}

/// The loop leaves when the split is gone (mask 0), waits, or has used its quantum.
template <bool isObserved> uint64_t SplitRunner::loop(uint64_t quantum) {
  const Inst *code = launch.program->code.data();
  uint64_t executed = 0;
  while (executed < quantum) {
    const Inst &inst = code[split.pc];
    uint32_t mask = split.mask;
    if (inst.isGuarded) {
      uint32_t guard = *reinterpret_cast<const uint32_t *>(warp.planes[unsigned(Plane::Register)] +
                                                           inst.guardOffset);
      mask &= inst.isGuardNegated ? ~guard : guard;
    }
    ++block.executed[split.pc];
    ++executed;
    if constexpr (isObserved) {
      launch.poison->check(warp, inst, mask, split.mask);
      if (!mustGather(inst)) // what others bring is known when they are all there
        launch.poison->step(warp, inst, mask, split.mask);
    }
    switch (inst.flow) {
    case Flow::Plain:
      if (mask)
        inst.execute(warp, inst, mask);
      ++split.pc;
      break;
    case Flow::Collective:
    case Flow::Blocking: {
      Outcome outcome = Outcome::Continue;
      if (mask) {
        uint32_t united = mustGather(inst) ? gather(inst, mask) : mask;
        if (united == 0)
          return executed;
        if constexpr (isObserved)
          if (mustGather(inst))
            launch.poison->step(warp, inst, united, united | split.mask);
        if (inst.flow == Flow::Blocking)
          outcome = inst.executeBlocking(warp, inst, united);
        else
          inst.execute(warp, inst, united);
        if (united != mask)
          advanceGathered(warp, index, split.pc, outcome);
      }
      if (outcome == Outcome::Continue) {
        ++split.pc;
        if (launch.extraSteps)
          return executed;
        break;
      }
      if (outcome == Outcome::Retry && inst.isAligned)
        --block.executed[split.pc]; // it waits; only a try_wait is an instruction each time
      split.state = outcome == Outcome::Park ? Split::State::Parked : Split::State::Retry;
      split.seenVersion = block.cluster->version;
      return executed;
    }
    case Flow::Branch:
      if (mask == split.mask) {
        bool isBackwards = inst.target <= split.pc;
        if (isBackwards)
          warp.lastBackEdge = split.pc;
        split.pc = inst.target;
        if (isBackwards && isWatched) {
          warp.isTurnOver = true;
          return executed;
        }
      } else if (mask == 0) {
        ++split.pc;
      } else {
        branch(inst, mask, inst.target);
        if (isWatched && warp.isTurnOver)
          return executed;
      }
      break;
    case Flow::IndexedBranch:
      if (!indexedBranch(inst, mask))
        return executed;
      break;
    case Flow::Exit:
      if (!exitLanes(mask))
        return executed;
      break;
    case Flow::Reconverge:
      --executed;
      --block.executed[split.pc];
      if (!arrive())
        return executed;
      break;
    case Flow::Trap:
      if (mask) {
        if (inst.execute)
          inst.execute(warp, inst, mask);
        else
          report(warp, inst, __builtin_ctz(mask), FindingKind::Trap, "the kernel executed 'trap'");
        launch.stop = true;
        return executed;
      }
      ++split.pc;
      break;
    }
  }
  return executed;
}

/// The lanes that execute a collective instruction now, or 0 if some of its members are still to
/// come; then the split waits for them.
uint32_t SplitRunner::gather(const Inst &inst, uint32_t mask) {
  uint32_t members = warp.liveMask();
  if (inst.memberSlot >= 0) {
    unsigned first = __builtin_ctz(mask);
    members &= static_cast<uint32_t>(warp.lane(inst.slots[inst.memberSlot], first));
  }
  if ((members & ~mask) == 0)
    return mask;
  uint32_t united = mask; // with the lanes of this warp that already wait here
  for (size_t i = 0; i < warp.splits.size(); ++i)
    if (i != index && isWaitingHere(warp.splits[i], split.pc))
      united |= warp.splits[i].executeMask;
  if ((members & ~united) == 0)
    return united;
  split.state = Split::State::Gathering;
  split.members = members;
  split.executeMask = mask;
  return 0;
}

/// Adds the meeting point of a divergent branch, unless its lanes are already bound for it.
void SplitRunner::enter(const Inst &inst, llvm::SmallVector<uint32_t, 4> &meetings) {
  if (inst.reconverge == noPc)
    return;
  if (!meetings.empty() && warp.meetings[meetings.back()].pc == inst.reconverge)
    return;
  Meeting meeting;
  meeting.pc = inst.reconverge;
  meeting.pending = split.mask;
  meeting.arrived = 0;
  meeting.outer = meetings;
  // Meetings whose lanes have all gone on can be reused.
  size_t free = 0;
  for (; free < warp.meetings.size(); ++free)
    if (warp.meetings[free].pending == 0 && warp.meetings[free].arrived == 0)
      break;
  if (free == warp.meetings.size())
    warp.meetings.push_back(meeting);
  else
    warp.meetings[free] = meeting;
  meetings.push_back(static_cast<uint32_t>(free));
}

bool SplitRunner::branch(const Inst &inst, uint32_t takenMask, uint32_t target) {
  enter(inst, split.meetings);
  Split other;
  other.mask = takenMask;
  other.pc = target;
  other.meetings = split.meetings;
  split.mask &= ~takenMask;
  ++split.pc;
  if (target < split.pc) {
    warp.lastBackEdge = split.pc - 1;
    warp.isTurnOver = isWatched;
  }
  warp.splits.push_back(std::move(other));
  return true;
}

bool SplitRunner::indexedBranch(const Inst &inst, uint32_t mask) {
  const std::vector<uint32_t> &table = launch.program->branchTables[inst.immediate];
  uint32_t rest = split.mask & ~mask; // lanes whose guard fails fall through
  llvm::SmallVector<std::pair<uint32_t, uint32_t>, 4> groups; // target, lanes
  if (rest)
    groups.push_back({split.pc + 1, rest});
  bool isOutside = false;
  forEachLane(mask, [&](unsigned lane) {
    uint64_t position = warp.lane(inst.src(0), lane) - static_cast<uint64_t>(inst.secondOffset);
    if (position >= table.size() || table[position] == noPc) {
      report(warp, inst, lane, FindingKind::NoSuchTarget,
             llvm::formatv("'{0}' goes to entry {1}, which is none of its {2} targets",
                           inst.source->opcode, position, table.size()));
      isOutside = true;
      return;
    }
    auto it = llvm::find_if(groups, [&](auto &group) { return group.first == table[position]; });
    if (it == groups.end())
      groups.push_back({table[position], 1u << lane});
    else
      it->second |= 1u << lane;
  });
  if (isOutside) {
    launch.stop = true;
    return false;
  }
  if (groups.size() > 1)
    enter(inst, split.meetings);
  for (size_t i = 1; i < groups.size(); ++i) {
    Split other;
    other.pc = groups[i].first;
    other.mask = groups[i].second;
    other.meetings = split.meetings;
    warp.splits.push_back(std::move(other));
  }
  split.pc = groups[0].first;
  split.mask = groups[0].second;
  return true;
}

/// Lets the lanes that wait at a meeting go on, if any.
void release(Warp &warp, uint32_t meetingIndex) {
  Meeting &meeting = warp.meetings[meetingIndex];
  if (meeting.arrived == 0)
    return;
  Split split;
  split.pc = meeting.pc + 1; // after the pseudo-instruction
  split.mask = meeting.arrived;
  split.meetings = meeting.outer;
  meeting.arrived = 0;
  // The code after this meeting may be where the outer one takes place, too.
  if (!split.meetings.empty() && warp.meetings[split.meetings.back()].pc == meeting.pc)
    split.pc = meeting.pc;
  warp.splits.push_back(std::move(split));
}

bool SplitRunner::exitLanes(uint32_t mask) {
  warp.exitedMask |= mask;
  ++block.cluster->version;
  for (uint32_t meetingIndex : split.meetings) {
    Meeting &meeting = warp.meetings[meetingIndex];
    meeting.pending &= ~mask;
    if (meeting.pending == 0)
      release(warp, meetingIndex);
  }
  split.mask &= ~mask;
  ++split.pc;
  if (mask)
    recheckBarriers(block);
  return split.mask != 0;
}

/// At a Reconverge pseudo-instruction; false: the lanes wait, the split is gone.
bool SplitRunner::arrive() {
  while (!split.meetings.empty()) {
    uint32_t meetingIndex = split.meetings.back();
    Meeting &meeting = warp.meetings[meetingIndex];
    if (meeting.pc != split.pc)
      break;
    meeting.pending &= ~split.mask;
    meeting.arrived |= split.mask;
    if (meeting.pending != 0) {
      split.mask = 0;
      return false;
    }
    split.mask = meeting.arrived;
    split.meetings = llvm::SmallVector<uint32_t, 4>(meeting.outer);
    meeting.arrived = 0;
  }
  ++split.pc;
  return true;
}

bool isReady(const Block &block, const Split &split) {
  return split.state == Split::State::Ready ||
         (split.state == Split::State::Retry && split.seenVersion != block.cluster->version);
}

/// Calls body(warp) for the warps of all blocks.
template <class Body> void forEachWarp(Cluster &cluster, Body body) {
  for (const std::unique_ptr<Block> &block : cluster.blocks)
    for (Warp &warp : block->warps)
      body(warp);
}

/// Lets lanes that wait at a meeting go on without the others. True if there were any.
bool releaseStarving(Warp &warp) {
  size_t before = warp.splits.size();
  for (uint32_t i = 0; i < warp.meetings.size(); ++i)
    release(warp, i);
  return warp.splits.size() != before;
}

/// Rounds over all warps after which waits time out although others run: they may be spinning on
/// something that only a waiting warp can change.
constexpr uint64_t roundsToTimeOut = 64;
/// Time-outs in a row without any change after which the block counts as deadlocked.
constexpr uint32_t mostTimeOuts = 64;

/// Makes waits that are allowed to give up (mbarrier.try_wait and test_wait) do so.
void timeOutWaits(Cluster &cluster) {
  forEachWarp(cluster, [](Warp &warp) {
    for (Split &split : warp.splits)
      if (split.state == Split::State::Retry) {
        warp.timedOut |= split.mask;
        split.seenVersion = ~uint64_t(0);
      }
  });
}

/// Nothing goes on: lets waits time out, unless that has been in vain too often.
bool timeOutStuck(Cluster &cluster) {
  bool isChanged = cluster.version != cluster.timeOutVersion;
  cluster.timeOuts = isChanged ? 1 : cluster.timeOuts + 1;
  cluster.timeOutVersion = cluster.version;
  bool hasWaits = false;
  forEachWarp(cluster, [&](Warp &warp) {
    hasWaits |= llvm::any_of(warp.splits,
                             [](const Split &split) { return split.state == Split::State::Retry; });
  });
  if (!hasWaits || cluster.timeOuts > mostTimeOuts)
    return false;
  timeOutWaits(cluster);
  return true;
}

/// "0-15,17": lanes of a mask for messages.
std::string laneList(uint32_t mask) {
  std::string text;
  for (unsigned lane = 0; lane < warpSize; ++lane) {
    if (!(mask >> lane & 1))
      continue;
    unsigned last = lane;
    while (last + 1 < warpSize && (mask >> (last + 1) & 1))
      ++last;
    text += (text.empty() ? "" : ",") + std::to_string(lane);
    if (last > lane)
      text += "-" + std::to_string(last);
    lane = last;
  }
  return text;
}

/// A collective instruction some of whose members can never come: report and run it without them.
bool forceCollective(Block &block) {
  for (Warp &warp : block.warps)
    for (Split &split : warp.splits) {
      if (split.state != Split::State::Gathering)
        continue;
      const Inst &inst = block.launch->program->code[split.pc];
      uint32_t united = 0;
      for (const Split &other : warp.splits)
        if (isWaitingHere(other, split.pc))
          united |= other.executeMask;
      bool isBarrier = inst.flow == Flow::Blocking;
      std::string message = llvm::formatv(
          "'{0}' in divergent flow: lanes {1} of warp {2} reach it, lanes {3} do not",
          inst.source->opcode, laneList(united), warp.index, laneList(split.members & ~united));
      report(warp, inst, __builtin_ctz(united),
             isBarrier ? FindingKind::BarrierDivergence : FindingKind::DivergentCollective,
             message);
      if (DefinednessTracker *poison = block.launch->poison)
        poison->step(warp, inst, united, united);
      uint32_t pc = split.pc;
      Outcome outcome = Outcome::Continue;
      if (isBarrier)
        outcome = inst.executeBlocking(warp, inst, united);
      else
        inst.execute(warp, inst, united);
      advanceGathered(warp, warp.splits.size(), pc, outcome);
      return true;
    }
  return false;
}

/// "block 2, ": which block of a cluster a warp is of; nothing where there is one.
std::string blockPrefix(const Warp &warp) {
  return warp.block->cluster->blocks.size() > 1 ? llvm::formatv("block {0}, ", warp.block->rank)
                                                : std::string();
}

/// What waits may wait for.
std::string describeState(Cluster &cluster) {
  std::string text;
  for (const std::unique_ptr<Block> &block : cluster.blocks)
    text += describeMbarriers(*block) + describeRegisterPool(*block);
  return text;
}

void reportDeadlock(Cluster &cluster) {
  std::string text = "no warp can go on:";
  Warp *first = nullptr;
  const Inst *at = nullptr;
  forEachWarp(cluster, [&](Warp &warp) {
    if (warp.isDone())
      text += llvm::formatv("\n  {0}warp {1}: finished", blockPrefix(warp), warp.index);
    for (const Split &split : warp.splits) {
      const Inst &inst = cluster.launch->program->code[split.pc];
      text += llvm::formatv("\n  {0}warp {1}, lanes {2:x8}: waits at '{3}' (ptx:{4})",
                            blockPrefix(warp), warp.index, split.mask,
                            inst.source ? inst.source->opcode : "end", inst.line);
      if (!first) {
        first = &warp;
        at = &inst;
      }
    }
  });
  text += describeState(cluster);
  if (first)
    report(*first, *at, __builtin_ctz(first->splits[0].mask), FindingKind::Deadlock, text);
}

/// "ptx lines 12 to 15": the loop that the warp jumped back in last, or nothing.
std::string describeLoop(const Warp &warp) {
  if (warp.lastBackEdge == noPc)
    return "";
  const std::vector<Inst> &code = warp.launch->program->code;
  const Inst &edge = code[warp.lastBackEdge];
  uint32_t begin = edge.target == noPc ? edge.line : code[edge.target].line;
  return llvm::formatv("ptx lines {0} to {1}", begin, edge.line);
}

void reportStepLimit(Cluster &cluster) {
  bool isTold = false;
  forEachWarp(cluster, [&](Warp &warp) {
    if (warp.isDone() || isTold)
      return;
    isTold = true;
    const std::vector<Inst> &code = cluster.launch->program->code;
    std::string loop = describeLoop(warp);
    std::string where = loop.empty() ? "no loop was entered" : "last loop: " + loop;
    uint32_t pc = loop.empty() ? warp.splits[0].pc : warp.lastBackEdge;
    report(
        warp, code[pc], __builtin_ctz(warp.splits[0].mask), FindingKind::StepLimit,
        llvm::formatv("the block executed {0} warp instructions without finishing; warp {1}, {2}",
                      cluster.steps, warp.index, where));
  });
}

} // namespace

void reportRepetition(Cluster &cluster, size_t numOthers) {
  std::string text = "no live thread can end this: the same states come again and again";
  if (numOthers)
    text += llvm::formatv(", in {0} other blocks as well", numOthers);
  text += ":";
  const std::vector<Inst> &code = cluster.launch->program->code;
  Warp *first = nullptr; // one that loops, else one that waits
  bool isFirstLooping = false;
  forEachWarp(cluster, [&](Warp &warp) {
    if (warp.isDone())
      text += llvm::formatv("\n  {0}warp {1}: finished", blockPrefix(warp), warp.index);
    for (const Split &split : warp.splits) {
      bool isLooping = split.state == Split::State::Ready && warp.lastBackEdge != noPc;
      const Inst &inst = code[split.pc];
      text += llvm::formatv("\n  {0}warp {1}, lanes {2:x8}: ", blockPrefix(warp), warp.index,
                            split.mask);
      if (isLooping)
        text += "loops in " + describeLoop(warp);
      else
        text += llvm::formatv("waits at '{0}' (ptx:{1})", inst.source ? inst.source->opcode : "end",
                              inst.line);
      if (!first || (isLooping && !isFirstLooping)) {
        first = &warp;
        isFirstLooping = isLooping;
      }
    }
  });
  text += describeState(cluster);
  if (first)
    report(*first, code[isFirstLooping ? first->lastBackEdge : first->splits[0].pc],
           __builtin_ctz(first->splits[0].mask), FindingKind::Deadlock, text);
}

void wakeParked(Warp &warp, uint32_t mask, uint32_t pc) {
  for (Split &split : warp.splits)
    if (split.state == Split::State::Parked && split.pc == pc && (split.mask & mask)) {
      split.state = Split::State::Ready;
      ++split.pc;
    }
}

/// Lets the warp's splits run, each in turn, until the quantum is used up. Returns how many
/// instructions they executed.
static uint64_t runWarp(Block &block, Warp &warp, uint64_t quantum) {
  uint64_t used = 0;
  bool isShortTurn = block.cluster->watch->isActive();
  // Splits added meanwhile come after the current one, so every lane gets its turn.
  for (size_t i = 0; i < warp.splits.size() && quantum > 0;) {
    Split &split = warp.splits[i];
    if (!isReady(block, split)) {
      ++i;
      continue;
    }
    split.state = Split::State::Ready;
    size_t count = warp.splits.size();
    uint64_t executed = SplitRunner(block, warp).run(i, quantum);
    executed += std::exchange(block.launch->extraSteps, 0);
    used += executed;
    quantum = warp.isTurnOver ? 0 : quantum - std::min(quantum, executed);
    warp.isTurnOver = false;
    if (block.launch->stop)
      return used;
    // The split at i went on, waits, or vanished; a vanished one is replaced by the next.
    bool isStillThere = warp.splits.size() >= count;
    if (quantum == 0 && i < warp.splits.size() && isStillThere && warp.splits.size() > 1)
      std::rotate(warp.splits.begin() + i, warp.splits.begin() + i + 1, warp.splits.end());
    else if (i < warp.splits.size() && !isReady(block, warp.splits[i]))
      ++i;
  }
  if (!isShortTurn) // a watched block lets lanes go on when it repeats itself, not before
    warp.fullQuanta = quantum == 0 ? warp.fullQuanta + 1 : 0;
  return used;
}

/// Lets what is late happen in all blocks. True if there was something.
static bool landEverywhere(Cluster &cluster) {
  bool isAny = false;
  for (const std::unique_ptr<Block> &block : cluster.blocks)
    isAny |= landEverything(*block);
  return isAny;
}

static bool releaseEverywhere(Cluster &cluster) {
  bool isFreed = false;
  forEachWarp(cluster, [&](Warp &warp) { isFreed |= releaseStarving(warp); });
  return isFreed;
}

/// Lets lanes and waits go on that would wait for ever. True if lanes did.
static bool relieve(Cluster &cluster) {
  bool isFreed = landEverywhere(cluster);
  isFreed |= releaseEverywhere(cluster);
  timeOutWaits(cluster);
  return isFreed;
}

/// Nothing went on in a round. False if nothing ever will.
static bool goOnStuck(Cluster &cluster) {
  return releaseEverywhere(cluster) ||
         llvm::any_of(cluster.blocks, [](auto &block) { return forceCollective(*block); }) ||
         timeOutStuck(cluster) || landEverywhere(cluster);
}

namespace {
struct Round {
  uint64_t used = 0; ///< warp instructions
  bool isAnyLeft = false, hasProgress = false;
};
} // namespace

/// Each warp of each block gets its turn.
static Round runRound(Cluster &cluster) {
  Round round;
  for (const std::unique_ptr<Block> &block : cluster.blocks)
    for (Warp &warp : block->warps) {
      if (warp.isDone())
        continue;
      round.isAnyLeft = true;
      uint64_t executed = runWarp(*block, warp, cluster.watch->quantum(warpQuantum));
      round.used += executed;
      round.hasProgress |= executed > 0;
      if (cluster.launch->stop)
        return round;
      if (warp.fullQuanta >= patience) {
        round.hasProgress |= releaseStarving(warp);
        warp.fullQuanta = 0;
      }
    }
  return round;
}

RunStatus runCluster(Cluster &cluster, uint64_t budget) {
  LaunchState &launch = *cluster.launch;
  SpinWatch &watch = *cluster.watch;
  uint64_t used = 0;
  for (uint64_t number = 1;; ++number) {
    watch.beforeRound(cluster, cluster.steps + used);
    if (number % roundsToTimeOut == 0 && !watch.isActive())
      timeOutWaits(cluster);
    Round round = runRound(cluster);
    used += round.used;
    if (launch.stop)
      return RunStatus::Stopped;
    if (!round.isAnyLeft) {
      landEverywhere(cluster);
      return RunStatus::Done;
    }
    if (!round.hasProgress && !goOnStuck(cluster)) {
      reportDeadlock(cluster);
      return RunStatus::Stopped;
    }
    switch (watch.afterRound(cluster)) {
    case SpinWatch::Answer::GoOn:
      break;
    case SpinWatch::Answer::Relieve:
      watch.relieved(relieve(cluster));
      break;
    case SpinWatch::Answer::Repeats:
      cluster.steps += used;
      return RunStatus::Repeats;
    }
    if (cluster.steps + used > launch.config.stepLimit) {
      cluster.steps += used;
      reportStepLimit(cluster);
      return RunStatus::Stopped;
    }
    if (used >= budget) {
      cluster.steps += used;
      return RunStatus::Yielded;
    }
  }
}

} // namespace vgpu
