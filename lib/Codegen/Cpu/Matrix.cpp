//===- Matrix.cpp - a matrix in memory, as products read it -----------------------------------===//

#include "Matrix.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

Matrix tilewright::cpu::asMatrix(Emitter &e, const View &view) {
  SmallVector<Value> origin =
      e.buffers.toSurface(view, SmallVector<Value>(view.getRank(), e.index(0)));
  auto strideOf = [&](unsigned dim) {
    Value stride = view.steps[dim];
    for (Value extent : ArrayRef(view.surface).drop_front(view.dims[dim] + 1))
      stride = e.mul(stride, extent);
    return stride;
  };
  unsigned rank = view.getRank();
  return {view.root, e.buffers.addressOf(view, origin), strideOf(rank - 2), strideOf(rank - 1)};
}

std::optional<Matrix> tilewright::cpu::getMatrix(Emitter &e, const View &view, Type element) {
  if (view.root->layout || getStorageType(view.elementType) != element ||
      isa<FloatTF32Type>(view.elementType) || !e.buffers.isWhole(view))
    return std::nullopt;
  return asMatrix(e, view);
}

Matrix tilewright::cpu::chooseMatrix(Emitter &e, Value condition, const Matrix &yes,
                                     const Matrix &no) {
  if (std::optional<int64_t> constant = getConstantIntValue(condition))
    return *constant ? yes : no;
  auto choose = [&](Value first, Value second) {
    return e.b.createOrFold<arith::SelectOp>(condition, first, second);
  };
  Root either = *no.root;
  either.ownScope = either.otherScopes = {};
  if (yes.root->ownScope && no.root->ownScope) {
    SmallVector<Attribute> own(no.root->ownScope.begin(), no.root->ownScope.end()), others;
    llvm::append_range(own, yes.root->ownScope);
    for (Attribute other : no.root->otherScopes)
      if (!llvm::is_contained(own, other))
        others.push_back(other);
    either.ownScope = e.b.getArrayAttr(own);
    either.otherScopes = e.b.getArrayAttr(others);
  }
  return {e.buffers.addRoot(std::move(either)), choose(yes.pointer, no.pointer),
          choose(yes.rowStride, no.rowStride), choose(yes.columnStride, no.columnStride)};
}

//===----------------------------------------------------------------------------------------===//
// Vectors
//===----------------------------------------------------------------------------------------===//

Value tilewright::cpu::addressIn(Emitter &e, const Matrix &matrix, Type element, Value row,
                                 Value column) {
  Value offset = e.add(e.mul(row, matrix.rowStride), e.mul(column, matrix.columnStride));
  return e.offsetPointer(matrix.pointer, element, offset);
}

static Value makeMask(ImplicitLocOpBuilder &b, int64_t width, int64_t count) {
  SmallVector<bool> lanes(width, false);
  std::fill_n(lanes.begin(), count, true);
  auto type = VectorType::get({width}, b.getI1Type());
  return arith::ConstantOp::create(b, DenseElementsAttr::get(type, ArrayRef<bool>(lanes)));
}

Value tilewright::cpu::loadVector(Emitter &e, const Matrix &matrix, Type element, int64_t width,
                                  Value row, Value column, int64_t count) {
  auto type = VectorType::get({width}, element);
  Value address = addressIn(e, matrix, element, row, column);
  int64_t alignment = element.getIntOrFloatBitWidth() / 8;
  if (count < 0 || count == width)
    return e.buffers.tagged(LLVM::LoadOp::create(e.b, type, address, alignment), matrix.root);
  Value nothing = isa<FloatType>(element) ? e.numbers.real(type, 0) : e.numbers.integer(type, 0);
  return LLVM::MaskedLoadOp::create(e.b, type, address, makeMask(e.b, width, count), nothing,
                                    alignment);
}

void tilewright::cpu::storeVector(Emitter &e, const Matrix &matrix, Value row, Value column,
                                  Value value, int64_t count) {
  auto type = cast<VectorType>(value.getType());
  Value address = addressIn(e, matrix, type.getElementType(), row, column);
  int64_t alignment = type.getElementType().getIntOrFloatBitWidth() / 8;
  if (count == type.getNumElements())
    e.buffers.tagged(LLVM::StoreOp::create(e.b, value, address, alignment), matrix.root);
  else
    LLVM::MaskedStoreOp::create(e.b, value, address, makeMask(e.b, type.getNumElements(), count),
                                alignment);
}

/// After the stage of distance d, bit d of row and column number have changed places.
void tilewright::cpu::transposeSquare(ImplicitLocOpBuilder &b, MutableArrayRef<Value> rows) {
  int64_t width = rows.size();
  for (int64_t distance = 1; distance < width; distance *= 2) {
    SmallVector<int64_t> lower, upper;
    for (int64_t lane = 0; lane < width; ++lane) {
      bool isOwn = (lane & distance) == 0;
      lower.push_back(isOwn ? lane : width + lane - distance);
      upper.push_back(isOwn ? lane + distance : width + lane);
    }
    for (int64_t row = 0; row < width; ++row) {
      if (row & distance)
        continue;
      Value first = rows[row], second = rows[row + distance];
      rows[row] = vector::ShuffleOp::create(b, first, second, lower);
      rows[row + distance] = vector::ShuffleOp::create(b, first, second, upper);
    }
  }
}
