//===- EffectsTest.cpp - what an op may do to a buffer ---------------------------------------===//

#include "tilewright/Tile/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace tilewright::tile;

namespace {
class EffectsTest : public testing::Test {
protected:
  EffectsTest() {
    context.loadDialect<TileDialect, arith::ArithDialect, func::FuncDialect>();
    module = parseSourceString<ModuleOp>(R"(
      #global = #tile.space<global>
      func.func private @unknown()
      func.func @kernel(%read: memref<8xf32, #global>, %written: memref<8xf32, #global>,
                        %summed: memref<8xf32, #global>, %unused: memref<8xf32, #global>,
                        %n: index) {
        tile.kernel (%b) in (%n) threads [32] {
          %x = tile.load %read[%b] : memref<8xf32, #global>
          tile.store %x, %written[%b] : memref<8xf32, #global>
          %p = tile.atomic_element add %x, %summed[%b] : memref<8xf32, #global>
        }
        return
      }
      func.func @caller(%unused: memref<8xf32, #global>) {
        func.call @unknown() : () -> ()
        return
      })",
                                         &context);
  }

  func::FuncOp get(StringRef name) { return module->lookupSymbol<func::FuncOp>(name); }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};
} // namespace

/// A whole function is asked too: that is how a call learns which arguments it changes.
TEST_F(EffectsTest, OfFunctionsAndKernels) {
  ASSERT_TRUE(module);
  func::FuncOp function = get("kernel");
  for (Operation *op : {function.getOperation(), &function.front().front()}) {
    EXPECT_TRUE(mayRead(op, function.getArgument(0)) && !mayWrite(op, function.getArgument(0)));
    EXPECT_TRUE(!mayRead(op, function.getArgument(1)) && mayWrite(op, function.getArgument(1)));
    EXPECT_TRUE(mayRead(op, function.getArgument(2)) && mayWrite(op, function.getArgument(2)));
    EXPECT_TRUE(!mayRead(op, function.getArgument(3)) && !mayWrite(op, function.getArgument(3)));
  }
}

TEST_F(EffectsTest, UnknownMeansBoth) {
  ASSERT_TRUE(module);
  func::FuncOp function = get("caller");
  EXPECT_FALSE(getEffects(function).has_value());
  EXPECT_TRUE(mayRead(function, function.getArgument(0)));
  EXPECT_TRUE(mayWrite(function, function.getArgument(0)));
}
