//===- Conditions.h - what is known where an operation stands -----------------------*- C++ -*-===//
//
// Every branch and every loop around an operation has made sure of something before it runs: a
// condition holds, or does not; a variable lies between its bounds. Here that is a list of index
// expressions that are not negative, for a Polyhedron.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_ANALYSIS_CONDITIONS_H
#define TILEWRIGHT_ANALYSIS_CONDITIONS_H

#include "tilewright/Analysis/IndexValues.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tilewright::analysis {

/// `difference < 0`, or its negation: what an order of two index values compares.
struct IndexOrder {
  IndexExpr difference;
  bool isNegated;
};
/// Nothing where the comparison is no order, or not of index values.
std::optional<IndexOrder> getOrder(mlir::arith::CmpIOp compare, IndexTranslator &translator);

/// Adds the expressions that are not negative because `condition` is, or is not, true.
void collectKnown(mlir::Value condition, bool isTrue, IndexTranslator &translator,
                  llvm::SmallVectorImpl<IndexExpr> &known);

/// Expressions that are not negative whenever the operation runs: what the branches around it
/// tested, and the bounds of loops and grids whose variables are symbols. Bounds may name new
/// symbols.
llvm::SmallVector<IndexExpr, 4>
getKnownNonNegative(mlir::Operation *op, IndexTranslator &translator, const SymbolNumbers &numbers);

} // namespace tilewright::analysis

#endif // TILEWRIGHT_ANALYSIS_CONDITIONS_H
