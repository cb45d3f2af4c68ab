//===- SharedLayoutsTest.cpp ----------------------------------------------------------------===//

#include "tilewright/Layout/SharedLayouts.h"
#include "RandomLayouts.h"
#include "tilewright/Layout/Banks.h"
#include "tilewright/Layout/Contiguity.h"
#include "tilewright/Layout/Questions.h"
#include "gtest/gtest.h"

using namespace tilewright;
using namespace tilewright::test;
using llvm::ArrayRef;

static std::string textOf(llvm::Expected<Layout> layout) {
  return layout ? layout->str() : llvm::toString(layout.takeError());
}

TEST(SharedLayoutsTest, RowLengthDecidesTheSwizzle) {
  EXPECT_EQ(textOf(swizzledLayout({64, 64}, 16)), "(i, j) -> (i, j ^ 8 * (i % 8))");
  EXPECT_EQ(textOf(swizzledLayout({64, 128}, 16)), "(i, j) -> (j // 64, i, j % 64 ^ 8 * (i % 8))");
  EXPECT_EQ(textOf(swizzledLayout({64, 32}, 16)), "(i, j) -> (i, j ^ 8 * (i // 2 % 4))");
  EXPECT_EQ(textOf(swizzledLayout({64, 16}, 16)), "(i, j) -> (i, j ^ 8 * (i // 4 % 2))");
  EXPECT_EQ(textOf(swizzledLayout({64, 24}, 16)), "(i, j) -> (i, j)"); // three chunks
  EXPECT_EQ(textOf(swizzledLayout({64, 64}, 32)), "(i, j) -> (j // 32, i, j % 32 ^ 4 * (i % 8))");
  EXPECT_EQ(textOf(swizzledLayout({2, 64, 64}, 16)), "(i, j, k) -> (i, j, k ^ 8 * (j % 8))");
}

TEST(SharedLayoutsTest, OddRowsArePaddedIfAllowed) {
  EXPECT_EQ(textOf(swizzledLayout({64, 20}, 16)), "(i, j) -> (i * 24 + j)"); // 2.5 chunks -> 3
  EXPECT_EQ(textOf(swizzledLayout({64, 20}, 16, true, /*allowPad=*/false)), "(i, j) -> (i, j)");
  EXPECT_EQ(textOf(swizzledLayout({32, 64}, 8, /*kMajor=*/false)), "(i, j) -> (i * 80 + j)");
  EXPECT_EQ(textOf(swizzledLayout({32, 64}, 8, /*kMajor=*/true)),
            "(i, j) -> (i, j ^ 16 * (i // 2 % 4))");
}

TEST(SharedLayoutsTest, RefusesTilesWithoutRows) {
  EXPECT_EQ(textOf(swizzledLayout({64}, 16)),
            "swizzle: expected a tile of at least 2 dimensions, got 1");
  EXPECT_EQ(textOf(swizzledLayout({kDynamic, 64}, 16)),
            "swizzle: expected static extents of at least 1, got ? x 64");
  EXPECT_EQ(textOf(bankSwizzledLayout({64, 48}, 16, BankSwizzle::Half)),
            "swizzle: expected rows of a multiple of 64 bytes, got 48 elements of 16 bits");
  EXPECT_EQ(textOf(paddedLayout({8, 32}, 31)),
            "padded layout: expected a static shape with rows of at most 31 elements, got 8 x 32");
}

TEST(SharedLayoutsTest, LinearAndPadded) {
  EXPECT_EQ(linearLayout({2, 3, 4}).str(), "(i, j, k) -> ((i * 3 + j) * 4 + k)");
  EXPECT_EQ(textOf(paddedLayout({2, 3, 4}, 5)), "(i, j, k) -> ((i * 3 + j) * 5 + k)");
}

TEST(BanksTest, CountsPasses) {
  llvm::SmallVector<int64_t> rowOfWords, columnOfWords, broadcast, chunks;
  for (int64_t lane = 0; lane < 32; ++lane) {
    rowOfWords.push_back(4 * lane);
    columnOfWords.push_back(128 * lane);
    broadcast.push_back(64);
    chunks.push_back(16 * lane);
  }
  EXPECT_EQ(countBankPasses(rowOfWords, 4), 1);
  EXPECT_EQ(countBankPasses(columnOfWords, 4), 32);
  EXPECT_EQ(countBankPasses(broadcast, 4), 1);
  EXPECT_EQ(countBankPasses(chunks, 16), 4);
  EXPECT_EQ(countIdealPasses(chunks, 16), 4);
  EXPECT_EQ(countBankPasses(columnOfWords, 16), 32);
  chunks.assign(32, kInactiveLane);
  EXPECT_EQ(countBankPasses(chunks, 16), 0);
  EXPECT_EQ(bankOf(132), 1);
}

TEST(BanksTest, CountsSectorsAndLines) {
  llvm::SmallVector<int64_t> row, strided;
  for (int64_t lane = 0; lane < 32; ++lane) {
    row.push_back(4 * lane);
    strided.push_back(64 * lane);
  }
  EXPECT_EQ(countSectors(row, 4), 4);
  EXPECT_EQ(countSectors(row, 4, kLineBytes), 1);
  EXPECT_EQ(countSectors(strided, 4), 32);
  EXPECT_EQ(countSectors(strided, 4, kLineBytes), 16);
}

namespace {
using SharedLayoutsProperty = PropertyTest;

/// Byte addresses of the chunks (16 bytes) at some places of a tile.
int64_t chunkAddress(const Layout &layout, int64_t elementBits, int64_t row, int64_t column) {
  return *layout.getOffset()->evaluate({row, column}) * elementBits / 8;
}

TEST_F(SharedLayoutsProperty, SwizzledTilesHaveNoBankConflicts) {
  for (int64_t bits : {8, 16, 32})
    for (int64_t columns = 128 / bits; columns <= 2048 / bits; columns += 128 / bits) {
      Layout layout = llvm::cantFail(swizzledLayout({32, columns}, bits));
      EXPECT_TRUE(isInjective(layout).isYes()) << layout.str();
      EXPECT_TRUE(covers(layout).isYes()) << layout.str();
      int64_t chunk = 128 / bits;
      EXPECT_EQ(contiguousRun(layout, 1) % chunk, 0) << layout.str();
      EXPECT_EQ(runAlignment(layout, 1, chunk) % chunk, 0) << layout.str();
      // ldmatrix: eight rows at one chunk column.
      for (int64_t row = 0; row < 32; row += 8)
        for (int64_t column = 0; column < columns; column += chunk) {
          llvm::SmallVector<int64_t> addresses;
          for (int64_t r = 0; r < 8; ++r)
            addresses.push_back(chunkAddress(layout, bits, row + r, column));
          ASSERT_EQ(countBankPasses(addresses, 16), 1) << layout.str() << " column " << column;
        }
    }
}

TEST_F(SharedLayoutsProperty, CopiesIntoSwizzledTilesHaveNoBankConflicts) {
  // A warp copies 32 consecutive chunks of the tile, 16 bytes a lane.
  for (int64_t bits : {8, 16, 32})
    for (int64_t rowBytes : {32, 64, 128, 256, 512}) {
      int64_t columns = rowBytes * 8 / bits, chunk = 128 / bits;
      Layout layout = llvm::cantFail(swizzledLayout({32, columns}, bits));
      for (int64_t first = 0; first < 32 * columns / chunk; first += 32) {
        llvm::SmallVector<int64_t> addresses;
        for (int64_t lane = 0; lane < 32; ++lane) {
          int64_t element = (first + lane) * chunk;
          if (element < 32 * columns)
            addresses.push_back(chunkAddress(layout, bits, element / columns, element % columns));
        }
        ASSERT_EQ(countBankPasses(addresses, 16), countIdealPasses(addresses, 16)) << layout.str();
      }
    }
}
} // namespace
