//===- RuntimeExtents.h - offsets of a layout whose extents come with a launch ------*- C++ -*-===//
//
// A tensor of run-time shape may have a layout too: `(i, j) -> (j, i)` over M x N. The stride of
// `j` is then M, which the compiler does not know; it emits a formula of the extents instead.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_LAYOUT_RUNTIMEEXTENTS_H
#define TILEWRIGHT_LAYOUT_RUNTIMEEXTENTS_H

#include "tilewright/Layout/Layout.h"

namespace tilewright {

/// The extent of an output as an expression whose dims are the extents of the tensor: a constant
/// where it does not depend on the launch (`Layout::getOutputShape`), else one more than the output
/// of the last element. Nothing for a layout with symbols, or where a run-time extent belongs to an
/// output that is not known to grow with every index (`i ^ j`).
std::optional<IndexExpr> getOutputExtent(const Layout &layout, unsigned position);

/// The row-major offset of an element: dims 0 to rank - 1 are its index, dims rank to 2 * rank - 1
/// the extents of the tensor. Nothing where an extent has no formula; the first is no stride and
/// needs none.
std::optional<IndexExpr> getRuntimeOffset(const Layout &layout);

} // namespace tilewright

#endif // TILEWRIGHT_LAYOUT_RUNTIMEEXTENTS_H
