//===- IndexValuesTest.cpp - SSA index values as integer expressions --------------------------===//

#include "tilewright/Analysis/IndexValues.h"
#include "tilewright/Layout/Notation.h"
#include "tilewright/Tile/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::analysis;

namespace {
/// The body of a loop over (i, j) inside a function of (n, m); `%r` is translated.
class IndexValuesTest : public testing::Test {
protected:
  IndexValuesTest() {
    context.loadDialect<tile::TileDialect, arith::ArithDialect, func::FuncDialect>();
  }

  /// The printed expression of the last operation of `body`, or "none".
  std::string read(const std::string &body) {
    std::string text = "func.func @f(%n: index, %m: index, %w: i32) {\n"
                       "  %c0 = arith.constant 0 : index\n"
                       "  %c2 = arith.constant 2 : index\n"
                       "  tile.parallel (%i, %j) in (8, 8) {\n" +
                       body + "\n  }\n  return\n}";
    module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
    if (!module)
      return "does not parse";
    tile::ParallelOp loop;
    module->walk([&](tile::ParallelOp op) { loop = op; });
    IndexTranslator translator(loop);
    for (BlockArgument iterator : loop.getIterators())
      translator.addDim(iterator);
    Operation &last = *std::prev(loop.getBody().front().without_terminator().end());
    std::optional<IndexExpr> expr = translator.translate(last.getResult(0));
    return expr ? toString(*expr, IndexNames::defaults(2, 2)) : "none";
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};
} // namespace

TEST_F(IndexValuesTest, ReadsArithmeticOfIteratorsAndOuterValues) {
  EXPECT_EQ(read("%r = arith.addi %i, %j : index"), "i + j");
  EXPECT_EQ(read("%a = arith.muli %i, %c2 : index\n%r = arith.subi %a, %n : index"), "i * 2 - s0");
  EXPECT_EQ(read("%r = arith.xori %i, %j : index"), "i ^ j");
  EXPECT_EQ(read("%r = arith.minsi %i, %m : index"), "min(i, s0)");
  EXPECT_EQ(read("%r = arith.maxsi %i, %c2 : index"), "max(i, 2)");
  EXPECT_EQ(read("%r = tile.floordiv %i, %c2 : index"), "i // 2");
  EXPECT_EQ(read("%r = tile.floormod %j, %c2 : index"), "j % 2");
}

TEST_F(IndexValuesTest, NumbersOuterValuesInOrderOfFirstUse) {
  EXPECT_EQ(read("%a = arith.addi %m, %n : index\n%b = arith.addi %i, %n : index\n"
                 "%r = arith.addi %b, %m : index"),
            "i + s0 + s1");
}

TEST_F(IndexValuesTest, RefusesWhatIsNoMathematicalInteger) {
  // Machine integers wrap.
  EXPECT_EQ(read("%a = tile.cast %i from index to i32\n%r = arith.addi %a, %w : i32"), "none");
  EXPECT_EQ(read("%a = tile.cast %i from index to i32\n%r = tile.cast %a from i32 to index"),
            "none");
  // Unsigned operations read a negative index as a huge one.
  EXPECT_EQ(read("%r = tile.floordiv %i, %c2 unsigned : index"), "none");
  EXPECT_EQ(read("%r = tile.floormod %i, %c2 unsigned : index"), "none");
  // C's division is another one than the language's.
  EXPECT_EQ(read("%r = tile.truncdiv %i, %c2 : index"), "none");
}

TEST_F(IndexValuesTest, SharedSymbolsMakeExpressionsComparable) {
  ASSERT_NE(read("%a = arith.addi %i, %n : index\n%b = arith.addi %i, %m : index"), "none");
  tile::ParallelOp loop;
  module->walk([&](tile::ParallelOp op) { loop = op; });
  SmallVector<Value> sums;
  loop.walk([&](arith::AddIOp op) { sums.push_back(op); });
  auto translate = [&](Value value, SymbolNumbers *symbols) {
    IndexTranslator translator(loop, symbols);
    for (BlockArgument iterator : loop.getIterators())
      translator.addDim(iterator);
    return *translator.translate(value);
  };
  SymbolNumbers shared;
  EXPECT_FALSE(translate(sums[0], &shared) == translate(sums[1], &shared));
  EXPECT_TRUE(translate(sums[0], &shared) == translate(sums[0], &shared));
}

TEST(SeparateTest, SplitsSumsIntoDimsAndSymbols) {
  IndexExpr i = IndexExpr::dim(0), n = IndexExpr::symbol(0);
  std::optional<SeparatedExpr> parts = separate((i + n * 4) * 3 - i);
  ASSERT_TRUE(parts);
  for (int64_t iValue : {0, 5})
    for (int64_t nValue : {0, 7}) {
      EXPECT_EQ(*parts->dims.evaluate({iValue}), 2 * iValue);
      EXPECT_EQ(*parts->symbols.evaluate({}, {nValue}), 12 * nValue);
    }
  EXPECT_FALSE(separate(floorDiv(i + n, 2)));
  EXPECT_FALSE(separate(i * n));
}

TEST(SeparateTest, AgreesWithTheWholeWithTheHelpOfFacts) {
  IndexExpr i = IndexExpr::dim(0), n = IndexExpr::symbol(0), m = IndexExpr::symbol(1);
  const IndexFacts dims = IndexFacts::inExtent(8);
  IndexFacts eights = IndexFacts::multipleOf(8), any = IndexFacts::multipleOf(1);
  auto agrees = [&](const IndexExpr &expr) {
    std::optional<SeparatedExpr> parts = separate(expr, {dims}, {eights, any});
    if (!parts)
      return false;
    for (int64_t iValue = 0; iValue < 8; ++iValue)
      for (int64_t nValue : {0, 8, 40})
        for (int64_t mValue : {0, 3})
          EXPECT_EQ(*parts->dims.evaluate({iValue}) +
                        *parts->symbols.evaluate({}, {nValue, mValue}),
                    *expr.evaluate({iValue}, {nValue, mValue}));
    return true;
  };
  EXPECT_TRUE(agrees(n ^ i)); // on either side
  EXPECT_TRUE(agrees(i ^ n));
  EXPECT_TRUE(agrees((n + 2) ^ i));
  EXPECT_TRUE(agrees(i ^ (n + 2)));
  EXPECT_FALSE(agrees(i ^ m)); // bits that both may have
  EXPECT_FALSE(agrees((i + 1) ^ n));
  EXPECT_FALSE(agrees((i - 1) ^ n));
  EXPECT_FALSE(agrees((n + i) ^ m));
  EXPECT_TRUE(agrees(n ^ m)); // of symbols alone
  EXPECT_TRUE(agrees(floorDiv(i + n, 8)));
  EXPECT_TRUE(agrees((i + n + 3) % 4));
  EXPECT_FALSE(agrees((i + m) % 4));
}
