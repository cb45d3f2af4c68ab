//===- Inverse.cpp - from a position back to the element ------------------------------------===//
//
// A decodable output tells its terms: with coefficients 1, 8, 64 they are out % 8, out % 64 // 8
// and out // 64. The terms are xors of digits; the left inverse of the bit matrix says which terms
// to xor for each digit, and the digits make up the index.
//
//===----------------------------------------------------------------------------------------===//

#include "tilewright/Layout/Algebra.h"
#include "tilewright/Layout/DigitForm.h"
#include "tilewright/Layout/Enumerate.h"
#include "tilewright/Layout/F2Matrix.h"
#include "tilewright/Layout/Questions.h"
#include "tilewright/Support/IndexMath.h"
#include "llvm/ADT/STLExtras.h"
#include <bit>

using namespace tilewright;
using llvm::ArrayRef;
using llvm::Expected;
using llvm::SmallVector;

namespace {

/// A term of an output, by position in the output's sum.
struct TermRef {
  unsigned output;
  unsigned term;
};

class Inverter {
public:
  explicit Inverter(const DigitForm &form) : form(form) {
    SmallVector<uint64_t, 16> rows;
    for (auto [output, sum] : llvm::enumerate(form.getSums())) {
      if (!sum.isDecodable())
        continue;
      for (auto [position, term] : llvm::enumerate(sum.terms)) {
        rows.push_back(term.digits);
        terms.push_back({unsigned(output), unsigned(position)});
      }
    }
    inverse = F2Matrix(form.getDigits().size(), rows).getLeftInverse();
  }

  bool succeeded() const { return inverse.has_value(); }

  /// The logical index in one dimension, as an expression of the physical index.
  IndexExpr index(unsigned dim) const {
    IndexExpr result = 0;
    SmallVector<unsigned, 4> digits = form.digitsOfDim(dim);
    for (unsigned at = 0; at < digits.size();) {
      unsigned first = digits[at], last = first;
      while (at + 1 < digits.size() && continues(last, digits[at + 1]))
        last = digits[++at];
      ++at;
      IndexExpr value = first == last ? digit(first) : run(first, last);
      result = IndexExpr(form.getDigits()[first].weight) * value + result;
    }
    return result;
  }

private:
  const DigitTerm &get(TermRef ref) const { return form.getSums()[ref.output].terms[ref.term]; }

  /// The term that is just this digit, if the inverse reads the digit from it.
  std::optional<TermRef> plainTerm(unsigned digit) const {
    uint64_t combination = inverse->combinations[digit];
    if (!std::has_single_bit(combination))
      return std::nullopt;
    TermRef ref = terms[inverse->rows[std::countr_zero(combination)]];
    const DigitTerm &term = get(ref);
    return term.flip == 0 && term.coefficient > 0 ? std::optional(ref) : std::nullopt;
  }

  /// Whether two neighbouring digits of a dim also stand side by side in one output.
  bool continues(unsigned lower, unsigned upper) const {
    std::optional<TermRef> a = plainTerm(lower), b = plainTerm(upper);
    if (!a || !b || a->output != b->output || !get(*a).isBounded())
      return false;
    return checkedMul(get(*a).coefficient, get(*a).range) == get(*b).coefficient;
  }

  /// The output minus everything but its terms, which then count up from 0.
  IndexExpr base(unsigned output) const {
    const DigitSum &sum = form.getSums()[output];
    int64_t low = sum.constant;
    for (const DigitTerm &term : sum.terms)
      if (term.coefficient < 0)
        low += term.coefficient * (term.range - 1);
    return IndexExpr::dim(output) - low;
  }

  /// The output without the terms above `term`, in units of `term`.
  IndexExpr decode(TermRef first, TermRef last) const {
    const DigitSum &sum = form.getSums()[first.output];
    IndexExpr rest = base(first.output);
    for (unsigned above = sum.terms.size(); --above > last.term;)
      rest = rest % std::abs(sum.terms[above].coefficient);
    return floorDiv(rest, std::abs(sum.terms[first.term].coefficient));
  }

  IndexExpr run(unsigned first, unsigned last) const {
    return decode(*plainTerm(first), *plainTerm(last));
  }

  IndexExpr digit(unsigned position) const {
    IndexExpr value = 0;
    for (uint64_t left = inverse->combinations[position]; left != 0; left &= left - 1) {
      TermRef ref = terms[inverse->rows[std::countr_zero(left)]];
      IndexExpr term = decode(ref, ref);
      if (get(ref).coefficient < 0) // it counts down
        term = get(ref).range - 1 - term;
      value = value ^ (term ^ get(ref).flip);
    }
    return value;
  }

  const DigitForm &form;
  SmallVector<TermRef, 16> terms; ///< Of each row.
  std::optional<F2Matrix::LeftInverse> inverse;
};

} // namespace

Expected<Layout> tilewright::invert(const Layout &layout) {
  Answer<Collision> injective = isInjective(layout);
  if (injective.isNo())
    return llvm::createStringError("invert: " + layout.str() +
                                   " is not injective: " + injective.getCounterexample().str());
  if (layout.getNumElements() == 0)
    return llvm::createStringError("invert: " + layout.str() + " has no elements");
  const std::optional<DigitForm> &form = DigitForm::of(layout);
  std::optional<Inverter> inverter;
  if (form)
    inverter.emplace(*form);
  if (!inverter || !inverter->succeeded())
    return llvm::createStringError("invert: " + layout.str() +
                                   " has no inverse made of + - * // % ^ that we can find");
  SmallVector<IndexExpr, 4> outputs;
  for (unsigned dim = 0; dim < layout.getRank(); ++dim)
    outputs.push_back(inverter->index(dim));
  if (llvm::Error error = Layout::verify(layout.getOutputShape(), outputs))
    return error;
  return Layout::get(layout.getOutputShape(), outputs);
}

Expected<Layout> tilewright::invert(const Fragment &fragment) {
  return invert(fragment.asLayout());
}

std::optional<std::vector<int64_t>> tilewright::invertByTable(const Layout &layout) {
  std::optional<int64_t> numPositions = layout.getPhysicalSize();
  std::optional<IndexExpr> offset = layout.getOffset();
  if (!numPositions || *numPositions > 16 * kMaxEnumeratedElements || !offset ||
      !isAddressable(layout).isYes())
    return std::nullopt;
  std::vector<int64_t> elements(*numPositions, -1);
  bool shared = false;
  bool known =
      visitValues(*offset, layout.getShape(), [&](int64_t start, ArrayRef<int64_t> values) {
        for (auto [at, value] : llvm::enumerate(values)) {
          shared |= elements[value] >= 0;
          elements[value] = start + int64_t(at);
        }
        return !shared;
      });
  if (!known || shared)
    return std::nullopt;
  return elements;
}
