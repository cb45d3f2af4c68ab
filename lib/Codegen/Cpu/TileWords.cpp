//===- TileWords.cpp - operands for the host's matrix unit (AMX) ------------------------------===//
//
// The matrix unit loads tiles of up to 16 rows of 64 bytes. Rows of a matrix are often a multiple of
// 4 KiB apart, where the rows of one tile push each other out of the first cache. So operands are
// packed tile by tile, in the order in which a product reads them along k:
//
//   A:  [m / rows][k / words][rows][words]         B:  [n / columns][k / words][words][columns]
//
// An A of rows along k that no copy brings is read in place (LowerGemm.cpp).
//
//===----------------------------------------------------------------------------------------===//

#include "Streams.h"
#include "Words.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

namespace {
/// Packs one operand.
class TilePacker {
public:
  TilePacker(Emitter &e, const tile::OperandForm &form, MemRefType type, const View &view,
             ReadAhead readAhead, Value smallest);

  GemmOperand pack();

private:
  using Body = llvm::function_ref<SmallVector<Value>(Value, Value)>;

  void walk(int64_t outer, int64_t inner, int64_t width, Body body);
  void store(Value line, Value column, Value words);
  View withRows();
  Value loadAlongK(const View &source, Value line, Value column, int64_t width);
  void packAlongK();
  void packAcrossK();
  void packSquares();
  void packFromMatrix();
  Value divide(Value value, int64_t by) {
    return e.b.createOrFold<arith::DivUIOp>(value, e.index(by));
  }
  Value remainder(Value value, int64_t by) {
    return e.b.createOrFold<arith::RemUIOp>(value, e.index(by));
  }

  Emitter &e;
  const tile::OperandForm &form;
  MemRefType type;
  const View &view;
  ReadAhead readAhead;
  Value smallest;
  bool isAlongK;              ///< The view's rows run along k.
  int64_t numWords, numLines; ///< Along k, and along m or n.
  int64_t rows, columns;      ///< Of a tile.
  View tiles;
};
} // namespace

TilePacker::TilePacker(Emitter &e, const tile::OperandForm &form, MemRefType type, const View &view,
                       ReadAhead readAhead, Value smallest)
    : e(e), form(form), type(type), view(view), readAhead(readAhead), smallest(smallest),
      isAlongK(form.isRight == form.isTransposed) {
  int64_t height = type.getDimSize(type.getRank() - 2), length = type.getShape().back();
  numWords = (isAlongK ? length : height) / getWordSize(view.elementType);
  numLines = isAlongK ? height : length;
  int64_t words = tile::UnitTiles::divide(numWords), lines = tile::UnitTiles::divide(numLines);
  rows = form.isRight ? words : lines;
  columns = form.isRight ? lines : words;
  tiles =
      e.buffers.makeScratch({numLines / lines, numWords / words, rows, columns}, e.b.getI32Type());
}

/// Loops whose body makes vectors of `width` words, whose smallest magnitude is found on the
/// way if it is wanted.
void TilePacker::walk(int64_t outer, int64_t inner, int64_t width, Body body) {
  bool isSought = view.elementType.isBF16() && !smallest;
  SmallVector<Value> start;
  if (isSought)
    start.push_back(startSmallest(e, width));
  auto step = [&](Value i, Value j, ValueRange carried) {
    SmallVector<Value> next(carried);
    for (Value words : body(i, j))
      if (isSought)
        next[0] = foldSmallest(e, next[0], words);
    return next;
  };
  SmallVector<Value> end = e.loopCarrying(
      e.index(0), e.index(outer), e.index(1), start, [&](Value i, ValueRange before) {
        return e.loopCarrying(e.index(0), e.index(inner), e.index(1), before,
                              [&](Value j, ValueRange carried) { return step(i, j, carried); });
      });
  if (isSought)
    smallest = finishSmallest(e, end[0]);
}

/// Stores words to a row of a tile, from a column of it on. Both count over all tiles: a line of A is
/// a row of words along k; one of B is a word along k, whose columns run along n.
void TilePacker::store(Value line, Value column, Value words) {
  Value tileOfLine = divide(line, rows), tileOfColumn = divide(column, columns);
  Value row = remainder(line, rows), first = remainder(column, columns);
  Value stripe = form.isRight ? tileOfColumn : tileOfLine,
        step = form.isRight ? tileOfLine : tileOfColumn;
  e.buffers.storeVector(tiles, {stripe, step, row, first}, words);
}

/// The view, or a copy of it whose rows are contiguous.
View TilePacker::withRows() {
  if (e.buffers.isContiguousAlong(view, view.getRank() - 1))
    return view;
  return convertMatrix(e, view, type, view.elementType, readAhead);
}

Value TilePacker::loadAlongK(const View &source, Value line, Value column, int64_t width) {
  if (readAhead == ReadAhead::Allowed && isReadAhead(source)) {
    SmallVector<Value> index(source.getRank() - 2, e.index(0));
    index.append({line, e.mul(column, e.index(getWordSize(source.elementType)))});
    prefetchAfter(e, e.buffers.addressOf(source, e.buffers.toSurface(source, index)));
  }
  return loadWords(e, source, line, column, width);
}

/// A, as its rows lie.
void TilePacker::packAlongK() {
  View source = withRows();
  int64_t width = getStride(columns, e.options.vectorWidth);
  walk(numLines, numWords / width, width, [&](Value line, Value part) -> SmallVector<Value> {
    Value column = e.mul(part, e.index(width));
    Value words = loadAlongK(source, line, column, width);
    store(line, column, words);
    return {words};
  });
}

/// B, whose rows are interleaved.
void TilePacker::packAcrossK() {
  WordsAcrossRows source(e, withRows(), readAhead);
  int64_t width = e.options.vectorWidth;
  walk(numWords, numLines / width, width, [&](Value word, Value part) -> SmallVector<Value> {
    Value column = e.mul(part, e.index(width));
    Value words = source.load(word, column);
    store(word, column, words);
    return {words};
  });
}

/// Whole tiles, transposed in registers: of A from rows across k, of B from rows along k.
void TilePacker::packSquares() {
  View source = withRows();
  int64_t width = e.options.vectorWidth;
  std::optional<WordsAcrossRows> across;
  if (!isAlongK)
    across.emplace(e, source, readAhead);
  int64_t stripes = numLines / width, steps = numWords / width;
  walk(isAlongK ? stripes : steps, isAlongK ? steps : stripes, width, [&](Value i, Value j) {
    Value line = e.mul(i, e.index(width)), column = e.mul(j, e.index(width));
    SmallVector<Value> loaded;
    for (int64_t row = 0; row < width; ++row) {
      Value at = e.add(line, e.index(row));
      loaded.push_back(across ? across->load(at, column) : loadAlongK(source, at, column, width));
    }
    SmallVector<Value> turned = loaded;
    transposeSquare(e.b, turned);
    for (int64_t row = 0; row < width; ++row)
      store(e.add(column, e.index(row)), line, turned[row]);
    return loaded;
  });
}

/// From the words as dot products want them, where tiles are smaller than squares.
void TilePacker::packFromMatrix() {
  View words;
  if (isAlongK) {
    words = transposeWords(e, view, type, numWords, numLines, readAhead);
  } else {
    View across = interleaveRows(e, withRows(), numWords * getWordSize(view.elementType), numLines,
                                 smallest, readAhead);
    words = transposeMatrix(e, across, numWords, numLines, e.b.getI32Type());
  }
  int64_t height = form.isRight ? numWords : numLines, length = form.isRight ? numLines : numWords;
  int64_t width = getStride(columns, e.options.vectorWidth);
  walk(height, length / width, width, [&](Value line, Value part) -> SmallVector<Value> {
    Value column = e.mul(part, e.index(width));
    Value loaded = e.buffers.loadVector(words, {line, column}, width);
    store(line, column, loaded);
    return {loaded};
  });
}

GemmOperand TilePacker::pack() {
  int64_t width = e.options.vectorWidth;
  if (isAlongK != form.isRight)
    isAlongK ? packAlongK() : packAcrossK();
  else if (rows == width && columns == width)
    packSquares();
  else
    packFromMatrix();
  GemmOperand operand;
  operand.view = tiles;
  operand.isPacked = operand.isInTiles = true;
  operand.smallest = smallest;
  return operand;
}

GemmOperand tilewright::cpu::prepareTiles(Emitter &e, const tile::OperandForm &form,
                                          MemRefType type, const View &view, ReadAhead readAhead,
                                          Value smallest) {
  return TilePacker(e, form, type, view, readAhead, smallest).pack();
}

View tilewright::cpu::widenTiles(Emitter &e, const View &tiles, bool isRight) {
  auto extent = [&](unsigned dim) { return *getConstantIntValue(tiles.extents[dim]); };
  int64_t stripes = extent(0), steps = extent(1), rows = extent(2), columns = extent(3);
  int64_t lines = stripes * (isRight ? columns : rows), words = steps * (isRight ? rows : columns);
  Type element = e.b.getF32Type();
  int64_t height = isRight ? 2 * words : lines, length = isRight ? lines : 2 * words;
  View wide = e.buffers.makeScratch({height, length}, element);
  int64_t width = getStride(columns, e.options.vectorWidth);
  SmallVector<int64_t> order; // of neighbours along k
  for (int64_t lane = 0; lane < width; ++lane)
    order.append({lane, width + lane});
  auto widen = [&](ArrayRef<Value> at) {
    Value column = e.mul(at[3], e.index(width));
    auto [first, second] =
        widenPairs(e, e.buffers.loadVector(tiles, {at[0], at[1], at[2], column}, width));
    if (isRight) {
      Value word = e.add(e.mul(at[1], e.index(rows)), at[2]), row = e.mul(word, e.index(2));
      Value line = e.add(e.mul(at[0], e.index(columns)), column);
      e.buffers.storeVector(wide, {row, line}, first);
      e.buffers.storeVector(wide, {e.add(row, e.index(1)), line}, second);
      return;
    }
    Value line = e.add(e.mul(at[0], e.index(rows)), at[2]);
    Value word = e.add(e.mul(at[1], e.index(columns)), column);
    e.buffers.storeVector(wide, {line, e.mul(word, e.index(2))},
                          vector::ShuffleOp::create(e.b, first, second, order));
  };
  e.loopNest({e.index(stripes), e.index(steps), e.index(rows), e.index(columns / width)},
             /*isParallel=*/false, widen);
  return wide;
}
