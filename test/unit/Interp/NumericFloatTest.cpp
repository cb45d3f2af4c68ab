// Formats and rounding, compared with LLVM's APFloat and with brute force: all patterns of the 8-
// and 16-bit formats, and every place where rounding to them changes its mind.

#include "tilewright/Interp/Numeric.h"
#include "llvm/ADT/APFloat.h"
#include <bit>
#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace tilewright::interp;
using llvm::APFloat;
using llvm::APInt;

namespace {

const llvm::fltSemantics &getSemantics(Format format) {
  switch (format) {
  case Format::F8E4M3FN:
    return APFloat::Float8E4M3FN();
  case Format::F8E5M2:
    return APFloat::Float8E5M2();
  case Format::F16:
    return APFloat::IEEEhalf();
  case Format::BF16:
    return APFloat::BFloat();
  case Format::TF32:
    return APFloat::FloatTF32();
  case Format::F32:
    return APFloat::IEEEsingle();
  default:
    return APFloat::IEEEdouble();
  }
}

APFloat::roundingMode getMode(Rounding rounding) {
  switch (rounding) {
  case Rounding::NearestEven:
    return APFloat::rmNearestTiesToEven;
  case Rounding::TowardZero:
    return APFloat::rmTowardZero;
  case Rounding::NearestAway:
    return APFloat::rmNearestTiesToAway;
  case Rounding::Downward:
    return APFloat::rmTowardNegative;
  case Rounding::Upward:
    return APFloat::rmTowardPositive;
  }
  return APFloat::rmNearestTiesToEven;
}

double toDouble(APFloat value) {
  bool losesInfo;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
  return value.convertToDouble();
}

/// The model: APFloat's conversion, with the clamping that this language adds.
double modelRound(Format format, double value, Rounding rounding, bool saturate) {
  if (format == Format::TF32 && rounding == Rounding::NearestEven)
    rounding = Rounding::NearestAway;
  const llvm::fltSemantics &semantics = getSemantics(format);
  double largest = toDouble(APFloat::getLargest(semantics));
  bool clamps = saturate || format == Format::F8E4M3FN || format == Format::F8E5M2;
  if (clamps && std::abs(value) > largest)
    return std::copysign(largest, value);
  APFloat converted(value);
  bool losesInfo;
  converted.convert(semantics, getMode(rounding), &losesInfo);
  return toDouble(converted);
}

::testing::AssertionResult areSame(double expected, double actual) {
  bool same = std::isnan(expected)
                  ? std::isnan(actual)
                  : std::bit_cast<uint64_t>(expected) == std::bit_cast<uint64_t>(actual);
  if (same)
    return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "expected " << expected << ", got " << actual;
}

constexpr Format kSmallFormats[] = {Format::F8E4M3FN, Format::F8E5M2, Format::F16, Format::BF16};
constexpr Format kNarrowFormats[] = {Format::F8E4M3FN, Format::F8E5M2, Format::F16,
                                     Format::BF16,     Format::TF32,   Format::F32};
constexpr Rounding kRoundings[] = {Rounding::NearestEven, Rounding::TowardZero,
                                   Rounding::NearestAway, Rounding::Downward, Rounding::Upward};

uint64_t countPatterns(Format format) { return uint64_t(1) << getBits(format); }

} // namespace

TEST(NumericFloatTest, EveryPatternDecodesAsInApFloat) {
  for (Format format : kSmallFormats)
    for (uint64_t bits = 0; bits < countPatterns(format); ++bits) {
      APFloat model(getSemantics(format), APInt(getBits(format), bits));
      ASSERT_TRUE(areSame(toDouble(model), decodeFloat(format, bits)))
          << "format " << int(format) << " bits " << bits;
    }
}

TEST(NumericFloatTest, EveryPatternSurvivesDecodeAndPack) { // NaN payloads and infinities included
  for (Format format : kSmallFormats)
    for (uint64_t bits = 0; bits < countPatterns(format); ++bits)
      ASSERT_EQ(packFloat(format, decodeFloat(format, bits)), bits) << "format " << int(format);
}

TEST(NumericFloatTest, EveryHalfAndBfloatConvertsToEveryFormatAsInApFloat) {
  for (Format from : {Format::F16, Format::BF16})
    for (uint64_t bits = 0; bits < countPatterns(from); ++bits)
      for (Format to : kNarrowFormats)
        for (Rounding rounding : kRoundings)
          for (bool saturate : {false, true}) {
            double value = decodeFloat(from, bits);
            ASSERT_TRUE(areSame(modelRound(to, value, rounding, saturate),
                                roundFloat(to, value, rounding, saturate)))
                << "value " << value << " format " << int(to) << " rounding " << int(rounding);
          }
}

TEST(NumericFloatTest, MidpointsAndTheirNeighboursRoundAsInApFloat) {
  for (Format format : kSmallFormats) {
    uint64_t half = countPatterns(format) / 2;
    for (uint64_t bits = 0; bits + 1 < half; ++bits) {
      double low = decodeFloat(format, bits), high = decodeFloat(format, bits + 1);
      if (!std::isfinite(low) || std::isnan(high))
        continue;
      // Above the largest value the "next" one is where the exponent range would go on.
      double next = std::isinf(high) ? low + (low - decodeFloat(format, bits - 1)) : high;
      double middle = low + (next - low) / 2;
      for (double value : {middle, std::nextafter(middle, 0.0), std::nextafter(middle, INFINITY),
                           std::nextafter(low, INFINITY), std::nextafter(next, 0.0)})
        for (Rounding rounding : kRoundings)
          for (double sign : {1.0, -1.0})
            ASSERT_TRUE(areSame(modelRound(format, sign * value, rounding, false),
                                roundFloat(format, sign * value, rounding, false)))
                << "value " << sign * value << " format " << int(format);
    }
  }
}

TEST(NumericFloatTest, RandomDoublesRoundAsInApFloat) {
  std::mt19937_64 random(20260801);
  for (int count = 0; count < 200000; ++count) {
    double value = std::bit_cast<double>(random());
    if (count % 2) // half of them in the range of the small formats
      value = std::ldexp(double(int64_t(random())), int(random() % 80) - 110);
    for (Format format : kNarrowFormats)
      for (Rounding rounding : kRoundings)
        ASSERT_TRUE(areSame(modelRound(format, value, rounding, false),
                            roundFloat(format, value, rounding, false)))
            << "value " << value << " format " << int(format) << " rounding " << int(rounding);
  }
}

TEST(NumericFloatTest, Fp8ClampsOverflowAndInfinityAndKeepsNaN) { // PTX cvt.rn.satfinite
  EXPECT_EQ(encodeFloat(Format::F8E4M3FN, 448), 0x7eu);
  EXPECT_EQ(encodeFloat(Format::F8E4M3FN, 464), 0x7eu);
  EXPECT_EQ(encodeFloat(Format::F8E4M3FN, 1e30), 0x7eu);
  EXPECT_EQ(encodeFloat(Format::F8E4M3FN, -INFINITY), 0xfeu);
  EXPECT_EQ(encodeFloat(Format::F8E4M3FN, NAN) & 0x7f, 0x7fu);
  EXPECT_EQ(encodeFloat(Format::F8E5M2, 57344), 0x7bu);
  EXPECT_EQ(encodeFloat(Format::F8E5M2, 65504), 0x7bu);
  EXPECT_EQ(encodeFloat(Format::F8E5M2, INFINITY), 0x7bu);
  EXPECT_TRUE(std::isnan(decodeFloat(Format::F8E5M2, encodeFloat(Format::F8E5M2, NAN))));
}

TEST(NumericFloatTest, HalfOverflowsToInfinityUnlessSaturated) {
  EXPECT_EQ(encodeFloat(Format::F16, 65519.99), 0x7bffu);
  EXPECT_EQ(encodeFloat(Format::F16, 65520), 0x7c00u);
  EXPECT_EQ(encodeFloat(Format::F16, 65520, Rounding::NearestEven, /*saturate=*/true), 0x7bffu);
  EXPECT_EQ(encodeFloat(Format::F16, 1e9, Rounding::TowardZero), 0x7bffu);
  EXPECT_EQ(encodeFloat(Format::F16, INFINITY, Rounding::TowardZero), 0x7c00u);
}

TEST(NumericFloatTest, Tf32TiesGoAwayFromZero) { // cvt.rna.tf32.f32
  double tie = 1 + std::ldexp(1.0, -11);
  EXPECT_EQ(roundFloat(Format::TF32, tie), 1 + std::ldexp(1.0, -10));
  EXPECT_EQ(roundFloat(Format::TF32, -tie), -1 - std::ldexp(1.0, -10));
  // Any float32 pattern in a tf32 tensor means its rounded value.
  EXPECT_EQ(decodeFloat(Format::TF32, encodeFloat(Format::F32, tie)), 1 + std::ldexp(1.0, -10));
}

TEST(NumericFloatTest, Float32RoundingIsTheMachinesOwn) {
  std::mt19937_64 random(7);
  for (int count = 0; count < 200000; ++count) {
    double value = std::bit_cast<double>(random());
    ASSERT_TRUE(areSame(double(float(value)), roundFloat(Format::F32, value)));
  }
}

TEST(NumericFloatTest, FusedMultiplyAddRoundsOnce) {
  std::mt19937_64 random(11);
  for (Format format : {Format::F16, Format::BF16, Format::F32})
    for (int count = 0; count < 100000; ++count) {
      auto draw = [&] {
        return roundFloat(format, std::ldexp(double(int32_t(random())), int(random() % 30) - 45));
      };
      double a = draw(), b = draw(), c = draw();
      APFloat model(a), second(b), third(c);
      bool losesInfo;
      for (APFloat *value : {&model, &second, &third})
        value->convert(getSemantics(format), APFloat::rmNearestTiesToEven, &losesInfo);
      model.fusedMultiplyAdd(second, third, APFloat::rmNearestTiesToEven);
      ASSERT_TRUE(areSame(toDouble(model), fusedMultiplyAdd(format, a, b, c)))
          << a << " * " << b << " + " << c << " format " << int(format);
    }
}

TEST(NumericFloatTest, MaxAndMinLoseNaNAndOrderZeros) {
  EXPECT_EQ(maxFloat(NAN, 1, false), 1);
  EXPECT_EQ(maxFloat(1, NAN, false), 1);
  EXPECT_EQ(minFloat(NAN, -INFINITY, false), -INFINITY);
  EXPECT_TRUE(std::isnan(maxFloat(NAN, 1, true)) && std::isnan(maxFloat(1, NAN, true)));
  EXPECT_TRUE(std::isnan(minFloat(NAN, 1, true)) && std::isnan(minFloat(1, NAN, true)));
  EXPECT_TRUE(std::isnan(maxFloat(NAN, NAN, false)));
  EXPECT_FALSE(std::signbit(maxFloat(-0.0, 0.0, false)) ||
               std::signbit(maxFloat(0.0, -0.0, false)));
  EXPECT_TRUE(std::signbit(minFloat(-0.0, 0.0, false)) && std::signbit(minFloat(0.0, -0.0, false)));
}

TEST(NumericFloatTest, UnitRoundoffAndExtremesAreThoseOfTheFormat) {
  for (Format format : kNarrowFormats) {
    const llvm::fltSemantics &semantics = getSemantics(format);
    EXPECT_EQ(getLargestFinite(format), toDouble(APFloat::getLargest(semantics)));
    EXPECT_EQ(getSmallest(format), toDouble(APFloat::getSmallest(semantics)));
    EXPECT_EQ(getUnitRoundoff(format),
              std::ldexp(1.0, -int(APFloat::semanticsPrecision(semantics))));
  }
}
