//===- LayoutMap.cpp - where a layout puts an element, by a walker of our own -----------------===//

#include "LayoutMap.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace tilewright;
using namespace tilewright::interp;
using Kind = IndexExpr::Kind;

static std::optional<int64_t> floorDivideIndex(int64_t lhs, int64_t rhs) {
  if (rhs == 0)
    return 0;
  if (rhs == -1) {
    int64_t result;
    return __builtin_sub_overflow(int64_t(0), lhs, &result) ? std::nullopt : std::optional(result);
  }
  int64_t quotient = lhs / rhs;
  return quotient * rhs != lhs && (lhs < 0) != (rhs < 0) ? quotient - 1 : quotient;
}

static int64_t floorModuloIndex(int64_t lhs, int64_t rhs) {
  if (rhs == 0)
    return lhs;
  if (rhs == -1)
    return 0;
  int64_t remainder = lhs % rhs;
  return remainder != 0 && (remainder < 0) != (rhs < 0) ? remainder + rhs : remainder;
}

static std::optional<int64_t> combine(Kind kind, int64_t lhs, int64_t rhs) {
  int64_t result = 0;
  switch (kind) {
  case Kind::Add:
    return __builtin_add_overflow(lhs, rhs, &result) ? std::nullopt : std::optional(result);
  case Kind::Sub:
    return __builtin_sub_overflow(lhs, rhs, &result) ? std::nullopt : std::optional(result);
  case Kind::Mul:
    return __builtin_mul_overflow(lhs, rhs, &result) ? std::nullopt : std::optional(result);
  case Kind::FloorDiv:
    return floorDivideIndex(lhs, rhs);
  case Kind::Mod:
    return floorModuloIndex(lhs, rhs);
  case Kind::Xor:
    return lhs ^ rhs;
  case Kind::Min:
    return std::min(lhs, rhs);
  case Kind::Max:
    return std::max(lhs, rhs);
  default:
    return std::nullopt;
  }
}

std::optional<int64_t> tilewright::interp::evaluate(const IndexExpr &expr,
                                                    llvm::ArrayRef<int64_t> dims,
                                                    llvm::ArrayRef<int64_t> symbols) {
  switch (expr.getKind()) {
  case Kind::Constant:
    return expr.getConstant();
  case Kind::Dim:
    return dims[expr.getPosition()];
  case Kind::Symbol:
    return symbols[expr.getPosition()];
  default:
    break;
  }
  std::optional<int64_t> lhs = evaluate(expr.getLhs(), dims, symbols);
  std::optional<int64_t> rhs = evaluate(expr.getRhs(), dims, symbols);
  return lhs && rhs ? combine(expr.getKind(), *lhs, *rhs) : std::nullopt;
}

llvm::SmallVector<int64_t, 4> tilewright::interp::unravel(int64_t element,
                                                          llvm::ArrayRef<int64_t> shape) {
  llvm::SmallVector<int64_t, 4> coordinates(shape.size());
  for (size_t dim = shape.size(); dim-- > 0;) {
    coordinates[dim] = element % shape[dim];
    element /= shape[dim];
  }
  return coordinates;
}

int64_t tilewright::interp::countElements(llvm::ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

std::optional<int64_t> tilewright::interp::countIfSane(llvm::ArrayRef<int64_t> shape) {
  constexpr int64_t limit = int64_t(1) << 40;
  int64_t count = 1;
  for (int64_t extent : shape)
    if (extent < 0 || __builtin_mul_overflow(count, extent, &count) || count > limit)
      return std::nullopt;
  return count;
}

/// The largest value of one output, by visiting all values of the dims it depends on. An error if
/// a value is negative or does not fit.
static llvm::Expected<int64_t> findLargest(const IndexExpr &output, llvm::ArrayRef<int64_t> shape) {
  llvm::SmallVector<int64_t, 4> visited(shape.begin(), shape.end());
  for (auto [dim, extent] : llvm::enumerate(visited))
    if (!output.dependsOnDim(dim))
      extent = std::min<int64_t>(extent, 1);
  int64_t largest = 0;
  for (int64_t element = 0, end = countElements(visited); element < end; ++element) {
    std::optional<int64_t> value = evaluate(output, unravel(element, visited));
    if (!value || *value < 0)
      return llvm::createStringError("a layout gives an offset that is negative or too large");
    largest = std::max(largest, *value);
  }
  return largest;
}

llvm::Expected<LayoutMap> LayoutMap::get(const Layout &layout, llvm::ArrayRef<int64_t> shape) {
  if (layout.getNumSymbols() != 0)
    return llvm::createStringError("a layout with symbols has no values for them");
  LayoutMap map(layout, shape);
  bool isEmpty = llvm::is_contained(shape, 0);
  for (const IndexExpr &output : layout.getOutputs()) {
    llvm::Expected<int64_t> largest = findLargest(output, shape);
    if (!largest)
      return largest.takeError();
    map.outputShape.push_back(isEmpty ? 0 : *largest + 1);
    if (__builtin_mul_overflow(map.physicalSize, map.outputShape.back(), &map.physicalSize))
      return llvm::createStringError("a layout needs more memory than an address can name");
  }
  map.known = ShadowArray<int64_t>(countElements(shape));
  return map;
}

int64_t LayoutMap::getOffset(int64_t element) {
  if (int64_t offset = known[element])
    return offset - 1;
  llvm::SmallVector<int64_t, 4> dims = unravel(element, shape);
  int64_t offset = 0;
  for (auto [output, extent] : llvm::zip_equal(layout.getOutputs(), outputShape))
    offset = offset * extent + *evaluate(output, dims);
  known[element] = offset + 1;
  return offset;
}
