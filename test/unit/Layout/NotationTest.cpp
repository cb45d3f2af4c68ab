//===- NotationTest.cpp ---------------------------------------------------------------------===//

#include "tilewright/Layout/Notation.h"
#include "RandomLayouts.h"
#include "gtest/gtest.h"

using namespace tilewright;
using namespace tilewright::test;

static const IndexExpr i = IndexExpr::dim(0);
static const IndexExpr j = IndexExpr::dim(1);
static const IndexNames kNames = IndexNames::defaults(2, 1);

static std::string errorOf(llvm::StringRef text) {
  llvm::Expected<ParsedMap> map = parseIndexMap(text);
  return map ? "no error" : llvm::toString(map.takeError());
}

static std::string placementErrorOf(llvm::StringRef text) {
  llvm::Expected<ParsedPlacement> placement = parseIndexPlacement(text);
  return placement ? "no error" : llvm::toString(placement.takeError());
}

TEST(NotationTest, PrintsFewParentheses) {
  EXPECT_EQ(toString(j ^ (4 * (i % 8)), kNames), "j ^ 4 * (i % 8)");
  EXPECT_EQ(toString((j ^ 4) * (i % 8), kNames), "(j ^ 4) * (i % 8)");
  EXPECT_EQ(toString(4 * (i % 8) + floorDiv(j % 8, 2), kNames), "4 * (i % 8) + j % 8 // 2");
  EXPECT_EQ(toString(i - (j - i), kNames), "i - (j - i)");
  EXPECT_EQ(toString(i - j - i, kNames), "i - j - i");
  EXPECT_EQ(toString(i + (j + i), kNames), "i + (j + i)"); // keeps the structure
  EXPECT_EQ(toString(minOf(i, j + 1) * 2, kNames), "min(i, j + 1) * 2");
}

TEST(NotationTest, ListsOfNamesMayBeEmpty) {
  llvm::Expected<ParsedMap> map = parseIndexMap("()[n] -> (n, 3)");
  ASSERT_TRUE(bool(map));
  EXPECT_EQ(map->outputs.size(), 2u);
  EXPECT_EQ(errorOf("(i)[] -> (i)"), "no error");
  llvm::Expected<Layout> cut = parseLayout("(i -> (i)", {4});
  EXPECT_FALSE(bool(cut));
  EXPECT_EQ(llvm::toString(cut.takeError()), errorOf("(i -> (i)"));
}

TEST(NotationTest, PrintsNegativeNumbers) {
  EXPECT_EQ(toString(-4 * i, kNames), "-4 * i");
  EXPECT_EQ(toString(0 - i, kNames), "-i");
  EXPECT_EQ(toString(0 - (i + j), kNames), "-(i + j)");
  EXPECT_EQ(toString((0 - i) * j, kNames), "-i * j");
  EXPECT_EQ(toString(j - 4 * (0 - i), kNames), "j - 4 * -i");
  EXPECT_EQ(toString(IndexExpr(std::numeric_limits<int64_t>::min()), kNames),
            "-9223372036854775808");
}

TEST(NotationTest, ReadsPythonPrecedence) {
  auto read = [](llvm::StringRef text) { return llvm::cantFail(parseIndexExpr(text, kNames)); };
  EXPECT_EQ(read("j ^ (4 * (i % 8))"), read("j ^ 4 * (i % 8)"));
  EXPECT_EQ(read("i + j % 8 // 2"), i + floorDiv(j % 8, 2));
  EXPECT_EQ(read("i ^ j + 1"), i ^ (j + 1));
  EXPECT_EQ(read("-7 // 2"), IndexExpr(-4));
  EXPECT_EQ(read("-i // 2"), floorDiv(0 - i, 2));
  EXPECT_EQ(read(" max( i ,j)*s0 "), maxOf(i, j) * IndexExpr::symbol(0));
}

TEST(NotationTest, ReadsMapsAndPlacements) {
  ParsedMap map = llvm::cantFail(parseIndexMap("(b, l)[n] -> (b * n, l // 8)"));
  EXPECT_EQ(map.names.dims, (llvm::SmallVector<std::string, 4>{"b", "l"}));
  EXPECT_EQ(map.names.symbols, (llvm::SmallVector<std::string, 2>{"n"}));
  ASSERT_EQ(map.outputs.size(), 2u);
  EXPECT_EQ(map.outputs[0], i * IndexExpr::symbol(0));
  EXPECT_EQ(map.outputs[1], floorDiv(j, 8));

  ParsedPlacement placement =
      llvm::cantFail(parseIndexPlacement("(x) rep copy of 4 -> thread 4 * x + copy, slot 0"));
  EXPECT_EQ(placement.replicas, 4);
  EXPECT_EQ(placement.thread, 4 * i + j);
  EXPECT_EQ(placement.slot, IndexExpr(0));
}

TEST(NotationTest, MessagesNameColumnExpectationAndToken) {
  EXPECT_EQ(errorOf("(i, j) -> (i, k)"),
            "in '(i, j) -> (i, k)', column 15: expected one of the names i, j, got 'k'");
  EXPECT_EQ(errorOf("(i, j) - (i)"), "in '(i, j) - (i)', column 8: expected '->', got '-'");
  EXPECT_EQ(errorOf("(i, i) -> (i)"),
            "in '(i, i) -> (i)', column 5: expected a name not used before, got 'i'");
  EXPECT_EQ(errorOf("(i) -> (i / 2)"),
            "in '(i) -> (i / 2)', column 11: expected '//' in place of '/', got '/'");
  EXPECT_EQ(errorOf("(i) -> (i +)"),
            "in '(i) -> (i +)', column 12: expected a number, a name or '(', got ')'");
  EXPECT_EQ(errorOf("(i) -> (i"),
            "in '(i) -> (i', column 10: expected an operator, ',' or ')', got the end");
  EXPECT_EQ(errorOf("(i) -> (i -> 1)"),
            "in '(i) -> (i -> 1)', column 11: expected an operator, ',' or ')', got '-'");
  EXPECT_EQ(errorOf("(i) -> (i) x"), "in '(i) -> (i) x', column 12: expected the end, got 'x'");
  EXPECT_EQ(errorOf("(i) -> (99999999999999999999)"),
            "in '(i) -> (99999999999999999999)', column 9: expected a number that fits in 64 bits, "
            "got '99999999999999999999'");
  EXPECT_EQ(errorOf("(i) -> (2i)"),
            "in '(i) -> (2i)', column 10: expected an operator after the number 2, got 'i'");
  EXPECT_EQ(errorOf(""), "in '', column 1: expected '(', got the end");
  EXPECT_EQ(
      placementErrorOf("(i) rep i of 2 -> thread i, slot 0"),
      "in '(i) rep i of 2 -> thread i, slot 0', column 9: expected a new name for the replica "
      "index, got 'i'");
  EXPECT_EQ(placementErrorOf("(i) rep r of 0 -> thread i, slot 0"),
            "in '(i) rep r of 0 -> thread i, slot 0', column 14: expected at least 1 replica, got "
            "'0'");
  EXPECT_EQ(placementErrorOf("(i) -> thread i"),
            "in '(i) -> thread i', column 16: expected ',', got the end");
}

TEST(NotationTest, RefusesRunawayNesting) {
  std::string deep = "(i) -> (" + std::string(5000, '(') + "i" + std::string(5000, ')') + ")";
  EXPECT_NE(errorOf(deep).find("expression has more than 500 levels"), std::string::npos);
  std::string wide = "(i) -> (i";
  for (int term = 0; term < 5000; ++term)
    wide += " + i";
  EXPECT_NE(errorOf(wide + ")").find("expression has more than 500 levels"), std::string::npos);
}

namespace {
using NotationProperty = PropertyTest;

TEST_F(NotationProperty, ParsingWhatWasPrintedGivesTheSameExpression) {
  IndexNames names = IndexNames::defaults(3, 2);
  for (int round = 0; round < 20000; ++round) {
    IndexExpr expr = randomExpr(random, 3, 2, 5);
    std::string text = toString(expr, names);
    llvm::Expected<IndexExpr> parsed = parseIndexExpr(text, names);
    ASSERT_TRUE(bool(parsed)) << llvm::toString(parsed.takeError());
    ASSERT_EQ(*parsed, expr) << text;
    ASSERT_EQ(toString(*parsed, names), text);
  }
}

TEST_F(NotationProperty, NoTextMakesTheParserCrash) { // any outcome but a crash is fine
  static constexpr llvm::StringLiteral kPieces[] = {
      "(", ")", "i", "j", "->",  ",",  "-",      "+",    "*",   "//", "%",    "^",
      "[", "]", "7", " ", "rep", "of", "thread", "slot", "min", "/",  "\xff", "0x"};
  for (int round = 0; round < 20000; ++round) {
    std::string text = random.oneIn(2) ? "(i, j) -> (" : "";
    for (int64_t piece = random.uniform(0, 12); piece > 0; --piece)
      text += kPieces[random.uniform(0, std::size(kPieces) - 1)];
    llvm::consumeError(parseIndexMap(text).takeError());
    llvm::consumeError(parseIndexPlacement(text).takeError());
  }
}
} // namespace
