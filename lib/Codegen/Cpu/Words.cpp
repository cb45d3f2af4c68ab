//===- Words.cpp - operands for dot products of narrow elements -------------------------------===//
//
// AVX512-BF16 adds the products of two pairs of bfloat16 to each float32 of a vector, AVX512-VNNI
// those of four pairs of bytes to each int32: two and four times the rate of a multiply-add. The
// microkernel stays as it is; its elements are 32-bit *words* of neighbours along
// k:
//
//        k: 0 1 2 3 …                              n: 0        1
//   A: [ a0 a1|a2 a3| … ]  words as they lie       [ b00 b10 | b01 b11 | … ]   rows interleaved
//
// Bytes: the left side of vpdpbusd is unsigned, the right one signed. If both operands are signed,
// A is moved up by 128 (a flipped bit), and the sums come out too large by 128 times the column
// sums of B, which are one more row of dot products. All of it is exact modulo 2^32.
//
// Without AVX-512 bytes are widened to int16, whose pairs vpmaddwd multiplies and adds: twice the rate
// of a multiply-add, and no sum of two such products leaves an int32.
//
// bfloat16: vdpbf16ps takes subnormal operands as zero and flushes subnormal results, which the
// language does not. It is used where neither can occur, and only there. If every element is zero
// or normal, and the smallest magnitudes of A and B have exponents whose sum is at least -112, each
// product is a multiple of 2^-126 (an element is a multiple of 2^(e-7)), and so is each partial
// sum, rounded or not: none is subnormal. The smallest magnitudes are found while packing. C, which
// may be anything, is added in the end by an ordinary addition. Otherwise the words are widened.
//
//===----------------------------------------------------------------------------------------===//

#include "Words.h"
#include "Microkernel.h"
#include "Streams.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

/// The same memory as words of neighbours along the last dimension, or such a copy in scratch
/// memory where they do not lie so.
static View asWords(Emitter &e, const View &view, MemRefType type, ReadAhead readAhead) {
  int64_t size = getWordSize(view.elementType);
  unsigned last = view.getRank() - 1;
  auto divides = [&](Value value) {
    std::optional<int64_t> constant = getConstantIntValue(value);
    return constant && *constant % size == 0;
  };
  // A tensor of the caller may start at any of its elements, a tile starts at a word.
  bool fits = view.root->isOnChip() && e.buffers.isContiguousAlong(view, last) &&
              divides(view.surface.back()) && divides(view.base.back()) &&
              divides(view.extents[last]);
  View words = view;
  if (!fits) {
    words = e.buffers.makeScratch(type.getShape(), view.elementType);
    copyView(e, view, words, pairDimensions(e, view, type, words, type), readAhead);
  }
  auto divide = [&](Value &value) { value = e.index(*getConstantIntValue(value) / size); };
  words.elementType = e.b.getI32Type();
  divide(words.surface.back());
  divide(words.base.back());
  divide(words.extents[last]);
  return words;
}

/// The words of a matrix in place, if its rows are made of such. They may start at any element.
std::optional<Matrix> tilewright::cpu::getWords(Emitter &e, const View &view) {
  std::optional<Matrix> matrix = getMatrix(e, view, getStorageType(view.elementType));
  if (!matrix || getConstantIntValue(matrix->columnStride) != 1)
    return std::nullopt;
  std::optional<int64_t> stride = getConstantIntValue(matrix->rowStride);
  int64_t size = getWordSize(view.elementType);
  if (!stride || *stride % size != 0)
    return std::nullopt;
  matrix->rowStride = e.index(*stride / size);
  return matrix;
}

Value tilewright::cpu::loadWords(Emitter &e, const View &view, Value row, Value column,
                                 int64_t width) {
  int64_t size = getWordSize(view.elementType);
  SmallVector<Value> index(view.getRank() - 2, e.index(0));
  index.append({row, e.mul(column, e.index(size))});
  return castVector(e.b, e.buffers.loadVector(view, index, size * width), e.b.getI32Type());
}

View tilewright::cpu::transposeWords(Emitter &e, const View &view, MemRefType type, int64_t rows,
                                     int64_t columns, ReadAhead readAhead) {
  int64_t width = e.options.vectorWidth;
  bool isSquareable = rows % width == 0 && columns % width == 0;
  if (!isSquareable || !e.buffers.isContiguousAlong(view, view.getRank() - 1))
    return transposeMatrix(e, asWords(e, view, type, readAhead), columns, rows, e.b.getI32Type());
  View words = e.buffers.makeScratch({rows, columns}, e.b.getI32Type());
  e.loopNest({e.index(columns / width), e.index(rows / width)}, /*isParallel=*/false,
             [&](ArrayRef<Value> block) {
               Value column = e.mul(block[0], e.index(width)),
                     row = e.mul(block[1], e.index(width));
               SmallVector<Value> lines;
               for (int64_t line = 0; line < width; ++line)
                 lines.push_back(loadWords(e, view, e.add(column, e.index(line)), row, width));
               transposeSquare(e.b, lines);
               for (int64_t line = 0; line < width; ++line)
                 e.buffers.storeVector(words, {e.add(row, e.index(line)), column}, lines[line]);
             });
  return words;
}

int64_t tilewright::cpu::getStride(int64_t columns, int64_t width) {
  while (columns % width)
    width /= 2;
  return width;
}

Value tilewright::cpu::startSmallest(Emitter &e, int64_t width) {
  return e.numbers.integer(VectorType::get({2 * width}, e.b.getI16Type()), -1);
}

Value tilewright::cpu::foldSmallest(Emitter &e, Value smallest, Value words) {
  Value bits = castVector(e.b, words, e.b.getI16Type());
  Value magnitude = arith::AndIOp::create(e.b, bits, e.numbers.integer(bits.getType(), 0x7fff));
  // One less than the magnitude, so that zero becomes the largest number.
  Value less = arith::SubIOp::create(e.b, magnitude, e.numbers.integer(bits.getType(), 1));
  return arith::MinUIOp::create(e.b, smallest, less);
}

Value tilewright::cpu::finishSmallest(Emitter &e, Value smallest) {
  Value least = vector::ReductionOp::create(e.b, vector::CombiningKind::MINUI, smallest);
  Value wide = arith::ExtUIOp::create(e.b, e.b.getI32Type(), least);
  return arith::AddIOp::create(e.b, wide, e.numbers.integer(e.b.getI32Type(), 1));
}

/// The bits of the smallest magnitude among the bfloat16 of `rows` x `columns` words that are not
/// zero; 2^16 if there is none. `wordsAt` gives `width` words of a row.
static Value findSmallest(Emitter &e, int64_t rows, int64_t columns, int64_t width,
                          llvm::function_ref<Value(Value, Value)> wordsAt) {
  auto walkRow = [&](Value row, ValueRange before) {
    return e.loopCarrying(e.index(0), e.index(columns), e.index(width), before,
                          [&](Value column, ValueRange carried) -> SmallVector<Value> {
                            return {foldSmallest(e, carried[0], wordsAt(row, column))};
                          });
  };
  return finishSmallest(e, e.loopCarrying(e.index(0), e.index(rows), e.index(1),
                                          startSmallest(e, width), walkRow)[0]);
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

WordsAcrossRows::WordsAcrossRows(Emitter &e, const View &view, ReadAhead readAhead)
    : e(e), storage(getStorageType(view.elementType)), size(getWordSize(view.elementType)),
      source(*getMatrix(e, view, storage)),
      readsAhead(readAhead == ReadAhead::Allowed && isReadAhead(view)) {}

Value WordsAcrossRows::load(Value wordRow, Value column) const {
  SmallVector<Value> lines;
  for (int64_t line = 0; line < size; ++line) {
    Value row = e.add(e.mul(wordRow, e.index(size)), e.index(line));
    lines.push_back(loadVector(e, source, storage, e.options.vectorWidth, row, column));
    if (readsAhead)
      prefetchAfter(e, addressIn(e, source, storage, row, column));
  }
  return interleave(e.b, lines);
}

View tilewright::cpu::interleaveRows(Emitter &e, const View &view, int64_t rows, int64_t columns,
                                     Value &smallest, ReadAhead readAhead) {
  int64_t size = getWordSize(view.elementType), width = e.options.vectorWidth;
  WordsAcrossRows source(e, view, readAhead);
  View words = e.buffers.makeScratch({rows / size, columns}, e.b.getI32Type());
  auto makeWords = [&](Value wordRow, Value column) {
    Value joined = source.load(wordRow, column);
    e.buffers.storeVector(words, {wordRow, column}, joined);
    return joined;
  };
  if (view.elementType.isBF16() && !smallest)
    smallest = findSmallest(e, rows / size, columns, width, makeWords);
  else
    e.loopNest(
        {e.index(rows / size), e.index(columns / width)}, /*isParallel=*/true,
        [&](ArrayRef<Value> block) { makeWords(block[0], e.mul(block[1], e.index(width))); });
  return words;
}

/// 128 times the sum of each column's signed bytes.
static View sumColumns(Emitter &e, const View &words, int64_t rows, int64_t columns) {
  int64_t width = e.options.vectorWidth;
  auto type = VectorType::get({width}, e.b.getI32Type());
  View sums = e.buffers.makeScratch({1, columns}, e.b.getI32Type());
  e.loopNest({e.index(columns / width)}, /*isParallel=*/false, [&](ArrayRef<Value> block) {
    Value column = e.mul(block[0], e.index(width));
    Value sum = e.loopCarrying(e.index(0), e.index(rows), e.index(1), e.numbers.integer(type, 0),
                               [&](Value row, ValueRange carried) -> SmallVector<Value> {
                                 Value bytes = e.buffers.loadVector(words, {row, column}, width);
                                 Value each = e.numbers.integer(type, int32_t(0x80808080));
                                 return {dotInt8(e, each, bytes, carried[0])};
                               })[0];
    e.buffers.storeVector(sums, {e.index(0), column}, sum);
  });
  return sums;
}

/// Words with the highest bit of each byte flipped: signed bytes plus 128.
static View flipSigns(Emitter &e, const View &view, int64_t rows, int64_t columns) {
  View flipped = e.buffers.makeScratch({rows, columns}, e.b.getI32Type());
  int64_t width = getStride(columns, e.options.vectorWidth);
  auto type = VectorType::get({width}, e.b.getI32Type());
  e.loopNest({e.index(rows), e.index(columns / width)}, /*isParallel=*/true,
             [&](ArrayRef<Value> block) {
               Value column = e.mul(block[1], e.index(width));
               Value bytes = loadWords(e, view, block[0], column, width);
               e.buffers.storeVector(
                   flipped, {block[0], column},
                   arith::XOrIOp::create(e.b, bytes, e.numbers.integer(type, int32_t(0x80808080))));
             });
  return flipped;
}

std::pair<Value, Value> tilewright::cpu::widenPairs(Emitter &e, Value words) {
  Value first = arith::ShLIOp::create(e.b, words, e.numbers.integer(words.getType(), 16));
  Value second =
      arith::AndIOp::create(e.b, words, e.numbers.integer(words.getType(), int32_t(0xffff0000)));
  return {castVector(e.b, first, e.b.getF32Type()), castVector(e.b, second, e.b.getF32Type())};
}

View tilewright::cpu::widenWords(Emitter &e, const View &words, int64_t rows, int64_t columns) {
  View wide = e.buffers.makeScratch({2 * rows, columns}, e.b.getF32Type());
  int64_t width = e.options.vectorWidth;
  e.loopNest({e.index(rows), e.index(columns / width)}, /*isParallel=*/false,
             [&](ArrayRef<Value> block) {
               Value column = e.mul(block[1], e.index(width)), row = e.mul(block[0], e.index(2));
               auto [first, second] =
                   widenPairs(e, e.buffers.loadVector(words, {block[0], column}, width));
               e.buffers.storeVector(wide, {row, column}, first);
               e.buffers.storeVector(wide, {e.add(row, e.index(1)), column}, second);
             });
  return wide;
}

/// Whether no product and no partial sum of the two can be subnormal; see above.
Value tilewright::cpu::areFarFromSubnormal(Emitter &e, Value smallestA, Value smallestB) {
  Type type = e.b.getI32Type();
  auto exponentOf = [&](Value bits) { // biased by 127; 0 for subnormals
    return arith::ShRUIOp::create(e.b, bits, e.numbers.integer(type, 7));
  };
  auto isAtLeast = [&](Value value, int64_t limit) {
    return e.compare(arith::CmpIPredicate::sge, value, e.numbers.integer(type, limit));
  };
  Value a = exponentOf(smallestA), other = exponentOf(smallestB);
  Value areNormal = e.bothTrue(isAtLeast(a, 1), isAtLeast(other, 1));
  return e.bothTrue(areNormal, isAtLeast(e.add(a, other), 2 * 127 - 112));
}

GemmOperand tilewright::cpu::prepareWords(Emitter &e, const tile::OperandForm &form,
                                          MemRefType type, const View &view, ReadAhead readAhead,
                                          Value smallest) {
  if (hasPairsOfBytes(e, form, view.elementType)) {
    Type pair = e.b.getI16Type();
    tile::OperandForm ofPairs = form;
    ofPairs.areBothSigned = false;
    return prepareWords(e, ofPairs, MemRefType::Builder(type).setElementType(pair),
                        convertMatrix(e, view, type, pair, readAhead), readAhead, smallest);
  }
  // Whether rows run along k, so that the words are there already.
  bool isAlongK = form.isRight == form.isTransposed;
  if (form.isForUnit)
    return prepareTiles(e, form, type, view, readAhead, smallest);
  int64_t height = type.getDimSize(type.getRank() - 2), length = type.getShape().back();
  int64_t k = isAlongK ? length : height, other = isAlongK ? height : length;
  int64_t numWords = k / getWordSize(view.elementType);
  bool hasRowsOfK = isAlongK && !form.isRight;
  int64_t rows = hasRowsOfK ? other : numWords, columns = hasRowsOfK ? numWords : other;
  bool hasRows = e.buffers.isContiguousAlong(view, view.getRank() - 1);
  auto copied = [&] { return convertMatrix(e, view, type, view.elementType, readAhead); };
  GemmOperand operand;
  operand.isPacked = true;
  if (!isAlongK)
    operand.view = interleaveRows(e, hasRows ? view : copied(), k, other, smallest, readAhead);
  else if (form.isRight)
    operand.view = transposeWords(e, view, type, rows, columns, readAhead);
  else
    operand.view = getWords(e, view) ? view : copied();
  int64_t width = getStride(columns, e.options.vectorWidth);
  auto wordsAt = [&](Value row, Value column) {
    return loadWords(e, operand.view, row, column, width);
  };
  if (view.elementType.isBF16() && !smallest)
    smallest = findSmallest(e, rows, columns, width, wordsAt);
  if (view.elementType.isBF16())
    operand.smallest = smallest;
  else if (form.areBothSigned && form.isRight)
    operand.columnSums = sumColumns(e, operand.view, rows, columns);
  else if (form.areBothSigned)
    operand.view = flipSigns(e, operand.view, rows, columns);
  return operand;
}
