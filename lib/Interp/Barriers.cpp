//===- Barriers.cpp - what the barriers of a block have counted -------------------------------===//

#include "Barriers.h"
#include "RoleWatch.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::interp;

Barriers::Barrier *Barriers::find(Machine &machine, const Step &step) {
  const View &view = machine.viewOf(step, 0);
  int64_t index = machine.getDeciding(step, 1, "which barrier is meant");
  std::vector<Barrier> &row = rows[view.storage];
  if (index >= 0 && index < static_cast<int64_t>(row.size()))
    return &row[index];
  machine.fail(FindingKind::OutOfBounds, step,
               "barrier " + llvm::Twine(index) + " of '" + view.storage->name + "', which has " +
                   llvm::Twine(row.size()));
  return nullptr;
}

void Barriers::arrive(Machine &machine, const Step &step) {
  auto op = cast<tile::BarrierArriveOp>(step.op);
  Barrier *barrier = find(machine, step);
  if (!barrier)
    return;
  barrier->phases[machine.thread] = barrier->count / op.getExpectedArrivals();
  ++barrier->count;
  ++numChanges;
  ++machine.changes;
  if (machine.roles)
    join(barrier->clock, machine.roles->getClock());
}

/// The phases of a barrier that are over.
static int64_t countPhases(const Barriers::Barrier &barrier, tile::BarrierWaitOp op) {
  return barrier.count / op.getExpectedArrivals();
}

bool Barriers::isOver(Machine &machine, const Step &step) {
  auto op = cast<tile::BarrierWaitOp>(step.op);
  Barrier *barrier = find(machine, step);
  if (!barrier)
    return true;
  if (op.getParity()) {
    int64_t parity = machine.getDeciding(step, 2, "the parity of a wait");
    return (countPhases(*barrier, op) - parity) % 2 != 0;
  }
  auto arrived = barrier->phases.find(machine.thread);
  return arrived == barrier->phases.end() || arrived->second < countPhases(*barrier, op);
}

std::string Barriers::describe(Machine &machine, const Step &step) {
  auto op = cast<tile::BarrierWaitOp>(step.op);
  Barrier *barrier = find(machine, step);
  if (!barrier)
    return "a barrier";
  int64_t expected = op.getExpectedArrivals();
  return "barrier " + std::to_string(machine.get(step, 1).integer) + " of '" +
         machine.viewOf(step, 0).storage->name + "' (" + std::to_string(barrier->count % expected) +
         " of " + std::to_string(expected) + " arrivals in phase " +
         std::to_string(countPhases(*barrier, op)) + ")";
}

//===----------------------------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------------------------===//

/// The thread's index in one dimension; the first dimension runs fastest.
static void getThreadId(Machine &machine, const Step &step) {
  int64_t rest = machine.thread;
  for (int64_t extent : machine.threadShape.take_front(step.detail))
    rest /= extent;
  machine.result(step) = Scalar::ofInteger(rest % machine.threadShape[step.detail]);
}

/// Barriers hold no elements that a program can read; their storage only has a name.
static void allocateBarriers(Machine &machine, const Step &step) {
  auto op = cast<tile::BarrierAllocOp>(step.op);
  Storage *&known = machine.allocations[op];
  if (!known) {
    known = &machine.addStorage(op.getBarriers());
    known->shape.assign(1, op.getArrivals().size());
  }
  machine.barriers->reset(known, op.getArrivals().size());
  machine.views[step.out[0]] = View::whole(*known, known->format, known->shape);
}

static void arrive(Machine &machine, const Step &step) { machine.barriers->arrive(machine, step); }

/// Outside the reach of the scheduler (Threads.cpp), which runs waits itself, there are none.
static void wait(Machine &machine, const Step &step) {
  machine.fail(FindingKind::Deadlock, step, "internal error: a wait outside a strand of threads");
}

/// The blocks meet between the parts of a kernel (Blocks.cpp).
static void syncGrid(Machine &, const Step &) {}

bool tilewright::interp::resolveThreads(Operation *op, Step &step) {
  step.run = llvm::TypeSwitch<Operation *, Handler>(op)
                 .Case([&](tile::ThreadIdOp id) {
                   step.detail = id.getDim();
                   return getThreadId;
                 })
                 .Case([](tile::BarrierAllocOp) { return allocateBarriers; })
                 .Case([](tile::BarrierArriveOp) { return arrive; })
                 .Case([](tile::BarrierWaitOp) { return wait; })
                 .Case([](tile::GridSyncOp) { return syncGrid; })
                 .Default([](Operation *) { return nullptr; });
  return step.run != nullptr;
}
