//===- OpenAccesses.cpp - what a block's threads touched and nothing has ordered yet ---------===//

#include "OpenAccesses.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright {

/// More groups are not counted: to wait for more than is needed is right, and states stay finite.
static constexpr int64_t kMaxYounger = 64;

//===----------------------------------------------------------------------------------------===//
// Sums of index values
//===----------------------------------------------------------------------------------------===//

/// `a - b` where that is a constant.
static std::optional<int64_t> subtract(IndexSum a, const IndexSum &b) {
  if (!a.add(b, -1) || !a.isConstant())
    return std::nullopt;
  return a.constant;
}

/// The factor of `value` in a sum; 0 if it is not part of it.
static int64_t getFactor(const IndexSum &sum, Value value) {
  const auto *it = llvm::find_if(sum.terms, [&](auto &term) { return term.first == value; });
  return it == sum.terms.end() ? 0 : it->second;
}

/// Writes `by` in place of `value`, which has this factor. False if numbers become too large.
static bool substitute(IndexSum &sum, Value value, int64_t factor, const IndexSum &by) {
  IndexSum own;
  own.terms.emplace_back(value, 1);
  return sum.add(by, factor) && sum.add(own, -factor);
}

/// Whether some part of a sum is computed inside a loop, so that each iteration has its own.
static bool changesInside(const IndexSum &sum, const CountedLoop &loop) {
  return llvm::any_of(sum.terms, [&](auto &term) {
    Value value = term.first;
    return value != loop.variable && loop.op->isAncestor(value.getParentBlock()->getParentOp());
  });
}

//===----------------------------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------------------------===//

int64_t getNumVersions(Value root) {
  if (auto row = root ? root.getDefiningOp<BarrierAllocOp>() : BarrierAllocOp())
    return row.getArrivals().size();
  auto alloc = root ? root.getDefiningOp<AllocOp>() : AllocOp();
  auto versions = alloc ? alloc->getAttrOfType<IntegerAttr>(kVersionsAttr) : IntegerAttr();
  return versions ? versions.getInt() : 1;
}

static void reduceVersion(OpenAccess &access) {
  if (access.version)
    access.version->constant = llvm::mod(access.version->constant, getNumVersions(access.root));
}

/// The number that a version was computed from, before it was reduced.
static std::optional<IndexSum> getNumber(IndexSum number) {
  if (number.constant != 0 || number.terms.size() != 1 || number.terms.front().second != 1)
    return number;
  auto version = number.terms.front().first.getDefiningOp<VersionOp>();
  if (!version)
    return number;
  number = IndexSum::get(getAsOpFoldResult(version.getIteration()));
  IndexSum ahead;
  ahead.constant = version.getAhead();
  if (!number.add(IndexSum::get(getAsOpFoldResult(version.getFirst())), -1) || !number.add(ahead))
    return std::nullopt;
  return number;
}

/// The number of the version that an effect touches.
static std::optional<IndexSum> getVersion(const Effect &effect) {
  if (getNumVersions(effect.root) == 1 || effect.region.isWhole())
    return std::nullopt;
  const DimRange &range = effect.region.ranges->front();
  if (range.size.constant != 1 || !range.size.isConstant())
    return std::nullopt;
  return getNumber(range.offset);
}

OpenAccess OpenAccess::get(const Effect &effect) {
  OpenAccess access{effect.kind, effect.combination, effect.root, getVersion(effect), {}, 0, false};
  reduceVersion(access);
  if (auto product = dyn_cast_if_present<GemmOp>(effect.until))
    access.flight = Flight{0, std::nullopt, product, Value(), {}};
  if (auto group = dyn_cast_if_present<AsyncGroupOp>(effect.until)) {
    IndexSum excess = IndexSum::get(getAsOpFoldResult(group.getIteration()));
    bool isKnown = excess.add(IndexSum::get(getAsOpFoldResult(group.getUpper())), -1);
    access.flight =
        Flight{0, isKnown ? std::optional(excess) : std::nullopt, GemmOp(), group.getFull(), {}};
  }
  if (auto group = dyn_cast_if_present<BulkGroupOp>(effect.until))
    access.flight = Flight{0, std::nullopt, GemmOp(), Value(), group};
  return access;
}

OpenAccess OpenAccess::getLearned() {
  OpenAccess learned;
  learned.kind = EffectKind::Read;
  learned.isLearned = true;
  return learned;
}

OpenAccess OpenAccess::getWrite(Value tile, Value version) {
  OpenAccess access;
  access.root = tile;
  if (getNumVersions(tile) > 1)
    access.version = getNumber(IndexSum::get(getAsOpFoldResult(version)));
  reduceVersion(access);
  return access;
}

bool areOtherVersions(const OpenAccess &a, const OpenAccess &b) {
  if (!a.version || !b.version)
    return false;
  std::optional<int64_t> distance = subtract(*a.version, *b.version);
  return distance && *distance % getNumVersions(a.root) != 0;
}

/// Whether two flights are told apart only by what merging them may forget. Of one product or store, the
/// youngest group says all: whatever conflicts with an older one conflicts with it, and ends later.
static bool isSameFlight(const std::optional<Flight> &a, const std::optional<Flight> &b) {
  if (!a || !b)
    return a.has_value() == b.has_value();
  return a->product == b->product && a->barriers == b->barriers && a->stores == b->stores &&
         (a->product || a->stores || a->younger == b->younger);
}

/// Whether two entries say the same but for what is known of their groups.
static bool isSameEntry(const OpenAccess &a, const OpenAccess &b) {
  if (a.kind != b.kind || a.combination != b.combination || a.root != b.root ||
      a.isLearned != b.isLearned || !isSameFlight(a.flight, b.flight) ||
      a.version.has_value() != b.version.has_value())
    return false;
  return !a.version || subtract(*a.version, *b.version) == 0;
}

//===----------------------------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------------------------===//

CountedLoop CountedLoop::get(Operation *op) {
  CountedLoop counted{op, Value(), {}, {}};
  auto loop = dyn_cast<LoopLikeOpInterface>(op);
  std::optional<SmallVector<OpFoldResult>> steps = loop ? loop.getLoopSteps() : std::nullopt;
  if (!steps || steps->size() != 1 || getConstantIntValue(steps->front()) != 1)
    return counted;
  counted.variable = loop.getLoopInductionVars()->front();
  counted.lower = IndexSum::get(loop.getLoopLowerBounds()->front());
  counted.upper = IndexSum::get(loop.getLoopUpperBounds()->front());
  return counted;
}

std::optional<int64_t> CountedLoop::getTrips() const {
  std::optional<int64_t> trips = variable ? subtract(upper, lower) : std::nullopt;
  return trips ? std::optional(std::max<int64_t>(0, *trips)) : std::nullopt;
}

bool CountedLoop::runsAtLeastOnce() const {
  if (isa<scf::WhileOp>(op))
    return true;
  auto loop = cast<LoopLikeOpInterface>(op);
  std::optional<int64_t> first = getConstantIntValue(loop.getLoopLowerBounds()->front());
  std::optional<int64_t> end = getConstantIntValue(loop.getLoopUpperBounds()->front());
  return first && end && *first < *end;
}

//===----------------------------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------------------------===//

void OpenAccesses::add(const OpenAccess &access) {
  OpenAccesses one;
  one.accesses.push_back(access);
  merge(one);
}

bool OpenAccesses::merge(const OpenAccesses &other) {
  bool grows = false;
  for (const OpenAccess &access : other.accesses) {
    auto *known =
        llvm::find_if(accesses, [&](const OpenAccess &own) { return isSameEntry(own, access); });
    if (known == accesses.end()) {
      accesses.push_back(access);
      grows = true;
      continue;
    }
    std::optional<int64_t> &iterations = known->iterations;
    if (iterations && (!access.iterations || *access.iterations < *iterations)) {
      iterations = access.iterations;
      grows = true;
    }
    if (!access.flight)
      continue;
    if (access.flight->younger < known->flight->younger) {
      known->flight->younger = access.flight->younger;
      grows = true;
    }
    std::optional<IndexSum> &excess = known->flight->excess;
    if (excess && (!access.flight->excess || subtract(*excess, *access.flight->excess) != 0)) {
      excess.reset();
      grows = true;
    }
  }
  return grows;
}

void OpenAccesses::meet() {
  llvm::erase_if(accesses, [](const OpenAccess &access) { return !access.flight; });
}

void OpenAccesses::commit(FlightKind kind) {
  OpenAccesses older;
  for (OpenAccess &access : accesses) {
    if (access.flight && access.flight->getKind() == kind)
      access.flight->younger = std::min(access.flight->younger + 1, kMaxYounger);
    older.add(access);
  }
  accesses = std::move(older.accesses);
}

void OpenAccesses::wait(FlightKind kind, int64_t pending, bool readsOnly) {
  OpenAccesses rest;
  for (OpenAccess &access : accesses) {
    if (access.flight && access.flight->getKind() == kind && access.flight->younger >= pending &&
        (!readsOnly || access.kind == EffectKind::Read))
      access.flight.reset();
    if (access.isPrivate && !access.flight)
      continue;
    rest.add(access);
  }
  accesses = std::move(rest.accesses);
}

void OpenAccesses::arrive(Value barriers, Value version) {
  std::optional<IndexSum> number = getNumber(IndexSum::get(getAsOpFoldResult(version)));
  llvm::erase_if(accesses, [&](const OpenAccess &access) {
    if (!access.flight || access.flight->barriers != barriers)
      return false;
    int64_t count = getNumVersions(access.root);
    if (count == 1)
      return true;
    std::optional<int64_t> distance =
        number && access.version ? subtract(*access.version, *number) : std::nullopt;
    return distance && *distance % count == 0;
  });
}

SmallVector<int64_t> OpenAccesses::getFlights() const {
  SmallVector<int64_t> flights;
  for (const OpenAccess &access : accesses)
    if (access.flight && access.flight->getKind() == FlightKind::Copy &&
        !llvm::is_contained(flights, access.flight->younger))
      flights.push_back(access.flight->younger);
  llvm::sort(flights, std::greater<>());
  return flights;
}

OpenAccesses::HeldRegisters OpenAccesses::getHeldRegisters() const {
  llvm::SmallSetVector<Value, 4> sums, factors;
  for (const OpenAccess &access : accesses) {
    if (!access.isPrivate || !access.root)
      continue;
    GemmOp product = access.flight->product;
    bool isSums = access.root == getRoot(product.getC());
    (isSums ? sums : factors).insert(access.root);
  }
  return {sums.takeVector(), factors.takeVector()};
}

/// Whether iterations of a loop wait for what arrives at these barriers.
static bool waitsFor(const CountedLoop &loop, Value barriers) {
  return barriers && llvm::any_of(barriers.getUsers(), [&](Operation *user) {
           return isa<BarrierWaitOp>(user) && user->getParentOp() == loop.op;
         });
}

/// A constant number of a version counts from the loop's first iteration: 2 is k + 2 - lower. And
/// what a loop's own groups bring before it belongs to its iterations: lower + 2 is k + 2.
void OpenAccesses::enter(const CountedLoop &loop) {
  for (OpenAccess &access : accesses)
    access.iterations.reset();
  if (!loop.variable)
    return;
  IndexSum zero; // variable - lower, which is 0 here
  zero.terms.emplace_back(loop.variable, 1);
  if (!zero.add(loop.lower, -1))
    return;
  for (OpenAccess &access : accesses) {
    if (!access.flight)
      continue;
    bool isOwn =
        access.version && (access.version->isConstant() || waitsFor(loop, access.flight->barriers));
    if (isOwn && getFactor(*access.version, loop.variable) == 0 && !access.version->add(zero))
      access.version.reset();
    reduceVersion(access);
    std::optional<IndexSum> &excess = access.flight->excess;
    IndexSum ahead = excess.value_or(IndexSum()); // of the first iteration
    if (excess && ahead.add(loop.upper) && ahead.add(loop.lower, -1) && ahead.isConstant() &&
        ahead.constant >= 0 && !excess->add(zero))
      excess.reset();
  }
}

void OpenAccesses::advance(const CountedLoop &loop, bool goesOn) {
  // A loop of 3 iterations has none that comes 3 after another one.
  std::optional<int64_t> trips = loop.getTrips();
  int64_t most = trips.value_or(0) - goesOn;
  IndexSum previous; // the variable's value in the iteration that ends
  if (loop.variable)
    previous.terms.emplace_back(loop.variable, 1);
  previous.constant = -1;
  auto follow = [&](std::optional<IndexSum> &sum) {
    if (!sum)
      return;
    int64_t factor = loop.variable ? getFactor(*sum, loop.variable) : 0;
    if (changesInside(*sum, loop) || (factor && !substitute(*sum, loop.variable, factor, previous)))
      sum.reset();
  };
  OpenAccesses next;
  for (OpenAccess access : accesses) {
    if (access.iterations && ++*access.iterations > most && trips)
      continue;
    follow(access.version);
    reduceVersion(access);
    if (access.flight) {
      std::optional<IndexSum> &excess = access.flight->excess;
      follow(excess);
      // The group of an iteration that has begun was not empty.
      IndexSum ahead = excess.value_or(IndexSum());
      if (excess && getFactor(ahead, loop.variable) == 1 && ahead.add(loop.upper)) {
        IndexSum variable;
        variable.terms.emplace_back(loop.variable, 1);
        std::optional<int64_t> distance = subtract(ahead, variable);
        if (distance && *distance < 0)
          excess.reset();
      }
    }
    next.add(access);
  }
  accesses = std::move(next.accesses);
}

void OpenAccesses::leave(const CountedLoop &loop) {
  std::optional<int64_t> distance = subtract(loop.upper, loop.lower);
  bool endsAtUpper = loop.variable && distance && *distance >= 0;
  OpenAccesses after;
  for (OpenAccess access : accesses) {
    access.iterations.reset();
    if (access.flight && access.flight->excess) {
      // The variable ends at `upper`, or above it if the loop does not run.
      std::optional<IndexSum> &excess = access.flight->excess;
      int64_t factor = loop.variable ? getFactor(*excess, loop.variable) : 0;
      bool isLost = changesInside(*excess, loop);
      if (factor)
        isLost |= !substitute(*excess, loop.variable, factor, loop.upper);
      if (!isLost && factor > 0 && excess->isConstant() && excess->constant >= 0)
        continue; // nothing was copied
      if (isLost || (factor && !endsAtUpper))
        excess.reset();
    }
    if (access.version) {
      int64_t factor = loop.variable ? getFactor(*access.version, loop.variable) : 0;
      bool isLost = changesInside(*access.version, loop);
      if (factor)
        isLost |= !endsAtUpper || !substitute(*access.version, loop.variable, factor, loop.upper);
      if (isLost)
        access.version.reset();
      reduceVersion(access);
    }
    after.add(access);
  }
  accesses = std::move(after.accesses);
}

} // namespace tilewright
