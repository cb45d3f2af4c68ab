//===- Power.h - pow of floats and of integers ------------------------------------------------===//

#ifndef TILEWRIGHT_CODEGEN_NVPTX_DEVICEMATH_POWER_H
#define TILEWRIGHT_CODEGEN_NVPTX_DEVICEMATH_POWER_H

#include "Exponential.h"
#include "Logarithm.h"

namespace tilewright::devicemath {

template <class F> struct PowConstants;
template <> struct PowConstants<float> {
  static constexpr float kRootOfHalf = 0x1.6a09e6p-1f;
  static constexpr Pair<float> kTwoThirds{0x1.555556p-1f, -0x1.555556p-26f};
};
template <> struct PowConstants<double> {
  static constexpr double kRootOfHalf = 0x1.6a09e667f3bcdp-1;
  static constexpr Pair<double> kTwoThirds{0x1.5555555555555p-1, 0x1.5555555555555p-55};
};

/// log2 of a positive number with about 11 digits more than the format has: a power multiplies its
/// error by up to the greatest exponent.
///
///   log((1 + s) / (1 - s)) = 2 s + 2/3 s^3 + s^5 q(s^2),   s = (m - 1) / (m + 1)
///
/// The first two terms are pairs; the third is 2^-12 of them at most.
template <class F> Pair<F> preciseLog2(F x) {
  using C = PowConstants<F>;
  Scaled<F> parts = splitScale(x, C::kRootOfHalf);
  F f = parts.m - 1, above = parts.m + 1, lost = parts.m - (above - 1);
  F reciprocal = 1 / above;
  F s = f * reciprocal;
  F sLow = (fma(-s, above, f) - s * lost) * reciprocal;
  Pair<F> square = multiplyExactly(s, s);
  square.low += 2 * s * sLow;
  Pair<F> cube = multiplyExactly(s, square.high);
  cube.low += fma(s, square.low, sLow * square.high);
  F tail = cube.high * square.high * evaluate(Polynomials<F>::kLogOfQuotient, square.high);
  Pair<F> second = multiplyExactly(cube.high, C::kTwoThirds.high);
  second.low += fma(cube.high, C::kTwoThirds.low, cube.low * C::kTwoThirds.high);
  Pair<F> log = addLarger(2 * s, second.high);
  log.low += 2 * sLow + (second.low + tail);

  constexpr Pair<F> kLog2E = LogConstants<F>::kBinary.e;
  Pair<F> product = multiplyExactly(log.high, kLog2E.high);
  product.low += fma(log.high, kLog2E.low, log.low * kLog2E.high);
  Pair<F> sum = addLarger(parts.e, product.high);
  return addLarger(sum.high, sum.low + product.low);
}

/// x^y for positive finite x and finite y.
template <class F> F positivePow(F x, F y) {
  Pair<F> log = preciseLog2(x);
  Pair<F> exponent = multiplyExactly(y, log.high);
  exponent.low = fma(y, log.low, exponent.low);
  // Beyond the format's range the low part may have overflowed, and decides nothing.
  bool isLarge = abs(exponent.high) > 2 * ExpConstants<F>::kGreatest2;
  return exp2(exponent.high, isLarge ? F(0) : exponent.low);
}

/// The corners of C's pow (C17, F.10.4.4).
template <class F> F pow(F x, F y) {
  F magnitude = abs(x), infinity = Format<F>::kInfinity;
  bool isInteger = truncate(y) == y;
  bool isOdd = isInteger && 2 * truncate(y / 2) != y;
  F result = positivePow(magnitude, y);
  if (magnitude == 0 || magnitude == infinity)
    result = (magnitude == 0) == (y > 0) ? F(0) : infinity;
  if (abs(y) == infinity)
    result = magnitude == 1 ? F(1) : (magnitude > 1) == (y > 0) ? infinity : F(0);
  if (isNegative(x)) {
    result = isOdd ? -result : result;
    result = isInteger || magnitude == 0 || magnitude == infinity ? result : Format<F>::kNaN;
  }
  if (isNaN(x) || isNaN(y))
    result = Format<F>::kNaN;
  return y == 0 || x == 1 ? F(1) : result;
}

/// Repeated multiplication that wraps. A negative exponent gives the truncated reciprocal, which is
/// 0 also of 0.
inline Bits64 integerPower(long long base, long long exponent) {
  if (exponent < 0)
    return base == 1 ? 1 : base == -1 ? (exponent % 2 ? Bits64(-1) : 1) : 0;
  Bits64 result = 1;
  for (Bits64 factor = Bits64(base), rest = Bits64(exponent); rest; rest >>= 1, factor *= factor)
    result *= rest & 1 ? factor : 1;
  return result;
}

} // namespace tilewright::devicemath

#endif // TILEWRIGHT_CODEGEN_NVPTX_DEVICEMATH_POWER_H
