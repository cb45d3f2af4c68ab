//===- ContiguityTest.cpp -------------------------------------------------------------------===//

#include "tilewright/Layout/Contiguity.h"
#include "RandomLayouts.h"
#include "tilewright/Layout/DigitForm.h"
#include "gtest/gtest.h"
#include <numeric>

using namespace tilewright;
using namespace tilewright::test;
using llvm::ArrayRef;

TEST(ContiguityTest, XorSwizzleKeepsRunsOfFour) { // the run that every row guarantees
  Layout swizzle = layout("(i, j) -> (i, j ^ (4 * (i % 8)))", {8, 32});
  EXPECT_EQ(contiguousRun(swizzle, /*dim=*/1), 4);
  EXPECT_EQ(contiguousRun(swizzle, /*dim=*/0), 1);
  EXPECT_EQ(runAlignment(swizzle, /*dim=*/1, /*width=*/4), 4);
}

TEST(ContiguityTest, RowsOfRowMajorMemory) {
  EXPECT_EQ(contiguousRun(layout("(i, j) -> (i, j)", {8, 32}), 1), 32);
  EXPECT_EQ(contiguousRun(layout("(i, j) -> (i, j)", {8, 33}), 1), 33);
  EXPECT_EQ(contiguousRun(layout("(i, j) -> (j, i)", {8, 32}), 0), 8);
  EXPECT_EQ(contiguousRun(layout("(i, j) -> (j, i)", {8, 32}), 1), 1);
}

TEST(ContiguityTest, PaddingSpoilsTheAlignment) {
  Layout padded = layout("(i, j) -> (34 * i + j)", {8, 32});
  EXPECT_EQ(contiguousRun(padded, 1), 32);
  EXPECT_EQ(runAlignment(padded, 1, 4), 2);
  EXPECT_EQ(runAlignment(layout("(i, j) -> (40 * i + j)", {8, 32}), 1, 8), 8);
}

TEST(ContiguityTest, PairsOfTheSeedLayoutLieFarApart) {
  Layout dq = layout("(b, h, l, d) -> (b, h, l // 8, d // 8, d % 2, 4 * (l % 8) + (d % 8) // 2)",
                     {8, 32, 65536, 64});
  for (unsigned dim = 0; dim < 4; ++dim)
    EXPECT_EQ(contiguousRun(dq, dim), 1);
}

TEST(ContiguityTest, DynamicTensorsUseDivisors) {
  Layout rows = layout("(i, j) -> (i, j)", {kDynamic, kDynamic});
  EXPECT_EQ(contiguousRun(rows, 1), kDynamic);
  EXPECT_EQ(contiguousRun(rows, 0), 1);
  EXPECT_EQ(contiguousRun(layout("(i, j) -> (j, i, j)", {kDynamic, 8}), 1), 1); // j moves twice
  EXPECT_EQ(runAlignment(rows, 1, 8), 1); // the row length may be odd
  EXPECT_EQ(runAlignment(rows, 1, 8, /*extentDivisors=*/{1, 16}), 8);
  EXPECT_EQ(runAlignment(layout("(i, j) -> (i, j // 8, j % 8)", {kDynamic, kDynamic}), 1, 8), 8);
}

TEST(ContiguityTest, FlippedDigitsAreLookedAt) { // 2, 3, 0, 1: pairs
  EXPECT_EQ(contiguousRun(layout("(i) -> (i ^ 2)", {4}), 0), 2);
}

TEST(ContiguityTest, BlocksOfTheSeedLayoutFillMemory) {
  Layout dq = layout("(b, h, l, d) -> (b, h, l // 8, d // 8, d % 2, 4 * (l % 8) + (d % 8) // 2)",
                     {8, 32, 65536, 64});
  std::optional<ContiguousBox> box = contiguousBox(*dq.getOffset(), dq.getShape(), 16, 256);
  ASSERT_TRUE(box);
  EXPECT_EQ(box->rows, 8);
  EXPECT_EQ(box->columns, 8);
  EXPECT_EQ(box->positions[0 * 8 + 1], 32); // odd columns follow the even ones of all rows
  EXPECT_EQ(box->positions[1 * 8 + 0], 4);
  EXPECT_FALSE(contiguousBox(*dq.getOffset(), dq.getShape(), 16, /*limit=*/32));
}

TEST(ContiguityTest, BoxesNeedWholeDigitsOfTheLastTwoDims) {
  auto boxOf = [](llvm::StringRef text, ArrayRef<int64_t> shape) {
    return contiguousBox(*layout(text, shape).getOffset(), shape, 16, 256);
  };
  EXPECT_EQ(boxOf("(i, j) -> (j, i)", {16, 4})->rows, 16);
  EXPECT_FALSE(boxOf("(i, j) -> (j, i)", {8, 3}));              // no multiple of 16
  EXPECT_FALSE(boxOf("(i, j) -> (i // 8, j, i % 8)", {12, 8})); // the last rows leave holes
  EXPECT_FALSE(boxOf("(i, j) -> (i, j ^ (4 * (i % 8)))", {8, 32}));
  EXPECT_FALSE(boxOf("(h, i, j) -> (i, j, h)", {16, 4, 4})); // neighbours in another dim
  EXPECT_FALSE(boxOf("(i, j) -> (i, 2 * j)", {8, 32}));
}

namespace {
using ContiguityProperty = PropertyTest;

TEST_F(ContiguityProperty, BoxesAgreeWithBruteForce) {
  int numBoxes = 0;
  for (int round = 0; round < 1500; ++round) {
    Layout layout = round % 2 ? randomLayout(random) : randomBijection(random, round % 4);
    IndexExpr offset = *layout.getOffset();
    std::optional<ContiguousBox> box = contiguousBox(offset, layout.getShape(), 4, 256);
    if (!box)
      continue;
    ++numBoxes;
    unsigned rank = layout.getRank();
    llvm::SmallVector<int64_t> sorted = box->positions;
    llvm::sort(sorted);
    for (auto [expected, place] : llvm::enumerate(sorted))
      ASSERT_EQ(place, int64_t(expected)) << layout.str();
    forEachIndex(layout.getShape(), [&](ArrayRef<int64_t> index) {
      llvm::SmallVector<int64_t> corner(index);
      int64_t row = index[rank - 2] % box->rows, column = index[rank - 1] % box->columns;
      corner[rank - 2] -= row;
      corner[rank - 1] -= column;
      ASSERT_EQ(*offset.evaluate(index),
                *offset.evaluate(corner) + box->positions[row * box->columns + column])
          << layout.str();
    });
  }
  EXPECT_GT(numBoxes, 100);
}

TEST_F(ContiguityProperty, RunAndAlignmentAgreeWithBruteForce) {
  int numLong = 0;
  for (int round = 0; round < 1500; ++round) {
    Layout layout = round % 2 ? randomLayout(random) : randomBijection(random, round % 4);
    IndexExpr offset = *layout.getOffset();
    unsigned dim = random.uniform(0, layout.getRank() - 1);
    int64_t extent = layout.getShape()[dim];
    int64_t run = contiguousRun(layout, dim);
    ASSERT_EQ(extent % run, 0);
    numLong += run > 1;
    int64_t expectedRun = extent, expectedAlignment = 0;
    forEachIndex(layout.getShape(), [&](ArrayRef<int64_t> index) {
      int64_t here = *offset.evaluate(index);
      if (index[dim] % run == 0)
        expectedAlignment = std::gcd(expectedAlignment, here);
      llvm::SmallVector<int64_t> next(index);
      if (++next[dim] < extent && *offset.evaluate(next) != here + 1)
        expectedRun = std::gcd(expectedRun, next[dim]);
    });
    ASSERT_EQ(run, expectedRun) << layout.str() << " dim " << dim;
    int64_t alignment = runAlignment(layout, dim, run);
    // Never more than the truth; exactly it where every digit is free.
    ASSERT_EQ(alignment == 0 ? 0 : expectedAlignment % alignment, 0)
        << layout.str() << " dim " << dim;
    if (round % 2 == 0)
      ASSERT_EQ(alignment, expectedAlignment) << layout.str() << " dim " << dim;
  }
  EXPECT_GT(numLong, 200);
}
} // namespace
