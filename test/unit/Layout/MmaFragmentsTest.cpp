//===- MmaFragmentsTest.cpp -----------------------------------------------------------------===//
//
// The expected places are computed the other way round, from lane and register number to row and
// column, as the PTX ISA states them.
//
//===----------------------------------------------------------------------------------------===//

#include "tilewright/Layout/MmaFragments.h"
#include "RandomLayouts.h"
#include "tilewright/Layout/Algebra.h"
#include "tilewright/Layout/Questions.h"
#include "gtest/gtest.h"

using namespace tilewright;
using namespace tilewright::test;

/// Checks that element i of every lane lies at (row(group, t, i), column(group, t, i)).
template <typename RowT, typename ColumnT>
static void expectFragment(const Fragment &fragment, int64_t numElements, RowT row,
                           ColumnT column) {
  EXPECT_EQ(fragment.getSlotsPerThread(), numElements);
  EXPECT_EQ(fragment.getThreadExtent(), 32);
  EXPECT_TRUE(isInjective(fragment).isYes());
  EXPECT_TRUE(covers(fragment).isYes());
  for (int64_t lane = 0; lane < 32; ++lane)
    for (int64_t i = 0; i < numElements; ++i) {
      int64_t group = lane >> 2, t = lane % 4;
      ASSERT_EQ(fragment.ownerOf({row(group, t, i), column(group, t, i)}), (Owner{lane, i}))
          << fragment.str();
    }
}

TEST(MmaFragmentsTest, M16N8K16Half) {
  MmaShape shape{16, 8, 16, 16};
  expectFragment(
      mmaOperandA(shape), 8,
      [](int64_t g, int64_t, int64_t i) { return (i < 2) || (4 <= i && i < 6) ? g : g + 8; },
      [](int64_t, int64_t t, int64_t i) { return t * 2 + (i & 1) + (i >= 4 ? 8 : 0); });
  expectFragment(
      mmaOperandB(shape), 4,
      [](int64_t, int64_t t, int64_t i) { return t * 2 + (i & 1) + (i >= 2 ? 8 : 0); },
      [](int64_t g, int64_t, int64_t) { return g; });
  expectFragment(
      mmaAccumulator(shape), 4, [](int64_t g, int64_t, int64_t i) { return i < 2 ? g : g + 8; },
      [](int64_t, int64_t t, int64_t i) { return t * 2 + (i & 1); });
}

TEST(MmaFragmentsTest, M16N8K8HalfAndTf32) {
  expectFragment(
      mmaOperandA({16, 8, 8, 16}), 4,
      [](int64_t g, int64_t, int64_t i) { return i < 2 ? g : g + 8; },
      [](int64_t, int64_t t, int64_t i) { return t * 2 + (i & 1); });
  expectFragment(
      mmaOperandA({16, 8, 8, 32}), 4,
      [](int64_t g, int64_t, int64_t i) { return i % 2 == 0 ? g : g + 8; },
      [](int64_t, int64_t t, int64_t i) { return i < 2 ? t : t + 4; });
  expectFragment(
      mmaOperandB({16, 8, 8, 32}), 2,
      [](int64_t, int64_t t, int64_t i) { return i == 0 ? t : t + 4; },
      [](int64_t g, int64_t, int64_t) { return g; });
}

TEST(MmaFragmentsTest, M16N8K32Byte) {
  expectFragment(
      mmaOperandA({16, 8, 32, 8}), 16,
      [](int64_t g, int64_t, int64_t i) { return (i < 4) || (8 <= i && i < 12) ? g : g + 8; },
      [](int64_t, int64_t t, int64_t i) { return t * 4 + (i & 3) + (i >= 8 ? 16 : 0); });
  expectFragment(
      mmaOperandB({16, 8, 32, 8}), 8,
      [](int64_t, int64_t t, int64_t i) { return t * 4 + (i & 3) + (i >= 4 ? 16 : 0); },
      [](int64_t g, int64_t, int64_t) { return g; });
}

TEST(MmaFragmentsTest, DoubleM8N8K4AndM16N8K16) {
  expectFragment(
      mmaOperandA({8, 8, 4, 64}), 1, [](int64_t g, int64_t, int64_t) { return g; },
      [](int64_t, int64_t t, int64_t) { return t; });
  expectFragment(
      mmaAccumulator({8, 8, 4, 64}), 2, [](int64_t g, int64_t, int64_t) { return g; },
      [](int64_t, int64_t t, int64_t i) { return t * 2 + i; });
  expectFragment(
      mmaOperandA({16, 8, 16, 64}), 8,
      [](int64_t g, int64_t, int64_t i) { return i % 2 == 0 ? g : g + 8; },
      [](int64_t, int64_t t, int64_t i) { return i % 2 == 0 ? i * 2 + t : i * 2 - 2 + t; });
}

TEST(MmaFragmentsTest, LdmatrixFillsOperandsWithMatrices) {
  // ldmatrix.x4 on the four 8 x 8 quarters of a 16 x 16 tile, down first, is operand A.
  Fragment four =
      llvm::cantFail(repeat(ldmatrixTile(), {2, 2}, RepeatOver::Slots, RepeatOrder::FirstDimFirst));
  EXPECT_TRUE(isEqual(four, mmaOperandA({16, 8, 16, 16})).isYes());
  // ldmatrix.x2.trans on a k x n tile in row-major memory is operand B.
  Fragment two =
      llvm::cantFail(repeat(ldmatrixTile(/*transposed=*/true), {2, 1}, RepeatOver::Slots));
  EXPECT_TRUE(isEqual(two, mmaOperandB({16, 8, 16, 16})).isYes());
}

TEST(MmaFragmentsTest, WarpsShareABlock) {
  MmaShape shape{16, 8, 16, 16};
  WarpGrid warps{4, 2};
  Fragment c = llvm::cantFail(blockAccumulator(128, 64, shape, warps));
  EXPECT_EQ(c.getThreadExtent(), 256);
  EXPECT_EQ(c.getSlotsPerThread(), 32);
  EXPECT_TRUE(isInjective(c).isYes());
  EXPECT_TRUE(covers(c).isYes());
  EXPECT_EQ(c.ownerOf({32, 0}), (Owner{32, 0}));  // warp 1 has the next 32 rows
  EXPECT_EQ(c.ownerOf({0, 32}), (Owner{128, 0})); // warp 4 has the next 32 columns
  EXPECT_EQ(c.ownerOf({16, 8}), (Owner{0, 20}));  // the warp's sixth tile

  Fragment a = llvm::cantFail(blockOperandA(128, 32, shape, warps));
  EXPECT_EQ(a.getReplicas(), 2);
  EXPECT_EQ(ownersOf(a, {0, 16}), (llvm::SmallVector<Owner, 4>{{0, 8}, {128, 8}}));
  Fragment b = llvm::cantFail(blockOperandB(32, 64, shape, warps));
  EXPECT_EQ(b.getReplicas(), 4);
  EXPECT_EQ(b.ownerOf({0, 32}, 3), (Owner{224, 0}));
  EXPECT_TRUE(isInjective(a).isYes());
  EXPECT_TRUE(isInjective(b).isYes());
}

TEST(MmaFragmentsTest, AccumulatorIsOperandOfTheNextGemm) {
  // FlashAttention's P: two neighbouring n8 tiles of C are one k16 tile of A, slot for slot.
  MmaShape shape{16, 8, 16, 16};
  WarpGrid warps{4, 1};
  Fragment c = llvm::cantFail(blockAccumulator(64, 32, shape, warps));
  Fragment a = llvm::cantFail(blockOperandA(64, 32, shape, warps));
  EXPECT_TRUE(isEqual(a, c).isYes());
  EXPECT_TRUE(isProvidedBy(llvm::cantFail(blockOperandB(64, 32, shape, {1, 4})),
                           llvm::cantFail(blockAccumulator(64, 32, shape, {1, 4})))
                  .isNo());
}

TEST(MmaFragmentsTest, OddTilesNameTheMultiple) {
  llvm::Expected<Fragment> odd = blockAccumulator(96, 64, {16, 8, 16, 16}, {4, 2});
  ASSERT_FALSE(odd);
  EXPECT_EQ(llvm::toString(odd.takeError()),
            "gemm: expected M to be a multiple of 64 (4 warps x 16), got 96");
}
