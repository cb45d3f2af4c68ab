//===- LinearSymbol.h - extents that one symbol determines -----------------------------------===//

#ifndef TILEWRIGHT_LAYOUT_LINEARSYMBOL_H
#define TILEWRIGHT_LAYOUT_LINEARSYMBOL_H

#include "tilewright/Layout/IndexExpr.h"

namespace tilewright {

/// `factor * (symbol // divisor) + constant`. Of the symbols that give one value, it is the multiple
/// of the divisor: `n // 2` bytes hold `n` numbers of four bits.
struct LinearSymbol {
  unsigned position;
  int64_t factor, constant, divisor = 1;

  /// The value of the symbol where the whole has this value; none if there is none.
  std::optional<int64_t> solve(int64_t value) const;
};

/// An expression that depends on one symbol in this way; nothing for any other.
std::optional<LinearSymbol> getLinearSymbol(const IndexExpr &expr);

} // namespace tilewright

#endif // TILEWRIGHT_LAYOUT_LINEARSYMBOL_H
