//===- ProductLayoutsTest.cpp -------------------------------------------------------------------===//
//
// What a descriptor means is written here a second time, in integers and the other way round: from
// the address of a 16-byte chunk, as the PTX ISA's canonical layouts list them.
//
//===----------------------------------------------------------------------------------------===//

#include "tilewright/Layout/ProductLayouts.h"
#include "tilewright/Layout/Algebra.h"
#include "tilewright/Layout/Questions.h"
#include "gtest/gtest.h"

using namespace tilewright;

/// Where wgmma finds element (mn, k) of the product at `start`, by the ISA's core matrices: eight
/// rows of 16 bytes, a span holds several side by side, and the address is swizzled at the end.
static int64_t readAddress(uint64_t descriptor, int64_t start, bool isKMajor, int64_t elementBytes,
                           int64_t mn, int64_t k) {
  int64_t leading = int64_t(descriptor >> 16 & 0x3fff) * 16;
  int64_t stride = int64_t(descriptor >> 32 & 0x3fff) * 16;
  int64_t mode = int64_t(descriptor >> 62), span = mode == 1 ? 128 : mode == 2 ? 64 : 32;
  int64_t byte = (isKMajor ? k : mn) * elementBytes, row = isKMajor ? mn : k;
  int64_t chunk = byte / 16, perSpan = span / 16;
  int64_t address = start + byte % 16 + row % 8 * span + row / 8 * stride;
  // Inside one product K never leaves the span; along M or N the leading stride leads to the next.
  address += chunk % perSpan * 16 + (isKMajor ? 0 : chunk / perSpan * leading);
  int64_t mask = perSpan - 1;
  return address ^ ((address >> 7 & mask) << 4);
}

/// Checks every element of every product of the operand against the tile's own layout.
static void expectDescribes(const Layout &offset, int64_t elementBits, int64_t mnStep) {
  auto operand = matchProductOperand(offset, elementBits);
  ASSERT_TRUE(bool(operand)) << llvm::toString(operand.takeError());
  int64_t bytes = elementBits / 8, depth = 32 / bytes;
  int64_t mnExtent = offset.getShape()[0], kExtent = offset.getShape()[1];
  for (int64_t mn0 = 0; mn0 < mnExtent; mn0 += mnStep)
    for (int64_t k0 = 0; k0 < kExtent; k0 += depth)
      for (int64_t mn = 0; mn < std::min(mnStep, mnExtent - mn0); ++mn)
        for (int64_t k = 0; k < depth; ++k)
          ASSERT_EQ(readAddress(operand->getDescriptor(), operand->getStart(mn0, k0),
                                operand->isKMajor, bytes, mn, k),
                    (*offset.map({mn0 + mn, k0 + k}))[0] * bytes)
              << offset.str() << " at (" << mn0 + mn << ", " << k0 + k << ")";
}

/// A shared tile as layout inference places it, rows (or columns, if `isKMajor` is false) of K.
static Layout makeTile(int64_t mn, int64_t k, int64_t elementBits, BankSwizzle swizzle,
                       bool isKMajor) {
  llvm::SmallVector<int64_t> shape{isKMajor ? mn : k, isKMajor ? k : mn};
  Layout tile = llvm::cantFail(bankSwizzledLayout(shape, elementBits, swizzle));
  IndexExpr first = IndexExpr::dim(isKMajor ? 0 : 1), second = IndexExpr::dim(isKMajor ? 1 : 0);
  return Layout::get({mn, k}, {tile.getOffset()->substitute({first, second})});
}

TEST(ProductLayoutsTest, SwizzledTilesAreDescribed) {
  for (BankSwizzle swizzle : {BankSwizzle::Full, BankSwizzle::Half, BankSwizzle::Quarter})
    for (int64_t bits : {8, 16, 32})
      for (int64_t panels : {1, 2, 3}) {
        int64_t k = panels * static_cast<int64_t>(swizzle) * 8 / bits;
        expectDescribes(makeTile(128, k, bits, swizzle, true), bits, 64);
        expectDescribes(makeTile(24, k, bits, swizzle, true), bits, 24);
      }
}

TEST(ProductLayoutsTest, SixteenBitTilesMayRunAlongMOrN) {
  for (BankSwizzle swizzle : {BankSwizzle::Full, BankSwizzle::Half, BankSwizzle::Quarter})
    for (int64_t k : {16, 64})
      expectDescribes(makeTile(128, k, 16, swizzle, false), 16, 64);
}

static std::string refusalOf(const Layout &offset, int64_t elementBits) {
  auto operand = matchProductOperand(offset, elementBits);
  return operand ? "none" : llvm::toString(operand.takeError());
}

TEST(ProductLayoutsTest, OtherTilesAreRefusedWithTheElement) {
  EXPECT_EQ(refusalOf(linearLayout({64, 64}), 16),
            "element (1, 0) lies at byte 128, wgmma reads it at byte 144");
  EXPECT_EQ(refusalOf(makeTile(64, 128, 8, BankSwizzle::Half, false), 8),
            "wgmma reads operands of 8 bits only along K; transpose the tile");
  EXPECT_EQ(refusalOf(llvm::cantFail(paddedLayout({64, 64}, 72)), 16),
            "groups of 8 rows do not start where the swizzle does");
  EXPECT_EQ(refusalOf(linearLayout({64, 8}), 16),
            "rows of 8 elements are no multiple of 128 bytes");
  EXPECT_EQ(refusalOf(makeTile(64, 64, 16, BankSwizzle::Full, true), 64),
            "wgmma has no operands of 64 bits");
}

TEST(ProductLayoutsTest, AccumulatorsFollowTheInstruction) {
  // PTX ISA, "Register Fragments and Shared Memory Matrix Layouts", m64nNk16, D: row, column of
  // register i of lane l of warp w.
  Fragment sums = llvm::cantFail(productAccumulator(256, 64, {2, 2}));
  EXPECT_EQ(sums.getThreadExtent(), 512);
  EXPECT_EQ(sums.getSlotsPerThread(), 2 * 16);
  EXPECT_TRUE(isInjective(sums).isYes());
  EXPECT_TRUE(covers(sums).isYes());
  for (int64_t thread = 0; thread < 512; ++thread)
    for (int64_t slot = 0; slot < 32; ++slot) {
      int64_t group = thread / 128, warp = thread % 128 / 32, lane = thread % 32;
      int64_t product = slot / 16, i = slot % 16;
      int64_t row = group % 2 * 128 + product * 64 + warp * 16 + i / 2 % 2 * 8 + lane / 4;
      int64_t column = group / 2 * 32 + i / 4 * 8 + lane % 4 * 2 + i % 2;
      ASSERT_EQ(sums.ownerOf({row, column}), (Owner{thread, slot}));
    }
}

TEST(ProductLayoutsTest, AccumulatorTilesAreOperandTiles) {
  // The sums of S = Q K^T are the registers of P in P V, slot for slot.
  Fragment sums = llvm::cantFail(productAccumulator(128, 64, {2, 1}));
  Fragment operand = llvm::cantFail(productOperandA(128, 64, 16, {2, 1}));
  EXPECT_TRUE(isEqual(sums, operand).isYes());
  Fragment shared = llvm::cantFail(productOperandA(64, 32, 8, {1, 2}));
  EXPECT_EQ(shared.getReplicas(), 2);
  EXPECT_EQ(shared.ownerOf({17, 5}, 1), (Owner{128 + 32 + 4 + 1, 1}));
}

TEST(ProductLayoutsTest, ExtentsThatGroupsDoNotDivide) {
  EXPECT_EQ(llvm::toString(productAccumulator(64, 64, {2, 1}).takeError()),
            "gemm: expected M to be a multiple of 128 (2 warpgroups x 64), got 64");
  EXPECT_EQ(llvm::toString(productAccumulator(64, 24, {1, 2}).takeError()),
            "gemm: expected N to be a multiple of 16 (2 warpgroups x 8), got 24");
  EXPECT_EQ(llvm::toString(productOperandA(64, 24, 16, {1, 1}).takeError()),
            "gemm: expected K to be a multiple of 16, got 24");
}
