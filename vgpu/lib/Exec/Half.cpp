//===- Half.cpp - f16, bf16 and their pairs -------------------------------------------------===//
//
// add sub mul fma abs neg min max. PTX ISA, "Half precision floating-point instructions". Sums and
// products are formed in f32, where they round the same as in one step (24 >= 2*11 + 2 bits); fma
// is formed in f64 rounded to odd, which makes the second rounding exact.
//
//===-----------------------------------------------------------------------------------===//
#include "Families.h"
#include "vgpu/Exec/Rows.h"
#include "vgpu/Exec/SmallFloat.h"
#include <cmath>

using namespace vgpu::ptx;

namespace vgpu {

namespace {

enum HalfFlags : uint8_t { Ftz = 1, Sat = 2, PropagateNan = 4, XorSign = 8, Relu = 16 };

struct F16 {
  static float decode(uint16_t bits) { return halfToFloat(bits); }
  static uint16_t encode(float value) { return floatToHalf(value); }
  static uint16_t encodeWide(double value) {
    return static_cast<uint16_t>(encodeFloat(value, formatF16, Rounding::Nearest));
  }
  static uint16_t flush(uint16_t bits) { return (bits & 0x7c00) ? bits : bits & 0x8000; }
  static constexpr uint16_t infinity = 0x7c00, one = 0x3c00;
};
struct BF16 {
  static float decode(uint16_t bits) { return bf16ToFloat(bits); }
  static uint16_t encode(float value) { return floatToBf16(value); }
  static uint16_t encodeWide(double value) {
    return static_cast<uint16_t>(encodeFloat(value, formatBF16, Rounding::Nearest));
  }
  static uint16_t flush(uint16_t bits) { return (bits & 0x7f80) ? bits : bits & 0x8000; }
  static constexpr uint16_t infinity = 0x7f80, one = 0x3f80;
};

template <class H> bool isNan(uint16_t bits) { return (bits & 0x7fff) > H::infinity; }

template <class H, bool isMax> uint16_t extreme(uint16_t a, uint16_t b, unsigned flags) {
  uint16_t sign = (flags & XorSign) ? (a ^ b) & 0x8000 : 0;
  if (flags & XorSign) {
    a &= 0x7fff;
    b &= 0x7fff;
  }
  if (isNan<H>(a) || isNan<H>(b)) {
    if ((flags & PropagateNan) || (isNan<H>(a) && isNan<H>(b)))
      return 0x7fff;
    return static_cast<uint16_t>((isNan<H>(a) ? b : a) | sign);
  }
  float left = H::decode(a), right = H::decode(b);
  bool aFirst = left < right || (left == right && (a & 0x8000) && !(b & 0x8000));
  return static_cast<uint16_t>((aFirst != isMax ? a : b) | sign);
}

template <class H, FloatOp op>
uint16_t compute(uint16_t a, uint16_t b, uint16_t c, unsigned flags) {
  if (flags & Ftz) {
    a = H::flush(a);
    b = H::flush(b);
    c = H::flush(c);
  }
  uint16_t result;
  if constexpr (op == FloatOp::Abs)
    return isNan<H>(a) ? 0x7fff : a & 0x7fff;
  else if constexpr (op == FloatOp::Neg)
    return isNan<H>(a) ? 0x7fff : a ^ 0x8000;
  else if constexpr (op == FloatOp::Min)
    return extreme<H, false>(a, b, flags);
  else if constexpr (op == FloatOp::Max)
    return extreme<H, true>(a, b, flags);
  else if constexpr (op == FloatOp::Add)
    result = H::encode(H::decode(a) + H::decode(b));
  else if constexpr (op == FloatOp::Sub)
    result = H::encode(H::decode(a) - H::decode(b));
  else if constexpr (op == FloatOp::Mul)
    result = H::encode(H::decode(a) * H::decode(b));
  else
    result = H::encodeWide(fmaToOdd(H::decode(a), H::decode(b), H::decode(c)));
  if (flags & Ftz)
    result = H::flush(result);
  if (flags & Sat) {
    if (isNan<H>(result) || (result & 0x8000))
      return 0;
    return result > H::one ? H::one : result;
  }
  if (flags & Relu)
    return isNan<H>(result) ? 0x7fff : (result & 0x8000) ? 0 : result;
  return result;
}

template <class H, FloatOp op, bool isPair>
void arithmetic(Warp &w, const Inst &in, uint32_t mask) {
  using Row = std::conditional_t<isPair, uint32_t, uint16_t>;
  const Row *a = w.row<Row>(in.src(0));
  const Row *b = w.row<Row>(in.src(in.numSrc > 1 ? 1 : 0));
  const Row *c = w.row<Row>(in.src(in.numSrc > 2 ? 2 : 0));
  unsigned flags = in.flags;
  writeRow(w.row<Row>(in.dst(0)), mask, [=](unsigned i) -> Row {
    Row low = compute<H, op>(uint16_t(a[i]), uint16_t(b[i]), uint16_t(c[i]), flags);
    if constexpr (isPair)
      low |= Row(compute<H, op>(uint16_t(a[i] >> 16), uint16_t(b[i] >> 16), uint16_t(c[i] >> 16),
                                flags))
             << 16;
    return low;
  });
}

/// Each half of a pair depends on the same half of its sources.
void propagateHalves(Warp &w, const Inst &in, uint32_t mask) {
  const Slot *sources = in.shadowSlots + in.numDst;
  const uint32_t *a = w.row<uint32_t>(sources[0]);
  const uint32_t *b = w.row<uint32_t>(sources[in.numSrc > 1 ? 1 : 0]);
  const uint32_t *c = w.row<uint32_t>(sources[in.numSrc > 2 ? 2 : 0]);
  writeRow(w.row<uint32_t>(in.shadowSlots[0]), mask, [=](unsigned i) -> uint32_t {
    uint32_t poison = a[i] | b[i] | c[i];
    return (poison & 0xffff ? 0xffffu : 0) | (poison >> 16 ? 0xffff0000u : 0);
  });
}

template <class H, bool isPair> Handler pick(FloatOp op) {
  switch (op) {
  case FloatOp::Add:
    return arithmetic<H, FloatOp::Add, isPair>;
  case FloatOp::Sub:
    return arithmetic<H, FloatOp::Sub, isPair>;
  case FloatOp::Mul:
    return arithmetic<H, FloatOp::Mul, isPair>;
  case FloatOp::Fma:
    return arithmetic<H, FloatOp::Fma, isPair>;
  case FloatOp::Abs:
    return arithmetic<H, FloatOp::Abs, isPair>;
  case FloatOp::Neg:
    return arithmetic<H, FloatOp::Neg, isPair>;
  case FloatOp::Min:
    return arithmetic<H, FloatOp::Min, isPair>;
  case FloatOp::Max:
    return arithmetic<H, FloatOp::Max, isPair>;
  default:
    return nullptr;
  }
}

} // namespace

bool decodeHalf(InstBuilder &b, FloatOp op) {
  b.accept("rn");
  static constexpr std::pair<llvm::StringLiteral, uint8_t> words[] = {
      {"ftz", Ftz}, {"sat", Sat}, {"relu", Relu}, {"NaN", PropagateNan}};
  for (const auto &[word, flag] : words)
    if (b.accept(word))
      b.inst.flags |= flag;
  if (b.accept("xorsign") && (b.accept("abs") || !b.fail("expected '.abs' after '.xorsign'")))
    b.inst.flags |= XorSign;
  Type type = b.expectType();
  Handler handler = type == Type::F16      ? pick<F16, false>(op)
                    : type == Type::F16x2  ? pick<F16, true>(op)
                    : type == Type::BF16   ? pick<BF16, false>(op)
                    : type == Type::BF16x2 ? pick<BF16, true>(op)
                                           : nullptr;
  if (!handler)
    return b.fail("type '." + typeName(type) + "' is not allowed here");
  unsigned sources = op == FloatOp::Fma ? 3 : op == FloatOp::Abs || op == FloatOp::Neg ? 1 : 2;
  if (!b.expectOperands(sources + 1) || !b.addDst(b.operand(0), type))
    return false;
  for (unsigned i = 1; i <= sources; ++i)
    if (!b.addSrc(b.operand(i), type))
      return false;
  b.inst.execute = handler;
  b.inst.instClass = InstClass::Half;
  if (type == Type::F16x2 || type == Type::BF16x2) {
    b.inst.poison = PoisonRule::Custom;
    b.inst.shadowExecute = propagateHalves;
  }
  return emitInst(b);
}

} // namespace vgpu
