//===- Microkernel.cpp - the product of two matrices in memory --------------------------------===//

#include "Microkernel.h"
#include "Streams.h"
#include "tilewright/Tile/CpuPlan.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

/// A block of fewer vectors of sums waits for them: a core that starts two multiply-adds in a cycle has
/// eight under way, and finds the next ones in time only if there are some more.
static constexpr int64_t kMinSums = 12;

/// Prefetches go into the first-level cache and so into all, or into the second level.
static constexpr uint32_t kIntoFirst = 3, kIntoSecond = 2;

Value tilewright::cpu::castVector(ImplicitLocOpBuilder &b, Value value, Type element) {
  auto type = cast<VectorType>(value.getType());
  int64_t count =
      type.getNumElements() * type.getElementTypeBitWidth() / element.getIntOrFloatBitWidth();
  return vector::BitCastOp::create(b, VectorType::get({count}, element), value);
}

Value tilewright::cpu::dotBf16(Emitter &e, Value left, Value right, Value sum) {
  Type element = e.b.getBF16Type();
  return e.numbers.intrinsic(
      "llvm.x86.avx512bf16.dpbf16ps.512", sum.getType(),
      {sum, castVector(e.b, left, element), castVector(e.b, right, element)});
}

Value tilewright::cpu::dotInt8(Emitter &e, Value unsignedBytes, Value signedBytes, Value sum) {
  Type element = e.b.getI8Type();
  return e.numbers.intrinsic(
      "llvm.x86.avx512.vpdpbusd.512", sum.getType(),
      {sum, castVector(e.b, unsignedBytes, element), castVector(e.b, signedBytes, element)});
}

Value tilewright::cpu::dotInt16(Emitter &e, Value left, Value right, Value sum) {
  Type element = e.b.getI16Type();
  Value products =
      e.numbers.intrinsic("llvm.x86.avx2.pmadd.wd", sum.getType(),
                          {castVector(e.b, left, element), castVector(e.b, right, element)});
  return arith::AddIOp::create(e.b, sum, products);
}

/// Prefetches one line of each part. `block` counts the blocks of C before this one. The last
/// stretch stands for those after it.
static void prefetchLines(Emitter &e, const Product &product, Value block, Value k) {
  auto divide = [&](Value value, int64_t by) {
    return e.b.createOrFold<arith::DivUIOp>(value, e.index(by));
  };
  auto remainder = [&](Value value, int64_t by) {
    return e.b.createOrFold<arith::RemUIOp>(value, e.index(by));
  };
  for (const Stretches &stretches : product.prefetches) {
    // With short vectors tiles of B are copied, and need the first cache.
    bool isForFirst = e.options.vectorWidth >= 16 && !stretches.isForLater;
    uint32_t locality = isForFirst ? kIntoFirst : kIntoSecond;
    Value number, line;
    if (stretches.lines % product.k == 0) { // the loop over k stays in one stretch
      int64_t blocks = stretches.lines / product.k;
      number = divide(block, blocks);
      line = e.add(e.mul(remainder(block, blocks), e.index(product.k)), k);
    } else {
      Value step = e.add(e.mul(block, e.index(product.k)), k);
      number = divide(step, stretches.lines);
      line = remainder(step, stretches.lines);
    }
    number = e.b.createOrFold<arith::MinUIOp>(number, e.index(stretches.count - 1));
    Value start = stretches.startOf(number), bytes = e.toI64(e.mul(line, e.index(kCacheLine)));
    // Not `inbounds`: boxes may begin before the part does, and end after the tensor.
    Value address = LLVM::GEPOp::create(e.b, start.getType(), e.b.getI8Type(), start,
                                        ArrayRef<LLVM::GEPArg>{bytes});
    LLVM::Prefetch::create(e.b, address, /*rw=*/0, locality, /*cache=*/1);
  }
}

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
static Value multiplyAdd(Emitter &e, const Product &product, Value left, Value right, Value sum) {
  switch (product.step) {
  case Product::Step::Fma:
    if (isa<FloatType>(product.sumType))
      return vector::FMAOp::create(e.b, left, right, sum);
    return arith::AddIOp::create(e.b, sum, arith::MulIOp::create(e.b, left, right));
  case Product::Step::DotBf16:
    return dotBf16(e, left, right, sum);
  case Product::Step::DotInt16:
    return dotInt16(e, left, right, sum);
  case Product::Step::DotUnsignedSigned:
    return dotInt8(e, left, right, sum);
  case Product::Step::DotSignedUnsigned:
    return dotInt8(e, right, left, sum);
  }
  llvm_unreachable("unknown step");
}

/// A vector of an operand that is not packed yet, as sums.
static Value loadUnpacked(Emitter &e, const Product &product, const Product::Unpacked &source,
                          Value row, Value column) {
  Type type = source.elementType;
  Value stored = loadVector(e, source.matrix, getStorageType(type), product.width, row, column);
  return e.numbers.convert(e.numbers.unpack(stored, type), type, product.sumType);
}

/// Brings rows of A to where the block reads them.
static void packRows(Emitter &e, const Product &product, Value row, int64_t rows) {
  e.loopNest(
      {e.index(product.k / product.width)}, /*isParallel=*/false, [&](ArrayRef<Value> vector) {
        Value column = e.mul(vector[0], e.index(product.width));
        for (int64_t i = 0; i < rows; ++i) {
          Value sums = loadUnpacked(e, product, *product.unpackedA, e.add(row, e.index(i)), column);
          storeVector(e, product.a, e.index(i), column, sums, product.width);
        }
      });
}

namespace {
/// Which block of C is computed.
struct BlockPlace {
  Value row, column; ///< Where it begins.
  Value number;      ///< Blocks before it.
  bool packsB;       ///< Left to the product, B is packed by one block of each panel.
};
} // namespace

/// One block of C, all of k.
static void multiplyBlock(Emitter &e, const Product &product, int64_t rows, int64_t columns,
                          const BlockPlace &place) {
  auto [row, column, number, packsB] = place;
  RegisterBlock block{rows, columns, product.width};
  Type element = product.operandType;
  Value rowOfA = product.unpackedA ? e.index(0) : row;
  if (product.unpackedA)
    packRows(e, product, row, rows);
  auto columnAt = [&](int64_t vector) { return e.add(column, e.index(vector * block.width)); };
  auto loadSum = [&](const Matrix &matrix, Value line, int64_t j) {
    return loadVector(e, matrix, product.sumType, block.width, line, columnAt(j), block.used(j));
  };
  for (int64_t i = 0; i < rows && product.isFarAway; ++i)
    for (int64_t j = 0; j < block.vectors(); ++j)
      LLVM::Prefetch::create(
          e.b, addressIn(e, product.c, product.sumType, e.add(row, e.index(i)), columnAt(j)),
          /*rw=*/1, /*hint=*/3, /*cache=*/1);
  auto sumVector = VectorType::get({block.width}, product.sumType);
  auto loadScale = [&](int64_t i) -> Value {
    if (!product.scale)
      return {};
    Value address =
        addressIn(e, *product.scale, product.sumType, e.add(row, e.index(i)), e.index(0));
    Value factor = e.buffers.tagged(LLVM::LoadOp::create(e.b, product.sumType, address,
                                                         /*alignment=*/4),
                                    product.scale->root);
    return vector::BroadcastOp::create(e.b, sumVector, factor);
  };
  auto loadSource = [&](int64_t i, int64_t j, Value factor) -> Value {
    Value sum = loadSum(product.source, e.add(row, e.index(i)), j);
    return factor ? arith::MulFOp::create(e.b, sum, factor).getResult() : sum;
  };
  SmallVector<Value> sums;
  for (int64_t i = 0; i < rows; ++i) {
    Value factor = product.startsAtZero ? Value() : loadScale(i);
    for (int64_t j = 0; j < block.vectors(); ++j) {
      sums.push_back(product.startsAtZero ? e.numbers.real(sumVector, 0)
                                          : loadSource(i, j, factor));
      if (product.excess) // known beforehand, so that it is taken off at the start
        sums.back() =
            arith::SubIOp::create(e.b, sums.back(), loadSum(*product.excess, e.index(0), j));
    }
  }
  auto step = [&](Value k, ValueRange carried) {
    SmallVector<Value> right, next;
    prefetchLines(e, product, number, k);
    for (int64_t j = 0; j < block.vectors(); ++j) {
      Value inB = product.unpackedB ? e.index(j * block.width) : columnAt(j);
      if (packsB) {
        right.push_back(loadUnpacked(e, product, *product.unpackedB, k, columnAt(j)));
        storeVector(e, product.b, k, inB, right.back(), block.width);
        continue;
      }
      right.push_back(loadVector(e, product.b, element, block.width, k, inB,
                                 product.isPadded ? block.width : block.used(j)));
    }
    auto type = VectorType::get({block.width}, element);
    for (int64_t i = 0; i < rows; ++i) {
      Value address = addressIn(e, product.a, element, e.add(rowOfA, e.index(i)), k);
      Value left = e.buffers.tagged(LLVM::LoadOp::create(e.b, element, address, product.alignmentA),
                                    product.a.root);
      Value spread = vector::BroadcastOp::create(e.b, type, left);
      for (int64_t j = 0; j < block.vectors(); ++j)
        next.push_back(multiplyAdd(e, product, spread, right[j], carried[i * block.vectors() + j]));
    }
    return next;
  };
  sums = e.loopCarrying(e.index(0), e.index(product.k), e.index(1), sums, step);
  for (int64_t i = 0; i < rows; ++i) {
    Value factor = product.startsAtZero ? loadScale(i) : Value();
    for (int64_t j = 0; j < block.vectors(); ++j) {
      Value sum = sums[i * block.vectors() + j];
      if (product.startsAtZero)
        sum = arith::AddFOp::create(e.b, loadSource(i, j, factor), sum);
      storeVector(e, product.c, e.add(row, e.index(i)), columnAt(j), sum, block.used(j));
    }
  }
}

namespace {
/// How the rows of C are divided into blocks: large ones, then small ones. There is a large one.
struct RowBlocks {
  int64_t large, largeRows, small, smallRows;

  int64_t count() const { return large + small; }
  /// As few as possible, of `most` rows at most, with so many vectors of sums in each row.
  static RowBlocks divide(int64_t rows, int64_t most, int64_t vectors) {
    int64_t whole = rows / most, left = rows % most;
    if (whole == 0)
      return {1, left, 0, 0};
    if (left == 0 || left * vectors >= kMinSums)
      return {whole, most, left ? 1 : 0, left};
    int64_t count = whole + 1, size = rows / count, longer = rows % count;
    return longer ? RowBlocks{longer, size + 1, count - longer, size}
                  : RowBlocks{count, size, 0, 0};
  }
};
} // namespace

/// A loop over blocks or panels. LLVM would write out short ones, and each block is long.
static void loopOverBlocks(Emitter &e, int64_t first, int64_t past,
                           llvm::function_ref<void(Value)> body) {
  e.loopNest({e.index(first)}, {e.index(past)}, /*isParallel=*/false, [&](ArrayRef<Value> number) {
    if (past - first > 1)
      keepRolled(cast<scf::ForOp>(e.b.getInsertionBlock()->getParentOp()));
    body(number[0]);
  });
}

/// The blocks of one panel of C. Where B is left to be packed, the first one does it: a large one, which
/// has the most to do while it waits for B.
static void multiplyPanel(Emitter &e, const Product &product, const RowBlocks &blocks,
                          int64_t columns, Value panel, Value column) {
  Value before = e.mul(panel, e.index(blocks.count()));
  auto multiplyLarge = [&](Value block, bool packsB) {
    Value row = e.mul(block, e.index(blocks.largeRows));
    multiplyBlock(e, product, blocks.largeRows, columns,
                  {row, column, e.add(before, block), packsB});
  };
  int64_t done = 0;
  if (product.unpackedB)
    multiplyLarge(e.index(done++), /*packsB=*/true);
  if (done < blocks.large)
    loopOverBlocks(e, done, blocks.large,
                   [&](Value block) { multiplyLarge(block, /*packsB=*/false); });
  if (blocks.small)
    loopOverBlocks(e, 0, blocks.small, [&](Value block) {
      Value row =
          e.add(e.index(blocks.large * blocks.largeRows), e.mul(block, e.index(blocks.smallRows)));
      Value number = e.add(before, e.add(e.index(blocks.large), block));
      multiplyBlock(e, product, blocks.smallRows, columns, {row, column, number, /*packsB=*/false});
    });
}

/// All blocks of C, panel by panel. The last panel may have fewer columns.
void tilewright::cpu::multiplyMatrices(Emitter &e, const Product &product) {
  if (!product.prefetchesAtEnd.empty() && !product.isCompact) {
    Product other = product, last = product;
    for (const Stretches &stretches : product.prefetchesAtEnd) {
      last.prefetches.push_back(stretches);
      last.prefetches.back().isForLater = true;
    }
    other.prefetchesAtEnd = last.prefetchesAtEnd = {};
    auto branch = scf::IfOp::create(e.b, product.isLast, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToStart(branch.thenBlock());
    multiplyMatrices(e, last);
    e.b.setInsertionPointToStart(branch.elseBlock());
    return multiplyMatrices(e, other);
  }
  // 16 registers hold 6 x 2 sums, 32 registers 6 x 4, with B's vectors and one of A beside them.
  int64_t numRegisters = e.options.vectorWidth >= 16 ? 32 : 16;
  int64_t vectors = std::min(tile::getPanelVectors(e.options.vectorWidth),
                             int64_t(llvm::divideCeil(product.n, product.width)));
  int64_t columns = vectors * product.width;
  int64_t rows = std::min<int64_t>((numRegisters - 2) / vectors - 1, Product::kMaxRows);
  while (product.isCompact && product.m % rows != 0)
    --rows; // one block for all rows
  RowBlocks blocks = RowBlocks::divide(product.m, rows, vectors);
  int64_t whole = product.n / columns, left = product.n % columns;
  if (whole)
    loopOverBlocks(e, 0, whole, [&](Value panel) {
      multiplyPanel(e, product, blocks, columns, panel, e.mul(panel, e.index(columns)));
    });
  if (left)
    multiplyPanel(e, product, blocks, left, e.index(whole), e.index(whole * columns));
}
