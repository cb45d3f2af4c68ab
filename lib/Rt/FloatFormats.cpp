//===- FloatFormats.cpp - rounding to narrow floats, as compiled code needs it ----------------===//

#include "tilewright/Rt/FloatFormats.h"

#include <bit>
#include <cmath>
#include <limits>

namespace tilewright::rt {
namespace {

/// What tells the formats apart. All are IEEE's but the first, which has no infinity.
struct Format {
  int precision;        ///< Bits of a significand, with the first one.
  int smallestExponent; ///< Of a normal number.
  int exponentBits;
  double largest;
  bool isSaturated; ///< Always: an overflow is the largest number.
};

constexpr Format kFormats[] = {
    {4, -6, 4, 448, true},
    {3, -14, 5, 57344, true},
    {11, -14, 5, 65504, false},
    {8, -126, 8, 0x1.fep127, false},
    {11, -126, 8, 0x1.ffcp127, false},
    {24, -126, 8, std::numeric_limits<float>::max(), false},
    {53, -1022, 11, std::numeric_limits<double>::max(), false},
};

const Format &getFormat(FloatFormat format) { return kFormats[int(format)]; }

enum Rounding { NearestEven, TowardZero, NearestAway, Downward, Upward };

/// Whether what is cut off makes a magnitude one unit larger.
bool roundsUp(Rounding rounding, long double rest, bool isOdd, bool isNegative) {
  switch (rounding) {
  case NearestEven:
    return rest > 0.5L || (rest == 0.5L && isOdd);
  case TowardZero:
    return false;
  case NearestAway:
    return rest >= 0.5L;
  case Downward:
    return isNegative && rest > 0;
  case Upward:
    return !isNegative && rest > 0;
  }
  return false;
}

/// A long double holds each double and each integer of 64 bits: this is the only rounding.
double narrow(long double value, FloatFormat name, Rounding rounding, bool saturate) {
  const Format &format = getFormat(name);
  if (name == FloatFormat::TF32 && rounding == NearestEven)
    rounding = NearestAway; // it has only cvt.rna
  bool isNegative = std::signbit(value);
  long double magnitude = std::fabs(value);
  auto sign = [&](double result) { return isNegative ? -result : result; };
  if (std::isnan(value))
    return sign(std::numeric_limits<double>::quiet_NaN());
  if (value == 0)
    return sign(0);
  if (format.isSaturated && magnitude >= format.largest)
    return sign(format.largest);
  bool overflows = std::isinf(value);
  if (!overflows) {
    int unit = std::max(std::ilogb(magnitude), format.smallestExponent) - (format.precision - 1);
    long double count = std::scalbn(magnitude, -unit), whole = std::floor(count);
    bool isOdd = std::fmod(whole, 2.0L) != 0;
    whole += roundsUp(rounding, count - whole, isOdd, isNegative);
    long double rounded = std::scalbn(whole, unit);
    overflows = rounded > format.largest;
    if (!overflows)
      return sign(double(rounded));
    bool isCut = rounding == TowardZero || rounding == (isNegative ? Upward : Downward);
    saturate |= isCut;
  }
  return sign(saturate ? format.largest : std::numeric_limits<double>::infinity());
}

} // namespace

std::optional<FloatFormat> findFloatFormat(std::string_view dtype) {
  constexpr std::string_view names[] = {"float8_e4m3fn", "float8_e5m2", "float16", "bfloat16",
                                        "tfloat32",      "float32",     "float64"};
  for (size_t position = 0; position < std::size(names); ++position)
    if (names[position] == dtype)
      return FloatFormat(position);
  return std::nullopt;
}

uint64_t encode(double number, FloatFormat name) {
  double value = narrow(number, name, NearestEven, /*saturate=*/false);
  if (name == FloatFormat::F64)
    return std::bit_cast<uint64_t>(value);
  if (name == FloatFormat::F32 || name == FloatFormat::TF32)
    return std::bit_cast<uint32_t>(float(value));
  const Format &format = getFormat(name);
  int mantissaBits = format.precision - 1;
  uint64_t sign = uint64_t(std::signbit(value)) << (format.exponentBits + mantissaBits);
  uint64_t allOnes = (uint64_t(1) << format.exponentBits) - 1;
  double magnitude = std::fabs(value);
  if (std::isnan(value)) // without infinity, the last number is the only NaN
    return sign | (allOnes << mantissaBits) |
           (name == FloatFormat::F8E4M3FN ? 7 : uint64_t(1) << (mantissaBits - 1));
  if (std::isinf(value))
    return sign | (allOnes << mantissaBits);
  if (magnitude < std::ldexp(1.0, format.smallestExponent))
    return sign | uint64_t(std::ldexp(magnitude, mantissaBits - format.smallestExponent));
  int exponent = std::ilogb(magnitude);
  auto significand = uint64_t(std::ldexp(magnitude, mantissaBits - exponent)); // first bit included
  return sign | ((uint64_t(exponent - format.smallestExponent) << mantissaBits) + significand);
}

} // namespace tilewright::rt

using namespace tilewright::rt;

/// Code of exported libraries calls them in libtilewright_rt.so, which hides all else.
#define TW_VISIBLE extern "C" __attribute__((visibility("default")))

TW_VISIBLE double tw_narrow_real(double real, int32_t format, int32_t rounding, int32_t saturate) {
  return narrow(real, FloatFormat(format), Rounding(rounding), saturate != 0);
}

TW_VISIBLE double tw_narrow_integer(int64_t integer, int32_t isUnsigned, int32_t format,
                                    int32_t rounding, int32_t saturate) {
  long double value = isUnsigned ? static_cast<long double>(uint64_t(integer)) : integer;
  return narrow(value, FloatFormat(format), Rounding(rounding), saturate != 0);
}

TW_VISIBLE int64_t tw_integer_power(int64_t base, int64_t exponent) {
  if (exponent < 0)
    return base == 1 ? 1 : base == -1 ? (exponent & 1 ? -1 : 1) : 0;
  uint64_t result = 1, factor = static_cast<uint64_t>(base);
  for (; exponent; exponent >>= 1, factor *= factor)
    if (exponent & 1)
      result *= factor;
  return static_cast<int64_t>(result);
}
