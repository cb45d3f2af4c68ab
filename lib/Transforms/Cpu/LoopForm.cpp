//===- LoopForm.cpp - a statement beside the loop that does the same --------------------------===//

#include "LoopForm.h"
#include "tilewright/Transforms/ExpandStatements.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

/// Whether corresponding dimensions of both sides of a copy are those that are written as one loop.
static bool haveSameShape(Value lhs, Value rhs) {
  auto left = cast<MemRefType>(lhs.getType()), right = cast<MemRefType>(rhs.getType());
  if (!left.hasStaticShape() || !right.hasStaticShape())
    return false;
  return left.getRank() == right.getRank()
             ? left.getShape() == right.getShape()
             : dropUnitExtents(left.getShape()) == dropUnitExtents(right.getShape());
}

static bool isPreparedCopy(CopyOp copy) {
  if (getSpace(copy.getSource()) != Space::Global)
    return false;
  return isa<PipelinedOp>(copy->getParentOp()) ||
         llvm::any_of(getRoot(copy.getDest()).getUsers(),
                      [](Operation *user) { return isa<GemmOp>(user); });
}

std::optional<LoopForm> tilewright::describeLoop(Operation *statement, ParallelOp loop) {
  LoopForm form;
  form.statement = statement;
  form.loop = loop;
  auto extents = getConstantIntValues(loop.getMixedExtents());
  auto accesses = analysis::getPlainAccesses(loop);
  if (!extents || !accesses) {
    form.discard();
    return std::nullopt;
  }
  form.accesses.assign(accesses->begin(), accesses->end());
  for (auto [extent, iterator] : llvm::zip_equal(*extents, loop.getIterators()))
    if (extent != 1) {
      form.extents.push_back(extent);
      form.iterators.push_back(iterator);
    }
  return form;
}

std::optional<LoopForm> tilewright::writeLoopForm(Operation *statement) {
  if (auto loop = dyn_cast<ParallelOp>(statement))
    return describeLoop(statement, loop);
  auto copy = dyn_cast<CopyOp>(statement);
  bool isCopy = copy && haveSameShape(copy.getSource(), copy.getDest()) && !isPreparedCopy(copy) &&
                getRoot(copy.getSource()) != getRoot(copy.getDest());
  auto fill = dyn_cast<FillOp>(statement);
  bool isFill = fill && fill.getDest().getType().hasStaticShape();
  if (!isCopy && !isFill && !isa<FinalizeReducerOp>(statement))
    return std::nullopt;
  return describeLoop(statement, writeAsLoop(statement));
}

bool tilewright::isTransparent(Operation &op) {
  return isPure(&op) ||
         isa<AllocOp, AnnotateLayoutOp, AnnotateSafeValueOp, UseSwizzleOp, HintOp>(op);
}

SmallVector<Block *> tilewright::getStatementBlocks(Operation *function) {
  SmallVector<Block *> blocks;
  function->walk([&](Operation *op) {
    bool isInKernel = isa<KernelOp>(op) || op->getParentOfType<KernelOp>();
    if (isInKernel && !isa<ParallelOp>(op) && !op->getParentOfType<ParallelOp>())
      for (Region &region : op->getRegions())
        for (Block &block : region)
          blocks.push_back(&block);
  });
  return blocks;
}
