//===- FirstIteration.cpp - what barriers count in the first iteration of loops --------------===//

#include "FirstIteration.h"

#include "Waits.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::threads {

void FirstIteration::bind(Value variable, Value start) {
  Attribute value = evaluate(start);
  known[variable] = value ? value : Builder(variable.getContext()).getIndexAttr(0);
}

void FirstIteration::forgetCountsOf(scf::ForOp loop) {
  loop.walk([&](BarrierArriveOp arrival) { forgotten.insert(arrival.getBarriers()); });
}

bool FirstIteration::isInDoubt(Operation *op) const {
  return op
      ->walk([&](BarrierWaitOp wait) {
        return forgotten.contains(wait.getBarriers()) ? WalkResult::interrupt()
                                                      : WalkResult::advance();
      })
      .wasInterrupted();
}

bool FirstIteration::skipsWait(Operation *op) {
  auto branch = dyn_cast<scf::IfOp>(op);
  auto condition =
      branch ? dyn_cast_or_null<IntegerAttr>(evaluate(branch.getCondition())) : IntegerAttr();
  if (!condition)
    return false;
  Region &skipped = condition.getValue().isZero() ? branch.getThenRegion() : branch.getElseRegion();
  return llvm::any_of(skipped.getOps(), [](Operation &inner) { return holdsWait(&inner); });
}

bool FirstIteration::pass(Operation *op) {
  llvm::DenseMap<Value, SmallVector<int64_t>> before = counts;
  if (visit(op))
    return true;
  counts = std::move(before);
  return false;
}

bool FirstIteration::visit(Operation *op) {
  if (auto wait = dyn_cast<BarrierWaitOp>(op))
    return isMet(wait);
  if (auto arrival = dyn_cast<BarrierArriveOp>(op)) {
    count(arrival);
    return true;
  }
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    auto condition = dyn_cast_or_null<IntegerAttr>(evaluate(branch.getCondition()));
    bool isElse = condition && condition.getValue().isZero();
    return visit(isElse ? branch.getElseRegion() : branch.getThenRegion());
  }
  if (auto loop = dyn_cast<scf::ForOp>(op); loop && usesBarriers(op))
    return visitAllIterations(loop);
  return true;
}

bool FirstIteration::visit(Region &region) {
  return region.empty() || llvm::all_of(region.front(), [&](Operation &op) { return visit(&op); });
}

/// All iterations of a loop that one role runs alone.
bool FirstIteration::visitAllIterations(scf::ForOp loop) {
  constexpr int64_t kMostIterations = 64;
  std::optional<int64_t> lower = evaluateIndex(loop.getLowerBound()),
                         upper = evaluateIndex(loop.getUpperBound()),
                         step = evaluateIndex(loop.getStep());
  if (!lower || !upper || !step || *step < 1 || *upper - *lower > kMostIterations * *step)
    return false;
  for (int64_t index = *lower; index < *upper; index += *step) {
    known[loop.getInductionVar()] = Builder(loop.getContext()).getIndexAttr(index);
    if (!visit(loop.getRegion()))
      return false;
  }
  return true;
}

/// A wait whose barrier or parity is unknown counts as met; the running program checks it.
bool FirstIteration::isMet(BarrierWaitOp wait) {
  if (forgotten.contains(wait.getBarriers()))
    return false;
  std::optional<int64_t> element = evaluateIndex(wait.getIndex());
  SmallVector<int64_t> &row = countsOf(wait.getBarriers());
  if (!element || *element < 0 || *element >= int64_t(row.size()))
    return true;
  int64_t arrivals = wait.getExpectedArrivals();
  if (!wait.getParity())
    return row[*element] % arrivals == 0;
  std::optional<int64_t> parity = evaluateIndex(wait.getParity());
  return !parity || (row[*element] / arrivals - *parity) % 2 != 0;
}

void FirstIteration::count(BarrierArriveOp arrival) {
  std::optional<int64_t> element = evaluateIndex(arrival.getIndex());
  const std::optional<llvm::BitVector> &threads = facts.threadsAt(arrival);
  SmallVector<int64_t> &row = countsOf(arrival.getBarriers());
  if (element && *element >= 0 && *element < int64_t(row.size()) && (arrival.getOnce() || threads))
    row[*element] += arrival.getOnce() ? 1 : threads->count();
}

SmallVector<int64_t> &FirstIteration::countsOf(Value barriers) {
  SmallVector<int64_t> &row = counts[barriers];
  row.resize(cast<MemRefType>(barriers.getType()).getNumElements());
  return row;
}

std::optional<int64_t> FirstIteration::evaluateIndex(Value value) {
  auto index = dyn_cast_or_null<IntegerAttr>(evaluate(value));
  return index ? std::optional(index.getInt()) : std::nullopt;
}

Attribute FirstIteration::evaluate(Value value) {
  if (Attribute bound = known.lookup(value))
    return bound;
  return foldScalar(value, [&](Value operand) { return evaluate(operand); });
}

} // namespace tilewright::threads
