//===- SubscriptsTest.cpp - elements and regions of buffers -----------------------------------===//

#include "tilewright/Frontend/DTypes.h"
#include "tilewright/Frontend/Trace.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::frontend;

namespace {
/// A kernel with a tensor 'A' (64 x 128), a tensor 'D' (n x 16) and a tile 's' (8 x 16).
class SubscriptsTest : public testing::Test {
protected:
  SubscriptsTest() {
    Type f32 = parseDType("float32", trace.getContext());
    tensor = trace.signature.addTensor("A", {IndexExpr(64), IndexExpr(128)}, f32);
    dynamic =
        trace.signature.addTensor("D", {IndexExpr::symbol(internSymbol("n")), IndexExpr(16)}, f32);
    block = trace.controlFlow.kernelBegin({number(4)}, {128}).front();
    tile = trace.buffers.allocTile("s", {IndexExpr(8), IndexExpr(16)}, f32, tile::Space::Shared,
                                   std::nullopt);
  }

  static Operand number(int64_t value) { return Literal::ofInt(value); }
  static Slice range(std::optional<Operand> start, std::optional<Operand> stop,
                     std::optional<Operand> step = std::nullopt) {
    return {start, stop, step};
  }
  static Slice all() { return {}; }

  /// `64 x ?` of a region, `element` of an element, or the message of the refusal.
  std::string subscript(const Buffer &buffer, ArrayRef<Subscript> entries) {
    try {
      std::variant<Buffer, Element> result = trace.buffers.subscript(buffer, entries);
      if (std::holds_alternative<Element>(result)) {
        element = std::get<Element>(result);
        trace.scalars.read(*element);
        return "element";
      }
      region = std::get<Buffer>(result);
      return tile::describeShape(cast<MemRefType>(region->value.getType()).getShape());
    } catch (const UserError &error) {
      return error.message;
    }
  }

  std::string copy(const TileOperand &source, const TileOperand &dest) {
    try {
      trace.statements.copy(source, dest, std::nullopt, nullptr,
                            DictionaryAttr::get(trace.getContext()));
      return "ok";
    } catch (const UserError &error) {
      return error.message;
    }
  }

  Trace trace{"f", {"kernel.py", 1, 1}};
  Buffer tensor, dynamic, tile;
  Scalar block;
  std::optional<Buffer> region;
  std::optional<Element> element;
};
} // namespace

TEST_F(SubscriptsTest, AllIndicesAreAnElement) {
  EXPECT_EQ(subscript(tensor, {Operand(block), number(3)}), "element");
  EXPECT_EQ(subscript(tile, {number(7), number(15)}), "element");
}

TEST_F(SubscriptsTest, AnIndexDropsItsDimension) {
  EXPECT_EQ(subscript(tensor, {number(3)}), "128");
  EXPECT_EQ(subscript(tensor, {number(3), all()}), "128");
  EXPECT_EQ(subscript(tensor, {all(), number(3)}), "64");
}

TEST_F(SubscriptsTest, MissingEntriesTakeAll) {
  EXPECT_EQ(subscript(tensor, {}), "64 x 128");
  EXPECT_EQ(subscript(tensor, {range(number(8), number(24))}), "16 x 128");
  EXPECT_EQ(subscript(dynamic, {}), "? x 16");
}

TEST_F(SubscriptsTest, NegativeNumbersCountFromTheEnd) {
  EXPECT_EQ(subscript(tile, {number(-8), number(-1)}), "element");
  EXPECT_EQ(subscript(tile, {range(number(-3), std::nullopt)}), "3 x 16");
  EXPECT_EQ(subscript(tile, {range(std::nullopt, number(-2))}), "6 x 16");
  EXPECT_EQ(subscript(tile, {number(-9), number(0)}),
            "index -1 is out of bounds for dimension 0 of 's' (8 x 16 float32)");
}

// `k * 32 : (k + 1) * 32` is 32 elements wherever k is.
TEST_F(SubscriptsTest, TheSizeOfARegionIsAnExactDifference) {
  Scalar start = trace.arithmetic.binary(BinaryKind::Mul, block, number(32));
  Scalar next = trace.arithmetic.binary(BinaryKind::Add, block, number(1));
  Scalar stop = trace.arithmetic.binary(BinaryKind::Mul, next, number(32));
  EXPECT_EQ(subscript(tensor, {range(start, stop)}), "32 x 128");
  EXPECT_EQ(subscript(tensor, {range(start, stop, number(5))}), "7 x 128");
  EXPECT_EQ(subscript(tensor, {range(number(0), block)}), "? x 128");
  EXPECT_EQ(subscript(tensor, {range(stop, start)}),
            "slice of 'A' in dimension 0 has size -32: it ends before it starts");
}

TEST_F(SubscriptsTest, SizesOfDynamicTensorsFollowTheirSymbols) {
  EXPECT_EQ(subscript(dynamic, {range(number(2), std::nullopt)}), "? x 16");
  IndexExpr n = IndexExpr::symbol(internSymbol("n"));
  EXPECT_EQ(subscript(dynamic, {range(Operand(n - 4), Operand(n))}), "4 x 16");
}

TEST_F(SubscriptsTest, StepsArePositiveConstants) {
  EXPECT_EQ(subscript(tensor, {range(std::nullopt, std::nullopt, number(2))}), "32 x 128");
  EXPECT_EQ(subscript(tensor, {range(number(1), number(10), number(4))}), "3 x 128");
  for (Operand step : {number(0), number(-1), Operand(block)})
    EXPECT_EQ(subscript(tensor, {range(number(0), number(8), step)}),
              "slice of 'A': the step must be a positive constant");
}

TEST_F(SubscriptsTest, OnChipTilesRefuseWhatLeavesThem) {
  EXPECT_EQ(subscript(tile, {range(number(4), number(9))}),
            "slice 4:9 is out of bounds for dimension 0 of 's' (8 x 16 float32)");
  EXPECT_EQ(subscript(tile, {number(0), number(16)}),
            "index 16 is out of bounds for dimension 1 of 's' (8 x 16 float32)");
  // A global tensor has a meaning outside.
  EXPECT_EQ(subscript(tensor, {range(number(60), number(70))}), "10 x 128");
  EXPECT_EQ(subscript(tensor, {number(64), number(0)}), "element");
}

TEST_F(SubscriptsTest, WrongEntriesAreRefused) {
  EXPECT_EQ(subscript(tensor, {number(0), number(0), number(0)}),
            "'A' has 2 dimensions, got 3 indices");
  EXPECT_EQ(subscript(tensor, {Operand(Literal::ofFloat(1.5)), number(0)}),
            "index of 'A': expected an integer, got a float");
  Scalar real = trace.arithmetic.cast(block, parseDType("float16", trace.getContext()));
  EXPECT_EQ(subscript(tensor, {Operand(real), number(0)}),
            "index of 'A': expected an integer, got float16; convert with 'T.cast'");
}

// A side of a copy that is only an element takes the extents of the other side.
TEST_F(SubscriptsTest, AnElementStandsForTheRegionThatStartsThere) {
  ASSERT_EQ(subscript(tensor, {number(8), number(16)}), "element");
  EXPECT_EQ(copy(*element, tile), "ok");
  EXPECT_EQ(copy(tile, *element), "ok");
  ASSERT_EQ(subscript(tensor, {number(8)}), "128");
  EXPECT_EQ(copy(*region, tile), "'T.copy': expected equal extents, got 'A' (128 float32) and 's' "
                                 "(8 x 16 float32)");
}

TEST_F(SubscriptsTest, ExtentsOfTheOtherSideMustFitTheRank) {
  Type f32 = parseDType("float32", trace.getContext());
  Buffer cube = trace.buffers.allocTile("cube", {IndexExpr(2), IndexExpr(8), IndexExpr(16)}, f32,
                                        tile::Space::Shared, std::nullopt);
  Buffer flat = trace.buffers.allocTile("flat", {IndexExpr(1), IndexExpr(8), IndexExpr(16)}, f32,
                                        tile::Space::Shared, std::nullopt);
  ASSERT_EQ(subscript(tensor, {number(8), number(16)}), "element");
  EXPECT_EQ(copy(*element, flat), "ok"); // a leading unit extent does not count
  EXPECT_EQ(copy(*element, cube), "'T.copy': 'cube' has rank 3, 'A' has only 2 dimensions");
}

TEST_F(SubscriptsTest, ValuesOfAnotherKernelAreRefused) {
  Trace other("g", {"kernel.py", 1, 1});
  Type f32 = parseDType("float32", other.getContext());
  Buffer foreign = other.signature.addTensor("B", {IndexExpr(8)}, f32);
  EXPECT_EQ(
      subscript(foreign, {number(0)}),
      "a value of another kernel is used here; values live only while their kernel is traced");
}

// A manual schedule is checked when the body is complete.
TEST_F(SubscriptsTest, SchedulesAreCheckedAtTheEndOfTheLoop) {
  SmallVector<int64_t> order{0, 1}, stage{0, 1};
  trace.controlFlow.pipelinedBegin(number(0), number(4), 2, ArrayRef(order), ArrayRef(stage));
  trace.statements.fill(tile, number(0));
  try {
    trace.regions.end();
    FAIL();
  } catch (const UserError &error) {
    EXPECT_EQ(error.message, "'order' of 'T.Pipelined' has 2 entries, the body has 1 statements");
  }
}

TEST_F(SubscriptsTest, PrintedValuesStayInTheProgram) {
  trace.statements.print("here", std::monostate());
  trace.statements.print("block", Operand(block));
  trace.regions.end();
  std::string text = trace.finish(/*fastMath=*/false)->getText(/*withLocations=*/false);
  EXPECT_NE(text.find("tile.print \"here\""), std::string::npos);
  EXPECT_NE(text.find("tile.print \"block\""), std::string::npos);
}
