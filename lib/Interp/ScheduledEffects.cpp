//===- ScheduledEffects.cpp - statements that run on while their team goes on -----------------===//

#include "Scheduled.h"
#include "tilewright/Tile/Teams.h"
#include "tilewright/Tile/Turns.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::interp;

/// An effect knows what the team's threads have published: single threads start it, or each thread
/// its part. Registers are the threads' own.
ScheduledRunner::Effect &ScheduledRunner::addEffect(Team &team, const Step &step) {
  Effect &effect = effects.emplace_back();
  effect.step = &step;
  effect.row = team.row;
  effect.actor = actors.size();
  effect.globalActor = effect.actor + 1;
  actors.resize(actors.size() + 2,
                "what " + team.name + " has started at " + describeLocation(step.op));
  effect.known = team.known;
  effect.own = team.own;
  effect.own.resize(actors.size());
  effect.own[effect.actor] = effect.own[effect.globalActor] = 1;
  return effect;
}

void ScheduledRunner::startOrWait(Effect &effect) {
  if (order == 0)
    takePlace(effect);
}

void ScheduledRunner::startCopies(Team &team, const Step &step) {
  auto op = cast<tile::AsyncGroupOp>(step.op);
  swap(team);
  bool isEmpty = machine.getDeciding(step, 0, "the iteration of a copy") >=
                 machine.getDeciding(step, 1, "a bound of a loop");
  Channels::Channel *channel = op.getFull() ? channels.find(machine, step, 2) : nullptr;
  swap(team);
  if (op.getEmpty())
    return machine.fail(FindingKind::Deadlock, step,
                        "internal error: copies wait for their readers outside a role");
  if (machine.stopped || (op.getFull() && isEmpty))
    return;
  Effect &effect = addEffect(team, step);
  effect.isEmpty = isEmpty;
  if (channel) {
    effect.channel = channel;
    effect.isArrival = !op->hasAttr(tile::kAtArrivalAttr);
    ++channel->numOpen;
  } else {
    team.copies.push_back(&effect);
  }
  startOrWait(effect);
}

void ScheduledRunner::startStores(Team &team, const Step &step) {
  Effect &effect = addEffect(team, step);
  team.stores.push_back(&effect);
  startOrWait(effect);
}

/// Products of one accumulator follow each other without a wait.
void ScheduledRunner::startProduct(Team &team, const Step &step) {
  Effect &effect = addEffect(team, step);
  auto getSums = [](const Effect &product) {
    return product.row.views[product.step->in[2]].storage;
  };
  for (const Effect *older : team.products)
    if (getSums(*older) == getSums(effect))
      effect.own[older->actor] = 1;
  team.products.push_back(&effect);
  startOrWait(effect);
}

void ScheduledRunner::takePlace(Effect &effect) {
  effect.isDone = true;
  machine.values.swap(effect.row.values);
  machine.views.swap(effect.row.views);
  watch.begin({effect.known, effect.own, effect.actor, effect.globalActor});
  if (effect.step->bodies.empty())
    effect.step->run(machine, *effect.step);
  else if (!effect.isEmpty)
    machine.run(*effect.step->bodies[0]);
  machine.values.swap(effect.row.values);
  machine.views.swap(effect.row.views);
  if (!effect.channel)
    return;
  --effect.channel->numOpen;
  effect.channel->arrive(effect.isArrival, effect.own);
}

/// What may take place now: of each queue the oldest, and any copy whose end a barrier tells.
SmallVector<ScheduledRunner::Effect *> ScheduledRunner::getOpenEffects() {
  SmallVector<Effect *> open;
  for (Effect &effect : effects)
    if (!effect.isDone && effect.channel)
      open.push_back(&effect);
  for (Team &team : teams)
    for (const Queue *queue : {&team.copies, &team.stores, &team.products}) {
      auto oldest = llvm::find_if(*queue, [](const Effect *effect) { return !effect->isDone; });
      if (oldest != queue->end())
        open.push_back(*oldest);
    }
  return open;
}

/// Waits until at most `pending` effects of a queue are under way. The threads that wait know of
/// the end; a barrier tells the others.
void ScheduledRunner::endOldest(Team &team, Queue &queue, size_t pending, bool onlyReads) {
  size_t numEnded = queue.size() > pending ? queue.size() - pending : 0;
  for (Effect *effect : llvm::make_early_inc_range(queue)) {
    if (numEnded-- == 0)
      break;
    if (!effect->isDone)
      takePlace(*effect);
    Clock ended = effect->own;
    if (onlyReads)
      ended[effect->globalActor] = 0;
    join(team.own, ended);
    if (!onlyReads)
      queue.remove(effect);
  }
  settle(team);
}

//===----------------------------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------------------------===//

/// Which use of its version an iteration is: `iteration - first + ahead`.
template <typename OpT> static int64_t getTurn(Machine &machine, const Step &step) {
  return machine.getDeciding(step, 0, "the iteration of a version") -
         machine.getDeciding(step, 1, "the first iteration of a loop") +
         cast<OpT>(step.op).getAhead();
}

static void getVersion(Machine &machine, const Step &step) {
  int64_t count = cast<tile::VersionOp>(step.op).getCount();
  int64_t turn = getTurn<tile::VersionOp>(machine, step);
  machine.result(step) = Scalar::ofInteger((turn % count + count) % count);
}

static void getPhase(Machine &machine, const Step &step) {
  int64_t turn = getTurn<tile::PhaseOp>(machine, step);
  int64_t round = llvm::divideFloorSigned(turn, cast<tile::PhaseOp>(step.op).getCount());
  machine.result(step) = Scalar::ofInteger(round & 1);
}

/// The runner of schedules meets these ops itself; another engine of this room never does.
static void refuse(Machine &machine, const Step &step) {
  machine.fail(FindingKind::Deadlock, step,
               "internal error: '" + step.op->getName().getStringRef() +
                   "' outside a scheduled kernel");
}

bool tilewright::interp::resolveSchedule(Operation *op, Step &step) {
  step.run = llvm::TypeSwitch<Operation *, Handler>(op)
                 .Case([](tile::VersionOp) { return getVersion; })
                 .Case([](tile::PhaseOp) { return getPhase; })
                 .Case<tile::RoleOp, tile::AsyncGroupOp, tile::AsyncWaitOp, tile::BulkGroupOp,
                       tile::BulkWaitOp, tile::ProductWaitOp, tile::BarrierOp, tile::TurnOp>(
                     [](auto) { return refuse; })
                 .Default([](Operation *) { return nullptr; });
  return step.run != nullptr;
}
