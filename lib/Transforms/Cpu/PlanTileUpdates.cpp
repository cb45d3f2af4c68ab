//===- PlanTileUpdates.cpp - which tensors are updated under locks of rows --------------------===//
//
// A tensor that a kernel touches in no other way than by relaxed updates of whole tiles needs no
// atomic instructions: a row (all of the last dimension) is updated under a lock by plain,
// vectorised code. That is right because every access to an element goes through the same lock,
// that of its logical row, wherever a layout puts it.
//
//   tile.atomic add %t, %part order relaxed    ──▶    tile.atomic … {tile.locks_rows}
//
// Expects: tile IR that passed its verifier; arguments that are written share no memory with others.
// Leaves: the same program, with attributes.
//===----------------------------------------------------------------------------------------===//

#include "tilewright/Tile/CpuPlan.h"
#include "tilewright/Tile/Remarks.h"
#include "tilewright/Transforms/Passes.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace tilewright {
#define GEN_PASS_DEF_PLANCPUUPDATES
#include "tilewright/Transforms/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

namespace {

/// Whether a statement updates rows of `root` that a lock can guard: parts of the tensor itself
/// with the last dimension in them, from a tile of constant extents.
bool updatesRows(AtomicOp op, Value root) {
  auto slice = op.getDest().getDefiningOp<SliceOp>();
  Value whole = slice ? Value(slice.getSource()) : op.getDest();
  auto type = cast<MemRefType>(op.getDest().getType());
  int64_t rootRank = cast<MemRefType>(root.getType()).getRank();
  if (whole != root || type.getRank() == 0 || type.getShape().back() == 1 ||
      op.getOrder() != MemoryOrder::Relaxed)
    return false;
  auto isOne = [](OpFoldResult step) { return getConstantIntValue(step) == 1; };
  if (slice && (llvm::is_contained(slice.getDropped(), rootRank - 1) ||
                !llvm::all_of(slice.getMixedSteps(), isOne)))
    return false;
  auto source = dyn_cast<MemRefType>(op.getValue().getType());
  return !source || (source.hasStaticShape() && source.getShape().back() != 1 &&
                     getRoot(op.getValue()) != root);
}

/// Whether all that the kernel does with the tensor are such updates.
bool isOnlyUpdated(Value root, KernelOp kernel) {
  auto isRoot = [&](Value value) {
    return isa<MemRefType>(value.getType()) && getRoot(value) == root;
  };
  return !kernel
              .walk([&](Operation *op) {
                if (llvm::none_of(op->getOperands(), isRoot) ||
                    isa<SliceOp, AnnotateLayoutOp, AnnotateSafeValueOp, HintOp>(op))
                  return WalkResult::advance();
                auto atomic = dyn_cast<AtomicOp>(op);
                return atomic && updatesRows(atomic, root) ? WalkResult::advance()
                                                           : WalkResult::interrupt();
              })
              .wasInterrupted();
}

struct PlanCpuUpdatesPass : tilewright::impl::PlanCpuUpdatesBase<PlanCpuUpdatesPass> {
  using Base::Base;

  void runOnOperation() override {
    if (!disjoint)
      return;
    getOperation()->walk([&](AtomicOp op) {
      auto kernel = op->getParentOfType<KernelOp>();
      Value root = getRoot(op.getDest());
      if (!kernel || getSpace(op.getDest()) != Space::Global || !isOnlyUpdated(root, kernel))
        return;
      op->setAttr(kLocksRowsAttr, UnitAttr::get(op.getContext()));
      InFlightDiagnostic remark = op.emitRemark("'") << tile::getName(op.getDest())
                                                     << "' is updated row by row under locks";
      describeRemark(remark, "update", tile::getName(op.getDest()));
    });
  }
};

} // namespace
