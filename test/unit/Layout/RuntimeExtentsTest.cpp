//===- RuntimeExtentsTest.cpp ---------------------------------------------------------------===//

#include "tilewright/Layout/RuntimeExtents.h"
#include "RandomLayouts.h"
#include "gtest/gtest.h"

using namespace tilewright;
using namespace tilewright::test;

/// The offset that a formula for any extents gives, and the one of the layout of these extents.
static void expectSameOffsets(llvm::StringRef text, llvm::ArrayRef<int64_t> shape,
                              llvm::ArrayRef<int64_t> launched) {
  std::optional<IndexExpr> formula = getRuntimeOffset(layout(text, shape));
  ASSERT_TRUE(formula) << text.str();
  IndexExpr expected = *layout(text, launched).getOffset();
  for (int64_t i = 0; i < launched[0]; ++i)
    for (int64_t j = 0; j < launched[1]; ++j)
      EXPECT_EQ(formula->evaluate({i, j, launched[0], launched[1]}), expected.evaluate({i, j}))
          << text.str() << " at " << i << ", " << j;
}

TEST(RuntimeExtentsTest, TheStrideOfATransposedTensorIsItsNumberOfRows) {
  for (int64_t rows : {1, 5, 8})
    expectSameOffsets("(i, j) -> (j, i)", {kDynamic, kDynamic}, {rows, 3});
  expectSameOffsets("(i, j) -> (j, i)", {kDynamic, 8}, {5, 8});
}

TEST(RuntimeExtentsTest, GroupsOfRowsKeepTheirConstantStrides) {
  expectSameOffsets("(i, j) -> (i // 4, j, i % 4)", {kDynamic, 8}, {12, 8});
  expectSameOffsets("(i, j) -> (j, i // 4, i % 4)", {kDynamic, kDynamic}, {12, 3});
  expectSameOffsets("(i, j) -> (j, 2 * i + 3)", {kDynamic, kDynamic}, {4, 3});
  expectSameOffsets("(i, j) -> (i, j ^ (i % 8))", {kDynamic, 8}, {16, 8});
}

TEST(RuntimeExtentsTest, AnOutputThatNeedNotGrowHasNoFormula) {
  EXPECT_FALSE(getRuntimeOffset(layout("(i, j) -> (i, i ^ j)", {kDynamic, kDynamic})));
  EXPECT_FALSE(getRuntimeOffset(layout("(i, j)[n] -> (i, j + n)", {kDynamic, 8})));
  EXPECT_FALSE(getRuntimeOffset(layout("(i)[n] -> (i + n)", {kDynamic}))); // has no value for n
  EXPECT_TRUE(getRuntimeOffset(layout("(i, j) -> (i ^ j, j)", {kDynamic, 8}))) << "no stride";
}
