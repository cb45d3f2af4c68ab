//===- MoveUses.cpp - one statement works on a copy of a fragment ----------------------------===//

#include "MoveUses.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright {

/// `to[…] = from[…]`, over buffers of one shape.
static ParallelOp makeCopy(ImplicitLocOpBuilder &b, Value from, Value to) {
  OpBuilder::InsertionGuard guard(b);
  auto type = cast<MemRefType>(from.getType());
  SmallVector<OpFoldResult> extents;
  for (int64_t extent : type.getShape())
    extents.push_back(b.getIndexAttr(extent));
  auto loop = ParallelOp::create(b, extents);
  b.setInsertionPointToStart(&loop.getBody().front());
  Value value = LoadOp::create(b, getScalarType(type.getElementType()), from, loop.getIterators());
  StoreOp::create(b, value, to, loop.getIterators());
  return loop;
}

/// The same part of `copy` that `buffer` is of its root.
static Value rebase(OpBuilder &b, Value buffer, Value root, Value copy) {
  if (buffer == root)
    return copy;
  Operation *view = buffer.getDefiningOp();
  Value source = rebase(b, getViewSource(buffer), root, copy);
  Operation *clone = b.clone(*view);
  clone->replaceUsesOfWith(getViewSource(buffer), source);
  auto type = cast<MemRefType>(buffer.getType());
  clone->getResult(0).setType(
      makeBufferType(type.getShape(), type.getElementType(), getSpace(copy)));
  return clone->getResult(0);
}

/// Whether a statement overwrites all of a buffer without reading it.
static bool overwrites(Operation *statement, AllocOp fragment) {
  Value root = fragment.getBuffer();
  if (mayRead(statement, root))
    return false;
  if (auto scan = dyn_cast<CumsumOp>(statement))
    return scan.getDest() == root;
  auto loop = dyn_cast<ParallelOp>(statement);
  if (!loop)
    return false;
  for (auto store : loop.getBody().front().getOps<StoreOp>()) {
    SmallVector<OpFoldResult> extents = loop.getMixedExtents();
    ArrayRef<int64_t> shape = fragment.getBuffer().getType().getShape();
    bool isWhole = store.getBuffer() == root && extents.size() == shape.size();
    for (size_t dim = 0; isWhole && dim < shape.size(); ++dim)
      isWhole = store.getIndices()[dim] == loop.getIterators()[dim] &&
                getConstantIntValue(extents[dim]) == shape[dim];
    if (isWhole)
      return true;
  }
  return false;
}

MovedUse moveUse(Operation *statement, AllocOp fragment, Space space) {
  ImplicitLocOpBuilder b(statement->getLoc(), statement);
  Value root = fragment.getBuffer();
  MemRefType type = fragment.getBuffer().getType();
  bool isWritten = mayWrite(statement, root), isFilled = !overwrites(statement, fragment);
  MovedUse moved;
  moved.copy = AllocOp::create(b, makeBufferType(type.getShape(), type.getElementType(), space),
                               fragment.getNameAttr(), ValueRange(), ReduceKindAttr());
  Value copy = moved.copy.getBuffer();
  if (isFilled)
    moved.fill = makeCopy(b, root, copy);
  llvm::SmallVector<Operation *> views;
  statement->walk([&](Operation *op) {
    if (isa<SliceOp, ViewOp>(op))
      return;
    for (OpOperand &operand : op->getOpOperands()) {
      Value buffer = operand.get();
      if (!isa<MemRefType>(buffer.getType()) || getRoot(buffer) != root)
        continue;
      OpBuilder at(op);
      operand.set(rebase(at, buffer, root, copy));
      if (Operation *view = buffer.getDefiningOp(); view != fragment && view->use_empty())
        views.push_back(view);
    }
  });
  while (!views.empty()) {
    Operation *view = views.pop_back_val(), *source = view->getOperand(0).getDefiningOp();
    view->erase();
    if (source != fragment && source->use_empty())
      views.push_back(source);
  }
  if (isWritten) {
    b.setInsertionPointAfter(statement);
    moved.bringBack = makeCopy(b, copy, root);
  }
  return moved;
}

MovedUse moveAccumulator(GemmOp gemm) {
  ImplicitLocOpBuilder b(gemm.getLoc(), gemm);
  Value old = gemm.getC();
  MemRefType type = gemm.getC().getType();
  MovedUse moved;
  moved.copy =
      AllocOp::create(b, makeBufferType(type.getShape(), type.getElementType(), Space::Fragment),
                      b.getStringAttr(getName(getRoot(old))), ValueRange(), ReduceKindAttr());
  bool isCleared = gemm.getClear() && matchPattern(gemm.getClear(), m_One());
  if (!isCleared)
    moved.fill = makeCopy(b, old, moved.copy.getBuffer());
  gemm.getCMutable().assign(moved.copy.getBuffer());
  b.setInsertionPointAfter(gemm);
  moved.bringBack = makeCopy(b, moved.copy.getBuffer(), old);
  return moved;
}

} // namespace tilewright
