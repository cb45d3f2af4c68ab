//===- PlayRoles.cpp - whether barriers order all that roles do to each other ----------------===//

#include "PlayRoles.h"

#include "ThreadFacts.h"
#include "Waits.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::threads {

namespace {

/// What is played at most, in all: beyond it, a kernel is undecided.
constexpr size_t kMostEvents = 1 << 20;

//===----------------------------------------------------------------------------------------===//
// What a role does, as a list
//===----------------------------------------------------------------------------------------===//

/// The rows and columns of a root that an access may touch; empty: all of it.
using Box = SmallVector<std::pair<int64_t, int64_t>, 4>;

struct Access {
  EffectKind kind;
  Combination combination;
  Value root;
  Box box;
};

struct Event {
  enum Kind : uint8_t { Touch, Arrive, Wait } kind;
  Operation *op;
  unsigned barrier = 0;     ///< Of arrivals and waits: its number among all barriers.
  int64_t number = 0;       ///< The arrivals, or the parity that is waited for (-1: its own phase).
  int64_t expected = 0;     ///< Arrivals that end a phase.
  bool isAtArrival = false; ///< It lasts until the phase of the role's next arrival ends.
  SmallVector<Access, 2> accesses{};
};

/// A loop bound that only a launch knows, and what is tried for it.
struct Assumption {
  Value bound;
  int64_t value = 0;
};

class Recorder {
public:
  Recorder(KernelOp kernel, std::vector<Assumption> &assumptions)
      : kernel(kernel), assumptions(assumptions) {}

  /// The list of a region's statements, run by `threads` threads.
  std::vector<Event> record(Block::iterator from, Block::iterator to, int64_t threads) {
    events.clear();
    numThreads = threads;
    for (Operation &op : llvm::make_range(from, to))
      visit(&op);
    return std::move(events);
  }

  unsigned getNumBarriers() const { return barriers.size(); }

  std::string obstacle;
  Operation *at = nullptr;

private:
  void stop(Operation *op, const Twine &reason) {
    if (!at) {
      at = op;
      obstacle = reason.str();
    }
  }

  void visit(Operation *op);
  void visit(Block &block) {
    for (Operation &op : block)
      visit(&op);
  }
  void visitLoop(Operation *op, Value variable, Value lower, Value upper, int64_t step,
                 Block &body);
  void visitBarrier(Operation *op, Value row, Value index, Event event);
  void touch(Operation *op);
  Box findBox(const Effect &effect);

  Attribute evaluate(Value value) {
    if (Attribute bound = known.lookup(value))
      return bound;
    for (const Assumption &assumption : assumptions)
      if (assumption.bound.getType() == value.getType() && areEqual(assumption.bound, value))
        return IntegerAttr::get(value.getType(), assumption.value);
    return foldScalar(value, [&](Value operand) { return evaluate(operand); });
  }
  std::optional<int64_t> evaluateIndex(Value value) {
    auto number = dyn_cast_or_null<IntegerAttr>(evaluate(value));
    return number ? std::optional(number.getInt()) : std::nullopt;
  }
  std::optional<int64_t> evaluateSum(const IndexSum &sum) {
    int64_t result = sum.constant;
    for (auto [value, factor] : sum.terms) {
      std::optional<int64_t> number = evaluateIndex(value);
      if (!number)
        return std::nullopt;
      result += *number * factor;
    }
    return result;
  }

  KernelOp kernel;
  std::vector<Assumption> &assumptions;
  std::vector<Event> events;
  int64_t numThreads = 0;
  llvm::DenseMap<Value, Attribute> known; ///< Variables of the loops that are run through.
  llvm::MapVector<std::pair<Value, int64_t>, unsigned> barriers;
};

void Recorder::visit(Operation *op) {
  if (at || (isPureScalar(op) && op->getNumRegions() == 0) || isa<AllocOp, BarrierAllocOp>(op))
    return;
  if (events.size() > kMostEvents)
    return stop(op, "its roles do too much to be checked");
  if (auto arrive = dyn_cast<BarrierArriveOp>(op)) {
    int64_t arrivals = arrive.getOnce() ? 1 : numThreads;
    return visitBarrier(op, arrive.getBarriers(), arrive.getIndex(),
                        {Event::Arrive, op, 0, arrivals, arrive.getExpectedArrivals()});
  }
  if (auto wait = dyn_cast<BarrierWaitOp>(op)) {
    int64_t parity = -1;
    if (wait.getParity()) {
      std::optional<int64_t> number = evaluateIndex(wait.getParity());
      if (!number)
        return stop(op, "which phase this waits for is only known when it runs");
      parity = *number & 1;
    }
    return visitBarrier(op, wait.getBarriers(), wait.getIndex(),
                        {Event::Wait, op, 0, parity, wait.getExpectedArrivals()});
  }
  if (!usesBarriers(op))
    return touch(op);
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    std::optional<int64_t> step = evaluateIndex(loop.getStep());
    if (!step || *step < 1 || !loop.getInitArgs().empty())
      return stop(op, "the step of this loop is only known when it runs");
    return visitLoop(op, loop.getInductionVar(), loop.getLowerBound(), loop.getUpperBound(), *step,
                     *loop.getBody());
  }
  if (auto loop = dyn_cast<PipelinedOp>(op))
    return visitLoop(op, loop.getInductionVar(), loop.getLower(), loop.getUpper(), 1,
                     loop.getBody().front());
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    auto condition = dyn_cast_or_null<IntegerAttr>(evaluate(branch.getCondition()));
    if (!condition)
      return stop(op,
                  "whether a role comes to a barrier in this branch is only known when it runs");
    Region &side = condition.getValue().isZero() ? branch.getElseRegion() : branch.getThenRegion();
    if (!side.empty())
      visit(side.front());
    return;
  }
  stop(op, "how often a role comes to a barrier in here is only known when it runs");
}

void Recorder::visitLoop(Operation *op, Value variable, Value lower, Value upper, int64_t step,
                         Block &body) {
  std::optional<int64_t> first = evaluateIndex(lower), end = evaluateIndex(upper);
  if (!first)
    return stop(op, "where this loop starts is only known when it runs");
  if (!end) {
    assumptions.push_back({upper, *first});
    end = *first;
  }
  for (int64_t index = *first; index < *end && !at; index += step) {
    known[variable] = IntegerAttr::get(variable.getType(), index);
    visit(body);
  }
  known.erase(variable);
}

void Recorder::visitBarrier(Operation *op, Value row, Value index, Event event) {
  std::optional<int64_t> element = evaluateIndex(index);
  if (!element)
    return stop(op, "which barrier this is is only known when it runs");
  int64_t extent = cast<MemRefType>(row.getType()).getNumElements();
  if (*element < 0 || *element >= extent)
    return stop(op, "there is no barrier " + Twine(*element) + " in a row of " + Twine(extent));
  unsigned next = barriers.size();
  event.barrier = barriers.insert({{row, *element}, next}).first->second;
  events.push_back(std::move(event));
}

/// Only memory that roles have in common counts.
static bool isCommon(Value root, Operation *op) {
  if (getSpace(root) != Space::Shared && getSpace(root) != Space::Global)
    return false;
  Operation *alloc = root.getDefiningOp();
  return !alloc || getTeamRole(alloc) != getTeamRole(op) || !getTeamRole(op);
}

void Recorder::touch(Operation *op) {
  Event event{Event::Touch, op};
  event.isAtArrival = op->hasAttr(kAtArrivalAttr);
  std::optional<SmallVector<Effect>> effects = getEffects(op);
  if (!effects)
    return stop(op, "what this statement touches is not known");
  for (const Effect &effect : *effects)
    if (isCommon(effect.root, op))
      event.accesses.push_back({effect.kind, effect.combination, effect.root, findBox(effect)});
  if (!event.accesses.empty())
    events.push_back(std::move(event));
}

Box Recorder::findBox(const Effect &effect) {
  Box box;
  if (effect.region.isWhole())
    return box;
  auto shape = cast<MemRefType>(effect.root.getType()).getShape();
  for (auto [range, extent] : llvm::zip_equal(*effect.region.ranges, shape)) {
    std::optional<int64_t> offset = evaluateSum(range.offset), size = evaluateSum(range.size);
    if (offset && size)
      box.push_back({*offset, *offset + std::max<int64_t>(0, (*size - 1)) * range.step + 1});
    else
      box.push_back({INT64_MIN, INT64_MAX});
  }
  return box;
}

//===----------------------------------------------------------------------------------------===//
// The lists, side by side
//===----------------------------------------------------------------------------------------===//

/// What a role knows: how far each role was, and how many phases of each barrier are over.
struct Clock {
  std::vector<int64_t> roles, phases;

  void join(const Clock &other) {
    for (auto [own, theirs] : llvm::zip_equal(roles, other.roles))
      own = std::max(own, theirs);
    for (auto [own, theirs] : llvm::zip_equal(phases, other.phases))
      own = std::max(own, theirs);
  }
};

struct Barrier {
  int64_t arrived = 0, over = 0; ///< In the current phase; phases that have ended.
  Clock current;                 ///< What the arrivals of the current phase knew.
  std::vector<Clock> ended;
  int onlyRole = -1; ///< The role that all arrivals so far are of; -2: there are several.
  struct Waited {
    int64_t phases;
    unsigned role;
    int64_t time;
  };
  SmallVector<Waited> waits; ///< That the next phase must not overtake.
};

struct Touched {
  Access access;
  Operation *op;
  unsigned role;
  int64_t time;
  int barrier =
      -1; ///< The barrier that says when it is over, and the phase; -1: it is over at once.
  int64_t phase = 0;
};

class Player {
public:
  Player(unsigned numRoles, unsigned numBarriers, bool disjoint) : disjoint(disjoint) {
    Clock start{std::vector<int64_t>(numRoles, 0), std::vector<int64_t>(numBarriers, 0)};
    clocks.assign(numRoles, start);
    pending.resize(numRoles);
    barriers.resize(numBarriers);
    for (Barrier &barrier : barriers)
      barrier.current = start;
  }

  /// What the block does before the roles start: all of them know of it.
  void begin(ArrayRef<Event> events) {
    for (const Event &event : events) {
      if (event.kind == Event::Touch)
        continue;
      Barrier &barrier = barriers[event.barrier];
      if (event.kind == Event::Wait) {
        bool isMet = event.number < 0 ? barrier.arrived == 0 : barrier.over % 2 != event.number;
        if (!isMet)
          return stop(event.op, "this wait is never met");
        continue;
      }
      barrier.arrived += event.number;
      barrier.over += barrier.arrived / event.expected;
      barrier.arrived %= event.expected;
      barrier.onlyRole = -2;
      barrier.ended.resize(barrier.over, barrier.current);
    }
    for (Clock &clock : clocks)
      for (auto [number, barrier] : llvm::enumerate(barriers))
        clock.phases[number] = barrier.over;
    for (auto [number, barrier] : llvm::enumerate(barriers))
      barrier.current = clocks.front();
  }

  void run(ArrayRef<std::vector<Event>> lists) {
    SmallVector<size_t> next(lists.size(), 0);
    for (bool progress = true; progress && !at;) {
      progress = false;
      for (unsigned role = 0; role < lists.size(); ++role)
        while (next[role] < lists[role].size() && !at && play(lists[role][next[role]], role)) {
          ++next[role];
          progress = true;
        }
    }
    for (unsigned role = 0; role < lists.size() && !at; ++role)
      if (next[role] < lists[role].size())
        stop(lists[role][next[role]].op, "this wait is never met: roles wait for each other");
  }

  std::vector<OpenConflict> conflicts;
  std::string obstacle;
  Operation *at = nullptr;

private:
  void stop(Operation *op, const Twine &reason) {
    if (at)
      return;
    at = op;
    obstacle = reason.str();
  }

  bool play(const Event &event, unsigned role) {
    ++clocks[role].roles[role];
    switch (event.kind) {
    case Event::Touch:
      for (const Access &access : event.accesses) {
        check(access, event.op, role);
        Touched touched{access, event.op, role, clocks[role].roles[role]};
        if (event.isAtArrival)
          pending[role].push_back(touched);
        else
          remember(touched);
      }
      return true;
    case Event::Arrive:
      arrive(event, role);
      return true;
    case Event::Wait:
      return wait(event, role);
    }
    llvm_unreachable("all kinds of events are handled");
  }

  void arrive(const Event &event, unsigned role) {
    Barrier &barrier = barriers[event.barrier];
    Clock &clock = clocks[role];
    bool isAlone =
        event.number == event.expected && (barrier.onlyRole == -1 || barrier.onlyRole == int(role));
    if (!isAlone && clock.phases[event.barrier] < barrier.over)
      return stop(event.op, "nothing orders this arrival after the phase before");
    barrier.onlyRole = isAlone ? int(role) : -2;
    for (Touched &access : pending[role]) {
      access.barrier = int(event.barrier);
      access.phase = barrier.over;
      remember(access);
    }
    pending[role].clear();
    barrier.current.join(clock);
    barrier.arrived += event.number;
    if (barrier.arrived > event.expected)
      return stop(event.op, "more threads arrive here than end a phase");
    if (barrier.arrived < event.expected)
      return;
    for (const Barrier::Waited &waited : barrier.waits)
      if (waited.phases == barrier.over && barrier.current.roles[waited.role] < waited.time)
        return stop(event.op, "nothing keeps this phase from ending while a role may still wait "
                              "for the one before");
    barrier.waits.clear();
    barrier.arrived = 0;
    ++barrier.over;
    barrier.current.phases[event.barrier] = barrier.over;
    barrier.ended.push_back(barrier.current);
  }

  bool wait(const Event &event, unsigned role) {
    Barrier &barrier = barriers[event.barrier];
    Clock &clock = clocks[role];
    int64_t target = clock.phases[event.barrier];
    if (event.number < 0 || target % 2 == event.number)
      ++target;
    if (barrier.over < target)
      return false;
    if (barrier.over > target) {
      stop(event.op, "the phase that this waits for may be two phases ago");
      return false;
    }
    if (target > 0)
      clock.join(barrier.ended[target - 1]);
    clock.phases[event.barrier] = std::max(clock.phases[event.barrier], target);
    barrier.waits.push_back({target, role, clock.roles[role]});
    return true;
  }

  bool mayMeet(const Access &a, const Access &b) {
    if (a.root != b.root)
      return !disjoint && getSpace(a.root) == Space::Global && getSpace(b.root) == Space::Global &&
             (a.kind != EffectKind::Read || b.kind != EffectKind::Read);
    Effect first{a.kind, a.root, EffectRegion::whole(), nullptr, a.combination};
    Effect second{b.kind, b.root, EffectRegion::whole(), nullptr, b.combination};
    if (commute(first, second))
      return false;
    if (a.box.empty() || b.box.empty())
      return true;
    return llvm::all_of(llvm::zip_equal(a.box, b.box), [](auto pair) {
      auto [x, y] = pair;
      return x.first < y.second && y.first < x.second;
    });
  }

  void check(const Access &access, Operation *op, unsigned role) {
    const Clock &clock = clocks[role];
    auto isOver = [&](const Touched &before) {
      if (before.barrier >= 0)
        return clock.phases[before.barrier] > before.phase;
      return before.role == role || before.time <= clock.roles[before.role];
    };
    for (const Touched &before : touched)
      if (!isOver(before) && mayMeet(before.access, access))
        addConflict({before.op, op, access.root});
    for (const Touched &before : pending[role])
      if (before.op != op && mayMeet(before.access, access))
        addConflict({before.op, op, access.root});
  }

  /// A later access of a statement to the same box stands for the earlier ones.
  void remember(const Touched &access) {
    for (Touched &before : touched)
      if (before.op == access.op && before.role == access.role &&
          before.access.root == access.access.root && before.access.kind == access.access.kind &&
          before.access.box == access.access.box && before.barrier == access.barrier) {
        before = access;
        return;
      }
    touched.push_back(access);
  }

  void addConflict(OpenConflict conflict) {
    bool isKnown = llvm::any_of(conflicts, [&](const OpenConflict &other) {
      return other.first == conflict.first && other.second == conflict.second;
    });
    if (!isKnown)
      conflicts.push_back(conflict);
  }

  bool disjoint;
  std::vector<Clock> clocks;
  std::vector<Barrier> barriers;
  std::vector<Touched> touched;
  std::vector<SmallVector<Touched>>
      pending; ///< Of each role: copies that end with its next arrival.
};

/// Plays with these trip counts.
void playOnce(KernelOp kernel, std::vector<Assumption> &assumptions, bool disjoint,
              Played &result) {
  SmallVector<RoleOp> roles = getTeamRoles(kernel);
  Recorder recorder(kernel, assumptions);
  Block &body = kernel.getBody().front();
  std::vector<Event> before =
      recorder.record(body.begin(), roles.front()->getIterator(), kernel.getNumThreads());
  std::vector<std::vector<Event>> lists;
  for (RoleOp role : roles) {
    Block &own = role.getBody().front();
    lists.push_back(
        recorder.record(own.begin(), own.getTerminator()->getIterator(), role.getThreads()));
  }
  if (recorder.at) {
    result.obstacle = recorder.obstacle;
    result.at = recorder.at;
    return;
  }
  Player player(roles.size(), recorder.getNumBarriers(), disjoint);
  player.begin(before);
  if (!player.at)
    player.run(lists);
  result.obstacle = player.obstacle;
  result.at = player.at;
  for (const OpenConflict &conflict : player.conflicts)
    if (llvm::none_of(result.conflicts, [&](const OpenConflict &other) {
          return other.first == conflict.first && other.second == conflict.second;
        }))
      result.conflicts.push_back(conflict);
}

/// Past this many iterations versions and parities have come round twice.
int64_t findLongestRun(KernelOp kernel) {
  int64_t longest = 1;
  kernel.walk(
      [&](BarrierAllocOp row) { longest = std::max(longest, int64_t(row.getArrivals().size())); });
  return std::min<int64_t>(2 * longest + 2, 18);
}

} // namespace

Played playRoles(KernelOp kernel, bool disjoint) {
  Played result;
  std::vector<Assumption> assumptions;
  int64_t longest = findLongestRun(kernel);
  auto play = [&](size_t number, int64_t value) {
    if (number < assumptions.size())
      assumptions[number].value = value;
    if (result.obstacle.empty())
      playOnce(kernel, assumptions, disjoint, result); // also finds the unknown bounds
  };
  play(0, 0);
  for (int64_t first = 0; first <= longest && !assumptions.empty(); ++first) {
    play(0, first);
    for (int64_t second = 1; second <= longest && assumptions.size() > 1; ++second)
      play(1, second);
    if (assumptions.size() > 1)
      assumptions[1].value = 0;
  }
  if (assumptions.size() > 2 && result.obstacle.empty()) {
    result.obstacle = "the bounds of more than two loops are only known when it runs";
    result.at = kernel;
  }
  return result;
}

} // namespace tilewright::threads
