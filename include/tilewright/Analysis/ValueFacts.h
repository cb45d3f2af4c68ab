//===- ValueFacts.h - bounds and divisibility of SSA index values ---------------------*- C++
//-*-===//

#ifndef TILEWRIGHT_ANALYSIS_VALUEFACTS_H
#define TILEWRIGHT_ANALYSIS_VALUEFACTS_H

#include "mlir/IR/Value.h"
#include "tilewright/Layout/IndexFacts.h"

namespace tilewright::analysis {

/// What is known of an index value wherever it is computed: block ids lie in their grid, loop
/// variables between their bounds, shape symbols are not negative and have the divisor that the
/// launcher promised (`tile.divisor`), and arithmetic follows. Values that depend on memory are
/// unbounded.
IndexFacts getFacts(mlir::Value value);

/// What is known of an extent of a buffer that is no view: a number of its type, what was given to
/// its allocation, or what its `#tile.shape` computes from the shape symbols.
IndexFacts getExtentFacts(mlir::Value root, unsigned dim);

} // namespace tilewright::analysis

#endif // TILEWRIGHT_ANALYSIS_VALUEFACTS_H
