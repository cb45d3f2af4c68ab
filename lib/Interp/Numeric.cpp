//===- Numeric.cpp - numbers of the language: formats, rounding, integer corners --------------===//

#include "tilewright/Interp/Numeric.h"
#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <limits>

using namespace tilewright::interp;

bool tilewright::interp::isUnsigned(Format format) {
  return format == Format::Bool || (format >= Format::U8 && format <= Format::U64);
}

unsigned tilewright::interp::getBits(Format format) {
  return format == Format::Bool ? 1 : 8 * getBytes(format);
}

unsigned tilewright::interp::getBytes(Format format) {
  switch (format) {
  case Format::Bool:
  case Format::I8:
  case Format::U8:
  case Format::F8E4M3FN:
  case Format::F8E5M2:
    return 1;
  case Format::I16:
  case Format::U16:
  case Format::F16:
  case Format::BF16:
    return 2;
  case Format::I32:
  case Format::U32:
  case Format::TF32:
  case Format::F32:
    return 4;
  case Format::I64:
  case Format::U64:
  case Format::Index:
  case Format::F64:
    return 8;
  }
  return 0;
}

IntegerSpec tilewright::interp::getIntegerSpec(Format format) {
  return {getBits(format), isUnsigned(format)};
}

//===----------------------------------------------------------------------------------------===//
// Rounding a shifted-out part
//===----------------------------------------------------------------------------------------===//

/// Whether a rounding towards an infinity takes a number of this sign away from zero.
static bool growsMagnitude(Rounding rounding, bool isNegative) {
  return rounding == (isNegative ? Rounding::Downward : Rounding::Upward);
}
static bool isNearest(Rounding rounding) {
  return rounding == Rounding::NearestEven || rounding == Rounding::NearestAway;
}

/// `value >> drop` of the magnitude of a number, rounded by what was shifted out. `drop` may exceed
/// the width.
static uint64_t shiftRightRounded(uint64_t value, unsigned drop, Rounding rounding,
                                  bool isNegative) {
  if (drop == 0)
    return value;
  uint64_t kept = drop >= 64 ? 0 : value >> drop;
  if (!isNearest(rounding)) {
    bool isExact = drop >= 64 ? value == 0 : kept << drop == value;
    return kept + (!isExact && growsMagnitude(rounding, isNegative));
  }
  if (drop > 64)
    return 0; // less than half of the last place, whatever the value
  uint64_t half = uint64_t(1) << (drop - 1);
  uint64_t lost = drop == 64 ? value : value & ((half << 1) - 1);
  bool isTie = lost == half;
  bool up = lost > half || (isTie && (rounding == Rounding::NearestAway || (kept & 1)));
  return kept + up;
}

//===----------------------------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------------------------===//

namespace {
/// The fields of a binary interchange format: sign, exponent, mantissa, from the top.
struct FloatSpec {
  int exponentBits;
  int mantissaBits;
  bool hasInfinity = true;

  int bias() const { return (1 << (exponentBits - 1)) - 1; }
  uint64_t signBit() const { return uint64_t(1) << (exponentBits + mantissaBits); }
  uint64_t exponentMask() const { return ((uint64_t(1) << exponentBits) - 1) << mantissaBits; }
  uint64_t mantissaMask() const { return (uint64_t(1) << mantissaBits) - 1; }
  /// Without infinities the top exponent holds numbers too, and only its last pattern is NaN.
  uint64_t largestFinite() const {
    return hasInfinity ? exponentMask() - 1 : (exponentMask() | mantissaMask()) - 1;
  }
  bool isNaN(uint64_t magnitude) const {
    return magnitude > (hasInfinity ? exponentMask() : largestFinite());
  }
};
} // namespace

/// TF32 is described by the 19 bits it has; they are the upper ones of a float32.
static FloatSpec getFloatSpec(Format format) {
  switch (format) {
  case Format::F8E4M3FN:
    return {4, 3, /*hasInfinity=*/false};
  case Format::F8E5M2:
    return {5, 2};
  case Format::F16:
    return {5, 10};
  case Format::BF16:
    return {8, 7};
  case Format::TF32:
    return {8, 10};
  case Format::F32:
    return {8, 23};
  default:
    assert(format == Format::F64 && "not a float");
    return {11, 52};
  }
}

static constexpr FloatSpec kDouble = {11, 52};
static constexpr unsigned kTf32UnusedBits = 13;

static double decode(FloatSpec spec, uint64_t bits) {
  uint64_t sign = (bits & spec.signBit()) ? kDouble.signBit() : 0;
  uint64_t magnitude = bits & (spec.signBit() - 1);
  uint64_t mantissa = magnitude & spec.mantissaMask();
  unsigned widen = kDouble.mantissaBits - spec.mantissaBits;
  if (spec.isNaN(magnitude))
    return std::bit_cast<double>(sign | kDouble.exponentMask() | mantissa << widen);
  if (spec.hasInfinity && magnitude == spec.exponentMask())
    return std::bit_cast<double>(sign | kDouble.exponentMask());
  int exponent = static_cast<int>(magnitude >> spec.mantissaBits);
  double value =
      exponent == 0
          ? std::ldexp(double(mantissa), 1 - spec.bias() - spec.mantissaBits)
          : std::bit_cast<double>(uint64_t(exponent - spec.bias() + kDouble.bias()) << 52 |
                                  mantissa << widen);
  return sign ? -value : value;
}

static uint64_t encode(FloatSpec spec, double value, Rounding rounding, bool saturate) {
  uint64_t bits = std::bit_cast<uint64_t>(value);
  uint64_t sign = (bits & kDouble.signBit()) ? spec.signBit() : 0;
  uint64_t magnitude = bits & (kDouble.signBit() - 1);
  uint64_t mantissa = magnitude & kDouble.mantissaMask();
  unsigned narrow = kDouble.mantissaBits - spec.mantissaBits;
  if (kDouble.isNaN(magnitude)) {
    if (!spec.hasInfinity)
      return sign | spec.exponentMask() | spec.mantissaMask();
    uint64_t payload = mantissa >> narrow;
    uint64_t quiet = uint64_t(1) << (spec.mantissaBits - 1);
    return sign | spec.exponentMask() | (payload ? payload : quiet);
  }
  bool clamp = saturate || !spec.hasInfinity;
  if (magnitude == kDouble.exponentMask())
    return sign | (clamp ? spec.largestFinite() : spec.exponentMask());
  if (magnitude == 0)
    return sign;

  // A finite number is significand * 2^(exponent - 52), its leading bit at 52 (or below, for the
  // subnormals of double, which lie far below the smallest value of the narrower formats).
  int exponent = static_cast<int>(magnitude >> 52);
  uint64_t significand = exponent == 0 ? mantissa : mantissa | uint64_t(1) << 52;
  exponent = std::max(exponent, 1) - kDouble.bias();
  int leastNormal = 1 - spec.bias();
  uint64_t result;
  if (exponent < leastNormal) {
    result = shiftRightRounded(significand, narrow + (leastNormal - exponent), rounding, sign);
  } else {
    // A carry out of the rounded significand runs into the exponent field, which is right.
    uint64_t rounded = shiftRightRounded(significand, narrow, rounding, sign);
    result = (uint64_t(exponent + spec.bias() - 1) << spec.mantissaBits) + rounded;
  }
  if (result > spec.largestFinite()) {
    bool reachesInfinity = isNearest(rounding) || growsMagnitude(rounding, sign);
    result = clamp || !reachesInfinity ? spec.largestFinite() : spec.exponentMask();
  }
  return sign | result;
}

double tilewright::interp::decodeFloat(Format format, uint64_t bits) {
  if (format == Format::F64)
    return std::bit_cast<double>(bits);
  if (format == Format::TF32)
    return roundFloat(Format::TF32, decode(getFloatSpec(Format::F32), bits));
  return decode(getFloatSpec(format), bits);
}

uint64_t tilewright::interp::encodeFloat(Format format, double value, Rounding rounding,
                                         bool saturate) {
  switch (format) {
  case Format::F64:
    if (saturate && std::isinf(value))
      value = std::copysign(std::numeric_limits<double>::max(), value);
    return std::bit_cast<uint64_t>(value);
  case Format::TF32:
    if (rounding == Rounding::NearestEven)
      rounding = Rounding::NearestAway;
    return encode(getFloatSpec(format), value, rounding, saturate) << kTf32UnusedBits;
  case Format::F8E5M2:
    return encode(getFloatSpec(format), value, rounding, /*saturate=*/true);
  default:
    return encode(getFloatSpec(format), value, rounding, saturate);
  }
}

uint64_t tilewright::interp::packFloat(Format format, double value) {
  if (format == Format::F8E5M2) // has an infinity, which a conversion would clamp
    return encode(getFloatSpec(format), value, Rounding::NearestEven, /*saturate=*/false);
  return encodeFloat(format, value);
}

double tilewright::interp::roundFloat(Format format, double value, Rounding rounding,
                                      bool saturate) {
  uint64_t bits = encodeFloat(format, value, rounding, saturate);
  if (format == Format::TF32)
    return decode(getFloatSpec(Format::F32), bits);
  return decodeFloat(format, bits);
}

/// The sum of two doubles rounded to odd: if inexact, the last bit of the result is 1. A later
/// rounding to a format with at least two bits less then gives what one rounding of the exact sum
/// would (Boldo and Melquiond 2008).
static double addToOdd(double a, double b) {
  double sum = a + b;
  if (!std::isfinite(sum))
    return sum;
  // Knuth's two-sum: a + b == sum + error exactly.
  double bPart = sum - a, aPart = sum - bPart;
  double error = (a - aPart) + (b - bPart);
  uint64_t bits = std::bit_cast<uint64_t>(sum);
  if (error == 0 || (bits & 1))
    return sum;
  // The neighbour on the error's side has an odd last bit.
  return std::nextafter(sum, error > 0 ? INFINITY : -INFINITY);
}

double tilewright::interp::fusedMultiplyAdd(Format format, double a, double b, double c) {
  if (format == Format::F64)
    return std::fma(a, b, c);
  // The product of two values of 24 bits or fewer is exact in double.
  return roundFloat(format, addToOdd(a * b, c));
}

double tilewright::interp::maxFloat(double lhs, double rhs, bool propagate) {
  if (std::isnan(lhs) || std::isnan(rhs))
    return std::isnan(lhs) == propagate ? lhs : rhs;
  if (lhs == rhs)
    return std::signbit(lhs) ? rhs : lhs;
  return lhs < rhs ? rhs : lhs;
}

double tilewright::interp::minFloat(double lhs, double rhs, bool propagate) {
  if (std::isnan(lhs) || std::isnan(rhs))
    return std::isnan(lhs) == propagate ? lhs : rhs;
  if (lhs == rhs)
    return std::signbit(lhs) ? lhs : rhs;
  return lhs < rhs ? lhs : rhs;
}

double tilewright::interp::getUnitRoundoff(Format format) {
  return std::ldexp(1.0, -getFloatSpec(format).mantissaBits - 1);
}

double tilewright::interp::getSmallest(Format format) {
  FloatSpec spec = getFloatSpec(format);
  return std::ldexp(1.0, 1 - spec.bias() - spec.mantissaBits);
}

double tilewright::interp::getLargestFinite(Format format) {
  FloatSpec spec = getFloatSpec(format);
  return decode(spec, spec.largestFinite());
}

//===----------------------------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------------------------===//

int64_t tilewright::interp::truncDivide(int64_t lhs, int64_t rhs, IntegerSpec spec) {
  if (rhs == 0)
    return 0;
  if (spec.isUnsigned)
    return wrap(asUnsigned(lhs, spec.width) / asUnsigned(rhs, spec.width), spec.width);
  int64_t left = asSigned(lhs, spec.width), right = asSigned(rhs, spec.width);
  if (right == -1) // the machine's division traps where this one wraps
    return wrap(static_cast<int64_t>(0 - static_cast<uint64_t>(left)), spec.width);
  return wrap(left / right, spec.width);
}

int64_t tilewright::interp::truncModulo(int64_t lhs, int64_t rhs, IntegerSpec spec) {
  if (rhs == 0)
    return lhs;
  if (spec.isUnsigned)
    return wrap(asUnsigned(lhs, spec.width) % asUnsigned(rhs, spec.width), spec.width);
  int64_t left = asSigned(lhs, spec.width), right = asSigned(rhs, spec.width);
  return right == -1 ? 0 : wrap(left % right, spec.width);
}

int64_t tilewright::interp::floorDivide(int64_t lhs, int64_t rhs, IntegerSpec spec) {
  int64_t quotient = truncDivide(lhs, rhs, spec);
  if (spec.isUnsigned || rhs == 0)
    return quotient;
  int64_t left = asSigned(lhs, spec.width), right = asSigned(rhs, spec.width);
  bool isExact = truncModulo(lhs, rhs, spec) == 0;
  return isExact || (left < 0) == (right < 0) ? quotient : wrap(quotient - 1, spec.width);
}

int64_t tilewright::interp::floorModulo(int64_t lhs, int64_t rhs, IntegerSpec spec) {
  int64_t remainder = truncModulo(lhs, rhs, spec);
  if (spec.isUnsigned || rhs == 0 || remainder == 0)
    return remainder;
  int64_t right = asSigned(rhs, spec.width);
  bool signsDiffer = (asSigned(remainder, spec.width) < 0) != (right < 0);
  return signsDiffer ? wrap(remainder + right, spec.width) : remainder;
}

int64_t tilewright::interp::shiftLeft(int64_t lhs, int64_t rhs, IntegerSpec spec) {
  uint64_t count = asUnsigned(rhs, spec.width); // a negative count is a huge one
  if (count >= spec.width)
    return 0;
  return wrap(static_cast<int64_t>(static_cast<uint64_t>(lhs) << count), spec.width);
}

int64_t tilewright::interp::shiftRight(int64_t lhs, int64_t rhs, IntegerSpec spec) {
  uint64_t count = asUnsigned(rhs, spec.width);
  if (spec.isUnsigned)
    return count >= spec.width ? 0 : wrap(asUnsigned(lhs, spec.width) >> count, spec.width);
  return wrap(asSigned(lhs, spec.width) >> std::min<uint64_t>(count, spec.width - 1), spec.width);
}

bool tilewright::interp::isLess(int64_t lhs, int64_t rhs, IntegerSpec spec) {
  return spec.isUnsigned ? asUnsigned(lhs, spec.width) < asUnsigned(rhs, spec.width)
                         : asSigned(lhs, spec.width) < asSigned(rhs, spec.width);
}

int64_t tilewright::interp::maxInteger(int64_t lhs, int64_t rhs, IntegerSpec spec) {
  return isLess(lhs, rhs, spec) ? rhs : lhs;
}

int64_t tilewright::interp::minInteger(int64_t lhs, int64_t rhs, IntegerSpec spec) {
  return isLess(rhs, lhs, spec) ? rhs : lhs;
}

int64_t tilewright::interp::absInteger(int64_t value, IntegerSpec spec) {
  if (spec.isUnsigned || asSigned(value, spec.width) >= 0)
    return value;
  return wrap(static_cast<int64_t>(0 - static_cast<uint64_t>(value)), spec.width);
}

int64_t tilewright::interp::getLeast(IntegerSpec spec) {
  return spec.isUnsigned ? 0
                         : wrap(static_cast<int64_t>(uint64_t(1) << (spec.width - 1)), spec.width);
}

int64_t tilewright::interp::getGreatest(IntegerSpec spec) {
  uint64_t ones = ~uint64_t(0) >> (64 - spec.width);
  return wrap(static_cast<int64_t>(spec.isUnsigned ? ones : ones >> 1), spec.width);
}

//===----------------------------------------------------------------------------------------===//
// Conversions between families
//===----------------------------------------------------------------------------------------===//

int64_t tilewright::interp::floatToInteger(Format to, double value) {
  if (to == Format::Bool)
    return value != 0; // NaN is not zero
  if (std::isnan(value))
    return 0;
  IntegerSpec spec = getIntegerSpec(to);
  double truncated = std::trunc(value);
  // One past the greatest and the least value are powers of two (or zero): exact as doubles.
  double past = std::ldexp(1.0, spec.isUnsigned ? spec.width : spec.width - 1);
  if (truncated >= past)
    return getGreatest(spec);
  if (truncated <= (spec.isUnsigned ? 0.0 : -past))
    return getLeast(spec);
  return wrap(spec.isUnsigned ? static_cast<int64_t>(static_cast<uint64_t>(truncated))
                              : static_cast<int64_t>(truncated),
              spec.width);
}

double tilewright::interp::integerToFloat(Format to, int64_t value, IntegerSpec from,
                                          Rounding rounding, bool saturate) {
  bool isNegative = !from.isUnsigned && asSigned(value, from.width) < 0;
  uint64_t magnitude = from.isUnsigned ? asUnsigned(value, from.width)
                                       : static_cast<uint64_t>(asSigned(value, from.width));
  if (isNegative)
    magnitude = 0 - magnitude;
  int excess = 64 - std::countl_zero(magnitude) - 53; // bits that a double cannot hold
  double exact;
  if (excess <= 0) {
    exact = static_cast<double>(magnitude);
  } else if (to == Format::F64) {
    uint64_t kept = shiftRightRounded(magnitude, excess, rounding, isNegative);
    exact = std::ldexp(static_cast<double>(kept), excess);
  } else {
    // Rounded to odd, so that the rounding below is the only one that counts.
    uint64_t kept = magnitude >> excess;
    bool isInexact = (kept << excess) != magnitude;
    exact = std::ldexp(static_cast<double>(kept | isInexact), excess);
  }
  return roundFloat(to, isNegative ? -exact : exact, rounding, saturate);
}

int64_t tilewright::interp::integerToInteger(Format to, int64_t value, IntegerSpec from) {
  if (to == Format::Bool)
    return value != 0;
  int64_t read = from.isUnsigned ? static_cast<int64_t>(asUnsigned(value, from.width))
                                 : asSigned(value, from.width);
  return wrap(read, getBits(to));
}
