//===- PlanPrefetches.cpp - what will be copied and updated soon ------------------------------===//
//
// A tile that comes from a tensor is read row by row, each row on other pages, which the hardware's
// prefetchers do not foresee. What a copy into a tile that stands directly in a pipelined loop
// reads in the next iteration is therefore prefetched in the present one. The gemm after the copy
// that reads the tile does so on its way, a line with each step along k: a burst of prefetches
// would wait like the loads it is to spare. Without such a gemm they follow the copy, except for
// tiles whose rows follow each other in memory: those, and large ones, are read ahead while they
// are copied. (From block to block all this costs more than it brings: blocks are next to each
// other.) A gemm also prefetches the region that its accumulator will be added to.
//
//   tile.pipelined %k = … to %n {           tile.pipelined %k = … to %n {
//     %s = tile.slice %A[…%k…]                %next = min(%k + 1, %n - 1)
//     tile.copy %s, %a                 ──▶    %t = tile.slice %A[…%next…] {tile.id = 0}
//     tile.gemm %a, %b, %c                    tile.copy %s, %a {tile.prefetched}
//   }                                         tile.gemm %a, %b, %c {tile.prefetches = [0]}
//                                           }
//
// In the last iteration `%next` is the last value again, so that the slice is always one that the
// program itself reads, and prefetches nothing new.
//
// Expects: tile IR that passed its verifier.   Leaves: the same program, with more slices.
//===----------------------------------------------------------------------------------------===//

#include "StaticView.h"
#include "tilewright/Tile/Remarks.h"
#include "tilewright/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tilewright {
#define GEN_PASS_DEF_PLANCPUPREFETCHES
#include "tilewright/Transforms/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

namespace {

//===----------------------------------------------------------------------------------------===//
// The next iteration's tiles
//===----------------------------------------------------------------------------------------===//

/// The ops of `region` that `op` depends on, in their order, and itself. Nothing if one of them is
/// more than arithmetic, or none depends on the changing value.
std::optional<SmallVector<Operation *>> collectArithmetic(Operation *op, Region *region,
                                                          Value changing) {
  llvm::SetVector<Operation *> found;
  SmallVector<Operation *> left = {op};
  bool changes = false;
  while (!left.empty()) {
    Operation *next = left.pop_back_val();
    if (!found.insert(next))
      continue;
    if (next != op && (!isPure(next) || next->getNumRegions() != 0))
      return std::nullopt;
    for (Value operand : next->getOperands()) {
      changes |= operand == changing;
      Operation *definition = operand.getDefiningOp();
      if (definition && definition->getParentRegion() == region)
        left.push_back(definition);
    }
  }
  if (!changes)
    return std::nullopt;
  SmallVector<Operation *> sorted = found.takeVector();
  llvm::sort(sorted, [](Operation *lhs, Operation *rhs) { return lhs->isBeforeInBlock(rhs); });
  return sorted;
}

/// The first gemm after a copy, in the same block, that reads the tile it fills.
GemmOp findProduct(CopyOp copy) {
  GemmOp first;
  for (Operation *user : copy.getDest().getUsers()) {
    auto gemm = dyn_cast<GemmOp>(user);
    bool isAfter = gemm && gemm->getBlock() == copy->getBlock() && copy->isBeforeInBlock(gemm) &&
                   gemm.getC() != copy.getDest();
    if (isAfter && (!first || gemm->isBeforeInBlock(first)))
      first = gemm;
  }
  return first;
}

/// Whether what the copy reads in the next iteration is prefetched.
bool isPrefetched(CopyOp copy, GemmOp product) {
  auto slice = copy.getSource().getDefiningOp<SliceOp>();
  MemRefType type = copy.getSource().getType();
  if (!slice || slice->getParentRegion() != copy->getParentRegion() || !type.hasStaticShape() ||
      type.getRank() == 0 || getSpace(type) != Space::Global ||
      getSpace(copy.getDest()) == Space::Global)
    return false;
  StaticView view = StaticView::get(copy.getSource(), copy);
  int64_t bytes = type.getNumElements() * getStorageBytes(type.getElementType());
  return bytes <= kMaxPrefetchedBytes && (product || !view.isReadAhead()) &&
         view.isContiguousAlong(view.getRank() - 1);
}

/// Plans the copies that stand directly in a loop.
void planLoop(PipelinedOp loop, PlanIds &ids) {
  Value variable = loop.getInductionVar(), next;
  for (CopyOp copy : llvm::make_early_inc_range(loop.getBody().getOps<CopyOp>())) {
    GemmOp product = findProduct(copy);
    if (!isPrefetched(copy, product))
      continue;
    auto slice = copy.getSource().getDefiningOp<SliceOp>();
    std::optional<SmallVector<Operation *>> arithmetic =
        collectArithmetic(slice, &loop.getBody(), variable);
    if (!arithmetic || llvm::is_contained(*arithmetic, slice.getSource().getDefiningOp()))
      continue;
    ImplicitLocOpBuilder b(copy.getLoc(), copy);
    if (!next) {
      ImplicitLocOpBuilder start(loop.getLoc(), loop.getContext());
      start.setInsertionPointToStart(&loop.getBody().front());
      Value one = arith::ConstantIndexOp::create(start, 1);
      Value last = arith::SubIOp::create(start, loop.getUpper(), one);
      next = arith::MinSIOp::create(start, arith::AddIOp::create(start, variable, one), last);
    }
    IRMapping mapping;
    mapping.map(variable, next);
    Operation *again = nullptr;
    for (Operation *op : *arithmetic)
      again = b.clone(*op, mapping);
    int64_t id = ids.take();
    setPlanNumber(again, kPlanIdAttr, id);
    addPrefetch(product ? product.getOperation() : copy.getOperation(), id);
    if (product)
      copy->setAttr(kPrefetchedAttr, UnitAttr::get(copy.getContext()));
    InFlightDiagnostic remark = copy.emitRemark("the next iteration's part of '")
                                << getName(copy.getSource()) << "' is prefetched "
                                << (product ? "during the gemm that reads it" : "after the copy");
    describeRemark(remark, "prefetch", getName(copy.getSource()));
  }
}

//===----------------------------------------------------------------------------------------===//
// What accumulators are added to
//===----------------------------------------------------------------------------------------===//

/// Lets the gemm prefetch the part of a tensor to which its accumulator is added after it, in the
/// same iteration.
void planUpdated(GemmOp gemm, PlanIds &ids) {
  for (Operation *user : gemm.getC().getUsers()) {
    auto update = dyn_cast<AtomicOp>(user);
    if (!update || update.getValue() != gemm.getC() || update->getBlock() != gemm->getBlock() ||
        !gemm->isBeforeInBlock(update))
      continue;
    auto type = cast<MemRefType>(update.getDest().getType());
    if (type.getRank() != 2 || !type.hasStaticShape() || getSpace(type) != Space::Global ||
        !StaticView::get(update.getDest(), gemm).isWhole() || !hoistBefore(update.getDest(), gemm))
      continue;
    addPrefetch(gemm, nameMatrix(update.getDest(), {0, 1}, gemm, ids));
    InFlightDiagnostic remark = gemm.emitRemark("prefetches the part of '")
                                << getName(update.getDest()) << "' that its result is added to";
    describeRemark(remark, "prefetch", getName(update.getDest()));
    return;
  }
}

struct PlanCpuPrefetchesPass : tilewright::impl::PlanCpuPrefetchesBase<PlanCpuPrefetchesPass> {
  void runOnOperation() override {
    PlanIds ids(getOperation());
    SmallVector<PipelinedOp> loops;
    getOperation()->walk([&](PipelinedOp loop) {
      if (loop->getParentOfType<KernelOp>() && !hasOneIteration(loop))
        loops.push_back(loop);
    });
    for (PipelinedOp loop : loops)
      planLoop(loop, ids);
    SmallVector<GemmOp> gemms; // planning one moves ops before it
    getOperation()->walk([&](GemmOp gemm) {
      if (gemm->getParentOfType<KernelOp>() && hasStaticShapes(gemm))
        gemms.push_back(gemm);
    });
    for (GemmOp gemm : gemms)
      planUpdated(gemm, ids);
  }
};

} // namespace
