//===- LowerPolls.cpp - where a launch can be stopped -----------------------------------------===//
//
// Compiled code asks the runtime now and then whether it is to go on (Ctrl-C, a failure elsewhere).
// A call costs two nanoseconds, and a loop with one in it is not vectorised. So loops that end soon
// have none; a loop whose turns are long has one in each turn; one with many short turns is cut
// into pieces, between which it asks:
//
//   for i in 0 .. n        for first in 0 .. n step 65536
//     body           ──▶     poll, but for the first piece
//                            for i in first .. min(first + 65536, n)
//                              body
//
//===----------------------------------------------------------------------------------------===//

#include "Lowering.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

/// A nest of at most that many turns ends soon. Larger counts, and unknown ones, are not told
/// apart.
static constexpr int64_t kSoon = int64_t(1) << 20, kMany = kSoon + 1;
/// Turns between two questions, if a turn is short.
static constexpr int64_t kInterval = int64_t(1) << 16;
/// A turn with that many turns of loops inside is long: it hides a call.
static constexpr int64_t kLongTurn = 256;

static int64_t multiplyTurns(int64_t a, int64_t b) {
  return std::min(std::max<int64_t>(a, 1) * std::max<int64_t>(b, 1), kMany);
}

static int64_t countTurns(OpFoldResult lower, OpFoldResult upper, OpFoldResult step) {
  std::optional<int64_t> first = getConstantIntValue(lower), past = getConstantIntValue(upper),
                         stride = getConstantIntValue(step);
  if (!first || !past || !stride || *stride < 1)
    return kMany;
  return *past <= *first ? 0 : std::min((*past - *first - 1) / *stride + 1, kMany);
}

int64_t tilewright::cpu::countTurns(Region &region) {
  int64_t most = 1;
  for (Operation &op : region.getOps()) {
    int64_t turns = 1;
    if (auto loop = dyn_cast<scf::ForOp>(op))
      turns = ::countTurns(loop.getLowerBound(), loop.getUpperBound(), loop.getStep());
    else if (auto loop = dyn_cast<tile::PipelinedOp>(op))
      turns = ::countTurns(loop.getLower(), loop.getUpper(), OpBuilder(&op).getIndexAttr(1));
    else if (isa<scf::WhileOp>(op))
      turns = kMany;
    else if (auto loop = dyn_cast<tile::ParallelOp>(op))
      for (OpFoldResult extent : loop.getMixedExtents())
        turns = multiplyTurns(turns, getConstantIntValue(extent).value_or(kMany));
    for (Region &nested : op.getRegions())
      most = std::max(most, multiplyTurns(turns, countTurns(nested)));
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

/// In a block, and not while it holds a lock, which nobody would give back.
bool Lowering::canPoll() const { return scope->arena && !holdsLock; }

/// After how many turns of the outermost loop of a nest a launch should look whether it is to stop;
/// nothing for a nest that ends soon.
std::optional<int64_t> Lowering::getPollInterval(ArrayRef<Value> lowers, ArrayRef<Value> uppers,
                                                 int64_t bodyTurns) {
  auto count = [&](size_t loop) {
    int64_t most = (ranges.get(uppers[loop]) - ranges.get(lowers[loop])).greatest;
    return std::clamp<int64_t>(most, 1, kMany);
  };
  int64_t turn = bodyTurns; // of the outermost loop
  for (size_t loop = 1; loop < uppers.size(); ++loop)
    turn = multiplyTurns(turn, count(loop));
  if (uppers.empty() || !canPoll() || multiplyTurns(turn, count(0)) <= kSoon)
    return std::nullopt;
  return std::max<int64_t>(1, kInterval / turn);
}

SmallVector<Value> Lowering::loopWithPolls(scf::ForOp op, Value lower, Value upper, Value step,
                                           CarryingBody body) {
  SmallVector<Value> initial = lookupAll(op.getInitArgs());
  auto polledTurn = [&](Value variable, ValueRange carried) {
    callPoll();
    return body(variable, carried);
  };
  if (canPoll() && hasStatement(op))
    return loopCarrying(lower, upper, step, initial, polledTurn);
  int64_t turn = countTurns(op.getRegion());
  std::optional<int64_t> interval = getPollInterval({lower}, {upper}, turn);
  if (!interval)
    return loopCarrying(lower, upper, step, initial, body);
  std::optional<int64_t> stride = getConstantIntValue(step);
  if (turn >= kLongTurn || !stride || *stride > kInterval || !lower.getType().isIndex())
    return loopCarrying(lower, upper, step, initial, polledTurn);
  Value piece = index(*interval * *stride);
  return loopCarrying(lower, upper, piece, initial, [&](Value first, ValueRange carried) {
    ifTrue(compare(arith::CmpIPredicate::sgt, first, lower), [&] { callPoll(); });
    Value past = b.createOrFold<arith::MinSIOp>(add(first, piece), upper);
    if (!getConstantIntValue(past))
      ranges.set(past, {ranges.get(lower).least, ranges.get(upper).greatest});
    return loopCarrying(first, past, step, carried, body);
  });
}
