//===- ClearProducts.cpp - sums that start as zeros are not written first ---------------------===//
//
// Programs clear an accumulator and add to it: `T.clear(s); T.gemm(q, k, s)`. The first instruction of a
// product (wgmma) can ignore its sums, so the zeros need not be written, one register each:
//
//   tile.parallel { store 0, %s[i, j] }   ──▶   tile.gemm %q, %k, %s clear %true
//   tile.gemm %q, %k, %s
//
// Expects: gemms that wgmma computes (`tile.groups`); masks that hold are constants (peel-masks).
// Leaves: `clear` on products.
//===----------------------------------------------------------------------------------------===//

#include "tilewright/Analysis/Distribution.h"
#include "tilewright/Layout/Questions.h"
#include "tilewright/Tile/Tile.h"
#include "tilewright/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

namespace tilewright {
#define GEN_PASS_DEF_CLEARPRODUCTS
#include "tilewright/Transforms/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

namespace {

/// Whether a value is +0, or a choice that is known to take it.
bool isZero(Value value) {
  if (auto choice = value.getDefiningOp<arith::SelectOp>()) {
    if (matchPattern(choice.getCondition(), m_One()))
      return isZero(choice.getTrueValue());
    return matchPattern(choice.getCondition(), m_Zero()) && isZero(choice.getFalseValue());
  }
  return matchPattern(value, m_PosZeroFloat()) || matchPattern(value, m_Zero());
}

/// The buffer to all of which a loop writes zeros, if that is all it does.
Value findCleared(ParallelOp loop) {
  StoreOp store;
  for (Operation &op : loop.getBody().front().without_terminator()) {
    if (auto found = dyn_cast<StoreOp>(op); found && !store)
      store = found;
    else if (!isMemoryEffectFree(&op) || op.getNumRegions())
      return Value();
  }
  if (!store || !isZero(store.getValue()))
    return Value();
  Value buffer = store.getBuffer();
  std::optional<SmallVector<int64_t>> extents = analysis::getStaticExtents(loop);
  auto indices = analysis::getAccessIndices(loop, buffer, store.getIndices());
  if (!extents || !indices || getRoot(buffer) != buffer)
    return Value();
  int64_t total = 1;
  for (int64_t extent : *extents)
    total *= extent;
  bool isWhole = total == cast<MemRefType>(buffer.getType()).getNumElements() &&
                 isInjective(Layout::get(*extents, *indices)).isYes();
  return isWhole ? buffer : Value();
}

/// The next statement of the block, if it is a product that adds to `sums`.
GemmOp findProduct(ParallelOp loop, Value sums) {
  for (Operation *op = loop->getNextNode(); op; op = op->getNextNode()) {
    std::optional<SmallVector<Effect>> effects = getEffects(op);
    bool touches = !effects || llvm::any_of(*effects, [&](const Effect &effect) {
      return effect.root == sums;
    });
    if (!touches)
      continue;
    auto gemm = dyn_cast<GemmOp>(op);
    bool isFit = gemm && gemm->hasAttr(kGroupsAttr) && gemm.getC() == sums &&
                 getRoot(gemm.getA()) != sums && getRoot(gemm.getB()) != sums &&
                 (!gemm.getClear() || matchPattern(gemm.getClear(), m_Zero()));
    return isFit ? gemm : GemmOp();
  }
  return GemmOp();
}

struct ClearProductsPass : tilewright::impl::ClearProductsBase<ClearProductsPass> {
  void runOnOperation() override {
    SmallVector<ParallelOp> loops;
    getOperation()->walk([&](ParallelOp loop) { loops.push_back(loop); });
    for (ParallelOp loop : loops) {
      Value sums = findCleared(loop);
      GemmOp product = sums ? findProduct(loop, sums) : GemmOp();
      if (!product)
        continue;
      OpBuilder b(product);
      product.getClearMutable().assign(
          arith::ConstantOp::create(b, product.getLoc(), b.getBoolAttr(true)));
      loop.erase();
    }
  }
};

} // namespace
