//===- PlanPrefetches.cpp - what will be copied and updated soon ------------------------------===//
//
// A tile that comes from a tensor is read row by row, each row on other pages, which the hardware's
// prefetchers do not foresee. What a copy into a tile that stands directly in a pipelined loop reads
// is therefore prefetched not long before: by the gemm before it, or in the previous iteration by the
// last gemm. (Rows a power of two apart share few places in the second cache, so that what is
// prefetched a whole iteration earlier may be gone again.) A gemm does so on its way, a line with each
// step along k: a burst of prefetches would wait like the loads it is to spare. Without a gemm that
// reads the tile they follow the copy, except for tiles whose rows follow each other in memory: those,
// and large ones, are read ahead while they are copied. A gemm also prefetches the region that its
// accumulator will be added to.
//
//   tile.pipelined %k = … to %n {           tile.pipelined %k = … to %n {
//     %s = tile.slice %A[…%k…]                %next = min(%k + 1, %n - 1)
//     tile.copy %s, %a                 ──▶    %t = tile.slice %A[…%next…] {tile.id = 0}
//     tile.gemm %a, %b, %c                    tile.copy %s, %a {tile.prefetched}
//   }                                         tile.gemm %a, %b, %c {tile.prefetches = [0]}
//                                           }
//
// In the last iteration `%next` is the last value again, so that the slice is always one that the
// program itself reads, and prefetches nothing new. There the last gemm also prefetches what comes
// after the loop (`tile.prefetches_at_end`): what the next block copies before its own loop, which is
// that of the next block number, and the parts of tensors that are written after the loop.
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

/// The number after `number`, or the last one before `end`.
Value getNext(ImplicitLocOpBuilder &b, Value number, Value end) {
  Value one = arith::ConstantIndexOp::create(b, 1);
  Value last = arith::SubIOp::create(b, end, one);
  return arith::MinSIOp::create(b, arith::AddIOp::create(b, number, one), last);
}

/// Computes again what `arithmetic` does, with `next` for the changing value. The number of the result's plan.
int64_t computeAgain(ImplicitLocOpBuilder &b, ArrayRef<Operation *> arithmetic, Value changing,
                     Value next, PlanIds &ids) {
  IRMapping mapping;
  mapping.map(changing, next);
  Operation *again = nullptr;
  for (Operation *op : arithmetic)
    again = b.clone(*op, mapping);
  int64_t id = ids.take();
  setPlanNumber(again, kPlanIdAttr, id);
  return id;
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

/// Whether what the copy reads is worth prefetching, if a product does so or not.
bool isPrefetched(CopyOp copy, bool byProduct) {
  auto slice = copy.getSource().getDefiningOp<SliceOp>();
  MemRefType type = copy.getSource().getType();
  if (!slice || slice->getParentRegion() != copy->getParentRegion() || !type.hasStaticShape() ||
      type.getRank() == 0 || getSpace(type) != Space::Global ||
      getSpace(copy.getDest()) == Space::Global)
    return false;
  StaticView view = StaticView::get(copy.getSource(), copy);
  int64_t bytes = type.getNumElements() * getStorageBytes(type.getElementType());
  return bytes <= kMaxPrefetchedBytes && (byProduct || !view.isReadAhead()) &&
         view.isContiguousAlong(view.getRank() - 1);
}

void remarkPrefetched(CopyOp copy, StringRef what, StringRef when) {
  InFlightDiagnostic remark = copy.emitRemark(what)
                              << getName(copy.getSource()) << "' is prefetched " << when;
  describeRemark(remark, "prefetch", getName(copy.getSource()));
}

/// Lets the product before the copy prefetch what the copy reads; false if there is none.
bool planBefore(CopyOp copy, PlanIds &ids) {
  GemmOp product;
  for (GemmOp gemm : copy->getBlock()->getOps<GemmOp>())
    if (gemm->isBeforeInBlock(copy))
      product = gemm;
  auto slice = copy.getSource().getDefiningOp<SliceOp>();
  if (!product || !hoistBefore(slice, product))
    return false;
  std::optional<int64_t> id = getPlanNumber(slice, kPlanIdAttr);
  if (!id)
    setPlanNumber(slice, kPlanIdAttr, *(id = ids.take()));
  addPrefetch(product, *id);
  copy->setAttr(kPrefetchedAttr, UnitAttr::get(copy.getContext()));
  remarkPrefetched(copy, "this part of '", "during the gemm before");
  return true;
}

/// Plans the copies that stand directly in a loop.
void planLoop(PipelinedOp loop, PlanIds &ids) {
  Value variable = loop.getInductionVar(), next;
  for (CopyOp copy : llvm::make_early_inc_range(loop.getBody().getOps<CopyOp>())) {
    GemmOp reader = findProduct(copy), product;
    if (!isPrefetched(copy, bool(reader)) || (reader && planBefore(copy, ids)))
      continue;
    if (reader)
      for (GemmOp gemm : copy->getBlock()->getOps<GemmOp>())
        product = gemm; // the last one
    auto slice = copy.getSource().getDefiningOp<SliceOp>();
    std::optional<SmallVector<Operation *>> arithmetic =
        collectArithmetic(slice, &loop.getBody(), variable);
    if (!arithmetic || llvm::is_contained(*arithmetic, slice.getSource().getDefiningOp()))
      continue;
    ImplicitLocOpBuilder b(copy.getLoc(), copy);
    if (!next) {
      ImplicitLocOpBuilder start(loop.getLoc(), loop.getContext());
      start.setInsertionPointToStart(&loop.getBody().front());
      next = getNext(start, variable, loop.getUpper());
    }
    int64_t id = computeAgain(b, *arithmetic, variable, next, ids);
    addPrefetch(product ? product.getOperation() : copy.getOperation(), id);
    if (product)
      copy->setAttr(kPrefetchedAttr, UnitAttr::get(copy.getContext()));
    remarkPrefetched(copy, "the next iteration's part of '",
                     !product            ? "after the copy"
                     : product == reader ? "during the gemm that reads it"
                                         : "during the last gemm");
  }
}

//===----------------------------------------------------------------------------------------===//
// Before the first and after the last iteration
//===----------------------------------------------------------------------------------------===//

/// Whether the part of a tensor is worth prefetching as a whole.
bool isSmallMatrix(Value part) {
  auto slice = part.getDefiningOp<SliceOp>();
  auto type = cast<MemRefType>(part.getType());
  if (!slice || getSpace(type) != Space::Global || !type.hasStaticShape() || type.getRank() != 2)
    return false;
  int64_t bytes = type.getNumElements() * getStorageBytes(type.getElementType());
  StaticView view = StaticView::get(part, slice);
  return bytes <= kMaxPrefetchedBytes && view.isWhole();
}

/// What the next block of the same worker copies before the loop: the same part, with the next block
/// number. The last block of a row of the grid prefetches what it has read itself.
void planNextBlock(PipelinedOp loop, GemmOp product, PlanIds &ids) {
  auto kernel = cast<KernelOp>(loop->getParentOp());
  if (kernel.getBlockIds().empty())
    return;
  Value block = kernel.getBlockIds()[0], next;
  for (CopyOp copy : llvm::make_early_inc_range(loop->getBlock()->getOps<CopyOp>())) {
    if (!copy->isBeforeInBlock(loop) || copy->hasAttr(kKeptAttr) ||
        !isSmallMatrix(copy.getSource()))
      continue;
    auto slice = copy.getSource().getDefiningOp<SliceOp>();
    std::optional<SmallVector<Operation *>> arithmetic =
        collectArithmetic(slice, &kernel.getBody(), block);
    if (!arithmetic || slice.getSource().getDefiningOp())
      continue;
    ImplicitLocOpBuilder b(copy.getLoc(), loop);
    if (!next)
      next = getNext(b, block, kernel.getGrid()[0]);
    int64_t id = computeAgain(b, *arithmetic, block, next, ids);
    addPrefetchAtEnd(product, id);
    remarkPrefetched(copy, "the next block's part of '", "during the last gemm of this one");
  }
}

/// What is written after the loop, other than by the product itself (PlanAccumulators.cpp).
void planResults(PipelinedOp loop, GemmOp product, PlanIds &ids) {
  SmallVector<Value> results;
  for (Operation *op = loop->getNextNode(); op; op = op->getNextNode()) {
    if (auto copy = dyn_cast<CopyOp>(op); copy && copy.getSource() != product.getC())
      results.push_back(copy.getDest());
    if (auto atomic = dyn_cast<AtomicOp>(op))
      results.push_back(atomic.getDest());
    if (auto parallel = dyn_cast<ParallelOp>(op))
      for (StoreOp store : parallel.getBody().getOps<StoreOp>())
        results.push_back(store.getBuffer());
  }
  llvm::SmallDenseSet<Value> seen;
  for (Value result : results) {
    if (!seen.insert(result).second || !isSmallMatrix(result) ||
        getStorageBytes(cast<MemRefType>(getRoot(result).getType())).value_or(0) >=
            kStreamedTensorBytes ||
        !hoistBefore(result, loop))
      continue;
    addPrefetchAtEnd(product, nameMatrix(result, {0, 1}, loop, ids));
    InFlightDiagnostic remark = product.emitRemark("prefetches the part of '")
                                << getName(result) << "' that is written after the loop";
    describeRemark(remark, "prefetch", getName(result));
  }
}

/// Lets the last product of a loop prefetch, in the last iteration, what comes after the loop.
void planEnd(PipelinedOp loop, PlanIds &ids) {
  GemmOp product;
  for (GemmOp gemm : loop.getBody().getOps<GemmOp>())
    if (hasStaticShapes(gemm))
      product = gemm;
  if (!product || !isa<KernelOp>(loop->getParentOp()))
    return;
  planNextBlock(loop, product, ids);
  planResults(loop, product, ids);
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
    for (PipelinedOp loop : loops) {
      planLoop(loop, ids);
      planEnd(loop, ids);
    }
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
