//===- OldValues.cpp - who reads what a tile held before a point -----------------------------===//

#include "tilewright/Tile/OldValues.h"
#include "tilewright/Tile/Effects.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tilewright::tile {

/// Whether a loop over all of `root` stores each element, whatever happens.
static bool storesAll(ParallelOp loop, Value root) {
  auto shape = cast<MemRefType>(root.getType()).getShape();
  return llvm::any_of(loop.getBody().getOps<StoreOp>(), [&](StoreOp store) {
    return store.getBuffer() == root &&
           llvm::equal(store.getIndices(), loop.getBody().getArguments()) &&
           llvm::equal(loop.getStaticExtents(), shape);
  });
}

/// Whether a statement writes all of `root` without a look at it.
static bool writesAll(Operation *op, Value root) {
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
static bool mayReadOld(Block::iterator first, Block::iterator end, Value root, bool &isWritten) {
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

bool mayReadAcross(Operation *point, Value root) {
  Block &block = *point->getBlock();
  auto before = llvm::make_range(block.begin(), point->getIterator());
  bool isWritten = false;
  return llvm::any_of(before, [&](Operation &op) { return mayWrite(&op, root); }) &&
         mayReadOld(std::next(point->getIterator()), block.end(), root, isWritten);
}

} // namespace tilewright::tile
