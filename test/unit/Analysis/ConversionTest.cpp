//===- ConversionTest.cpp - exchanges inside a warp, carried out on paper --------------------===//
//
// A plan is run: every lane renames its slots, every round hands over one word, every lane renames
// what it took. Each place of the result must then hold its element.
//
//===----------------------------------------------------------------------------------------===//

#include "tilewright/Analysis/Conversion.h"
#include "tilewright/Layout/Fragment.h"
#include "tilewright/Layout/MmaFragments.h"
#include "tilewright/Support/SeededRandom.h"

#include "gtest/gtest.h"
#include <numeric>

using namespace tilewright;
using namespace tilewright::analysis;

namespace {

constexpr int64_t kLanes = 32;

OwnerTable tableOf(llvm::StringRef text, llvm::ArrayRef<int64_t> shape, int64_t threads = kLanes) {
  return *OwnerTable::get(llvm::cantFail(parseFragment(text, shape)), threads);
}

/// Whether the plan brings every element to its places.
bool isRight(const ExchangePlan &plan, const OwnerTable &from, const OwnerTable &to) {
  if (int64_t(plan.rounds.size()) != to.slots)
    return false;
  for (int64_t thread = 0; thread < to.threads; ++thread)
    for (int64_t slot = 0; slot < to.slots; ++slot) {
      int64_t lane = thread % kLanes;
      const ExchangePlan::Round &round = plan.rounds[slot ^ plan.post.at(lane)];
      int64_t other = plan.source.at(lane) ^ round.laneMask;
      int64_t held = round.name ^ plan.pre.at(other);
      if (other >= kLanes || held >= from.slots ||
          from.at(thread - lane + other, held) != to.at(thread, slot))
        return false;
    }
  return true;
}

TEST(ConversionTest, RenamesSlotsInsideAThread) {
  OwnerTable from = tableOf("(i, j) -> thread i, slot j", {32, 4});
  OwnerTable to = tableOf("(i, j) -> thread i, slot j ^ (i % 4)", {32, 4});
  std::optional<ExchangePlan> plan = planExchange(from, to);
  ASSERT_TRUE(plan);
  EXPECT_TRUE(isRight(*plan, from, to));
  EXPECT_TRUE(plan->staysInThread());
  EXPECT_EQ(plan->countShuffles(4), 0);
}

TEST(ConversionTest, TransposesBetweenLanesAndSlots) {
  OwnerTable from = tableOf("(i, j) -> thread i, slot j", {32, 32});
  OwnerTable to = tableOf("(i, j) -> thread j, slot i", {32, 32});
  std::optional<ExchangePlan> plan = planExchange(from, to);
  ASSERT_TRUE(plan);
  EXPECT_TRUE(isRight(*plan, from, to));
  EXPECT_EQ(plan->countShuffles(4), 31); // the diagonal stays
}

TEST(ConversionTest, AccumulatorBecomesAnOperandOfBytes) {
  WarpGrid warps{2, 1};
  MmaShape halves{16, 8, 16, 16}, bytes{16, 8, 32, 8};
  OwnerTable from = *OwnerTable::get(llvm::cantFail(blockAccumulator(64, 32, halves, warps)), 64);
  OwnerTable to = *OwnerTable::get(llvm::cantFail(blockOperandA(64, 32, bytes, warps)), 64);
  std::optional<ExchangePlan> plan = planExchange(from, to);
  ASSERT_TRUE(plan);
  EXPECT_TRUE(isRight(*plan, from, to));
  EXPECT_LE(plan->countShuffles(1), 16);
}

TEST(ConversionTest, ReplicatedRowsMoveToOtherLanes) {
  OwnerTable from = tableOf("(i) rep r of 4 -> thread 4 * (i % 8) + r, slot i // 8", {16});
  OwnerTable to = tableOf("(i) rep r of 2 -> thread i + 16 * r, slot 0", {16});
  std::optional<ExchangePlan> plan = planExchange(from, to);
  ASSERT_TRUE(plan);
  EXPECT_TRUE(isRight(*plan, from, to));
}

TEST(ConversionTest, RefusesWhatLeavesTheWarp) {
  OwnerTable from = tableOf("(i) -> thread i, slot 0", {64}, 64);
  OwnerTable to = tableOf("(i) -> thread (i + 32) % 64, slot 0", {64}, 64);
  EXPECT_FALSE(planExchange(from, to));
}

TEST(ConversionTest, RefusesWhatIsNotLinear) {
  OwnerTable from = tableOf("(i) -> thread i, slot 0", {32});
  OwnerTable to = tableOf("(i) -> thread (3 * i + 5) % 32, slot 0", {32});
  EXPECT_FALSE(planExchange(from, to));
}

TEST(ConversionTest, RotatingTheBitsOfLanesLeavesThem) {
  OwnerTable from = tableOf("(i) -> thread i, slot 0", {32});
  OwnerTable to = tableOf("(i) -> thread 2 * (i % 16) + i // 16, slot 0", {32});
  std::optional<ExchangePlan> plan = planExchange(from, to);
  ASSERT_TRUE(plan);
  EXPECT_TRUE(isRight(*plan, from, to));
  EXPECT_FALSE(plan->staysInThread());
  EXPECT_EQ(plan->countShuffles(4), 1);
}

TEST(ConversionTest, RefusesWhatNoLaneHolds) {
  OwnerTable from{kLanes, 1, {}, std::vector<int64_t>(kLanes, 0)}, to = from;
  for (int64_t lane = 0; lane < kLanes; ++lane) {
    from.element.push_back(2 * lane + 1);
    to.element.push_back(2 * lane);
  }
  EXPECT_TRUE(planExchange(from, from));
  EXPECT_FALSE(planExchange(from, to)); // each lane holds the next one
}

/// Any permutation of the bits of lane and slot, with some bits mixed in.
OwnerTable randomTable(SeededRandom &random, unsigned slotBits, int64_t blocks) {
  unsigned bits = 5 + slotBits;
  std::vector<unsigned> order(bits);
  std::iota(order.begin(), order.end(), 0);
  for (unsigned i = bits - 1; i > 0; --i)
    std::swap(order[i], order[random.uniform(0, i)]);
  std::vector<int64_t> mixed(bits, 0); // into each bit, lower ones of the permuted word
  for (unsigned i = 1; i < bits; ++i)
    if (random.oneIn(4))
      mixed[i] = random.uniform(0, (int64_t(1) << i) - 1);
  OwnerTable table;
  table.threads = kLanes;
  table.slots = blocks << slotBits;
  table.element.resize(kLanes * table.slots);
  table.replica.resize(kLanes * table.slots);
  for (int64_t lane = 0; lane < kLanes; ++lane)
    for (int64_t slot = 0; slot < table.slots; ++slot) {
      int64_t low = slot & ((int64_t(1) << slotBits) - 1), word = lane | low << 5, element = 0;
      for (unsigned i = 0; i < bits; ++i)
        element |= (word >> order[i] & 1) << i;
      for (unsigned i = 0; i < bits; ++i)
        element ^= int64_t(llvm::popcount(uint64_t(element & mixed[i])) & 1) << i;
      table.element[lane * table.slots + slot] = element + ((slot >> slotBits) << bits);
    }
  return table;
}

TEST(ConversionProperty, EveryPlanIsRight) {
  SeededRandom random(11);
  int planned = 0;
  constexpr int kCases = 2000;
  for (int i = 0; i < kCases; ++i) {
    unsigned slotBits = random.uniform(0, 4);
    int64_t blocks = random.uniform(1, 3);
    OwnerTable from = randomTable(random, slotBits, blocks),
               to = randomTable(random, slotBits, blocks);
    std::optional<ExchangePlan> plan = planExchange(from, to);
    planned += plan.has_value();
    if (plan)
      ASSERT_TRUE(isRight(*plan, from, to)) << "case " << i;
  }
  EXPECT_GT(planned, kCases * 9 / 10); // nearly all linear exchanges have rounds
}

} // namespace
