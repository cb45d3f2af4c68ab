//===- GridSync.cpp - a kernel whose blocks meet becomes several launches --------------------===//
//
// Launches follow one another, so all blocks of the first are through when the second begins:
//
//   tile.kernel (%b) in (%n) {              tile.kernel (%b) in (%n) { first }
//     first                           ──▶   tile.kernel (%b) in (%n) { second }
//     tile.hint "sync_grid"
//     second
//   }
//
// No engine has to keep the blocks of a grid alive at once, and a grid may be of any size. What the
// second part needs of the first is computed again: numbers, views, notes and reads of tensors that
// the kernel does not write. A tile is another one in each launch. One that the second part may
// read before it has written all of it spends the time between in global memory (KeepTiles.cpp).
//
//===----------------------------------------------------------------------------------------===//

#include "GridSync.h"

#include "KeepTiles.h"
#include "ThreadFacts.h"
#include "tilewright/Tile/Effects.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::frontend {

namespace {

HintOp findSync(KernelOp kernel) {
  for (auto hint : kernel.getBody().getOps<HintOp>())
    if (hint.getName() == kGridSync)
      return hint;
  return {};
}

/// Whether a loop over all of `root` stores each element, whatever happens.
bool storesAll(ParallelOp loop, Value root) {
  auto shape = cast<MemRefType>(root.getType()).getShape();
  return llvm::any_of(loop.getBody().getOps<StoreOp>(), [&](StoreOp store) {
    return store.getBuffer() == root &&
           llvm::equal(store.getIndices(), loop.getBody().getArguments()) &&
           llvm::equal(loop.getStaticExtents(), shape);
  });
}

/// Whether a statement writes all of `root` without a look at it.
bool writesAll(Operation *op, Value root) {
  if (auto fill = dyn_cast<FillOp>(op))
    return fill.getDest() == root;
  if (auto copy = dyn_cast<CopyOp>(op))
    return copy.getDest() == root && getRoot(copy.getSource()) != root;
  if (auto gemm = dyn_cast<GemmOp>(op))
    return gemm.getC() == root && gemm.getClear() && matchPattern(gemm.getClear(), m_One());
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return reduce.getDest() == root && reduce.getClear() && getRoot(reduce.getSource()) != root;
  if (auto store = dyn_cast<StoreOp>(op))
    return store.getBuffer() == root && store.getIndices().empty();
  auto loop = dyn_cast<ParallelOp>(op);
  return loop && storesAll(loop, root) && !mayRead(op, root);
}

/// Whether statements from `first` on may read what `root` held before; `isWritten` where all of it
/// has been written since.
bool mayReadOld(Block::iterator first, Block::iterator end, Value root, bool &isWritten) {
  for (Operation &op : llvm::make_range(first, end)) {
    if (isWritten)
      return false;
    if (writesAll(&op, root)) {
      isWritten = true;
      continue;
    }
    for (Region &region : op.getRegions()) {
      bool isWrittenInside = false; // the region may not run
      for (Block &block : region)
        if (mayReadOld(block.begin(), block.end(), root, isWrittenInside))
          return true;
    }
    if (op.getNumRegions() == 0 && mayRead(&op, root))
      return true;
  }
  return false;
}

/// What of the part in front of `sync` cannot be done in the second part with the same result.
llvm::SetVector<Operation *> findUnrepeatable(KernelOp kernel, HintOp sync) {
  auto isRepeatable = [&](Operation *op) {
    if (auto load = dyn_cast<LoadOp>(op)) {
      Value root = getRoot(load.getBuffer());
      return getSpace(root) == Space::Global && !mayWrite(kernel, root);
    }
    return isPureScalar(op) ||
           isa<AllocOp, AnnotateLayoutOp, AnnotateSafeValueOp, UseSwizzleOp>(op) ||
           (isa<HintOp>(op) && op != sync);
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

LogicalResult keepTiles(KernelOp kernel, HintOp sync) {
  Block &body = kernel.getBody().front();
  for (auto alloc : llvm::to_vector(body.getOps<AllocOp>())) {
    auto before = llvm::make_range(body.begin(), sync->getIterator());
    Value tile = alloc.getBuffer();
    bool isWritten = false;
    if (!alloc->isBeforeInBlock(sync) ||
        llvm::none_of(before, [&](Operation &op) { return mayWrite(&op, tile); }) ||
        !mayReadOld(std::next(sync->getIterator()), body.end(), tile, isWritten))
      continue;
    if (canKeep(alloc)) {
      keepTile(kernel, sync, alloc);
      continue;
    }
    auto error = sync.emitError("'T.sync_grid' ends the blocks, but '")
                 << alloc.getName()
                 << "' may be read after it with values from before; store them in a global tensor "
                    "and read them from there";
    error.attachNote(alloc.getLoc()) << "'" << alloc.getName() << "' is allocated here";
    return error;
  }
  return success();
}

/// Makes what stands behind `sync` a kernel of its own, and gives it.
FailureOr<KernelOp> splitAt(KernelOp kernel, HintOp sync) {
  if (failed(keepTiles(kernel, sync)))
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
  SmallVector<Operation *> behind;
  for (Operation *op = sync; !op->hasTrait<OpTrait::IsTerminator>(); op = op->getNextNode())
    behind.push_back(op);
  for (Operation *op : llvm::reverse(behind))
    op->erase();
  return second;
}

} // namespace

LogicalResult splitAtGridSyncs(func::FuncOp function) {
  for (KernelOp kernel : llvm::to_vector(function.getOps<KernelOp>()))
    while (HintOp sync = findSync(kernel)) {
      FailureOr<KernelOp> second = splitAt(kernel, sync);
      if (failed(second))
        return failure();
      kernel = *second;
    }
  return success();
}

} // namespace tilewright::frontend
