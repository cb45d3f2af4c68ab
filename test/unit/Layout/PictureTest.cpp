//===- PictureTest.cpp ----------------------------------------------------------------------===//

#include "tilewright/Layout/Picture.h"
#include "RandomLayouts.h"
#include "tilewright/Layout/MmaFragments.h"
#include "gtest/gtest.h"

using namespace tilewright;
using namespace tilewright::test;

static size_t countOf(llvm::StringRef text, llvm::StringRef piece) { return text.count(piece); }

TEST(PictureTest, TextShowsOwners) {
  EXPECT_EQ(drawText(fragment("(i, j) -> thread 2 * i + j // 2, slot j % 2", {2, 4})),
            R"((i, j) -> thread 2 * i + j // 2, slot j % 2
  |    0    1    2    3
--+--------------------
0 | T0:0 T0:1 T1:0 T1:1
1 | T2:0 T2:1 T3:0 T3:1
)");
}

TEST(PictureTest, TextShowsReplicas) {
  EXPECT_EQ(drawText(fragment("(i) rep r of 4 -> thread 4 * i + r, slot 0", {2})),
            R"((i) rep r of 4 -> thread 4 * i + r, slot 0
  |      0      1
--+--------------
0 | T0:0+3 T4:0+3
)");
}

TEST(PictureTest, TextShowsOffsetsAndBanks) {
  EXPECT_EQ(drawText(layout("(i, j) -> (i, j ^ i)", {2, 2}), /*elementBits=*/32),
            R"((i, j) -> (i, j ^ i)
  |    0    1
--+----------
0 | 0.b0 1.b1
1 | 3.b3 2.b2
)");
}

TEST(PictureTest, LargeTilesAreCut) {
  PictureOptions options;
  options.maxRows = 1;
  options.maxColumns = 2;
  EXPECT_EQ(drawText(layout("(i, j) -> (i, j)", {kDynamic, 128}), 16, options),
            R"((i, j) -> (i, j)
the first 1 x 2 elements of ? x 128
  |    0    1
--+----------
0 | 0.b0 1.b0
)");
}

TEST(PictureTest, ScalarAndEmptyTiles) {
  EXPECT_NE(drawText(Layout::get({}, {IndexExpr(0)}), 32).find("0.b0"), std::string::npos);
  EXPECT_EQ(countOf(drawSvg(layout("(i) -> (i)", {0}), 32), "<g>"), 0u);
}

TEST(PictureTest, SvgHasACellForEachElement) {
  std::string svg = drawSvg(mmaAccumulator({16, 8, 16, 16}));
  EXPECT_EQ(countOf(svg, "<g>"), 128u);
  EXPECT_NE(svg.find("<title>(9, 3): thread 5 slot 3</title>"), std::string::npos);
  EXPECT_NE(svg.find("(i, j) -&gt; thread"), std::string::npos); // escaped
  EXPECT_EQ(svg, drawSvg(mmaAccumulator({16, 8, 16, 16})));      // the same bytes each time
}

TEST(PictureTest, SvgColoursLanesAndWarps) {
  // A lane's hue is an eleventh of a turn further than that of the one before it, in every warp; four
  // warps have four shades.
  std::string svg = drawSvg(fragment("(i, j) -> thread 32 * i + 4 * j, slot 0", {5, 2}));
  for (const char *colour :
       {"hsl(0,70%,85%)", "hsl(45,70%,85%)", "hsl(0,70%,75%)", "hsl(45,70%,55%)"})
    EXPECT_NE(svg.find(colour), std::string::npos) << colour;
  EXPECT_EQ(countOf(svg, "hsl(0,70%,85%)"), 2u); // of warps 0 and 4
}

TEST(PictureTest, SvgColoursBanks) {
  // Without a swizzle all of a column is in one bank; with it, eight rows are in eight places.
  PictureOptions column;
  column.maxColumns = 1;
  std::string plain = drawSvg(layout("(i, j) -> (i, j)", {8, 64}), 16, column);
  std::string swizzled = drawSvg(layout("(i, j) -> (i, j ^ 8 * (i % 8))", {8, 64}), 16, column);
  EXPECT_EQ(countOf(plain, "hsl(0,"), 8u);
  EXPECT_EQ(countOf(swizzled, "hsl(0,"), 1u);
}
