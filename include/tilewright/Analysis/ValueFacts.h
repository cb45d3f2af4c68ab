//===- ValueFacts.h - bounds and divisibility of SSA index values -------------------*- C++ -*-===//

#ifndef TILEWRIGHT_ANALYSIS_VALUEFACTS_H
#define TILEWRIGHT_ANALYSIS_VALUEFACTS_H

#include "mlir/IR/Value.h"
#include "tilewright/Analysis/IndexValues.h"

namespace tilewright::analysis {

/// What is known of an index value wherever it is computed: block ids lie in their grid, loop
/// variables between their bounds, shape symbols are not negative and have the divisor that the
/// launcher promised (`tile.divisor`), and arithmetic follows. Values that depend on memory are
/// unbounded.
IndexFacts getFacts(mlir::Value value);

/// What is known of the symbols of a translation, by their numbers.
llvm::SmallVector<IndexFacts, 4> getSymbolFacts(const SymbolNumbers &numbers);

/// An extent of a buffer that is no view, as an expression: a number of its type, what was given to
/// its allocation, or what its `#tile.shape` computes from the shape symbols. Nothing where it is
/// not known what it is.
std::optional<IndexExpr> translateExtent(mlir::Value root, unsigned dim,
                                         IndexTranslator &translator);

/// What is known of such an extent inside `scope`.
IndexFacts getExtentFacts(mlir::Value root, unsigned dim, mlir::Operation *scope);

} // namespace tilewright::analysis

#endif // TILEWRIGHT_ANALYSIS_VALUEFACTS_H
