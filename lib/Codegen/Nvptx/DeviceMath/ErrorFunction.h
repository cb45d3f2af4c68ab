//===- ErrorFunction.h - erf ------------------------------------------------------------------===//

#ifndef TILEWRIGHT_CODEGEN_NVPTX_DEVICEMATH_ERRORFUNCTION_H
#define TILEWRIGHT_CODEGEN_NVPTX_DEVICEMATH_ERRORFUNCTION_H

#include "Exponential.h"

namespace tilewright::devicemath {

/// An odd polynomial up to 1, and 1 - e^-q(x) beyond, where q is -log(erfc).
template <class F> F erf(F x) {
  constexpr F kGreatest = sizeof(F) == 4 ? 4 : 6; // erf rounds to 1 from there on
  F magnitude = abs(x);
  F near = fma(magnitude, evaluate(Polynomials<F>::kErf, magnitude * magnitude), magnitude);
  F bounded = magnitude > kGreatest ? kGreatest : magnitude;
  F far = 1 - exp(-evaluate(Polynomials<F>::kErfc, bounded));
  return copySign(magnitude < 1 ? near : far, x);
}

} // namespace tilewright::devicemath

#endif // TILEWRIGHT_CODEGEN_NVPTX_DEVICEMATH_ERRORFUNCTION_H
