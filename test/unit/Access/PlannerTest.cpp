//===- PlannerTest.cpp - plans of accesses written by hand ------------------------------------===//

#include "tilewright/Access/Planner.h"
#include "gtest/gtest.h"

using namespace tilewright;
using namespace tilewright::access;

namespace {

/// A global float32 tensor accessed as a loop of the same extents runs over it.
class PlannerTest : public testing::Test {
protected:
  Plan plan(llvm::StringRef distribution, llvm::ArrayRef<int64_t> extents, int64_t numThreads,
            std::optional<llvm::StringRef> layout = std::nullopt) {
    Fragment fragment = llvm::cantFail(parseFragment(distribution, extents));
    loop.extents.assign(extents.begin(), extents.end());
    loop.table = *analysis::OwnerTable::get(fragment, numThreads);
    request.loop = &loop;
    request.name = "A";
    request.maxWidth = 4;
    request.memory.extents.assign(extents.begin(), extents.end());
    request.memory.elementBytes = 4;
    request.memory.baseAlignment = 16;
    request.memory.isGlobal = true;
    if (layout)
      request.memory.layout = llvm::cantFail(parseLayout(*layout, extents));
    if (request.coordinates.empty())
      for (unsigned dim = 0; dim < extents.size(); ++dim)
        request.coordinates.push_back(IndexExpr::dim(dim));
    return planAccess(request);
  }

  analysis::LoopDistribution loop;
  Request request;
};

TEST_F(PlannerTest, GroupsNeighbouringElementsOfOneThread) {
  Plan found = plan("(i) -> thread i // 4, slot i % 4", {128}, 32);
  EXPECT_EQ(found.width, 4);
  EXPECT_EQ(found.slots, (llvm::SmallVector<int64_t>{0, 1, 2, 3}));
  EXPECT_TRUE(found.guarded.empty());
  EXPECT_EQ(found.linesPerWarp, 4);
}

TEST_F(PlannerTest, CountsTheLinesThatAWarpTouches) {
  // 33 elements apart: 32 lines of global memory, though each lies in a bank of its own.
  request.coordinates = {33 * IndexExpr::dim(0)};
  EXPECT_EQ(plan("(i) -> thread i, slot 0", {32}, 32).linesPerWarp, 32);
  // A single thread touches a line, too.
  request.coordinates = {IndexExpr::dim(0)};
  EXPECT_EQ(plan("(i) -> thread i, slot 0", {1}, 1).linesPerWarp, 1);
}

TEST_F(PlannerTest, GroupsSlotsInTheOrderOfTheirAddresses) {
  Plan found = plan("(i) -> thread i // 4, slot 3 - i % 4", {128}, 32);
  EXPECT_EQ(found.width, 4);
  EXPECT_EQ(found.slots, (llvm::SmallVector<int64_t>{3, 2, 1, 0}));
}

TEST_F(PlannerTest, RefusesSlotsThatTheLayoutTearsApart) {
  // The layout of the seed's dQ: pairs of a tensor core's accumulator lie 32 elements apart.
  Plan found = plan("(i, j) -> thread 4 * i + j // 2, slot j % 2", {8, 8}, 32,
                    llvm::StringRef("(i, j) -> (j % 2, 4 * i + j // 2)"));
  EXPECT_EQ(found.width, 1);
  EXPECT_EQ(found.refusal, "2 wide refused: slots 0, 1 of thread 0 lie 32 elements apart in A's "
                           "layout");
  EXPECT_EQ(found.linesPerWarp, 1);
}

TEST_F(PlannerTest, ReadsASharedElementOnce) {
  request.isRead = true;
  request.coordinates = {floorDiv(IndexExpr::dim(0), 4)};
  Plan found = plan("(i) -> thread i // 8, slot i % 8", {256}, 32);
  EXPECT_EQ(found.width, 2);
  EXPECT_EQ(found.slots, (llvm::SmallVector<int64_t>{0, 4}));
  EXPECT_EQ(found.sources, (llvm::SmallVector<int64_t>{0, 0, 0, 0, 1, 1, 1, 1}));
}

TEST_F(PlannerTest, SharesNothingUnderACondition) {
  // The slot that would read for the others may be the one whose condition fails.
  request.isRead = request.isConditional = true;
  request.maxWidth = 1;
  request.coordinates = {floorDiv(IndexExpr::dim(0), 4)};
  Plan found = plan("(i) -> thread i // 8, slot i % 8", {256}, 32);
  EXPECT_EQ(found.slots.size(), 8u);
  EXPECT_TRUE(found.sources.empty());
}

TEST_F(PlannerTest, AsksForAnAlignedStart) {
  request.coordinates = {IndexExpr::dim(0) + 1};
  Plan found = plan("(i) -> thread i // 4, slot i % 4", {128}, 32);
  EXPECT_EQ(found.width, 1);
  EXPECT_EQ(found.refusal, "2 wide refused: slot 0 of thread 0 is not known to start at a multiple "
                           "of 2 elements");
  EXPECT_EQ(found.guarded, (llvm::SmallVector<int64_t>{0}));
}

TEST_F(PlannerTest, KeepsAGroupOnOneSideOfABound) {
  request.coordinates = {IndexExpr::dim(0) + 8 * IndexExpr::symbol(0)};
  request.symbols = {IndexFacts::inExtent(100)};
  EXPECT_EQ(plan("(i) -> thread i // 4, slot i % 4", {128}, 32).width, 4);
  request.memory.extents = {130};
  Plan found = planAccess(request);
  EXPECT_EQ(found.width, 2); // 130 is even
  EXPECT_EQ(found.refusal,
            "4 wide refused: slots 0, 1, 2, 3 of thread 0 may lie on both sides of the bound of "
            "dimension 0");
  EXPECT_EQ(found.guarded, (llvm::SmallVector<int64_t>{0}));
}

TEST_F(PlannerTest, DoesNotMixOwnersWithCopies) {
  // Both threads hold all four elements; thread 0 owns the even ones, thread 1 the odd ones.
  Plan found = plan("(i) rep r of 2 -> thread (i + r) % 2, slot i", {4}, 2);
  EXPECT_EQ(found.refusal, "2 wide refused: slots 0, 1 of thread 0 are not owned together");
  EXPECT_EQ(found.width, 1);
}

TEST_F(PlannerTest, KnowsNothingWithoutCoordinates) {
  // A loop of extent 1 once made the stand-in for an unknown coordinate look like a constant.
  plan("(i, j) -> thread j // 4, slot j % 4", {1, 128}, 32);
  request.isRead = true;
  request.coordinates.clear();
  Plan found = planAccess(request);
  EXPECT_TRUE(found.isUnknown);
  EXPECT_EQ(found.refusal, "the offsets of a thread's elements depend on run-time values");
  EXPECT_EQ(found.slots.size(), 4u);
  EXPECT_TRUE(found.sources.empty());
  EXPECT_EQ(found.guarded, (llvm::SmallVector<int64_t>{0, 1}));
}

TEST_F(PlannerTest, AsksAgainForEvenAndOddSymbols) {
  // `(i + 2 * n) % 4` has no part of i alone, but for even and for odd n it has.
  request.coordinates = {IndexExpr::dim(0) + 2 * IndexExpr::symbol(0), IndexExpr::dim(1)};
  request.symbols = {IndexFacts::inExtent(8)};
  Plan found = plan("(i, j) -> thread 8 * i + j // 4, slot j % 4", {16, 32}, 128,
                    llvm::StringRef("(i, j) -> (i, j ^ 4 * (i % 4))"));
  EXPECT_EQ(found.width, 4);
}

TEST_F(PlannerTest, TakesWhatTheTargetHas) {
  plan("(i) -> thread i // 4, slot i % 4", {128}, 32);
  request.maxWidth = 2;
  request.maxWidthReason = "sm_80 has no wider form";
  Plan found = planAccess(request);
  EXPECT_EQ(found.width, 2);
  EXPECT_EQ(found.refusal, "sm_80 has no wider form");
}

} // namespace
