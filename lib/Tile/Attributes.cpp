//===- Attributes.cpp - text forms of the tile dialect's attributes --------------------------===//

#include "tilewright/Layout/Notation.h"
#include "tilewright/Tile/Tile.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

#include "tilewright/Tile/TileEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "tilewright/Tile/TileAttrs.cpp.inc"

void TileDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "tilewright/Tile/TileAttrs.cpp.inc"
      >();
}

/// `<[8, 32], "text"`: the common start of layouts and fragments.
static ParseResult parseShapeAndText(AsmParser &parser, SmallVectorImpl<int64_t> &shape,
                                     std::string &text) {
  auto parseExtent = [&]() -> ParseResult {
    if (succeeded(parser.parseOptionalQuestion())) {
      shape.push_back(ShapedType::kDynamic);
      return success();
    }
    int64_t extent = 0;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseInteger(extent))
      return failure();
    if (extent < 0)
      return parser.emitError(loc, "expected an extent that is not negative");
    shape.push_back(extent);
    return success();
  };
  return failure(parser.parseLess() ||
                 parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseExtent) ||
                 parser.parseComma() || parser.parseString(&text));
}

static void printShape(AsmPrinter &printer, ArrayRef<int64_t> shape) {
  printer << "[";
  llvm::interleaveComma(shape, printer, [&](int64_t extent) {
    if (ShapedType::isDynamic(extent))
      printer << "?";
    else
      printer << extent;
  });
  printer << "]";
}

Attribute LayoutAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> shape;
  std::string text;
  SMLoc loc = parser.getCurrentLocation();
  if (parseShapeAndText(parser, shape, text) || parser.parseGreater())
    return {};
  llvm::Expected<Layout> layout = parseLayout(text, shape);
  if (!layout) {
    parser.emitError(loc) << llvm::toString(layout.takeError());
    return {};
  }
  return LayoutAttr::get(parser.getContext(), *layout);
}

void LayoutAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printShape(printer, getLayout().getShape());
  printer << ", \"" << getLayout().str() << "\">";
}

Attribute FragmentAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> shape;
  std::string text;
  SMLoc loc = parser.getCurrentLocation();
  if (parseShapeAndText(parser, shape, text) || parser.parseGreater())
    return {};
  llvm::Expected<Fragment> fragment = parseFragment(text, shape);
  if (!fragment) {
    parser.emitError(loc) << llvm::toString(fragment.takeError());
    return {};
  }
  return FragmentAttr::get(parser.getContext(), *fragment);
}

void FragmentAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printShape(printer, getFragment().getShape());
  printer << ", \"" << getFragment().str() << "\">";
}

Attribute ShapeAttr::parse(AsmParser &parser, Type) {
  std::string text;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseString(&text) || parser.parseGreater())
    return {};
  auto refuse = [&](llvm::Error error) {
    parser.emitError(loc) << llvm::toString(std::move(error));
    return Attribute();
  };
  llvm::Expected<ParsedMap> map = parseIndexMap(text);
  if (!map)
    return refuse(map.takeError());
  if (!map->names.dims.empty()) {
    parser.emitError(loc)
        << "expected symbols in square brackets and no index, as in \"()[n] -> (n)\"";
    return {};
  }
  if (llvm::Error error = Layout::verify({}, map->outputs, map->names.symbols.size()))
    return refuse(std::move(error));
  SmallVector<StringAttr> symbols;
  for (const std::string &name : map->names.symbols)
    symbols.push_back(parser.getBuilder().getStringAttr(name));
  return ShapeAttr::get(parser.getContext(), symbols,
                        Layout::get({}, map->outputs, symbols.size()));
}

void ShapeAttr::print(AsmPrinter &printer) const {
  IndexNames names;
  for (StringAttr symbol : getSymbols())
    names.symbols.push_back(symbol.str());
  printer << "<\"";
  getMap().print(printer.getStream(), names);
  printer << "\">";
}

LogicalResult TensorMapAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                                    int64_t argument, Type type, ShapeAttr extents,
                                    ShapeAttr strides, ArrayRef<int64_t> box,
                                    ArrayRef<int64_t> steps, int64_t swizzle, bool fillsNan,
                                    int64_t promotion) {
  size_t rank = box.size();
  if (argument < 0)
    return emitError() << "expected the position of an argument, got " << argument;
  if (rank < 1 || rank > kMaxRank)
    return emitError() << "a tensor map has 1 to " << kMaxRank << " dimensions, got " << rank;
  if (extents.getExtents().size() != rank || strides.getExtents().size() + 1 != rank ||
      steps.size() != rank)
    return emitError() << "expected " << rank << " extents and steps and " << rank - 1
                       << " strides for a box of " << rank << " dimensions, got "
                       << extents.getExtents().size() << ", " << steps.size() << " and "
                       << strides.getExtents().size();
  for (auto [extent, step] : llvm::zip_equal(box, steps)) {
    if (extent < 1 || extent > 256)
      return emitError() << "an extent of a box is 1 to 256, got " << extent;
    if (step < 1 || step > 8)
      return emitError() << "a step of a tensor map is 1 to 8, got " << step;
  }
  if (!isElementType(type))
    return emitError() << "expected the type of an element, got " << type;
  if (fillsNan && !isa<FloatType>(type))
    return emitError() << "only a floating-point tensor reads NaN outside, got " << type;
  if (!llvm::is_contained({0, 32, 64, 128}, swizzle))
    return emitError() << "a swizzle permutes 0, 32, 64 or 128 bytes, got " << swizzle;
  if (!llvm::is_contained({0, 64, 128, 256}, promotion))
    return emitError() << "L2 promotion is 0, 64, 128 or 256 bytes, got " << promotion;
  return success();
}

LogicalResult BulkAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, int64_t map,
                               ArrayRef<int64_t> dims, ArrayRef<int64_t> divisors,
                               ArrayRef<int64_t> box, int64_t swizzle, ArrayRef<int64_t> origins,
                               ArrayRef<int64_t> offsets, ArrayRef<int64_t> clamped) {
  size_t rank = box.size();
  if (map < 0)
    return emitError() << "expected the position of a tensor map, got " << map;
  if (rank < 1 || dims.size() != rank || divisors.size() != rank || offsets.empty() ||
      origins.size() != rank * offsets.size())
    return emitError() << "expected a dimension, a divisor and an origin in each instruction for "
                          "every digit of the box";
  for (auto [dim, divisor, extent] : llvm::zip_equal(dims, divisors, box))
    if (dim < 0 || divisor < 0 || extent < 1)
      return emitError() << "dimensions and divisors are not negative, extents positive";
  if (!llvm::is_contained({0, 32, 64, 128}, swizzle))
    return emitError() << "a swizzle permutes 0, 32, 64 or 128 bytes, got " << swizzle;
  for (int64_t digit : clamped)
    if (digit < 0 || size_t(digit) >= rank)
      return emitError() << "a box of " << rank << " digits has no digit " << digit;
  return success();
}

int64_t BulkAttr::getNumElements() const {
  int64_t elements = getNumIssues();
  for (int64_t extent : getBox())
    elements *= extent;
  return elements;
}
