//===- DigitForm.cpp - outputs as weighted sums of independent digits -----------------------===//

#include "tilewright/Layout/DigitForm.h"
#include "DigitGroups.h"
#include "LayoutCache.h"
#include "tilewright/Support/IndexMath.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <bit>

using namespace tilewright;
using llvm::ArrayRef;
using llvm::SmallVector;

static uint64_t magnitude(int64_t value) { return value < 0 ? -uint64_t(value) : uint64_t(value); }

bool DigitSum::isDecodable() const {
  unsigned __int128 reach = 0; // the largest sum of the terms so far
  for (const DigitTerm &term : terms) {
    if (magnitude(term.coefficient) <= reach)
      return false;
    if (!term.isBounded())
      return &term == &terms.back();
    reach += (unsigned __int128)magnitude(term.coefficient) * uint64_t(term.range - 1);
  }
  return true;
}

std::optional<DigitSum> tilewright::addScaled(const DigitSum &sum, const DigitSum &other,
                                              int64_t factor) {
  std::optional<int64_t> constant = checkedMul(other.constant, factor);
  constant = constant ? checkedAdd(sum.constant, *constant) : std::nullopt;
  if (!constant)
    return std::nullopt;
  DigitSum result{*constant, sum.terms};
  for (const DigitTerm &term : other.terms) {
    DigitTerm *same = llvm::find_if(result.terms, [&](const DigitTerm &have) {
      return have.digits == term.digits && have.flip == term.flip;
    });
    if (same == result.terms.end()) {
      result.terms.push_back(term);
      same = &result.terms.back();
      same->coefficient = 0;
    }
    std::optional<int64_t> scaled = checkedMul(term.coefficient, factor);
    scaled = scaled ? checkedAdd(same->coefficient, *scaled) : std::nullopt;
    if (!scaled)
      return std::nullopt;
    same->coefficient = *scaled;
  }
  llvm::erase_if(result.terms, [](const DigitTerm &term) { return term.coefficient == 0; });
  llvm::sort(result.terms, [](const DigitTerm &a, const DigitTerm &b) {
    return std::tuple(magnitude(a.coefficient), a.digits, a.flip) <
           std::tuple(magnitude(b.coefficient), b.digits, b.flip);
  });
  return result;
}

const std::optional<DigitForm> &DigitForm::of(const Layout &layout) {
  return layout.getCache().digits.get(
      [&] { return DigitForm::read(layout.getOutputs(), layout.getShape()); });
}

SmallVector<int64_t, 4> DigitForm::indexWithOnes(uint64_t set) const {
  SmallVector<int64_t, 4> index(shape.size(), 0);
  for (auto [position, digit] : llvm::enumerate(digits))
    if (set >> position & 1)
      index[digit.dim] += digit.weight;
  return index;
}

SmallVector<unsigned, 4> DigitForm::digitsOfDim(unsigned dim) const {
  SmallVector<unsigned, 4> positions;
  for (auto [position, digit] : llvm::enumerate(digits))
    if (digit.dim == dim)
      positions.push_back(position);
  return positions; // the reader lists them in ascending weight
}

//===----------------------------------------------------------------------------------------===//
// Groups: runs of neighbouring digits that occur as a whole
//===----------------------------------------------------------------------------------------===//

bool tilewright::isHighestDigit(const DigitForm &form, unsigned digit) {
  ArrayRef<Digit> digits = form.getDigits();
  return digit + 1 == digits.size() || digits[digit + 1].dim != digits[digit].dim;
}

SmallVector<DigitGroup, 4> tilewright::groupTerms(const DigitForm &form, ArrayRef<int64_t> shape,
                                                  const DigitSum &sum) {
  auto isPlain = [](const DigitTerm &term) {
    return std::has_single_bit(term.digits) && !term.flip;
  };
  SmallVector<DigitGroup, 4> groups;
  uint64_t grouped = 0;
  // Terms in order of their digits: a group grows from its lowest digit upwards.
  SmallVector<DigitTerm, 4> terms(sum.terms.begin(), sum.terms.end());
  llvm::sort(terms, [](const DigitTerm &a, const DigitTerm &b) {
    return std::tuple(std::countr_zero(a.digits), a.digits, a.flip) <
           std::tuple(std::countr_zero(b.digits), b.digits, b.flip);
  });
  for (const DigitTerm &term : terms) {
    if (!isPlain(term)) {
      groups.push_back({term, std::nullopt});
      continue;
    }
    if (grouped & term.digits)
      continue;
    unsigned first = std::countr_zero(term.digits), last = first;
    DigitTerm whole = term;
    while (!isHighestDigit(form, last) && whole.isBounded()) {
      const auto *next = llvm::find_if(terms, [&](const DigitTerm &other) {
        return isPlain(other) && other.digits == uint64_t(1) << (last + 1);
      });
      std::optional<int64_t> expected = checkedMul(whole.coefficient, whole.range);
      if (next == terms.end() || !expected || next->coefficient != *expected)
        break;
      ++last;
      whole.digits |= next->digits;
      whole.range = next->isBounded() ? whole.range * next->range : kDynamic;
    }
    const Digit &lowest = form.getDigits()[first];
    if (isHighestDigit(form, last) &&
        whole.isBounded()) // exact also where the top digit is not full
      whole.range = llvm::divideCeil(shape[lowest.dim], lowest.weight);
    grouped |= whole.digits;
    groups.push_back({whole, DigitRun{first, last}});
  }
  return groups;
}

IndexExpr tilewright::digitRunExpr(const DigitForm &form, DigitRun run) {
  const Digit &lowest = form.getDigits()[run.first], &highest = form.getDigits()[run.last];
  IndexExpr value = floorDiv(IndexExpr::dim(lowest.dim), lowest.weight);
  if (isHighestDigit(form, run.last))
    return value;
  return value % (highest.weight / lowest.weight * highest.range);
}

IndexExpr DigitForm::toExpr(const DigitSum &sum) const {
  SmallVector<DigitGroup, 4> groups = groupTerms(*this, shape, sum);
  llvm::sort(groups, [](const DigitGroup &a, const DigitGroup &b) {
    return std::tuple(magnitude(a.term.coefficient), b.term.digits, b.term.flip) >
           std::tuple(magnitude(b.term.coefficient), a.term.digits, a.term.flip);
  });
  IndexExpr result = 0;
  for (const DigitGroup &group : groups) {
    IndexExpr value = group.term.flip;
    if (group.run)
      value = digitRunExpr(*this, *group.run);
    else
      for (unsigned digit = 0; digit < digits.size(); ++digit)
        if (group.term.digits >> digit & 1)
          value = digitRunExpr(*this, {digit, digit}) ^ value;
    int64_t coefficient = group.term.coefficient;
    if (coefficient < 0 && coefficient != std::numeric_limits<int64_t>::min())
      result = result - IndexExpr(-coefficient) * value;
    else
      result = result + IndexExpr(coefficient) * value;
  }
  return result + sum.constant;
}

std::optional<DigitForm::Bounds> DigitForm::getBounds(const DigitSum &sum) const {
  SmallVector<DigitGroup, 4> groups = groupTerms(*this, shape, sum);
  uint64_t seen = 0;
  for (const DigitGroup &group : groups) {
    if (seen & group.term.digits)
      return std::nullopt;
    seen |= group.term.digits;
  }
  // A highest digit that is not full forbids some values of the dim's other digits.
  for (const DigitGroup &group : groups)
    for (unsigned digit = 0; digit < digits.size(); ++digit) {
      if ((group.term.digits >> digit & 1) == 0 || !isHighestDigit(*this, digit) ||
          shape[digits[digit].dim] == kDynamic ||
          shape[digits[digit].dim] % digits[digit].weight == 0)
        continue;
      for (unsigned other : digitsOfDim(digits[digit].dim))
        if (seen & ~group.term.digits & uint64_t(1) << other)
          return std::nullopt;
    }
  Bounds bounds{sum.constant, sum.constant};
  for (const DigitGroup &group : groups) {
    const DigitTerm &term = group.term;
    if (!term.isBounded()) {
      if (term.coefficient < 0)
        return std::nullopt;
      bounds.high = kDynamic;
      continue;
    }
    int64_t &end = term.coefficient < 0 ? bounds.low : bounds.high;
    if (end == kDynamic)
      continue;
    std::optional<int64_t> reach = checkedMul(term.coefficient, term.range - 1);
    reach = reach ? checkedAdd(end, *reach) : std::nullopt;
    if (!reach)
      return std::nullopt;
    end = *reach;
  }
  return bounds;
}
