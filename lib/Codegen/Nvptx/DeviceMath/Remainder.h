//===- Remainder.h - fmod ---------------------------------------------------------------------===//

#ifndef TILEWRIGHT_CODEGEN_NVPTX_DEVICEMATH_REMAINDER_H
#define TILEWRIGHT_CODEGEN_NVPTX_DEVICEMATH_REMAINDER_H

#include "Format.h"

namespace tilewright::devicemath {

/// A positive finite number as an integer times 2^exponent.
struct Significand {
  Bits64 integer;
  int exponent;
};
template <class F> Significand toInteger(F x) {
  constexpr int kFraction = Format<F>::kDigits - 1;
  BitsOf<F> bits = toBits(x), fraction = bits & ((BitsOf<F>(1) << kFraction) - 1);
  int biased = int(bits >> kFraction);
  constexpr int kLeast = 1 - Format<F>::kBias - kFraction;
  return biased ? Significand{fraction | BitsOf<F>(1) << kFraction, kLeast + biased - 1}
                : Significand{fraction, kLeast};
}

/// x - y trunc(x / y), which is always representable: a division of integers, as many digits at a
/// time as 64 bits hold.
template <class F> F fmod(F x, F y) {
  F dividend = abs(x), divisor = abs(y);
  if (!(dividend < Format<F>::kInfinity) || divisor == 0 || isNaN(y))
    return Format<F>::kNaN;
  if (dividend < divisor)
    return x;
  Significand a = toInteger(dividend), b = toInteger(divisor);
  constexpr int kChunk = 64 - Format<F>::kDigits;
  Bits64 rest = a.integer % b.integer;
  for (int shift = a.exponent - b.exponent; shift > 0; shift -= kChunk)
    rest = (rest << (shift < kChunk ? shift : kChunk)) % b.integer;
  return copySign(scale(F(rest), b.exponent), x);
}

} // namespace tilewright::devicemath

#endif // TILEWRIGHT_CODEGEN_NVPTX_DEVICEMATH_REMAINDER_H
