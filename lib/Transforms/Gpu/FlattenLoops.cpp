//===- FlattenLoops.cpp - no loop of elements inside another ----------------------------------===//
//
// A statement on a few elements inside `T.Parallel`, such as `T.atomic_addx4(C[i, 4 * j], x[…])`,
// is a loop inside a loop once it is written as one. The two become one loop with one more
// variable, so that the access planner sees the whole and finds the vectors:
//
//   parallel (i, j) { parallel (e) in (4) { … } }   ->   parallel (i, j, e) in (…, 4) { … }
//
// Where the outer loop does more, the inner one is written out, or, if it is long or its extents
// are known only at run time, becomes serial: one thread runs an iteration.
//
// Expects: any tile IR.   Leaves: the same program; no tile.parallel inside another one.
//===----------------------------------------------------------------------------------------===//

#include "tilewright/Tile/Tile.h"
#include "tilewright/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

namespace tilewright {
#define GEN_PASS_DEF_FLATTENLOOPS
#include "tilewright/Transforms/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

namespace {

/// Longer inner loops become serial.
constexpr int64_t kMaxCopies = 64;

std::optional<SmallVector<int64_t>> getStaticExtents(ParallelOp loop) {
  return getConstantIntValues(loop.getMixedExtents());
}

/// Whether the inner loop is all that the outer one does, so that what surrounds it may as well be
/// done once more for each of its iterations.
bool isOnlyStatement(ParallelOp outer, ParallelOp inner) {
  llvm::SmallDenseSet<Value, 4> written;
  inner.walk([&](Operation *op) {
    if (auto store = dyn_cast<StoreOp>(op))
      written.insert(getRoot(store.getBuffer()));
    if (auto atomic = dyn_cast<AtomicElementOp>(op))
      written.insert(getRoot(atomic.getBuffer()));
  });
  WalkResult result = outer.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op == outer)
      return WalkResult::advance();
    if (op == inner)
      return WalkResult::skip();
    auto load = dyn_cast<LoadOp>(op);
    auto branch = dyn_cast<scf::IfOp>(op);
    bool isRepeatable = (branch && branch.getNumResults() == 0) || isMemoryEffectFree(op) ||
                        (load && !written.contains(getRoot(load.getBuffer())));
    return isRepeatable ? WalkResult::advance() : WalkResult::interrupt();
  });
  return !result.wasInterrupted();
}

/// Gives the outer loop the variables of the inner one.
void merge(ParallelOp outer, ParallelOp inner, RewriterBase &rewriter) {
  SmallVector<OpFoldResult> extents = outer.getMixedExtents();
  size_t outerRank = extents.size();
  llvm::append_range(extents, inner.getMixedExtents());
  rewriter.setInsertionPoint(outer);
  auto merged = ParallelOp::create(rewriter, outer.getLoc(), extents);
  if (auto width = outer.getCoalescedWidthAttr())
    merged.setCoalescedWidthAttr(width);
  Block &body = merged.getBody().front();
  auto iterators = merged.getIterators();
  if (!body.empty())
    rewriter.eraseOp(body.getTerminator()); // the old loop's comes along
  rewriter.mergeBlocks(&outer.getBody().front(), &body,
                       SmallVector<Value>(iterators.take_front(outerRank)));
  Block &innerBody = inner.getBody().front();
  rewriter.eraseOp(innerBody.getTerminator());
  rewriter.inlineBlockBefore(&innerBody, inner,
                             SmallVector<Value>(iterators.drop_front(outerRank)));
  rewriter.eraseOp(inner);
  rewriter.eraseOp(outer);
}

/// Writes out the iterations of the inner loop.
void unroll(ParallelOp inner, ArrayRef<int64_t> extents, RewriterBase &rewriter) {
  int64_t count = computeProduct(extents);
  rewriter.setInsertionPoint(inner);
  for (int64_t number = 0; number < count; ++number) {
    IRMapping mapping;
    int64_t rest = number;
    for (int64_t dim = int64_t(extents.size()) - 1; dim >= 0; --dim) {
      mapping.map(inner.getIterators()[dim],
                  arith::ConstantIndexOp::create(rewriter, inner.getLoc(), rest % extents[dim])
                      .getResult());
      rest /= extents[dim];
    }
    for (Operation &op : inner.getBody().front().without_terminator())
      rewriter.clone(op, mapping);
  }
  rewriter.eraseOp(inner);
}

/// Makes the inner loop serial.
void serialize(ParallelOp inner, RewriterBase &rewriter) {
  rewriter.setInsertionPoint(inner);
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(rewriter, inner.getLoc(), value);
  };
  SmallVector<Value> variables;
  for (OpFoldResult extent : inner.getMixedExtents()) {
    Value upper = getValueOrCreateConstantIndexOp(rewriter, inner.getLoc(), extent);
    auto loop = scf::ForOp::create(rewriter, inner.getLoc(), constant(0), upper, constant(1));
    variables.push_back(loop.getInductionVar());
    rewriter.setInsertionPointToStart(loop.getBody());
  }
  Block &body = inner.getBody().front(), *target = rewriter.getInsertionBlock();
  rewriter.eraseOp(body.getTerminator());
  rewriter.inlineBlockBefore(&body, target->getTerminator(), variables);
  rewriter.eraseOp(inner);
}

void flatten(ParallelOp outer, RewriterBase &rewriter) {
  SmallVector<ParallelOp> inners;
  outer.getBody().walk([&](ParallelOp inner) { inners.push_back(inner); });
  if (inners.size() == 1 && getStaticExtents(inners[0]) && getStaticExtents(outer) &&
      !outer.getLoopLayout() && !inners[0].getLoopLayout() && isOnlyStatement(outer, inners[0]))
    return merge(outer, inners[0], rewriter);
  for (ParallelOp inner : inners) { // the innermost come first
    std::optional<SmallVector<int64_t>> extents = getStaticExtents(inner);
    if (extents && computeProduct(*extents) <= kMaxCopies)
      unroll(inner, *extents, rewriter);
    else
      serialize(inner, rewriter);
  }
}

struct FlattenLoopsPass : tilewright::impl::FlattenLoopsBase<FlattenLoopsPass> {
  void runOnOperation() override {
    SmallVector<ParallelOp> outers;
    getOperation()->walk([&](ParallelOp loop) {
      if (!loop->getParentOfType<ParallelOp>())
        outers.push_back(loop);
    });
    IRRewriter rewriter(&getContext());
    for (ParallelOp outer : outers)
      flatten(outer, rewriter);
  }
};

} // namespace
