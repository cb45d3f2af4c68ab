//===- Layout.cpp - where each element of a tile lives --------------------------------------===//

#include "tilewright/Layout/Layout.h"
#include "LayoutCache.h"
#include "tilewright/Layout/Enumerate.h"
#include "tilewright/Support/IndexMath.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>

using namespace tilewright;
using llvm::ArrayRef;
using llvm::Error;
using llvm::SmallVector;
using llvm::Twine;

struct Layout::Storage {
  SmallVector<int64_t, 4> shape;
  SmallVector<IndexExpr, 4> outputs;
  unsigned numSymbols = 0;
  llvm::hash_code hash;
  LayoutCache cache;
};

Layout::Layout() : Layout(get({}, {})) {}

Layout Layout::get(ArrayRef<int64_t> shape, ArrayRef<IndexExpr> outputs, unsigned numSymbols) {
#ifndef NDEBUG
  if (Error error = verify(shape, outputs, numSymbols))
    llvm::report_fatal_error(std::move(error));
#endif
  auto storage = std::make_shared<Storage>();
  storage->shape.assign(shape.begin(), shape.end());
  storage->outputs.assign(outputs.begin(), outputs.end());
  storage->numSymbols = numSymbols;
  storage->hash = llvm::hash_combine(llvm::hash_combine_range(shape),
                                     llvm::hash_combine_range(outputs), numSymbols);
  return Layout(std::move(storage));
}

Error Layout::verify(ArrayRef<int64_t> shape, ArrayRef<IndexExpr> outputs, unsigned numSymbols) {
  for (auto [dim, extent] : llvm::enumerate(shape))
    if (extent < 0 && extent != kDynamic)
      return llvm::createStringError("layout: expected extents of at least 0, got " +
                                     Twine(extent) + " for dimension " + Twine(dim));
  for (auto [position, output] : llvm::enumerate(outputs)) {
    if (output.getNumDims() > shape.size())
      return llvm::createStringError("layout: output " + Twine(position) + " uses dimension " +
                                     Twine(output.getNumDims() - 1) + ", the tile has " +
                                     Twine(shape.size()));
    if (output.getNumSymbols() > numSymbols)
      return llvm::createStringError("layout: output " + Twine(position) + " uses symbol " +
                                     Twine(output.getNumSymbols() - 1) + ", only " +
                                     Twine(numSymbols) + " are declared");
    if (!output.isWithinLimits())
      return llvm::createStringError(
          "layout: output " + Twine(position) + " has " + Twine(output.getDepth()) +
          " levels and " + Twine(output.getTreeSize()) + " operations, at most " +
          Twine(IndexExpr::kMaxDepth) + " and " + Twine(IndexExpr::kMaxTreeSize) + " are accepted");
  }
  return Error::success();
}

ArrayRef<int64_t> Layout::getShape() const { return storage->shape; }
ArrayRef<IndexExpr> Layout::getOutputs() const { return storage->outputs; }
unsigned Layout::getNumSymbols() const { return storage->numSymbols; }
const LayoutCache &Layout::getCache() const { return storage->cache; }

bool Layout::hasStaticShape() const { return !llvm::is_contained(storage->shape, kDynamic); }

/// The product of extents; nothing if one is dynamic or the product does not fit in 64 bits.
static std::optional<int64_t> productOf(ArrayRef<int64_t> extents) {
  if (llvm::is_contained(extents, 0))
    return 0;
  std::optional<int64_t> product = 1;
  for (int64_t extent : extents)
    product = product && extent != kDynamic ? checkedMul(*product, extent) : std::nullopt;
  return product;
}

std::optional<int64_t> Layout::getNumElements() const { return productOf(getShape()); }

std::optional<SmallVector<int64_t, 4>> Layout::map(ArrayRef<int64_t> index,
                                                   ArrayRef<int64_t> symbols) const {
  SmallVector<int64_t, 4> result;
  for (const IndexExpr &output : getOutputs()) {
    std::optional<int64_t> value = output.evaluate(index, symbols);
    if (!value)
      return std::nullopt;
    result.push_back(*value);
  }
  return result;
}

//===----------------------------------------------------------------------------------------===//
// Physical extents
//===----------------------------------------------------------------------------------------===//

/// The bounds of one output from its digit form; false if they are not exact.
static bool boundsFromDigits(const DigitForm &form, const DigitSum &sum, int64_t &minimum,
                             int64_t &extent) {
  std::optional<DigitForm::Bounds> bounds = form.getBounds(sum);
  if (!bounds)
    return false;
  minimum = bounds->low;
  std::optional<int64_t> above = bounds->high == kDynamic ? kDynamic : checkedAdd(bounds->high, 1);
  extent = above.value_or(kDynamic);
  return true;
}

static OutputBounds computeBounds(const Layout &layout) {
  unsigned numOutputs = layout.getNumOutputs();
  if (layout.getNumElements() == 0)
    return {SmallVector<int64_t, 4>(numOutputs, 0), SmallVector<int64_t, 4>(numOutputs, 0)};
  OutputBounds bounds{SmallVector<int64_t, 4>(numOutputs, kDynamic),
                      SmallVector<int64_t, 4>(numOutputs, kDynamic)};
  for (auto [position, output] : llvm::enumerate(layout.getOutputs())) {
    int64_t &minimum = bounds.minimum[position], &extent = bounds.extent[position];
    // The whole layout's digits serve other questions too; an output without a digit form must not
    // spoil the others.
    if (const std::optional<DigitForm> &form = DigitForm::of(layout)) {
      if (boundsFromDigits(*form, form->getSums()[position], minimum, extent))
        continue;
    } else if (std::optional<DigitForm> own = DigitForm::read(output, layout.getShape())) {
      if (boundsFromDigits(*own, own->getSums()[0], minimum, extent))
        continue;
    }
    std::optional<ValueColumns> values = enumerateValues(output, layout.getShape());
    if (!values)
      continue;
    auto [least, most] = std::minmax_element((*values)[0].begin(), (*values)[0].end());
    minimum = *least;
    extent = checkedAdd(*most, 1).value_or(kDynamic);
  }
  return bounds;
}

ArrayRef<int64_t> Layout::getOutputShape() const {
  return getCache().bounds.get([&] { return computeBounds(*this); }).extent;
}

ArrayRef<int64_t> Layout::getOutputMinimum() const {
  return getCache().bounds.get([&] { return computeBounds(*this); }).minimum;
}

std::optional<int64_t> Layout::getPhysicalSize() const { return productOf(getOutputShape()); }

std::optional<IndexExpr> Layout::getOffset() const {
  IndexExpr offset = 0;
  for (auto [position, output] : llvm::enumerate(getOutputs())) {
    int64_t extent = getOutputShape()[position];
    if (position == 0) {
      offset = output;
      continue;
    }
    if (extent == kDynamic)
      return std::nullopt;
    offset = offset * extent + output;
  }
  return offset;
}

//===----------------------------------------------------------------------------------------===//
// Equality and text
//===----------------------------------------------------------------------------------------===//

bool tilewright::operator==(const Layout &lhs, const Layout &rhs) {
  return lhs.storage == rhs.storage ||
         (lhs.storage->hash == rhs.storage->hash && lhs.getShape() == rhs.getShape() &&
          lhs.getOutputs() == rhs.getOutputs() && lhs.getNumSymbols() == rhs.getNumSymbols());
}

llvm::hash_code tilewright::hash_value(const Layout &layout) { return layout.storage->hash; }

void Layout::print(llvm::raw_ostream &os) const {
  print(os, IndexNames::defaults(getRank(), getNumSymbols()));
}

void Layout::print(llvm::raw_ostream &os, const IndexNames &names) const {
  printIndexNames(os, names);
  os << " -> ";
  printIndexExprs(os, getOutputs(), names);
}

std::string Layout::str() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  print(os);
  return text;
}

llvm::Expected<Layout> tilewright::parseLayout(llvm::StringRef text, ArrayRef<int64_t> shape) {
  llvm::Expected<ParsedMap> map = parseIndexMap(text);
  if (!map)
    return map.takeError();
  if (map->names.dims.size() != shape.size())
    return llvm::createStringError("in '" + text + "': expected " + Twine(shape.size()) +
                                   " names for a tile of shape " + shapeToString(shape) + ", got " +
                                   Twine(map->names.dims.size()));
  if (Error error = Layout::verify(shape, map->outputs, map->names.symbols.size()))
    return error;
  return Layout::get(shape, map->outputs, map->names.symbols.size());
}

std::string tilewright::shapeToString(ArrayRef<int64_t> shape) {
  if (shape.empty())
    return "()";
  return llvm::join(llvm::map_range(shape,
                                    [](int64_t extent) {
                                      return extent == kDynamic ? std::string("?")
                                                                : std::to_string(extent);
                                    }),
                    " x ");
}
