//===- SmallFloat.cpp - encoding and decoding of floating-point formats ------------------===//
#include "vgpu/Exec/SmallFloat.h"
#include <algorithm>
#include <cmath>

namespace vgpu {

/// Whether discarding `rest` (below one unit of `kept`, with `half` = half a unit) rounds away from
/// zero.
static bool roundsUp(Rounding rounding, bool isNegative, uint64_t kept, uint64_t rest,
                     uint64_t half) {
  switch (rounding) {
  case Rounding::Nearest:
    return rest > half || (rest == half && (kept & 1));
  case Rounding::NearestAway:
    return rest >= half;
  case Rounding::Zero:
    return false;
  case Rounding::Down:
    return rest != 0 && isNegative;
  case Rounding::Up:
    return rest != 0 && !isNegative;
  }
  return false;
}

uint64_t encodeScaled(bool isNegative, uint64_t magnitude, int exponent, const FloatFormat &format,
                      Rounding rounding, bool isSaturating) {
  uint64_t sign = isNegative ? format.signBit() : 0;
  if (magnitude == 0)
    return sign;
  int leading = std::countl_zero(magnitude);
  magnitude <<= leading; // value = magnitude * 2^(exponent - leading), top bit set
  int valueExponent = exponent - leading + 63;
  int smallest = 1 - format.bias();
  int dropped = 63 - static_cast<int>(format.mantissaBits) + std::max(0, smallest - valueExponent);
  uint64_t kept = 0, rest = magnitude, half = 0;
  if (dropped < 64) {
    kept = magnitude >> dropped;
    rest = magnitude & ((uint64_t(1) << dropped) - 1);
    half = uint64_t(1) << (dropped - 1);
  } else if (dropped == 64) {
    half = uint64_t(1) << 63;
  } else {
    rest = 1; // far below half of the smallest subnormal
    half = 2;
  }
  kept += roundsUp(rounding, isNegative, kept, rest, half);
  // A normal number's leading one adds itself to the exponent field; so does a carry.
  uint64_t bits = kept;
  if (valueExponent >= smallest) {
    uint64_t field = static_cast<uint64_t>(valueExponent + format.bias() - 1);
    if (valueExponent + format.bias() >= (1 << format.exponentBits))
      bits = format.signBit(); // overflow whatever the mantissa
    else
      bits = kept + (field << format.mantissaBits);
  }
  uint64_t limit = format.largest();
  if (bits > limit) {
    bool staysFinite = isSaturating || rounding == Rounding::Zero ||
                       (rounding == Rounding::Down && !isNegative) ||
                       (rounding == Rounding::Up && isNegative);
    bits = staysFinite ? limit : format.hasInfinity ? format.infinity() : format.nan();
  }
  return sign | bits;
}

uint64_t encodeFloat(double value, const FloatFormat &format, Rounding rounding,
                     bool isSaturating) {
  uint64_t bits = std::bit_cast<uint64_t>(value);
  bool isNegative = bits >> 63;
  uint64_t mantissa = bits & ((uint64_t(1) << 52) - 1);
  int exponent = static_cast<int>(bits >> 52 & 0x7ff);
  if (exponent == 0x7ff) {
    if (mantissa != 0)
      return format.nan();
    uint64_t magnitude = isSaturating         ? format.largest()
                         : format.hasInfinity ? format.infinity()
                                              : format.nan();
    return (isNegative ? format.signBit() : 0) | magnitude;
  }
  if (exponent == 0)
    exponent = 1;
  else
    mantissa |= uint64_t(1) << 52;
  return encodeScaled(isNegative, mantissa, exponent - 1075, format, rounding, isSaturating);
}

double decodeFloat(uint64_t bits, const FloatFormat &format) {
  uint64_t mantissa = bits & ((uint64_t(1) << format.mantissaBits) - 1);
  uint64_t field = bits >> format.mantissaBits & ((uint64_t(1) << format.exponentBits) - 1);
  bool isNegative = bits & format.signBit();
  uint64_t top = (uint64_t(1) << format.exponentBits) - 1;
  double value;
  if (field == top && format.hasInfinity)
    value = mantissa ? std::nan("") : HUGE_VAL;
  else if (!format.hasInfinity && (bits & format.nan()) == format.nan())
    value = std::nan("");
  else if (field == 0)
    value = std::ldexp(static_cast<double>(mantissa),
                       1 - format.bias() - static_cast<int>(format.mantissaBits));
  else
    value =
        std::ldexp(static_cast<double>(mantissa | uint64_t(1) << format.mantissaBits),
                   static_cast<int>(field) - format.bias() - static_cast<int>(format.mantissaBits));
  return isNegative ? -value : value;
}

double fmaToOdd(double a, double b, double c) {
  double product = a * b; // exact: operands have at most 11 bits
  double sum = product + c;
  if (!std::isfinite(sum))
    return sum;
  // Knuth's two-sum gives what rounding lost.
  double shifted = sum - product;
  double lost = (product - (sum - shifted)) + (c - shifted);
  if (lost == 0)
    return sum;
  uint64_t bits = std::bit_cast<uint64_t>(sum);
  if (bits & 1)
    return sum;
  // Make the last bit odd, towards the side of the exact value.
  bool isAway = (lost > 0) == (sum > 0);
  return std::bit_cast<double>(isAway ? bits + 1 : bits - 1);
}

} // namespace vgpu
