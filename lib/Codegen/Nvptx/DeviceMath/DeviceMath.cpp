//===- DeviceMath.cpp - the functions that GPU code may call ----------------------------------===//
//
// Compiled at build time to LLVM bitcode, which EmitPtx links into the modules that need it. A name
// is `__tw_` + function + format. Errors against the exact value, as test_device_math.py and the
// sweep of make test-long measure them, are at most 2 units in the last place (docs/gpu.md has the
// table); infinities, NaNs, zeros and subnormals are right; nothing is flushed.
//
//===----------------------------------------------------------------------------------------===//

#include "Circular.h"
#include "ErrorFunction.h"
#include "Exponential.h"
#include "Hyperbolic.h"
#include "Inverse.h"
#include "Logarithm.h"
#include "NarrowFloats.h"
#include "Power.h"
#include "Remainder.h"

namespace dm = tilewright::devicemath;

#define UNARY(NAME, EXPRESSION)                                                                    \
  extern "C" float __tw_##NAME##_f32(float x) {                                                    \
    using F = float;                                                                               \
    return EXPRESSION;                                                                             \
  }                                                                                                \
  extern "C" double __tw_##NAME##_f64(double x) {                                                  \
    using F = double;                                                                              \
    return EXPRESSION;                                                                             \
  }
#define BINARY(NAME)                                                                               \
  extern "C" float __tw_##NAME##_f32(float x, float y) { return dm::NAME(x, y); }                  \
  extern "C" double __tw_##NAME##_f64(double x, double y) { return dm::NAME(x, y); }

UNARY(exp, dm::exp<F>(x))
UNARY(log, dm::log<F>(x, dm::LogConstants<F>::kNatural))
UNARY(log2, dm::log<F>(x, dm::LogConstants<F>::kBinary))
UNARY(log10, dm::log<F>(x, dm::LogConstants<F>::kDecimal))
UNARY(log1p, dm::log1p<F>(x))
UNARY(sin, dm::sin<F>(x))
UNARY(cos, dm::cos<F>(x))
UNARY(tan, dm::tan<F>(x))
UNARY(tanh, dm::tanh<F>(x))
UNARY(sinh, dm::sinh<F>(x))
UNARY(cosh, dm::cosh<F>(x))
UNARY(atan, dm::atan<F>(x))
UNARY(erf, dm::erf<F>(x))
extern "C" double __tw_exp2_f64(double x) { return dm::exp2(x); } // float32 has an instruction
BINARY(pow)
BINARY(atan2)
BINARY(fmod)

extern "C" long long __tw_ipow_i64(long long base, long long exponent) {
  return static_cast<long long>(dm::integerPower(base, exponent));
}

// Conversions. Formats, rounding (as in the dialect) and saturation are constants at the call.

extern "C" unsigned __tw_narrow_f32(float x, int exponentBits, int fractionBits, int rounding,
                                    int saturate) {
  return dm::narrow(x, {exponentBits, fractionBits}, dm::Rounding(rounding), saturate);
}
extern "C" unsigned __tw_narrow_f64(double x, int exponentBits, int fractionBits, int rounding,
                                    int saturate) {
  return dm::narrow(x, {exponentBits, fractionBits}, dm::Rounding(rounding), saturate);
}
extern "C" float __tw_widen_f32(unsigned bits, int exponentBits, int fractionBits) {
  return dm::widen(bits, {exponentBits, fractionBits});
}
extern "C" double __tw_from_integer_f64(long long x, int isUnsigned, int rounding) {
  return dm::fromInteger(static_cast<dm::Bits64>(x), isUnsigned, dm::Rounding(rounding));
}
