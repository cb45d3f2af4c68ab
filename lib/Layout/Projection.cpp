//===- Projection.cpp - the fragment of a reduced tile --------------------------------------===//

#include "tilewright/Layout/Algebra.h"
#include "tilewright/Layout/DigitForm.h"
#include "tilewright/Layout/Questions.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include <bit>

using namespace tilewright;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace {

/// The digits of a dim that a set selects, renumbered as one index: the lowest digit first.
class PackedDigits {
public:
  PackedDigits(const DigitForm &form, uint64_t set) : form(form), set(set) {}

  int64_t getCount() const {
    int64_t count = 1;
    for (auto [position, digit] : llvm::enumerate(form.getDigits()))
      if (set >> position & 1)
        count *= digit.range;
    return count;
  }

  /// The value of each of these digits, read from the packed index; others have none.
  std::optional<IndexExpr> unpack(unsigned position, const IndexExpr &packed) const {
    if ((set >> position & 1) == 0)
      return std::nullopt;
    int64_t weight = 1;
    for (unsigned below = 0; below < position; ++below)
      if (set >> below & 1)
        weight *= form.getDigits()[below].range;
    IndexExpr value = floorDiv(packed, weight);
    bool isLast = (set >> position) == 1;
    return isLast ? value : value % form.getDigits()[position].range;
  }

private:
  const DigitForm &form;
  uint64_t set;
};

uint64_t digitsIn(const DigitSum &sum) {
  uint64_t set = 0;
  for (const DigitTerm &term : sum.terms)
    set |= term.digits;
  return set;
}

} // namespace

std::optional<Fragment> tilewright::projectAway(const Fragment &fragment, unsigned dim) {
  const std::optional<DigitForm> &form = DigitForm::of(fragment.asLayout());
  if (!form || !form->isExact())
    return std::nullopt;
  const DigitSum &thread = form->getSums()[0], &slot = form->getSums()[1];
  uint64_t reduced = 0, replica = 0;
  for (auto [position, digit] : llvm::enumerate(form->getDigits())) {
    if (digit.dim == dim)
      reduced |= uint64_t(1) << position;
    if (digit.dim == fragment.getRank())
      replica |= uint64_t(1) << position;
  }
  // The replicas are what picks among the threads of a row: the old replicas, then the dim's
  // digits.
  PackedDigits oldReplicas(*form, replica & digitsIn(thread));
  PackedDigits newReplicas(*form, reduced & digitsIn(thread));
  unsigned newRank = fragment.getRank() - 1;
  IndexExpr replicaIndex = IndexExpr::dim(newRank);
  IndexExpr oldIndex = replicaIndex % oldReplicas.getCount();
  IndexExpr newIndex = floorDiv(replicaIndex, oldReplicas.getCount());
  auto digitValue = [&](unsigned position) -> IndexExpr {
    const Digit &digit = form->getDigits()[position];
    if (std::optional<IndexExpr> value = oldReplicas.unpack(position, oldIndex))
      return *value;
    if (std::optional<IndexExpr> value = newReplicas.unpack(position, newIndex))
      return *value;
    if (digit.dim == dim || digit.dim == fragment.getRank())
      return 0;
    IndexExpr index = IndexExpr::dim(digit.dim > dim ? digit.dim - 1 : digit.dim);
    return floorDiv(index, digit.weight) % digit.range;
  };
  auto termValue = [&](const DigitTerm &term) {
    IndexExpr value = term.flip;
    for (uint64_t left = term.digits; left != 0; left &= left - 1)
      value = digitValue(std::countr_zero(left)) ^ value;
    return value;
  };
  IndexExpr newThread = thread.constant;
  for (const DigitTerm &term : llvm::reverse(thread.terms))
    newThread = newThread + IndexExpr(term.coefficient) * termValue(term);
  // Slots that differ only in the reduced digits are one slot now.
  IndexExpr newSlot = 0;
  int64_t numSlots = 1;
  if (!slot.isDecodable())
    return std::nullopt;
  llvm::SmallDenseSet<uint64_t, 4> seen = {0};
  for (const DigitTerm &term : slot.terms) {
    if (!seen.insert(term.digits & ~(reduced | replica)).second)
      continue; // tells nothing about the row that is not known already
    newSlot = IndexExpr(numSlots) * termValue(term) + newSlot;
    numSlots *= term.range;
  }
  SmallVector<int64_t, 4> shape(fragment.getShape());
  shape.erase(shape.begin() + dim);
  int64_t replicas = oldReplicas.getCount() * newReplicas.getCount();
  Layout simpler = [&] {
    SmallVector<int64_t, 4> withReplica = shape;
    withReplica.push_back(replicas);
    return simplify(Layout::get(withReplica, {newThread, newSlot}));
  }();
  Fragment result =
      Fragment::get(shape, simpler.getOutputs()[0], simpler.getOutputs()[1], replicas);
  // A thread that holds a row through two digits at once would get it twice.
  return isInjective(result).isYes() ? std::optional(result) : std::nullopt;
}
