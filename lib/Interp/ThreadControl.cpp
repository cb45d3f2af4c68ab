//===- ThreadControl.cpp - how strands of threads go through branches and loops ---------------===//
//
// A loop keeps no state but the number of the iteration: bounds are values of the thread's row, which
// do not change while the loop runs.
//
//===----------------------------------------------------------------------------------------===//

#include "Threads.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::interp;

//===----------------------------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------------------------===//

template <typename T> static int compareNumbers(T a, T b) { return a < b ? -1 : a > b ? 1 : 0; }

int tilewright::interp::comparePositions(const Strand &a, const Strand &b) {
  for (auto [x, y] : llvm::zip(a.frames, b.frames)) {
    if (int order = compareNumbers(x.iteration, y.iteration))
      return order;
    if (int order = compareNumbers(x.branch, y.branch))
      return order;
    if (int order = compareNumbers(x.next, y.next))
      return order;
  }
  // Who is at a branch or loop comes before who is in it.
  return compareNumbers(a.frames.size(), b.frames.size());
}

std::string tilewright::interp::describeThreads(const llvm::BitVector &threads) {
  std::string text;
  for (int first = threads.find_first(); first >= 0;) {
    int last = threads.find_next_unset(first);
    last = (last < 0 ? static_cast<int>(threads.size()) : last) - 1;
    text += (text.empty() ? "" : ", ") + std::to_string(first);
    if (last > first)
      text += "-" + std::to_string(last);
    first = last + 1 < static_cast<int>(threads.size()) ? threads.find_next(last) : -1;
  }
  return (threads.count() == 1 ? "thread " : "threads ") + text;
}

Strand &ThreadRunner::split(Strand &strand, const llvm::BitVector &threads) {
  Strand &other = strands.emplace_back(strand);
  other.threads = threads;
  other.waitsSince.reset();
  strand.threads.reset(threads);
  return other;
}

//===----------------------------------------------------------------------------------------===//
// Decisions that rounding may have made
//===----------------------------------------------------------------------------------------===//

bool ThreadRunner::isUndecided(const Step &step, unsigned numOperands) {
  for (unsigned operand = 0; operand < numOperands; ++operand)
    if (!isa<MemRefType>(step.op->getOperand(operand).getType()) &&
        machine.isUndecided(step, operand))
      return true;
  return false;
}

/// Notes it for the innermost frame of a thread, which is swapped in.
void ThreadRunner::noteUndecided(const Strand &strand, unsigned thread) {
  if (isInUndecided(strand, thread))
    return;
  rows[thread].undecided.push_back(strand.frames.size() - 1);
  ++machine.undecidedDepth;
  strand.frames.back().owner->op->walk([&](Operation *op) {
    isOrderUndecided |= isa<tile::BarrierArriveOp, tile::BarrierWaitOp>(op);
  });
}

bool ThreadRunner::isInUndecided(const Strand &strand, unsigned thread) const {
  ArrayRef<size_t> frames = rows[thread].undecided;
  return !frames.empty() && frames.back() == strand.frames.size() - 1;
}

void ThreadRunner::markResults(const Step &step) {
  for (Slot slot : step.out)
    machine.values[slot].radius = kUndecided;
}

/// Marks what a thread would have written on the side of a branch that it did not take.
void ThreadRunner::runShadow(unsigned thread, const Body &skipped) {
  if (isOrderUndecided) // all memory will be marked
    return;
  bool wasStopped = machine.stopped;
  std::swap(machine.allocations, rows[thread].allocations);
  ++machine.shadowDepth;
  machine.run(skipped);
  --machine.shadowDepth;
  std::swap(machine.allocations, rows[thread].allocations);
  machine.stopped = wasStopped;
}

void ThreadRunner::markAllMemory() {
  for (Storage &storage : machine.storages)
    storage.markAllUndecided();
}

//===----------------------------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------------------------===//

void ThreadRunner::enter(Strand &strand, const Step &step) {
  if (isa<scf::IfOp>(step.op)) {
    llvm::BitVector others(numThreads);
    strand.frames.push_back({step.bodies[0], &step});
    forEachThread(strand.threads, [&](unsigned thread) {
      others[thread] = !machine.getDeciding(step, 0, "the condition of a branch");
      if (!isUndecided(step, 1))
        return;
      noteUndecided(strand, thread);
      runShadow(thread, *step.bodies[others[thread] ? 0 : 1]);
    });
    strand.frames.pop_back();
    auto push = [&](Strand &some, unsigned side) {
      some.frames.push_back({step.bodies[side], &step, side});
    };
    if (others == strand.threads)
      return push(strand, 1);
    if (others.any())
      push(split(strand, others), 1);
    return push(strand, 0);
  }
  const Body &first = *step.bodies[0];
  strand.frames.push_back({&first, &step});
  bool isFor = isa<scf::ForOp>(step.op), isWhile = isa<scf::WhileOp>(step.op);
  forEachThread(strand.threads, [&](unsigned) {
    if (isFor)
      if (int64_t stride = machine.getDeciding(step, 2, "the step of a loop"); stride <= 0)
        return machine.fail(FindingKind::BadExtent, step,
                            "a loop's step must be positive, got " + llvm::Twine(stride));
    if (isFor)
      assign(machine, ArrayRef(first.arguments).drop_front(), ArrayRef(step.in).drop_front(3));
    else if (isWhile)
      assign(machine, first.arguments, step.in);
  });
  if (!isWhile && !machine.stopped)
    beginIteration(strand);
}

/// The branch or loop is over.
void ThreadRunner::leave(Strand &strand) {
  for (unsigned thread : strand.threads.set_bits())
    if (isInUndecided(strand, thread))
      rows[thread].undecided.pop_back();
  strand.frames.pop_back();
  ++strand.frames.back().next;
}

//===----------------------------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------------------------===//

/// Lets the threads whose loop goes on begin the iteration of the frame; the others leave.
void ThreadRunner::beginIteration(Strand &strand) {
  Frame &frame = strand.frames.back();
  const Step &step = *frame.owner;
  bool isFor = isa<scf::ForOp>(step.op);
  llvm::BitVector leaving(numThreads);
  forEachThread(strand.threads, [&](unsigned thread) {
    if (isUndecided(step, isFor ? 3 : 2))
      noteUndecided(strand, thread);
    int64_t index = machine.getDeciding(step, 0, "a bound of a loop"),
            upper = machine.getDeciding(step, 1, "a bound of a loop"),
            stride = isFor ? machine.get(step, 2).integer : 1, distance;
    if (__builtin_mul_overflow(stride, frame.iteration, &distance) ||
        __builtin_add_overflow(index, distance, &index) || index >= upper) {
      leaving.set(thread);
      if (isFor)
        assign(machine, step.out, ArrayRef(frame.body->arguments).drop_front());
      if (isInUndecided(strand, thread))
        markResults(step);
      return;
    }
    machine.values[frame.body->arguments[0]] = Scalar::ofInteger(index);
  });
  frame.next = 0;
  if (leaving == strand.threads)
    return leave(strand);
  if (leaving.any())
    leave(split(strand, leaving));
}

/// The condition of a `while` is computed: those for whom it holds go on in the second body.
void ThreadRunner::decideWhile(Strand &strand) {
  Frame &frame = strand.frames.back();
  const Step &step = *frame.owner;
  const Body &before = *step.bodies[0], &after = *step.bodies[1];
  llvm::BitVector leaving(numThreads);
  forEachThread(strand.threads, [&](unsigned thread) {
    const Scalar &condition = machine.values[before.yields[0]];
    if (condition.isPoison)
      machine.find(FindingKind::Uninitialized, step,
                   "the condition of a loop depends on an element that was never written");
    if (machine.options.bounds && condition.radius > 0)
      noteUndecided(strand, thread);
    ArrayRef<Slot> forwarded = ArrayRef(before.yields).drop_front();
    bool isOver = !condition.integer;
    leaving[thread] = isOver;
    assign(machine, isOver ? ArrayRef<Slot>(step.out) : ArrayRef<Slot>(after.arguments), forwarded);
    if (isOver && isInUndecided(strand, thread))
      markResults(step);
  });
  if (leaving == strand.threads)
    return leave(strand);
  if (leaving.none() && before.arguments.empty() && frame.changes == machine.changes)
    return machine.fail(FindingKind::Deadlock, step, kEndlessLoop);
  frame.changes = machine.changes;
  if (leaving.any())
    leave(split(strand, leaving));
  frame.body = &after;
  frame.branch = 1;
  frame.next = 0;
}

void ThreadRunner::finishBody(Strand &strand) {
  Frame &frame = strand.frames.back();
  if (!frame.owner) { // the kernel, or this part of it
    strands.remove_if([&](const Strand &other) { return &other == &strand; });
    return;
  }
  const Step &step = *frame.owner;
  if (isa<scf::WhileOp>(step.op) && frame.branch == 0)
    return decideWhile(strand);
  ArrayRef<Slot> target = isa<scf::IfOp>(step.op)      ? ArrayRef<Slot>(step.out)
                          : isa<scf::WhileOp>(step.op) ? ArrayRef<Slot>(step.bodies[0]->arguments)
                          : isa<scf::ForOp>(step.op) ? ArrayRef(frame.body->arguments).drop_front()
                                                     : ArrayRef<Slot>();
  if (!target.empty())
    forEachThread(strand.threads, [&](unsigned thread) {
      assign(machine, target, frame.body->yields);
      if (isa<scf::IfOp>(step.op) && isInUndecided(strand, thread))
        markResults(step);
    });
  if (isa<scf::IfOp>(step.op))
    return leave(strand);
  ++frame.iteration;
  if (!isa<scf::WhileOp>(step.op))
    return beginIteration(strand);
  frame.body = step.bodies[0];
  frame.branch = 0;
  frame.next = 0;
}
