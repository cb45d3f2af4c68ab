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
// Places
//===----------------------------------------------------------------------------------------===//

template <typename T> static int compareNumbers(T a, T b) { return a < b ? -1 : a > b ? 1 : 0; }

int tilewright::interp::comparePlaces(const Strand &a, const Strand &b) {
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
// Branches
//===----------------------------------------------------------------------------------------===//

void ThreadRunner::enter(Strand &strand, const Step &step) {
  if (isa<scf::IfOp>(step.op)) {
    llvm::BitVector others(numThreads);
    forEachThread(strand.threads, [&](unsigned thread) {
      others[thread] = !machine.getDeciding(step, 0, "the condition of a branch");
    });
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
    int64_t index = machine.getDeciding(step, 0, "a bound of a loop"),
            upper = machine.getDeciding(step, 1, "a bound of a loop"),
            stride = isFor ? machine.get(step, 2).integer : 1, distance;
    if (__builtin_mul_overflow(stride, frame.iteration, &distance) ||
        __builtin_add_overflow(index, distance, &index) || index >= upper) {
      leaving.set(thread);
      if (isFor)
        assign(machine, step.out, ArrayRef(frame.body->arguments).drop_front());
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
    ArrayRef<Slot> forwarded = ArrayRef(before.yields).drop_front();
    if (!condition.integer)
      leaving.set(thread);
    assign(machine, condition.integer ? ArrayRef<Slot>(after.arguments) : ArrayRef<Slot>(step.out),
           forwarded);
  });
  if (leaving == strand.threads)
    return leave(strand);
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
    forEachThread(strand.threads, [&](unsigned) { assign(machine, target, frame.body->yields); });
  if (isa<scf::IfOp>(step.op))
    return leave(strand);
  ++frame.iteration;
  if (!isa<scf::WhileOp>(step.op))
    return beginIteration(strand);
  frame.body = step.bodies[0];
  frame.branch = 0;
  frame.next = 0;
}
