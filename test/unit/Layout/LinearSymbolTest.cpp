//===- LinearSymbolTest.cpp -----------------------------------------------------------------===//

#include "tilewright/Layout/LinearSymbol.h"
#include "tilewright/Layout/Notation.h"
#include "gtest/gtest.h"

using namespace tilewright;

static const IndexExpr n = IndexExpr::symbol(0), m = IndexExpr::symbol(1);

static std::string print(const IndexExpr &expr) {
  return toString(expr, IndexNames::defaults(1, 2));
}

TEST(LinearSymbolTest, SolvesForTheMultipleOfTheDivisor) {
  // Each is read, and solving for its value at n gives n again, if n is a multiple of the divisor.
  struct Form {
    IndexExpr expr;
    int64_t divisor;
  };
  for (const Form &form : {
           Form{n, 1},
           Form{n + 7, 1},
           Form{n - 7, 1},
           Form{7 - n, 1},
           Form{3 * n + 2, 1},
           Form{2 - 3 * n, 1},
           Form{(n - 5) * -2, 1},
           Form{floorDiv(n, 4), 4},
           Form{floorDiv(n, 4) * 3 + 1, 4},
           Form{9 - 5 * floorDiv(n, 2), 2},
       }) {
    std::optional<LinearSymbol> read = getLinearSymbol(form.expr);
    ASSERT_TRUE(read) << print(form.expr);
    EXPECT_EQ(read->position, 0u);
    EXPECT_EQ(read->divisor, form.divisor) << print(form.expr);
    std::vector<int64_t> values;
    for (int64_t at = 0; at < 40; at += form.divisor) {
      values.push_back(*form.expr.evaluate({}, {at, 1000}));
      EXPECT_EQ(read->solve(values.back()), at) << print(form.expr);
    }
    // Between two values next to each other lies none that has a solution.
    int64_t low = std::min(values[0], values[1]), high = std::max(values[0], values[1]);
    for (int64_t between = low + 1; between < high; ++between)
      EXPECT_EQ(read->solve(between), std::nullopt) << print(form.expr) << " = " << between;
  }
  EXPECT_EQ(getLinearSymbol(5 - m)->position, 1u);
}

TEST(LinearSymbolTest, RefusesOtherExpressions) {
  for (const IndexExpr &expr :
       {IndexExpr(5), n + m, n * n, n - m, n % 4, floorDiv(n, m), floorDiv(n, -2),
        floorDiv(2 * n, 4), floorDiv(IndexExpr::dim(0), 2), IndexExpr::dim(0) + 1, floorDiv(3, n)})
    EXPECT_FALSE(getLinearSymbol(expr)) << print(expr);
}

TEST(LinearSymbolTest, NothingOverflows) {
  EXPECT_EQ(getLinearSymbol(n)->solve(INT64_MIN), INT64_MIN);
  EXPECT_EQ(getLinearSymbol(IndexExpr(0) - n)->solve(INT64_MIN), std::nullopt);
  EXPECT_EQ(getLinearSymbol(n + 1)->solve(INT64_MIN), std::nullopt);
  EXPECT_EQ(getLinearSymbol(floorDiv(n, 4))->solve(INT64_MAX / 2), std::nullopt);
  EXPECT_FALSE(getLinearSymbol((n * INT64_MAX + 1) * 2));
}
