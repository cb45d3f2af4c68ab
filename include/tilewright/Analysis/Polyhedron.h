//===- Polyhedron.h - what linear constraints on index values rule out --------------*- C++ -*-===//
//
// Facts about single values (Layout/IndexFacts.h) do not know that two values belong together: that
// `64 * k + i` stays below n because k runs to `n // 64`, or because a branch around the access
// says so. Such questions go to MLIR's Presburger library.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_ANALYSIS_POLYHEDRON_H
#define TILEWRIGHT_ANALYSIS_POLYHEDRON_H

#include "tilewright/Layout/IndexFacts.h"

#include "mlir/Analysis/Presburger/IntegerRelation.h"

namespace tilewright::analysis {

/// The integer values of dims and symbols that satisfy some linear constraints.
class Polyhedron {
public:
  /// Dims run from 0 to their extents.
  Polyhedron(llvm::ArrayRef<int64_t> dimExtents, llvm::ArrayRef<IndexFacts> symbols);

  /// Adds `expr >= 0`. What is not linear is left out: more points remain, and less is ruled out.
  void addNonNegative(const IndexExpr &expr);

  /// Whether `expr >= 0` holds for no point. False also where `expr` is not linear, or where it would
  /// take long to find out.
  bool excludes(const IndexExpr &expr) const;

private:
  /// Coefficients of all variables, then the constant.
  using Row = llvm::SmallVector<int64_t, 16>;
  std::optional<Row> linearize(const IndexExpr &expr);
  std::optional<Row> combine(const IndexExpr &expr);
  Row variable(unsigned position) const;
  /// Makes a row as long as the variables that have been added since.
  Row extend(Row row) const;

  unsigned numDims;
  mlir::presburger::IntegerPolyhedron points;
};

} // namespace tilewright::analysis

#endif // TILEWRIGHT_ANALYSIS_POLYHEDRON_H
