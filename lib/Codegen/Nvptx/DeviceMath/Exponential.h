//===- Exponential.h - exp and exp2 -------------------------------------------------------===//

#ifndef TILEWRIGHT_CODEGEN_NVPTX_DEVICEMATH_EXPONENTIAL_H
#define TILEWRIGHT_CODEGEN_NVPTX_DEVICEMATH_EXPONENTIAL_H

#include "Format.h"

namespace tilewright::devicemath {

template <class F> struct ExpConstants;
template <> struct ExpConstants<float> {
  static constexpr float kLog2E = 0x1.715476p+0f, kLn2 = 0x1.62e430p-1f, kLn2Low = -0x1.05c610p-29f;
  static constexpr float kLeast = -105, kGreatest = 90;    ///< e^x is 0 or infinite beyond.
  static constexpr float kLeast2 = -151, kGreatest2 = 129; ///< The same of 2^x.
};
template <> struct ExpConstants<double> {
  static constexpr double kLog2E = 0x1.71547652b82fep+0, kLn2 = 0x1.62e42fefa39efp-1,
                          kLn2Low = 0x1.abc9e3b39803fp-56;
  static constexpr double kLeast = -746, kGreatest = 711;
  static constexpr double kLeast2 = -1080, kGreatest2 = 1025;
};

/// A NaN stays one.
template <class F> F clamp(F x, F least, F greatest) {
  x = x < least ? least : x;
  return x > greatest ? greatest : x;
}

/// e^x = 2^n (1 + p) with |p| < 0.42.
template <class F> struct Exponential {
  F p;
  SignedOf<F> n;
};
/// r = x - n ln 2 is exact up to the last of the two FMAs: ln 2 is given by two numbers, and the
/// first difference needs no more digits than x has.
template <class F> Exponential<F> splitExp(F x) {
  using C = ExpConstants<F>;
  Nearest<F> n = nearestOfProduct(x, C::kLog2E);
  F r = fma(n.number, -C::kLn2, x);
  r = fma(n.number, -C::kLn2Low, r);
  return {fma(r * r, evaluate(Polynomials<F>::kExp, r), r), n.integer};
}

template <class F> F exp(F x) {
  using C = ExpConstants<F>;
  Exponential<F> parts = splitExp(clamp(x, C::kLeast, C::kGreatest));
  return scale(1 + parts.p, parts.n);
}

/// e^x / 2 for x up to where e^x overflows and a little beyond.
template <class F> F halfExp(F x) {
  using C = ExpConstants<F>;
  Exponential<F> parts = splitExp(clamp(x, C::kLeast, C::kGreatest));
  return scale(1 + parts.p, parts.n - 1);
}

/// 2^(x + low) with low below the last digit of x.
template <class F> F exp2(F x, F low) {
  using C = ExpConstants<F>;
  F bounded = clamp(x, C::kLeast2, C::kGreatest2);
  Nearest<F> n = nearestOfProduct(bounded, F(1));
  F f = (bounded - n.number) + low;
  return scale(fma(f, evaluate(Polynomials<F>::kExp2, f), F(1)), n.integer);
}

template <class F> F exp2(F x) { return exp2(x, F(0)); }

} // namespace tilewright::devicemath

#endif // TILEWRIGHT_CODEGEN_NVPTX_DEVICEMATH_EXPONENTIAL_H
