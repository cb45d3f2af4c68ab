//===- LayoutTest.cpp -----------------------------------------------------------------------===//

#include "tilewright/Layout/Layout.h"
#include "RandomLayouts.h"
#include "gtest/gtest.h"

using namespace tilewright;
using namespace tilewright::test;

static std::string errorOf(llvm::StringRef text, llvm::ArrayRef<int64_t> shape) {
  llvm::Expected<Layout> layout = parseLayout(text, shape);
  return layout ? "no error" : llvm::toString(layout.takeError());
}

TEST(LayoutTest, PrintsAsWritten) {
  Layout swizzle = layout("(i, j) -> (i, j ^ (4 * (i % 8)))", {8, 32});
  EXPECT_EQ(swizzle.str(), "(i, j) -> (i, j ^ 4 * (i % 8))");
  EXPECT_EQ(layout("(b)[n] -> (b * n)", {kDynamic}).str(), "(i)[s0] -> (i * s0)");
  EXPECT_EQ(Layout().str(), "() -> ()");
}

TEST(LayoutTest, MapsAnIndex) {
  Layout split = layout("(i, j) -> (j % 2, i, j // 2)", {4, 8});
  EXPECT_EQ(split.map({1, 3}), (llvm::SmallVector<int64_t, 4>{1, 1, 1}));
  EXPECT_EQ(split.getOutputShape(), (llvm::ArrayRef<int64_t>{2, 4, 4}));
  EXPECT_EQ(split.getPhysicalSize(), 32);
  EXPECT_EQ(split.getOffset()->evaluate({1, 3}), 21);
}

TEST(LayoutTest, OutputShapeIsExact) {
  Layout padded = layout("(i, j) -> (i, j + 3 * (i // 7))", {8, 8});
  EXPECT_EQ(padded.getOutputShape(), (llvm::ArrayRef<int64_t>{8, 11}));
  EXPECT_EQ(padded.getOutputMinimum(), (llvm::ArrayRef<int64_t>{0, 0}));
  Layout shifted = layout("(i) -> (i - 2)", {8});
  EXPECT_EQ(shifted.getOutputMinimum(), (llvm::ArrayRef<int64_t>{-2}));
  EXPECT_EQ(layout("(i) -> (i + 5)", {0}).getOutputShape(), (llvm::ArrayRef<int64_t>{0}));
}

TEST(LayoutTest, DynamicExtentsStayUnknown) {
  Layout global = layout("(i, j) -> (i, j)", {kDynamic, 8});
  EXPECT_FALSE(global.hasStaticShape());
  EXPECT_EQ(global.getNumElements(), std::nullopt);
  EXPECT_EQ(global.getOutputShape()[0], kDynamic);
}

TEST(LayoutTest, EqualityIsStructural) {
  Layout a = layout("(i, j) -> (j, i)", {4, 8});
  EXPECT_EQ(a, layout("(x, y) -> (y, x)", {4, 8}));
  EXPECT_EQ(hash_value(a), hash_value(layout("(x, y) -> (y, x)", {4, 8})));
  EXPECT_FALSE(a == layout("(i, j) -> (j, i)", {4, 4}));
  EXPECT_FALSE(a == layout("(i, j) -> (i, j)", {4, 8}));
  EXPECT_FALSE(a == layout("(i, j)[n] -> (j, i)", {4, 8}));
}

TEST(LayoutTest, RefusesWhatCannotBeALayout) {
  EXPECT_EQ(errorOf("(i) -> (i)", {4, 8}),
            "in '(i) -> (i)': expected 2 names for a tile of shape 4 x 8, got 1");
  EXPECT_EQ(errorOf("(i) -> (i)", {-4}),
            "layout: expected extents of at least 0, got -4 for dimension 0");
  EXPECT_EQ(llvm::toString(Layout::verify({4}, {IndexExpr::dim(1)})),
            "layout: output 0 uses dimension 1, the tile has 1");
  EXPECT_EQ(llvm::toString(Layout::verify({4}, {IndexExpr::symbol(0)})),
            "layout: output 0 uses symbol 0, only 0 are declared");
}
