//===- AlgebraTest.cpp ----------------------------------------------------------------------===//

#include "tilewright/Layout/Algebra.h"
#include "RandomLayouts.h"
#include "tilewright/Layout/Questions.h"
#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"
#include <set>

using namespace tilewright;
using namespace tilewright::test;
using llvm::ArrayRef;

static constexpr const char *kSeedLayout =
    "(b, h, l, d) -> (b, h, l // 8, d // 8, d % 2, 4 * (l % 8) + (d % 8) // 2)";

template <typename T> static std::string errorOf(llvm::Expected<T> result) {
  return result ? "no error" : llvm::toString(result.takeError());
}

TEST(AlgebraTest, ComposeFeedsOutputsIntoInputs) {
  Layout transpose = layout("(i, j) -> (j, i)", {8, 4});
  Layout swizzle = layout("(i, j) -> (i, j ^ i)", {4, 8});
  EXPECT_EQ(llvm::cantFail(compose(swizzle, transpose)), layout("(i, j) -> (j, i ^ j)", {8, 4}));
  EXPECT_EQ(errorOf(compose(swizzle, layout("(i) -> (i)", {4}))),
            "compose: (i) -> (i) gives 1 indices, the outer layout takes 2");
  EXPECT_EQ(errorOf(compose(swizzle, layout("(i) -> (i, i)", {5}))),
            "compose: output 0 of (i) -> (i, i) reaches 4, the outer layout has extent 4 there");
  EXPECT_EQ(errorOf(compose(swizzle, layout("(i) -> (i - 1, i)", {4}))),
            "compose: output 0 of (i) -> (i - 1, i) reaches -1");
}

TEST(AlgebraTest, ComposeKeepsSymbolsApart) {
  Layout inner = layout("(i)[n] -> (i * n)", {kDynamic}),
         outer = layout("(i)[m] -> (i + m)", {kDynamic});
  EXPECT_EQ(llvm::cantFail(compose(outer, inner)).str(), "(i)[s0, s1] -> (i * s0 + s1)");
}

TEST(AlgebraTest, ProductsKeepSymbolsApart) {
  Layout first = layout("(i)[n] -> (i * n)", {kDynamic}), second = layout("(i)[m] -> (i + m)", {4});
  EXPECT_EQ(product(first, second).str(), "(i, j)[s0, s1] -> (i * s0, j + s1)");
}

TEST(AlgebraTest, LoopOverAFragmentFollowsTheAccess) {
  Fragment sums = fragment("(i) rep r of 4 -> thread 4 * (i % 8) + r, slot i // 8", {16});
  Layout access = layout("(i, j) -> (i)", {16, 3});
  EXPECT_EQ(llvm::cantFail(compose(sums, access)).str(),
            "(i, j) rep r of 4 -> thread 4 * (i % 8) + r, slot i // 8");
}

TEST(AlgebraTest, InverseOfTheSeedLayout) {
  Layout inverse = llvm::cantFail(invert(layout(kSeedLayout, {2, 4, 64, 64})));
  EXPECT_EQ(inverse.getShape(), (ArrayRef<int64_t>{2, 4, 8, 8, 2, 32}));
  EXPECT_EQ(inverse.str(),
            "(i, j, k, l, m, n) -> (i, j, 8 * k + n // 4, 8 * l + (2 * (n % 4) + m))");
}

TEST(AlgebraTest, InverseUndoesSwizzlesAndNeighbouringDigits) {
  EXPECT_EQ(llvm::cantFail(invert(layout("(i, j) -> (i, j ^ 8 * (i % 8))", {64, 64}))).str(),
            "(i, j) -> (i, 8 * (i % 8 ^ j // 8) + j % 8)");
  EXPECT_EQ(llvm::cantFail(invert(layout("(i, j) -> (j * 16 + i)", {16, 8}))).str(),
            "(i) -> (i % 16, i // 16)");
  EXPECT_EQ(llvm::cantFail(invert(layout("(i) -> (7 - i)", {8}))).str(), "(i) -> (7 - i)");
}

TEST(AlgebraTest, InverseNeedsOneElementPerPlace) {
  EXPECT_EQ(errorOf(invert(layout("(i) -> (i // 2)", {8}))),
            "invert: (i) -> (i // 2) is not injective: elements (0) and (1) both lie at (0)");
  EXPECT_EQ(errorOf(invert(layout("(i) -> ((i + 3) % 8)", {8}))),
            "invert: (i) -> ((i + 3) % 8) has no inverse made of + - * // % ^ that we can find");
  EXPECT_EQ(invertByTable(layout("(i) -> ((i + 3) % 8)", {8})),
            (std::vector<int64_t>{5, 6, 7, 0, 1, 2, 3, 4}));
  EXPECT_EQ(invertByTable(layout("(i) -> (2 * i)", {3})), (std::vector<int64_t>{0, -1, 1, -1, 2}));
  EXPECT_EQ(invertByTable(layout("(i) -> (i // 2)", {8})), std::nullopt);
  std::vector<int64_t> large = *invertByTable(layout("(i) -> ((i + 3) % 100000)", {100000}));
  EXPECT_EQ(llvm::count(large, -1), 0);
  EXPECT_EQ(large[99999], 99996);
}

TEST(AlgebraTest, InverseOfAFragmentNamesElementAndReplica) {
  Fragment tile =
      fragment("(i, j) -> thread 4 * (i % 8) + j // 2, slot 2 * (i // 8) + j % 2", {16, 8});
  EXPECT_EQ(llvm::cantFail(invert(tile)).str(),
            "(i, j) -> (8 * (j // 2) + i // 4, 2 * (i % 4) + j % 2, 0)");
}

TEST(AlgebraTest, ReplicationNeedsACount) {
  Fragment tile = fragment("(i) rep r of 4 -> thread 4 * i + r, slot 0", {2});
  EXPECT_EQ(errorOf(replicate(tile, 0)), "replicate: expected a count of at least 1, got 0");
  EXPECT_EQ(errorOf(replicate(tile, INT64_MAX)),
            "replicate: expected a count of at least 1, got " + std::to_string(INT64_MAX));
  EXPECT_EQ(llvm::cantFail(replicate(tile, 1)), tile);
}

TEST(AlgebraTest, VersionsAreALeadingDimension) {
  Layout tile = layout("(i, j) -> (i, j ^ i)", {4, 4});
  Layout versions = product(identityLayout({3}), tile);
  EXPECT_EQ(versions.str(), "(i, j, k) -> (i, j, k ^ j)");
  EXPECT_EQ(versions.getShape(), (ArrayRef<int64_t>{3, 4, 4}));
}

TEST(AlgebraTest, RepeatPutsCopiesBehindEachOther) {
  Layout atom = layout("(i, j) -> (i, j ^ i)", {4, 4});
  EXPECT_EQ(llvm::cantFail(repeat(atom, 1, 3)).str(), "(i, j) -> (j // 4, i, j % 4 ^ i)");
  EXPECT_EQ(errorOf(repeat(atom, 2, 3)), "repeat: dimension 2 of a layout with 2");
  EXPECT_EQ(errorOf(repeat(atom, 0, 0)),
            "repeat: expected a static extent and a factor of at least 1, got 4 and 0");
}

TEST(AlgebraTest, ReshapeKeepsRowMajorOrder) {
  Layout tile = layout("(i, j) -> (i, j ^ 8 * (i % 8))", {64, 64});
  EXPECT_EQ(llvm::cantFail(reshape(tile, {8, 8, 64})).str(),
            "(i, j, k) -> (8 * i + j, 8 * (k // 8 ^ j) + k % 8)");
  EXPECT_EQ(errorOf(reshape(tile, {8, 8})),
            "reshape: expected as many elements as 64 x 64, got 8 x 8");
}

TEST(AlgebraTest, FragmentsRepeatOverSlotsAndThreads) {
  Fragment atom = fragment("(i, j) -> thread 4 * i + j // 2, slot j % 2", {8, 8});
  Fragment warp = llvm::cantFail(repeat(atom, {2, 2}, RepeatOver::Slots));
  EXPECT_EQ(warp.ownerOf({0, 8}), (Owner{0, 2}));
  EXPECT_EQ(warp.ownerOf({8, 0}), (Owner{0, 4}));
  warp = llvm::cantFail(repeat(atom, {2, 2}, RepeatOver::Slots, RepeatOrder::FirstDimFirst));
  EXPECT_EQ(warp.ownerOf({8, 0}), (Owner{0, 2}));
  Fragment block = llvm::cantFail(repeat(warp, {4, 1}, RepeatOver::Threads));
  EXPECT_EQ(block.getShape(), (ArrayRef<int64_t>{64, 16}));
  EXPECT_EQ(block.ownerOf({17, 3}), (Owner{37, 1}));
  EXPECT_EQ(block.getThreadExtent(), 128);
  EXPECT_TRUE(isInjective(block).isYes());
  EXPECT_TRUE(covers(block).isYes());
  EXPECT_EQ(errorOf(repeat(atom, {2}, RepeatOver::Slots)),
            "repeat: expected 2 counts of at least 1, got 2");
}

TEST(AlgebraTest, ReplicateAddsThreads) {
  Fragment sums = fragment("(i) rep r of 2 -> thread 2 * i + r, slot 0", {4});
  Fragment more = llvm::cantFail(replicate(sums, 3));
  EXPECT_EQ(more.getReplicas(), 6);
  EXPECT_EQ(more.ownerOf({1}, 5), (Owner{19, 0}));
  EXPECT_TRUE(isInjective(more).isYes());
  EXPECT_EQ(fullyReplicated({2, 3}, 4).str(), "(i, j) rep r of 4 -> thread r, slot i * 3 + j");
}

TEST(AlgebraTest, RowSumsStayWithTheThreadsOfTheRow) {
  Fragment accumulator = fragment(
      "(i, j) -> thread 4 * (i % 8) + j % 8 // 2, slot 4 * (j // 8) + 2 * (i // 8) + j % 2",
      {16, 32});
  EXPECT_EQ(projectAway(accumulator, 1)->str(),
            "(i) rep r of 4 -> thread 4 * (i % 8) + r, slot i // 8");
  EXPECT_EQ(projectAway(accumulator, 0)->str(),
            "(i) rep r of 8 -> thread 4 * r + i // 2 % 4, slot 2 * (i // 8) + i % 2");
}

TEST(AlgebraTest, RowSumsOfSwizzledSlots) {
  Fragment swizzled =
      fragment("(i, j) -> thread i // 2, slot (i % 2 ^ j % 2) + 2 * (j // 2)", {8, 8});
  EXPECT_EQ(projectAway(swizzled, 1)->str(), "(i) -> thread i // 2, slot i % 2");
}

TEST(AlgebraTest, RowsWithThreadsThatHoldNothingAreNotProjected) {
  // Of five columns the digits j // 4 and j // 2 % 2 are never both 1: thread 3 holds nothing.
  Fragment uneven =
      fragment("(i, j) -> thread 4 * i + 2 * (j // 4) + j // 2 % 2, slot j % 2", {4, 5});
  EXPECT_FALSE(projectAway(uneven, 1));
}

TEST(AlgebraTest, SimplifyShortens) {
  EXPECT_EQ(simplify(layout("(i, j) -> ((i * 8 + j) // 8 * 8 + (i * 8 + j) % 8)", {4, 8})).str(),
            "(i, j) -> (8 * i + j)");
}

namespace {
using AlgebraProperty = PropertyTest;

TEST_F(AlgebraProperty, InverseLeadsBack) {
  for (int round = 0; round < 500; ++round) {
    Layout layout = randomBijection(random, round % 2);
    Layout inverse = llvm::cantFail(invert(layout));
    EXPECT_EQ(inverse.getShape(), layout.getOutputShape());
    forEachIndex(layout.getShape(), [&](ArrayRef<int64_t> index) {
      ASSERT_EQ(*inverse.map(*layout.map(index)), index) << layout.str() << " | " << inverse.str();
    });
  }
}

TEST_F(AlgebraProperty, InverseOfAnyInjectiveLayoutLeadsBack) {
  int numInverted = 0;
  for (int round = 0; round < 3000; ++round) {
    Layout layout = randomLayout(random);
    llvm::Expected<Layout> inverse = invert(layout);
    if (!inverse) {
      llvm::consumeError(inverse.takeError());
      continue;
    }
    ++numInverted;
    forEachIndex(layout.getShape(), [&](ArrayRef<int64_t> index) {
      ASSERT_EQ(*inverse->map(*layout.map(index)), index)
          << layout.str() << " | " << inverse->str();
    });
  }
  EXPECT_GT(numInverted, 300);
}

TEST_F(AlgebraProperty, ComposeAgreesWithEvaluation) {
  for (int round = 0; round < 300; ++round) {
    Layout inner = randomBijection(random, false);
    Layout outer = identityLayout(inner.getOutputShape());
    outer = Layout::get(outer.getShape(), {randomExpr(random, outer.getRank(), 0, 3)});
    Layout both = llvm::cantFail(compose(outer, inner));
    forEachIndex(inner.getShape(), [&](ArrayRef<int64_t> index) {
      auto expected = outer.map(*inner.map(index));
      if (expected)
        ASSERT_EQ(both.map(index), expected) << outer.str() << " of " << inner.str();
    });
  }
}

TEST_F(AlgebraProperty, ReshapeAndSimplifyKeepTheMap) {
  for (int round = 0; round < 300; ++round) {
    Layout layout = randomLayout(random);
    EXPECT_TRUE(isEqual(layout, simplify(layout)).isYes()) << layout.str();
    int64_t numElements = *layout.getNumElements();
    Layout flat = llvm::cantFail(reshape(layout, {numElements}));
    int64_t element = 0;
    forEachIndex(layout.getShape(), [&](ArrayRef<int64_t> index) {
      ASSERT_EQ(flat.map({element++}), layout.map(index)) << layout.str();
    });
  }
}

TEST_F(AlgebraProperty, ProjectionKeepsEveryRowWithItsThreads) {
  int numProjected = 0;
  for (int round = 0; round < 2000; ++round) {
    Layout map = randomBijection(random, round % 2);
    if (map.getRank() != 2 || map.getNumOutputs() != 2)
      continue;
    Fragment tile = Fragment::get(map.getShape(), map.getOutputs()[0], map.getOutputs()[1]);
    for (unsigned dim : {0u, 1u}) {
      std::optional<Fragment> rows = projectAway(tile, dim);
      if (!rows)
        continue;
      ++numProjected;
      std::set<std::pair<int64_t, int64_t>> expected, got;
      forEachIndex(tile.getShape(), [&](ArrayRef<int64_t> index) {
        expected.insert({index[1 - dim], tile.ownerOf(index)->thread});
      });
      forEachIndex(rows->asLayout().getShape(), [&](ArrayRef<int64_t> index) {
        got.insert({index[0], rows->ownerOf(index[0], index[1])->thread});
      });
      ASSERT_EQ(got, expected) << tile.str() << " | " << rows->str();
      ASSERT_TRUE(isInjective(*rows).isYes());
    }
  }
  EXPECT_GT(numProjected, 100);
}
} // namespace
