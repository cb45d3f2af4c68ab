//===- Planner.cpp - the one decision procedure for access widths ----------------------------===//

#include "tilewright/Access/Planner.h"
#include "Cases.h"
#include "tilewright/Analysis/Polyhedron.h"
#include "tilewright/Layout/Banks.h"
#include "tilewright/Support/IndexMath.h"
#include "tilewright/Target/Arch.h"

using namespace tilewright;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::Twine;

namespace tilewright::access {

namespace {

class Planner {
public:
  explicit Planner(const Request &request)
      : request(request), table(request.loop->table), cases(splitCases(request)) {}

  Plan run();

private:
  void findGuards(Plan &plan);
  bool isKnownInBounds(unsigned dim) const;
  SmallVector<int64_t> activeSlots() const;
  int64_t referenceThread() const;
  bool shareElements(int64_t thread, ArrayRef<int64_t> slots);
  bool group(int64_t width, Plan &plan);
  bool checkGroup(int64_t thread, ArrayRef<int64_t> slots);
  bool checkOffsets(const Case &symbols, ArrayRef<int64_t> iterations, ArrayRef<int64_t> slots,
                    int64_t thread);
  bool checkBounds(const Case &symbols, ArrayRef<int64_t> iterations, ArrayRef<int64_t> slots,
                   int64_t thread);
  bool checkBranches(const Case &symbols, ArrayRef<int64_t> iterations, ArrayRef<int64_t> slots,
                     int64_t thread);
  void anchor(Plan &plan);
  void measure(Plan &plan);
  void scalar(Plan &plan);
  bool refuse(const Twine &reason) {
    refusal = reason.str();
    return false;
  }

  const Request &request;
  const analysis::OwnerTable &table;
  /// What holds for all symbols holds in every case; none where the offsets are not known.
  std::vector<Case> cases;
  SmallVector<int64_t> guarded;
  /// Reads only: for each slot the first slot that touches the same element on every thread.
  SmallVector<int64_t> sharedWith;
  std::string refusal;
};

/// `slots 0, 1 of thread 5`.
std::string describe(ArrayRef<int64_t> slots, int64_t thread) {
  std::string text = slots.size() == 1 ? "slot " : "slots ";
  llvm::raw_string_ostream os(text);
  llvm::interleave(slots, os, ", ");
  os << " of thread " << thread;
  return text;
}

/// Slots in which some thread runs an iteration.
SmallVector<int64_t> Planner::activeSlots() const {
  SmallVector<int64_t> slots;
  for (int64_t slot = 0; slot < table.slots; ++slot)
    for (int64_t thread = 0; thread < table.threads; ++thread)
      if (table.at(thread, slot) >= 0) {
        slots.push_back(slot);
        break;
      }
  return slots;
}

/// Groups are the same slots on every thread, so one thread proposes them: the first that runs the
/// most iterations.
int64_t Planner::referenceThread() const {
  int64_t best = 0, bestCount = -1;
  for (int64_t thread = 0; thread < table.threads && bestCount < table.slots; ++thread) {
    int64_t count = 0;
    for (int64_t slot = 0; slot < table.slots; ++slot)
      count += table.at(thread, slot) >= 0;
    if (count > bestCount) {
      best = thread;
      bestCount = count;
    }
  }
  return best;
}

/// Whether a coordinate stays within its extent under every iteration and symbol.
static bool isAlwaysInBounds(const CoordinateRange &range, int64_t extent) {
  if (extent == kDynamic || range.own.empty())
    return false;
  auto [low, high] = std::minmax_element(range.own.begin(), range.own.end());
  const IndexFacts &outer = range.outer;
  std::optional<int64_t> first =
      outer.low == IndexFacts::kNoLow ? std::nullopt : checkedAdd(*low, outer.low);
  std::optional<int64_t> last =
      outer.high == IndexFacts::kNoHigh ? std::nullopt : checkedAdd(*high, outer.high);
  return first && last && *first >= 0 && *last < extent;
}

/// Whether the branches and loops around the access keep a coordinate within its extent.
bool Planner::isKnownInBounds(unsigned dim) const {
  if (!request.hasCoordinates() || request.known.empty() || !request.extents[dim])
    return false;
  analysis::Polyhedron points(request.loop->extents, request.symbols);
  for (const IndexExpr &expr : request.known)
    points.addNonNegative(expr);
  const IndexExpr &coordinate = request.coordinates[dim];
  return points.excludes(IndexExpr(-1) - coordinate) &&
         points.excludes(coordinate - *request.extents[dim]);
}

/// The dimensions of a global tensor in which some iteration may leave its bounds.
void Planner::findGuards(Plan &plan) {
  if (!request.memory.isGlobal)
    return;
  SmallVector<std::optional<CoordinateRanges>> all;
  for (const Case &symbols : cases)
    all.push_back(symbols.ranges);
  if (cases.empty())
    all.push_back(getCoordinateRanges(request));
  for (auto [dim, extent] : llvm::enumerate(request.memory.extents)) {
    bool isInside = llvm::all_of(all, [&, dim = dim, extent = extent](const auto &ranges) {
      return ranges && isAlwaysInBounds((*ranges)[dim], extent);
    });
    if (!isInside && !isKnownInBounds(dim))
      guarded.push_back(dim);
  }
  plan.guarded = guarded;
}

/// Slots of `thread` at one offset share a read where they do so on every thread.
bool Planner::shareElements(int64_t thread, ArrayRef<int64_t> slots) {
  auto areSame = [&](const Case &symbols, int64_t a, int64_t b) {
    if (symbols.offsets.fixed[a] != symbols.offsets.fixed[b] ||
        !symbols.offsets.areComparable(a, b))
      return false;
    return llvm::all_of(guarded, [&](int64_t dim) { // one test of the bounds must do for both
      return symbols.ranges && (*symbols.ranges)[dim].own[a] == (*symbols.ranges)[dim].own[b];
    });
  };
  bool isShared = false;
  llvm::DenseMap<int64_t, int64_t> first; // offset -> slot
  for (int64_t slot : slots) {
    sharedWith[slot] = slot;
    int64_t iteration = table.at(thread, slot);
    if (!request.isRead || request.isConditional || iteration < 0)
      continue;
    auto [it, isNew] = first.try_emplace(cases[0].offsets.fixed[iteration], slot);
    if (isNew)
      continue;
    bool same = true;
    for (int64_t t = 0; t < table.threads && same; ++t) {
      int64_t a = table.at(t, it->second), b = table.at(t, slot);
      same = (a < 0) == (b < 0) &&
             (a < 0 ||
              llvm::all_of(cases, [&](const Case &symbols) { return areSame(symbols, a, b); }));
    }
    if (same) {
      sharedWith[slot] = it->second;
      isShared = true;
    }
  }
  return isShared;
}

/// Whether the facts allow a value of `[first, last]`.
static bool mayLieWithin(const IndexFacts &facts, int64_t first, int64_t last) {
  first = std::max(first, facts.low);
  last = std::min(last, facts.high);
  if (facts.modulus == 0)
    return first <= facts.remainder && facts.remainder <= last;
  // The distance to the next value of the right remainder.
  return first <= last &&
         floorMod(facts.remainder - floorMod(first, facts.modulus), facts.modulus) <= last - first;
}

/// What some iterations add to a value of symbols: the least and the most.
static std::pair<int64_t, int64_t> getSpread(const CoordinateRange &range,
                                             ArrayRef<int64_t> iterations) {
  int64_t low = range.own[iterations[0]], high = low;
  for (int64_t iteration : iterations) {
    low = std::min(low, range.own[iteration]);
    high = std::max(high, range.own[iteration]);
  }
  return {low, high};
}

/// Whether `low + outer < bound <= high + outer` for some values.
static bool mayCross(const IndexFacts &bound, const IndexFacts &outer, int64_t low, int64_t high) {
  IndexFacts minusOuter = combineFacts(IndexExpr::Kind::Mul, outer, IndexFacts::constant(-1));
  return mayLieWithin(combineFacts(IndexExpr::Kind::Add, bound, minusOuter), low + 1, high);
}

/// In every dimension whose bounds are tested, no bound falls between elements of the group, so
/// that its first element decides for all.
bool Planner::checkBounds(const Case &symbols, ArrayRef<int64_t> iterations,
                          ArrayRef<int64_t> slots, int64_t thread) {
  for (int64_t dim : guarded) {
    if (!symbols.ranges)
      return refuse("the bounds of dimension " + Twine(dim) + " cannot be decided for a vector");
    const CoordinateRange &range = (*symbols.ranges)[dim];
    auto [low, high] = getSpread(range, iterations);
    if (low == high || (!mayCross(IndexFacts::constant(0), range.outer, low, high) &&
                        !mayCross(request.memory.getExtentFacts(dim), range.outer, low, high)))
      continue;
    return refuse(describe(slots, thread) + " may lie on both sides of the bound of dimension " +
                  Twine(dim) +
                  (request.memory.extents[dim] == kDynamic ? " (known only at launch)" : ""));
  }
  return true;
}

/// Every branch around the access goes one way for the whole group, so that its first slot decides
/// for all.
bool Planner::checkBranches(const Case &symbols, ArrayRef<int64_t> iterations,
                            ArrayRef<int64_t> slots, int64_t thread) {
  if (!symbols.tests)
    return refuse("the branch around it cannot be decided for a vector");
  for (auto [test, range] : llvm::zip_equal(request.tests, *symbols.tests)) {
    auto [low, high] = getSpread(range, iterations);
    bool differs = test.isEquality // 0 lies at or above `low`, and at or below `high`
                       ? mayCross(IndexFacts::constant(0), range.outer, low - 1, high)
                       : mayCross(IndexFacts::constant(0), range.outer, low, high);
    if (low != high && differs)
      return refuse(describe(slots, thread) + " may take different branches");
  }
  return true;
}

/// Whether the elements of these slots are neighbours, the first one aligned.
bool Planner::checkOffsets(const Case &symbols, ArrayRef<int64_t> iterations,
                           ArrayRef<int64_t> slots, int64_t thread) {
  const Offsets &offsets = symbols.offsets;
  int64_t width = slots.size();
  for (int64_t k = 1; k < width; ++k) {
    if (!offsets.areComparable(iterations[0], iterations[k]))
      return refuse(describe({slots[0], slots[k]}, thread) + " lie a run-time distance apart");
    int64_t distance = offsets.fixed[iterations[k]] - offsets.fixed[iterations[0]];
    if (distance != k)
      return refuse(describe({slots[0], slots[k]}, thread) + " lie " + Twine(std::abs(distance)) +
                    (std::abs(distance) == 1 ? " element" : " elements") + " apart" +
                    (request.memory.layout ? " in " + request.name + "'s layout" : ""));
  }
  if (!offsets.isMultiple(iterations[0], width))
    return refuse(describe({slots[0]}, thread) + " is not known to start at a multiple of " +
                  Twine(width) + " elements");
  return true;
}

/// Whether these slots may be one instruction on this thread.
bool Planner::checkGroup(int64_t thread, ArrayRef<int64_t> slots) {
  int64_t width = slots.size();
  SmallVector<int64_t, 16> iterations;
  for (int64_t slot : slots)
    iterations.push_back(table.at(thread, slot));
  if (llvm::any_of(iterations, [](int64_t i) { return i < 0; })) {
    if (llvm::all_of(iterations, [](int64_t i) { return i < 0; }))
      return true;
    return refuse("only a part of " + describe(slots, thread) + " runs");
  }
  for (int64_t k = 1; k < width; ++k)
    if (!request.isRead && (table.replica[thread * table.slots + slots[k]] == 0) !=
                               (table.replica[thread * table.slots + slots[0]] == 0))
      return refuse(describe({slots[0], slots[k]}, thread) + " are not owned together");
  return llvm::all_of(cases, [&](const Case &symbols) {
    return checkOffsets(symbols, iterations, slots, thread) &&
           checkBounds(symbols, iterations, slots, thread) &&
           checkBranches(symbols, iterations, slots, thread);
  });
}

/// Tries to make groups of `width` slots that are right on every thread.
bool Planner::group(int64_t width, Plan &plan) {
  if (width * request.memory.elementBytes > request.memory.baseAlignment)
    return refuse("the base is known to be aligned to " + Twine(request.memory.baseAlignment) +
                  " bytes only");
  int64_t reference = referenceThread();
  SmallVector<int64_t> order;
  for (int64_t slot : activeSlots()) {
    if (sharedWith[slot] != slot)
      continue;
    if (table.at(reference, slot) < 0)
      return refuse("threads run different slots");
    order.push_back(slot);
  }
  // The thread's elements in the order of their addresses; equal ones in the order of slots.
  const Offsets &offsets = cases[0].offsets;
  llvm::sort(order, [&](int64_t a, int64_t b) {
    int64_t ia = table.at(reference, a), ib = table.at(reference, b);
    for (const auto *parts : {&offsets.moving, &offsets.arguments})
      for (const std::vector<int64_t> &part : *parts)
        if (part[ia] != part[ib])
          return part[ia] < part[ib];
    return std::pair(offsets.fixed[ia], a) < std::pair(offsets.fixed[ib], b);
  });
  if (order.size() % width)
    return refuse("a thread's " + Twine(order.size()) + " elements are no multiple of " +
                  Twine(width));
  for (int64_t thread = 0; thread < table.threads; ++thread)
    for (size_t start = 0; start < order.size(); start += width)
      if (!checkGroup(thread, ArrayRef(order).slice(start, width)))
        return false;
  // Groups in the order of their first slots: a thread's accesses follow its iterations.
  SmallVector<ArrayRef<int64_t>> groups;
  for (size_t start = 0; start < order.size(); start += width)
    groups.push_back(ArrayRef(order).slice(start, width));
  llvm::sort(groups, [](ArrayRef<int64_t> a, ArrayRef<int64_t> b) { return a[0] < b[0]; });
  plan.width = width;
  plan.slots.clear();
  for (ArrayRef<int64_t> slots : groups)
    llvm::append_range(plan.slots, slots);
  return true;
}

/// One element at a time: always legal.
void Planner::scalar(Plan &plan) {
  plan.width = 1;
  plan.slots.clear();
  for (int64_t slot : activeSlots())
    if (sharedWith[slot] == slot)
      plan.slots.push_back(slot);
}

/// An address is computed once for groups that lie constant distances apart on every thread.
void Planner::anchor(Plan &plan) {
  constexpr unsigned kMaxAnchors = 16;
  constexpr int64_t kMaxDelta = int64_t(1) << 28; // its bytes are a 32-bit immediate
  SmallVector<int64_t> anchors;
  auto distance = [&](int64_t from, int64_t to) -> std::optional<int64_t> {
    std::optional<int64_t> delta;
    for (int64_t thread = 0; thread < table.threads; ++thread) {
      int64_t a = table.at(thread, from), b = table.at(thread, to);
      if ((a < 0) != (b < 0))
        return std::nullopt;
      if (a < 0)
        continue;
      for (const Case &symbols : cases) {
        int64_t here = symbols.offsets.fixed[b] - symbols.offsets.fixed[a];
        if (!symbols.offsets.areComparable(a, b) || (delta && *delta != here) ||
            std::abs(here) > kMaxDelta)
          return std::nullopt;
        delta = here;
      }
    }
    return delta;
  };
  for (int64_t group = 0; group < plan.getNumGroups(); ++group) {
    int64_t slot = plan.slots[group * plan.width];
    int64_t base = group, delta = 0;
    for (int64_t candidate : anchors)
      if (auto found = distance(plan.slots[candidate * plan.width], slot)) {
        base = candidate;
        delta = *found;
        break;
      }
    plan.anchors.push_back(base);
    plan.deltas.push_back(delta);
    if (base == group && anchors.size() < kMaxAnchors)
      anchors.push_back(group);
  }
}

/// What the first warp issues and how many passes memory needs for it; of many groups a sample.
void Planner::measure(Plan &plan) {
  constexpr int64_t kSample = 4;
  constexpr int64_t kFar = int64_t(1) << 24; // run-time strides are taken to be long
  const Offsets &offsets = cases[0].offsets;
  int64_t groups = plan.getNumGroups(), sampled = std::min(groups, kSample), passes = 0;
  int64_t bytes = plan.width * request.memory.elementBytes;
  for (int64_t i = 0; i < sampled; ++i) {
    int64_t slot = plan.slots[i * groups / sampled * plan.width];
    SmallVector<int64_t, 32> addresses;
    int64_t lowest = 0;
    for (int64_t lane = 0; lane < std::min(kWarpSize, table.threads); ++lane) {
      int64_t iteration = table.at(lane, slot);
      if (iteration < 0) {
        addresses.push_back(kInactiveLane);
        continue;
      }
      int64_t offset = offsets.fixed[iteration];
      for (const auto *parts : {&offsets.moving, &offsets.arguments})
        for (const std::vector<int64_t> &part : *parts)
          offset += part[iteration] * kFar;
      addresses.push_back(offset * request.memory.elementBytes);
      lowest = std::min(lowest, addresses.back());
    }
    for (int64_t &address : addresses) // whole lines up: addresses are not negative
      if (address != kInactiveLane)
        address += -lowest / kLineBytes * kLineBytes + (lowest % kLineBytes ? kLineBytes : 0);
    int64_t here = request.memory.isGlobal ? countSectors(addresses, bytes, kLineBytes)
                                           : countBankPasses(addresses, bytes);
    if (i == 0 && request.memory.isGlobal)
      plan.linesPerWarp = here;
    passes += here;
  }
  plan.cost = groups + (sampled ? passes * groups / sampled : 0);
}

Plan Planner::run() {
  Plan plan;
  sharedWith.resize(table.slots);
  for (int64_t slot = 0; slot < table.slots; ++slot)
    sharedWith[slot] = slot;
  if (cases.empty()) {
    findGuards(plan);
    scalar(plan);
    plan.isUnknown = request.maxWidth > 1;
    plan.refusal = plan.isUnknown ? "the offsets of a thread's elements depend on run-time values"
                                  : request.maxWidthReason;
    plan.cost = plan.getNumGroups() * (1 + kWarpSize);
    return plan;
  }
  findGuards(plan);
  bool isShared = shareElements(referenceThread(), activeSlots());
  int64_t width = llvm::bit_floor(uint64_t(std::max<int64_t>(request.maxWidth, 1)));
  std::string lastRefusal = request.maxWidthReason;
  for (; width > 1; width /= 2) {
    if (group(width, plan))
      break;
    lastRefusal = std::to_string(width) + " wide refused: " + refusal;
  }
  if (width == 1)
    scalar(plan);
  plan.refusal = lastRefusal;
  if (isShared) {
    plan.sources.assign(table.slots, -1);
    for (auto [position, slot] : llvm::enumerate(plan.slots))
      plan.sources[slot] = position;
    for (int64_t slot : activeSlots())
      plan.sources[slot] = plan.sources[sharedWith[slot]];
  }
  anchor(plan);
  measure(plan);
  return plan;
}

} // namespace

Plan planAccess(const Request &request) { return Planner(request).run(); }

} // namespace tilewright::access
