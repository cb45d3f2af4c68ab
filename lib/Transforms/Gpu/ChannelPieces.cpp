//===- ChannelPieces.cpp - the iterations for which statements on a channel stand ------------===//

#include "ChannelPieces.h"

#include "tilewright/Tile/InternalError.h"
#include "tilewright/Tile/Schedule.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::schedule {

LogicalResult fail(Operation *op, const Twine &text) {
  return emitInternalError(op) << "the schedule is wrong: " << text;
}

const Piece *findLoop(ArrayRef<Piece> pieces, PipelinedOp loop) {
  const auto *it = llvm::find_if(
      pieces, [&](const Piece &piece) { return piece.loop && (!loop || piece.loop == loop); });
  return it == pieces.end() ? nullptr : it;
}

/// Whether `bound` is at most `upper`: a minimum of it and others.
static bool isAtMost(Value bound, Value upper) {
  if (bound == upper)
    return true;
  auto least = bound.getDefiningOp<arith::MinSIOp>();
  return least && (isAtMost(least.getLhs(), upper) || isAtMost(least.getRhs(), upper));
}

bool continues(PipelinedOp loop, PipelinedOp before) {
  auto bound = loop.getLower().getDefiningOp<arith::MaxSIOp>();
  return bound && before.getUpper() == loop.getLower() && bound.getLhs() == before.getLower() &&
         isAtMost(bound.getRhs(), loop.getUpper());
}

std::optional<int64_t> subtract(IndexSum a, const IndexSum &b) {
  if (!a.add(b, -1) || !a.isConstant())
    return std::nullopt;
  return a.constant;
}

/// Whether `value` is `sum + constant`.
static bool isSum(Value value, Value sum, int64_t constant) {
  return subtract(IndexSum::get(getAsOpFoldResult(value)), IndexSum::get(getAsOpFoldResult(sum))) ==
         constant;
}

scf::ForOp getSegments(Operation *statement) {
  auto segments = dyn_cast<scf::ForOp>(statement->getParentOp());
  return segments && segments->hasAttr(kSegmentsAttr) ? segments : scf::ForOp();
}

scf::IfOp getLaterBranch(Operation *op) {
  auto branch = dyn_cast<scf::IfOp>(op->getParentOp());
  scf::ForOp segments = branch ? getSegments(branch) : scf::ForOp();
  auto isLater = segments ? branch.getCondition().getDefiningOp<arith::CmpIOp>() : arith::CmpIOp();
  bool asks = isLater && isLater.getPredicate() == arith::CmpIPredicate::ne &&
              isLater.getLhs() == segments.getInductionVar() &&
              isLater.getRhs() == segments.getLowerBound();
  return asks && op->getBlock() == branch.thenBlock() ? branch : scf::IfOp();
}

namespace {
/// The iterations that a loop over segments makes of [lower, upper).
struct Segments {
  Value lower, upper,
      begin; ///< `begin`: the first one of a segment, which ends at the loop's variable.
};
} // namespace

/// Segments follow each other and are not empty, if there is any iteration: the first one goes from `lower` to
/// where the loop starts, each of the others has one iteration, up to `upper`.
static std::optional<Segments> getSegmentBounds(scf::ForOp loop, Value begin) {
  auto start = begin.getDefiningOp<arith::SelectOp>();
  auto isFirst = start ? start.getCondition().getDefiningOp<arith::CmpIOp>() : arith::CmpIOp();
  auto firstEnd = loop.getLowerBound().getDefiningOp<arith::MaxSIOp>();
  auto upper = loop.getUpperBound().getDefiningOp<arith::AddIOp>();
  if (!isFirst || !firstEnd || !upper || getConstantIntValue(loop.getStep()) != 1 ||
      loop.getNumResults() || getConstantIntValue(upper.getRhs()) != 1 ||
      isFirst.getPredicate() != arith::CmpIPredicate::eq ||
      isFirst.getLhs() != loop.getInductionVar() || isFirst.getRhs() != firstEnd.getResult() ||
      !isSum(start.getFalseValue(), loop.getInductionVar(), -1) ||
      !isSum(firstEnd.getLhs(), start.getTrueValue(), 1) ||
      !isAtMost(firstEnd.getRhs(), upper.getLhs()))
    return std::nullopt;
  return Segments{start.getTrueValue(), upper.getLhs(), begin};
}

ArrayRef<Piece> dropLater(ArrayRef<Piece> pieces) {
  return pieces.drop_front(pieces.front().branch ? 1 : 0);
}

/// Each segment stands for its own iterations. Or it stands for those
/// an iteration before: then the first one, which has none before it, has a piece less, and they end an iteration
/// before the last segment does.
///
///   segment [begin, end)    [begin - 1, begin) if it is a later one, [begin, end - 1)
std::optional<Cover> getCover(ArrayRef<Piece> pieces) {
  Cover cover{pieces.front().from, pieces.back().to, pieces.front().getStatement()};
  scf::ForOp loop = getSegments(cover.first);
  if (!loop)
    return cover;
  size_t count = llvm::count_if(
      pieces, [&](const Piece &piece) { return getSegments(piece.getStatement()) == loop; });
  ArrayRef<Piece> inside = pieces.take_front(count), own = dropLater(inside);
  bool isLate = own.size() < inside.size();
  if (own.empty() || own.front().from.terms.size() != 1 ||
      llvm::any_of(own, [](const Piece &piece) { return bool(piece.branch); }))
    return std::nullopt;
  IndexSum end = IndexSum::get(getAsOpFoldResult(loop.getInductionVar()));
  end.constant -= isLate;
  std::optional<Segments> segments = getSegmentBounds(loop, own.front().from.terms.front().first);
  if (!segments || own.front().from != IndexSum::get(getAsOpFoldResult(segments->begin)) ||
      own.back().to != end)
    return std::nullopt;
  IndexSum to = IndexSum::get(getAsOpFoldResult(segments->upper));
  to.constant -= isLate;
  return Cover{IndexSum::get(getAsOpFoldResult(segments->lower)),
               count < pieces.size() ? pieces.back().to : to, loop, count, to};
}

bool needsGuard(ArrayRef<Piece> pieces) {
  std::optional<Cover> cover = getCover(pieces);
  return cover && llvm::any_of(pieces, [](const Piece &piece) { return !piece.loop; }) &&
         subtract(cover->to, cover->from).value_or(0) <= 0;
}

bool comesBefore(const Piece &piece, Operation *op) {
  for (Operation *statement = piece.op; !isa<KernelOp>(statement);
       statement = statement->getParentOp())
    if (Operation *other = statement->getBlock()->findAncestorOpInBlock(*op))
      return statement->isBeforeInBlock(other);
  return false;
}

} // namespace tilewright::schedule
