//===- Logarithm.h - log, log2, log10, log1p --------------------------------------------------===//

#ifndef TILEWRIGHT_CODEGEN_NVPTX_DEVICEMATH_LOGARITHM_H
#define TILEWRIGHT_CODEGEN_NVPTX_DEVICEMATH_LOGARITHM_H

#include "Format.h"

namespace tilewright::devicemath {

/// A base: its logarithms of 2 and of e. The first part of `two` has so few digits that its product
/// with an exponent is exact.
template <class F> struct LogBase {
  Pair<F> two, e;
};
template <class F> struct LogConstants;
template <> struct LogConstants<float> {
  static constexpr LogBase<float> kNatural{{0x1.62ep-1f, 0x1.0bfbe8p-15f}, {1, 0}};
  static constexpr LogBase<float> kBinary{{1, 0}, {0x1.715476p+0f, 0x1.4ae0c0p-26f}};
  static constexpr LogBase<float> kDecimal{{0x1.344p-2f, 0x1.3509f8p-18f},
                                           {0x1.bcb7b2p-2f, -0x1.5b235ep-27f}};
  static constexpr float kTwoThirds = 0x1.555556p-1f;
};
template <> struct LogConstants<double> {
  static constexpr LogBase<double> kNatural{{0x1.62e42fefa2p-1, 0x1.9ef35793c7673p-41}, {1, 0}};
  static constexpr LogBase<double> kBinary{{1, 0}, {0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56}};
  static constexpr LogBase<double> kDecimal{{0x1.34413509f6p-2, 0x1.9fef311f12b36p-42},
                                            {0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57}};
  static constexpr double kTwoThirds = 0x1.5555555555555p-1;
};

/// A positive number as m 2^e with `least` <= m < 2 least.
template <class F> struct Scaled {
  F m, e;
  SignedOf<F> shift; ///< e, as an integer.
};
template <class F> Scaled<F> splitScale(F x, F least) {
  constexpr int kFraction = Format<F>::kDigits - 1;
  constexpr F kSmallest = fromBits<F>(BitsOf<F>(1) << kFraction); // below it are subnormals
  bool isSmall = x < kSmallest;
  BitsOf<F> bits = toBits(isSmall ? x * F(BitsOf<F>(1) << kFraction) : x);
  SignedOf<F> e = SignedOf<F>(bits - toBits(least)) >> kFraction;
  F m = fromBits<F>(bits - (BitsOf<F>(e) << kFraction));
  e -= isSmall ? kFraction : 0;
  return {m, F(e), e};
}

/// The logarithm of 2^e (1 + f + low) for |f| <= 1/3. The sum f + f^2 q is kept as a pair where it
/// is multiplied, and the exponent's part is exact, so that the last addition decides the error.
template <class F> F combineLog(const LogBase<F> &base, F e, F f, F low) {
  F curve = f * f * evaluate(Polynomials<F>::kLog, f);
  Pair<F> log = addLarger(f, curve);
  log.low += low;
  Pair<F> product{log.high, log.low};
  if (base.e.high != 1) {
    product = multiplyExactly(log.high, base.e.high);
    product.low += fma(log.low, base.e.high, log.high * base.e.low);
  }
  Pair<F> sum = addLarger(e * base.two.high, product.high);
  return sum.high + (sum.low + fma(e, base.two.low, product.low));
}

/// Zeros, negative numbers, infinity and NaN.
template <class F> F finishLog(F x, F result) {
  result = x == 0 ? -Format<F>::kInfinity : result;
  result = x < 0 ? Format<F>::kNaN : result;
  return isNaN(x) || x == Format<F>::kInfinity ? x : result;
}

template <class F> F log(F x, const LogBase<F> &base) {
  Scaled<F> parts = splitScale(x, LogConstants<F>::kTwoThirds);
  return finishLog(x, combineLog(base, parts.e, parts.m - 1, F(0)));
}

/// log(1 + x): what the sum 1 + x loses is added to the fraction.
template <class F> F log1p(F x) {
  Pair<F> sum = addExactly(F(1), x);
  Scaled<F> parts = splitScale(sum.high, LogConstants<F>::kTwoThirds);
  F lost = x < F(Bits64(1) << Format<F>::kDigits) ? scale(sum.low, -parts.shift) : F(0);
  Pair<F> f = addExactly(parts.m - 1, lost);
  F result = combineLog(LogConstants<F>::kNatural, parts.e, f.high, f.low);
  return x == 0 ? x : finishLog(sum.high, result);
}

} // namespace tilewright::devicemath

#endif // TILEWRIGHT_CODEGEN_NVPTX_DEVICEMATH_LOGARITHM_H
