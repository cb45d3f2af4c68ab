//===- Inverse.h - atan and atan2 -----------------------------------------------------------===//

#ifndef TILEWRIGHT_CODEGEN_NVPTX_DEVICEMATH_INVERSE_H
#define TILEWRIGHT_CODEGEN_NVPTX_DEVICEMATH_INVERSE_H

#include "Circular.h"

namespace tilewright::devicemath {

/// The angle of the first octant whose tangent is t.
template <class F> F atanReduced(F t) {
  F square = t * t;
  return fma(t * square, evaluate(Polynomials<F>::kAtan, square), t);
}

/// halfPis * pi/2 + angle, with pi/2 as a pair.
template <class F> F addQuarterTurns(F halfPis, F angle) {
  using C = CircularConstants<F>;
  return fma(halfPis, C::kHalfPi[0], fma(halfPis, C::kHalfPi[1], angle));
}

template <class F> F atan(F x) {
  F magnitude = abs(x);
  bool isSteep = magnitude > 1;
  F angle = atanReduced(isSteep ? 1 / magnitude : magnitude);
  return copySign(isSteep ? addQuarterTurns(F(1), -angle) : angle, x);
}

template <class F> F atan2(F y, F x) {
  F ordinate = abs(y), abscissa = abs(x);
  bool isSteep = ordinate > abscissa;
  F quotient = isSteep ? abscissa / ordinate : ordinate / abscissa;
  if (ordinate == abscissa) // two zeros or infinities included
    quotient = ordinate == 0 ? F(0) : F(1);
  F angle = atanReduced(quotient);
  F quarterTurns = isSteep ? F(1) : isNegative(x) ? F(2) : F(0);
  F value = addQuarterTurns(quarterTurns, isSteep == isNegative(x) ? angle : -angle);
  value = quarterTurns == 0 ? angle : value;
  return isNaN(x) || isNaN(y) ? x + y : copySign(value, y);
}

} // namespace tilewright::devicemath

#endif // TILEWRIGHT_CODEGEN_NVPTX_DEVICEMATH_INVERSE_H
