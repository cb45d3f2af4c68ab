//===- HelpersTest.cpp - the functions that compiled code calls by name -----------------------===//

#include "Numbers.h"

#include "gtest/gtest.h"
#include <cmath>

using namespace tilewright;
using namespace tilewright::cpu;

template <typename FunctionT> static FunctionT *find(llvm::StringRef name) {
  for (const HelperFunction &helper : getHelperFunctions())
    if (helper.name == name)
      return reinterpret_cast<FunctionT *>(helper.address);
  return nullptr;
}

static double narrow(double value, FloatFormat format,
                     tile::Rounding rounding = tile::Rounding::NearestEven, bool saturate = false) {
  auto *function = find<double(double, int32_t, int32_t, int32_t)>(kNarrowReal);
  return function(value, static_cast<int32_t>(format), static_cast<int32_t>(rounding), saturate);
}

TEST(HelpersTest, NarrowsAsEachFormatRounds) {
  using tile::Rounding;
  EXPECT_EQ(narrow(65519.0, FloatFormat::F16), 65504.0);
  EXPECT_EQ(narrow(65520.0, FloatFormat::F16), INFINITY);
  EXPECT_EQ(narrow(65520.0, FloatFormat::F16, Rounding::NearestEven, true), 65504.0);
  EXPECT_EQ(narrow(1e9, FloatFormat::F8E4M3FN), 448.0); // always saturates
  EXPECT_EQ(narrow(-INFINITY, FloatFormat::F8E5M2), -57344.0);
  EXPECT_TRUE(std::isnan(narrow(NAN, FloatFormat::F8E4M3FN)));
  EXPECT_EQ(narrow(1.0 + 0x1p-11, FloatFormat::TF32), 1.0 + 0x1p-10); // ties away, as cvt.rna
  EXPECT_EQ(narrow(1.0 + 0x1p-11, FloatFormat::F16), 1.0);            // ties to even
  EXPECT_EQ(narrow(1.0 + 0x1p-11, FloatFormat::F16, Rounding::NearestAway), 1.0 + 0x1p-10);
  EXPECT_EQ(narrow(-1.999, FloatFormat::BF16, Rounding::TowardZero), -1.9921875);
}

TEST(HelpersTest, NarrowsIntegersWithOneRounding) {
  auto *function = find<double(int64_t, int32_t, int32_t, int32_t, int32_t)>(kNarrowInteger);
  auto convert = [&](int64_t value, bool isUnsigned, FloatFormat format) {
    return function(value, isUnsigned, static_cast<int32_t>(format), 0, 0);
  };
  // Through float32 this would round to a tie first, and then to even.
  EXPECT_EQ(convert((int64_t(1) << 40) + (int64_t(1) << 32) + 1, false, FloatFormat::BF16),
            std::ldexp(1.0 + 0x1p-7, 40));
  EXPECT_EQ(convert(-1, true, FloatFormat::F32), 0x1p64);
  EXPECT_EQ(convert(-1, false, FloatFormat::F16), -1.0);
}

TEST(HelpersTest, IntegerPowersWrap) {
  auto *power = find<int64_t(int64_t, int64_t)>(kIntegerPower);
  EXPECT_EQ(power(3, 4), 81);
  EXPECT_EQ(power(2, 64), 0);
  EXPECT_EQ(power(0, 0), 1);
  EXPECT_EQ(power(-1, -3), -1);
  EXPECT_EQ(power(5, -1), 0);
}
