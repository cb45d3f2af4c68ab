//===- Approximate.cpp - fast functions ------------------------------------------------------===//
//
// rcp sqrt rsqrt sin cos lg2 ex2 tanh div of the .approx and .full kinds. PTX documents error
// bounds, not bits; values here are the correctly rounded ones of f64 evaluations, which lie within
// every bound. Corner values (infinities, zeros, huge divisors) follow the tables of the PTX ISA.
//
//===-----------------------------------------------------------------------------------===//
#include "Families.h"
#include "vgpu/Exec/Rows.h"
#include "vgpu/Exec/SmallFloat.h"
#include <cmath>

using namespace vgpu::ptx;

namespace vgpu {

namespace {

enum class Function : uint8_t { Rcp, Sqrt, Rsqrt, Sin, Cos, Lg2, Ex2, Tanh };

template <Function function> float evaluate(float x) {
  switch (function) {
  case Function::Rcp:
    return 1.0f / x;
  case Function::Sqrt:
    return std::sqrt(x);
  case Function::Rsqrt:
    return static_cast<float>(1.0 / std::sqrt(static_cast<double>(x)));
  case Function::Sin:
    return std::isinf(x) ? NAN : static_cast<float>(std::sin(double(x)));
  case Function::Cos:
    return std::isinf(x) ? NAN : static_cast<float>(std::cos(double(x)));
  case Function::Lg2:
    return static_cast<float>(std::log2(double(x)));
  case Function::Ex2:
    return std::exp2(x);
  case Function::Tanh:
    return static_cast<float>(std::tanh(double(x)));
  }
  return x;
}

template <Function function, bool ftz> void apply32(Warp &w, const Inst &in, uint32_t mask) {
  const float *a = w.row<float>(in.src(0));
  float *d = w.row<float>(in.dst(0));
  forEachLane(mask, [&](unsigned i) {
    float x = ftz ? flushSubnormal(a[i]) : a[i];
    float value = evaluate<function>(x);
    d[i] = canonical(ftz ? flushSubnormal(value) : value);
  });
}
template <Function function, bool isBf16> uint16_t applyHalf(uint16_t bits) {
  float value = evaluate<function>(isBf16 ? bf16ToFloat(bits) : halfToFloat(bits));
  return isBf16 ? floatToBf16(value) : floatToHalf(value);
}
template <Function function, bool isBf16, bool isPair>
void apply16(Warp &w, const Inst &in, uint32_t mask) {
  using Row = std::conditional_t<isPair, uint32_t, uint16_t>;
  const Row *a = w.row<Row>(in.src(0));
  Row *d = w.row<Row>(in.dst(0));
  forEachLane(mask, [&](unsigned i) {
    Row value = applyHalf<function, isBf16>(uint16_t(a[i]));
    if constexpr (isPair)
      value |= Row(applyHalf<function, isBf16>(uint16_t(a[i] >> 16))) << 16;
    d[i] = value;
  });
}
/// rcp/rsqrt.approx.ftz.f64: the upper 32 bits of the result, the lower ones zero.
template <Function function> void apply64(Warp &w, const Inst &in, uint32_t mask) {
  const double *a = w.row<double>(in.src(0));
  double *d = w.row<double>(in.dst(0));
  forEachLane(mask, [&](unsigned i) {
    double x = std::fpclassify(a[i]) == FP_SUBNORMAL ? std::copysign(0.0, a[i]) : a[i];
    double value = function == Function::Rcp ? 1.0 / x : 1.0 / std::sqrt(x);
    uint64_t bits = std::bit_cast<uint64_t>(value) & 0xffffffff00000000ull;
    d[i] = std::bit_cast<double>(bits);
  });
}

/// div.approx and div.full; the former gives 0 for divisors of 2^126 and more (PTX ISA, div).
template <bool isApprox> void divide(Warp &w, const Inst &in, uint32_t mask) {
  bool ftz = in.flags & 1;
  binaryRow<float, float, float>(w, in, mask, [=](float a, float b) {
    if (ftz) {
      a = flushSubnormal(a);
      b = flushSubnormal(b);
    }
    float value = a / b;
    if (isApprox && std::fabs(b) > 0x1p126f && std::fabs(b) < INFINITY)
      value = std::isinf(a) || a != a ? NAN : std::copysign(0.0f, value);
    return canonical(ftz ? flushSubnormal(value) : value);
  });
}

template <Function function> bool decodeFunction(InstBuilder &b) {
  bool isApprox = b.accept("approx");
  bool ftz = b.accept("ftz");
  Type type = b.expectType();
  if (!isApprox)
    return b.fail("expected '.approx'");
  Handler handler = nullptr;
  constexpr bool hasHalf = function == Function::Ex2 || function == Function::Tanh;
  constexpr bool hasDouble = function == Function::Rcp || function == Function::Rsqrt;
  if (type == Type::F32)
    handler = ftz ? apply32<function, true> : apply32<function, false>;
  if constexpr (hasDouble)
    if (type == Type::F64)
      handler = apply64<function>;
  if constexpr (hasHalf) {
    if (type == Type::F16)
      handler = apply16<function, false, false>;
    if (type == Type::F16x2)
      handler = apply16<function, false, true>;
    if (type == Type::BF16)
      handler = apply16<function, true, false>;
    if (type == Type::BF16x2)
      handler = apply16<function, true, true>;
  }
  if (!handler)
    return b.fail("type '." + typeName(type) + "' is not allowed here");
  b.inst.execute = handler;
  b.inst.instClass = InstClass::Special;
  return b.expectOperands(2) && b.addDst(b.operand(0), type) && b.addSrc(b.operand(1), type) &&
         emitInst(b);
}

bool decodeDivision(InstBuilder &b) {
  bool isFull = b.acceptOneOf({"approx", "full"}) == 1;
  b.inst.flags = b.accept("ftz");
  Type type = b.expectType();
  if (type != Type::F32)
    return b.fail("type '." + typeName(type) + "' is not allowed here");
  b.inst.execute = isFull ? divide<false> : divide<true>;
  b.inst.instClass = InstClass::Special;
  return b.expectOperands(3) && b.addDst(b.operand(0), type) && b.addSrc(b.operand(1), type) &&
         b.addSrc(b.operand(2), type) && emitInst(b);
}

} // namespace

/// rcp, sqrt and div come here from the exact family when they are .approx or .full.
bool decodeApproximate(InstBuilder &b) {
  if (b.source.parts[0] == "div")
    return decodeDivision(b);
  return b.source.parts[0] == "rcp" ? decodeFunction<Function::Rcp>(b)
                                    : decodeFunction<Function::Sqrt>(b);
}

llvm::ArrayRef<FamilyEntry> approximateFamily() {
  static constexpr FamilyEntry entries[] = {
      {"rsqrt", decodeFunction<Function::Rsqrt>}, {"sin", decodeFunction<Function::Sin>},
      {"cos", decodeFunction<Function::Cos>},     {"lg2", decodeFunction<Function::Lg2>},
      {"ex2", decodeFunction<Function::Ex2>},     {"tanh", decodeFunction<Function::Tanh>},
  };
  return entries;
}

} // namespace vgpu
