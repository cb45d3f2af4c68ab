//===- WaitOrder.cpp - whether every wait is met in the order of the text --------------------===//
//
// The kernel is run through, as far as barriers are concerned: arrivals count, and each wait
// compares. A loop whose end only a launch knows is run through with 0, 1, … iterations, the same
// number for all such loops. That is a trial and no proof: the assertions that waits become
// (CountArrivals.cpp) still say where an order does not hold.
//
//===----------------------------------------------------------------------------------------===//

#include "WaitOrder.h"

#include "Waits.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::threads {

namespace {

/// Iterations of loops of unknown ends that are tried, and steps of all loops together.
constexpr int64_t kMostTrips = 9;
constexpr int64_t kMostSteps = 1 << 14;

class Trial {
public:
  Trial(KernelOp kernel, const ThreadFacts &facts, int64_t trips)
      : kernel(kernel), facts(facts), trips(trips) {}

  bool run() { return visit(kernel.getBody()); }
  bool hasUnknownEnd = false;

private:
  bool visit(Region &region) {
    return region.empty() ||
           llvm::all_of(region.front(), [&](Operation &op) { return visit(&op); });
  }
  bool visit(Operation *op);
  bool visitLoop(Value variable, Value lower, Value upper, Value step, Region &body);
  bool visitBranch(scf::IfOp branch);
  bool isMet(BarrierWaitOp wait);
  bool count(BarrierArriveOp arrival);
  int64_t *counterOf(Value barriers, Value index);
  std::optional<int64_t> evaluateIndex(Value value) {
    auto index = dyn_cast_or_null<IntegerAttr>(evaluate(value));
    return index ? std::optional(index.getInt()) : std::nullopt;
  }
  Attribute evaluate(Value value) {
    if (Attribute bound = known.lookup(value))
      return bound;
    return foldScalar(value, [&](Value operand) { return evaluate(operand); });
  }

  KernelOp kernel;
  const ThreadFacts &facts;
  int64_t trips, steps = 0;
  llvm::DenseMap<Value, Attribute> known;
  llvm::DenseMap<Value, SmallVector<int64_t>> counts;
};

bool Trial::visit(Operation *op) {
  if (!usesBarriers(op))
    return true;
  if (auto wait = dyn_cast<BarrierWaitOp>(op))
    return isMet(wait);
  if (auto arrival = dyn_cast<BarrierArriveOp>(op))
    return count(arrival);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return visitBranch(branch);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return visitLoop(loop.getInductionVar(), loop.getLowerBound(), loop.getUpperBound(),
                     loop.getStep(), loop.getRegion());
  if (auto loop = dyn_cast<PipelinedOp>(op))
    return visitLoop(loop.getInductionVar(), loop.getLower(), loop.getUpper(), Value(),
                     loop.getBody());
  return false;
}

bool Trial::visitBranch(scf::IfOp branch) {
  if (facts.varies(branch.getCondition())) {
    if (!facts.threadsWhere(branch.getCondition()))
      return false;
    return visit(branch.getThenRegion()) && visit(branch.getElseRegion()); // for some threads each
  }
  auto condition = dyn_cast_or_null<IntegerAttr>(evaluate(branch.getCondition()));
  if (!condition)
    return false;
  return visit(condition.getValue().isZero() ? branch.getElseRegion() : branch.getThenRegion());
}

bool Trial::visitLoop(Value variable, Value lower, Value upper, Value step, Region &body) {
  std::optional<int64_t> first = evaluateIndex(lower), end = evaluateIndex(upper),
                         stride = step ? evaluateIndex(step) : 1;
  if (!first || !stride || *stride < 1)
    return false;
  hasUnknownEnd |= !end;
  for (int64_t index = *first, trip = 0; end ? index < *end : trip < trips;
       index += *stride, ++trip) {
    if (++steps > kMostSteps)
      return true; // so far all were
    known[variable] = Builder(variable.getContext()).getIndexAttr(index);
    if (!visit(body))
      return false;
  }
  return true;
}

int64_t *Trial::counterOf(Value barriers, Value index) {
  SmallVector<int64_t> &row = counts[barriers];
  row.resize(cast<MemRefType>(barriers.getType()).getNumElements());
  std::optional<int64_t> element = evaluateIndex(index);
  return element && *element >= 0 && *element < int64_t(row.size()) ? &row[*element] : nullptr;
}

bool Trial::isMet(BarrierWaitOp wait) {
  int64_t *counter = counterOf(wait.getBarriers(), wait.getIndex());
  if (!counter)
    return false;
  int64_t arrivals = wait.getExpectedArrivals();
  if (!wait.getParity())
    return *counter % arrivals == 0;
  std::optional<int64_t> parity = evaluateIndex(wait.getParity());
  return parity && (*counter / arrivals - *parity) % 2 != 0;
}

bool Trial::count(BarrierArriveOp arrival) {
  int64_t *counter = counterOf(arrival.getBarriers(), arrival.getIndex());
  const std::optional<llvm::BitVector> &threads = facts.threadsAt(arrival);
  if (!counter || (!arrival.getOnce() && !threads))
    return false;
  *counter += arrival.getOnce() ? 1 : threads->count();
  return true;
}

} // namespace

bool areWaitsMet(KernelOp kernel) {
  ThreadFacts facts(kernel);
  for (int64_t trips = 0; trips < kMostTrips; ++trips) {
    Trial trial(kernel, facts, trips);
    if (!trial.run())
      return false;
    if (!trial.hasUnknownEnd)
      return true;
  }
  return true;
}

} // namespace tilewright::threads
