//===- Wgmma.cpp - the products of wgmma.mma_async --------------------------------------------===//
//
// PTX ISA, "Asynchronous warpgroup-level matrix instructions". Four warps compute D (64 x N) = A
// (64 x K) * B (K x N) + D, K being 32 bytes; warp w of them owns rows 16w to 16w + 15 and needs
// nothing of the others, so each warp runs its part when it gets there. With g = lane / 4 and t =
// lane % 4, element i of a lane's accumulators is
//
//     row g + 8 * (i / 2 % 2), column 8 * (i / 4) + 2 * t + i % 2     (f16: two columns a register)
//
// and A in registers is the fragment of mma.m16n8k*. Products take place when they are issued, or
// when they are waited for (Late.h); when a program may rely on that is the business of the checks.
//
//===-----------------------------------------------------------------------------------===//
#include "Wgmma.h"
#include "Late.h"
#include "vgpu/Exec/LaneMemory.h"
#include "vgpu/Exec/MatrixMath.h"
#include "vgpu/Exec/SmallFloat.h"
#include "vgpu/Machine/Launch.h"
#include "llvm/Support/FormatVariadic.h"

using namespace vgpu::ptx;

namespace vgpu {

MatrixDescriptor MatrixDescriptor::decode(uint64_t bits) {
  static constexpr Swizzle modes[] = {Swizzle::None, Swizzle::B128, Swizzle::B64, Swizzle::B32};
  auto field = [&](unsigned first) { return (bits >> first & 0x3fff) << 4; };
  return {field(0), field(16), field(32), modes[bits >> 62], static_cast<unsigned>(bits >> 49 & 7)};
}

uint64_t MatrixDescriptor::chunkAlongK(unsigned row, unsigned kByte) const {
  uint64_t at = start + row / 8 * stride;
  at += swizzle == Swizzle::None ? kByte / 16 * leading + row % 8 * 16
                                 : uint64_t(row % 8) * swizzleSpan(swizzle) + kByte;
  return swizzleAddress(at, swizzle);
}

uint64_t MatrixDescriptor::chunkAlongRows(unsigned row, unsigned k) const {
  unsigned span = swizzleSpan(swizzle), rowByte = row * 2;
  if (swizzle == Swizzle::None)
    return start + row / 8 * stride + k / 8 * leading + k % 8 * 16;
  return swizzleAddress(
      start + rowByte / span * leading + k / 8 * stride + k % 8 * span + rowByte % span, swizzle);
}

namespace {

constexpr unsigned warpRows = wgmmaWarpRows;
using Shape = WgmmaShape;

const Slot &descriptorB(const Inst &in) { return in.src(wgmmaSourcesOfA(in)); }
const Slot &scaleD(const Inst &in) { return in.src(wgmmaSourcesOfA(in) + 1); }

/// An operand in shared memory: calls visit(chunk address, first row, first k) for 16-byte chunks
/// that run along k, or along the rows if the operand is transposed.
template <class Visit>
void forEachChunk(const MatrixDescriptor &matrix, bool isTrans, unsigned firstRow, unsigned rows,
                  const Shape &shape, Visit visit) {
  if (isTrans) {
    for (unsigned k = 0; k < shape.k; ++k)
      for (unsigned row = 0; row < rows; row += 8)
        visit(matrix.chunkAlongRows(firstRow + row, k), row, k);
    return;
  }
  unsigned perChunk = 128 / shape.elementBits();
  for (unsigned row = 0; row < rows; ++row)
    for (unsigned half = 0; half < 2; ++half)
      visit(matrix.chunkAlongK(firstRow + row, half * 16), row, half * perChunk);
}

/// Whether the lanes agree on a valid descriptor; its chunks in bounds are the caller's business.
bool readDescriptor(Warp &w, const Inst &in, const Slot &slot, uint32_t mask,
                    MatrixDescriptor &matrix) {
  unsigned first = static_cast<unsigned>(__builtin_ctz(mask));
  uint64_t bits = w.lane(slot, first);
  bool isUniform = true;
  forEachLane(mask, [&](unsigned lane) { isUniform &= w.lane(slot, lane) == bits; });
  matrix = MatrixDescriptor::decode(bits);
  if (isUniform && matrix.baseOffset == 0)
    return true;
  report(w, in, first, FindingKind::InvalidAccess,
         isUniform ? "a matrix descriptor with a base offset is not supported"
                   : "the lanes have different matrix descriptors");
  return false;
}

/// The chunks one warp reads, in bounds.
bool collectChunks(Warp &w, const Inst &in, const MatrixDescriptor &matrix, bool isTrans,
                   unsigned firstRow, unsigned rows, std::vector<uint64_t> &chunks) {
  uint64_t outside = 0;
  bool isInside = true;
  forEachChunk(matrix, isTrans, firstRow, rows, wgmmaShapeOf(in),
               [&](uint64_t address, unsigned, unsigned) {
                 chunks.push_back(address);
                 if (address + 16 > w.block->shared.size()) {
                   isInside = false;
                   outside = address;
                 }
               });
  if (!isInside)
    report(w, in, 0, FindingKind::OutOfBounds,
           llvm::formatv("a matrix descriptor reaches {0}, shared memory has {1} bytes",
                         describeAddress(w, Space::Shared, outside), w.block->shared.size()));
  return isInside;
}

/// Tells the observers of the reads, 32 chunks at a time.
void notifyReads(Warp &w, const Inst &in, llvm::ArrayRef<uint64_t> chunks, bool isRepeated) {
  for (size_t begin = 0; begin < chunks.size(); begin += warpSize) {
    unsigned count = static_cast<unsigned>(std::min<size_t>(warpSize, chunks.size() - begin));
    uint64_t addresses[warpSize] = {};
    uint8_t *host[warpSize] = {};
    std::copy_n(chunks.begin() + begin, count, addresses);
    uint32_t lanes = count == warpSize ? fullMask : (1u << count) - 1;
    MemoryAccess access{w,
                        in,
                        Space::Shared,
                        AccessKind::AsyncRead,
                        lanes,
                        16,
                        addresses,
                        host,
                        nullptr,
                        MemoryOrder::Weak,
                        MemoryScope::Cta,
                        AccessBy::AsyncProxy,
                        isRepeated};
    for (Observer *observer : w.launch->observers)
      observer->onAccess(access);
  }
}

// --- elements

/// All 256 values of an 8-bit format.
const float *valuesOf8Bit(Type type) {
  auto makeTable = [](Type which) {
    std::array<float, 256> table;
    for (unsigned bits = 0; bits < 256; ++bits)
      table[bits] = matrixElementToFloat(bits, which);
    return table;
  };
  static const std::array<float, 256> e4m3 = makeTable(Type::E4M3), e5m2 = makeTable(Type::E5M2);
  return type == Type::E4M3 ? e4m3.data() : e5m2.data();
}

/// The elements of a 16-byte chunk or of a row of registers.
void toElements(const uint8_t *bytes, unsigned count, Type type, float *values) {
  switch (type) {
  case Type::F16:
    return halvesToFloats(reinterpret_cast<const uint16_t *>(bytes), values, count);
  case Type::E4M3:
  case Type::E5M2: {
    const float *table = valuesOf8Bit(type);
    for (unsigned i = 0; i < count; ++i)
      values[i] = table[bytes[i]];
    return;
  }
  default: {
    unsigned width = byteWidth(type);
    for (unsigned i = 0; i < count; ++i) {
      uint64_t bits = 0;
      std::memcpy(&bits, bytes + size_t(i) * width, width);
      values[i] = matrixElementToFloat(bits, type);
    }
  }
  }
}
void toElements(const uint8_t *bytes, unsigned count, Type type, int32_t *values) {
  for (unsigned i = 0; i < count; ++i)
    values[i] = type == Type::B1   ? bytes[i / 8] >> (i % 8) & 1
                : type == Type::S8 ? static_cast<int8_t>(bytes[i])
                                   : bytes[i];
}

/// Reads an operand of shared memory: element (row, k) goes to to[row * rowStep + k * kStep].
template <class T>
void readOperand(Warp &w, const Shape &shape, Type type, const MatrixDescriptor &matrix,
                 bool isTrans, unsigned firstRow, unsigned rows, T *to, unsigned rowStep,
                 unsigned kStep) {
  unsigned count = 128 / shape.elementBits(), step = isTrans ? rowStep : kStep;
  T values[128];
  forEachChunk(matrix, isTrans, firstRow, rows, shape,
               [&](uint64_t address, unsigned row, unsigned k) {
                 toElements(w.block->shared.data() + address, count, type, values);
                 T *at = to + size_t(row) * rowStep + size_t(k) * kStep;
                 for (unsigned i = 0; i < count; ++i)
                   at[size_t(i) * step] = values[i];
               });
}

/// The fragment of A in registers, rows of 32 bytes: register i holds 4 bytes of row g + 8 * (i %
/// 2) at byte 4 * t + 16 * (i / 2).
void gatherFragment(Warp &w, const Slot *slots, uint8_t (&rows)[warpRows][32]) {
  for (unsigned i = 0; i < 4; ++i)
    for (unsigned lane = 0; lane < warpSize; ++lane)
      std::memcpy(&rows[lane / 4 + 8 * (i % 2)][4 * (lane % 4) + 16 * (i / 2)],
                  w.row<uint32_t>(slots[i]) + lane, 4);
}

template <class T>
void readA(Warp &w, const Inst &in, const Shape &shape, const MatrixDescriptor &matrix, T *a) {
  if (!(in.flags & RegistersA))
    return readOperand(w, shape, shape.a, matrix, in.flags & TransA, warpRows * (w.index % 4),
                       warpRows, a, shape.k, 1);
  uint8_t rows[warpRows][32];
  gatherFragment(w, &in.src(0), rows);
  for (unsigned r = 0; r < warpRows; ++r)
    toElements(rows[r], shape.k, shape.a, a + r * shape.k);
}

/// Calls visit(register, lane, row, column, half of a packed pair) for all accumulators.
template <class Visit> void forEachAccumulator(const Shape &shape, Visit visit) {
  bool isPacked = shape.d == Type::F16;
  for (unsigned row = 0; row < warpRows; ++row)
    for (unsigned column = 0; column < shape.n; ++column) {
      unsigned lane = row % 8 * 4 + column % 8 / 2, pair = 2 * (column / 8) + row / 8;
      if (isPacked)
        visit(pair, lane, row, column, column % 2);
      else
        visit(2 * pair + column % 2, lane, row, column, 0u);
    }
}

/// Checks and announces the operands of one warp; false if the product cannot take place.
bool openOperands(Warp &w, const Inst &in, uint32_t mask, WgmmaProduct &product) {
  uint64_t bitsOfA = in.flags & RegistersA ? 0 : w.lane(in.src(0), 0);
  for (Observer *observer : w.launch->observers)
    observer->onWarpgroupInst(w, in, bitsOfA, w.lane(descriptorB(in), 0));
  checkProductRegisters(w, in);
  std::vector<uint64_t> chunks;
  if (!(in.flags & RegistersA) && (!readDescriptor(w, in, in.src(0), mask, product.a) ||
                                   !collectChunks(w, in, product.a, in.flags & TransA,
                                                  warpRows * (w.index % 4), warpRows, chunks)))
    return false;
  size_t chunksOfA = chunks.size();
  if (!readDescriptor(w, in, descriptorB(in), mask, product.b) ||
      !collectChunks(w, in, product.b, in.flags & TransB, 0, wgmmaShapeOf(in).n, chunks))
    return false;
  // B is read once for all four warps; each of them needs all of it.
  llvm::ArrayRef<uint64_t> all = chunks;
  notifyReads(w, in, all.take_front(chunksOfA), /*isRepeated=*/false);
  notifyReads(w, in, all.drop_front(chunksOfA), /*isRepeated=*/w.index % 4 != 0);
  for (Observer *observer : w.launch->observers)
    observer->onTileRead(w, in, mask, chunks, TileGroups::Wgmma);
  return true;
}

void multiplyFloats(Warp &w, const WgmmaProduct &product) {
  const Inst &in = *product.inst;
  Shape shape = wgmmaShapeOf(in);
  std::vector<float> a(warpRows * shape.k), b(size_t(shape.k) * shape.n),
      acc(size_t(warpRows) * shape.n);
  readA(w, in, shape, product.a, a.data());
  readOperand(w, shape, shape.b, product.b, in.flags & TransB, 0, shape.n, b.data(), 1, shape.n);
  if (bool(in.flags & NegateA) != bool(in.flags & NegateB))
    for (float &value : a)
      value = -value;
  bool isPacked = shape.d == Type::F16;
  if (product.adds)
    forEachAccumulator(shape, [&](unsigned reg, unsigned lane, unsigned row, unsigned column,
                                  unsigned half) {
      uint32_t bits = w.row<uint32_t>(in.dst(reg))[lane];
      acc[row * shape.n + column] = isPacked
                                        ? halfToFloat(static_cast<uint16_t>(bits >> (16 * half)))
                                        : std::bit_cast<float>(bits);
    });
  multiplyAccumulate(a.data(), b.data(), acc.data(), warpRows, shape.n, shape.k);
  forEachAccumulator(shape, [&](unsigned reg, unsigned lane, unsigned row, unsigned column,
                                unsigned half) {
    uint32_t &bits = w.row<uint32_t>(in.dst(reg))[lane];
    float value = acc[row * shape.n + column];
    bits = isPacked
               ? (bits & 0xffff0000u >> (16 * half)) | uint32_t(floatToHalf(value)) << (16 * half)
               : std::bit_cast<uint32_t>(canonical(value));
  });
}

/// 8-bit integers, and bits: the product of two bits is their `and`.
void multiplyIntegers(Warp &w, const WgmmaProduct &product) {
  const Inst &in = *product.inst;
  Shape shape = wgmmaShapeOf(in);
  std::vector<int32_t> a(warpRows * shape.k), b(size_t(shape.k) * shape.n);
  std::vector<int64_t> acc(size_t(warpRows) * shape.n);
  readA(w, in, shape, product.a, a.data());
  readOperand(w, shape, shape.b, product.b, false, 0, shape.n, b.data(), 1, shape.n);
  if (product.adds)
    forEachAccumulator(shape,
                       [&](unsigned reg, unsigned lane, unsigned row, unsigned column, unsigned) {
                         acc[row * shape.n + column] = w.row<int32_t>(in.dst(reg))[lane];
                       });
  multiplyAccumulate(a.data(), b.data(), acc.data(), warpRows, shape.n, shape.k);
  forEachAccumulator(shape,
                     [&](unsigned reg, unsigned lane, unsigned row, unsigned column, unsigned) {
                       int64_t value = acc[row * shape.n + column];
                       if (in.flags & Saturate)
                         value = std::clamp<int64_t>(value, INT32_MIN, INT32_MAX);
                       w.row<uint32_t>(in.dst(reg))[lane] = static_cast<uint32_t>(value);
                     });
}

} // namespace

void runProduct(Warp &w, const WgmmaProduct &product) {
  if (isFloat(wgmmaShapeOf(*product.inst).a))
    multiplyFloats(w, product);
  else
    multiplyIntegers(w, product);
}

void issueWgmma(Warp &w, const Inst &in, uint32_t mask) {
  if (w.index / 4 * 4 + 3 >= w.block->warps.size() || mask != fullMask) {
    report(w, in, static_cast<unsigned>(__builtin_ctz(mask)), FindingKind::DivergentCollective,
           "wgmma needs all 128 threads of a warpgroup");
    return;
  }
  WgmmaState &state = wgmmaStateOf(w);
  WgmmaProduct product{&in, {}, {}, bool(w.predicate(scaleD(in)) & 1), state.issued++};
  if (!openOperands(w, in, mask, product))
    return;
  state.open.push_back(in.pc);
  countUnwaited(w, in, /*mask=*/1);
  if (isLate(w))
    state.late.push_back(product);
  else
    runProduct(w, product);
}

/// Poison of a row of A or of a column of B reaches the row or column of D, and stays in D.
void propagateWgmmaPoison(Warp &w, const Inst &in, uint32_t mask) {
  Shape shape = wgmmaShapeOf(in);
  bool rows[warpRows] = {}, columns[maxWgmmaN] = {};
  auto readShadow = [&](const Slot &slot, bool isTrans, unsigned firstRow, unsigned count,
                        bool *flags) {
    MatrixDescriptor matrix = MatrixDescriptor::decode(w.lane(slot, 0));
    forEachChunk(matrix, isTrans, firstRow, count, shape,
                 [&](uint64_t address, unsigned row, unsigned) {
                   if (address + 16 > w.block->sharedShadow.size())
                     return;
                   const uint8_t *bits = w.block->sharedShadow.data() + address;
                   for (unsigned i = 0; i < 16; ++i)
                     if (bits[i])
                       flags[isTrans ? row + i / 2 : row] = true;
                 });
  };
  if (mask != fullMask)
    return;
  if (in.flags & RegistersA) {
    uint8_t bits[warpRows][32];
    gatherFragment(w, in.shadowSlots + in.numDst, bits);
    for (unsigned r = 0; r < warpRows; ++r)
      rows[r] = std::any_of(bits[r], bits[r] + 32, [](uint8_t byte) { return byte != 0; });
  } else {
    readShadow(in.src(0), in.flags & TransA, warpRows * (w.index % 4), warpRows, rows);
  }
  readShadow(descriptorB(in), in.flags & TransB, 0, shape.n, columns);
  bool adds = w.predicate(scaleD(in)) & 1, isPacked = shape.d == Type::F16;
  forEachAccumulator(
      shape, [&](unsigned reg, unsigned lane, unsigned row, unsigned column, unsigned half) {
        uint32_t &bits = w.row<uint32_t>(in.shadowSlots[reg])[lane];
        uint32_t field = isPacked ? 0xffffu << (16 * half) : ~0u;
        bool isPoison = rows[row] || columns[column] || (adds && (bits & field));
        bits = isPoison ? bits | field : bits & ~field;
      });
}

} // namespace vgpu
