//===- RangesTest.cpp - intervals hold what they promise --------------------------------------===//

#include "Ranges.h"

#include "gtest/gtest.h"

using namespace tilewright::cpu;

/// Every value of an operation on two small intervals lies in the interval of the result, and both
/// ends are reached.
template <typename OpT> static void checkTight(OpT op, Interval (*combine)(Interval, Interval)) {
  for (int64_t a = -3; a <= 3; ++a)
    for (int64_t b = a; b <= 3; ++b)
      for (int64_t c = -3; c <= 3; ++c)
        for (int64_t d = c; d <= 3; ++d) {
          Interval result = combine({a, b}, {c, d});
          int64_t least = INT64_MAX, greatest = INT64_MIN;
          for (int64_t x = a; x <= b; ++x)
            for (int64_t y = c; y <= d; ++y) {
              least = std::min(least, op(x, y));
              greatest = std::max(greatest, op(x, y));
            }
          EXPECT_EQ(result.least, least);
          EXPECT_EQ(result.greatest, greatest);
        }
}

TEST(RangesTest, ArithmeticIsTight) {
  checkTight([](int64_t x, int64_t y) { return x + y; },
             [](Interval l, Interval r) { return l + r; });
  checkTight([](int64_t x, int64_t y) { return x - y; },
             [](Interval l, Interval r) { return l - r; });
  checkTight([](int64_t x, int64_t y) { return x * y; },
             [](Interval l, Interval r) { return l * r; });
  checkTight([](int64_t x, int64_t y) { return std::min(x, y); }, minOf);
  checkTight([](int64_t x, int64_t y) { return std::max(x, y); }, maxOf);
}

TEST(RangesTest, QuotientsRoundDownwards) {
  EXPECT_EQ(floorDivide({-7, 7}, 4).least, -2);
  EXPECT_EQ(floorDivide({-8, 7}, 4).least, -2);
  EXPECT_EQ(floorDivide({-7, 7}, 4).greatest, 1);
  EXPECT_EQ(floorModulo({-1, 2}, 4).greatest, 3);
  EXPECT_EQ(floorModulo({1, 2}, 4).greatest, 2);
}

TEST(RangesTest, WhatIsNotKnownStaysUnknown) {
  Interval unknown;
  EXPECT_FALSE((unknown + Interval::exactly(1)).isNonNegative());
  EXPECT_FALSE((unknown * Interval::exactly(0)).hasBothEnds());
  // The product of an extent and a block number may be unbounded, but not negative.
  EXPECT_TRUE((Interval{0, INT64_MAX} * Interval{0, 7}).isNonNegative());
  // An overflow is unknown, not a wrapped number.
  EXPECT_EQ((Interval::exactly(INT64_MAX - 1) + Interval::exactly(5)).greatest, INT64_MAX);
  EXPECT_FALSE(
      (Interval::exactly(int64_t(1) << 40) * Interval::exactly(int64_t(1) << 40)).hasBothEnds());
}
