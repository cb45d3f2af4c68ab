//===- IndexFactsTest.cpp - what is known of a result, against enumeration --------------------===//
//
// The property that proofs rest on: of operands that meet their facts, each result meets the facts
// that `combineFacts` gives. And the facts that proofs need must be there, or "nothing is known"
// would pass.
//
//===----------------------------------------------------------------------------------------===//

#include "tilewright/Layout/IndexFacts.h"
#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

using namespace tilewright;
using Kind = IndexExpr::Kind;

namespace {

constexpr Kind kKinds[] = {Kind::Add, Kind::Sub, Kind::Mul, Kind::FloorDiv,
                           Kind::Mod, Kind::Xor, Kind::Min, Kind::Max};
constexpr int64_t kLargest = 13;

int64_t floorDiv(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

/// As docs/semantics.md says: x // 0 is 0, x % 0 is x.
int64_t compute(Kind kind, int64_t a, int64_t b) {
  switch (kind) {
  case Kind::Add:
    return a + b;
  case Kind::Sub:
    return a - b;
  case Kind::Mul:
    return a * b;
  case Kind::FloorDiv:
    return b == 0 ? 0 : floorDiv(a, b);
  case Kind::Mod:
    return b == 0 ? a : a - floorDiv(a, b) * b;
  case Kind::Xor:
    return a ^ b;
  case Kind::Min:
    return std::min(a, b);
  default:
    return std::max(a, b);
  }
}

bool holds(const IndexFacts &facts, int64_t value) {
  if (value < facts.low || value > facts.high)
    return false;
  return facts.modulus == 0 ? value == facts.remainder
                            : compute(Kind::Mod, value, facts.modulus) == facts.remainder;
}

/// Intervals that are open, one-sided and closed, with every remainder of small moduli.
std::vector<IndexFacts> someFacts() {
  std::vector<IndexFacts> made;
  for (int64_t value : {-12, -4, -1, 0, 1, 2, 3, 8})
    made.push_back(IndexFacts::constant(value));
  for (int64_t low : {IndexFacts::kNoLow, int64_t(-9), int64_t(0), int64_t(2)})
    for (int64_t high : {IndexFacts::kNoHigh, int64_t(-1), int64_t(0), int64_t(11)})
      for (int64_t modulus : {1, 2, 4, 6})
        for (int64_t remainder = 0; remainder < modulus; ++remainder)
          if (low < high)
            made.push_back({low, high, modulus, remainder});
  return made;
}

std::vector<int64_t> valuesOf(const IndexFacts &facts) {
  std::vector<int64_t> values;
  for (int64_t value = -kLargest; value <= kLargest; ++value)
    if (holds(facts, value))
      values.push_back(value);
  return values;
}

TEST(IndexFactsTest, ResultsMeetTheCombinedFacts) {
  std::vector<IndexFacts> all = someFacts();
  std::vector<std::vector<int64_t>> values(all.size());
  llvm::transform(all, values.begin(), valuesOf);
  for (Kind kind : kKinds)
    for (size_t a = 0; a < all.size(); ++a)
      for (size_t b = 0; b < all.size(); ++b) {
        IndexFacts facts = combineFacts(kind, all[a], all[b]);
        for (int64_t x : values[a])
          for (int64_t y : values[b])
            ASSERT_TRUE(holds(facts, compute(kind, x, y)))
                << "kind " << int(kind) << " of " << x << " (mod " << all[a].modulus << ") and "
                << y << " (mod " << all[b].modulus << "): " << compute(kind, x, y) << " not in "
                << facts.low << ".." << facts.high << ", " << facts.remainder << " mod "
                << facts.modulus;
      }
}

constexpr int64_t kOpenLow = IndexFacts::kNoLow, kOpenHigh = IndexFacts::kNoHigh;

TEST(IndexFactsTest, BoundsAreTight) {
  auto interval = [](int64_t low, int64_t high) { return IndexFacts{low, high, 1, 0}; };
  auto combine = [&](Kind kind, IndexFacts a, IndexFacts b) {
    IndexFacts facts = combineFacts(kind, a, b);
    return std::pair(facts.low, facts.high);
  };
  EXPECT_EQ(combine(Kind::Add, interval(0, kOpenHigh), interval(-3, 4)),
            std::pair(int64_t(-3), kOpenHigh));
  EXPECT_EQ(combine(Kind::Sub, interval(0, kOpenHigh), interval(1, 3)),
            std::pair(int64_t(-3), kOpenHigh));
  EXPECT_EQ(combine(Kind::Sub, interval(kOpenLow, 5), interval(1, 3)),
            std::pair(kOpenLow, int64_t(4)));
  EXPECT_EQ(combine(Kind::Mul, interval(-2, 3), interval(-5, 7)),
            std::pair(int64_t(-15), int64_t(21)));
  EXPECT_EQ(combine(Kind::Mul, interval(2, 3), interval(4, kOpenHigh)),
            std::pair(int64_t(8), kOpenHigh));
  EXPECT_EQ(combine(Kind::FloorDiv, interval(-9, 11), interval(2, 4)),
            std::pair(int64_t(-5), int64_t(5)));
  EXPECT_EQ(combine(Kind::FloorDiv, interval(5, 11), interval(2, 4)),
            std::pair(int64_t(1), int64_t(5)));
  EXPECT_EQ(combine(Kind::FloorDiv, interval(-9, -5), interval(2, 4)),
            std::pair(int64_t(-5), int64_t(-2)));
  EXPECT_EQ(combine(Kind::Mod, interval(-9, 11), interval(2, 4)),
            std::pair(int64_t(0), int64_t(3)));
  EXPECT_EQ(combine(Kind::Mod, interval(0, 2), interval(8, 9)), std::pair(int64_t(0), int64_t(2)));
  EXPECT_EQ(combine(Kind::Mod, interval(1, 5), interval(4, kOpenHigh)),
            std::pair(int64_t(0), int64_t(5)));
  EXPECT_EQ(combine(Kind::Xor, interval(0, 5), interval(0, 8)), std::pair(int64_t(0), int64_t(15)));
  EXPECT_EQ(combine(Kind::Min, interval(-9, 11), interval(2, kOpenHigh)),
            std::pair(int64_t(-9), int64_t(11)));
  EXPECT_EQ(combine(Kind::Max, interval(-9, 11), interval(2, kOpenHigh)),
            std::pair(int64_t(2), kOpenHigh));
}

TEST(IndexFactsTest, OpenBoundsStayOpen) {
  const IndexFacts size = IndexFacts::multipleOf(1), any;
  EXPECT_EQ(combineFacts(Kind::FloorDiv, size, IndexFacts::constant(2)).high, IndexFacts::kNoHigh);
  EXPECT_EQ(combineFacts(Kind::FloorDiv, any, IndexFacts::constant(2)).low, IndexFacts::kNoLow);
}

TEST(IndexFactsTest, AProductTooLargeForANumberIsNone) {
  const IndexFacts large = IndexFacts::constant(int64_t(1) << 62);
  for (int64_t factor : {4, -4}) {
    IndexFacts facts = combineFacts(Kind::Mul, large, IndexFacts::constant(factor));
    EXPECT_EQ(std::pair(facts.modulus, facts.remainder), std::pair(int64_t(1), int64_t(0)));
  }
}

TEST(IndexFactsTest, RemaindersAreKept) {
  auto known = [](int64_t modulus, int64_t remainder) {
    return IndexFacts{kOpenLow, kOpenHigh, modulus, remainder};
  };
  auto combine = [&](Kind kind, IndexFacts a, IndexFacts b) {
    IndexFacts facts = combineFacts(kind, a, b);
    return std::pair(facts.modulus, facts.remainder);
  };
  using Pair = std::pair<int64_t, int64_t>;
  EXPECT_EQ(combine(Kind::Add, known(12, 7), known(8, 6)), Pair(4, 1));
  EXPECT_EQ(combine(Kind::Sub, known(12, 7), known(8, 6)), Pair(4, 1));
  EXPECT_EQ(combine(Kind::Mul, known(4, 0), known(6, 3)), Pair(12, 0));
  EXPECT_EQ(combine(Kind::FloorDiv, known(12, 7), IndexFacts::constant(4)), Pair(3, 1));
  EXPECT_EQ(combine(Kind::FloorDiv, known(12, 7), IndexFacts::constant(5)), Pair(1, 0));
  EXPECT_EQ(combine(Kind::Mod, known(12, 7), IndexFacts::constant(4)), Pair(0, 3));
  EXPECT_EQ(combine(Kind::Mod, known(6, 5), IndexFacts::constant(4)), Pair(2, 1));
  EXPECT_EQ(combine(Kind::Mod, known(12, 7), known(8, 4)), Pair(4, 3));
  EXPECT_EQ(combine(Kind::Mod, known(12, 7), IndexFacts::constant(0)), Pair(1, 0));
  EXPECT_EQ(combine(Kind::Xor, known(8, 5), known(4, 3)), Pair(4, 2));
  EXPECT_EQ(combine(Kind::Min, known(12, 7), known(8, 3)), Pair(4, 3));
}

TEST(IndexFactsTest, DimensionsAndSymbolsWithoutFactsAreUnknown) {
  IndexExpr i = IndexExpr::dim(0), j = IndexExpr::dim(1), n = IndexExpr::symbol(0);
  IndexFacts eight = IndexFacts::inExtent(8);
  EXPECT_EQ(analyzeIndexExpr(i * 4 + 1, {eight}), (IndexFacts{1, 29, 4, 1}));
  EXPECT_EQ(analyzeIndexExpr(j, {eight}), IndexFacts());
  EXPECT_EQ(analyzeIndexExpr(n - i, {eight}, {IndexFacts::multipleOf(16)}),
            (IndexFacts{-7, kOpenHigh, 1, 0}));
  EXPECT_EQ(analyzeIndexExpr(i - n, {eight}, {IndexFacts::multipleOf(16)}),
            (IndexFacts{kOpenLow, 7, 1, 0}));
  EXPECT_EQ(analyzeIndexExpr(n, {eight}), IndexFacts());
  EXPECT_TRUE(staysWithin(i * 4, {eight}, 0, 28));
  EXPECT_FALSE(staysWithin(i * 4, {eight}, 0, 27));
  EXPECT_FALSE(staysWithin(i * 4 - 4, {eight}, 0, 28));
  EXPECT_FALSE(staysWithin(j, {eight}, kOpenLow, kOpenHigh));
}

TEST(IndexFactsTest, DivisorsOfAValue) {
  EXPECT_EQ(IndexFacts::constant(-12).getDivisor(), 12);
  EXPECT_EQ(IndexFacts::constant(kOpenLow).getDivisor(), int64_t(1) << 62);
  EXPECT_EQ((IndexFacts{0, 90, 12, 8}).getDivisor(), 4);
  EXPECT_EQ(IndexFacts::inExtent(1), IndexFacts::constant(0));
}

} // namespace
