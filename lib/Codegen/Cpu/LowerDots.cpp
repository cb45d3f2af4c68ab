//===- LowerDots.cpp - matrix products by dot products of narrow elements ---------------------===//
//
// AVX512-BF16 adds the products of two pairs of bfloat16 to each float32 of a vector, AVX512-VNNI
// those of four pairs of bytes to each int32: two and four times the rate of a multiply-add. The
// microkernel of LowerGemm.cpp stays as it is; its elements are 32-bit *words* of neighbours along
// k:
//
//        k: 0 1 2 3 …                              n: 0        1
//   A: [ a0 a1|a2 a3| … ]  words as they lie       [ b00 b10 | b01 b11 | … ]   rows interleaved
//
// Bytes: the left side of vpdpbusd is unsigned, the right one signed. If both operands are signed,
// A is moved up by 128 (a flipped bit), and the sums come out too large by 128 times the column
// sums of B, which are one more row of dot products. All of it is exact modulo 2^32.
//
// bfloat16: vdpbf16ps takes subnormal operands as zero and flushes subnormal results, which the
// language does not. It is used where neither can occur, and only there. If every element is zero
// or normal, and the smallest magnitudes of A and B have exponents whose sum is at least -112, each
// product is a multiple of 2^-126 (an element is a multiple of 2^(e-7)), and so is each partial
// sum, rounded or not: none is subnormal. The smallest magnitudes are found while packing. C, which
// may be anything, is added in the end by an ordinary addition. Otherwise the words are widened.
//
//===----------------------------------------------------------------------------------------===//

#include "Lowering.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

/// Elements of this type in a word.
static int64_t getWordSize(Type elementType) { return 32 / tile::getStorageBits(elementType); }

static Value castVector(ImplicitLocOpBuilder &b, Value value, Type element) {
  auto type = cast<VectorType>(value.getType());
  int64_t count =
      type.getNumElements() * type.getElementTypeBitWidth() / element.getIntOrFloatBitWidth();
  return vector::BitCastOp::create(b, VectorType::get({count}, element), value);
}

Value Lowering::dotBf16(Value left, Value right, Value sum) {
  Type element = b.getBF16Type();
  return numbers.intrinsic("llvm.x86.avx512bf16.dpbf16ps.512", sum.getType(),
                           {sum, castVector(b, left, element), castVector(b, right, element)});
}

Value Lowering::dotInt8(Value unsignedBytes, Value signedBytes, Value sum) {
  Type element = b.getI8Type();
  return numbers.intrinsic(
      "llvm.x86.avx512.vpdpbusd.512", sum.getType(),
      {sum, castVector(b, unsignedBytes, element), castVector(b, signedBytes, element)});
}

//===----------------------------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------------------------===//

/// The same memory as words of neighbours along the last dimension, or such a copy in scratch
/// memory where they do not lie so.
View Lowering::asWords(const View &view, MemRefType type) {
  int64_t size = getWordSize(view.elementType);
  unsigned last = view.getRank() - 1;
  auto divides = [&](Value value) {
    std::optional<int64_t> constant = getConstantIntValue(value);
    return constant && *constant % size == 0;
  };
  // A tensor of the caller may start at any of its elements, a tile starts at a word.
  bool fits = view.root->isOnChip() && isContiguousAlong(view, last) &&
              divides(view.surface.back()) && divides(view.base.back()) &&
              divides(view.extents[last]);
  View words = view;
  if (!fits) {
    words = makeScratch(type.getShape(), view.elementType);
    copyView(view, words, pairDimensions(view, type, words, type));
  }
  auto divide = [&](Value &value) { value = index(*getConstantIntValue(value) / size); };
  words.elementType = b.getI32Type();
  divide(words.surface.back());
  divide(words.base.back());
  divide(words.extents[last]);
  return words;
}

/// The words of a matrix in place, if its rows are made of such. They may start at any element.
std::optional<Lowering::Matrix> Lowering::getWords(const View &view) {
  std::optional<Matrix> matrix = getMatrix(view, getStorageType(view.elementType));
  if (!matrix || getConstantIntValue(matrix->columnStride) != 1)
    return std::nullopt;
  std::optional<int64_t> stride = getConstantIntValue(matrix->rowStride);
  int64_t size = getWordSize(view.elementType);
  if (!stride || *stride % size != 0)
    return std::nullopt;
  matrix->rowStride = index(*stride / size);
  return matrix;
}

/// `width` words of neighbours along a row of the view's last dimension, which is contiguous.
Value Lowering::loadWords(const View &view, Value row, Value column, int64_t width) {
  int64_t size = getWordSize(view.elementType);
  SmallVector<Value> place(view.getRank() - 2, index(0));
  place.append({row, mul(column, index(size))});
  return castVector(b, loadVector(view, place, size * width), b.getI32Type());
}

/// From `columns` x `rows` words, as they lie along the rows of a view, to `rows` x `columns`.
View Lowering::transposeWords(const View &view, MemRefType type, int64_t rows, int64_t columns) {
  int64_t width = options.vectorWidth;
  bool isSquareable = rows % width == 0 && columns % width == 0;
  if (!isSquareable || !isContiguousAlong(view, view.getRank() - 1))
    return transposeMatrix(asWords(view, type), columns, rows, b.getI32Type());
  View words = makeScratch({rows, columns}, b.getI32Type());
  loopNest({index(columns / width), index(rows / width)}, /*isParallel=*/false,
           [&](ArrayRef<Value> block) {
             Value column = mul(block[0], index(width)), row = mul(block[1], index(width));
             SmallVector<Value> lines;
             for (int64_t line = 0; line < width; ++line)
               lines.push_back(loadWords(view, add(column, index(line)), row, width));
             transposeSquare(b, lines);
             for (int64_t line = 0; line < width; ++line)
               storeVector(words, {add(row, index(line)), column}, lines[line]);
           });
  return words;
}

/// The largest vector that divides `columns`, which rows of words are walked by.
static int64_t getStride(int64_t columns, int64_t width) {
  while (columns % width)
    width /= 2;
  return width;
}

/// The bits of the smallest magnitude among the bfloat16 of `rows` x `columns` words that are not
/// zero; 2^16 if there is none. `wordsAt` gives `width` words of a row.
Value Lowering::findSmallest(int64_t rows, int64_t columns, int64_t width,
                             llvm::function_ref<Value(Value, Value)> wordsAt) {
  auto type = VectorType::get({2 * width}, b.getI16Type());
  auto walkRow = [&](Value row, ValueRange before) {
    return loopCarrying(index(0), index(columns), index(width), before,
                        [&](Value column, ValueRange carried) -> SmallVector<Value> {
                          Value bits = castVector(b, wordsAt(row, column), b.getI16Type());
                          Value magnitude =
                              arith::AndIOp::create(b, bits, numbers.integer(type, 0x7fff));
                          // One less than the magnitude, so that zero becomes the largest number.
                          Value less =
                              arith::SubIOp::create(b, magnitude, numbers.integer(type, 1));
                          return {arith::MinUIOp::create(b, carried[0], less)};
                        });
  };
  Value smallest =
      loopCarrying(index(0), index(rows), index(1), numbers.integer(type, -1), walkRow)[0];
  Value least = vector::ReductionOp::create(b, vector::CombiningKind::MINUI, smallest);
  Value wide = arith::ExtUIOp::create(b, b.getI32Type(), least);
  return arith::AddIOp::create(b, wide, numbers.integer(b.getI32Type(), 1));
}

/// Joins vectors of rows into one of words, element by element.
static Value interleave(ImplicitLocOpBuilder &b, SmallVector<Value> lines) {
  int64_t width = cast<VectorType>(lines[0].getType()).getNumElements();
  SmallVector<int64_t> order;
  for (int64_t lane = 0; lane < width; ++lane)
    order.append({lane, width + lane});
  // Each round joins pairs of vectors into one with elements of twice the size.
  while (lines.size() > 1) {
    SmallVector<Value> joined;
    for (size_t i = 0; i < lines.size(); i += 2) {
      Value pair = vector::ShuffleOp::create(b, lines[i], lines[i + 1], order);
      unsigned bits = 2 * getElementTypeOrSelf(lines[i]).getIntOrFloatBitWidth();
      joined.push_back(castVector(b, pair, b.getIntegerType(bits)));
    }
    lines = joined;
  }
  return lines[0];
}

/// From `rows` x `columns` elements to words of neighbours along the rows:
/// `rows / size` x `columns`. Of bfloat16 it finds the smallest magnitude on the way, unless it is
/// known.
View Lowering::interleaveRows(const View &view, int64_t rows, int64_t columns, Value &smallest) {
  Type storage = getStorageType(view.elementType);
  int64_t size = getWordSize(view.elementType), width = options.vectorWidth;
  std::optional<Matrix> source = getMatrix(view, storage);
  View words = makeScratch({rows / size, columns}, b.getI32Type());
  bool readsAhead = isReadAhead(view);
  auto makeWords = [&](Value wordRow, Value column) {
    SmallVector<Value> lines;
    for (int64_t line = 0; line < size; ++line) {
      Value row = add(mul(wordRow, index(size)), index(line));
      lines.push_back(loadVector(*source, storage, width, row, column));
      if (readsAhead)
        readAhead(addressIn(*source, storage, row, column));
    }
    Value joined = interleave(b, lines);
    storeVector(words, {wordRow, column}, joined);
    return joined;
  };
  if (view.elementType.isBF16() && !smallest)
    smallest = findSmallest(rows / size, columns, width, makeWords);
  else
    loopNest({index(rows / size), index(columns / width)}, /*isParallel=*/true,
             [&](ArrayRef<Value> block) { makeWords(block[0], mul(block[1], index(width))); });
  return words;
}

/// 128 times the sum of each column's signed bytes.
View Lowering::sumColumns(const View &words, int64_t rows, int64_t columns) {
  int64_t width = options.vectorWidth;
  auto type = VectorType::get({width}, b.getI32Type());
  View sums = makeScratch({1, columns}, b.getI32Type());
  loopNest({index(columns / width)}, /*isParallel=*/false, [&](ArrayRef<Value> block) {
    Value column = mul(block[0], index(width));
    Value sum = loopCarrying(index(0), index(rows), index(1), numbers.integer(type, 0),
                             [&](Value row, ValueRange carried) -> SmallVector<Value> {
                               Value bytes = loadVector(words, {row, column}, width);
                               Value each = numbers.integer(type, int32_t(0x80808080));
                               return {dotInt8(each, bytes, carried[0])};
                             })[0];
    storeVector(sums, {index(0), column}, sum);
  });
  return sums;
}

//===----------------------------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------------------------===//

/// Words with the highest bit of each byte flipped: signed bytes plus 128.
View Lowering::flipSigns(const View &view, int64_t rows, int64_t columns) {
  View flipped = makeScratch({rows, columns}, b.getI32Type());
  int64_t width = getStride(columns, options.vectorWidth);
  auto type = VectorType::get({width}, b.getI32Type());
  loopNest({index(rows), index(columns / width)}, /*isParallel=*/true, [&](ArrayRef<Value> block) {
    Value column = mul(block[1], index(width));
    Value bytes = loadWords(view, block[0], column, width);
    storeVector(flipped, {block[0], column},
                arith::XOrIOp::create(b, bytes, numbers.integer(type, int32_t(0x80808080))));
  });
  return flipped;
}

/// Words of bfloat16 as float32: `rows` x `columns` words become twice as many rows.
View Lowering::widenWords(const View &words, int64_t rows, int64_t columns) {
  View wide = makeScratch({2 * rows, columns}, b.getF32Type());
  int64_t width = options.vectorWidth;
  auto type = VectorType::get({width}, b.getI32Type());
  loopNest({index(rows), index(columns / width)}, /*isParallel=*/false, [&](ArrayRef<Value> block) {
    Value column = mul(block[1], index(width)), row = mul(block[0], index(2));
    Value pairs = loadVector(words, {block[0], column}, width);
    Value first = arith::ShLIOp::create(b, pairs, numbers.integer(type, 16));
    Value second = arith::AndIOp::create(b, pairs, numbers.integer(type, int32_t(0xffff0000)));
    storeVector(wide, {row, column}, castVector(b, first, b.getF32Type()));
    storeVector(wide, {add(row, index(1)), column}, castVector(b, second, b.getF32Type()));
  });
  return wide;
}

/// Whether no product and no partial sum of the two can be subnormal; see above.
Value Lowering::areFarFromSubnormal(Value smallestA, Value smallestB) {
  Type type = b.getI32Type();
  auto exponentOf = [&](Value bits) { // biased by 127; 0 for subnormals
    return arith::ShRUIOp::create(b, bits, numbers.integer(type, 7));
  };
  auto isAtLeast = [&](Value value, int64_t limit) {
    return compare(arith::CmpIPredicate::sge, value, numbers.integer(type, limit));
  };
  Value a = exponentOf(smallestA), other = exponentOf(smallestB);
  Value areNormal = bothTrue(isAtLeast(a, 1), isAtLeast(other, 1));
  return bothTrue(areNormal, isAtLeast(add(a, other), 2 * 127 - 112));
}

/// Of bytes: A is moved up then.
static bool areBothSigned(tile::GemmOp op) {
  return !op.getA().getType().getElementType().isUnsignedInteger() &&
         !op.getB().getType().getElementType().isUnsignedInteger();
}

/// Whether the host has dot products for these types, and the extents fit.
bool Lowering::usesDots(tile::GemmOp op) {
  Type a = op.getA().getType().getElementType(), other = op.getB().getType().getElementType(),
       sum = op.getC().getType().getElementType();
  bool areBytes = options.hasInt8Dots && a.isInteger(8) && other.isInteger(8) &&
                  isa<IntegerType>(sum) && sum.getIntOrFloatBitWidth() <= 32 &&
                  !(a.isUnsignedInteger() && other.isUnsignedInteger());
  bool areBf16 = options.hasBf16Dots && a.isBF16() && other.isBF16() && isa<FloatType>(sum) &&
                 !isa<Float64Type>(sum);
  if (!areBytes && !areBf16)
    return false;
  tile::GemmOp::Extents extents = op.getExtents();
  int64_t width = options.vectorWidth;
  return extents.k % getWordSize(a) == 0 && extents.n % width == 0 &&
         (!op.getTransposeA() || extents.m % width == 0);
}

/// The operand as words, B with k along its rows, and what must be known of its elements: of
/// bfloat16 the smallest magnitude, unless it is given.
Lowering::Operand Lowering::prepareForDots(tile::GemmOp op, bool isB, const View &view,
                                           Value smallest) {
  MemRefType type = isB ? op.getB().getType() : op.getA().getType();
  tile::GemmOp::Extents extents = op.getExtents();
  int64_t k = extents.k / getWordSize(view.elementType);
  // Whether rows run along k, so that the words are there already.
  bool isAlongK = isB ? op.getTransposeB() : !op.getTransposeA();
  int64_t other = isB ? extents.n : extents.m;
  bool hasRowsOfK = isAlongK && !isB;
  int64_t rows = hasRowsOfK ? other : k, columns = hasRowsOfK ? k : other;
  bool hasRows = isContiguousAlong(view, view.getRank() - 1);
  Operand operand;
  operand.isPacked = true;
  if (!isAlongK)
    operand.view = interleaveRows(hasRows ? view : convertMatrix(view, type, view.elementType),
                                  extents.k, other, smallest);
  else if (isB)
    operand.view = transposeWords(view, type, rows, columns);
  else
    operand.view = getWords(view) ? view : convertMatrix(view, type, view.elementType);
  int64_t width = getStride(columns, options.vectorWidth);
  auto wordsAt = [&](Value row, Value column) {
    return loadWords(operand.view, row, column, width);
  };
  if (view.elementType.isBF16() && !smallest)
    smallest = findSmallest(rows, columns, width, wordsAt);
  if (view.elementType.isBF16())
    operand.smallest = smallest;
  else if (areBothSigned(op) && isB)
    operand.columnSums = sumColumns(operand.view, rows, columns);
  else if (areBothSigned(op))
    operand.view = flipSigns(operand.view, rows, columns);
  return operand;
}

void Lowering::multiplyByDots(tile::GemmOp op, const View &a, const View &bView, Product product) {
  using Step = Product::Step;
  Operand left = getOperand(op, /*isB=*/false, a), right = getOperand(op, /*isB=*/true, bView);
  Type word = b.getI32Type();
  product.k = op.getExtents().k / getWordSize(a.elementType);
  product.operandType = word;
  product.alignmentA = tile::getStorageBytes(left.view.elementType);
  Matrix matrixA = *getWords(left.view);
  product.a = op.getTransposeA() ? matrixA.transposed() : matrixA;
  product.b = *getMatrix(right.view, word);
  if (!a.elementType.isBF16()) {
    product.step =
        bView.elementType.isUnsignedInteger() ? Step::DotSignedUnsigned : Step::DotUnsignedSigned;
    if (right.columnSums)
      product.excess = getMatrix(*right.columnSums, word);
    return multiplyMatrices(product);
  }
  Product widened = product;
  widened.isCompact = true;
  product.step = Step::DotBf16;
  product.startsAtZero = true;
  auto branch = scf::IfOp::create(b, areFarFromSubnormal(left.smallest, right.smallest),
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  multiplyMatrices(product);
  b.setInsertionPointToStart(branch.elseBlock());
  tile::GemmOp::Extents extents = op.getExtents();
  Operand wideA, wideB;
  wideB.isPacked = true;
  wideB.view = widenWords(right.view, product.k, extents.n);
  if (op.getTransposeA())
    wideA.view = widenWords(left.view, product.k, extents.m);
  else
    wideA = prepareForFma(op, /*isB=*/false, left.view);
  multiplyByFma(op, wideA, wideB, widened);
}
