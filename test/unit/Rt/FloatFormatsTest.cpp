//===- FloatFormatsTest.cpp - narrow floats are rounded as LLVM's arithmetic rounds them ------===//

#include "tilewright/Rt/FloatFormats.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APInt.h"
#include "gtest/gtest.h"
#include <cmath>
#include <random>

using llvm::APFloat;
using tilewright::rt::FloatFormat;

namespace {

const llvm::fltSemantics &getSemantics(FloatFormat format) {
  const llvm::fltSemantics *all[] = {
      &APFloat::Float8E4M3FN(), &APFloat::Float8E5M2(), &APFloat::IEEEhalf(),  &APFloat::BFloat(),
      &APFloat::FloatTF32(),    &APFloat::IEEEsingle(), &APFloat::IEEEdouble()};
  return *all[int(format)];
}

const llvm::RoundingMode kModes[] = {APFloat::rmNearestTiesToEven, APFloat::rmTowardZero,
                                     APFloat::rmNearestTiesToAway, APFloat::rmTowardNegative,
                                     APFloat::rmTowardPositive};

/// The value by LLVM's arithmetic, which rounds once.
double expect(APFloat value, FloatFormat format, int rounding, bool saturate) {
  const llvm::fltSemantics &semantics = getSemantics(format);
  bool isNarrow = format <= FloatFormat::F8E5M2, losesInfo = false;
  APFloat largest = APFloat::getLargest(semantics, value.isNegative());
  if (format == FloatFormat::TF32 && rounding == 0)
    rounding = 2;
  APFloat wide = largest;
  wide.convert(value.getSemantics(), APFloat::rmTowardZero, &losesInfo);
  if (isNarrow && !value.isNaN() && abs(value).compare(abs(wide)) != APFloat::cmpLessThan)
    value = largest;
  else
    value.convert(semantics, kModes[rounding], &losesInfo);
  if ((saturate || isNarrow) && value.isInfinity())
    value = largest;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
  return value.convertToDouble();
}

void compare(double got, double wanted, const std::string &what) {
  if (std::isnan(wanted))
    EXPECT_TRUE(std::isnan(got)) << what;
  else
    EXPECT_TRUE(got == wanted && std::signbit(got) == std::signbit(wanted))
        << what << ": " << got << ", expected " << wanted;
}

std::string describe(double number, int format, int rounding) {
  return std::to_string(number) + " to format " + std::to_string(format) + ", rounding " +
         std::to_string(rounding);
}

} // namespace

TEST(FloatFormatsTest, RealsAreRoundedAsLlvmDoes) {
  std::vector<double> numbers = {
      0.0,           -0.0,       INFINITY,  -INFINITY,      NAN,
      448,           464,        57344,     61440,          65504,
      65519,         65520,      1e300,     -1e300,         0x1p-9,
      0x1p-10,       0x1.8p-10,  0x1p-25,   0x1.000001p-25, 0x1p-149,
      0x1p-150,      0x1.1p-150, 0x1p-1074, 0x1.ffffffp127, 0x1.fffffefp127,
      3.402823466e38};
  std::mt19937_64 random(1);
  for (int i = 0; i < 3000; ++i) {
    int exponent = int(random() % 60) - 30;
    double sign = random() % 2 ? 1 : -1;
    numbers.push_back(sign * std::ldexp(double(random() >> (random() % 60)), exponent - 32));
  }
  for (double number : numbers)
    for (int format = 0; format <= int(FloatFormat::F64); ++format)
      for (int rounding = 0; rounding < 5; ++rounding)
        for (bool saturate : {false, true})
          compare(tw_narrow_real(number, format, rounding, saturate),
                  expect(APFloat(number), FloatFormat(format), rounding, saturate),
                  describe(number, format, rounding));
}

TEST(FloatFormatsTest, IntegersAreRoundedOnce) {
  std::mt19937_64 random(2);
  std::vector<int64_t> numbers = {0, 1, -1, INT64_MIN, INT64_MAX, 2049, 65519, 65520, 0x1000001};
  for (int i = 0; i < 1000; ++i)
    numbers.push_back(int64_t(random()) >> (random() % 64));
  for (int64_t number : numbers)
    for (int format = 0; format <= int(FloatFormat::F64); ++format)
      for (int rounding = 0; rounding < 5; ++rounding)
        for (bool isUnsigned : {false, true}) {
          APFloat value(APFloat::IEEEquad());
          value.convertFromAPInt(llvm::APInt(64, uint64_t(number)), !isUnsigned,
                                 APFloat::rmNearestTiesToEven);
          compare(tw_narrow_integer(number, isUnsigned, format, rounding, 0),
                  expect(value, FloatFormat(format), rounding, false),
                  describe(double(number), format, rounding));
        }
}

TEST(FloatFormatsTest, BitsOfNumbers) {
  for (int format = 0; format <= int(FloatFormat::F64); ++format)
    for (double number : {0.0, -0.0, 1.0, -1.5, 0.1, 448.0, 1e-3, 0x1p-9, 0x1p-16, 0x1p-130}) {
      if (FloatFormat(format) == FloatFormat::TF32)
        continue; // stored as float32
      APFloat value(expect(APFloat(number), FloatFormat(format), 0, false));
      bool losesInfo = false;
      value.convert(getSemantics(FloatFormat(format)), APFloat::rmTowardZero, &losesInfo);
      EXPECT_EQ(encode(number, FloatFormat(format)), value.bitcastToAPInt().getZExtValue())
          << number << " in format " << format;
    }
  EXPECT_EQ(encode(INFINITY, FloatFormat::F16), 0x7c00u);
  EXPECT_EQ(encode(NAN, FloatFormat::F8E4M3FN) & 0x7f, 0x7fu);
}

TEST(FloatFormatsTest, PowersWrap) {
  EXPECT_EQ(tw_integer_power(3, 4), 81);
  EXPECT_EQ(tw_integer_power(2, 64), 0);
  EXPECT_EQ(tw_integer_power(-1, -3), -1);
  EXPECT_EQ(tw_integer_power(5, -1), 0);
}
