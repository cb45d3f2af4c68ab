//===- Microkernel.cpp - the product of two matrices in memory --------------------------------===//

#include "Microkernel.h"
#include "Streams.h"
#include "tilewright/Tile/CpuPlan.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

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
  // With short vectors tiles of B are copied, and need the first cache.
  uint32_t locality = e.options.vectorWidth >= 16 ? kIntoFirst : kIntoSecond;
  for (const Stretches &stretches : product.prefetches) {
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

/// One block of C at (row, column), all of k; `number` counts the blocks before it. The first of a
/// panel packs B, if that is left to the product.
static void multiplyBlock(Emitter &e, const Product &product, int64_t rows, int64_t columns,
                          Value row, Value column, Value number, bool isFirst) {
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
      if (product.unpackedB && isFirst) {
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

/// All blocks of C: whole ones in loops, smaller ones at the right edge, and at the lower edge or, if
/// it packs B, at the upper one.
void tilewright::cpu::multiplyMatrices(Emitter &e, const Product &product) {
  // 16 registers hold 6 x 2 sums, 32 registers 6 x 4, with B's vectors and one of A beside them.
  int64_t numRegisters = e.options.vectorWidth >= 16 ? 32 : 16;
  int64_t vectors = std::min(tile::getPanelVectors(e.options.vectorWidth),
                             int64_t(llvm::divideCeil(product.n, product.width)));
  int64_t columns = vectors * product.width;
  int64_t rows = std::min<int64_t>((numRegisters - 2) / vectors - 1, Product::kMaxRows);
  while (product.isCompact && product.m % rows != 0)
    --rows; // one block for all rows
  auto overRows = [&](Value panel, int64_t blockColumns) {
    int64_t whole = product.m / rows, left = product.m % rows, start = 0;
    Value column = e.mul(panel, e.index(columns));
    Value before = e.mul(panel, e.index(llvm::divideCeil(product.m, rows)));
    if (product.unpackedB) {
      start = left ? left : rows;
      multiplyBlock(e, product, start, blockColumns, e.index(0), column, before, /*isFirst=*/true);
      before = e.add(before, e.index(1));
      whole = (product.m - start) / rows;
      left = 0;
    }
    if (whole)
      e.loopNest({e.index(whole)}, /*isParallel=*/false, [&](ArrayRef<Value> variables) {
        Value row = e.add(e.mul(variables[0], e.index(rows)), e.index(start));
        multiplyBlock(e, product, rows, blockColumns, row, column, e.add(before, variables[0]),
                      /*isFirst=*/false);
      });
    if (left)
      multiplyBlock(e, product, left, blockColumns, e.index(whole * rows), column,
                    e.add(before, e.index(whole)), /*isFirst=*/false);
  };
  int64_t whole = product.n / columns, left = product.n % columns;
  if (whole)
    e.loopNest({e.index(whole)}, /*isParallel=*/false,
               [&](ArrayRef<Value> variables) { overRows(variables[0], columns); });
  if (left)
    overRows(e.index(whole), left);
}
