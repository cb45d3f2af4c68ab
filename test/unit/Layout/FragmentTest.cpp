//===- FragmentTest.cpp ---------------------------------------------------------------------===//

#include "tilewright/Layout/Fragment.h"
#include "RandomLayouts.h"
#include "gtest/gtest.h"

using namespace tilewright;
using namespace tilewright::test;

TEST(FragmentTest, PrintsAsWritten) {
  EXPECT_EQ(fragment("(i, j) -> thread 4 * i + j // 2, slot j % 2", {8, 8}).str(),
            "(i, j) -> thread 4 * i + j // 2, slot j % 2");
  Fragment sums = fragment("(i) rep r of 4 -> thread 4 * i + r, slot 0", {8});
  EXPECT_EQ(sums.str(), "(i) rep r of 4 -> thread 4 * i + r, slot 0");
  EXPECT_EQ(fragment(sums.str(), {8}), sums);
}

TEST(FragmentTest, ReplicaNameGivesWay) {
  Fragment sums = fragment("(r) rep copy of 4 -> thread 4 * r + copy, slot 0", {8});
  std::string text;
  llvm::raw_string_ostream os(text);
  sums.print(os, IndexNames{{"r"}, {}});
  EXPECT_EQ(text, "(r) rep rr of 4 -> thread 4 * r + rr, slot 0");
}

TEST(FragmentTest, PlacesElementsAndReplicas) {
  Fragment sums = fragment("(i) rep r of 4 -> thread 4 * (i % 8) + r, slot i // 8", {16});
  EXPECT_EQ(sums.ownerOf({9}, 2), (Owner{6, 1}));
  EXPECT_EQ(sums.getThreadExtent(), 32);
  EXPECT_EQ(sums.getSlotsPerThread(), 2);
  EXPECT_EQ(sums.getReplicas(), 4);
  EXPECT_EQ(sums.getShape(), (llvm::ArrayRef<int64_t>{16}));
}

TEST(FragmentTest, RefusesWhatCannotBeAFragment) {
  EXPECT_EQ(llvm::toString(Fragment::verify({kDynamic, 4}, IndexExpr::dim(0), 0)),
            "fragment: expected a static shape, got ? x 4");
  EXPECT_EQ(llvm::toString(Fragment::verify({4}, IndexExpr::dim(0), 0, 0)),
            "fragment: expected at least 1 replica, got 0");
}
