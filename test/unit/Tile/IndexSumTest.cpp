//===- IndexSumTest.cpp - sums of index values, term by term ----------------------------------===//

#include "tilewright/Tile/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace tilewright::tile;

namespace {
/// Values `x` and `y` of a function, and arithmetic on them.
class IndexSumTest : public testing::Test {
protected:
  IndexSumTest() : builder(&context), loc(builder.getUnknownLoc()) {
    context.loadDialect<arith::ArithDialect, func::FuncDialect>();
    module = ModuleOp::create(loc);
    builder.setInsertionPointToEnd(module->getBody());
    Type index = builder.getIndexType();
    auto function =
        func::FuncOp::create(builder, loc, "f", builder.getFunctionType({index, index}, {}));
    builder.setInsertionPointToStart(function.addEntryBlock());
    x = function.getArgument(0);
    y = function.getArgument(1);
  }

  Value constant(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }
  Value add(Value a, Value b) { return arith::AddIOp::create(builder, loc, a, b); }
  Value sub(Value a, Value b) { return arith::SubIOp::create(builder, loc, a, b); }
  Value mul(Value a, Value b) { return arith::MulIOp::create(builder, loc, a, b); }

  /// a - b, which must not overflow.
  IndexSum difference(Value a, Value b) {
    IndexSum sum = IndexSum::get(a);
    EXPECT_TRUE(sum.add(IndexSum::get(b), -1));
    return sum;
  }

  MLIRContext context;
  OpBuilder builder;
  Location loc;
  OwningOpRef<ModuleOp> module;
  Value x, y;
};
} // namespace

TEST_F(IndexSumTest, ConstantsAndAttributes) {
  EXPECT_EQ(IndexSum::get(constant(-7)).constant, -7);
  EXPECT_TRUE(IndexSum::get(constant(-7)).isConstant());
  EXPECT_EQ(IndexSum::get(OpFoldResult(builder.getIndexAttr(5))).constant, 5);
  EXPECT_FALSE(IndexSum::get(x).isConstant());
}

// `k * 32 : (k + 1) * 32` is a slice of 32 elements.
TEST_F(IndexSumTest, TilesOfALoopHaveAConstantSize) {
  Value start = mul(x, constant(32)), stop = mul(add(x, constant(1)), constant(32));
  IndexSum size = difference(stop, start);
  EXPECT_TRUE(size.isConstant());
  EXPECT_EQ(size.constant, 32);
}

TEST_F(IndexSumTest, TermsMeetWhereverTheyStand) {
  // 3 * (x - y + 2) + y * 3 - x = 2 * x + 6
  Value text = sub(add(mul(constant(3), add(sub(x, y), constant(2))), mul(y, constant(3))), x);
  IndexSum sum = IndexSum::get(text);
  ASSERT_EQ(sum.terms.size(), 1u);
  EXPECT_EQ(sum.terms[0].first, x);
  EXPECT_EQ(sum.terms[0].second, 2);
  EXPECT_EQ(sum.constant, 6);
}

TEST_F(IndexSumTest, ProductsOfValuesAreTermsOfTheirOwn) {
  Value product = mul(x, y);
  IndexSum sum = IndexSum::get(add(product, x));
  ASSERT_EQ(sum.terms.size(), 2u);
  EXPECT_EQ(sum.terms[0].first, product);
  EXPECT_EQ(sum.terms[1].first, x);
  // Another product of the same values is another value.
  EXPECT_FALSE(difference(mul(x, y), product).isConstant());
}

TEST_F(IndexSumTest, MachineIntegersAreNotSums) {
  Value small = arith::IndexCastOp::create(builder, loc, builder.getI8Type(), x);
  Value wraps = add(small, small);
  IndexSum sum = IndexSum::get(wraps);
  ASSERT_EQ(sum.terms.size(), 1u);
  EXPECT_EQ(sum.terms[0].first, wraps);
}

TEST_F(IndexSumTest, OverflowIsNotAValue) {
  Value huge = mul(mul(x, constant(INT64_MAX)), constant(2));
  IndexSum sum = IndexSum::get(huge);
  ASSERT_EQ(sum.terms.size(), 1u);
  EXPECT_EQ(sum.terms[0].first, huge);
  IndexSum most = IndexSum::get(constant(INT64_MAX));
  EXPECT_FALSE(most.add(IndexSum::get(constant(1))));
  IndexSum least = IndexSum::get(constant(INT64_MIN));
  IndexSum zero;
  EXPECT_FALSE(zero.add(least, -1));
}

// x doubled sixty times is 2^60 leaves, or one term and little work.
TEST_F(IndexSumTest, SharedExpressionsAreNotUnfolded) {
  Value value = x;
  for (int count = 0; count < 60; ++count)
    value = add(value, value);
  IndexSum sum = IndexSum::get(value);
  EXPECT_LE(sum.terms.size(), 256u);
  EXPECT_FALSE(sum.isConstant());
}
