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

#include "MaskBounds.h"
#include "tilewright/Tile/Remarks.h"
#include "tilewright/Tile/Tile.h"
#include "tilewright/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
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

void split(PipelinedOp loop) {
  SmallVector<Mask, 0> masks = findMasks(loop);
  bool hasProduct = llvm::any_of(loop.getBody().front().getOps<GemmOp>(),
                                 [](GemmOp gemm) { return gemm->hasAttr(kGroupsAttr); });
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
    dropTest(mapping.lookup(test.getResult()).getDefiningOp<arith::CmpIOp>());
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
