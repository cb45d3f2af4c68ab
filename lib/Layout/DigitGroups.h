//===- DigitGroups.h - runs of neighbouring digits that occur as a whole ----------*- C++ -*-===//
//
// Where one output of a layout cuts an index and another does not, the second holds both digits
// with weights that fit together: 8 * i1 + 1 * i0 is just i. Groups undo such cuts, for exact
// bounds and for short expressions.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_LIB_LAYOUT_DIGITGROUPS_H
#define TILEWRIGHT_LIB_LAYOUT_DIGITGROUPS_H

#include "tilewright/Layout/DigitForm.h"

namespace tilewright {

/// Neighbouring digits of one dim, by position, both included.
struct DigitRun {
  unsigned first, last;
};

/// A term of a sum, or several plain ones written as one: `coefficient * (dim // weight % range)`.
struct DigitGroup {
  DigitTerm term;
  std::optional<DigitRun> run; ///< For plain digits; none for xors.
};

/// Whether no digit of the same dim has a larger weight.
bool isHighestDigit(const DigitForm &form, unsigned digit);

llvm::SmallVector<DigitGroup, 4> groupTerms(const DigitForm &form, llvm::ArrayRef<int64_t> shape,
                                            const DigitSum &sum);

/// `dim // weight % range` for a run, without the parts that do nothing.
IndexExpr digitRunExpr(const DigitForm &form, DigitRun run);

} // namespace tilewright

#endif // TILEWRIGHT_LIB_LAYOUT_DIGITGROUPS_H
