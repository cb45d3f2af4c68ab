//===- ShrinkLoops.cpp - leave out the iterations that do nothing -----------------------------===//
//
// Programs store a part of a tile by a loop over the whole and a branch:
//
//   for i, j in T.Parallel(32, 512):
//       if i < 16:
//           part[i, j] = acc[i + 16, j]
//
// The iterations beyond 16 do nothing, but they name rows of `acc` that do not exist: no layout of
// registers has them, and the tile would be placed in memory. The loop runs to 16 instead.
//
// Expects: any tile IR.   Leaves: the same program.
//===----------------------------------------------------------------------------------------===//

#include "tilewright/Tile/Tile.h"
#include "tilewright/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/PatternMatch.h"

namespace tilewright {
#define GEN_PASS_DEF_SHRINKLOOPS
#include "tilewright/Transforms/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

namespace {

/// The branch that is all that a loop does; null where there is more, or another way.
scf::IfOp getOnlyStatement(ParallelOp loop) {
  scf::IfOp only;
  for (Operation &op : loop.getBody().front().without_terminator()) {
    if (isMemoryEffectFree(&op) || isa<LoadOp>(op)) // leaving out a read changes nothing
      continue;
    auto branch = dyn_cast<scf::IfOp>(op);
    if (only || !branch || branch.getNumResults() || !branch.getElseRegion().empty())
      return {};
    only = branch;
  }
  return only;
}

/// The iterations of one dimension that a condition leaves: [low, high).
struct Range {
  int64_t low, high;
};

/// Narrows the ranges of a loop's variables by comparisons with constants.
void narrow(Value condition, ParallelOp loop, MutableArrayRef<Range> ranges) {
  if (auto both = condition.getDefiningOp<arith::AndIOp>()) {
    narrow(both.getLhs(), loop, ranges);
    narrow(both.getRhs(), loop, ranges);
    return;
  }
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  if (!compare)
    return;
  using P = arith::CmpIPredicate;
  P predicate = compare.getPredicate();
  Value variable = compare.getLhs();
  std::optional<int64_t> bound = getConstantIntValue(compare.getRhs());
  if (!bound) { // `16 > i` is `i < 16`
    variable = compare.getRhs();
    bound = getConstantIntValue(compare.getLhs());
    predicate = predicate == P::slt   ? P::sgt
                : predicate == P::sgt ? P::slt
                : predicate == P::sle ? P::sge
                : predicate == P::sge ? P::sle
                                      : predicate;
  }
  auto argument = dyn_cast<BlockArgument>(variable);
  if (!bound || !argument || argument.getOwner() != &loop.getBody().front())
    return;
  // A variable of a static loop is far from the ends of its type.
  Range &range = ranges[argument.getArgNumber()];
  *bound = std::clamp<int64_t>(*bound, -1, range.high);
  if (predicate == P::slt)
    range.high = std::min(range.high, *bound);
  else if (predicate == P::sle)
    range.high = std::min(range.high, *bound + 1);
  else if (predicate == P::sgt)
    range.low = std::max(range.low, *bound + 1);
  else if (predicate == P::sge)
    range.low = std::max(range.low, *bound);
}

/// A loop over the iterations that take the branch.
void shrink(ParallelOp loop, RewriterBase &rewriter) {
  scf::IfOp branch = getOnlyStatement(loop);
  if (!branch || loop.getLoopLayout())
    return;
  SmallVector<Range> ranges;
  for (OpFoldResult extent : loop.getMixedExtents()) {
    std::optional<int64_t> constant = getConstantIntValue(extent);
    if (!constant)
      return;
    ranges.push_back({0, *constant});
  }
  SmallVector<Range> whole = ranges;
  narrow(branch.getCondition(), loop, ranges);
  SmallVector<OpFoldResult> extents;
  bool isNarrower = false;
  for (auto [range, before] : llvm::zip_equal(ranges, whole)) {
    isNarrower |= range.low > before.low || range.high < before.high;
    extents.push_back(rewriter.getIndexAttr(std::max<int64_t>(0, range.high - range.low)));
  }
  if (!isNarrower)
    return;
  rewriter.setInsertionPoint(loop);
  auto narrower = ParallelOp::create(rewriter, loop.getLoc(), extents);
  if (auto width = loop.getCoalescedWidthAttr())
    narrower.setCoalescedWidthAttr(width);
  Block &body = narrower.getBody().front();
  rewriter.setInsertionPointToStart(&body);
  SmallVector<Value> variables;
  for (auto [argument, range] : llvm::zip_equal(narrower.getIterators(), ranges)) {
    Value variable = argument;
    if (range.low > 0)
      variable =
          arith::AddIOp::create(rewriter, loop.getLoc(), argument,
                                arith::ConstantIndexOp::create(rewriter, loop.getLoc(), range.low));
    variables.push_back(variable);
  }
  Operation *end = body.mightHaveTerminator() ? body.getTerminator() : nullptr;
  rewriter.inlineBlockBefore(&loop.getBody().front(), &body, end ? end->getIterator() : body.end(),
                             variables);
  if (end)
    rewriter.eraseOp(end); // the old loop's came along
  rewriter.eraseOp(loop);
}

struct ShrinkLoopsPass : tilewright::impl::ShrinkLoopsBase<ShrinkLoopsPass> {
  void runOnOperation() override {
    SmallVector<ParallelOp> loops;
    getOperation()->walk([&](ParallelOp loop) { loops.push_back(loop); });
    IRRewriter rewriter(&getContext());
    for (ParallelOp loop : loops)
      shrink(loop, rewriter);
  }
};

} // namespace
