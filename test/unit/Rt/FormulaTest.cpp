//===- FormulaTest.cpp - formulas give what the expressions give that they came from ----------===//

#include "tilewright/Rt/Formula.h"

#include "gtest/gtest.h"

using tilewright::rt::Formula;
using Op = Formula::Op;

TEST(FormulaTest, PostfixSteps) {
  // (2 * n + 1) // d0, with n symbol 0
  std::optional<Formula> formula = Formula::make({{Op::Constant, 2},
                                                  {Op::Symbol, 0},
                                                  {Op::Mul},
                                                  {Op::Constant, 1},
                                                  {Op::Add},
                                                  {Op::Dim, 0},
                                                  {Op::FloorDiv}});
  ASSERT_TRUE(formula);
  int64_t dims[] = {4}, symbols[] = {10};
  EXPECT_EQ(formula->evaluate(dims, symbols), 5);
  EXPECT_EQ(formula->evaluate({}, symbols), std::nullopt); // a dim that is not given
  int64_t large[] = {INT64_MAX};
  EXPECT_EQ(formula->evaluate(dims, large), std::nullopt); // beyond 64 bits
  EXPECT_EQ(formula->getNumDims(), 1u);
  EXPECT_EQ(formula->getNumSymbols(), 1u);
}

TEST(FormulaTest, StepsThatAreNoFormulaAreRefused) {
  EXPECT_FALSE(Formula::make({}));
  EXPECT_FALSE(Formula::make({{Op::Add}}));
  EXPECT_FALSE(Formula::make({{Op::Constant, 1}, {Op::Constant, 2}}));
  EXPECT_FALSE(Formula::make({{Op::Dim, -1}}));
  EXPECT_FALSE(Formula::make({{Op(99), 0}}));
  std::vector<Formula::Step> deep(Formula::kMaxDepth + 1, {Op::Constant, 1});
  deep.insert(deep.end(), Formula::kMaxDepth, {Op::Add});
  EXPECT_FALSE(Formula::make(deep));
}
