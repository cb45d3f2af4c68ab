//===- IndexExprTest.cpp --------------------------------------------------------------------===//

#include "tilewright/Layout/IndexExpr.h"
#include "RandomLayouts.h"
#include "tilewright/Support/IndexMath.h"
#include "gtest/gtest.h"
#include <limits>

using namespace tilewright;
using namespace tilewright::test;
using Kind = IndexExpr::Kind;

static constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
static constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
static const IndexExpr i = IndexExpr::dim(0);
static const IndexExpr j = IndexExpr::dim(1);
static const IndexExpr n = IndexExpr::symbol(0);

TEST(IndexExprTest, EvaluatesEveryOperator) {
  EXPECT_EQ((i + 4 * j).evaluate({3, 5}), 23);
  EXPECT_EQ((i - j).evaluate({3, 5}), -2);
  EXPECT_EQ((i ^ j).evaluate({6, 5}), 3);
  EXPECT_EQ(minOf(i, j).evaluate({3, -5}), -5);
  EXPECT_EQ(maxOf(i, j).evaluate({3, -5}), 3);
  EXPECT_EQ((i * n).evaluate({3}, {7}), 21);
}

TEST(IndexExprTest, DivisionRoundsTowardsMinusInfinity) {
  EXPECT_EQ(floorDiv(i, j).evaluate({-7, 2}), -4);
  EXPECT_EQ((i % j).evaluate({-7, 2}), 1);
  EXPECT_EQ(floorDiv(i, j).evaluate({7, -2}), -4);
  EXPECT_EQ((i % j).evaluate({7, -2}), -1);
  EXPECT_EQ(floorDiv(i, j).evaluate({-8, 2}), -4);
}

TEST(IndexExprTest, DivisionByZeroIsDecided) {
  EXPECT_EQ(floorDiv(i, j).evaluate({7, 0}), 0);
  EXPECT_EQ((i % j).evaluate({7, 0}), 7);
}

TEST(IndexExprTest, OverflowHasNoValue) {
  EXPECT_EQ((i + 1).evaluate({kMax}), std::nullopt);
  EXPECT_EQ((i - 1).evaluate({kMin}), std::nullopt);
  EXPECT_EQ((2 * i).evaluate({kMax}), std::nullopt);
  EXPECT_EQ(floorDiv(i, -1).evaluate({kMin}), std::nullopt);
  EXPECT_EQ((i % -1).evaluate({kMin}), 0);
  EXPECT_EQ((IndexExpr(kMax) + 1).getKind(), Kind::Add); // not folded to a wrapped constant
}

TEST(IndexExprTest, FactoriesSimplify) {
  EXPECT_EQ(i + 0, i);
  EXPECT_EQ(0 + i, i);
  EXPECT_EQ(i * 1, i);
  EXPECT_EQ(1 * i, i);
  EXPECT_EQ(i * 0, IndexExpr(0));
  EXPECT_EQ(i - i, IndexExpr(0));
  EXPECT_EQ(i ^ i, IndexExpr(0));
  EXPECT_EQ(i % 1, IndexExpr(0));
  EXPECT_EQ(i % 0, i);
  EXPECT_EQ(floorDiv(i, 0), IndexExpr(0));
  EXPECT_EQ(i + -4, i - 4);
  EXPECT_EQ(0 - (0 - i), i);
  EXPECT_EQ(floorDiv(floorDiv(i, 2), 4), floorDiv(i, 8));
  EXPECT_EQ(i % 8 % 4, i % 4);
  EXPECT_EQ(i % 4 % 8, i % 4);
  EXPECT_EQ(floorDiv(i % 4, 8), IndexExpr(0));
  EXPECT_EQ(IndexExpr(7) * 6, IndexExpr(42));
}

TEST(IndexExprTest, EqualityIsStructural) {
  EXPECT_EQ(i * 4 + j, i * 4 + j);
  EXPECT_EQ(hash_value(i * 4 + j), hash_value(i * 4 + j));
  EXPECT_FALSE(i * 4 == 4 * i);
  EXPECT_FALSE(i == n);
  EXPECT_FALSE(i == j);
}

TEST(IndexExprTest, SharedSubtreesCostNothing) { // 2^60 paths if each were walked
  IndexExpr a = i, b = i;
  for (int level = 0; level < 60; ++level) {
    a = a * j + a;
    b = b * j + b;
  }
  EXPECT_TRUE(a == b);
  EXPECT_FALSE(a.isWithinLimits());
  EXPECT_EQ(a.substitute({j, i}).getDepth(), a.getDepth());
}

TEST(IndexExprTest, KnowsItsVariables) {
  IndexExpr expr = IndexExpr::dim(2) + n * 3;
  EXPECT_EQ(expr.getNumDims(), 3u);
  EXPECT_EQ(expr.getNumSymbols(), 1u);
  EXPECT_TRUE(expr.dependsOnDim(2));
  EXPECT_FALSE(expr.dependsOnDim(0));
}

TEST(IndexExprTest, SubstitutesDimsAndSymbols) {
  EXPECT_EQ((i * n + j).substitute({j, i + 1}, {IndexExpr(8)}), j * 8 + (i + 1));
  EXPECT_EQ((i + j).substitute({IndexExpr(2)}), 2 + j);
}

namespace {
using IndexExprProperty = PropertyTest;

/// The value computed without the factories' simplifications.
std::optional<__int128> plainValue(Kind kind, __int128 lhs, __int128 rhs) {
  __int128 quotient = rhs == 0 ? 0 : lhs / rhs;
  if (rhs != 0 && quotient * rhs != lhs && (lhs < 0) != (rhs < 0))
    --quotient;
  switch (kind) {
  case Kind::Add:
    return lhs + rhs;
  case Kind::Sub:
    return lhs - rhs;
  case Kind::Mul:
    return lhs * rhs;
  case Kind::FloorDiv:
    return quotient;
  case Kind::Mod:
    return rhs == 0 ? lhs : lhs - quotient * rhs;
  case Kind::Xor:
    return lhs ^ rhs;
  case Kind::Min:
    return lhs < rhs ? lhs : rhs;
  case Kind::Max:
    return lhs < rhs ? rhs : lhs;
  default:
    return std::nullopt;
  }
}

TEST_F(IndexExprProperty, OperatorsAgreeWithWideArithmetic) {
  const int64_t edges[] = {kMin, kMin + 1, -8, -7, -2, -1, 0, 1, 2, 7, 8, kMax - 1, kMax};
  for (int kind = int(Kind::Add); kind <= int(Kind::Max); ++kind)
    for (int64_t lhs : edges)
      for (int64_t rhs : edges) {
        __int128 expected = *plainValue(Kind(kind), lhs, rhs);
        std::optional<int64_t> got = applyIndexOp(Kind(kind), lhs, rhs);
        bool fits = expected >= kMin && expected <= kMax;
        EXPECT_EQ(got.has_value(), fits) << kind << " on " << lhs << ", " << rhs;
        if (fits && got)
          EXPECT_TRUE(*got == expected) << kind << " on " << lhs << ", " << rhs;
      }
}

TEST_F(IndexExprProperty, SimplificationKeepsValues) {
  // Simplifying may remove an overflow (x * 0), but never change a value.
  for (int round = 0; round < 20000; ++round) {
    IndexExpr lhs = randomExpr(random, 2, 1, 3), rhs = randomExpr(random, 2, 1, 3);
    auto kind = Kind(random.uniform(int64_t(Kind::Add), int64_t(Kind::Max)));
    int64_t dims[] = {random.uniform(-40, 40), random.uniform(-40, 40)};
    int64_t symbols[] = {random.uniform(-3, 9)};
    std::optional<int64_t> a = lhs.evaluate(dims, symbols), b = rhs.evaluate(dims, symbols);
    if (!a || !b || !applyIndexOp(kind, *a, *b))
      continue;
    EXPECT_EQ(IndexExpr::binary(kind, lhs, rhs).evaluate(dims, symbols),
              applyIndexOp(kind, *a, *b));
  }
}

TEST_F(IndexExprProperty, SubstitutionCommutesWithEvaluation) {
  for (int round = 0; round < 5000; ++round) {
    IndexExpr outer = randomExpr(random, 2, 0, 3);
    IndexExpr inner[] = {randomExpr(random, 2, 0, 2), randomExpr(random, 2, 0, 2)};
    int64_t dims[] = {random.uniform(-9, 40), random.uniform(-9, 40)};
    std::optional<int64_t> a = inner[0].evaluate(dims), b = inner[1].evaluate(dims);
    if (!a || !b || !outer.evaluate({*a, *b}))
      continue;
    EXPECT_EQ(outer.substitute(inner).evaluate(dims), outer.evaluate({*a, *b}));
  }
}
} // namespace
