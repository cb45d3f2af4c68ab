//===- RuntimeExtents.cpp - offsets of a layout whose extents come with a launch --------------===//

#include "tilewright/Layout/RuntimeExtents.h"

using namespace tilewright;
using Kind = IndexExpr::Kind;

static bool isNonDecreasing(const IndexExpr &expr);

/// Whether `expr` does not decrease and `factor` is a constant that does not reverse it.
static bool isScaled(const IndexExpr &expr, const IndexExpr &factor) {
  return factor.getConstant() && *factor.getConstant() >= 0 && isNonDecreasing(expr);
}

/// Whether no index makes the expression smaller by growing; then it is largest at the last
/// element.
static bool isNonDecreasing(const IndexExpr &expr) {
  switch (expr.getKind()) {
  case Kind::Constant:
  case Kind::Dim:
    return true;
  case Kind::Add:
  case Kind::Min:
  case Kind::Max:
    return isNonDecreasing(expr.getLhs()) && isNonDecreasing(expr.getRhs());
  case Kind::Mul:
    return isScaled(expr.getLhs(), expr.getRhs()) || isScaled(expr.getRhs(), expr.getLhs());
  case Kind::FloorDiv:
    return isScaled(expr.getLhs(), expr.getRhs());
  default:
    return false;
  }
}

std::optional<IndexExpr> tilewright::getOutputExtent(const Layout &layout, unsigned position) {
  int64_t known = layout.getOutputShape()[position];
  if (known != kDynamic)
    return IndexExpr(known);
  const IndexExpr &output = layout.getOutputs()[position];
  if (layout.getNumSymbols() != 0 || !isNonDecreasing(output))
    return std::nullopt;
  llvm::SmallVector<IndexExpr, 4> last;
  for (unsigned dim = 0; dim < layout.getRank(); ++dim)
    last.push_back(IndexExpr::dim(dim) - 1);
  return output.substitute(last) + 1;
}

std::optional<IndexExpr> tilewright::getRuntimeOffset(const Layout &layout) {
  if (layout.getNumSymbols() != 0)
    return std::nullopt;
  llvm::SmallVector<IndexExpr, 4> extents;
  for (unsigned dim = 0, rank = layout.getRank(); dim < rank; ++dim)
    extents.push_back(IndexExpr::dim(rank + dim));
  IndexExpr offset = 0;
  for (auto [position, output] : llvm::enumerate(layout.getOutputs())) {
    std::optional<IndexExpr> extent = getOutputExtent(layout, position);
    if (position > 0 && !extent)
      return std::nullopt;
    offset = position == 0 ? output : offset * extent->substitute(extents) + output;
  }
  return offset;
}
