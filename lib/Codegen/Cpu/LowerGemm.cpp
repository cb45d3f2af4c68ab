//===- LowerGemm.cpp - matrix products
//---------------------------------------------------------===//
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
// Operands are used where they lie if their elements already are accumulators; otherwise they are
// converted into scratch memory first (float16 and the like, integers), which also handles tensors
// with layouts, edges and steps. A transposed B is turned around in scratch memory, a square of
// vectors at a time. Where the host has dot products of bfloat16 or int8, LowerDots.cpp packs the
// operands into words for the same microkernel. Extents that no register block divides leave
// smaller blocks at the edges; the last columns use masked loads and stores.
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
// Operands
//===----------------------------------------------------------------------------------------===//

/// The type in which products of these elements are summed up.
static Type getSumType(ImplicitLocOpBuilder &b, Type operand, Type result) {
  if (isa<FloatType>(result)) {
    bool isWide = isa<Float64Type>(operand) || isa<Float64Type>(result);
    return isWide ? b.getF64Type() : b.getF32Type();
  }
  return result.getIntOrFloatBitWidth() > 32 ? b.getI64Type() : b.getI32Type();
}

/// The last two dimensions of a view as a matrix in place, if all of it exists, is laid out
/// row-major and holds accumulators.
std::optional<Lowering::Matrix> Lowering::getMatrix(const View &view, Type sumType) {
  if (view.root->layout || getStorageType(view.elementType) != sumType ||
      isa<FloatTF32Type>(view.elementType))
    return std::nullopt;
  SmallVector<unsigned> dims = llvm::to_vector(llvm::seq<unsigned>(0, view.getRank()));
  std::optional<Window> window = windowOf(view, dims, view.extents);
  if (!window || !window->isWhole)
    return std::nullopt;
  SmallVector<Value> origin = toSurface(view, SmallVector<Value>(view.getRank(), index(0)));
  auto strideOf = [&](unsigned dim) {
    Value stride = view.steps[dim];
    for (Value extent : ArrayRef(view.surface).drop_front(view.dims[dim] + 1))
      stride = mul(stride, extent);
    return stride;
  };
  unsigned rank = view.getRank();
  return Matrix{view.root, addressOf(view, origin), strideOf(rank - 2), strideOf(rank - 1)};
}

/// A copy in scratch memory, converted to accumulators.
View Lowering::convertMatrix(const View &view, MemRefType type, Type sumType) {
  View scratch = makeScratch(type.getShape(), sumType);
  copyView(view, scratch, pairDimensions(view, type, scratch, type));
  return scratch;
}

/// Turns a square of vectors around: after the stage of distance d, bit d of row and column number
/// have changed places.
static void transposeSquare(ImplicitLocOpBuilder &b, MutableArrayRef<Value> rows) {
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

/// B given as n x k becomes k x n in scratch memory, converted.
View Lowering::transposeMatrix(const View &view, int64_t n, int64_t k, Type sumType) {
  View scratch = makeScratch({k, int64_t(llvm::alignTo(n, options.vectorWidth))}, sumType);
  int64_t width = options.vectorWidth * 32 / sumType.getIntOrFloatBitWidth();
  std::optional<Matrix> source = getMatrix(view, getStorageType(view.elementType));
  bool isSquareable = source && getConstantIntValue(source->columnStride) == 1 && n % width == 0 &&
                      k % width == 0 && !isa<FloatTF32Type>(view.elementType);
  if (!isSquareable) {
    loopNest({index(k), index(n)}, /*isParallel=*/true, [&](ArrayRef<Value> variables) {
      SmallVector<Value> place(view.getRank() - 2, index(0));
      place.append({variables[1], variables[0]});
      Value element = numbers.convert(load(view, place), view.elementType, sumType);
      store(scratch, variables, element);
    });
    return scratch;
  }
  Matrix target = *getMatrix(scratch, sumType);
  loopNest({index(n / width), index(k / width)}, /*isParallel=*/false, [&](ArrayRef<Value> block) {
    Value firstRow = mul(block[0], index(width)), firstColumn = mul(block[1], index(width));
    SmallVector<Value> rows;
    for (int64_t row = 0; row < width; ++row) {
      Value stored = loadVector(*source, getStorageType(view.elementType), width,
                                add(firstRow, index(row)), firstColumn);
      rows.push_back(
          numbers.convert(numbers.unpack(stored, view.elementType), view.elementType, sumType));
    }
    transposeSquare(b, rows);
    for (int64_t row = 0; row < width; ++row)
      storeVector(target, add(firstColumn, index(row)), firstRow, rows[row], width);
  });
  return scratch;
}

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

/// One block of C at (row, column), all of k.
void Lowering::multiplyBlock(const Product &product, int64_t rows, int64_t columns, Value row,
                             Value column) {
  RegisterBlock block{rows, columns, product.width};
  Type element = product.operandType;
  auto columnAt = [&](int64_t vector) { return add(column, index(vector * block.width)); };
  auto loadSum = [&](const Matrix &matrix, Value line, int64_t j) {
    return loadVector(matrix, product.sumType, block.width, line, columnAt(j), block.used(j));
  };
  SmallVector<Value> sums;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < block.vectors(); ++j) {
      if (product.startsAtZero)
        sums.push_back(numbers.real(VectorType::get({block.width}, product.sumType), 0));
      else
        sums.push_back(loadSum(product.c, add(row, index(i)), j));
      if (product.excess) // known beforehand, so that it is taken off at the start
        sums.back() = arith::SubIOp::create(b, sums.back(), loadSum(*product.excess, index(0), j));
    }
  auto step = [&](Value k, ValueRange carried) {
    SmallVector<Value> right, next;
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
        sum = arith::AddFOp::create(b, loadSum(product.c, add(row, index(i)), j), sum);
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
  auto overRows = [&](Value column, int64_t blockColumns) {
    int64_t whole = product.m / rows, left = product.m % rows;
    if (whole)
      loopNest({index(whole)}, /*isParallel=*/false, [&](ArrayRef<Value> variables) {
        multiplyBlock(product, rows, blockColumns, mul(variables[0], index(rows)), column);
      });
    if (left)
      multiplyBlock(product, left, blockColumns, index(whole * rows), column);
  };
  int64_t whole = product.n / columns, left = product.n % columns;
  if (whole)
    loopNest({index(whole)}, /*isParallel=*/false, [&](ArrayRef<Value> variables) {
      overRows(mul(variables[0], index(columns)), columns);
    });
  if (left)
    overRows(index(whole * columns), left);
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
  product.c = isInPlace ? *matrixC : *getMatrix(sums, sumType);
  if (!multiplyByDots(op, a, bView, product))
    multiplyByFma(op, a, bView, product);
  if (!isInPlace)
    copyView(sums, c, pairDimensions(sums, typeC, c, typeC));
}

void Lowering::multiplyByFma(tile::GemmOp op, const View &a, const View &bView, Product product) {
  tile::GemmOp::Extents extents = op.getExtents();
  Type sumType = product.sumType;
  product.k = extents.k;
  product.operandType = sumType;
  product.alignmentA = sumType.getIntOrFloatBitWidth() / 8;
  auto inPlace = [&](const View &view) { return getMatrix(view, sumType); };
  std::optional<Matrix> matrixA = inPlace(a);
  if (!matrixA)
    matrixA = inPlace(convertMatrix(a, op.getA().getType(), sumType));
  product.a = op.getTransposeA() ? matrixA->transposed() : *matrixA;

  std::optional<Matrix> matrixB = inPlace(bView);
  if (matrixB && op.getTransposeB())
    matrixB = matrixB->transposed();
  if (!matrixB || getConstantIntValue(matrixB->columnStride) != 1) {
    product.isPadded = op.getTransposeB();
    matrixB = inPlace(op.getTransposeB() ? transposeMatrix(bView, extents.n, extents.k, sumType)
                                         : convertMatrix(bView, op.getB().getType(), sumType));
  }
  product.b = *matrixB;
  multiplyMatrices(product);
}
