//===- SplitGrid.cpp - a kernel whose blocks meet becomes several launches -------------------===//
//
// Launches follow one another, so all blocks of the first are through when the second begins:
//
//   tile.kernel (%b) in (%n) {              tile.kernel (%b) in (%n) { first }
//     first                           ──▶   tile.kernel (%b) in (%n) { second }
//     tile.grid_sync
//     second
//   }
//
// No engine has to keep the blocks of a grid alive at once, and a grid may be of any size. What the
// second part needs of the first is computed again: numbers, views, notes and reads of tensors that
// the kernel does not write. A tile is another one in each launch. One that the second part may
// read before it has written all of it would have to keep its values, and is an error;
// tile-keep-tiles has saved what can be saved.
//
//===----------------------------------------------------------------------------------------===//

#include "ThreadFacts.h"
#include "tilewright/Threads/Passes.h"
#include "tilewright/Tile/Effects.h"
#include "tilewright/Tile/OldValues.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

namespace tilewright {
#define GEN_PASS_DEF_SPLITGRID
#include "tilewright/Threads/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::threads {

namespace {

GridSyncOp findSync(KernelOp kernel) {
  auto syncs = kernel.getBody().getOps<GridSyncOp>();
  return syncs.empty() ? GridSyncOp() : *syncs.begin();
}

/// What of the part in front of `sync` cannot be done in the second part with the same result.
llvm::SetVector<Operation *> findUnrepeatable(KernelOp kernel, GridSyncOp sync) {
  auto isRepeatable = [&](Operation *op) {
    if (auto load = dyn_cast<LoadOp>(op)) {
      Value root = getRoot(load.getBuffer());
      return getSpace(root) == Space::Global && !mayWrite(kernel, root);
    }
    return isPureScalar(op) ||
           isa<AllocOp, AnnotateLayoutOp, AnnotateSafeValueOp, UseSwizzleOp, HintOp>(op);
  };
  llvm::SetVector<Operation *> found;
  Block &body = kernel.getBody().front();
  for (Operation &op : llvm::make_range(body.begin(), std::next(sync->getIterator()))) {
    bool usesFound = op.walk([&](Operation *inner) {
                         return llvm::any_of(inner->getOperands(),
                                             [&](Value operand) {
                                               return found.contains(operand.getDefiningOp());
                                             })
                                    ? WalkResult::interrupt()
                                    : WalkResult::advance();
                       }).wasInterrupted();
    if (usesFound || !isRepeatable(&op))
      found.insert(&op);
  }
  return found;
}

/// Reports a tile that would have to keep its values.
LogicalResult refuseTile(GridSyncOp sync, Value tile) {
  auto error = sync.emitError("'T.sync_grid' ends the blocks, but '")
               << getName(tile)
               << "' may be read after it with values from before; store them in a global tensor "
                  "and read them from there";
  error.attachNote(tile.getLoc()) << "'" << getName(tile) << "' is allocated here";
  return error;
}

/// Refuses barriers that are used on both sides: their counts would have to stay.
LogicalResult checkBarriers(KernelOp kernel, GridSyncOp sync) {
  Block &body = kernel.getBody().front();
  for (auto alloc : body.getOps<BarrierAllocOp>())
    if (alloc->isBeforeInBlock(sync))
      for (Operation *user : alloc->getUsers())
        if (sync->isBeforeInBlock(body.findAncestorOpInBlock(*user)))
          return refuseTile(sync, alloc.getBarriers());
  return success();
}

LogicalResult checkTiles(KernelOp kernel, GridSyncOp sync) {
  for (auto alloc : kernel.getBody().front().getOps<AllocOp>())
    if (alloc->isBeforeInBlock(sync) && mayReadAcross(sync, alloc.getBuffer()))
      return refuseTile(sync, alloc.getBuffer());
  return success();
}

/// Makes what stands after `sync` a kernel of its own, and gives it.
FailureOr<KernelOp> splitAt(KernelOp kernel, GridSyncOp sync) {
  if (failed(checkTiles(kernel, sync)) || failed(checkBarriers(kernel, sync)))
    return failure();
  Block &body = kernel.getBody().front();
  llvm::SetVector<Operation *> left = findUnrepeatable(kernel, sync);
  for (Operation *op : left)
    for (Operation *user : op->getUsers())
      if (sync->isBeforeInBlock(body.findAncestorOpInBlock(*user))) {
        auto error = sync.emitError("'T.sync_grid' ends the blocks, but a value from before is "
                                    "used after it; read it again");
        error.attachNote(op->getLoc()) << "it is read here";
        error.attachNote(user->getLoc()) << "and used here";
        return error;
      }
  OpBuilder b(kernel->getContext());
  b.setInsertionPointAfter(kernel);
  IRMapping mapping;
  auto second = cast<KernelOp>(b.clone(*kernel, mapping));
  for (Operation *op : llvm::reverse(left)) // uses before definitions
    mapping.lookup(op)->erase();
  SmallVector<Operation *> following;
  for (Operation *op = sync; !op->hasTrait<OpTrait::IsTerminator>(); op = op->getNextNode())
    following.push_back(op);
  for (Operation *op : llvm::reverse(following))
    op->erase();
  return second;
}

/// Splits a kernel at each point where its blocks meet.
LogicalResult splitAll(KernelOp kernel) {
  while (GridSyncOp sync = findSync(kernel)) {
    FailureOr<KernelOp> second = splitAt(kernel, sync);
    if (failed(second))
      return failure();
    eraseDeadOps(kernel);
    eraseDeadOps(*second);
    kernel = *second;
  }
  return success();
}

struct SplitGridPass : tilewright::impl::SplitGridBase<SplitGridPass> {
  void runOnOperation() override {
    SmallVector<KernelOp> kernels;
    getOperation().walk([&](KernelOp kernel) { kernels.push_back(kernel); });
    for (KernelOp kernel : kernels)
      if (failed(splitAll(kernel)))
        return signalPassFailure();
  }
};

} // namespace

} // namespace tilewright::threads
