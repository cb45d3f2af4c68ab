//===- LowerGemm.cpp - matrix products --------------------------------------------------------===//
//
// C += op(A) * op(B), each element a sum over k that is formed in the accumulator type (float32, or
// float64, or integers modulo 2^32 or 2^64) and rounded once to C's element type.
//
// Tiles are small enough for the caches, so there is no blocking beyond registers. A *microkernel*
// keeps a block of C in registers, `rows` x `vectors` of them, and walks k once:
//
//                     B row k:  [ v0 ][ v1 ][ v2 ][ v3 ]
//      A column k:  a0          acc00 acc01 acc02 acc03        acc[i][j] += broadcast(a[i]) * v[j]
//                   a1          acc10 acc11 …
//
// So B must be contiguous along n, while A is read one element at a time and may have any strides.
// LowerOperands.cpp brings operands into that form; where the host has dot products of bfloat16 or
// int8, LowerDots.cpp packs them into words for the same microkernel. Extents that no register
// block divides leave smaller blocks at the edges; the last columns use masked loads and stores.
//
//===----------------------------------------------------------------------------------------===//

#include "Lowering.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

//===----------------------------------------------------------------------------------------===//
// Vectors of a matrix
//===----------------------------------------------------------------------------------------===//

Value Lowering::addressIn(const Matrix &matrix, Type element, Value row, Value column) {
  Value offset = add(mul(row, matrix.rowStride), mul(column, matrix.columnStride));
  return offsetPointer(matrix.pointer, element, offset);
}

static Value makeMask(ImplicitLocOpBuilder &b, int64_t width, int64_t count) {
  SmallVector<bool> lanes(width, false);
  std::fill_n(lanes.begin(), count, true);
  auto type = VectorType::get({width}, b.getI1Type());
  return arith::ConstantOp::create(b, DenseElementsAttr::get(type, ArrayRef<bool>(lanes)));
}

/// `width` elements of a row, from `column` on. Only the first `count` are read.
Value Lowering::loadVector(const Matrix &matrix, Type element, int64_t width, Value row,
                           Value column, int64_t count) {
  auto type = VectorType::get({width}, element);
  Value address = addressIn(matrix, element, row, column);
  int64_t alignment = element.getIntOrFloatBitWidth() / 8;
  if (count < 0 || count == width)
    return tagged(LLVM::LoadOp::create(b, type, address, alignment), matrix.root);
  Value nothing = isa<FloatType>(element) ? numbers.real(type, 0) : numbers.integer(type, 0);
  return LLVM::MaskedLoadOp::create(b, type, address, makeMask(b, width, count), nothing,
                                    alignment);
}

void Lowering::storeVector(const Matrix &matrix, Value row, Value column, Value value,
                           int64_t count) {
  auto type = cast<VectorType>(value.getType());
  Value address = addressIn(matrix, type.getElementType(), row, column);
  int64_t alignment = type.getElementType().getIntOrFloatBitWidth() / 8;
  if (count == type.getNumElements())
    tagged(LLVM::StoreOp::create(b, value, address, alignment), matrix.root);
  else
    LLVM::MaskedStoreOp::create(b, value, address, makeMask(b, type.getNumElements(), count),
                                alignment);
}

//===----------------------------------------------------------------------------------------===//
// The microkernel
//===----------------------------------------------------------------------------------------===//

namespace {
/// A block of C in registers.
struct RegisterBlock {
  int64_t rows;    ///< Elements.
  int64_t columns; ///< Elements; the last vector may be partly used.
  int64_t width;   ///< Elements of a vector.

  int64_t vectors() const { return llvm::divideCeil(columns, width); }
  int64_t used(int64_t vector) const { return std::min(width, columns - vector * width); }
};
} // namespace

/// sum + a * b, element by element; a and b may be words of several products (see Product::Step).
Value Lowering::multiplyAdd(const Product &product, Value left, Value right, Value sum) {
  switch (product.step) {
  case Product::Step::Fma:
    if (isa<FloatType>(product.sumType))
      return vector::FMAOp::create(b, left, right, sum);
    return arith::AddIOp::create(b, sum, arith::MulIOp::create(b, left, right));
  case Product::Step::DotBf16:
    return dotBf16(left, right, sum);
  case Product::Step::DotUnsignedSigned:
    return dotInt8(left, right, sum);
  case Product::Step::DotSignedUnsigned:
    return dotInt8(right, left, sum);
  }
  llvm_unreachable("unknown step");
}

/// One block of C at (row, column), all of k; `number` counts the blocks before it.
void Lowering::multiplyBlock(const Product &product, int64_t rows, int64_t columns, Value row,
                             Value column, Value number) {
  RegisterBlock block{rows, columns, product.width};
  Type element = product.operandType;
  auto columnAt = [&](int64_t vector) { return add(column, index(vector * block.width)); };
  auto loadSum = [&](const Matrix &matrix, Value line, int64_t j) {
    return loadVector(matrix, product.sumType, block.width, line, columnAt(j), block.used(j));
  };
  for (int64_t i = 0; i < rows && product.isFarAway; ++i)
    for (int64_t j = 0; j < block.vectors(); ++j)
      LLVM::Prefetch::create(b,
                             addressIn(product.c, product.sumType, add(row, index(i)), columnAt(j)),
                             /*rw=*/1, /*hint=*/3, /*cache=*/1);
  SmallVector<Value> sums;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < block.vectors(); ++j) {
      if (product.startsAtZero)
        sums.push_back(numbers.real(VectorType::get({block.width}, product.sumType), 0));
      else
        sums.push_back(loadSum(product.source, add(row, index(i)), j));
      if (product.excess) // known beforehand, so that it is taken off at the start
        sums.back() = arith::SubIOp::create(b, sums.back(), loadSum(*product.excess, index(0), j));
    }
  auto step = [&](Value k, ValueRange carried) {
    SmallVector<Value> right, next;
    prefetchLines(product, number, k);
    for (int64_t j = 0; j < block.vectors(); ++j)
      right.push_back(loadVector(product.b, element, block.width, k, columnAt(j),
                                 product.isPadded ? block.width : block.used(j)));
    auto type = VectorType::get({block.width}, element);
    for (int64_t i = 0; i < rows; ++i) {
      Value address = addressIn(product.a, element, add(row, index(i)), k);
      Value left =
          tagged(LLVM::LoadOp::create(b, element, address, product.alignmentA), product.a.root);
      Value spread = vector::BroadcastOp::create(b, type, left);
      for (int64_t j = 0; j < block.vectors(); ++j)
        next.push_back(multiplyAdd(product, spread, right[j], carried[i * block.vectors() + j]));
    }
    return next;
  };
  sums = loopCarrying(index(0), index(product.k), index(1), sums, step);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < block.vectors(); ++j) {
      Value sum = sums[i * block.vectors() + j];
      if (product.startsAtZero)
        sum = arith::AddFOp::create(b, loadSum(product.source, add(row, index(i)), j), sum);
      storeVector(product.c, add(row, index(i)), columnAt(j), sum, block.used(j));
    }
}

/// All blocks of C: whole ones in loops, smaller ones at the lower and right edge.
void Lowering::multiplyMatrices(const Product &product) {
  // 16 registers hold 6 x 2 sums, 32 registers 6 x 4, with B's vectors and one of A beside them.
  int64_t numRegisters = options.vectorWidth >= 16 ? 32 : 16;
  int64_t maxVectors = numRegisters == 32 ? 4 : 2;
  int64_t vectors = std::min(maxVectors, int64_t(llvm::divideCeil(product.n, product.width)));
  int64_t columns = vectors * product.width;
  int64_t rows = std::min<int64_t>((numRegisters - 2) / vectors - 1, 12);
  while (product.isCompact && product.m % rows != 0)
    --rows; // one block for all rows
  auto overRows = [&](Value panel, int64_t blockColumns) {
    int64_t whole = product.m / rows, left = product.m % rows;
    Value column = mul(panel, index(columns));
    Value before = mul(panel, index(llvm::divideCeil(product.m, rows)));
    if (whole)
      loopNest({index(whole)}, /*isParallel=*/false, [&](ArrayRef<Value> variables) {
        multiplyBlock(product, rows, blockColumns, mul(variables[0], index(rows)), column,
                      add(before, variables[0]));
      });
    if (left)
      multiplyBlock(product, left, blockColumns, index(whole * rows), column,
                    add(before, index(whole)));
  };
  int64_t whole = product.n / columns, left = product.n % columns;
  if (whole)
    loopNest({index(whole)}, /*isParallel=*/false,
             [&](ArrayRef<Value> variables) { overRows(variables[0], columns); });
  if (left)
    overRows(index(whole), left);
}

//===----------------------------------------------------------------------------------------===//
// The statement
//===----------------------------------------------------------------------------------------===//

/// Extents that are known only at run time: three plain loops.
void Lowering::multiplyPlainly(tile::GemmOp op, const View &a, const View &bView, const View &c,
                               Type sumType) {
  auto matrixIndex = [&](const View &view, Value row, Value column, bool transposed) {
    SmallVector<Value> result(view.getRank() - 2, index(0));
    result.push_back(transposed ? column : row);
    result.push_back(transposed ? row : column);
    return result;
  };
  auto extent = [&](const View &view, unsigned fromEnd) {
    return view.extents[view.getRank() - fromEnd];
  };
  bool transposeA = op.getTransposeA(), transposeB = op.getTransposeB();
  Value m = requireEqual(extent(c, 2), extent(a, transposeA ? 1 : 2), "'T.gemm'");
  Value n = requireEqual(extent(c, 1), extent(bView, transposeB ? 2 : 1), "'T.gemm'");
  Value k =
      requireEqual(extent(a, transposeA ? 2 : 1), extent(bView, transposeB ? 1 : 2), "'T.gemm'");
  auto read = [&](const View &view, ArrayRef<Value> place) {
    return numbers.convert(load(view, place), view.elementType, sumType);
  };
  loopNest({m, n}, /*isParallel=*/false, [&](ArrayRef<Value> variables) {
    SmallVector<Value> place = matrixIndex(c, variables[0], variables[1], false);
    Value sum = loopCarrying(index(0), k, index(1), read(c, place),
                             [&](Value step, ValueRange carried) -> SmallVector<Value> {
                               Value left = read(a, matrixIndex(a, variables[0], step, transposeA));
                               Value right =
                                   read(bView, matrixIndex(bView, step, variables[1], transposeB));
                               if (isa<FloatType>(sumType))
                                 return {math::FmaOp::create(b, left, right, carried[0])};
                               return {add(carried[0], mul(left, right))};
                             })[0];
    store(c, place, numbers.convert(sum, sumType, c.elementType));
  });
}

void Lowering::lowerGemm(tile::GemmOp op) {
  View c = getView(op.getC());
  View a = separateFrom(c, getView(op.getA()), op.getA().getType());
  View bView = separateFrom(c, getView(op.getB()), op.getB().getType());
  Type sumType = getSumType(b, a.elementType, c.elementType);
  if (op.getClear())
    ifTrue(lookup(op.getClear()), [&] {
      Type carrier = getCarrierType(c.elementType);
      Value zero = isa<FloatType>(carrier) ? numbers.real(carrier, 0) : numbers.integer(carrier, 0);
      loopNest(c.extents, /*isParallel=*/true,
               [&](ArrayRef<Value> variables) { store(c, variables, zero); });
    });
  MemRefType typeA = op.getA().getType(), typeB = op.getB().getType(), typeC = op.getC().getType();
  if (!typeA.hasStaticShape() || !typeB.hasStaticShape() || !typeC.hasStaticShape())
    return multiplyPlainly(op, a, bView, c, sumType);

  tile::GemmOp::Extents extents = op.getExtents();
  Product product{};
  product.m = extents.m;
  product.n = extents.n;
  product.sumType = sumType;
  product.width = options.vectorWidth * 32 / sumType.getIntOrFloatBitWidth();
  std::optional<Matrix> matrixC = getMatrix(c, sumType);
  bool isInPlace = matrixC && getConstantIntValue(matrixC->columnStride) == 1;
  View sums = isInPlace ? c : convertMatrix(c, typeC, sumType);
  product.c = product.source = isInPlace ? *matrixC : *getMatrix(sums, sumType);
  redirectSums(op, product);
  askAhead(op, product);
  if (usesDots(op))
    multiplyByDots(op, a, bView, product);
  else
    multiplyByFma(op, getOperand(op, false, a), getOperand(op, true, bView), product);
  if (!isInPlace)
    copyView(sums, c, pairDimensions(sums, typeC, c, typeC));
}

void Lowering::multiplyByFma(tile::GemmOp op, const Operand &a, const Operand &other,
                             Product product) {
  Type sumType = product.sumType;
  product.k = op.getExtents().k;
  product.operandType = sumType;
  product.alignmentA = sumType.getIntOrFloatBitWidth() / 8;
  Matrix matrixA = *getMatrix(a.view, sumType), matrixB = *getMatrix(other.view, sumType);
  product.a = op.getTransposeA() ? matrixA.transposed() : matrixA;
  product.b = op.getTransposeB() && !other.isPacked ? matrixB.transposed() : matrixB;
  product.isPadded = op.getTransposeB() && other.isPacked;
  multiplyMatrices(product);
}
