//===- Cases.h - the values of symbols, split until offsets are known -------------------------===//
//
// A layout may mix what a thread does not know with what it does: `(i + 6 * n) % 4` has no part of
// `i` alone and part of `n` alone. But n is even or odd, and in either case it has: a question
// about all symbols is answered by asking it in a few cases that cover them.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_LIB_ACCESS_CASES_H
#define TILEWRIGHT_LIB_ACCESS_CASES_H

#include "Offsets.h"

namespace tilewright::access {

/// Offsets and coordinates under some of the values of the symbols.
struct Case {
  Offsets offsets;
  std::optional<CoordinateRanges> ranges; ///< Of a global access.
  std::optional<CoordinateRanges> tests;  ///< Of the values that branches test.
};

/// Cases that together cover all values; none where no small number of them makes the offsets
/// known.
std::vector<Case> splitCases(const Request &request);

} // namespace tilewright::access

#endif // TILEWRIGHT_LIB_ACCESS_CASES_H
