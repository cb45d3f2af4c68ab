//===- NarrowFloats.h - conversions that PTX has no instruction for ---------------------------===//
//
// Rounds to a format given by its fields, in integer arithmetic. All of the format, the rounding
// mode and saturation are constants at the call, so that what remains after inlining is short.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_CODEGEN_NVPTX_DEVICEMATH_NARROWFLOATS_H
#define TILEWRIGHT_CODEGEN_NVPTX_DEVICEMATH_NARROWFLOATS_H

#include "Format.h"

namespace tilewright::devicemath {

/// As in the dialect; `ToOdd` keeps in the last digit that something was lost.
enum class Rounding { NearestEven, TowardZero, NearestAway, Downward, Upward, ToOdd };

/// Sign, exponent and fraction, from the top.
struct Fields {
  int exponentBits, fractionBits;

  int bias() const { return (1 << (exponentBits - 1)) - 1; }
  /// float8_e4m3fn: the top exponent holds numbers, and only its last pattern is NaN.
  bool hasInfinity() const { return exponentBits != 4; }
  Bits32 sign() const { return Bits32(1) << (exponentBits + fractionBits); }
  Bits32 infinity() const { return ((Bits32(1) << exponentBits) - 1) << fractionBits; }
  Bits32 nan() const { return sign() - 1; }
  Bits32 greatest() const { return hasInfinity() ? infinity() - 1 : nan() - 1; }
};

/// Whether a rounding towards an infinity takes a number of this sign away from zero.
inline bool growsMagnitude(Rounding rounding, bool isNegative) {
  return rounding == (isNegative ? Rounding::Downward : Rounding::Upward);
}

/// value / 2^drop, of the magnitude of a number.
template <class Bits> Bits shiftRight(Bits value, int drop, Rounding rounding, bool isNegative) {
  constexpr int kWidth = sizeof(Bits) * 8;
  if (drop <= 0)
    return value;
  bool isAll = drop >= kWidth;
  Bits kept = isAll ? 0 : value >> drop;
  Bits lost = isAll ? value : value << (kWidth - drop); // as a fraction of 2^kWidth
  Bits half = Bits(1) << (kWidth - 1);
  if (isAll && drop > kWidth) // below half of the last place
    lost = value != 0;
  switch (rounding) {
  case Rounding::TowardZero:
    return kept;
  case Rounding::Downward:
  case Rounding::Upward:
    return kept + (lost != 0 && growsMagnitude(rounding, isNegative));
  case Rounding::ToOdd:
    return kept | (lost != 0);
  case Rounding::NearestAway:
    return kept + (lost >= half);
  case Rounding::NearestEven:
    return kept + (lost > half || (lost == half && (kept & 1)));
  }
  return kept;
}

/// The bits of x in a narrower format. `saturate` gives the greatest number in place of infinity.
template <class F> Bits32 narrow(F x, Fields to, Rounding rounding, bool saturate) {
  constexpr int kFraction = Format<F>::kDigits - 1;
  constexpr BitsOf<F> kHidden = BitsOf<F>(1) << kFraction;
  BitsOf<F> magnitude = toBits(abs(x));
  Bits32 sign = isNegative(x) ? to.sign() : 0;
  Bits32 overflow = saturate || !to.hasInfinity() ? to.greatest() : to.infinity();
  if (isNaN(x))
    return sign | to.nan();
  if (magnitude == toBits(Format<F>::kInfinity))
    return sign | overflow;
  int exponent = int(magnitude >> kFraction);
  BitsOf<F> significand = exponent ? (magnitude & (kHidden - 1)) | kHidden : magnitude;
  exponent = (exponent ? exponent : 1) - Format<F>::kBias;
  int drop = kFraction - to.fractionBits, least = 1 - to.bias();
  BitsOf<F> result;
  if (exponent < least) {
    result = shiftRight(significand, drop + (least - exponent), rounding, sign);
  } else {
    // A carry out of the fraction runs into the exponent, which is right.
    result = (BitsOf<F>(exponent - least) << to.fractionBits) +
             shiftRight(significand, drop, rounding, sign);
  }
  if (result > to.greatest()) {
    bool isDirected = rounding == Rounding::TowardZero || rounding == Rounding::Downward ||
                      rounding == Rounding::Upward;
    bool reachesInfinity = !isDirected || growsMagnitude(rounding, sign);
    return sign | (reachesInfinity ? overflow : to.greatest());
  }
  return sign | Bits32(result);
}

/// The value of a number in a format of 8 bits.
inline float widen(Bits32 bits, Fields from) {
  Bits32 magnitude = bits & (from.sign() - 1);
  // The fields moved to float's places, subnormals too, are off by the difference of the biases.
  float value = fromBits<float>(magnitude << (23 - from.fractionBits)) *
                powerOfTwo<float>(Format<float>::kBias - from.bias());
  if (from.hasInfinity() && magnitude == from.infinity())
    value = Format<float>::kInfinity;
  if (magnitude > (from.hasInfinity() ? from.infinity() : from.greatest()))
    value = Format<float>::kNaN;
  return bits & from.sign() ? -value : value;
}

/// An integer as a double, rounded as asked where it has more than 53 digits.
inline double fromInteger(Bits64 bits, bool isUnsigned, Rounding rounding) {
  bool isNegativeNumber = !isUnsigned && bits >> 63;
  Bits64 magnitude = isNegativeNumber ? 0 - bits : bits;
  int excess = magnitude ? 64 - __builtin_clzll(magnitude) - 53 : 0;
  excess = excess < 0 ? 0 : excess;
  double value = double(shiftRight(magnitude, excess, rounding, isNegativeNumber)) *
                 powerOfTwo<double>(excess);
  return isNegativeNumber ? -value : value;
}

} // namespace tilewright::devicemath

#endif // TILEWRIGHT_CODEGEN_NVPTX_DEVICEMATH_NARROWFLOATS_H
