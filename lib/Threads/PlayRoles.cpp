//===- PlayRoles.cpp - whether barriers order all that roles do to each other ----------------===//

#include "PlayRoles.h"

#include "LaterIterations.h"
#include "ThreadFacts.h"
#include "Waits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::threads {

namespace {

/// What is played at most, in all: beyond it, a kernel is undecided.
constexpr size_t kMostEvents = 1 << 20;
/// The longest run of one loop that is tried, and of two loops.
constexpr int64_t kLongestRun = 64, kLongestOfTwo = 32;

//===----------------------------------------------------------------------------------------===//
// What a role does, as a list
//===----------------------------------------------------------------------------------------===//

/// The elements from `low` to before `high`, in one dimension.
struct Span {
  int64_t low = INT64_MIN, high = INT64_MAX;
  /// Where it goes on with the iterations of a loop without a known end: by `drift` in `period` of
  /// them, from `start / period` on.
  int64_t drift = 0, period = 1, start = 0;

  friend bool operator==(const Span &a, const Span &b) {
    return a.low == b.low && a.high == b.high;
  }
};

/// The rows and columns of a root that an access may touch; empty: all of it.
using Box = SmallVector<Span, 4>;

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

/// A loop bound that only a launch knows, and what is tried for it: `start + step * trips`.
struct Assumption {
  Value bound;
  int64_t start = 0, step = 1, trips = 0;
  unsigned counter = 0;

  int64_t getValue() const { return start + step * trips; }
};

/// What is assumed of a kernel, and how its numbers go on.
struct Trial {
  std::vector<Assumption> assumptions;
  LaterIterations later;
  /// Which assumption a value is equal to, of all that were looked up.
  llvm::DenseMap<Value, std::optional<unsigned>> equals;
  llvm::DenseMap<Operation *, std::optional<SmallVector<Effect>>> effects;
  llvm::DenseMap<Value, unsigned> counters; ///< Of loops that these bounds end, by their variable.
};

class Recorder {
public:
  Recorder(KernelOp kernel, Trial &trial) : kernel(kernel), trial(trial) {}

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
  bool repeatsModulo2(Operation *op, Value value);
  void touch(Operation *op);
  Box findBox(const Effect &effect);
  Span findSpan(const DimRange &range);
  bool endsAtAssumption(Operation *op, Value upper, int64_t start, int64_t step);
  Assumption *findAssumption(Value bound);

  std::optional<int64_t> evaluateIndex(Value value);
  std::optional<int64_t> combineIndices(Operation *op);
  Attribute evaluate(Value value) {
    if (!value.getType().isIntOrIndex())
      return foldScalar(value, [&](Value operand) { return evaluate(operand); });
    std::optional<int64_t> number = evaluateIndex(value);
    if (!number)
      return {};
    unsigned width = value.getType().isIndex() ? 64 : value.getType().getIntOrFloatBitWidth();
    return IntegerAttr::get(value.getType(), APInt(width, *number, true, /*implicitTrunc=*/true));
  }
  /// A loop's variable has another value, or a number is assumed: what was computed with it is void.
  void forgetComputed() {
    for (Value value : computed)
      known.erase(value);
    computed.clear();
    trial.later.forget();
  }
  auto evaluator() {
    return [this](Value value) { return evaluateIndex(value); };
  }
  /// Whether a number that decides what a role does is tried in all its cases.
  bool repeats(Operation *op, const std::optional<Growth> &growth) {
    bool result = trial.later.repeats(growth);
    if (!result)
      stop(op, "what this does in later iterations does not follow from the first ones");
    return result;
  }
  bool repeats(Operation *op, Value value) {
    return !trial.later.hasCounters() || repeats(op, trial.later.find(value, evaluator()));
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
  Trial &trial;
  std::vector<Event> events;
  int64_t numThreads = 0;
  /// Variables of the loops that are run through, and what has been computed in this iteration.
  llvm::DenseMap<Value, std::optional<int64_t>> known;
  SmallVector<Value> computed;
  llvm::MapVector<std::pair<Value, int64_t>, unsigned> barriers;
};

std::optional<int64_t> Recorder::evaluateIndex(Value value) {
  if (auto number = known.find(value); number != known.end())
    return number->second;
  std::optional<int64_t> result;
  Operation *op = value.getDefiningOp();
  if (const Assumption *assumption = findAssumption(value))
    result = assumption->getValue();
  else if (op && value.getType().isIndex())
    result = combineIndices(op);
  if (!result) {
    Attribute folded = foldScalar(value, [&](Value operand) { return evaluate(operand); });
    if (auto number = dyn_cast_or_null<IntegerAttr>(folded))
      result = number.getInt();
  }
  computed.push_back(value);
  return known[value] = result;
}

/// What most indices are made of, without the cost of folding an op.
std::optional<int64_t> Recorder::combineIndices(Operation *op) {
  if (op->getNumOperands() != 2)
    return std::nullopt;
  std::optional<int64_t> lhs = evaluateIndex(op->getOperand(0)),
                         rhs = lhs ? evaluateIndex(op->getOperand(1)) : std::nullopt;
  int64_t result;
  if (!rhs)
    return std::nullopt;
  if (isa<arith::AddIOp>(op) && !llvm::AddOverflow(*lhs, *rhs, result))
    return result;
  if (isa<arith::SubIOp>(op) && !llvm::SubOverflow(*lhs, *rhs, result))
    return result;
  if (isa<arith::MulIOp>(op) && !llvm::MulOverflow(*lhs, *rhs, result))
    return result;
  if (isa<FloorDivOp>(op) && *rhs > 0)
    return llvm::divideFloorSigned(*lhs, *rhs);
  if (isa<FloorModOp>(op) && *rhs > 0)
    return llvm::mod(*lhs, *rhs);
  return std::nullopt;
}

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
      if (!repeatsModulo2(op, wait.getParity()))
        return;
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
    if (!repeats(op, branch.getCondition()))
      return;
    Region &side = condition.getValue().isZero() ? branch.getElseRegion() : branch.getThenRegion();
    if (!side.empty())
      visit(side.front());
    return;
  }
  stop(op, "how often a role comes to a barrier in here is only known when it runs");
}

/// A parity is the last bit of a number, which need not repeat itself.
bool Recorder::repeatsModulo2(Operation *op, Value value) {
  if (!trial.later.hasCounters())
    return true;
  std::optional<Growth> growth = trial.later.find(value, evaluator());
  return repeats(op, growth ? LaterIterations::takeModulo(*growth, 2) : std::nullopt);
}

/// The assumption about a number, or about one that is equal to it.
Assumption *Recorder::findAssumption(Value bound) {
  auto [entry, isNew] = trial.equals.try_emplace(bound);
  if (isNew)
    for (auto [number, assumption] : llvm::enumerate(trial.assumptions))
      if (assumption.bound.getType() == bound.getType() && areEqual(assumption.bound, bound)) {
        entry->second = number;
        trial.later.bind(bound, assumption.counter, assumption.step);
      }
  return entry->second ? &trial.assumptions[*entry->second] : nullptr;
}

/// Whether a number is the same in all iterations of the roles' loops.
static bool isFixed(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return isa<KernelOp, func::FuncOp>(argument.getOwner()->getParentOp());
  Operation *op = value.getDefiningOp();
  if (!isPureScalar(op))
    return isa<KernelOp, RoleOp>(op->getParentOp());
  return llvm::all_of(op->getOperands(), isFixed);
}

/// Assumes an end for the loop `op`, or finds what was assumed for another one with this end.
bool Recorder::endsAtAssumption(Operation *op, Value upper, int64_t start, int64_t step) {
  Assumption *assumed = findAssumption(upper);
  if (!assumed && evaluateIndex(upper))
    return false;
  if (!assumed) {
    if (!isFixed(upper)) {
      stop(op, "how often this loop runs changes while its role runs");
      return false;
    }
    trial.assumptions.push_back({upper, start, step, 0, trial.later.add(/*isEnd=*/true)});
    trial.equals.clear();
    forgetComputed();
    assumed = findAssumption(upper);
  }
  if (assumed->step != step) {
    stop(op, "loops of several steps end at a number that is only known when it runs");
    return false;
  }
  if (start != assumed->start)
    trial.later.noteChange(std::abs(start - assumed->start) / step + 1);
  return true;
}

void Recorder::visitLoop(Operation *op, Value variable, Value lower, Value upper, int64_t step,
                         Block &body) {
  std::optional<int64_t> first = evaluateIndex(lower);
  if (!first)
    return stop(op, "where this loop starts is only known when it runs");
  bool isOpen = endsAtAssumption(op, upper, *first, step);
  if (at)
    return;
  if (!isOpen && trial.later.hasCounters()) { // its end may follow from one that is assumed
    std::optional<Growth> growth = trial.later.find(upper, evaluator());
    isOpen = growth && !growth->repeats();
    bool isTriangular = isOpen && llvm::any_of(growth->drifts, [&](auto drift) {
                          return !trial.later.isEnd(drift.first);
                        });
    if (isTriangular || (isOpen && (step != 1 || !growth->isLinear)))
      return stop(op, "how often this loop runs changes while its role runs");
    if (!isOpen && !repeats(op, growth))
      return;
  }
  if (!repeats(op, lower))
    return;
  std::optional<unsigned> counter;
  if (isOpen) {
    auto [entry, isNew] = trial.counters.try_emplace(variable, 0);
    if (isNew)
      entry->second = trial.later.add(/*isEnd=*/false);
    counter = entry->second;
    trial.later.bind(variable, *counter, step);
  }
  int64_t end = *evaluateIndex(upper);
  for (int64_t index = *first, count = 0; index < end && !at; index += step, ++count) {
    forgetComputed();
    known[variable] = index;
    if (counter)
      trial.later.setCount(*counter, count);
    visit(body);
  }
  forgetComputed();
  known.erase(variable);
}

void Recorder::visitBarrier(Operation *op, Value row, Value index, Event event) {
  std::optional<int64_t> element = evaluateIndex(index);
  if (!element)
    return stop(op, "which barrier this is is only known when it runs");
  if (!repeats(op, index))
    return;
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
  auto [entry, isNew] = trial.effects.try_emplace(op);
  if (isNew)
    entry->second = getEffects(op);
  const std::optional<SmallVector<Effect>> &effects = entry->second;
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
  for (const DimRange &range : *effect.region.ranges)
    box.push_back(findSpan(range));
  return box;
}

Span Recorder::findSpan(const DimRange &range) {
  std::optional<int64_t> offset = evaluateSum(range.offset), size = evaluateSum(range.size);
  if (!offset || !size)
    return {};
  Span span{*offset, *offset + std::max<int64_t>(0, (*size - 1)) * range.step + 1};
  LaterIterations &later = trial.later;
  if (!later.hasCounters())
    return span;
  std::optional<Growth> growth = later.find(range.offset, evaluator());
  if (!growth || !later.repeats(later.find(range.size, evaluator())))
    return {};
  if (later.repeats(growth))
    return span;
  if (!growth->isLinear || growth->drifts.size() != 1)
    return {};
  auto [counter, drift] = growth->drifts.front();
  if (later.isEnd(counter))
    return {};
  span.drift = drift;
  span.period = growth->period;
  span.start = span.low * span.period - drift * later.getCount(counter);
  return span;
}

/// Elements that go on with the iterations of a loop keep their distance from others only if these
/// go on at the same pace. If they do not, or are far apart, they may meet in iterations that are
/// not tried: then they may be anywhere.
void widenMovingSpans(MutableArrayRef<std::vector<Event>> lists, LaterIterations &later) {
  llvm::MapVector<Value, SmallVector<Access *>> byRoot;
  for (std::vector<Event> &list : lists)
    for (Event &event : list)
      for (Access &access : event.accesses)
        byRoot[access.root].push_back(&access);
  for (auto &[root, accesses] : byRoot) {
    if (llvm::all_of(accesses, [](Access *a) { return a->kind == EffectKind::Read; }))
      continue;
    int64_t rank = cast<MemRefType>(root.getType()).getRank();
    for (int64_t dim = 0; dim < rank; ++dim) {
      SmallVector<Span *> spans;
      for (Access *access : accesses)
        if (!access->box.empty())
          spans.push_back(&access->box[dim]);
      auto *moving = llvm::find_if(spans, [](Span *span) { return span->drift != 0; });
      if (moving == spans.end())
        continue;
      const Span &first = **moving;
      int64_t nearest = INT64_MAX, farthest = INT64_MIN;
      bool isOnePace = llvm::all_of(spans, [&](Span *span) {
        nearest = std::min(nearest, span->start);
        farthest = std::max(farthest, span->start + (span->high - span->low) * span->period);
        return span->drift == first.drift && span->period == first.period;
      });
      int64_t distance = isOnePace ? (farthest - nearest) / std::abs(first.drift) : kLongestRun;
      if (distance < kLongestRun)
        later.noteChange(distance);
      else
        for (Span *span : spans)
          *span = {};
    }
  }
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
      return x.low < y.high && y.low < x.high;
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
void playOnce(KernelOp kernel, Trial &trial, bool disjoint, Played &result) {
  SmallVector<RoleOp> roles = getTeamRoles(kernel);
  Recorder recorder(kernel, trial);
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
  widenMovingSpans(lists, trial.later);
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

/// The most iterations by which one role can be ahead of another.
int64_t findMostVersions(KernelOp kernel) {
  int64_t most = 1;
  kernel.walk(
      [&](BarrierAllocOp row) { most = std::max(most, int64_t(row.getArrivals().size())); });
  return most;
}

} // namespace

Played playRoles(KernelOp kernel, bool disjoint) {
  Played result;
  Trial trial;
  int64_t versions = findMostVersions(kernel);
  // All roles get going, what they do repeats once, and the last iterations follow.
  auto needed = [&] {
    return 2 * trial.later.getLastChange() + trial.later.getPeriod() + versions + 2;
  };
  auto longest = [&] {
    return std::min(needed(), trial.assumptions.size() > 1 ? kLongestOfTwo : kLongestRun);
  };
  auto play = [&](size_t number, int64_t trips) {
    if (number < trial.assumptions.size()) {
      trial.assumptions[number].trips = trips;
      trial.later.setCount(trial.assumptions[number].counter, trips);
    }
    if (result.obstacle.empty())
      playOnce(kernel, trial, disjoint, result); // also finds the unknown bounds
  };
  play(0, 0);
  for (int64_t first = 0; first <= longest() && !trial.assumptions.empty(); ++first) {
    play(0, first);
    for (int64_t second = 1; second <= longest() && trial.assumptions.size() > 1; ++second)
      play(1, second);
    if (trial.assumptions.size() > 1)
      play(1, 0);
  }
  if (!result.obstacle.empty())
    return result;
  if (trial.assumptions.size() > 2)
    result.obstacle = "the bounds of more than two loops are only known when it runs";
  else if (!trial.assumptions.empty() && longest() < needed())
    result.obstacle = "its roles do something new after more iterations than are tried";
  if (!result.obstacle.empty())
    result.at = kernel;
  return result;
}

} // namespace tilewright::threads
