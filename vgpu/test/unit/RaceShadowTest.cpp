//===- RaceShadowTest.cpp - the race check's memory, by itself
//----------------------------------===//
#include "vgpu/Checks/RaceShadow.h"
#include "vgpu/Checks/AccessJournal.h"
#include <gtest/gtest.h>
#include <random>

using namespace vgpu;

namespace {

bool overlapByBruteForce(const uint64_t *address, uint32_t mask, unsigned bytes) {
  for (unsigned i = 0; i < warpSize; ++i)
    for (unsigned j = 0; j < i; ++j)
      if ((mask >> i & 1) && (mask >> j & 1) && address[i] < address[j] + bytes &&
          address[j] < address[i] + bytes)
        return true;
  return false;
}

TEST(AccessJournal, DisjointLanesAgreeWithBruteForce) {
  std::mt19937 random(1);
  unsigned numDisjoint = 0;
  for (unsigned round = 0; round < 2000; ++round) {
    unsigned bytes = 1u << random() % 5;
    uint64_t address[warpSize];
    for (uint64_t &at : address)
      at = random() % 256 * bytes; // aligned, and near: the answer is exact
    uint32_t mask = random() & random();
    bool isDisjoint = areDisjoint(address, mask, bytes);
    EXPECT_EQ(isDisjoint, !overlapByBruteForce(address, mask, bytes));
    numDisjoint += isDisjoint;
    for (uint64_t &at : address)
      at = at * 1000 + random() % 3; // far apart and unaligned: it may say no, never a wrong yes
    if (areDisjoint(address, mask, bytes)) {
      EXPECT_FALSE(overlapByBruteForce(address, mask, bytes));
    }
  }
  EXPECT_GT(numDisjoint, 100u);
  EXPECT_LT(numDisjoint, 1900u);
}

TEST(AccessJournal, PagesAreOrderedWarpByWarp) {
  AccessJournal journal(4096);
  uint64_t address[warpSize];
  for (unsigned i = 0; i < warpSize; ++i)
    address[i] = 1000 + 16 * i; // bytes 1000 to 1512: pages 1 and 2
  AccessJournal::Pages pages = AccessJournal::pagesOf(address, fullMask, 16);
  EXPECT_EQ(pages[0], 0b110u);
  journal.touch(pages, /*warp=*/1, /*clock=*/5, /*isWrite=*/false);
  EXPECT_TRUE(journal.isOrdered(pages, {0, 0}, /*isWrite=*/false)); // two reads
  EXPECT_FALSE(journal.isOrdered(pages, {9, 4}, /*isWrite=*/true));
  EXPECT_TRUE(journal.isOrdered(pages, {0, 5}, /*isWrite=*/true));
  journal.touch(pages, /*warp=*/0, /*clock=*/3, /*isWrite=*/true);
  EXPECT_FALSE(journal.isOrdered(pages, {2, 5}, /*isWrite=*/false));
  EXPECT_TRUE(journal.isOrdered(AccessJournal::Pages{0b1000}, {0, 0}, /*isWrite=*/true));
  journal.reset();
  EXPECT_TRUE(journal.isOrdered(pages, {0, 0}, /*isWrite=*/true));
}

Accessor by(uint32_t block, uint8_t warp, uint32_t lanes, const uint32_t *known) {
  return {{block, /*clock=*/1, lanes, /*pc=*/0, warp, false, MemoryScope::Cta, false}, known};
}

TEST(RaceShadow, KeepsReadersOfTwoBlocksWhereBlocksCannotMeet) {
  uint32_t known[2] = {0, 0};
  for (bool canMeet : {false, true}) {
    RaceShadow shadow(canMeet);
    ShadowCell &cell = shadow.pageAt(64, 4).cells[4];
    for (uint32_t block = 0; block < 40; ++block)
      shadow.addRead(cell, by(block, 1, 1, known));
    Crowd &crowd = shadow.gatherCrowd(cell);
    EXPECT_EQ(crowd.reads.size(), canMeet ? 16u : 2u);
    EXPECT_NE(crowd.reads.front().block, crowd.reads.back().block);
  }
}

TEST(RaceShadow, SplittingKeepsWhatIsKnown) {
  uint32_t known[2] = {0, 0};
  RaceShadow shadow;
  ShadowCell &whole = shadow.pageAt(0, 4).cells[0];
  shadow.addRead(whole, by(0, 0, 1, known));
  shadow.addRead(whole, by(0, 1, 2, known));
  RaceShadow::Page &page = shadow.pageAt(0, 2);
  ASSERT_EQ(page.shift, 2u);
  for (unsigned i = 0; i < 4; ++i)
    EXPECT_EQ(shadow.gatherCrowd(page.cells[i]).reads.size(), 2u) << i;
  EXPECT_EQ(shadow.gatherCrowd(page.cells[4]).reads.size(), 0u);
}

TEST(RaceShadow, OverlapNeedsAWrite) {
  uint32_t known[1] = {0};
  RaceShadow a, b;
  a.addRead(a.pageAt(32, 2).cells[8], by(0, 0, 1, known));
  b.addRead(b.pageAt(32, 4).cells[2], by(1, 0, 1, known));
  EXPECT_FALSE(a.overlaps(b));
  b.pageAt(32, 4).cells[1].write = by(1, 0, 1, known).group; // bytes 16 to 31
  EXPECT_FALSE(a.overlaps(b));
  b.pageAt(32, 4).cells[2].write = by(1, 0, 1, known).group; // bytes 32 to 47
  EXPECT_TRUE(a.overlaps(b));
  EXPECT_TRUE(b.overlaps(a));
}

} // namespace
