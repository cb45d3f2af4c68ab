//===- Mma.cpp - mma.sync ---------------------------------------------------------------------===//
//
// PTX ISA, "Warp-level matrix multiply-accumulate: mma". One rule covers the fragments of every
// m16n8kK and m8n8kK shape. With g = lane / 4, t = lane % 4 and E elements in a register, register
// i of a lane holds
//
//     A (m x k):  row g + 8 * (i % 2)   columns t * E + (i / 2) * 4 * E + e       (m = 8: row g, i
//     / 1) B (k x n):  column g              rows    t * E + i * 4 * E + e C, D:       row g + 8 *
//     (i / 2)   column  2 * t + i % 2                      (pairs of f16: one register a row)
//
// E is 2 for f16/bf16, 1 for tf32 and f64, 4 for 8-bit, 8 for 4-bit and 32 for 1-bit elements.
//
//===-----------------------------------------------------------------------------------===//
#include "Families.h"
#include "vgpu/Exec/MatrixMath.h"
#include "vgpu/Exec/Rows.h"
#include "vgpu/Exec/SmallFloat.h"
#include "vgpu/Machine/Launch.h"
#include <algorithm>

using namespace vgpu::ptx;

namespace vgpu {

namespace {

constexpr unsigned maxM = 16, maxN = 8, maxK = 256;
enum MmaFlags : uint8_t { Saturate = 1, XorPopc = 2 };

struct Shape {
  unsigned m, n, k;
  Type a, b, c, d;
};
/// Shapes are packed into the instruction's family fields; k is in `immediate`.
Shape shapeOf(const Inst &in) {
  return {in.count,
          maxN,
          static_cast<unsigned>(in.immediate & 0xffff),
          static_cast<Type>(in.width),
          static_cast<Type>(in.variant),
          static_cast<Type>(in.order),
          static_cast<Type>(in.scope)};
}

unsigned bitsOf(Type type) { return type == Type::B1 ? 1 : bitWidth(type); }
unsigned perRegister(Type type) { return type == Type::F64 ? 1 : 32 / bitsOf(type); }
unsigned registersOf(unsigned elements, Type type) {
  return elements / (warpSize * perRegister(type));
}

/// Calls visit(row, column, bits) for every element of A held in registers.
template <class Visit> void forEachA(Warp &w, const Slot *slots, const Shape &shape, Visit visit) {
  unsigned per = perRegister(shape.a), bits = bitsOf(shape.a);
  unsigned count = registersOf(shape.m * shape.k, shape.a);
  unsigned halves = shape.m / 8;
  uint64_t field = bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
  for (unsigned i = 0; i < count; ++i)
    for (unsigned lane = 0; lane < warpSize; ++lane) {
      uint64_t value = w.lane(slots[i], lane);
      unsigned row = lane / 4 + 8 * (i % halves);
      unsigned column = (lane % 4) * per + (i / halves) * 4 * per;
      for (unsigned e = 0; e < per; ++e)
        visit(row, column + e, (value >> (e * bits)) & field);
    }
}
template <class Visit> void forEachB(Warp &w, const Slot *slots, const Shape &shape, Visit visit) {
  unsigned per = perRegister(shape.b), bits = bitsOf(shape.b);
  unsigned count = registersOf(shape.n * shape.k, shape.b);
  uint64_t field = bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
  for (unsigned i = 0; i < count; ++i)
    for (unsigned lane = 0; lane < warpSize; ++lane) {
      uint64_t value = w.lane(slots[i], lane);
      unsigned row = (lane % 4) * per + i * 4 * per;
      for (unsigned e = 0; e < per; ++e)
        visit(row + e, lane / 4, (value >> (e * bits)) & field);
    }
}
/// Element (row, column) of C or D: its register, lane and half of a packed pair.
struct AccumulatorRegister {
  unsigned reg, lane, half;
};
AccumulatorRegister accumulatorRegister(unsigned row, unsigned column, bool isPacked) {
  unsigned lane = (row % 8) * 4 + column / 2, pair = row / 8, e = column % 2;
  return isPacked ? AccumulatorRegister{pair, lane, e} : AccumulatorRegister{2 * pair + e, lane, 0};
}

const Slot *sourceA(const Inst &in) { return in.slots + in.numDst; }
const Slot *sourceB(const Inst &in, const Shape &shape) {
  return sourceA(in) + registersOf(shape.m * shape.k, shape.a);
}
const Slot *sourceC(const Inst &in, const Shape &shape) {
  return sourceB(in, shape) + registersOf(shape.n * shape.k, shape.b);
}

void loadAccumulators(Warp &w, const Slot *slots, const Shape &shape, float *acc) {
  bool isPacked = shape.c == Type::F16;
  for (unsigned i = 0; i < shape.m; ++i)
    for (unsigned j = 0; j < shape.n; ++j) {
      AccumulatorRegister at = accumulatorRegister(i, j, isPacked);
      uint32_t bits = w.row<uint32_t>(slots[at.reg])[at.lane];
      acc[i * shape.n + j] =
          isPacked ? halfToFloat(uint16_t(bits >> (16 * at.half))) : std::bit_cast<float>(bits);
    }
}
void storeAccumulators(Warp &w, const Slot *slots, const Shape &shape, const float *acc,
                       uint32_t mask) {
  bool isPacked = shape.d == Type::F16;
  for (unsigned i = 0; i < shape.m; ++i)
    for (unsigned j = 0; j < shape.n; j += 2) {
      AccumulatorRegister at = accumulatorRegister(i, j, isPacked);
      if (!(mask >> at.lane & 1))
        continue;
      float low = acc[i * shape.n + j], high = acc[i * shape.n + j + 1];
      if (isPacked) {
        w.row<uint32_t>(slots[at.reg])[at.lane] =
            uint32_t(floatToHalf(high)) << 16 | floatToHalf(low);
      } else {
        w.row<float>(slots[at.reg])[at.lane] = canonical(low);
        w.row<float>(slots[at.reg + 1])[at.lane] = canonical(high);
      }
    }
}

void multiplyFloats(Warp &w, const Inst &in, uint32_t mask) {
  Shape shape = shapeOf(in);
  alignas(64) float a[maxM * 64], b[64 * maxN], acc[maxM * maxN];
  forEachA(w, sourceA(in), shape, [&](unsigned r, unsigned c, uint64_t bits) {
    a[r * shape.k + c] = matrixElementToFloat(bits, shape.a);
  });
  forEachB(w, sourceB(in, shape), shape, [&](unsigned r, unsigned c, uint64_t bits) {
    b[r * shape.n + c] = matrixElementToFloat(bits, shape.b);
  });
  loadAccumulators(w, sourceC(in, shape), shape, acc);
  multiplyAccumulate(a, b, acc, shape.m, shape.n, shape.k);
  storeAccumulators(w, in.slots, shape, acc, mask);
}

void multiplyDoubles(Warp &w, const Inst &in, uint32_t mask) {
  Shape shape = shapeOf(in);
  double a[maxM * 16], b[16 * maxN], acc[maxM * maxN];
  forEachA(w, sourceA(in), shape, [&](unsigned r, unsigned c, uint64_t bits) {
    a[r * shape.k + c] = std::bit_cast<double>(bits);
  });
  forEachB(w, sourceB(in, shape), shape, [&](unsigned r, unsigned c, uint64_t bits) {
    b[r * shape.n + c] = std::bit_cast<double>(bits);
  });
  const Slot *c = sourceC(in, shape);
  auto at = [&](const Slot *slots, unsigned i, unsigned j) -> double & {
    AccumulatorRegister at = accumulatorRegister(i, j, false);
    return w.row<double>(slots[at.reg])[at.lane];
  };
  for (unsigned i = 0; i < shape.m; ++i)
    for (unsigned j = 0; j < shape.n; ++j)
      acc[i * shape.n + j] = at(c, i, j);
  multiplyAccumulate(a, b, acc, shape.m, shape.n, shape.k);
  for (unsigned i = 0; i < shape.m; ++i)
    for (unsigned j = 0; j < shape.n; ++j)
      if (mask >> accumulatorRegister(i, j, false).lane & 1)
        at(in.slots, i, j) = acc[i * shape.n + j];
}

int32_t signExtend(uint64_t bits, Type type) {
  unsigned width = bitWidth(type);
  if (!isSigned(type))
    return static_cast<int32_t>(bits);
  return static_cast<int32_t>(static_cast<uint32_t>(bits) << (32 - width)) >> (32 - width);
}

void storeIntegers(Warp &w, const Inst &in, const Shape &shape, const int64_t *acc, uint32_t mask) {
  for (unsigned i = 0; i < shape.m; ++i)
    for (unsigned j = 0; j < shape.n; ++j) {
      AccumulatorRegister at = accumulatorRegister(i, j, false);
      int64_t value = acc[i * shape.n + j];
      if (in.flags & Saturate)
        value = std::clamp<int64_t>(value, INT32_MIN, INT32_MAX);
      if (mask >> at.lane & 1)
        w.row<uint32_t>(in.slots[at.reg])[at.lane] = static_cast<uint32_t>(value);
    }
}

void multiplyIntegers(Warp &w, const Inst &in, uint32_t mask) {
  Shape shape = shapeOf(in);
  int32_t a[maxM * 64], b[64 * maxN];
  int64_t acc[maxM * maxN];
  forEachA(w, sourceA(in), shape, [&](unsigned r, unsigned c, uint64_t bits) {
    a[r * shape.k + c] = signExtend(bits, shape.a);
  });
  forEachB(w, sourceB(in, shape), shape, [&](unsigned r, unsigned c, uint64_t bits) {
    b[r * shape.n + c] = signExtend(bits, shape.b);
  });
  const Slot *c = sourceC(in, shape);
  for (unsigned i = 0; i < shape.m; ++i)
    for (unsigned j = 0; j < shape.n; ++j) {
      AccumulatorRegister at = accumulatorRegister(i, j, false);
      acc[i * shape.n + j] = w.row<int32_t>(c[at.reg])[at.lane];
    }
  multiplyAccumulate(a, b, acc, shape.m, shape.n, shape.k);
  storeIntegers(w, in, shape, acc, mask);
}

/// .b1 with .xor.popc or .and.popc: a dot product of bits.
void multiplyBits(Warp &w, const Inst &in, uint32_t mask) {
  Shape shape = shapeOf(in);
  uint8_t a[maxM][maxK], b[maxN][maxK];
  int64_t acc[maxM * maxN];
  forEachA(w, sourceA(in), shape,
           [&](unsigned r, unsigned c, uint64_t bit) { a[r][c] = static_cast<uint8_t>(bit); });
  forEachB(w, sourceB(in, shape), shape,
           [&](unsigned r, unsigned c, uint64_t bit) { b[c][r] = static_cast<uint8_t>(bit); });
  const Slot *c = sourceC(in, shape);
  bool isXor = in.flags & XorPopc;
  for (unsigned i = 0; i < shape.m; ++i)
    for (unsigned j = 0; j < shape.n; ++j) {
      AccumulatorRegister at = accumulatorRegister(i, j, false);
      int64_t sum = w.row<int32_t>(c[at.reg])[at.lane];
      for (unsigned p = 0; p < shape.k; ++p)
        sum += isXor ? a[i][p] ^ b[j][p] : a[i][p] & b[j][p];
      acc[i * shape.n + j] = sum;
    }
  storeIntegers(w, in, shape, acc, mask);
}

/// Poison goes along rows of A and columns of B, and with the element of C.
void propagatePoison(Warp &w, const Inst &in, uint32_t mask) {
  Shape shape = shapeOf(in);
  uint32_t rows = 0, columns = 0;
  auto onShadow = [&](const Slot *slots) { return in.shadowSlots + (slots - in.slots); };
  forEachA(w, onShadow(sourceA(in)), shape,
           [&](unsigned r, unsigned, uint64_t bits) { rows |= uint32_t(bits != 0) << r; });
  forEachB(w, onShadow(sourceB(in, shape)), shape,
           [&](unsigned, unsigned c, uint64_t bits) { columns |= uint32_t(bits != 0) << c; });
  const Slot *c = onShadow(sourceC(in, shape));
  bool packedC = shape.c == Type::F16, packedD = shape.d == Type::F16;
  bool poisoned[maxM][maxN];
  for (unsigned i = 0; i < shape.m; ++i)
    for (unsigned j = 0; j < shape.n; ++j) {
      AccumulatorRegister at = accumulatorRegister(i, j, packedC);
      uint64_t bits = w.lane(c[at.reg], at.lane);
      if (packedC)
        bits = bits >> (16 * at.half) & 0xffff;
      poisoned[i][j] = bits != 0 || (rows >> i & 1) || (columns >> j & 1);
    }
  for (unsigned i = 0; i < shape.m; ++i)
    for (unsigned j = 0; j < shape.n; ++j) {
      AccumulatorRegister at = accumulatorRegister(i, j, packedD);
      if (!(mask >> at.lane & 1))
        continue;
      const Slot &slot = in.shadowSlots[at.reg];
      uint64_t bits = packedD ? w.lane(slot, at.lane) : 0;
      uint64_t field = packedD ? uint64_t(0xffff) << (16 * at.half) : ~uint64_t(0);
      w.setLane(slot, at.lane, poisoned[i][j] ? bits | field : bits & ~field);
    }
}

// --- decoding
struct ShapeWord {
  llvm::StringLiteral word;
  uint8_t m;
  uint16_t k;
};
constexpr ShapeWord shapeWords[] = {
    {"m16n8k4", 16, 4},   {"m16n8k8", 16, 8},     {"m16n8k16", 16, 16},   {"m16n8k32", 16, 32},
    {"m16n8k64", 16, 64}, {"m16n8k128", 16, 128}, {"m16n8k256", 16, 256}, {"m8n8k4", 8, 4},
    {"m8n8k16", 8, 16},   {"m8n8k32", 8, 32},     {"m8n8k128", 8, 128},
};

/// Whether the ISA has this combination; the error otherwise names it.
bool isAllowed(const Shape &s) {
  auto anyOf = [&](std::initializer_list<unsigned> ks) { return llvm::is_contained(ks, s.k); };
  bool isWide = s.m == 16;
  switch (s.a) {
  case Type::F16:
    return isWide && anyOf({8, 16}) && s.b == Type::F16 && (s.d == Type::F16 || s.d == Type::F32) &&
           (s.c == Type::F16 || s.c == Type::F32);
  case Type::BF16:
    return isWide && anyOf({8, 16}) && s.b == s.a && s.d == Type::F32 && s.c == s.d;
  case Type::TF32:
    return isWide && anyOf({4, 8}) && s.b == s.a && s.d == Type::F32 && s.c == s.d;
  case Type::E4M3:
  case Type::E5M2:
    return isWide && anyOf({16, 32}) && (s.b == Type::E4M3 || s.b == Type::E5M2) &&
           (s.d == Type::F32 || s.d == Type::F16) && s.c == s.d;
  case Type::F64:
    return s.b == s.a && s.c == s.a && s.d == s.a && (isWide ? anyOf({4, 8, 16}) : anyOf({4}));
  case Type::S8:
  case Type::U8:
    return (s.b == Type::S8 || s.b == Type::U8) && s.d == Type::S32 && s.c == s.d &&
           (isWide ? anyOf({16, 32}) : anyOf({16}));
  case Type::S4:
  case Type::U4:
    return (s.b == Type::S4 || s.b == Type::U4) && s.d == Type::S32 && s.c == s.d &&
           (isWide ? anyOf({32, 64}) : anyOf({32}));
  case Type::B1:
    return s.b == s.a && s.d == Type::S32 && s.c == s.d &&
           (isWide ? anyOf({128, 256}) : anyOf({128}));
  default:
    return false;
  }
}

Handler handlerOf(const Shape &s) {
  bool isFloat32 = s.c == Type::F32 && s.d == Type::F32;
  if (isFloat32 && (s.a == Type::F16 || s.a == Type::BF16))
    return halfMmaHandler(s.a, s.k);
  if (s.a == Type::F64)
    return multiplyDoubles;
  if (s.a == Type::B1)
    return multiplyBits;
  return isFloat(s.a) ? multiplyFloats : multiplyIntegers;
}

bool addFragment(InstBuilder &b, const Operand &operand, unsigned count, Type type, bool isResult,
                 llvm::StringRef name) {
  llvm::ArrayRef<Operand> parts = InstBuilder::elements(operand);
  if (parts.size() != count)
    return b.fail("expected " + llvm::Twine(count) + " registers for " + name + ", got " +
                  llvm::Twine(parts.size()));
  Type reg = type == Type::F64 ? Type::F64 : Type::B32;
  for (const Operand &part : parts)
    if (!(isResult ? b.addDst(part, reg) : b.addSrc(part, reg)))
      return false;
  return true;
}

bool decodeMma(InstBuilder &b) {
  if (!b.accept("sync") || !b.accept("aligned"))
    return b.fail("expected '.sync.aligned'");
  bool isVolta = llvm::is_contained(b.source.parts, "f16") && b.accept("m8n8k4");
  if (isVolta)
    return decodeVoltaMma(b);
  Shape shape = {};
  shape.n = maxN;
  for (const ShapeWord &entry : shapeWords)
    if (b.accept(entry.word)) {
      shape.m = entry.m;
      shape.k = entry.k;
      break;
    }
  if (shape.m == 0)
    return b.fail("unknown shape '." + b.peek() + "'");
  if (!b.accept("row") || !b.accept("col"))
    return b.fail("only '.row.col' is supported");
  b.accept("kind::f8f6f4");
  Inst &inst = b.inst;
  if (b.accept("satfinite"))
    inst.flags |= Saturate;
  shape.d = b.expectType();
  shape.a = b.expectType();
  shape.b = b.expectType();
  shape.c = b.expectType();
  if (shape.a == Type::B1) {
    int operation = b.acceptOneOf({"and", "xor"});
    if (operation < 0 || !b.accept("popc"))
      return b.fail("expected '.and.popc' or '.xor.popc'");
    if (operation == 1)
      inst.flags |= XorPopc;
  }
  if (!isAllowed(shape))
    return b.fail("this combination of shape and types does not exist");
  inst.count = static_cast<uint8_t>(shape.m);
  inst.immediate = shape.k;
  inst.width = static_cast<uint8_t>(shape.a);
  inst.variant = static_cast<uint8_t>(shape.b);
  inst.order = static_cast<uint8_t>(shape.c);
  inst.scope = static_cast<uint8_t>(shape.d);
  unsigned sums = shape.m * shape.n / warpSize;
  unsigned registersC = shape.c == Type::F16 ? sums / 2 : sums;
  unsigned registersD = shape.d == Type::F16 ? sums / 2 : sums;
  if (!b.expectOperands(4) || !addFragment(b, b.operand(0), registersD, shape.d, true, "D") ||
      !addFragment(b, b.operand(1), registersOf(shape.m * shape.k, shape.a), shape.a, false, "A") ||
      !addFragment(b, b.operand(2), registersOf(shape.n * shape.k, shape.b), shape.b, false, "B") ||
      !addFragment(b, b.operand(3), registersC, shape.c, false, "C"))
    return false;
  inst.execute = handlerOf(shape);
  inst.flow = Flow::Collective;
  inst.isAligned = true;
  inst.instClass = InstClass::Matrix;
  inst.tensorOperations = 2 * shape.m * shape.n * shape.k;
  inst.poison = PoisonRule::Custom;
  inst.shadowExecute = propagatePoison;
  return emitInst(b);
}

} // namespace

llvm::ArrayRef<FamilyEntry> mmaFamily() {
  static constexpr FamilyEntry entries[] = {{"mma", decodeMma}};
  return entries;
}

} // namespace vgpu
