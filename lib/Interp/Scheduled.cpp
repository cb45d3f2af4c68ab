//===- Scheduled.cpp - runs kernels as the passes for GPUs have scheduled them ----------------===//

#include "Scheduled.h"
#include "mlir/Transforms/RegionUtils.h"
#include "tilewright/Tile/Teams.h"
#include "tilewright/Tile/Turns.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::interp;

/// Whether a statement has a meaning for the schedule, and not only for the values.
static bool isOfSchedule(Operation *op) {
  if (isa<tile::GemmOp>(op))
    return op->hasAttr(tile::kAsyncAttr);
  return isa<tile::RoleOp, tile::AsyncGroupOp, tile::AsyncWaitOp, tile::BulkGroupOp,
             tile::BulkWaitOp, tile::ProductWaitOp, tile::BarrierOp, tile::TurnOp>(op);
}

static bool holds(Operation *op, bool (*isMeant)(Operation *)) {
  return op
      ->walk([&](Operation *inner) {
        return isMeant(inner) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

bool tilewright::interp::isScheduled(tile::KernelOp kernel) { return holds(kernel, isOfSchedule); }

ScheduledRunner::ScheduledRunner(Machine &machine, tile::KernelOp kernel, const Body &body)
    : machine(machine), kernel(kernel), body(body), order(machine.options.threadOrder),
      random(machine.options.threadOrder) {
  forEachStep(body, [&](const Step &step) {
    bool isWalked = !step.bodies.empty() && holds(step.op, [](Operation *op) {
      return isOfSchedule(op) || isa<tile::BarrierArriveOp, tile::BarrierWaitOp>(op);
    });
    if (isWalked)
      walked.insert(&step);
  });
  watch.describeActor = [this](unsigned actor) { return actors[actor]; };
  if (machine.options.check)
    machine.roles = &watch;
}

ScheduledRunner::~ScheduledRunner() { machine.roles = nullptr; }

//===----------------------------------------------------------------------------------------===//
// A block
//===----------------------------------------------------------------------------------------===//

ScheduledRunner::Team &ScheduledRunner::addTeam(Operation *role, StringRef name,
                                                int64_t numThreads) {
  Team &team = teams.emplace_back();
  team.actor = actors.size();
  team.name = name.str();
  team.numThreads = numThreads;
  team.allocations = &allocations[role];
  actors.push_back(team.name);
  return team;
}

void ScheduledRunner::start(ArrayRef<int64_t> block) {
  teams.clear();
  effects.clear();
  actors.clear();
  shared.clear();
  channels.clear();
  watch.reset();
  Team &program = addTeam(nullptr, "the program", kernel.getNumThreads());
  program.row = {machine.values, machine.views};
  for (auto [slot, coordinate] : llvm::zip_equal(body.arguments, block))
    program.row.values[slot] = Scalar::ofInteger(coordinate);
  program.frames.push_back({&body});
  for (auto [position, step] : llvm::enumerate(body.steps))
    if (isa<tile::RoleOp>(step.op) && !step.op->hasAttr(tile::kFirstThreadAttr))
      startRole(step, position);
}

/// The ops of the kernel's own body that compute what a role uses of it.
static llvm::SetVector<Operation *> collectSources(Operation *role) {
  llvm::SetVector<Operation *> sources;
  llvm::SetVector<mlir::Value> used;
  getUsedValuesDefinedAbove(role->getRegions(), used);
  for (size_t next = 0; next < used.size(); ++next) { // grows while it is walked
    Operation *op = used[next].getDefiningOp();
    if (!op || op->getBlock() != role->getBlock() || !sources.insert(op))
      continue;
    used.insert(op->operand_begin(), op->operand_end());
    getUsedValuesDefinedAbove(op->getRegions(), used);
  }
  return sources;
}

/// Threads of their own begin with the block. What they use of the kernel's body they compute for
/// themselves.
void ScheduledRunner::startRole(const Step &step, size_t position) {
  auto role = cast<tile::RoleOp>(step.op);
  Team &team = addTeam(role, "the " + role.getName().str(), /*numThreads=*/1);
  team.isOneThread = true; // one of them runs the role
  team.row = teams.front().row;
  llvm::SetVector<Operation *> sources = collectSources(role);
  for (const Step &source : ArrayRef(body.steps).take_front(position)) {
    if (!sources.contains(source.op) || machine.stopped)
      continue;
    if (isa<tile::AllocOp, tile::BarrierAllocOp>(source.op))
      allocate(team, source);
    else
      runStatement(team, source);
  }
  team.frames.push_back({step.bodies[0]});
}

void ScheduledRunner::run(ArrayRef<int64_t> block) {
  start(block);
  while (!machine.stopped && llvm::any_of(teams, [](const Team &t) { return !t.isFinished; }))
    if (!goOn())
      return reportDeadlock();
  finishBlock();
}

/// Lets a team go on, or an effect take place; false if all wait for each other.
bool ScheduledRunner::goOn() {
  SmallVector<Team *> ready;
  for (Team &team : teams)
    if (!team.isFinished && !isBlocked(team))
      ready.push_back(&team);
  SmallVector<Effect *> open = getOpenEffects();
  if (machine.stopped)
    return true;
  if (order > 1) {
    size_t count = ready.size() + open.size();
    if (count == 0)
      return false;
    size_t choice = random.uniform(0, count - 1);
    if (choice < ready.size())
      advance(*ready[choice]);
    else
      takePlace(*open[choice - ready.size()]);
    return true;
  }
  if (!ready.empty())
    advance(order == 0 ? *ready.front() : *ready.back());
  else if (!open.empty())
    takePlace(*open.front());
  return !ready.empty() || !open.empty();
}

bool ScheduledRunner::hasRolesUnderWay(const Team &team) const {
  return llvm::any_of(
      teams, [&](const Team &other) { return other.parent == &team && !other.isFinished; });
}

/// Whether a statement of a team needs all its threads, those in roles too.
static bool needsAll(Operation *op) {
  return !isMemoryEffectFree(op) &&
         !isa<tile::RoleOp, tile::AllocOp, tile::BarrierAllocOp, tile::AnnotateLayoutOp,
              tile::AnnotateSafeValueOp, tile::UseSwizzleOp, tile::HintOp, tile::TurnOp>(op);
}

bool ScheduledRunner::isBlocked(Team &team) {
  const Step *step = getStep(team);
  if (!step) // nothing of a team's ends before the roles that it is divided into
    return team.frames.size() == 1 && hasRolesUnderWay(team);
  if (needsAll(step->op) && hasRolesUnderWay(team))
    return true;
  auto wait = dyn_cast<tile::BarrierWaitOp>(step->op);
  if (!wait)
    return false;
  swap(team);
  bool isOver = true;
  if (Channels::Channel *channel = channels.find(machine, *step, 0)) {
    if (wait.getParity()) {
      isOver = channel->isOver(machine.getDeciding(*step, 2, "the parity of a wait"));
    } else {
      auto arrived = channel->phases.find(team.actor);
      isOver = arrived == channel->phases.end() || arrived->second < channel->phase;
    }
  }
  swap(team);
  return !isOver;
}

//===----------------------------------------------------------------------------------------===//
// Reports
//===----------------------------------------------------------------------------------------===//

std::string ScheduledRunner::describeWaiting(Team &team, bool isHere) {
  const Step *step = getStep(team);
  std::string text = team.name + " waits " +
                     (isHere  ? "here"
                      : !step ? "at its end"
                              : "at " + describeLocation(step->op)) +
                     " for ";
  if (!step || !isa<tile::BarrierWaitOp>(step->op))
    return text + "its roles to end";
  swap(team);
  if (Channels::Channel *channel = channels.find(machine, *step, 0))
    text += describe(*channel, machine, *step);
  swap(team);
  return text;
}

void ScheduledRunner::reportDeadlock() {
  auto atBarrier = llvm::find_if(teams, [&](const Team &team) {
    return !team.isFinished && getStep(team) && isa<tile::BarrierWaitOp>(getStep(team)->op);
  });
  if (atBarrier == teams.end())
    return;
  std::string message = "this wait is not met: what it waits for never comes; " +
                        describeWaiting(*atBarrier, /*isHere=*/true);
  for (Team &team : teams)
    if (&team != &*atBarrier && !team.isFinished)
      message += ", " + describeWaiting(team, /*isHere=*/false);
  machine.fail(FindingKind::Deadlock, *getStep(*atBarrier), message);
}

/// All effects take place at the end of a block; those that touch its memory must have ended before.
void ScheduledRunner::finishBlock() {
  Clock all;
  for (const Team &team : teams)
    join(all, team.own);
  for (Effect &effect : effects) {
    if (!machine.stopped && !effect.isDone)
      takePlace(effect);
    if (!machine.stopped && !effect.isEmpty && getTime(all, effect.actor) == 0)
      machine.find(FindingKind::Race, *effect.step,
                   "the block ends while this statement is under way: nothing waits for it");
  }
}
