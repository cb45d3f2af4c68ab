//===- DistributionTest.cpp - which slots hold what a loop touches, and who reduces what ------===//

#include "tilewright/Analysis/Distribution.h"

#include "gtest/gtest.h"

using namespace tilewright;
using namespace tilewright::analysis;

namespace {

using Slots = std::vector<int64_t>;

/// Elements by thread and slot, each held once unless `replica` says otherwise.
OwnerTable table(int64_t threads, std::vector<int64_t> element, std::vector<int64_t> replica = {}) {
  int64_t slots = int64_t(element.size()) / threads;
  replica.resize(element.size(), 0);
  return {threads, slots, std::move(element), std::move(replica)};
}

std::optional<Slots> resolve(int64_t extent, OwnerTable loop, const OwnerTable &fragment,
                             bool isWrite) {
  return resolveSlots({{extent}, std::move(loop)}, {IndexExpr::dim(0)}, {extent}, fragment,
                      isWrite);
}

TEST(Distribution, AWriteReachesEveryCopy) {
  OwnerTable copies = table(2, {0, 0}, {0, 1});
  EXPECT_EQ(resolve(1, table(2, {0, -1}), copies, /*isWrite=*/false), Slots{0});
  EXPECT_EQ(resolve(1, table(2, {0, -1}), copies, /*isWrite=*/true), std::nullopt);
  EXPECT_EQ(resolve(1, table(2, {0, 0}), copies, /*isWrite=*/true), Slots{0});
  // Copies in one thread, of which a slot of the loop names one.
  EXPECT_EQ(resolve(1, table(1, {0}), table(1, {0, 0}, {0, 1}), /*isWrite=*/true), std::nullopt);
}

TEST(Distribution, ThreadsTouchTheSameSlots) {
  OwnerTable fragment = table(2, {0, 1, 2, 3});
  EXPECT_EQ(resolve(4, table(2, {0, 1, 2, 3}), fragment, false), (Slots{0, 1}));
  EXPECT_EQ(resolve(4, table(2, {1, 0, 3, 2}), fragment, false), (Slots{1, 0}));
  EXPECT_EQ(resolve(4, table(2, {0, 1, 3, 2}), fragment, false), std::nullopt);
  EXPECT_EQ(resolve(4, table(2, {2, 1, 0, 3}), fragment, false), std::nullopt); // the other's
}

TEST(Distribution, ThreadsReduceTheSameSlots) {
  // Two threads with two rows of two elements each.
  OwnerTable source = table(2, {0, 1, 2, 3, 6, 7, 4, 5});
  std::optional<ReductionPlan> plan = planReduction(source, {4, 2}, table(2, {0, 1, 3, 2}), 1);
  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->own.size(), 2u);
  EXPECT_EQ(plan->own[0], (llvm::SmallVector<int64_t>{0, 1}));
  EXPECT_EQ(plan->own[1], (llvm::SmallVector<int64_t>{2, 3}));
  EXPECT_TRUE(plan->laneMasks.empty());
  EXPECT_FALSE(planReduction(source, {4, 2}, table(2, {0, 1, 2, 3}), 1));
}

/// A row of elements, one for each thread; all threads hold the sum.
std::optional<ReductionPlan> reduceRow(int64_t threads) {
  std::vector<int64_t> elements(threads), zeros(threads, 0);
  for (int64_t thread = 0; thread < threads; ++thread)
    elements[thread] = thread;
  return planReduction(table(threads, elements), {1, threads}, table(threads, zeros, elements), 1);
}

TEST(Distribution, OwnersOfARowDifferInWholeBits) {
  std::optional<ReductionPlan> plan = reduceRow(4);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->laneMasks, (llvm::SmallVector<int64_t>{1, 2}));
  EXPECT_EQ(plan->warpMask, 0);
  EXPECT_FALSE(reduceRow(3)); // a fourth lane would take part in the shuffles
  plan = reduceRow(64);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->laneMasks.size(), 5u);
  EXPECT_EQ(plan->warpMask, 1);
  // An element that is held twice would count twice.
  EXPECT_FALSE(planReduction(table(2, {0, 0}, {0, 1}), {1, 1}, table(2, {0, 0}, {0, 1}), 1));
}

} // namespace
