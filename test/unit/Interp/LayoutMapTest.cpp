// The interpreter's own walker of layout expressions against the room Layout, which shares no code
// with it.

#include "LayoutMap.h"
#include "tilewright/Layout/Layout.h"
#include <gtest/gtest.h>

using namespace tilewright;
using namespace tilewright::interp;

namespace {

struct Case {
  const char *text;
  llvm::SmallVector<int64_t> shape;
};

Layout parse(const Case &c) {
  llvm::Expected<Layout> layout = parseLayout(c.text, c.shape);
  EXPECT_TRUE(bool(layout)) << c.text;
  return layout ? *layout : Layout();
}

} // namespace

TEST(LayoutMapTest, AgreesWithTheRoomLayoutOnEveryElement) {
  const Case cases[] = {
      {"(i, j) -> (j, i)", {3, 5}},
      {"(i, j) -> (i, j ^ 4 * (i % 8))", {8, 32}},
      {"(b, h, l, d) -> (b, h, l // 8, d // 8, d % 2, 4 * (l % 8) + d % 8 // 2)", {2, 3, 16, 32}},
      {"(i, j) -> (i * 12 + j)", {4, 10}}, // padded rows
      {"(i) -> ((i - 7) // 2 + 4, (i - 7) % 3)", {12}},
      {"(i, j) -> (min(i, 2) + max(i - 2, 0), 9 - j)", {5, 10}},
  };
  for (const Case &c : cases) {
    Layout layout = parse(c);
    llvm::Expected<LayoutMap> map = LayoutMap::get(layout, c.shape);
    ASSERT_TRUE(bool(map)) << c.text;
    EXPECT_EQ(map->getPhysicalSize(), layout.getPhysicalSize()) << c.text;
    for (int64_t element = 0; element < countElements(c.shape); ++element) {
      auto physical = layout.map(unravel(element, c.shape));
      ASSERT_TRUE(physical.has_value());
      int64_t offset = 0;
      for (auto [index, extent] : llvm::zip_equal(*physical, layout.getOutputShape()))
        offset = offset * extent + index;
      ASSERT_EQ(map->getOffset(element), offset) << c.text << " element " << element;
      ASSERT_EQ(map->getOffset(element), offset) << "asked again";
    }
  }
}

TEST(LayoutMapTest, RunTimeExtentsAreThoseOfTheTensor) {
  Case c{"(i, j) -> (j, i)", {kDynamic, 3}};
  llvm::Expected<LayoutMap> map = LayoutMap::get(parse(c), {4, 3});
  ASSERT_TRUE(bool(map));
  EXPECT_EQ(map->getPhysicalSize(), 12);
  EXPECT_EQ(map->getOffset(1), 4); // element (0, 1) is at (1, 0) of 3 x 4
}

TEST(LayoutMapTest, NegativeOffsetsAreRefused) {
  Case c{"(i) -> (i - 1)", {4}};
  llvm::Expected<LayoutMap> map = LayoutMap::get(parse(c), {4});
  ASSERT_FALSE(bool(map));
  EXPECT_EQ(llvm::toString(map.takeError()),
            "a layout gives an offset that is negative or too large");
}

TEST(LayoutMapTest, SymbolsWithoutValuesAreRefused) {
  Case c{"(i)[n] -> (i + n)", {4}};
  llvm::Expected<LayoutMap> map = LayoutMap::get(parse(c), {4});
  ASSERT_FALSE(bool(map));
  EXPECT_EQ(llvm::toString(map.takeError()), "a layout with symbols has no values for them");
}

TEST(LayoutMapTest, EmptyTensorsNeedNoMemory) {
  Case c{"(i, j) -> (j, i)", {0, 4}};
  llvm::Expected<LayoutMap> map = LayoutMap::get(parse(c), {0, 4});
  ASSERT_TRUE(bool(map));
  EXPECT_EQ(map->getPhysicalSize(), 0);
}
