//===- Hyperbolic.h - tanh, sinh, cosh --------------------------------------------------------===//

#ifndef TILEWRIGHT_CODEGEN_NVPTX_DEVICEMATH_HYPERBOLIC_H
#define TILEWRIGHT_CODEGEN_NVPTX_DEVICEMATH_HYPERBOLIC_H

#include "Exponential.h"

namespace tilewright::devicemath {

template <class F> F tanh(F x) {
  F magnitude = abs(x), square = x * x;
  F near = fma(magnitude * square, evaluate(Polynomials<F>::kTanh, square), magnitude);
  F far = 1 - 2 / (exp(2 * magnitude) + 1);
  return copySign(magnitude < F(0.55) ? near : far, x);
}

/// Near 0 the two exponentials would cancel.
template <class F> F sinh(F x) {
  F magnitude = abs(x), square = x * x;
  F near = fma(magnitude * square, evaluate(Polynomials<F>::kSinh, square), magnitude);
  F half = halfExp(magnitude);
  F far = half - F(0.25) / half;
  return copySign(magnitude < 1 ? near : far, x);
}

template <class F> F cosh(F x) {
  F half = halfExp(abs(x));
  return half + F(0.25) / half;
}

} // namespace tilewright::devicemath

#endif // TILEWRIGHT_CODEGEN_NVPTX_DEVICEMATH_HYPERBOLIC_H
