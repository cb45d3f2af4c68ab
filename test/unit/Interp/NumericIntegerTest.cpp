// Integer corners: every pair of 8-bit operands against arithmetic on mathematical integers, and
// the extremes of the wider types.

#include "tilewright/Interp/Numeric.h"
#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace tilewright::interp;

namespace {

constexpr int64_t kMin64 = std::numeric_limits<int64_t>::min();

/// A mathematical integer as the value of an 8-bit type, in canonical form.
int64_t wrap8(int value) { return static_cast<int8_t>(value); }

int floorDivideModel(int lhs, int rhs) {
  return rhs == 0 ? 0 : static_cast<int>(std::floor(static_cast<double>(lhs) / rhs));
}

/// Calls `check(lhs, rhs, x, y)` for all canonical operands and the numbers x, y they are read as.
template <typename CheckT> void forAllPairs(bool isUnsigned, CheckT &&check) {
  for (int lhs = -128; lhs < 128; ++lhs)
    for (int rhs = -128; rhs < 128; ++rhs)
      check(lhs, rhs, isUnsigned ? lhs & 255 : lhs, isUnsigned ? rhs & 255 : rhs);
}

} // namespace

TEST(NumericIntegerTest, DivisionAgreesWithMathematicsOnAllBytes) {
  for (bool isUnsigned : {false, true}) {
    IntegerSpec spec{8, isUnsigned};
    forAllPairs(isUnsigned, [&](int lhs, int rhs, int x, int y) {
      int quotient = floorDivideModel(x, y);
      ASSERT_EQ(floorDivide(lhs, rhs, spec), wrap8(quotient)) << x << " // " << y;
      ASSERT_EQ(floorModulo(lhs, rhs, spec), wrap8(x - y * quotient)) << x << " % " << y;
      int truncated = y == 0 ? 0 : x / y;
      ASSERT_EQ(truncDivide(lhs, rhs, spec), wrap8(truncated)) << x << " / " << y;
      ASSERT_EQ(truncModulo(lhs, rhs, spec), wrap8(x - y * truncated)) << x << " rem " << y;
    });
  }
}

TEST(NumericIntegerTest, ShiftsAgreeWithMathematicsOnAllBytes) {
  for (bool isUnsigned : {false, true}) {
    IntegerSpec spec{8, isUnsigned};
    forAllPairs(isUnsigned, [&](int lhs, int rhs, int x, int y) {
      bool isFar = y < 0 || y >= 8; // by the width or more, or by a negative count
      ASSERT_EQ(shiftLeft(lhs, rhs, spec), isFar ? 0 : wrap8(x * (1 << y))) << x << " << " << y;
      int sign = x < 0 ? -1 : 0;
      int shifted = isFar ? sign : floorDivideModel(x, 1 << y);
      ASSERT_EQ(shiftRight(lhs, rhs, spec), wrap8(shifted)) << x << " >> " << y;
    });
  }
}

TEST(NumericIntegerTest, OrderAgreesWithMathematicsOnAllBytes) {
  for (bool isUnsigned : {false, true}) {
    IntegerSpec spec{8, isUnsigned};
    forAllPairs(isUnsigned, [&](int lhs, int rhs, int x, int y) {
      ASSERT_EQ(isLess(lhs, rhs, spec), x < y);
      ASSERT_EQ(maxInteger(lhs, rhs, spec), x < y ? rhs : lhs);
      ASSERT_EQ(minInteger(lhs, rhs, spec), y < x ? rhs : lhs);
    });
  }
}

TEST(NumericIntegerTest, MostNegativeValueWraps) {
  for (unsigned width : {8u, 16u, 32u, 64u}) {
    IntegerSpec spec{width, false};
    int64_t least = getLeast(spec);
    EXPECT_EQ(floorDivide(least, -1, spec), least);
    EXPECT_EQ(truncDivide(least, -1, spec), least);
    EXPECT_EQ(floorModulo(least, -1, spec), 0);
    EXPECT_EQ(absInteger(least, spec), least);
    EXPECT_EQ(getGreatest(spec), -(least + 1));
  }
}

TEST(NumericIntegerTest, WideUnsignedDivisionReadsAllBits) {
  IntegerSpec spec{64, true};
  EXPECT_EQ(floorDivide(-1, 2, spec), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(floorModulo(-1, 10, spec), 5); // 18446744073709551615 % 10
  EXPECT_EQ(getGreatest(spec), -1);
}

TEST(NumericIntegerTest, WideFloorDivisionNearTheEnds) {
  IntegerSpec spec{64, false};
  EXPECT_EQ(floorDivide(kMin64, 3, spec), -3074457345618258603);
  EXPECT_EQ(floorModulo(kMin64, 3, spec), 1);
  EXPECT_EQ(floorDivide(kMin64 + 1, kMin64, spec), 0);
}

TEST(NumericIntegerTest, FloatToIntegerTruncatesAndSaturates) {
  EXPECT_EQ(floatToInteger(Format::I32, -2.9), -2);
  EXPECT_EQ(floatToInteger(Format::I32, 2147483648.0), 2147483647);
  EXPECT_EQ(floatToInteger(Format::I32, -2147483649.0), kMin64 >> 32);
  EXPECT_EQ(floatToInteger(Format::I64, 9.3e18), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(floatToInteger(Format::I64, -INFINITY), kMin64);
  EXPECT_EQ(floatToInteger(Format::U8, -0.5), 0);
  EXPECT_EQ(floatToInteger(Format::U8, -7.0), 0);
  EXPECT_EQ(floatToInteger(Format::U8, 255.9), -1); // 255, canonical
  EXPECT_EQ(floatToInteger(Format::U8, 256.0), -1);
  EXPECT_EQ(floatToInteger(Format::U64, 1.8446744073709550e19), -2048);
  EXPECT_EQ(floatToInteger(Format::U64, 1e30), -1);
  for (Format format : {Format::I8, Format::I64, Format::U16, Format::U64})
    EXPECT_EQ(floatToInteger(format, NAN), 0);
}

TEST(NumericIntegerTest, ConversionToBoolAsksForNonZero) {
  EXPECT_EQ(floatToInteger(Format::Bool, 0.25), 1);
  EXPECT_EQ(floatToInteger(Format::Bool, -0.0), 0);
  EXPECT_EQ(integerToInteger(Format::Bool, 256, {32, false}), 1);
}

TEST(NumericIntegerTest, IntegersWidenByTheirSignAndWrapWhenNarrowed) {
  EXPECT_EQ(integerToInteger(Format::I32, wrap8(200), {8, true}), 200);
  EXPECT_EQ(integerToInteger(Format::I32, wrap8(200), {8, false}), -56);
  EXPECT_EQ(integerToInteger(Format::I8, 0x1ff, {32, false}), -1);
  EXPECT_EQ(integerToInteger(Format::I32, 1, {1, true}), 1); // true is 1
}

TEST(NumericIntegerTest, IntegerToFloatRoundsOnce) {
  // 2^24 + 1 plus a bit far below: rounding to double first would make it a tie.
  int64_t value = (int64_t(1) << 54) + (int64_t(1) << 30) + 1;
  EXPECT_EQ(integerToFloat(Format::F32, value, {64, false}),
            std::ldexp(1.0, 54) + std::ldexp(1.0, 31));
  EXPECT_EQ(integerToFloat(Format::F32, value, {64, false}), double(float(value)));
  EXPECT_EQ(integerToFloat(Format::F64, -1, {64, true}), std::ldexp(1.0, 64));
  EXPECT_EQ(integerToFloat(Format::F32, kMin64, {64, false}), -std::ldexp(1.0, 63));
  EXPECT_EQ(integerToFloat(Format::F16, 65520, {32, false}), INFINITY);
  EXPECT_EQ(integerToFloat(Format::F16, 2049, {32, false}), 2048);
  EXPECT_EQ(integerToFloat(Format::F16, 2051, {32, false}), 2052);
  EXPECT_EQ(integerToFloat(Format::F32, wrap8(200), {8, true}), 200);
  EXPECT_EQ(integerToFloat(Format::F8E4M3FN, 1000, {32, false}), 448);
}
