//===- IndexTapeTest.cpp - the plan checker's own arithmetic ---------------------------------===//

#include "IndexTape.h"
#include "tilewright/Layout/Layout.h"
#include "tilewright/Layout/Notation.h"
#include "tilewright/Support/SeededRandom.h"
#include "gtest/gtest.h"
#include <limits>
#include <set>

using namespace tilewright;
using namespace tilewright::plancheck;

using Op = IndexTape::Op;
using Register = IndexTape::Register;

namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

/// `op` of two constants.
std::optional<int64_t> compute(Op op, int64_t lhs, int64_t rhs, unsigned bits = IndexTape::kIndex) {
  IndexTape tape;
  Register result = tape.emit(op, {tape.constant(lhs), tape.constant(rhs)}, bits);
  tape.startRound(0);
  return tape.get(result);
}

TEST(IndexTape, DividesAsPythonDoes) {
  EXPECT_EQ(compute(Op::FloorDiv, -7, 2), -4);
  EXPECT_EQ(compute(Op::FloorMod, -7, 2), 1);
  EXPECT_EQ(compute(Op::TruncDiv, -7, 2), -3);
  EXPECT_EQ(compute(Op::TruncMod, -7, 2), -1);
  EXPECT_EQ(compute(Op::FloorDiv, 7, 0), 0);
  EXPECT_EQ(compute(Op::FloorMod, 7, 0), 7);
}

TEST(IndexTape, IndexValuesDoNotWrapAndOthersDo) {
  EXPECT_EQ(compute(Op::Add, kMax, 1), std::nullopt);
  EXPECT_EQ(compute(Op::Shl, 1, 62), int64_t(1) << 62);
  EXPECT_EQ(compute(Op::Shl, 1, 63), std::nullopt);
  EXPECT_EQ(compute(Op::Add, (int64_t(1) << 31) - 1, 1, 32), -(int64_t(1) << 31));
  EXPECT_EQ(compute(Op::Mul, 1 << 20, 1 << 20, 32), 0);
  EXPECT_EQ(compute(Op::Shl, 1, 40, 32), 0);
  EXPECT_EQ(compute(Op::ZeroExtend, -1, 8), 255);
}

TEST(IndexTape, NoValueSpreads) {
  IndexTape tape;
  Register none = tape.emit(Op::Mul, {tape.constant(kMax), tape.constant(2)});
  Register sum = tape.emit(Op::Add, {none, tape.constant(1)});
  tape.startRound(0);
  EXPECT_EQ(tape.get(sum), std::nullopt);
}

TEST(IndexTape, AgreesWithLayoutsOnEveryIndex) {
  Layout layout = llvm::cantFail(
      parseLayout("(i, j) -> (i // 8, j % 2, (4 * (i % 8) + j // 2) ^ i % 4)", {16, 8}));
  IndexTape tape;
  Register dims[] = {tape.iterator(0), tape.iterator(1)};
  llvm::SmallVector<Register> outputs;
  for (const IndexExpr &output : layout.getOutputs())
    outputs.push_back(tape.emit(output, dims));
  tape.startRound(0);
  for (int64_t i = 0; i < 16; ++i)
    for (int64_t j = 0; j < 8; ++j) {
      tape.runIteration({i, j});
      llvm::SmallVector<int64_t, 4> expected = *layout.map({i, j});
      for (unsigned k = 0; k < outputs.size(); ++k)
        EXPECT_EQ(tape.get(outputs[k]), expected[k]) << i << ", " << j;
    }
}

TEST(IndexTape, DrawsBothEndsOfARange) {
  IndexTape tape;
  Register drawn = tape.emit(Op::InRange, {tape.constant(3), tape.constant(20), tape.constant(4)});
  std::set<int64_t> seen;
  for (uint64_t round = 0; round < 40; ++round) {
    tape.startRound(round);
    seen.insert(*tape.get(drawn));
  }
  EXPECT_EQ(seen, (std::set<int64_t>{3, 7, 11, 15, 19}));
  Register empty = tape.emit(Op::InRange, {tape.constant(3), tape.constant(3), tape.constant(1)});
  tape.startRound(0);
  EXPECT_EQ(tape.get(empty), std::nullopt);
}

TEST(IndexTape, EqualQuestionsGetEqualAnswers) {
  // A loaded value depends on where it was loaded from and on nothing else.
  IndexTape tape;
  Register i = tape.iterator(0);
  Register loaded = tape.emit(Op::Opaque, {tape.emit(Op::FloorDiv, {i, tape.constant(4)})}, 32);
  bool differs = false;
  for (uint64_t round = 1; round < 8; ++round) {
    tape.startRound(round);
    tape.runIteration({0});
    int64_t first = *tape.get(loaded);
    tape.runIteration({3});
    EXPECT_EQ(tape.get(loaded), first);
    tape.runIteration({4});
    differs |= tape.get(loaded) != first;
  }
  EXPECT_TRUE(differs);
}

} // namespace
