//===- Float.cpp - f32 and f64 arithmetic --------------------------------------------------===//
//
// add sub mul fma mad div sqrt rcp abs neg min max copysign testp of f32 and f64. PTX ISA,
// "Floating- point instructions". Rounding to nearest is the host's; the other modes switch the
// host's rounding around the loop. `.ftz` flushes subnormal inputs and results; NaN results of f32
// are canonical.
//
//===-----------------------------------------------------------------------------------===//
#include "Families.h"
#include "vgpu/Exec/Rows.h"
#include "vgpu/Exec/SmallFloat.h"
#include <cfenv>
#include <cmath>

using namespace vgpu::ptx;

namespace vgpu {

namespace {

enum FloatFlags : uint8_t { Ftz = 1, Sat = 2, PropagateNan = 4, XorSign = 8 };

template <class T> T saturate(T value) {
  return !(value > T(0)) ? T(0) : value > T(1) ? T(1) : value;
}

template <class T, FloatOp op> T compute(T a, T b, T c) {
  if constexpr (op == FloatOp::Add)
    return a + b;
  else if constexpr (op == FloatOp::Sub)
    return a - b;
  else if constexpr (op == FloatOp::Mul)
    return a * b;
  else if constexpr (op == FloatOp::Div)
    return a / b;
  else if constexpr (op == FloatOp::Sqrt)
    return std::sqrt(a);
  else if constexpr (op == FloatOp::Rcp)
    return T(1) / a;
  else
    return std::fma(a, b, c);
}

template <FloatOp op> constexpr unsigned arity() {
  return op == FloatOp::Fma ? 3 : op == FloatOp::Sqrt || op == FloatOp::Rcp ? 1 : 2;
}

template <class T, FloatOp op, bool ftz, bool sat>
void arithmetic(Warp &w, const Inst &in, uint32_t mask) {
  const T *a = w.row<T>(in.src(0));
  const T *b = w.row<T>(in.src(arity<op>() > 1 ? 1 : 0));
  const T *c = w.row<T>(in.src(arity<op>() > 2 ? 2 : 0));
  auto in1 = [](T value) {
    if constexpr (ftz && sizeof(T) == 4)
      return flushSubnormal(value);
    return value;
  };
  writeRow(w.row<T>(in.dst(0)), mask, [=](unsigned i) {
    T value = compute<T, op>(in1(a[i]), in1(b[i]), in1(c[i]));
    if constexpr (sizeof(T) == 4)
      value = canonical(in1(value));
    if constexpr (sat)
      value = saturate(value);
    return value;
  });
}

/// Directed rounding; volatile keeps the operation between the two mode switches.
template <class T, FloatOp op> void directed(Warp &w, const Inst &in, uint32_t mask) {
  static constexpr int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
  bool ftz = (in.flags & Ftz) && sizeof(T) == 4, sat = in.flags & Sat;
  const T *rows[3] = {w.row<T>(in.src(0)), w.row<T>(in.src(arity<op>() > 1 ? 1 : 0)),
                      w.row<T>(in.src(arity<op>() > 2 ? 2 : 0))};
  T *d = w.row<T>(in.dst(0));
  forEachLane(mask, [&](unsigned i) {
    volatile T a = rows[0][i], b = rows[1][i], c = rows[2][i];
    if constexpr (sizeof(T) == 4)
      if (ftz) {
        a = flushSubnormal(a);
        b = flushSubnormal(b);
        c = flushSubnormal(c);
      }
    std::fesetround(modes[in.variant]);
    volatile T result = compute<T, op>(a, b, c);
    std::fesetround(FE_TONEAREST);
    T value = result;
    if constexpr (sizeof(T) == 4)
      value = canonical(ftz ? flushSubnormal(value) : value);
    d[i] = sat ? saturate(value) : value;
  });
}

template <class T, FloatOp op> Handler pickArithmetic(const Inst &inst) {
  if (inst.variant != static_cast<uint8_t>(Rounding::Nearest))
    return directed<T, op>;
  bool ftz = inst.flags & Ftz, sat = inst.flags & Sat;
  if (ftz)
    return sat ? arithmetic<T, op, true, true> : arithmetic<T, op, true, false>;
  return sat ? arithmetic<T, op, false, true> : arithmetic<T, op, false, false>;
}
template <class T> Handler pickOp(FloatOp op, const Inst &inst) {
  switch (op) {
  case FloatOp::Add:
    return pickArithmetic<T, FloatOp::Add>(inst);
  case FloatOp::Sub:
    return pickArithmetic<T, FloatOp::Sub>(inst);
  case FloatOp::Mul:
    return pickArithmetic<T, FloatOp::Mul>(inst);
  case FloatOp::Div:
    return pickArithmetic<T, FloatOp::Div>(inst);
  case FloatOp::Sqrt:
    return pickArithmetic<T, FloatOp::Sqrt>(inst);
  case FloatOp::Rcp:
    return pickArithmetic<T, FloatOp::Rcp>(inst);
  case FloatOp::Fma:
    return pickArithmetic<T, FloatOp::Fma>(inst);
  default:
    return nullptr;
  }
}

// --- sm_100: sums and products of f16 or bf16 with f32, exact until the f32 result is rounded
template <bool isHalf, FloatOp op> void mixed(Warp &w, const Inst &in, uint32_t mask) {
  static constexpr int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
  constexpr bool isFma = op == FloatOp::Fma;
  const uint16_t *a = w.row<uint16_t>(in.src(0)), *b = w.row<uint16_t>(in.src(isFma ? 1 : 0));
  const float *c = w.row<float>(in.src(isFma ? 2 : 1));
  float *d = w.row<float>(in.dst(0));
  auto widen = [](uint16_t bits) { return isHalf ? halfToFloat(bits) : bf16ToFloat(bits); };
  forEachLane(mask, [&](unsigned i) {
    volatile float left = widen(a[i]), right = isFma ? widen(b[i]) : c[i], sum = c[i];
    std::fesetround(modes[in.variant]);
    volatile float result = compute<float, op>(left, right, sum);
    std::fesetround(FE_TONEAREST);
    float value = canonical(result);
    d[i] = (in.flags & Sat) ? saturate(value) : value;
  });
}

// --- abs, neg, min, max: bit operations and comparisons, no rounding
template <class T, bool isNeg> void signOp(Warp &w, const Inst &in, uint32_t mask) {
  bool ftz = (in.flags & Ftz) && sizeof(T) == 4;
  unaryRow<T, T>(w, in, mask, [=](T a) {
    if constexpr (sizeof(T) == 4)
      a = ftz ? flushSubnormal(a) : a;
    return isNeg ? -a : std::fabs(a);
  });
}

/// A NaN loses unless .NaN; -0 < +0.
template <class T, bool isMax> T selectExtreme(T a, T b, bool propagate) {
  bool aNan = a != a, bNan = b != b;
  if (aNan || bNan) {
    if (propagate || (aNan && bNan))
      return sizeof(T) == 4 ? T(std::bit_cast<float>(0x7fffffffu)) : std::nan("");
    return aNan ? b : a;
  }
  bool aFirst = a < b || (a == b && std::signbit(a) && !std::signbit(b));
  return aFirst != isMax ? a : b;
}
template <class T, bool isMax> void extreme(Warp &w, const Inst &in, uint32_t mask) {
  bool ftz = (in.flags & Ftz) && sizeof(T) == 4;
  bool propagate = in.flags & PropagateNan, xorSign = in.flags & XorSign;
  unsigned sources = in.numSrc;
  const T *a = w.row<T>(in.src(0)), *b = w.row<T>(in.src(1));
  const T *c = w.row<T>(in.src(sources > 2 ? 2 : 1));
  auto input = [=](T value) {
    if constexpr (sizeof(T) == 4)
      return ftz ? flushSubnormal(value) : value;
    return value;
  };
  writeRow(w.row<T>(in.dst(0)), mask, [=](unsigned i) {
    T left = input(a[i]), right = input(b[i]);
    if (xorSign) {
      T value = selectExtreme<T, isMax>(std::fabs(left), std::fabs(right), propagate);
      return value != value
                 ? value
                 : std::copysign(value, std::signbit(left) != std::signbit(right) ? T(-1) : T(1));
    }
    T value = selectExtreme<T, isMax>(left, right, propagate);
    return sources > 2 ? selectExtreme<T, isMax>(value, input(c[i]), propagate) : value;
  });
}
/// The common max.f32 / min.f32 without modifiers, written so that it vectorises.
template <bool isMax> void extremeFast(Warp &w, const Inst &in, uint32_t mask) {
  binaryRow<float, float, float>(w, in, mask, [](float a, float b) {
    // Equal values differ only in the sign of zero: and/or of the bits picks +0/-0.
    uint32_t ia = std::bit_cast<uint32_t>(a), ib = std::bit_cast<uint32_t>(b);
    float same = std::bit_cast<float>(isMax ? ia & ib : ia | ib);
    float picked = (isMax ? a > b : a < b) ? a : b;
    float result = a == b ? same : picked;
    result = b != b ? a : result;
    return canonical(a != a ? b : result);
  });
}

template <class T> void copySign(Warp &w, const Inst &in, uint32_t mask) {
  binaryRow<T, T, T>(w, in, mask, [](T a, T b) { return std::copysign(b, a); });
}

/// The properties of testp, in the order the decoder names them.
enum class Property : uint8_t { Finite, Infinite, Number, NotANumber, Normal, Subnormal };

template <class T> void testProperty(Warp &w, const Inst &in, uint32_t mask) {
  const T *a = w.row<T>(in.src(0));
  Property property = static_cast<Property>(in.variant);
  auto holds = [=](unsigned i) {
    int kind = std::fpclassify(a[i]);
    switch (property) {
    case Property::Finite:
      return kind != FP_INFINITE && kind != FP_NAN;
    case Property::Infinite:
      return kind == FP_INFINITE;
    case Property::Number:
      return kind != FP_NAN;
    case Property::NotANumber:
      return kind == FP_NAN;
    case Property::Normal:
      return kind == FP_NORMAL || kind == FP_ZERO;
    case Property::Subnormal:
      return kind == FP_SUBNORMAL;
    }
    return false;
  };
  w.setPredicate(in.dst(0), collectMask(holds), mask);
}

bool isSpecialDivision(InstBuilder &b) { return b.peek() == "approx" || b.peek() == "full"; }

} // namespace

bool decodeApproximate(InstBuilder &b); // Approximate.cpp

/// `add.f32.f16 d, a, c`, `sub` and `fma.f32.f16 d, a, b, c`; bf16 too. PTX ISA 8.6, "Mixed precision
/// floating-point instructions".
static bool decodeMixed(InstBuilder &b, FloatOp op) {
  Type narrow = b.expectType();
  bool isHalf = narrow == Type::F16, isFma = op == FloatOp::Fma;
  if (b.inst.flags & ~Sat)
    return b.fail("only '.sat' may modify operations of mixed precision");
  if (!b.expectOperands(isFma ? 4 : 3) || !b.addDst(b.operand(0), Type::F32) ||
      !b.addSrc(b.operand(1), narrow) || (isFma && !b.addSrc(b.operand(2), narrow)) ||
      !b.addSrc(b.operand(isFma ? 3 : 2), Type::F32))
    return false;
  b.inst.instClass = InstClass::Float32;
  if (isFma)
    b.inst.execute = isHalf ? mixed<true, FloatOp::Fma> : mixed<false, FloatOp::Fma>;
  else if (op == FloatOp::Add)
    b.inst.execute = isHalf ? mixed<true, FloatOp::Add> : mixed<false, FloatOp::Add>;
  else
    b.inst.execute = isHalf ? mixed<true, FloatOp::Sub> : mixed<false, FloatOp::Sub>;
  return emitInst(b);
}

bool decodeFloat(InstBuilder &b, FloatOp op) {
  if ((op == FloatOp::Div || op == FloatOp::Sqrt || op == FloatOp::Rcp) && isSpecialDivision(b))
    return decodeApproximate(b);
  int rounding = b.acceptOneOf({"rn", "rz", "rm", "rp"});
  b.inst.variant = static_cast<uint8_t>(std::max(rounding, 0));
  if (b.accept("ftz"))
    b.inst.flags |= Ftz;
  if (b.accept("sat"))
    b.inst.flags |= Sat;
  if (b.accept("NaN"))
    b.inst.flags |= PropagateNan;
  if (b.accept("xorsign") && (b.accept("abs") || !b.fail("expected '.abs' after '.xorsign'")))
    b.inst.flags |= XorSign;
  Type type = b.expectType();
  if (type != Type::F32 && type != Type::F64)
    return b.fail("type '." + typeName(type) + "' is not supported here");
  bool isSingle = type == Type::F32;
  bool isSum = op == FloatOp::Add || op == FloatOp::Sub || op == FloatOp::Fma;
  if (isSingle && isSum && (b.peek() == "f16" || b.peek() == "bf16"))
    return decodeMixed(b, op);
  unsigned sources =
      op == FloatOp::Fma                                                                      ? 3
      : op == FloatOp::Abs || op == FloatOp::Neg || op == FloatOp::Sqrt || op == FloatOp::Rcp ? 1
                                                                                              : 2;
  bool isExtreme = op == FloatOp::Min || op == FloatOp::Max;
  if (isExtreme && b.numOperands() == 4)
    sources = 3; // sm_100: three-input min and max
  if (!b.expectOperands(sources + 1) || !b.addDst(b.operand(0), type))
    return false;
  for (unsigned i = 1; i <= sources; ++i)
    if (!b.addSrc(b.operand(i), type))
      return false;
  Inst &inst = b.inst;
  inst.instClass = isSingle ? InstClass::Float32 : InstClass::Float64;
  if (op == FloatOp::Abs)
    inst.execute = isSingle ? signOp<float, false> : signOp<double, false>;
  else if (op == FloatOp::Neg)
    inst.execute = isSingle ? signOp<float, true> : signOp<double, true>;
  else if (isExtreme && isSingle && inst.flags == 0 && sources == 2)
    inst.execute = op == FloatOp::Max ? extremeFast<true> : extremeFast<false>;
  else if (op == FloatOp::Max)
    inst.execute = isSingle ? extreme<float, true> : extreme<double, true>;
  else if (op == FloatOp::Min)
    inst.execute = isSingle ? extreme<float, false> : extreme<double, false>;
  else
    inst.execute = isSingle ? pickOp<float>(op, inst) : pickOp<double>(op, inst);
  return emitInst(b);
}

static bool decodeCopySign(InstBuilder &b) {
  Type type = b.expectType();
  b.inst.instClass = type == Type::F64 ? InstClass::Float64 : InstClass::Float32;
  b.inst.execute = type == Type::F64 ? copySign<double> : copySign<float>;
  return b.expectOperands(3) && b.addDst(b.operand(0), type) && b.addSrc(b.operand(1), type) &&
         b.addSrc(b.operand(2), type) && emitInst(b);
}

static bool decodeTestProperty(InstBuilder &b) {
  int kind = b.acceptOneOf({"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
  if (kind < 0)
    return b.fail("expected a property, got '." + b.peek() + "'");
  Type type = b.expectType();
  b.inst.variant = static_cast<uint8_t>(kind);
  b.inst.instClass = InstClass::Compare;
  b.inst.execute = type == Type::F64 ? testProperty<double> : testProperty<float>;
  return b.expectOperands(2) && b.addDst(b.operand(0), Type::Pred) &&
         b.addSrc(b.operand(1), type) && emitInst(b);
}

llvm::ArrayRef<FamilyEntry> floatFamily() {
  static constexpr FamilyEntry entries[] = {
      {"sqrt", [](InstBuilder &b) { return decodeFloat(b, FloatOp::Sqrt); }},
      {"rcp", [](InstBuilder &b) { return decodeFloat(b, FloatOp::Rcp); }},
      {"copysign", decodeCopySign},
      {"testp", decodeTestProperty},
  };
  return entries;
}

} // namespace vgpu
