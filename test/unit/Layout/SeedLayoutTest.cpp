//===- SeedLayoutTest.cpp - the layout of dQ in the kernel that started the project ---------===//
//
// TileLang issue 1366: a flash-attention backward kernel adds an accumulator into dQ, whose layout
// its author made for scalar atomics. The compiler looked at the accumulator alone, saw pairs of
// neighbouring columns and used atomics of two elements. docs/internals/layouts.md works the same example.
//
//===----------------------------------------------------------------------------------------===//

#include "RandomLayouts.h"
#include "tilewright/Layout/Algebra.h"
#include "tilewright/Layout/Banks.h"
#include "tilewright/Layout/Contiguity.h"
#include "tilewright/Layout/MmaFragments.h"
#include "tilewright/Layout/Questions.h"
#include "gtest/gtest.h"

using namespace tilewright;
using namespace tilewright::test;
using llvm::ArrayRef;

namespace {
struct SeedLayoutTest : testing::Test {
  /// dQ for batch 8, 32 heads, 4096 rows, head dimension 64.
  Layout dq = layout("(b, h, l, d) -> (b, h, l // 8, d // 8, d % 2, 4 * (l % 8) + (d % 8) // 2)",
                     {8, 32, 4096, 64});
  /// The accumulator tile of 32 rows: four warps side by side.
  Fragment tile = llvm::cantFail(blockAccumulator(32, 64, {16, 8, 16, 16}, {1, 4}));

  /// Where each slot of each thread of the tile at row 64 of head 3 goes, in elements.
  std::vector<int64_t> offsets() {
    Layout where = llvm::cantFail(invert(tile));
    IndexExpr offset = *dq.getOffset();
    std::vector<int64_t> result;
    forEachIndex(where.getShape(), [&](ArrayRef<int64_t> place) {
      llvm::SmallVector<int64_t, 4> index = *where.map(place);
      result.push_back(*offset.evaluate({0, 3, 64 + index[0], index[1]}));
    });
    return result;
  }
};
} // namespace

TEST_F(SeedLayoutTest, IsABijectionWithAnInverse) {
  EXPECT_TRUE(isInjective(dq).isYes());
  EXPECT_TRUE(covers(dq).isYes());
  EXPECT_EQ(llvm::cantFail(invert(dq)).str(),
            "(i, j, k, l, m, n) -> (i, j, 8 * k + n // 4, 8 * l + (2 * (n % 4) + m))");
}

TEST_F(SeedLayoutTest, NeighbouringSlotsLie32ElementsApart) {
  std::vector<int64_t> offset = offsets();
  int64_t numSlots = tile.getSlotsPerThread();
  EXPECT_EQ(numSlots, 16);
  for (int64_t thread = 0; thread < 128; ++thread)
    for (int64_t slot = 0; slot < numSlots; slot += 2)
      ASSERT_EQ(offset[thread * numSlots + slot + 1] - offset[thread * numSlots + slot], 32);
  EXPECT_EQ(contiguousRun(dq, /*dim=*/3), 1);
}

TEST_F(SeedLayoutTest, EachScalarAccessOfAWarpIsOneLine) {
  std::vector<int64_t> offset = offsets();
  int64_t numSlots = tile.getSlotsPerThread();
  for (int64_t warp = 0; warp < 4; ++warp)
    for (int64_t slot = 0; slot < numSlots; ++slot) {
      llvm::SmallVector<int64_t> addresses;
      for (int64_t lane = 0; lane < 32; ++lane)
        addresses.push_back(4 * offset[(32 * warp + lane) * numSlots + slot]);
      ASSERT_EQ(countSectors(addresses, 4), 4);
      ASSERT_EQ(countSectors(addresses, 4, kLineBytes), 1);
    }
}

TEST_F(SeedLayoutTest, PlainRowsWouldAllowPairs) {
  Layout plain = identityLayout({8, 32, 4096, 64});
  EXPECT_EQ(contiguousRun(plain, 3), 64);
  EXPECT_EQ(runAlignment(plain, 3, 2), 2);
}
