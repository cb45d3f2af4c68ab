//===- ScheduledControl.cpp - the statements, branches and loops of a team --------------------===//

#include "Scheduled.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tilewright/Tile/Schedule.h"
#include "tilewright/Tile/Teams.h"
#include "tilewright/Tile/Turns.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::interp;

/// The step that a team is at; null at the end of a body.
const Step *ScheduledRunner::getStep(const Team &team) const {
  const Frame &frame = team.frames.back();
  return frame.next < frame.body->steps.size() ? &frame.body->steps[frame.next] : nullptr;
}

/// A second call swaps the team out again.
void ScheduledRunner::swap(Team &team) {
  machine.values.swap(team.row.values);
  machine.views.swap(team.row.views);
  std::swap(machine.allocations, *team.allocations);
}

/// A thread alone knows for all of its team.
void ScheduledRunner::settle(Team &team) {
  if (team.isOneThread)
    team.known = team.own;
}

void ScheduledRunner::advance(Team &team) {
  if (++machine.steps >= machine.nextPoll)
    machine.poll();
  const Step *step = getStep(team);
  if (!step)
    return finishBody(team);
  if (walked.contains(step) &&
      isa<scf::IfOp, scf::ForOp, scf::WhileOp, tile::PipelinedOp>(step->op))
    return enter(team, *step);
  llvm::TypeSwitch<Operation *>(step->op)
      .Case([&](tile::RoleOp) { fork(team, *step); })
      .Case<tile::AllocOp, tile::BarrierAllocOp>([&](auto) { allocate(team, *step); })
      .Case([&](tile::AsyncGroupOp) { startCopies(team, *step); })
      .Case([&](tile::BulkGroupOp) { startStores(team, *step); })
      .Case([&](tile::AsyncWaitOp op) { endOldest(team, team.copies, op.getPending()); })
      .Case(
          [&](tile::BulkWaitOp op) { endOldest(team, team.stores, op.getPending(), op.getRead()); })
      .Case([&](tile::ProductWaitOp op) { endOldest(team, team.products, op.getPending()); })
      .Case([&](tile::BarrierOp) { team.known = team.own; })
      .Case(
          [](tile::TurnOp) {}) // warpgroups are one team here: all of them have their turn at once
      .Case([&](tile::BarrierArriveOp) { arrive(team, *step); })
      .Case([&](tile::BarrierWaitOp) { wait(team, *step); })
      .Default([&](Operation *op) {
        if (op->hasAttr(tile::kAsyncAttr) && isa<tile::GemmOp>(op))
          startProduct(team, *step);
        else
          runStatement(team, *step);
      });
  ++team.frames.back().next;
}

void ScheduledRunner::runStatement(Team &team, const Step &step) {
  if (team.own.size() <= team.actor)
    team.own.resize(team.actor + 1);
  ++team.own[team.actor];
  settle(team);
  watch.begin({team.known, team.own, team.actor, team.actor});
  swap(team);
  step.run(machine, step);
  swap(team);
}

/// Tiles and barriers belong to the block: a team that comes to an allocation later than another
/// finds the same memory. Variables belong to the team.
void ScheduledRunner::allocate(Team &team, const Step &step) {
  mlir::Value buffer = step.op->getResult(0);
  if (tile::getSpace(buffer) == tile::Space::Local)
    return runStatement(team, step);
  auto &[view, users] = shared[step.op];
  if (users.empty() || users.contains(&team)) {
    users.clear();
    auto barriers = dyn_cast<tile::BarrierAllocOp>(step.op);
    Storage *&known = allocations[nullptr][step.op];
    if (barriers && !known) {
      known = &machine.addStorage(buffer);
      known->shape.assign(1, barriers.getArrivals().size());
    }
    if (barriers) {
      channels.reset(known, barriers.getArrivals());
      view = View::whole(*known, known->format, known->shape);
    } else {
      Allocations *own = std::exchange(team.allocations, &allocations[nullptr]);
      runStatement(team, step);
      team.allocations = own;
      view = team.row.views[step.out[0]];
    }
  }
  users.insert(&team);
  team.row.views[step.out[0]] = view;
}

/// Some of the team's threads run a role; the others go on.
void ScheduledRunner::fork(Team &team, const Step &step) {
  auto role = cast<tile::RoleOp>(step.op);
  if (!role->hasAttr(tile::kFirstThreadAttr))
    return; // it runs beside the program from the start of the block
  Team &child = addTeam(role, "'" + role.getName().str() + "'", role.getThreads());
  child.parent = &team;
  child.row = team.row;
  child.own = team.own;
  child.known = team.known;
  child.frames.push_back({step.bodies[0]});
}

//===----------------------------------------------------------------------------------------===//
// Barriers with phases
//===----------------------------------------------------------------------------------------===//

/// The other blocks of a cluster that arrive here do so when this block arrives there: they run the same
/// iterations, and each block copies for itself here.
static int64_t countArrivingBlocks(tile::BarrierArriveOp op) {
  auto dims = op->getAttrOfType<DenseI64ArrayAttr>(tile::kMulticastAttr);
  if (!dims)
    return 1;
  auto cluster =
      op->getParentOfType<tile::KernelOp>()->getAttrOfType<DenseI64ArrayAttr>(tile::kClusterAttr);
  int64_t blocks = 1;
  for (int64_t dim : dims.asArrayRef())
    blocks *= cluster[dim];
  return blocks;
}

void ScheduledRunner::arrive(Team &team, const Step &step) {
  auto op = cast<tile::BarrierArriveOp>(step.op);
  constexpr int64_t warp = 32;
  swap(team);
  if (Channels::Channel *channel = channels.find(machine, step, 0)) {
    channel->expected = op.getExpectedArrivals();
    channel->phases[team.actor] = channel->phase;
    int64_t count = op.getOnce()     ? 1
                    : op.getByWarp() ? (team.numThreads + warp - 1) / warp
                                     : team.numThreads;
    channel->arrive(count * countArrivingBlocks(op), team.own);
  }
  swap(team);
}

void ScheduledRunner::wait(Team &team, const Step &step) {
  swap(team);
  if (Channels::Channel *channel = channels.find(machine, step, 0)) {
    join(team.own, channel->finished);
    join(team.known, channel->finished);
  }
  swap(team);
}

//===----------------------------------------------------------------------------------------===//
// Branches and loops
//===----------------------------------------------------------------------------------------===//

void ScheduledRunner::enter(Team &team, const Step &step) {
  swap(team);
  Frame frame{step.bodies[0], &step};
  if (isa<scf::IfOp>(step.op)) {
    bool condition = machine.getDeciding(step, 0, "the condition of a branch");
    frame.body = step.bodies[condition ? 0 : 1];
  } else if (isa<scf::WhileOp>(step.op)) {
    assign(machine, frame.body->arguments, step.in);
  } else {
    frame.index = machine.getDeciding(step, 0, "a bound of a loop");
    frame.upper = machine.getDeciding(step, 1, "a bound of a loop");
    if (isa<scf::ForOp>(step.op)) {
      frame.stride = machine.getDeciding(step, 2, "the step of a loop");
      if (frame.stride <= 0)
        machine.fail(FindingKind::BadExtent, step,
                     "a loop's step must be positive, got " + llvm::Twine(frame.stride));
      assign(machine, ArrayRef(frame.body->arguments).drop_front(),
             ArrayRef(step.in).drop_front(3));
    }
  }
  swap(team);
  team.frames.push_back(frame);
  if (isa<scf::ForOp, tile::PipelinedOp>(step.op))
    beginIteration(team);
}

void ScheduledRunner::beginIteration(Team &team) {
  Frame &frame = team.frames.back();
  const Step &step = *frame.owner;
  frame.next = 0;
  if (frame.index < frame.upper) {
    team.row.values[frame.body->arguments[0]] = Scalar::ofInteger(frame.index);
    return;
  }
  if (isa<scf::ForOp>(step.op)) {
    swap(team);
    assign(machine, step.out, ArrayRef(frame.body->arguments).drop_front());
    swap(team);
  }
  leave(team);
}

/// The condition of a `while` is computed.
void ScheduledRunner::decideWhile(Team &team) {
  Frame &frame = team.frames.back();
  const Step &step = *frame.owner;
  const Body &before = *step.bodies[0], &after = *step.bodies[1];
  ArrayRef<Slot> forwarded = ArrayRef(before.yields).drop_front();
  swap(team);
  bool goesOn = machine.values[before.yields[0]].integer;
  assign(machine, goesOn ? ArrayRef<Slot>(after.arguments) : ArrayRef<Slot>(step.out), forwarded);
  swap(team);
  if (!goesOn)
    return leave(team);
  frame.body = &after;
  frame.next = 0;
}

void ScheduledRunner::finishBody(Team &team) {
  Frame &frame = team.frames.back();
  if (!frame.owner) { // the kernel, or a role
    team.isFinished = true;
    if (team.parent)
      join(team.parent->own, team.own);
    return;
  }
  const Step &step = *frame.owner;
  if (isa<scf::WhileOp>(step.op) && frame.body == step.bodies[0])
    return decideWhile(team);
  ArrayRef<Slot> target = isa<scf::IfOp>(step.op)      ? ArrayRef<Slot>(step.out)
                          : isa<scf::WhileOp>(step.op) ? ArrayRef<Slot>(step.bodies[0]->arguments)
                          : isa<scf::ForOp>(step.op) ? ArrayRef(frame.body->arguments).drop_front()
                                                     : ArrayRef<Slot>();
  swap(team);
  assign(machine, target, ArrayRef(frame.body->yields).take_front(target.size()));
  swap(team);
  if (isa<scf::IfOp>(step.op))
    return leave(team);
  frame.next = 0;
  if (isa<scf::WhileOp>(step.op)) {
    frame.body = step.bodies[0];
    return;
  }
  if (__builtin_add_overflow(frame.index, frame.stride, &frame.index))
    frame.index = frame.upper;
  beginIteration(team);
}

/// The branch or loop is over.
void ScheduledRunner::leave(Team &team) {
  team.frames.pop_back();
  ++team.frames.back().next;
}
