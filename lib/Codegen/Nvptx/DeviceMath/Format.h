//===- Format.h - what float and double have in common ---------------------------------------===//
//
// The functions of this directory are written once for both formats. They use operations that
// IEEE 754 defines to the last bit (+ - * / sqrt fma, comparisons, integers) and nothing else, so
// that what a test on the CPU or on the virtual GPU shows of them holds on hardware. Every FMA is
// written out; the compiler is told to make none of its own.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_CODEGEN_NVPTX_DEVICEMATH_FORMAT_H
#define TILEWRIGHT_CODEGEN_NVPTX_DEVICEMATH_FORMAT_H

#include "Polynomials.h"

namespace tilewright::devicemath {

using Bits32 = unsigned int;
using Bits64 = unsigned long long;

template <class F> struct Format;

template <> struct Format<float> {
  using Bits = Bits32;
  using Signed = int;
  static constexpr int kDigits = 24; ///< Of the significand, the hidden one included.
  static constexpr int kBias = 127;
  static constexpr float kInfinity = __builtin_inff();
  static constexpr float kNaN = __builtin_nanf("");
};

template <> struct Format<double> {
  using Bits = Bits64;
  using Signed = long long;
  static constexpr int kDigits = 53;
  static constexpr int kBias = 1023;
  static constexpr double kInfinity = __builtin_inf();
  static constexpr double kNaN = __builtin_nan("");
};

template <class F> using BitsOf = typename Format<F>::Bits;
template <class F> using SignedOf = typename Format<F>::Signed;

template <class F> constexpr BitsOf<F> toBits(F x) { return __builtin_bit_cast(BitsOf<F>, x); }
template <class F> constexpr F fromBits(BitsOf<F> bits) { return __builtin_bit_cast(F, bits); }

inline float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
inline float abs(float x) { return __builtin_fabsf(x); }
inline double abs(double x) { return __builtin_fabs(x); }
inline float copySign(float x, float sign) { return __builtin_copysignf(x, sign); }
inline double copySign(double x, double sign) { return __builtin_copysign(x, sign); }
inline float truncate(float x) { return __builtin_truncf(x); }
inline double truncate(double x) { return __builtin_trunc(x); }

template <class F> bool isNaN(F x) { return x != x; }
template <class F> bool isNegative(F x) { return toBits(x) >> (sizeof(F) * 8 - 1); }

/// 2^n for a normal result.
template <class F> F powerOfTwo(SignedOf<F> n) {
  return fromBits<F>(BitsOf<F>(n + Format<F>::kBias) << (Format<F>::kDigits - 1));
}

/// x * 2^n by two normal powers of two: the result may be subnormal or overflow.
template <class F> F scale(F x, SignedOf<F> n) {
  SignedOf<F> half = n >> 1;
  return x * powerOfTwo<F>(half) * powerOfTwo<F>(n - half);
}

/// The integer nearest to a number far below 2^kDigits, as a float and as an integer. A NaN stays
/// one; its integer means nothing.
template <class F> struct Nearest {
  F number;
  SignedOf<F> integer;
};
/// Of x * factor: adding 1.5 * 2^(kDigits - 1) leaves the integer in the low bits.
template <class F> Nearest<F> nearestOfProduct(F x, F factor) {
  constexpr F kMagic = F(3) * F(Bits64(1) << (Format<F>::kDigits - 2));
  F shifted = fma(x, factor, kMagic);
  return {shifted - kMagic, SignedOf<F>(toBits(shifted) - toBits(kMagic))};
}

/// A number as an unevaluated sum, the second part below the last digit of the first.
template <class F> struct Pair {
  F high, low;
};

/// a + b without error, if a is the larger or zero.
template <class F> Pair<F> addLarger(F a, F b) {
  F sum = a + b;
  return {sum, (a - sum) + b};
}
/// a + b without error.
template <class F> Pair<F> addExactly(F a, F b) {
  F sum = a + b, rest = sum - a;
  return {sum, (a - (sum - rest)) + (b - rest)};
}
/// a * b without error, unless it underflows.
template <class F> Pair<F> multiplyExactly(F a, F b) {
  F product = a * b;
  return {product, fma(a, b, -product)};
}

/// c[0] + c[1] x + ... by Horner's rule.
template <class F, unsigned count> F evaluate(const F (&coefficients)[count], F x) {
  F result = coefficients[count - 1];
#pragma clang loop unroll(full)
  for (int i = int(count) - 2; i >= 0; --i)
    result = fma(result, x, coefficients[i]);
  return result;
}

} // namespace tilewright::devicemath

#endif // TILEWRIGHT_CODEGEN_NVPTX_DEVICEMATH_FORMAT_H
