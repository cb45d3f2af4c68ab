//===- ArgumentsTest.cpp - what a caller may pass, and what each refusal says -----------------===//

#include "tilewright/Runtime/Arguments.h"
#include "tilewright/Tile/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::runtime;

namespace {
class ArgumentsTest : public testing::Test {
protected:
  ArgumentsTest() {
    context.loadDialect<tile::TileDialect, arith::ArithDialect, func::FuncDialect>();
  }

  /// Sets the function that is called: its parameters, all of which it uses, and what else its
  /// body holds.
  void define(const std::string &parameters, const std::string &body = "") {
    module = parseSourceString<ModuleOp>("#global = #tile.space<global>\nfunc.func @scale(" +
                                             parameters + ") {\n" + body + "\nreturn\n}",
                                         ParserConfig(&context));
    ASSERT_TRUE(module);
    auto function = *module->getOps<func::FuncOp>().begin();
    OpBuilder builder = OpBuilder::atBlockBegin(&function.getBody().front());
    UnrealizedConversionCastOp::create(builder, function.getLoc(), builder.getIndexType(),
                                       function.getArguments());
  }

  /// A row-major tensor; its memory is never touched.
  TensorView tensor(std::vector<int64_t> shape, std::string dtype = "float32") {
    TensorView view{memory, shape, std::vector<int64_t>(shape.size()), std::move(dtype)};
    int64_t stride = 1;
    for (size_t dim = shape.size(); dim-- > 0; stride *= shape[dim])
      view.strides[dim] = stride;
    return view;
  }

  /// The refusal, or "ok"; the bound arguments are left in `bound`.
  std::string call(ArrayRef<CallArgument> arguments) {
    auto function = *module->getOps<func::FuncOp>().begin();
    llvm::Expected<std::vector<BoundArgument>> result = bindArguments(function, arguments);
    if (!result)
      return llvm::toString(result.takeError());
    bound = std::move(*result);
    return "ok";
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::vector<BoundArgument> bound;
  alignas(16) char memory[16] = {};
};

const char *const kMatrix = "%A: memref<4x8xf32, #global> {tile.name = \"A\"}";
const char *const kSymbolic =
    "%A: memref<?x8xf32, #global> {tile.name = \"A\", tile.shape = #tile.shape<\"()[n] -> (n, "
    "8)\">},"
    "%B: memref<?xf32, #global> {tile.name = \"B\", tile.shape = #tile.shape<\"()[n] -> (2 * "
    "n)\">},"
    "%C: memref<?xf32, #global> {tile.name = \"C\", tile.shape = #tile.shape<\"()[n] -> (n)\">},"
    "%n: index {tile.symbol = \"n\"}";
} // namespace

TEST_F(ArgumentsTest, ATensorThatFits) {
  define(kMatrix);
  ASSERT_EQ(call({tensor({4, 8})}), "ok");
  const auto &first = std::get<BoundTensor>(bound[0]);
  EXPECT_EQ(first.data, memory);
  EXPECT_EQ(first.shape, (SmallVector<int64_t>{4, 8}));
  EXPECT_TRUE(first.elementType.isF32());
}

TEST_F(ArgumentsTest, Count) {
  define(std::string(kMatrix) + ", %x: f32 {tile.name = \"x\"}");
  EXPECT_EQ(call({tensor({4, 8})}), "'scale' takes 2 arguments (A, x), got 1");
  EXPECT_EQ(call({}), "'scale' takes 2 arguments (A, x), got 0");
}

TEST_F(ArgumentsTest, Kind) {
  define(std::string(kMatrix) + ", %x: f32 {tile.name = \"x\"}");
  EXPECT_EQ(call({int64_t(3), 1.0}),
            "parameter 'A': expected a tensor of shape (4, 8), got a number");
  EXPECT_EQ(call({tensor({4, 8}), tensor({1})}),
            "parameter 'x': expected a number, got a tensor of shape (1,)");
}

TEST_F(ArgumentsTest, DType) {
  define(kMatrix);
  EXPECT_EQ(call({tensor({4, 8}, "float16")}),
            "parameter 'A': expected dtype float32, got float16");
  define("%A: memref<4xtf32, #global> {tile.name = \"A\"}");
  EXPECT_EQ(call({tensor({4}, "float32")}), "ok"); // tfloat32 is stored as float32
  define("%A: memref<4xui8, #global> {tile.name = \"A\"}");
  EXPECT_EQ(call({tensor({4}, "int8")}), "parameter 'A': expected dtype uint8, got int8");
}

TEST_F(ArgumentsTest, Rank) {
  define(kMatrix);
  EXPECT_EQ(call({tensor({32})}),
            "parameter 'A': expected rank 2, shape (4, 8), got rank 1, shape (32,)");
  define("%A: memref<f32, #global> {tile.name = \"A\"}");
  EXPECT_EQ(call({tensor({})}), "ok");
  EXPECT_EQ(call({tensor({1})}),
            "parameter 'A': expected rank 0, shape (), got rank 1, shape (1,)");
}

TEST_F(ArgumentsTest, Shape) {
  define(kMatrix);
  EXPECT_EQ(call({tensor({4, 9})}),
            "parameter 'A': expected shape (4, 8), got (4, 9) (dimension 1 should be 8)");
}

TEST_F(ArgumentsTest, Strides) {
  define(kMatrix);
  TensorView transposed = tensor({4, 8});
  transposed.strides = {1, 4};
  EXPECT_EQ(call({transposed}),
            "parameter 'A': expected a contiguous (row-major) tensor, got strides (1, 4) for shape "
            "(4, 8); pass a contiguous copy");
  // A dimension of extent 1, and an empty tensor, may have any stride.
  define("%A: memref<1x8xf32, #global> {tile.name = \"A\"}");
  TensorView row = tensor({1, 8});
  row.strides = {100, 1};
  EXPECT_EQ(call({row}), "ok");
  define("%A: memref<0x8xf32, #global> {tile.name = \"A\"}");
  TensorView empty = tensor({0, 8});
  empty.strides = {7, 7};
  empty.data = nullptr;
  EXPECT_EQ(call({empty}), "ok");
}

TEST_F(ArgumentsTest, DeclaredStrides) {
  const std::string strided = "xf32, #global> {tile.name = \"A\", tile.strides = "
                              "#tile.shape<\"() -> (16, 1)\">}";
  define("%A: memref<4x8" + strided);
  EXPECT_EQ(call({tensor({4, 8})}),
            "parameter 'A': stride 0: expected 16, got 8 in strides (8, 1) for shape (4, 8)");
  TensorView dense = tensor({4, 8}); // of which nothing is said
  dense.strides.clear();
  EXPECT_EQ(call({dense}), "ok");
  // 3 * 2^62 is none that a number holds.
  define("%A: memref<?x8xf32, #global> {tile.name = \"A\", tile.shape = #tile.shape<\"()[n] -> (n, "
         "8)\">, tile.strides = #tile.shape<\"()[n] -> (4611686018427387904 * n, 1)\">}, %n: index "
         "{tile.symbol = \"n\"}");
  EXPECT_EQ(call({tensor({3, 8})}),
            "parameter 'A': stride 0: expected a number of 64 bits, got 8 in "
            "strides (8, 1) for shape (3, 8)");
  // A dimension of extent 1 may have any stride here, too.
  define("%A: memref<1x8" + strided);
  TensorView row = tensor({1, 8});
  row.strides = {100, 1};
  EXPECT_EQ(call({row}), "ok");
}

TEST_F(ArgumentsTest, Data) {
  define(kMatrix);
  TensorView view = tensor({4, 8});
  view.data = nullptr;
  EXPECT_EQ(call({view}), "parameter 'A': the tensor has no data");
}

TEST_F(ArgumentsTest, ReadOnlyTensors) {
  TensorView view = tensor({4, 8});
  view.isWritable = false;
  define(kMatrix);
  EXPECT_EQ(call({view}), "ok");
  define(kMatrix, R"(
    %x = arith.constant 1.0 : f32
    %s = tile.slice %A[0, 0] [2, 8] [1, 1] : memref<4x8xf32, #global> to memref<2x8xf32, #global>
    tile.fill %x, %s : f32, memref<2x8xf32, #global>)");
  EXPECT_EQ(call({view}),
            "parameter 'A': the kernel writes it, got a read-only tensor; pass a writable copy");
  view.isWritable = true;
  EXPECT_EQ(call({view}), "ok");
}

TEST_F(ArgumentsTest, SymbolsComeFromShapes) {
  define(kSymbolic);
  ASSERT_EQ(call({tensor({3, 8}), tensor({6}), tensor({3})}), "ok");
  ASSERT_EQ(bound.size(), 4u);
  EXPECT_EQ(std::get<int64_t>(bound[3]), 3);
  ASSERT_EQ(call({tensor({0, 8}), tensor({0}), tensor({0})}), "ok");
  EXPECT_EQ(std::get<int64_t>(bound[3]), 0);
}

TEST_F(ArgumentsTest, TheFirstTensorAloneGivesASymbol) {
  define("%A: memref<?x8xf32, #global> {tile.name = \"A\", tile.shape = #tile.shape<\"()[n] -> (n, "
         "8)\">}, %n: index {tile.symbol = \"n\"}");
  ASSERT_EQ(call({tensor({3, 8})}), "ok");
  EXPECT_EQ(std::get<int64_t>(bound[1]), 3);
}

TEST_F(ArgumentsTest, SymbolsHaveOneValue) {
  define(kSymbolic);
  EXPECT_EQ(
      call({tensor({3, 8}), tensor({6}), tensor({4})}),
      "parameter 'C': dimension 0: expected n = 3 (from 'A' dimension 0), got 4 in shape (4,)");
}

TEST_F(ArgumentsTest, ExtentsAreComputedFromSymbols) {
  define(kSymbolic);
  EXPECT_EQ(call({tensor({3, 8}), tensor({7}), tensor({3})}),
            "parameter 'B': expected shape (2 * n,), got (7,) (dimension 0 should be 6)");
  EXPECT_EQ(call({tensor({3, 9}), tensor({6}), tensor({3})}),
            "parameter 'A': expected shape (n, 8), got (3, 9) (dimension 1 should be 8)");
}

TEST_F(ArgumentsTest, ASymbolThatNoTensorGives) {
  define("%n: index {tile.symbol = \"n\"}");
  EXPECT_EQ(call({}), "the shape symbol 'n' has no value: the kernel uses it, and the tensors that "
                      "would give it are None");
}

TEST_F(ArgumentsTest, HugeExtents) {
  define(
      "%A: memref<?xf32, #global> {tile.name = \"A\", tile.shape = #tile.shape<\"()[n] -> (n)\">},"
      "%B: memref<?xf32, #global> {tile.name = \"B\", tile.shape = "
      "#tile.shape<\"()[n] -> (n * n * n)\">}, %n: index {tile.symbol = \"n\"}");
  EXPECT_EQ(call({tensor({int64_t(1) << 40}), tensor({1})}),
            "parameter 'B': dimension 0 is too large to compute");
}

TEST_F(ArgumentsTest, Scalars) {
  define(
      "%a: i8 {tile.name = \"a\", tile.dtype = ui8}, %b: i8 {tile.name = \"b\", tile.dtype = i8},"
      "%c: f32 {tile.name = \"c\", tile.dtype = f32}, %d: i1 {tile.name = \"d\", tile.dtype = i1}");
  ASSERT_EQ(call({int64_t(255), int64_t(-128), int64_t(3), true}), "ok");
  EXPECT_EQ(std::get<int64_t>(bound[0]), 255);
  EXPECT_EQ(std::get<int64_t>(bound[1]), -128);
  EXPECT_EQ(std::get<double>(bound[2]), 3.0);
  EXPECT_EQ(std::get<int64_t>(bound[3]), 1);
  EXPECT_EQ(call({int64_t(256), int64_t(0), 0.5, true}),
            "parameter 'a': the number 256 does not fit uint8");
  EXPECT_EQ(call({int64_t(-1), int64_t(0), 0.5, true}),
            "parameter 'a': the number -1 does not fit uint8");
  EXPECT_EQ(call({int64_t(0), int64_t(128), 0.5, true}),
            "parameter 'b': the number 128 does not fit int8");
  EXPECT_EQ(call({int64_t(0), 1.5, 0.5, true}), "parameter 'b': expected int8, got a float");
  EXPECT_EQ(call({int64_t(0), int64_t(0), 0.5, int64_t(2)}),
            "parameter 'd': the number 2 does not fit bool");
  EXPECT_EQ(call({~uint64_t(0), int64_t(0), 0.5, true}),
            "parameter 'a': the number 18446744073709551615 does not fit uint8");
  EXPECT_EQ(call({int64_t(0), ~uint64_t(0), 0.5, true}),
            "parameter 'b': the number 18446744073709551615 does not fit int8");
}

TEST_F(ArgumentsTest, ScalarsOf64Bits) {
  define("%a: i64 {tile.name = \"a\", tile.dtype = ui64},"
         "%b: i64 {tile.name = \"b\", tile.dtype = i64}");
  ASSERT_EQ(call({~uint64_t(0), int64_t(-1)}), "ok");
  EXPECT_EQ(std::get<int64_t>(bound[0]), -1);
  EXPECT_EQ(call({int64_t(-1), int64_t(0)}), "parameter 'a': the number -1 does not fit uint64");
  EXPECT_EQ(call({int64_t(0), uint64_t(1) << 63}),
            "parameter 'b': the number 9223372036854775808 does not fit int64");
}

TEST_F(ArgumentsTest, LayoutsMustFitTheArray) {
  define(kMatrix, "tile.annotate_layout %A : memref<4x8xf32, #global> is "
                  "#tile.layout<[4, 8], \"(i, j) -> (j, i)\">");
  EXPECT_EQ(call({tensor({4, 8})}), "ok");
  define(kMatrix, "tile.annotate_layout %A : memref<4x8xf32, #global> is "
                  "#tile.layout<[4, 8], \"(i, j) -> (16 * i + j)\">");
  EXPECT_EQ(
      call({tensor({4, 8})}),
      "parameter 'A': its layout (i, j) -> (16 * i + j) needs 56 elements, the tensor has 32");
}
