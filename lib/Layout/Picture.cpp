//===- Picture.cpp - layouts one can look at ------------------------------------------------===//

#include "tilewright/Layout/Picture.h"
#include "tilewright/Layout/Banks.h"
#include "tilewright/Layout/Enumerate.h"
#include "tilewright/Layout/Questions.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>

using namespace tilewright;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace {

/// What a picture shows of one element.
struct Cell {
  std::string label;   ///< In the cell.
  std::string tooltip; ///< With all details.
  int hue = -1;        ///< 0 to 359; grey if negative.
  int lightness = 80;  ///< Percent.
};

/// A grid of cells, whatever they show.
struct Picture {
  std::string title;
  std::string note; ///< Says what was cut off; empty if nothing.
  int64_t numRows = 0, numColumns = 0;
  std::vector<Cell> cells; ///< Row by row.

  const Cell &at(int64_t row, int64_t column) const { return cells[row * numColumns + column]; }
};

/// Lays out the elements of a shape as rows and columns and computes each cell.
Picture makePicture(ArrayRef<int64_t> shape, const PictureOptions &options,
                    const std::string &title, llvm::function_ref<Cell(ArrayRef<int64_t>)> draw) {
  Picture picture;
  picture.title = options.title.empty() ? title : options.title;
  // Dynamic extents show as many elements as fit.
  SmallVector<int64_t, 4> shown(shape);
  for (auto [dim, extent] : llvm::enumerate(shown))
    if (extent == kDynamic)
      extent = dim + 1 == shown.size() ? options.maxColumns : options.maxRows;
  ArrayRef<int64_t> leading = ArrayRef(shown).take_front(shown.empty() ? 0 : shown.size() - 1);
  int64_t allColumns = shown.empty() ? 1 : shown.back();
  int64_t allRows = Layout::get(leading, {}).getNumElements().value_or(options.maxRows + 1);
  picture.numRows = std::min(allRows, options.maxRows);
  picture.numColumns = std::min(allColumns, options.maxColumns);
  if (picture.numRows < allRows || picture.numColumns < allColumns)
    picture.note = "the first " + shapeToString({picture.numRows, picture.numColumns}) +
                   " elements of " + shapeToString(shape);
  for (int64_t row = 0; row < picture.numRows; ++row)
    for (int64_t column = 0; column < picture.numColumns; ++column) {
      SmallVector<int64_t, 4> index = delinearize(row, leading);
      if (!shown.empty())
        index.push_back(column);
      picture.cells.push_back(draw(index));
    }
  return picture;
}

Picture pictureOf(const Fragment &fragment, const PictureOptions &options) {
  return makePicture(fragment.getShape(), options, fragment.str(), [&](ArrayRef<int64_t> index) {
    SmallVector<Owner, 4> owners = ownersOf(fragment, index);
    Cell cell;
    cell.tooltip = indexToString(index) + ":";
    for (const Owner &owner : owners)
      cell.tooltip +=
          " thread " + std::to_string(owner.thread) + " slot " + std::to_string(owner.slot) + ",";
    cell.tooltip.pop_back();
    if (owners.empty())
      return cell;
    const Owner &first = owners.front();
    cell.label = "T" + std::to_string(first.thread) + ":" + std::to_string(first.slot);
    if (owners.size() > 1)
      cell.label += "+" + std::to_string(owners.size() - 1);
    // A lane keeps its hue in every warp; warps differ in lightness.
    cell.hue = first.thread % 32 * 360 / 32;
    cell.lightness = 85 - first.thread / 32 % 4 * 10;
    return cell;
  });
}

Picture pictureOf(const Layout &layout, int64_t elementBits, const PictureOptions &options) {
  std::optional<IndexExpr> offset = layout.getOffset();
  return makePicture(layout.getShape(), options, layout.str(), [&](ArrayRef<int64_t> index) {
    Cell cell;
    SmallVector<int64_t, 2> noSymbols(layout.getNumSymbols(), 1); // as good as any
    std::optional<IndexVector> physical = layout.map(index, noSymbols);
    if (!physical)
      return cell;
    cell.tooltip = indexToString(index) + " -> " + indexToString(*physical);
    std::optional<int64_t> position = offset ? offset->evaluate(index, noSymbols) : std::nullopt;
    if (!position || *position < 0) {
      cell.label = indexToString(*physical);
      return cell;
    }
    int64_t address = *position * elementBits / 8, bank = bankOf(address);
    cell.label = std::to_string(*position) + ".b" + std::to_string(bank);
    cell.tooltip += ", offset " + std::to_string(*position) + ", byte " + std::to_string(address) +
                    ", bank " + std::to_string(bank);
    cell.hue = bank * 360 / kBanks;
    return cell;
  });
}

//===----------------------------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------------------------===//

std::string toText(const Picture &picture) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << picture.title << '\n';
  if (!picture.note.empty())
    os << picture.note << '\n';
  auto pad = [](const std::string &word, size_t width) {
    return std::string(width > word.size() ? width - word.size() : 0, ' ') + word;
  };
  size_t rowWidth = std::to_string(std::max<int64_t>(0, picture.numRows - 1)).size();
  size_t width = std::to_string(std::max<int64_t>(0, picture.numColumns - 1)).size();
  for (const Cell &cell : picture.cells)
    width = std::max(width, cell.label.size());
  os << std::string(rowWidth, ' ') << " |";
  for (int64_t column = 0; column < picture.numColumns; ++column)
    os << ' ' << pad(std::to_string(column), width);
  os << '\n'
     << std::string(rowWidth + 1, '-') << '+' << std::string(picture.numColumns * (width + 1), '-')
     << '\n';
  for (int64_t row = 0; row < picture.numRows; ++row) {
    os << pad(std::to_string(row), rowWidth) << " |";
    for (int64_t column = 0; column < picture.numColumns; ++column)
      os << ' ' << pad(picture.at(row, column).label, width);
    os << '\n';
  }
  return text;
}

//===----------------------------------------------------------------------------------------===//
// SVG
//===----------------------------------------------------------------------------------------===//

std::string toSvg(const Picture &picture) {
  constexpr int64_t kHeight = 22, kMargin = 34, kTop = 44;
  size_t longest = 2;
  for (const Cell &cell : picture.cells)
    longest = std::max(longest, cell.label.size());
  int64_t width = 8 + 7 * int64_t(longest);
  int64_t totalWidth = std::max<int64_t>(kMargin + picture.numColumns * width + 10,
                                         20 + 7 * int64_t(picture.title.size()));
  int64_t totalHeight = kTop + picture.numRows * kHeight + (picture.note.empty() ? 10 : 30);

  std::string text;
  llvm::raw_string_ostream os(text);
  auto write = [&](int64_t x, int64_t y, llvm::StringRef anchor, llvm::StringRef words) {
    os << "<text x=\"" << x << "\" y=\"" << y << "\" text-anchor=\"" << anchor << "\">";
    llvm::printHTMLEscaped(words, os);
    os << "</text>\n";
  };
  os << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << totalWidth << "\" height=\""
     << totalHeight << "\" viewBox=\"0 0 " << totalWidth << ' ' << totalHeight
     << "\" font-family=\"monospace\" font-size=\"11\">\n"
     << "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
  write(10, 16, "start", picture.title);
  for (int64_t column = 0; column < picture.numColumns; ++column)
    write(kMargin + column * width + width / 2, kTop - 6, "middle", std::to_string(column));
  for (int64_t row = 0; row < picture.numRows; ++row) {
    int64_t y = kTop + row * kHeight;
    write(kMargin - 6, y + 15, "end", std::to_string(row));
    for (int64_t column = 0; column < picture.numColumns; ++column) {
      const Cell &cell = picture.at(row, column);
      int64_t x = kMargin + column * width;
      os << "<g><title>";
      llvm::printHTMLEscaped(cell.tooltip, os);
      os << "</title><rect x=\"" << x << "\" y=\"" << y << "\" width=\"" << width << "\" height=\""
         << kHeight << "\" stroke=\"white\" fill=\"";
      if (cell.hue < 0)
        os << "#ddd";
      else
        os << "hsl(" << cell.hue << ",70%," << cell.lightness << "%)";
      os << "\"/>";
      write(x + width / 2, y + 15, "middle", cell.label);
      os << "</g>\n";
    }
  }
  if (!picture.note.empty())
    write(10, totalHeight - 10, "start", picture.note);
  os << "</svg>\n";
  return text;
}

} // namespace

std::string tilewright::drawSvg(const Fragment &fragment, const PictureOptions &options) {
  return toSvg(pictureOf(fragment, options));
}

std::string tilewright::drawSvg(const Layout &layout, int64_t elementBits,
                                const PictureOptions &options) {
  return toSvg(pictureOf(layout, elementBits, options));
}

std::string tilewright::drawText(const Fragment &fragment, const PictureOptions &options) {
  return toText(pictureOf(fragment, options));
}

std::string tilewright::drawText(const Layout &layout, int64_t elementBits,
                                 const PictureOptions &options) {
  return toText(pictureOf(layout, elementBits, options));
}
