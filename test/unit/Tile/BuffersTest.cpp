//===- BuffersTest.cpp - what a buffer is, and how messages speak of it -----------------------===//

#include "tilewright/Tile/Tile.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace tilewright::tile;

namespace {
class BuffersTest : public testing::Test {
protected:
  BuffersTest() : builder(&context) {
    context.loadDialect<TileDialect, arith::ArithDialect, func::FuncDialect>();
  }

  OwningOpRef<ModuleOp> parse(StringRef text, bool verify = true) {
    OwningOpRef<ModuleOp> module =
        parseSourceString<ModuleOp>(text, ParserConfig(&context, /*verifyAfterParse=*/verify));
    EXPECT_TRUE(module);
    return module;
  }

  MLIRContext context;
  Builder builder;
};
} // namespace

TEST_F(BuffersTest, ElementTypesOfTheLanguage) {
  for (const char *name : {"i1", "i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64", "f16",
                           "bf16", "f32", "f64", "tf32", "f8E4M3FN", "f8E5M2"})
    EXPECT_TRUE(isElementType(parseType(name, &context))) << name;
  for (const char *name : {"ui1", "si8", "i7", "i128", "f128", "f8E5M2FNUZ", "index", "none",
                           "vector<4xf32>", "complex<f32>"})
    EXPECT_FALSE(isElementType(parseType(name, &context))) << name;
}

TEST_F(BuffersTest, ScalarsAreSignless) {
  EXPECT_EQ(getScalarType(parseType("ui16", &context)), builder.getI16Type());
  EXPECT_EQ(getScalarType(builder.getI16Type()), builder.getI16Type());
  EXPECT_EQ(getScalarType(builder.getBF16Type()), builder.getBF16Type());
  EXPECT_TRUE(isScalarType(builder.getIndexType()));
  EXPECT_FALSE(isScalarType(parseType("ui16", &context)));
}

TEST_F(BuffersTest, OnlyScalarVariablesHoldAnIndex) {
  auto isBuffer = [&](StringRef text) { return isBufferType(parseType(text, &context)); };
  EXPECT_TRUE(isBuffer("memref<4xf32, #tile.space<shared>>"));
  EXPECT_TRUE(isBuffer("memref<index, #tile.space<local>>"));
  EXPECT_FALSE(isBuffer("memref<index, #tile.space<shared>>"));
  EXPECT_FALSE(isBuffer("memref<1xindex, #tile.space<local>>"));
  EXPECT_FALSE(isBuffer("memref<4xf32>"));
  EXPECT_FALSE(isBuffer("memref<4xf32, 3>"));
  EXPECT_FALSE(isBuffer("memref<4xf32, strided<[2]>, #tile.space<shared>>"));
  EXPECT_FALSE(isBuffer("memref<*xf32, #tile.space<shared>>"));
  EXPECT_FALSE(isBuffer("f32"));
}

TEST_F(BuffersTest, StorageOfElements) {
  auto bytes = [&](StringRef name) { return getStorageBytes(parseType(name, &context)); };
  EXPECT_EQ(bytes("i1"), 1);
  EXPECT_EQ(bytes("ui8"), 1);
  EXPECT_EQ(bytes("f8E5M2"), 1);
  EXPECT_EQ(bytes("bf16"), 2);
  EXPECT_EQ(bytes("tf32"), 4);
  EXPECT_EQ(bytes("f64"), 8);
  EXPECT_EQ(bytes("index"), 8);
}

TEST_F(BuffersTest, StorageOfBuffersDoesNotOverflow) {
  auto bytes = [&](ArrayRef<int64_t> shape) {
    return getStorageBytes(makeBufferType(shape, builder.getF32Type(), Space::Global));
  };
  EXPECT_EQ(bytes({}), 4);
  EXPECT_EQ(bytes({8, 16}), 512);
  EXPECT_EQ(bytes({0, 16}), 0);
  EXPECT_EQ(bytes({INT64_MAX}), std::nullopt);
  EXPECT_EQ(bytes({int64_t(1) << 31, int64_t(1) << 31}), std::nullopt);
}

TEST_F(BuffersTest, WordsOfMessages) {
  EXPECT_EQ(describeShape({}), "scalar");
  EXPECT_EQ(describeShape({64, ShapedType::kDynamic, 1}), "64 x ? x 1");
  EXPECT_EQ(describeElementType(parseType("ui8", &context)), "uint8");
  EXPECT_EQ(describeElementType(parseType("i1", &context)), "bool");
  EXPECT_EQ(describeElementType(parseType("f8E4M3FN", &context)), "float8_e4m3fn");
  EXPECT_EQ(describeElementType(parseType("vector<2xf32>", &context)), "vector<2xf32>");
}

TEST_F(BuffersTest, ShapesThatFit) {
  constexpr int64_t any = ShapedType::kDynamic;
  EXPECT_TRUE(areCompatibleShapes({4, any}, {any, 8}));
  EXPECT_FALSE(areCompatibleShapes({4, 8}, {4, 9}));
  EXPECT_FALSE(areCompatibleShapes({4}, {4, 1}));
  EXPECT_EQ(dropUnitExtents({1, 4, 1, any, 1}), (SmallVector<int64_t>{4, any}));
}

TEST_F(BuffersTest, RootAndNameOfAPart) {
  OwningOpRef<ModuleOp> module = parse(R"(
    func.func @f(%A: memref<8x4xf32, #tile.space<global>> {tile.name = "A"}) {
      %v = tile.view %A : memref<8x4xf32, #tile.space<global>> to memref<32xf32, #tile.space<global>>
      %s = tile.slice %v[0] [4] [2]
          : memref<32xf32, #tile.space<global>> to memref<4xf32, #tile.space<global>>
      return
    })");
  SliceOp slice;
  module->walk([&](SliceOp op) { slice = op; });
  auto function = *module->getOps<func::FuncOp>().begin();
  EXPECT_EQ(getRoot(slice), function.getArgument(0));
  EXPECT_EQ(getName(slice), "A");
  EXPECT_EQ(describe(slice), "'A' (4 float32)");
  EXPECT_TRUE(isOwnBuffer(getRoot(slice)));
  EXPECT_FALSE(isOwnBuffer(slice));
}

// Dominance is verified after the ops, and unreachable code has none: views may form a circle.
TEST_F(BuffersTest, RootOfACircleOfViewsIsFound) {
  OwningOpRef<ModuleOp> module = parse(R"(
    func.func @f() {
      return
    ^bb1:
      %a = tile.view %b : memref<4xf32, #tile.space<global>> to memref<2x2xf32, #tile.space<global>>
      %b = tile.view %a : memref<2x2xf32, #tile.space<global>> to memref<4xf32, #tile.space<global>>
      return
    })");
  int count = 0;
  module->walk([&](ViewOp view) {
    EXPECT_TRUE(getRoot(view).getDefiningOp<ViewOp>());
    EXPECT_EQ(getName(view), "");
    EXPECT_FALSE(isOwnBuffer(getRoot(view)));
    ++count;
  });
  EXPECT_EQ(count, 2);
}

// A block that is not the entry has arguments of its own, which carry no names.
TEST_F(BuffersTest, ArgumentsOfOtherBlocksAreNotTheFunctions) {
  OwningOpRef<ModuleOp> module = parse(R"(
    func.func @f(%A: memref<4xf32, #tile.space<global>> {tile.name = "A"}) {
      return
    ^bb1(%x: f32, %B: memref<4xf32, #tile.space<global>>):
      tile.fill %x, %B : f32, memref<4xf32, #tile.space<global>>
      return
    })");
  module->walk([&](FillOp fill) {
    EXPECT_EQ(getName(fill.getDest()), "");
    EXPECT_FALSE(isOwnBuffer(fill.getDest()));
    EXPECT_FALSE(getEffects(fill)); // it may be A
  });
}
