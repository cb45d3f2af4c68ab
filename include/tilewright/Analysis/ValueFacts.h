//===- ValueFacts.h - bounds and divisibility of SSA index values ---------------------*- C++
//-*-===//

#ifndef TILEWRIGHT_ANALYSIS_VALUEFACTS_H
#define TILEWRIGHT_ANALYSIS_VALUEFACTS_H

#include "mlir/IR/Value.h"
#include "tilewright/Layout/IndexFacts.h"

namespace tilewright::analysis {

/// What is known of an index value wherever it is computed: block ids lie in their grid, loop
/// variables between their bounds, and arithmetic follows. Values that depend on memory or on the
/// launch are unbounded.
IndexFacts getFacts(mlir::Value value);

} // namespace tilewright::analysis

#endif // TILEWRIGHT_ANALYSIS_VALUEFACTS_H
