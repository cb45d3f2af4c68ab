//===- Notation.h - how index expressions and layouts are written -----------------*- C++ -*-===//
//
// One notation for users, remarks, attributes and tests; it is Python's:
//
//   layout     (i, j) -> (i, j ^ 4 * (i % 8))
//   symbols    (i, j)[n] -> (i * n + j)
//   fragment   (i, j) -> thread 4 * (i % 8) + j // 2, slot j % 2
//   replicas   (i) rep r of 4 -> thread 4 * i + r, slot 0
//
//   expression = xor; from loosest to tightest:   ^     + -     * // %     unary -
//   operand    = number | name | ( expression ) | min(a, b) | max(a, b)
//
// All binary operators associate to the left. The printer writes as few parentheses as this allows,
// and `parse(print(e)) == e` for every expression: the printed text keeps the structure.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_LAYOUT_NOTATION_H
#define TILEWRIGHT_LAYOUT_NOTATION_H

#include "tilewright/Layout/IndexExpr.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace tilewright {

/// The names of dims and symbols in a text.
struct IndexNames {
  llvm::SmallVector<std::string, 4> dims;
  llvm::SmallVector<std::string, 2> symbols;

  /// i, j, k, l, m, n for up to six dims, d0, d1, … beyond; symbols are s0, s1, …
  static IndexNames defaults(unsigned numDims, unsigned numSymbols = 0);
};

/// Writes `expr`. Dims and symbols without a name in `names` are written d7, s7.
void printIndexExpr(llvm::raw_ostream &os, const IndexExpr &expr, const IndexNames &names);
std::string toString(const IndexExpr &expr, const IndexNames &names);
/// Writes `(a, b)`.
void printIndexExprs(llvm::raw_ostream &os, llvm::ArrayRef<IndexExpr> exprs,
                     const IndexNames &names);
/// Writes `(i, j)` or `(i, j)[n]`.
void printIndexNames(llvm::raw_ostream &os, const IndexNames &names);

llvm::Expected<IndexExpr> parseIndexExpr(llvm::StringRef text, const IndexNames &names);

/// What `(i, j)[n] -> (…)` says.
struct ParsedMap {
  IndexNames names;
  llvm::SmallVector<IndexExpr, 4> outputs;
};
llvm::Expected<ParsedMap> parseIndexMap(llvm::StringRef text);

/// What `(i, j) rep r of 2 -> thread …, slot …` says. The replica index is the dim after the
/// logical ones; `replicas` is 1 where the text has no `rep`.
struct ParsedPlacement {
  IndexNames names; ///< Without the replica's name.
  int64_t replicas = 1;
  IndexExpr thread;
  IndexExpr slot;
};
llvm::Expected<ParsedPlacement> parseIndexPlacement(llvm::StringRef text);

} // namespace tilewright

#endif // TILEWRIGHT_LAYOUT_NOTATION_H
