//===- Threads.cpp - runs kernels that name their threads, as they were traced ----------------===//

#include "Threads.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::interp;

bool tilewright::interp::namesThreads(tile::KernelOp kernel) {
  return kernel
      .walk([](Operation *op) {
        return isa<tile::ThreadIdOp, tile::BarrierAllocOp>(op) ? WalkResult::interrupt()
                                                               : WalkResult::advance();
      })
      .wasInterrupted();
}

ThreadRunner::ThreadRunner(Machine &machine, tile::KernelOp kernel, const Body &body)
    : machine(machine), body(body), numThreads(kernel.getNumThreads()),
      random(machine.options.threadOrder) {
  machine.threadShape = kernel.getThreads();
  machine.barriers = &barriers;
  plan.emplace(machine, kernel, body);
  rows.resize(numThreads);
  for (Row &row : rows) {
    row.values = machine.values;
    row.views = machine.views;
  }
  if (machine.options.threadOrder && machine.options.check)
    machine.roles = &watch.emplace();
}

ThreadRunner::~ThreadRunner() {
  machine.threadShape = {};
  machine.thread = 0;
  machine.barriers = nullptr;
  machine.roles = nullptr;
}

//===----------------------------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------------------------===//

/// A second call swaps it out again.
void ThreadRunner::swapRow(unsigned thread) {
  machine.values.swap(rows[thread].values);
  machine.views.swap(rows[thread].views);
  machine.thread = thread;
  unsigned depth = rows[thread].undecided.size();
  machine.undecidedDepth += isSwapped ? -depth : depth;
  isSwapped = !isSwapped;
}

void ThreadRunner::run(const Step &step) {
  step.run(machine, step);
  if (step.bound)
    step.bound(machine, step);
}

void ThreadRunner::forEachRow(llvm::function_ref<void()> visit) {
  forEachThread(llvm::BitVector(numThreads, true), [&](unsigned) { visit(); });
}

//===----------------------------------------------------------------------------------------===//
// Who goes on
//===----------------------------------------------------------------------------------------===//

void ThreadRunner::run(ArrayRef<int64_t> block, size_t begin, size_t last) {
  end = last;
  for (Row &row : rows)
    for (auto [slot, coordinate] : llvm::zip_equal(body.arguments, block))
      row.values[slot] = Scalar::ofInteger(coordinate);
  if (watch)
    watch->reset();
  allocatedFor.clear();
  strands.clear();
  Strand &all = strands.emplace_back();
  all.threads = llvm::BitVector(numThreads, true);
  all.frames.push_back({&body, nullptr, 0, 0, begin});
  if (watch)
    all.clock.assign(numThreads, 0);
  while (!strands.empty() && !machine.stopped) {
    Strand *strand = pick();
    if (!strand)
      return reportDeadlock();
    advance(*strand);
  }
  if (isOrderUndecided)
    markAllMemory();
}

/// The step that a strand is at; null at the end of a body.
const Step *ThreadRunner::getStep(const Strand &strand) const {
  const Frame &frame = strand.frames.back();
  size_t size = strand.frames.size() == 1 ? end : frame.body->steps.size();
  return frame.next < size ? &frame.body->steps[frame.next] : nullptr;
}

/// Whether a strand waits for others.
bool ThreadRunner::isBlocked(Strand &strand) {
  const Step *step = getStep(strand);
  if (!step)
    return false;
  const Conduct &conduct = plan->at(*step);
  if (conduct.manner == Manner::Together) {
    llvm::BitVector present = strand.threads;
    for (const Strand &other : strands)
      if (comparePositions(other, strand) == 0)
        present |= other.threads;
    return present != conduct.threads;
  }
  if (conduct.manner != Manner::Wait || machine.stopped)
    return false;
  if (strand.waitsSince == barriers.getNumChanges())
    return true;
  bool isOver = false;
  forEachThread(strand.threads, [&](unsigned) { isOver |= barriers.isOver(machine, *step); });
  if (!isOver)
    strand.waitsSince = barriers.getNumChanges();
  return !isOver;
}

/// Whether threads that can come to the statement of a strand are on their way. In the order of the
/// text they have come before it is the strand's turn.
bool ThreadRunner::mustLetPass(Strand &strand) {
  const Step *step = getStep(strand);
  if (!step || !plan->at(*step).touchesMemory)
    return false;
  const llvm::BitVector &expected = plan->at(*step).threads;
  return llvm::any_of(strands, [&](Strand &other) {
    return &other != &strand && other.threads.anyCommon(expected) &&
           comparePositions(other, strand) < 0 && !isBlocked(other);
  });
}

/// How far a strand is in its role, whose group stands in the body at `depth`: the loops with waits
/// that it has come to, and the iteration of the one that it is in.
std::pair<size_t, int64_t> ThreadRunner::getProgress(const Strand &strand, size_t depth) const {
  if (strand.frames.size() == depth + 1)
    return {0, 0};
  const Frame &role = strand.frames[depth + 1];
  size_t loops = llvm::count_if(ArrayRef(role.body->steps).take_front(role.next),
                                [&](const Step &step) { return plan->at(step).isWaitLoop; });
  bool isInside =
      strand.frames.size() > depth + 2 && plan->at(*strand.frames[depth + 2].owner).isWaitLoop;
  if (!isInside)
    return {2 * loops, 0};
  return {2 * loops + 1, strand.frames[depth + 2].iteration};
}

int ThreadRunner::compareTurns(const Strand &a, const Strand &b) const {
  size_t depth = 0, size = std::min(a.frames.size(), b.frames.size());
  auto isSameBody = [&](size_t at) {
    return a.frames[at].iteration == b.frames[at].iteration &&
           a.frames[at].branch == b.frames[at].branch;
  };
  while (depth + 1 < size && a.frames[depth].next == b.frames[depth].next && isSameBody(depth + 1))
    ++depth;
  auto groupOf = [&](const Strand &strand) {
    const Frame &frame = strand.frames[depth];
    return frame.next < frame.body->steps.size() ? plan->at(frame.body->steps[frame.next]).roleGroup
                                                 : 0;
  };
  // Loops with waits run side by side. A role that has none takes its turn in the order of the text.
  auto isBesideLoops = [&](const Strand &strand) {
    return strand.frames.size() > depth + 1 &&
           llvm::none_of(strand.frames[depth + 1].body->steps,
                         [&](const Step &step) { return plan->at(step).isWaitLoop; });
  };
  if (unsigned group = groupOf(a);
      group != 0 && group == groupOf(b) && !isBesideLoops(a) && !isBesideLoops(b)) {
    auto first = getProgress(a, depth), second = getProgress(b, depth);
    if (first != second)
      return first < second ? -1 : 1;
  }
  return comparePositions(a, b);
}

/// The strand whose turn it is; null if all wait.
Strand *ThreadRunner::pick() {
  if (strands.size() == 1)
    return isBlocked(strands.front()) ? nullptr : &strands.front();
  uint64_t order = machine.options.threadOrder;
  Strand *best = nullptr;
  unsigned candidates = 0;
  for (Strand &strand : strands) {
    if (order == 0 && best && compareTurns(strand, *best) > 0)
      continue;
    if (isBlocked(strand) || (order != 0 && mustLetPass(strand)))
      continue;
    ++candidates;
    bool isBetter = !best || (order == 0   ? true
                              : order == 1 ? comparePositions(strand, *best) > 0
                                           : random.oneIn(candidates));
    if (isBetter)
      best = &strand;
  }
  return best;
}

/// Threads that have come to the same position go on as one. In other orders than that of the text
/// they meet where they run a statement together, and not before.
void ThreadRunner::mergeInto(Strand &strand) {
  const Step *step = getStep(strand);
  if (strands.size() == 1 || !step)
    return;
  if (machine.options.threadOrder && !plan->at(*step).touchesMemory)
    return;
  for (auto other = strands.begin(); other != strands.end();) {
    if (&*other == &strand || comparePositions(*other, strand) != 0) {
      ++other;
      continue;
    }
    strand.threads |= other->threads;
    strand.waitsSince.reset();
    join(strand.clock, other->clock);
    other = strands.erase(other);
  }
}

//===----------------------------------------------------------------------------------------===//
// Deadlocks
//===----------------------------------------------------------------------------------------===//

std::string ThreadRunner::describeWaiting(Strand &strand, bool isHere) {
  const Step &step = *getStep(strand);
  std::string text = describeThreads(strand.threads) + " wait " +
                     (isHere ? "here" : "at " + describeLocation(step.op)) + " for ";
  if (plan->at(step).manner == Manner::Wait) {
    unsigned first = strand.threads.find_first();
    swapRow(first);
    text += barriers.describe(machine, step);
    swapRow(first);
    return text;
  }
  llvm::BitVector missing = plan->at(step).threads;
  missing.reset(strand.threads);
  return text + describeThreads(missing) + " to come to this tile statement";
}

void ThreadRunner::reportDeadlock() {
  for (Strand &strand : strands)
    mergeInto(strand);
  strands.sort([](const Strand &a, const Strand &b) { return comparePositions(a, b) < 0; });
  auto atBarrier = llvm::find_if(strands, [&](const Strand &strand) {
    return plan->at(*getStep(strand)).manner == Manner::Wait;
  });
  Strand &first = atBarrier == strands.end() ? strands.front() : *atBarrier;
  std::string message = "this wait is not met: what it waits for never comes; " +
                        describeWaiting(first, /*isHere=*/true);
  for (Strand &strand : strands)
    if (&strand != &first)
      message += ", " + describeWaiting(strand, /*isHere=*/false);
  machine.fail(FindingKind::Deadlock, *getStep(first), message);
}

//===----------------------------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------------------------===//

void ThreadRunner::advance(Strand &strand) {
  if (++machine.steps >= machine.nextPoll)
    machine.poll();
  mergeInto(strand);
  const Step *step = getStep(strand);
  if (!step)
    return finishBody(strand);
  runStep(strand, *step);
}

void ThreadRunner::runStep(Strand &strand, const Step &step) {
  const Conduct &conduct = plan->at(step);
  if (watch && conduct.touchesMemory) {
    unsigned first = strand.threads.find_first();
    ++strand.clock[first];
    watch->begin(strand.clock, first);
  }
  switch (conduct.manner) {
  case Manner::Walk:
    return enter(strand, step);
  case Manner::Wait:
    return runWait(strand, step);
  case Manner::Skip:
    break;
  case Manner::Each:
    if (haveSameOperands(strand, step))
      runOnce(strand, step, conduct);
    else
      runEach(strand, step, conduct);
    break;
  case Manner::Own:
    runEach(strand, step, conduct);
    break;
  case Manner::Once:
    runOnce(strand, step, conduct);
    break;
  case Manner::Together:
    runTogether(strand, step, conduct);
    break;
  case Manner::Allocate:
    runAllocation(strand, step, conduct);
    break;
  case Manner::Arrive:
    runArrival(strand, step);
    break;
  }
  ++strand.frames.back().next;
}

static bool isSame(const Scalar &a, const Scalar &b) {
  return a.integer == b.integer && a.isPoison == b.isPoison && a.radius == b.radius;
}

static bool isSame(const View &a, const View &b) {
  return a.storage == b.storage && a.format == b.format && a.extents == b.extents &&
         a.surface == b.surface && a.base == b.base && a.dims == b.dims && a.steps == b.steps;
}

bool ThreadRunner::haveSameOperands(const Strand &strand, const Step &step) const {
  if (isa<tile::ThreadIdOp>(step.op) || step.op->getNumRegions() != 0)
    return strand.threads.count() == 1;
  const Row &first = rows[strand.threads.find_first()];
  for (auto [operand, slot] : llvm::zip_equal(step.op->getOperands(), step.in)) {
    bool isView = isa<MemRefType>(operand.getType());
    for (unsigned thread : strand.threads.set_bits())
      if (isView ? !isSame(rows[thread].views[slot], first.views[slot])
                 : !isSame(rows[thread].values[slot], first.values[slot]))
        return false;
  }
  return true;
}

/// Threads that run one statement are as independent as iterations of `T.Parallel`.
void ThreadRunner::runEach(Strand &strand, const Step &step, const Conduct &conduct) {
  if (conduct.mayMeet && machine.options.check) {
    ParallelRun &run = machine.parallel.emplace();
    run.extents.assign(1, numThreads);
    run.base = machine.claimIterations(numThreads);
  }
  forEachThread(strand.threads, [&](unsigned thread) {
    if (machine.parallel)
      machine.parallel->iteration = machine.parallel->base + thread;
    bool isAllocation = isa<tile::AllocOp>(step.op);
    if (isAllocation || step.op->getNumRegions() != 0)
      std::swap(machine.allocations, rows[thread].allocations);
    run(step);
    if (isAllocation || step.op->getNumRegions() != 0)
      std::swap(machine.allocations, rows[thread].allocations);
  });
  machine.parallel.reset();
}

/// One thread runs the step, and all have its results.
void ThreadRunner::runOnce(Strand &strand, const Step &step, const Conduct &conduct) {
  unsigned first = strand.threads.find_first();
  bool isUndecided = llvm::any_of(strand.threads.set_bits(),
                                  [&](unsigned thread) { return !rows[thread].undecided.empty(); });
  swapRow(first);
  machine.undecidedDepth += isUndecided;
  run(step);
  machine.undecidedDepth -= isUndecided;
  swapRow(first);
  for (unsigned thread : strand.threads.set_bits()) {
    for (Slot slot : conduct.values)
      rows[thread].values[slot] = rows[first].values[slot];
    if (thread != first)
      for (Slot slot : conduct.views)
        rows[thread].views[slot] = rows[first].views[slot];
  }
}

void ThreadRunner::runTogether(Strand &strand, const Step &step, const Conduct &conduct) {
  runOnce(strand, step, conduct);
  unsigned first = strand.threads.find_first();
  for (Slot slot : conduct.ownWritten)
    for (unsigned thread : strand.threads.set_bits())
      if (thread != first)
        rows[thread].views[slot].storage->copyFrom(*rows[first].views[slot].storage);
}

/// Those who come to an allocation later than others find the same memory.
void ThreadRunner::runAllocation(Strand &strand, const Step &step, const Conduct &conduct) {
  llvm::BitVector &known = allocatedFor[step.op];
  if (known.empty() || known.anyCommon(strand.threads)) {
    known = strand.threads;
    return runOnce(strand, step, conduct);
  }
  unsigned other = known.find_first();
  known |= strand.threads;
  for (unsigned thread : strand.threads.set_bits())
    for (Slot slot : conduct.views)
      rows[thread].views[slot] = rows[other].views[slot];
}

void ThreadRunner::runArrival(Strand &strand, const Step &step) {
  forEachThread(strand.threads, [&](unsigned) {
    isOrderUndecided |= isUndecided(step, step.in.size());
    run(step);
  });
}

/// Those whose wait is over go on.
void ThreadRunner::runWait(Strand &strand, const Step &step) {
  llvm::BitVector waiting = strand.threads;
  forEachThread(strand.threads, [&](unsigned thread) {
    isOrderUndecided |= isUndecided(step, step.in.size());
    if (!barriers.isOver(machine, step))
      return;
    waiting.reset(thread);
    if (watch)
      if (const Barriers::Barrier *barrier = barriers.find(machine, step))
        join(strand.clock, barrier->clock);
  });
  if (waiting.any())
    split(strand, waiting);
  ++strand.frames.back().next;
}
