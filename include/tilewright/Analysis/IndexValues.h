//===- IndexValues.h - SSA index values as integer expressions ------------------------*- C++
//-*-===//
//
// Reads an SSA value back as an IndexExpr over chosen variables (loop iterators become dims) and
// over values that are the same for all iterations in question (they become symbols). What depends
// on memory has no such form: the caller must treat it as unknown.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_ANALYSIS_INDEXVALUES_H
#define TILEWRIGHT_ANALYSIS_INDEXVALUES_H

#include "tilewright/Layout/IndexExpr.h"

#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

namespace tilewright::analysis {

/// Translates values inside `scope`: added iterators are dims, values defined outside are symbols.
class IndexTranslator {
public:
  explicit IndexTranslator(mlir::Operation *scope) : scope(scope) {}

  /// Makes `value` the next dim.
  void addDim(mlir::Value value) { dims.try_emplace(value, dims.size()); }
  unsigned getNumDims() const { return dims.size(); }
  bool isDim(mlir::Value value) const { return dims.contains(value); }

  /// The expression, or nothing if the value depends on memory or on unknown operations.
  std::optional<IndexExpr> translate(mlir::Value value) { return translate(value, 64); }

private:
  std::optional<IndexExpr> translate(mlir::Value value, unsigned depth);
  IndexExpr symbolOf(mlir::Value value);

  mlir::Operation *scope;
  llvm::DenseMap<mlir::Value, unsigned> dims;
  llvm::DenseMap<mlir::Value, unsigned> symbols;
};

/// An expression split into a part of dims and a part of symbols whose sum it is.
struct SeparatedExpr {
  IndexExpr dims;
  IndexExpr symbols;
};
/// Nothing where dims and symbols are mixed in one term, as in `(i + n) // 2`.
std::optional<SeparatedExpr> separate(const IndexExpr &expr);

} // namespace tilewright::analysis

#endif // TILEWRIGHT_ANALYSIS_INDEXVALUES_H
