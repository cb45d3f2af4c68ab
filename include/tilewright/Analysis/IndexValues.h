//===- IndexValues.h - SSA index values as integer expressions ----------------------*- C++ -*-===//
//
// Reads an SSA value back as an IndexExpr over chosen variables (loop iterators become dims) and
// over values that are the same for all iterations in question (they become symbols). What depends
// on memory has no such form: the caller must treat it as unknown.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_ANALYSIS_INDEXVALUES_H
#define TILEWRIGHT_ANALYSIS_INDEXVALUES_H

#include "tilewright/Layout/IndexExpr.h"
#include "tilewright/Layout/IndexFacts.h"

#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/FunctionExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace tilewright::analysis {

/// Which value each symbol stands for. Expressions can be compared if they share one.
using SymbolNumbers = llvm::DenseMap<mlir::Value, unsigned>;

/// Adds the symbols of an expression, each as often as it stands there.
void collectSymbols(const IndexExpr &expr, llvm::SmallVectorImpl<unsigned> &symbols);

/// The kind of expression that an index operation computes; nothing for any other operation.
std::optional<IndexExpr::Kind> getIndexKind(mlir::Operation *op);

/// What becomes of a value that is defined outside the scope of a translation.
enum class OuterValues {
  Opaque, ///< A symbol.
  Expand, ///< The expression that computes it, down to values that are no arithmetic.
};

/// Translates values inside `scope`: added iterators are dims, values defined outside are symbols.
class IndexTranslator {
public:
  /// Symbols are numbered by `shared`, or by the translator itself.
  explicit IndexTranslator(mlir::Operation *scope, SymbolNumbers *shared = nullptr,
                           OuterValues outer = OuterValues::Opaque)
      : scope(scope), symbols(shared ? *shared : ownSymbols), outer(outer) {}
  IndexTranslator(const IndexTranslator &) = delete;

  /// Makes `value` the next dim. All dims are added before the first translation.
  void addDim(mlir::Value value) { dims.try_emplace(value, dims.size()); }
  unsigned getNumDims() const { return dims.size(); }
  bool isDim(mlir::Value value) const { return dims.contains(value); }

  /// Lets values inside the scope that are no arithmetic become symbols too, where they are
  /// functions of index values: results of pure operations, and of those that `isFunction` accepts.
  /// Such a symbol has one value where its arguments are equal, and may have another elsewhere.
  void allowFunctions(llvm::unique_function<bool(mlir::Operation *) const> isFunction) {
    this->isFunction = std::move(isFunction);
  }
  /// What a symbol is a function of; empty for values that are the same for all iterations.
  llvm::ArrayRef<IndexExpr> getArguments(unsigned symbol) const {
    auto it = arguments.find(symbol);
    return it == arguments.end() ? llvm::ArrayRef<IndexExpr>() : it->second;
  }

  /// The expression, or nothing if the value depends on memory or on unknown operations.
  std::optional<IndexExpr> translate(mlir::Value value) { return translate(value, 64); }

private:
  std::optional<IndexExpr> translate(mlir::Value value, unsigned depth);
  std::optional<IndexExpr> translateOp(mlir::Operation *op, unsigned depth);
  IndexExpr symbolOf(mlir::Value value);
  bool isDefinedOutside(mlir::Value value) const;
  std::optional<IndexExpr> translateFunction(mlir::Value value, unsigned depth);
  bool collectArguments(mlir::Value value, unsigned depth, llvm::SmallVectorImpl<IndexExpr> &found);

  mlir::Operation *scope;
  llvm::DenseMap<mlir::Value, unsigned> dims;
  SymbolNumbers ownSymbols;
  SymbolNumbers &symbols;
  OuterValues outer;
  llvm::unique_function<bool(mlir::Operation *) const> isFunction; ///< None: no functions.
  llvm::DenseMap<unsigned, llvm::SmallVector<IndexExpr, 2>> arguments;
  /// Values that are used twice are translated once: `x = x + x` is linear work, not exponential.
  llvm::DenseMap<mlir::Value, std::optional<IndexExpr>> known;
};

/// An expression split into a part of dims and a part of symbols whose sum it is.
struct SeparatedExpr {
  IndexExpr dims;
  IndexExpr symbols;
};
/// Nothing where dims and symbols are mixed in one term, as in `(i + n) // 2`.
std::optional<SeparatedExpr> separate(const IndexExpr &expr);
/// The same with the help of facts: `(i + 32 * n) // 8` is `i // 8` and `4 * n`, since 8 divides
/// 32 * n, and `(i + 32 * n) ^ j` is `(i ^ j)` and `32 * n` where j is below 32.
std::optional<SeparatedExpr> separate(const IndexExpr &expr, llvm::ArrayRef<IndexFacts> dims,
                                      llvm::ArrayRef<IndexFacts> symbols);

} // namespace tilewright::analysis

#endif // TILEWRIGHT_ANALYSIS_INDEXVALUES_H
