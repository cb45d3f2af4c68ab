//===- Polls.cpp - where a launch can be stopped ----------------------------------------------===//

#include "Polls.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

/// A nest of at most that many iterations ends soon. Larger counts, and unknown ones, are not told
/// apart.
static constexpr int64_t kSoon = int64_t(1) << 20, kMany = kSoon + 1;
/// Iterations between two polls, if an iteration is short.
static constexpr int64_t kInterval = int64_t(1) << 16;
/// An iteration with that many iterations of loops inside is long: it hides a call.
static constexpr int64_t kLongIteration = 256;

static int64_t multiplyCounts(int64_t a, int64_t b) {
  return std::min(std::max<int64_t>(a, 1) * std::max<int64_t>(b, 1), kMany);
}

static int64_t countIterations(OpFoldResult lower, OpFoldResult upper, OpFoldResult step) {
  std::optional<int64_t> first = getConstantIntValue(lower), past = getConstantIntValue(upper),
                         stride = getConstantIntValue(step);
  if (!first || !past || !stride || *stride < 1)
    return kMany;
  return *past <= *first ? 0 : std::min((*past - *first - 1) / *stride + 1, kMany);
}

int64_t tilewright::cpu::countIterations(Region &region) {
  int64_t most = 1;
  for (Operation &op : region.getOps()) {
    int64_t count = 1;
    if (auto loop = dyn_cast<scf::ForOp>(op))
      count = ::countIterations(loop.getLowerBound(), loop.getUpperBound(), loop.getStep());
    else if (auto loop = dyn_cast<tile::PipelinedOp>(op))
      count = ::countIterations(loop.getLower(), loop.getUpper(), OpBuilder(&op).getIndexAttr(1));
    else if (isa<scf::WhileOp>(op))
      count = kMany;
    else if (auto loop = dyn_cast<tile::ParallelOp>(op))
      for (OpFoldResult extent : loop.getMixedExtents())
        count = multiplyCounts(count, getConstantIntValue(extent).value_or(kMany));
    for (Region &nested : op.getRegions())
      most = std::max(most, multiplyCounts(count, countIterations(nested)));
  }
  return most;
}

bool tilewright::cpu::hasStatement(Operation *loop) {
  auto isStatement = [](Operation *op) {
    return isa<tile::TileEffectsOpInterface>(op) &&
           !isa<tile::LoadOp, tile::StoreOp, tile::AtomicElementOp, tile::ReducerUpdateOp>(op);
  };
  return loop
      ->walk([&](Operation *op) {
        return op != loop && isStatement(op) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

std::optional<int64_t> Emitter::getPollInterval(ArrayRef<Value> lowers, ArrayRef<Value> uppers,
                                                int64_t bodyCount) {
  auto count = [&](size_t loop) {
    int64_t most = (ranges.get(uppers[loop]) - ranges.get(lowers[loop])).greatest;
    return std::clamp<int64_t>(most, 1, kMany);
  };
  int64_t length = bodyCount; // of an iteration of the outermost loop
  for (size_t loop = 1; loop < uppers.size(); ++loop)
    length = multiplyCounts(length, count(loop));
  if (uppers.empty() || !canPoll() || multiplyCounts(length, count(0)) <= kSoon)
    return std::nullopt;
  return std::max<int64_t>(1, kInterval / length);
}

SmallVector<Value> tilewright::cpu::loopWithPolls(Emitter &e, scf::ForOp op, Value lower,
                                                  Value upper, Value step, CarryingBody body) {
  SmallVector<Value> initial = e.lookupAll(op.getInitArgs());
  auto polledBody = [&](Value variable, ValueRange carried) {
    e.services.poll();
    return body(variable, carried);
  };
  if (e.canPoll() && hasStatement(op))
    return e.loopCarrying(lower, upper, step, initial, polledBody);
  int64_t length = countIterations(op.getRegion());
  std::optional<int64_t> interval = e.getPollInterval({lower}, {upper}, length);
  if (!interval)
    return e.loopCarrying(lower, upper, step, initial, body);
  std::optional<int64_t> stride = getConstantIntValue(step);
  if (length >= kLongIteration || !stride || *stride > kInterval || !lower.getType().isIndex())
    return e.loopCarrying(lower, upper, step, initial, polledBody);
  Value piece = e.index(*interval * *stride);
  return e.loopCarrying(lower, upper, piece, initial, [&](Value first, ValueRange carried) {
    e.ifTrue(e.compare(arith::CmpIPredicate::sgt, first, lower), [&] { e.services.poll(); });
    Value past = e.b.createOrFold<arith::MinSIOp>(e.add(first, piece), upper);
    if (!getConstantIntValue(past))
      e.ranges.set(past, {e.ranges.get(lower).least, e.ranges.get(upper).greatest});
    return e.loopCarrying(first, past, step, carried, body);
  });
}
