//===- PolyhedronTest.cpp - what constraints rule out, by example and by enumeration ---------===//

#include "tilewright/Analysis/Polyhedron.h"
#include "tilewright/Layout/Layout.h"
#include "tilewright/Support/SeededRandom.h"

#include "gtest/gtest.h"

using namespace tilewright;
using analysis::Polyhedron;

namespace {

const IndexExpr kI = IndexExpr::dim(0), kK = IndexExpr::symbol(0), kN = IndexExpr::symbol(1);

TEST(Polyhedron, LoopsToAQuotientStayInside) {
  Polyhedron points({64}, {IndexFacts::inExtent(kDynamic), IndexFacts::multipleOf(1)});
  points.addNonNegative(floorDiv(kN, 64) - 1 - kK); // k < n // 64
  EXPECT_TRUE(points.excludes(64 * kK + kI - kN));
  EXPECT_FALSE(points.excludes(64 * kK + kI + 1 - kN));
  EXPECT_TRUE(points.excludes(IndexExpr(-1) - 64 * kK));
}

TEST(Polyhedron, LoopsToARoundedQuotientDoNot) {
  Polyhedron points({64}, {IndexFacts::inExtent(kDynamic), IndexFacts::multipleOf(1)});
  points.addNonNegative(floorDiv(kN + 63, 64) - 1 - kK);
  EXPECT_FALSE(points.excludes(64 * kK + kI - kN));
  EXPECT_TRUE(points.excludes(64 * kK - kN));
}

TEST(Polyhedron, DivisorsCount) {
  Polyhedron points({64}, {IndexFacts::inExtent(kDynamic), IndexFacts::multipleOf(64)});
  points.addNonNegative(floorDiv(kN + 63, 64) - 1 - kK);
  EXPECT_TRUE(points.excludes(64 * kK + kI - kN));
}

TEST(Polyhedron, LargeDivisorsTakeNoTime) {
  // Rows and columns of an image with 40,000 of each: MLIR's own search takes seconds.
  Polyhedron points({64}, {IndexFacts::inExtent(25000000), IndexFacts::multipleOf(1)});
  IndexExpr pixel = 64 * kK + kI;
  EXPECT_TRUE(points.excludes(pixel % 40006 - 40006));
  EXPECT_TRUE(points.excludes(IndexExpr(-1) - floorDiv(pixel, 40006)));
  EXPECT_FALSE(points.excludes(20000 - floorDiv(pixel, 40006) - pixel % 40006));
}

TEST(Polyhedron, WhatIsNotLinearRulesOutNothing) {
  Polyhedron points({64}, {IndexFacts::inExtent(8), IndexFacts::multipleOf(1)});
  points.addNonNegative(kK * kN - 5);
  EXPECT_FALSE(points.excludes(kK * kN - 5));
  EXPECT_FALSE(points.excludes(kI ^ kK));
  EXPECT_TRUE(points.excludes(kK - 8));
}

TEST(Polyhedron, WhatOverflowsRulesOutNothing) {
  Polyhedron points({64}, {});
  const IndexExpr large(int64_t(1) << 40);
  EXPECT_FALSE(points.excludes(IndexExpr(-1) - kI * large * large));
  EXPECT_TRUE(points.excludes(IndexExpr(-1) - kI * large));
}

/// A small expression of i, k and n.
IndexExpr makeExpr(SeededRandom &random, int depth) {
  if (depth == 0)
    return random.oneIn(3) ? IndexExpr(random.uniform(-6, 6))
                           : random.pick<IndexExpr>({kI, kK, kN});
  IndexExpr lhs = makeExpr(random, depth - 1), rhs = makeExpr(random, depth - 1);
  switch (random.uniform(0, 4)) {
  case 0:
    return lhs + rhs;
  case 1:
    return lhs - rhs;
  case 2:
    return lhs * random.uniform(-3, 3);
  case 3:
    return floorDiv(lhs, random.uniform(1, 5));
  default:
    return lhs % random.uniform(1, 5);
  }
}

TEST(Polyhedron, NeverRulesOutAPoint) {
  SeededRandom random(20261116);
  int64_t numExcluded = 0;
  for (int round = 0; round < 2000; ++round) {
    int64_t extent = random.uniform(1, 6), modulus = random.uniform(1, 4);
    IndexFacts k = IndexFacts::inExtent(random.uniform(1, 6)), n = IndexFacts::multipleOf(modulus);
    n.high = 12;
    Polyhedron points({extent}, {k, n});
    IndexExpr known = makeExpr(random, 2), asked = makeExpr(random, 2);
    points.addNonNegative(known);
    if (!points.excludes(asked))
      continue;
    ++numExcluded;
    for (int64_t i = 0; i < extent; ++i)
      for (int64_t vk = k.low; vk <= k.high; ++vk)
        for (int64_t vn = 0; vn <= n.high; vn += modulus)
          if (*known.evaluate({i}, {vk, vn}) >= 0)
            ASSERT_LT(*asked.evaluate({i}, {vk, vn}), 0) << "round " << round;
  }
  EXPECT_GT(numExcluded, 100);
}

} // namespace
