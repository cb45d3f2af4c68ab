//===- MaskBounds.cpp - up to which iteration a mask lets all elements through -------------------===//
//
// A test `row >= column` is `a - f * k >= 0` with f > 0, where k is the loop's variable and `a` is computed
// from what does not change in the loop and from the element's place in the tile. It holds for all elements
// of the tile while f * k is at most the least value of `a`. So does `slt`, with one less.
//
// How many iterations are left, up to the loop's end, follows where the end is a minimum with a number of
// tiles: ceil(s / f) tiles and a bound of floor(t / f) differ by at most (s - t) / f, rounded up, and one.
//
//===----------------------------------------------------------------------------------------===//

#include "MaskBounds.h"
#include "tilewright/Analysis/Distribution.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

namespace {

/// Factors beyond are left alone: sums of few such terms fit in 64 bits.
constexpr int64_t kMaxFactor = int64_t(1) << 20;

/// `larger - smaller` of a test that is `larger >= smaller`.
std::optional<IndexSum> getDifference(arith::CmpIOp test) {
  IndexSum lhs = IndexSum::get(getAsOpFoldResult(test.getLhs())),
           rhs = IndexSum::get(getAsOpFoldResult(test.getRhs())), one;
  one.constant = 1;
  bool isFine = false;
  switch (test.getPredicate()) {
  case arith::CmpIPredicate::sgt:
    isFine = lhs.add(rhs, -1) && lhs.add(one, -1);
    return isFine ? std::optional(lhs) : std::nullopt;
  case arith::CmpIPredicate::sge:
    isFine = lhs.add(rhs, -1);
    return isFine ? std::optional(lhs) : std::nullopt;
  case arith::CmpIPredicate::slt:
    isFine = rhs.add(lhs, -1) && rhs.add(one, -1);
    return isFine ? std::optional(rhs) : std::nullopt;
  case arith::CmpIPredicate::sle:
    isFine = rhs.add(lhs, -1);
    return isFine ? std::optional(rhs) : std::nullopt;
  default:
    return std::nullopt;
  }
}

/// What a test of the elements of a statement says; none if it is no mask.
std::optional<Mask> getMask(arith::CmpIOp test, ParallelOp elements, PipelinedOp loop) {
  std::optional<SmallVector<int64_t>> extents = analysis::getStaticExtents(elements);
  if (!test.getLhs().getType().isIndex() || !extents)
    return std::nullopt;
  std::optional<IndexSum> difference = getDifference(test);
  if (!difference)
    return std::nullopt;
  Mask mask{test, {}, 0};
  mask.sum.constant = difference->constant;
  for (auto [value, factor] : difference->terms) {
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument || std::abs(factor) > kMaxFactor)
      return std::nullopt;
    if (value == loop.getInductionVar()) {
      mask.step = -factor;
    } else if (argument.getOwner() == &elements.getBody().front()) {
      int64_t last = (*extents)[argument.getArgNumber()] - 1; // the least that it adds
      mask.sum.constant += factor < 0 ? factor * last : 0;
    } else if (loop->isAncestor(argument.getOwner()->getParentOp())) {
      return std::nullopt;
    } else {
      mask.sum.terms.emplace_back(value, factor);
    }
  }
  if (mask.step <= 0)
    return std::nullopt;
  return mask;
}

/// At most `upper` less the bound of a mask, where `upper` is a rounded quotient by the mask's step, or a minimum
/// of such a quotient and other values.
std::optional<int64_t> countMaskedBelow(const Mask &mask, Value upper) {
  if (auto least = upper.getDefiningOp<arith::MinSIOp>()) {
    std::optional<int64_t> lhs = countMaskedBelow(mask, least.getLhs()),
                           rhs = countMaskedBelow(mask, least.getRhs());
    return lhs && rhs ? std::min(*lhs, *rhs) : lhs ? lhs : rhs;
  }
  auto quotient = upper.getDefiningOp<FloorDivOp>();
  if (!quotient || getConstantIntValue(quotient.getRhs()) != mask.step)
    return std::nullopt;
  // floor(x / f) <= x / f and floor(t / f) >= (t - f + 1) / f.
  IndexSum difference = IndexSum::get(getAsOpFoldResult(quotient.getLhs()));
  if (!difference.add(mask.sum, -1) || !difference.isConstant())
    return std::nullopt;
  difference.constant -= mask.step; // the bound is that of sum + step
  return std::max<int64_t>(0,
                           llvm::divideFloorSigned(difference.constant + mask.step - 1, mask.step));
}

} // namespace

SmallVector<Mask, 0> tilewright::findMasks(PipelinedOp loop) {
  SmallVector<Mask, 0> masks;
  for (auto elements : loop.getBody().front().getOps<ParallelOp>())
    elements.walk([&](arith::CmpIOp test) {
      if (std::optional<Mask> mask = getMask(test, elements, loop))
        masks.push_back(std::move(*mask));
    });
  return masks;
}

Value tilewright::makeBound(ImplicitLocOpBuilder &b, const Mask &mask) {
  auto constant = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(b, value); };
  Value sum = constant(mask.sum.constant + mask.step); // one more than the last one that holds
  for (auto [value, factor] : mask.sum.terms)
    sum =
        b.createOrFold<arith::AddIOp>(sum, b.createOrFold<arith::MulIOp>(value, constant(factor)));
  return b.createOrFold<FloorDivOp>(sum, constant(mask.step), /*unsignedResult=*/false);
}

std::optional<int64_t> tilewright::countMasked(ArrayRef<Mask> masks, Value upper) {
  int64_t most = 0;
  for (const Mask &mask : masks) {
    std::optional<int64_t> count = countMaskedBelow(mask, upper);
    if (!count)
      return std::nullopt;
    most = std::max(most, *count);
  }
  return most;
}

void tilewright::dropTest(arith::CmpIOp test) {
  OpBuilder b(test);
  test.getResult().replaceAllUsesWith(
      arith::ConstantOp::create(b, test.getLoc(), b.getBoolAttr(true)).getResult());
  test.erase();
}
