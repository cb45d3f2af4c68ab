//===- TileProducts.cpp - products on the host's matrix unit (AMX) ----------------------------===//

#include "TileProducts.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

//===----------------------------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------------------------===//

namespace {
/// Writes the instructions, or calls of their stand-ins.
class TileCode {
public:
  explicit TileCode(Emitter &e) : e(e) {}

  void configure(const rt::TileConfig &config) {
    StringRef bytes(reinterpret_cast<const char *>(&config), sizeof(config));
    emit("llvm.x86.ldtilecfg", kTileConfig, {}, {e.services.makeText(bytes)});
  }
  void release() { emit("llvm.x86.tilerelease", kTileRelease, {}, {}); }
  void zero(int64_t tile) { emit("llvm.x86.tilezero", kTileZero, tile, {}); }
  void load(int64_t tile, Value address, Value strideBytes) {
    emit("llvm.x86.tileloadd64", kTileLoad, tile, {address, strideBytes});
  }
  void store(int64_t tile, Value address, Value strideBytes) {
    emit("llvm.x86.tilestored64", kTileStore, tile, {address, strideBytes});
  }
  void multiply(rt::TileProduct kind, int64_t sum, int64_t a, int64_t b) {
    if (e.options.tilesInSoftware)
      return call(kTileMultiply, {int64_t(kind), sum, a, b}, {});
    static constexpr StringLiteral names[] = {"llvm.x86.tdpbf16ps", "llvm.x86.tdpbssd",
                                              "llvm.x86.tdpbsud", "llvm.x86.tdpbusd",
                                              "llvm.x86.tdpbuud"};
    instruction(names[unsigned(kind)], {sum, a, b}, {});
  }

private:
  void emit(StringRef name, StringRef standIn, ArrayRef<int64_t> tiles, ArrayRef<Value> operands) {
    if (e.options.tilesInSoftware)
      call(standIn, tiles, operands);
    else
      instruction(name, tiles, operands);
  }
  SmallVector<Value> join(Type type, ArrayRef<int64_t> tiles, ArrayRef<Value> operands) {
    SmallVector<Value> all;
    for (int64_t tile : tiles)
      all.push_back(e.numbers.integer(type, tile));
    all.append(operands.begin(), operands.end());
    return all;
  }
  void instruction(StringRef name, ArrayRef<int64_t> tiles, ArrayRef<Value> operands) {
    LLVM::CallIntrinsicOp::create(e.b, e.b.getStringAttr(name),
                                  join(e.b.getI8Type(), tiles, operands));
  }
  void call(StringRef name, ArrayRef<int64_t> tiles, ArrayRef<Value> operands) {
    SmallVector<Value> all = join(e.b.getI32Type(), tiles, operands);
    e.numbers.callVoid(name, all);
  }

  Emitter &e;
};

//===----------------------------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------------------------===//

constexpr int64_t kWordBytes = 4;
constexpr int64_t kTileOfA = 4, kTileOfB = 6;

/// A product divided into blocks of up to two by two tiles.
class TileBlocks {
public:
  TileBlocks(Emitter &e, const Product &product, const GemmOperand &left, const GemmOperand &right,
             tile::UnitTiles tiles, rt::TileProduct kind)
      : e(e), product(product), tiles(tiles), kind(kind), code(e), a(product.a),
        b(asMatrix(e, right.view)), strideA(product.a.rowStride), strideB(e.index(tiles.columns)) {
    // Word k of the line at the start of a stripe of tiles is at a constant distance from k = 0.
    b.rowStride = e.index(tiles.columns), b.columnStride = e.index(product.k);
    if (left.isInTiles) {
      a = asMatrix(e, left.view);
      a.rowStride = e.index(product.k), a.columnStride = e.index(tiles.rows);
      strideA = e.index(tiles.words);
    }
    if (sumsFloats())
      sums =
          asMatrix(e, e.buffers.makeScratch({2 * tiles.rows, 2 * tiles.columns}, product.sumType));
  }

  void multiply();

private:
  bool sumsFloats() const { return isa<FloatType>(product.sumType); }
  rt::TileConfig makeConfig() const;
  Value bytes(Value elements) { return e.toI64(e.mul(elements, e.index(kWordBytes))); }
  Value address(const Matrix &matrix, Type element, Value row, Value column) {
    return addressIn(e, matrix, element, row, column);
  }
  Value after(Value first, int64_t count) { return e.add(first, e.index(count)); }
  void moveSums(bool isLoad, const Matrix &matrix, Value row, Value column);
  void overK(Value row, Value column);
  void addToSource(Value row, Value column);
  void multiplyBlock(int64_t high, int64_t wide, Value row, Value column);
  void multiplyPanel(int64_t wide, Value column);

  Emitter &e;
  const Product &product;
  tile::UnitTiles tiles;
  rt::TileProduct kind;
  TileCode code;
  Matrix a, b;                ///< By the first line and the first word of a tile.
  Value strideA, strideB;     ///< From row to row of a tile, in words.
  Matrix sums{};              ///< Where a block of floats is left for the addition to C.
  int64_t high = 0, wide = 0; ///< Tiles of the block being written.
};
} // namespace

rt::TileConfig TileBlocks::makeConfig() const {
  rt::TileConfig config;
  auto set = [&](int64_t tile, int64_t rows, int64_t words) {
    config.rows[tile] = uint8_t(rows);
    config.rowBytes[tile] = uint16_t(words * kWordBytes);
  };
  for (int64_t tile = 0; tile < kTileOfA; ++tile)
    set(tile, tiles.rows, tiles.columns);
  for (int64_t tile : {kTileOfA, kTileOfA + 1})
    set(tile, tiles.rows, tiles.words);
  for (int64_t tile : {kTileOfB, kTileOfB + 1})
    set(tile, tiles.words, tiles.columns);
  return config;
}

/// Between the tiles of sums and a block of a matrix.
void TileBlocks::moveSums(bool isLoad, const Matrix &matrix, Value row, Value column) {
  Value stride = bytes(matrix.rowStride);
  for (int64_t i = 0; i < high; ++i)
    for (int64_t j = 0; j < wide; ++j) {
      Value start = address(matrix, product.sumType, after(row, i * tiles.rows),
                            after(column, j * tiles.columns));
      if (isLoad)
        code.load(2 * i + j, start, stride);
      else
        code.store(2 * i + j, start, stride);
    }
}

void TileBlocks::overK(Value row, Value column) {
  int64_t steps = product.k / tiles.words;
  Type word = product.operandType;
  Value bytesA = bytes(strideA), bytesB = bytes(strideB);
  e.loopNestWithoutPolls(e.index(0), e.index(steps), /*isParallel=*/false, [&](auto variables) {
    Value k = e.mul(variables[0], e.index(tiles.words));
    for (int64_t j = 0; j < wide; ++j)
      code.load(kTileOfB + j, address(b, word, k, after(column, j * tiles.columns)), bytesB);
    for (int64_t i = 0; i < high; ++i) {
      code.load(kTileOfA + i, address(a, word, after(row, i * tiles.rows), k), bytesA);
      for (int64_t j = 0; j < wide; ++j)
        code.multiply(kind, 2 * i + j, kTileOfA + i, kTileOfB + j);
    }
  });
}

/// C = source + the block of sums that was left in memory.
void TileBlocks::addToSource(Value row, Value column) {
  int64_t columns = wide * tiles.columns, width = std::min(product.width, columns);
  e.loopNestWithoutPolls(
      e.index(0), e.index(high * tiles.rows), /*isParallel=*/false, [&](auto variables) {
        Value line = e.add(row, variables[0]);
        for (int64_t first = 0; first < columns; first += width) {
          int64_t used = std::min(width, columns - first);
          auto load = [&](const Matrix &matrix, Value at, Value start) {
            return loadVector(e, matrix, product.sumType, width, at, after(start, first), used);
          };
          Value sum = arith::AddFOp::create(e.b, load(product.source, line, column),
                                            load(sums, variables[0], e.index(0)));
          storeVector(e, product.c, line, after(column, first), sum, used);
        }
      });
}

void TileBlocks::multiplyBlock(int64_t newHigh, int64_t newWide, Value row, Value column) {
  high = newHigh, wide = newWide;
  for (int64_t i = 0; i < high; ++i)
    for (int64_t j = 0; j < wide && sumsFloats(); ++j)
      code.zero(2 * i + j);
  if (!sumsFloats())
    moveSums(/*isLoad=*/true, product.source, row, column);
  overK(row, column);
  if (!sumsFloats())
    return moveSums(/*isLoad=*/false, product.c, row, column);
  auto store = [&] { moveSums(/*isLoad=*/false, product.c, row, column); };
  auto add = [&] {
    moveSums(/*isLoad=*/false, sums, e.index(0), e.index(0));
    addToSource(row, column);
  };
  if (!product.isNew)
    return add();
  if (std::optional<int64_t> isNew = getConstantIntValue(product.isNew))
    return *isNew ? store() : add();
  auto branch = scf::IfOp::create(e.b, product.isNew, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(branch.thenBlock());
  store();
  e.b.setInsertionPointToStart(branch.elseBlock());
  add();
}

void TileBlocks::multiplyPanel(int64_t panelWidth, Value column) {
  code.configure(makeConfig());
  int64_t step = 2 * tiles.rows, whole = product.m / step, left = product.m % step;
  if (whole)
    e.loopNestWithoutPolls(e.index(0), e.index(whole), /*isParallel=*/false, [&](auto variables) {
      multiplyBlock(2, panelWidth, e.mul(variables[0], e.index(step)), column);
    });
  if (left)
    multiplyBlock(1, panelWidth, e.index(whole * step), column);
  code.release();
}

void TileBlocks::multiply() {
  int64_t step = 2 * tiles.columns, whole = product.n / step, left = product.n % step;
  if (whole)
    e.loopNest({e.index(whole)}, /*isParallel=*/false, [&](ArrayRef<Value> variables) {
      multiplyPanel(2, e.mul(variables[0], e.index(step)));
    });
  if (left)
    multiplyPanel(1, e.index(whole * step));
}

void tilewright::cpu::multiplyOnTiles(Emitter &e, const Product &product, const GemmOperand &left,
                                      const GemmOperand &right, tile::UnitTiles tiles,
                                      rt::TileProduct kind) {
  TileBlocks(e, product, left, right, tiles, kind).multiply();
}
