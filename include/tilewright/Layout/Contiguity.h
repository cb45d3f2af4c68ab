//===- Contiguity.h - runs of neighbouring elements and their alignment -----------*- C++ -*-===//

#ifndef TILEWRIGHT_LAYOUT_CONTIGUITY_H
#define TILEWRIGHT_LAYOUT_CONTIGUITY_H

#include "tilewright/Layout/Layout.h"

namespace tilewright {

/// The largest w such that w divides the extent of `dim` and every group of elements
/// x, x + 1, …, x + w - 1 along it, with x a multiple of w and all other indices fixed, lies at
/// consecutive offsets. For example 4 for `(i, j) -> (i, j ^ 4 * (i % 8))` along j.
///
/// Exact for tiles that can be enumerated and for layouts with a digit form; otherwise 1. A dynamic
/// extent is taken to be a multiple of the run; the run is kDynamic if the whole dimension is
/// contiguous.
int64_t contiguousRun(const Layout &layout, unsigned dim);

/// The largest number known to divide the offset of every group of `width` elements (a divisor of
/// the run): with 4, a group starts at a multiple of four elements. 0 if all groups start at offset
/// 0. Where a physical extent is dynamic, `extentDivisors` may name a number that divides it.
int64_t runAlignment(const Layout &layout, unsigned dim, int64_t width,
                     llvm::ArrayRef<int64_t> extentDivisors = {});

/// A box of the last two dims whose elements fill a stretch of memory in some order, the same one
/// in all boxes whose corners are multiples of its extents.
struct ContiguousBox {
  int64_t rows, columns;
  /// Where element (r, c) lies from the stretch's start, at `r * columns + c`.
  llvm::SmallVector<int64_t> positions;
};

/// The smallest such box of a multiple of `unit` elements, at most `limit`, if the digit form of
/// `offset` (an expression of the indices of a tensor of this shape) shows one. In
/// `64 * (i // 8) + 32 * (j % 2) + 4 * (i % 8) + j % 8 // 2` it is 8 x 8 for units of 16.
std::optional<ContiguousBox> contiguousBox(const IndexExpr &offset, llvm::ArrayRef<int64_t> shape,
                                           int64_t unit, int64_t limit);

} // namespace tilewright

#endif // TILEWRIGHT_LAYOUT_CONTIGUITY_H
