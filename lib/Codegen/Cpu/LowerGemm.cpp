//===- LowerGemm.cpp - matrix products --------------------------------------------------------===//
//
// C += op(A) * op(B), each element a sum over k that is formed in the accumulator type (float32, or
// float64, or integers modulo 2^32 or 2^64) and rounded once to C's element type. Operands are
// brought into the form of the microkernel (Operands.h, Microkernel.h) here, or were by the copies
// that filled their tiles (`tile.prepared_a`, `tile.prepared_b`).
//
// Most products end as a part of a tensor, which a loop sums up in a tile. A microkernel reads its
// accumulators from one matrix and writes them to another, so the tile need be neither filled (one
// row is, which all rows of the first iteration read) nor copied: the last iteration writes to the
// tensor. Values are what they were: each sum is formed from the same terms in the same order.
//
//   tile.fill %zero, %row              // tile.starts_at
//   tile.pipelined … {                 for … {
//     tile.gemm %a, %b, %c       ──▶     (last ? C : c) = (first ? row : c) + a * b
//   }                                  }
//                                      // tile.writes_to
//
//===----------------------------------------------------------------------------------------===//

#include "Atomics.h"
#include "Lowerings.h"
#include "Microkernel.h"
#include "Operands.h"
#include "Panels.h"
#include "Streams.h"
#include "TileProducts.h"
#include "tilewright/Layout/Contiguity.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

/// Extents that are known only at run time: three plain loops.
static void multiplyPlainly(tile::GemmOp op, const View &a, const View &bView, const View &c,
                            Type sumType, Emitter &e) {
  auto matrixIndex = [&](const View &view, Value row, Value column, bool transposed) {
    SmallVector<Value> result(view.getRank() - 2, e.index(0));
    result.push_back(transposed ? column : row);
    result.push_back(transposed ? row : column);
    return result;
  };
  auto extent = [&](const View &view, unsigned fromEnd) {
    return view.extents[view.getRank() - fromEnd];
  };
  bool transposeA = op.getTransposeA(), transposeB = op.getTransposeB();
  Value m = requireEqual(e, extent(c, 2), extent(a, transposeA ? 1 : 2), "'T.gemm'");
  Value n = requireEqual(e, extent(c, 1), extent(bView, transposeB ? 2 : 1), "'T.gemm'");
  Value k =
      requireEqual(e, extent(a, transposeA ? 2 : 1), extent(bView, transposeB ? 1 : 2), "'T.gemm'");
  auto read = [&](const View &view, ArrayRef<Value> index) {
    return e.numbers.convert(e.buffers.load(view, index), view.elementType, sumType);
  };
  e.loopNest({m, n}, /*isParallel=*/false, [&](ArrayRef<Value> variables) {
    SmallVector<Value> index = matrixIndex(c, variables[0], variables[1], false);
    Value sum =
        e.loopCarrying(e.index(0), k, e.index(1), read(c, index),
                       [&](Value step, ValueRange carried) -> SmallVector<Value> {
                         Value left = read(a, matrixIndex(a, variables[0], step, transposeA));
                         Value right =
                             read(bView, matrixIndex(bView, step, variables[1], transposeB));
                         if (isa<FloatType>(sumType))
                           return {math::FmaOp::create(e.b, left, right, carried[0])};
                         return {e.add(carried[0], e.mul(left, right))};
                       })[0];
    e.buffers.store(c, index, e.numbers.convert(sum, sumType, c.elementType));
  });
}

//===----------------------------------------------------------------------------------------===//
// Accumulators
//===----------------------------------------------------------------------------------------===//

static Value isLastIteration(LoopLikeOpInterface loop, Emitter &e) {
  Value variable = e.lookup(*loop.getSingleInductionVar());
  Value next = e.add(variable, e.asIndex(*loop.getSingleStep()));
  return e.compare(arith::CmpIPredicate::sge, next, e.asIndex(*loop.getSingleUpperBound()));
}

/// Where the product finds and leaves its sums, if not in the tile.
static void redirectSums(tile::GemmOp op, Product &product, Emitter &e) {
  std::optional<int64_t> start = tile::getPlanNumber(op, tile::kStartsAtAttr),
                         target = tile::getPlanNumber(op, tile::kWritesToAttr);
  if (!start)
    return;
  Value isFirst = e.numbers.integer(e.b.getI1Type(), 1), isLast = isFirst;
  auto loop = dyn_cast<LoopLikeOpInterface>(op->getParentOp());
  if (loop && op->hasAttr(tile::kSumsOverLoopAttr)) {
    Value variable = e.lookup(*loop.getSingleInductionVar());
    isFirst = e.compare(arith::CmpIPredicate::eq, variable, e.asIndex(*loop.getSingleLowerBound()));
    isLast = isLastIteration(loop, e);
  }
  std::optional<View> first = e.buffers.getNamedView(*start, op);
  if (!first)
    return;
  Matrix row = asMatrix(e, *first);
  row.rowStride = e.index(0);
  product.source = chooseMatrix(e, isFirst, row, product.c);
  if (op->hasAttr(tile::kStartsAtZeroAttr))
    product.isNew = isFirst;
  std::optional<View> last = target ? e.buffers.getNamedView(*target, op) : std::nullopt;
  if (!last)
    return;
  product.c = chooseMatrix(e, isLast, asMatrix(e, *last), product.c);
  product.isFarAway = true;
}

/// Lets the product multiply the rows of what it adds to, if the plan says so.
static void scaleSums(tile::GemmOp op, Product &product, Emitter &e) {
  std::optional<int64_t> id = tile::getPlanNumber(op, tile::kScaledByAttr);
  std::optional<View> factors = id ? e.buffers.getNamedView(*id, op) : std::nullopt;
  if (!factors)
    return;
  Value first = e.buffers.addressOf(*factors, e.buffers.toSurface(*factors, {e.index(0)}));
  product.scale = Matrix{factors->root, first, e.index(1), e.index(1)};
}

//===----------------------------------------------------------------------------------------===//
// Prefetches
//===----------------------------------------------------------------------------------------===//

/// The stretches of a matrix that lies inside a tensor: all of it, rows, or under a layout
/// rows of boxes. Nothing if it is not known to consist of such, or has no constant extents.
static std::optional<Stretches> findStretches(const View &view, Emitter &e) {
  if (view.getRank() != 2 || view.root->isOnChip())
    return std::nullopt;
  std::optional<int64_t> rows = getConstantIntValue(view.extents[0]),
                         columns = getConstantIntValue(view.extents[1]);
  if (!rows || !columns)
    return std::nullopt;
  int64_t rowsOfStretch = 1;
  if (view.root->layout) {
    auto isStretch = [&](int64_t height) {
      int64_t elements = height * *columns;
      std::optional<ContiguousBox> box = findBox(*view.root, elements, elements);
      return box && box->rows == height;
    };
    while (rowsOfStretch <= *rows && (*rows % rowsOfStretch != 0 || !isStretch(rowsOfStretch)))
      ++rowsOfStretch;
    if (rowsOfStretch > *rows)
      return std::nullopt;
  } else if (view.dims[1] + 1 != view.surface.size() || getConstantIntValue(view.steps[1]) != 1) {
    return std::nullopt;
  } else if (isOneStretch(view)) {
    rowsOfStretch = *rows;
  }
  int64_t bytes = rowsOfStretch * *columns * tile::getStorageBytes(view.elementType);
  auto startOf = [&e, view, rowsOfStretch](Value number) {
    Value row = e.mul(number, e.index(rowsOfStretch));
    return e.buffers.addressOf(view, e.buffers.toSurface(view, {row, e.index(0)}));
  };
  return Stretches{*rows / rowsOfStretch, int64_t(llvm::divideCeil(bytes, kCacheLine)), startOf};
}

static SmallVector<Stretches, 1> findPrefetches(tile::GemmOp op, ArrayRef<int64_t> ids,
                                                Emitter &e) {
  SmallVector<Stretches, 1> found;
  for (int64_t id : ids) {
    std::optional<View> part = e.buffers.getNamedView(id, op);
    if (std::optional<Stretches> stretches = part ? findStretches(*part, e) : std::nullopt)
      found.push_back(*stretches);
  }
  return found;
}

//===----------------------------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------------------------===//

/// The operand in the form its product wants, made here or by the copy that filled its tile.
static GemmOperand getOperand(tile::GemmOp op, bool isRight, const View &view,
                              const Product &product, Emitter &e) {
  StringRef attribute = isRight ? tile::kPreparedBAttr : tile::kPreparedAAttr;
  MemRefType type = isRight ? op.getB().getType() : op.getA().getType();
  tile::OperandForm form = tile::OperandForm::get(op, isRight);
  if (std::optional<int64_t> id = tile::getPlanNumber(op, attribute)) {
    auto it = e.planned.operands.find(*id);
    if (it == e.planned.operands.end())
      e.refuse(op, "the plan names operand " + Twine(*id) + ", which no copy before it prepares");
    else if (it->second.isByPanels && !canPackByPanels(e, it->second.view, product, isRight))
      return prepareOperand(e, form, type, it->second.view);
    else
      return it->second;
  }
  // The matrix unit reads rows of words on chip in place: they were written not long ago.
  if (form.isForUnit && !isRight && !form.isTransposed && view.root->isOnChip() &&
      getWords(e, view))
    form.isForUnit = false;
  return prepareOperand(e, form, type, view);
}

static void multiplyByFma(tile::GemmOp op, const GemmOperand &a, const GemmOperand &other,
                          Product product, Emitter &e, bool isTransposedA) {
  Type sumType = product.sumType;
  product.k = op.getExtents().k;
  product.operandType = sumType;
  product.alignmentA = sumType.getIntOrFloatBitWidth() / 8;
  Matrix matrixA = asMatrix(e, a.view), matrixB = asMatrix(e, other.view);
  product.a = isTransposedA ? matrixA.transposed() : matrixA;
  product.b = op.getTransposeB() && !other.isPacked ? matrixB.transposed() : matrixB;
  product.isPadded = op.getTransposeB() && other.isPacked;
  if (a.isByPanels)
    packByPanels(e, a.view, product, /*isRight=*/false);
  if (other.isByPanels)
    packByPanels(e, other.view, product, /*isRight=*/true);
  multiplyMatrices(e, product);
}

/// How the matrix unit multiplies elements of these types.
static rt::TileProduct getTileProduct(Type a, Type b) {
  using rt::TileProduct;
  if (a.isBF16())
    return TileProduct::Bf16;
  if (a.isUnsignedInteger())
    return b.isUnsignedInteger() ? TileProduct::UnsignedUnsigned : TileProduct::UnsignedSigned;
  return b.isUnsignedInteger() ? TileProduct::SignedUnsigned : TileProduct::SignedSigned;
}

/// A product of words, on the matrix unit where the plan says so.
static void multiplyWords(tile::GemmOp op, const GemmOperand &left, const GemmOperand &right,
                          const Product &product, Emitter &e) {
  if (!op->hasAttr(tile::kMatrixUnitAttr))
    return multiplyMatrices(e, product);
  Type elementA = op.getA().getType().getElementType(),
       elementB = op.getB().getType().getElementType();
  std::optional<tile::UnitTiles> tiles = tile::UnitTiles::get(op);
  if (!tiles)
    return e.refuse(op, "the plan names the matrix unit, whose tiles do not divide the product");
  multiplyOnTiles(e, product, left, right, *tiles, getTileProduct(elementA, elementB));
}

/// The same by dot products of words. Those of bfloat16 flush subnormals: where one can occur, the
/// words are widened (Words.cpp).
static void multiplyByDots(tile::GemmOp op, const GemmOperand &left, const GemmOperand &right,
                           Product product, Emitter &e) {
  using Step = Product::Step;
  Type elementA = op.getA().getType().getElementType(),
       elementB = op.getB().getType().getElementType();
  Type word = e.b.getI32Type();
  bool arePairs = hasPairsOfBytes(e, tile::OperandForm::get(op, /*isRight=*/false), elementA);
  product.k = op.getExtents().k / getWordSize(arePairs ? e.b.getI16Type() : elementA);
  product.operandType = word;
  product.alignmentA = tile::getStorageBytes(left.view.elementType);
  if (!left.isInTiles) {
    Matrix matrixA = *getWords(e, left.view);
    product.a = op.getTransposeA() ? matrixA.transposed() : matrixA;
  }
  product.b = asMatrix(e, right.view);
  if (!elementA.isBF16()) {
    product.step = arePairs                       ? Step::DotInt16
                   : elementB.isUnsignedInteger() ? Step::DotSignedUnsigned
                                                  : Step::DotUnsignedSigned;
    if (right.columnSums)
      product.excess = asMatrix(e, *right.columnSums);
    return multiplyWords(op, left, right, product, e);
  }
  Product widened = product;
  widened.isCompact = true;
  product.step = Step::DotBf16;
  product.startsAtZero = true;
  auto branch = scf::IfOp::create(e.b, areFarFromSubnormal(e, left.smallest, right.smallest),
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(branch.thenBlock());
  multiplyWords(op, left, right, product, e);
  e.b.setInsertionPointToStart(branch.elseBlock());
  tile::GemmOp::Extents extents = op.getExtents();
  GemmOperand wideA, wideB;
  wideB.isPacked = true;
  wideB.view = right.isInTiles ? widenTiles(e, right.view, /*isRight=*/true)
                               : widenWords(e, right.view, product.k, extents.n);
  if (left.isInTiles) {
    wideA.view = widenTiles(e, left.view, /*isRight=*/false);
    return multiplyByFma(op, wideA, wideB, widened, e, /*isTransposedA=*/false);
  }
  if (op.getTransposeA()) {
    wideA.view = widenWords(e, left.view, product.k, extents.m);
  } else {
    tile::OperandForm form = tile::OperandForm::get(op, /*isRight=*/false);
    form.isForDots = false;
    wideA = prepareOperand(e, form, op.getA().getType(), left.view);
  }
  multiplyByFma(op, wideA, wideB, widened, e, op.getTransposeA());
}

//===----------------------------------------------------------------------------------------===//
// The statement
//===----------------------------------------------------------------------------------------===//

void tilewright::cpu::lowerGemm(tile::GemmOp op, Emitter &e) {
  MemRefType typeA = op.getA().getType(), typeB = op.getB().getType(), typeC = op.getC().getType();
  View c = e.buffers.getView(op.getC());
  View a = separateFrom(e, c, e.buffers.getView(op.getA()), typeA);
  View bView = separateFrom(e, c, e.buffers.getView(op.getB()), typeB);
  Type sumType = tile::getSumType(a.elementType, c.elementType);
  if (op.getClear())
    e.ifTrue(e.lookup(op.getClear()), [&] {
      Type carrier = getCarrierType(c.elementType);
      Value zero =
          isa<FloatType>(carrier) ? e.numbers.real(carrier, 0) : e.numbers.integer(carrier, 0);
      e.loopNest(c.extents, /*isParallel=*/true,
                 [&](ArrayRef<Value> variables) { e.buffers.store(c, variables, zero); });
    });
  if (!typeA.hasStaticShape() || !typeB.hasStaticShape() || !typeC.hasStaticShape())
    return multiplyPlainly(op, a, bView, c, sumType, e);

  Product product{};
  product.m = op.getExtents().m;
  product.n = op.getExtents().n;
  product.sumType = sumType;
  product.width = e.options.vectorWidth * 32 / sumType.getIntOrFloatBitWidth();
  std::optional<Matrix> matrixC = getMatrix(e, c, sumType);
  bool isInPlace = matrixC && getConstantIntValue(matrixC->columnStride) == 1;
  View sums = isInPlace ? c : convertMatrix(e, c, typeC, sumType);
  product.c = product.source = isInPlace ? *matrixC : asMatrix(e, sums);
  redirectSums(op, product, e);
  scaleSums(op, product, e);
  product.prefetches = findPrefetches(op, tile::getPrefetches(op), e);
  if (auto loop = dyn_cast<LoopLikeOpInterface>(op->getParentOp())) {
    product.prefetchesAtEnd = findPrefetches(op, tile::getPrefetchesAtEnd(op), e);
    if (!product.prefetchesAtEnd.empty())
      product.isLast = isLastIteration(loop, e);
  }
  product.k = op.getExtents().k;
  GemmOperand left = getOperand(op, /*isRight=*/false, a, product, e),
              right = getOperand(op, /*isRight=*/true, bView, product, e);
  if (op->hasAttr(tile::kDotsAttr))
    multiplyByDots(op, left, right, product, e);
  else
    multiplyByFma(op, left, right, product, e, op.getTransposeA());
  if (!isInPlace)
    copyView(e, sums, c, pairDimensions(e, sums, typeC, c, typeC));
}
