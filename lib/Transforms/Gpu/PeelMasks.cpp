//===- PeelMasks.cpp - tiles that a mask lets through run without it --------------------------===//
//
// A loop over tiles tests each element (causal attention: `row >= column`), though the test holds for
// all elements of all tiles but the last ones. If it is `a - f * k >= 0` with f > 0, where k is the
// loop's variable and `a` is computed from what does not change in the loop and from the element's
// place in the tile, then it holds for all elements of the tiles below a bound. The loop is split there:
//
//   for k in [lower, upper) {        split = floor(min a / f) + 1, between lower and upper
//     if (row >= 128 k + j) …   ──▶  for k in [lower, split) { … }              // the test is true
//   }                                for k in [split, upper) { if (row >= 128 k + j) … }
//
// If a loop has several such tests, it is split where the first one can fail. Only loops with products
// whose copies a producer issues are split: their bodies hold no copies, and both halves meet the
// producer in the same way.
//
// Expects: roles and their schedule (schedule-products).   Leaves: two loops in place of one.
//===----------------------------------------------------------------------------------------===//

#include "tilewright/Analysis/Distribution.h"
#include "tilewright/Tile/Remarks.h"
#include "tilewright/Tile/Tile.h"
#include "tilewright/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tilewright {
#define GEN_PASS_DEF_PEELMASKS
#include "tilewright/Transforms/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

namespace {

/// Factors beyond are left alone: sums of few such terms fit in 64 bits.
constexpr int64_t kMaxFactor = int64_t(1) << 20;

/// A test that holds for all elements while `step * k <= sum`.
struct Mask {
  arith::CmpIOp test;
  IndexSum sum;
  int64_t step;
};

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

/// Where the first iteration lies in which a test may fail.
Value makeBound(ImplicitLocOpBuilder &b, const Mask &mask) {
  auto constant = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(b, value); };
  Value sum = constant(mask.sum.constant + mask.step); // one more than the last one that holds
  for (auto [value, factor] : mask.sum.terms)
    sum =
        b.createOrFold<arith::AddIOp>(sum, b.createOrFold<arith::MulIOp>(value, constant(factor)));
  return b.createOrFold<FloorDivOp>(sum, constant(mask.step), /*unsignedResult=*/false);
}

void split(PipelinedOp loop) {
  SmallVector<Mask> masks;
  bool hasProduct = false;
  for (Operation &op : loop.getBody().front()) {
    hasProduct |= isa<GemmOp>(op) && op.hasAttr(kGroupsAttr);
    if (auto elements = dyn_cast<ParallelOp>(op))
      elements.walk([&](arith::CmpIOp test) {
        if (std::optional<Mask> mask = getMask(test, elements, loop))
          masks.push_back(std::move(*mask));
      });
  }
  if (masks.empty() || !hasProduct || !loop.getBody().getOps<AsyncGroupOp>().empty())
    return;
  ImplicitLocOpBuilder b(loop.getLoc(), loop);
  Value bound = loop.getUpper();
  for (const Mask &mask : masks)
    bound = arith::MinSIOp::create(b, bound, makeBound(b, mask));
  bound = arith::MaxSIOp::create(b, loop.getLower(), bound);
  IRMapping mapping;
  auto whole = cast<PipelinedOp>(b.clone(*loop, mapping));
  whole.getUpperMutable().assign(bound);
  for (const Mask &mask : masks) {
    arith::CmpIOp test = mask.test;
    auto copy = mapping.lookup(test.getResult()).getDefiningOp<arith::CmpIOp>();
    b.setInsertionPoint(copy);
    copy.getResult().replaceAllUsesWith(
        arith::ConstantOp::create(b, b.getBoolAttr(true)).getResult());
    copy.erase();
  }
  loop.getLowerMutable().assign(bound);
  InFlightDiagnostic diag = loop.emitRemark();
  diag << "tiles that the mask lets through whole run in a loop of their own, without it";
  describeRemark(diag, "schedule", "", {{"masks", int64_t(masks.size())}});
}

struct PeelMasksPass : tilewright::impl::PeelMasksBase<PeelMasksPass> {
  void runOnOperation() override {
    SmallVector<PipelinedOp> loops;
    getOperation()->walk([&](PipelinedOp loop) {
      auto kernel = loop->getParentOfType<KernelOp>();
      bool meetsProducer = !loop.getBody().getOps<BarrierArriveOp>().empty();
      if (!loop->getParentOfType<RoleOp>() && kernel && meetsProducer &&
          !kernel.getBody().getOps<RoleOp>().empty())
        loops.push_back(loop);
    });
    for (PipelinedOp loop : loops)
      split(loop);
  }
};

} // namespace
