//===- RaceShadowTest.cpp - the race check's memory, by itself --------------------------------===//
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

ShadowRun makeRun(unsigned begin, unsigned shift, unsigned firstLane, unsigned count) {
  ShadowRun run;
  run.begin = static_cast<uint16_t>(begin);
  run.shift = static_cast<uint8_t>(shift);
  run.firstLane = static_cast<uint8_t>(firstLane);
  run.count = static_cast<uint8_t>(count);
  return run;
}

TEST(RaceShadow, ARunIsFoundAgainOrInTheWay) {
  RaceShadow shadow;
  RaceShadow::Page &page = shadow.pageAt(0);
  ShadowRun *run = RaceShadow::findRun(page, makeRun(64, 2, 0, 32));
  ASSERT_NE(run, nullptr);
  EXPECT_EQ(RaceShadow::findRun(page, makeRun(64, 2, 0, 32)), run);
  EXPECT_EQ(RaceShadow::findRun(page, makeRun(64, 2, 1, 31)), nullptr); // other lanes
  EXPECT_EQ(RaceShadow::findRun(page, makeRun(64, 3, 0, 16)), nullptr); // other widths
  EXPECT_EQ(RaceShadow::findRun(page, makeRun(188, 2, 0, 4)), nullptr); // the last word is taken
  EXPECT_NE(RaceShadow::findRun(page, makeRun(192, 2, 0, 4)), nullptr);
  EXPECT_EQ(page.runs.size(), 2u);
  EXPECT_EQ(page.cells, nullptr);
}

TEST(RaceShadow, RunsBecomeCellsOfTheirLanes) {
  RaceShadow shadow;
  ShadowRun *run = RaceShadow::findRun(shadow.pageAt(512), makeRun(64, 2, 4, 8));
  run->cell.write = {/*block=*/3, /*clock=*/7, run->lanes(),     /*pc=*/11,
                     /*warp=*/1,  false,       MemoryScope::Cta, false};
  RaceShadow::Page &page = shadow.pageAt(512, /*shift=*/1); // an access of two bytes
  ASSERT_EQ(page.shift, 1u);
  EXPECT_TRUE(page.runs.empty());
  for (unsigned at = 0; at < RaceShadow::pageBytes; at += 2) {
    const ShadowCell &cell = page.cells[at / 2];
    bool isInside = at >= 64 && at < 96;
    EXPECT_EQ(cell.write.lanes, isInside ? 1u << (4 + (at - 64) / 4) : 0u) << at;
    EXPECT_EQ(cell.write.pc, isInside ? 11u : 0u);
    EXPECT_EQ(cell.read.lanes, 0u);
  }
}

TEST(RaceShadow, ShadowsOverlapWhereARunIsWritten) {
  RaceShadow writer, reader, beside;
  ShadowRun *run = RaceShadow::findRun(writer.pageAt(0), makeRun(0, 2, 0, 32));
  RaceShadow::findRun(reader.pageAt(0), makeRun(124, 2, 0, 4))->cell.read.lanes = 15;
  RaceShadow::findRun(beside.pageAt(0), makeRun(128, 2, 0, 4))->cell.read.lanes = 15;
  run->cell.read.lanes = ~0u;
  EXPECT_FALSE(writer.overlaps(reader)); // two reads
  run->cell.write.lanes = ~0u;
  EXPECT_TRUE(writer.overlaps(reader));
  EXPECT_FALSE(writer.overlaps(beside));
}

} // namespace
