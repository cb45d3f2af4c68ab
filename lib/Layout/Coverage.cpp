//===- Coverage.cpp - has every position an element? ----------------------------------------===//

#include "Counterexamples.h"
#include "LayoutCache.h"
#include "tilewright/Layout/Enumerate.h"
#include "tilewright/Support/IndexMath.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace tilewright;
using llvm::ArrayRef;
using llvm::SmallVector;

/// The row-major number of each element's position; elements at negative coordinates have none.
static std::optional<std::vector<int64_t>> positionNumbers(const Layout &layout) {
  std::optional<ValueColumns> columns = enumerateValues(layout.getOutputs(), layout.getShape());
  if (!columns)
    return std::nullopt;
  std::vector<int64_t> numbers;
  int64_t numElements = *layout.getNumElements();
  numbers.reserve(numElements);
  for (int64_t element = 0; element < numElements; ++element) {
    int64_t number = 0;
    bool inside = true;
    for (auto [column, extent] : llvm::zip(*columns, layout.getOutputShape())) {
      inside &= column[element] >= 0;
      number = inside ? number * extent + column[element] : 0;
    }
    if (inside)
      numbers.push_back(number);
  }
  return numbers;
}

/// The smallest number below `limit` that is not in the list.
static std::optional<int64_t> findAbsent(std::vector<int64_t> numbers, int64_t limit) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  int64_t absent = 0;
  while (absent < int64_t(numbers.size()) && numbers[absent] == absent)
    ++absent;
  return absent < limit ? std::optional(absent) : std::nullopt;
}

static std::optional<Answer<Hole>> answerByEnumeration(const Layout &layout) {
  std::optional<int64_t> numPositions = layout.getPhysicalSize();
  std::optional<std::vector<int64_t>> numbers =
      numPositions ? positionNumbers(layout) : std::nullopt;
  if (!numbers)
    return std::nullopt;
  if (std::optional<int64_t> hole = findAbsent(std::move(*numbers), *numPositions))
    return Answer<Hole>::no({delinearize(*hole, layout.getOutputShape())});
  return Answer<Hole>::yes();
}

/// A value between the smallest and the largest that a decodable sum skips.
static std::optional<int64_t> findGap(const DigitSum &sum, int64_t low) {
  int64_t reach = 0;
  for (const DigitTerm &term : sum.terms) {
    std::optional<int64_t> next = checkedAdd(reach, 1);
    if (!next || std::abs(term.coefficient) != *next)
      return checkedAdd(low, reach + 1);
    if (!term.isBounded())
      return std::nullopt;
    std::optional<int64_t> span = checkedMul(std::abs(term.coefficient), term.range - 1);
    span = span ? checkedAdd(reach, *span) : std::nullopt;
    if (!span)
      return std::nullopt;
    reach = *span;
  }
  return std::nullopt;
}

/// The sum when all its terms are 0 before their flips, but `changed`, which is 1.
static int64_t valueWithTerm(const DigitSum &sum, const DigitTerm *changed) {
  int64_t value = sum.constant;
  for (const DigitTerm &term : sum.terms)
    value += term.coefficient * (&term == changed ? 1 ^ term.flip : term.flip);
  return value;
}

/// Where the cuts do not divide the extents, the digits describe a larger tile. If no two elements
/// of that one share a position, then the positions of those that are missing here are holes.
static std::optional<Answer<Hole>> answerByLargerTile(const Layout &layout, const DigitForm &form) {
  SmallVector<uint64_t, 16> rows;
  for (const DigitSum &sum : form.getSums())
    if (sum.isDecodable())
      for (const DigitTerm &term : sum.terms)
        rows.push_back(term.digits);
  if (!layout.hasStaticShape() || F2Matrix(form.getDigits().size(), rows).getKernelVector())
    return std::nullopt;
  IndexVector last(layout.getRank(), 0);
  for (unsigned dim = 0; dim < layout.getRank(); ++dim) {
    if (layout.getShape()[dim] == 1)
      continue;
    const Digit &highest = form.getDigits()[form.digitsOfDim(dim).back()];
    if (layout.getShape()[dim] % highest.weight != 0)
      last[dim] = highest.weight * highest.range - 1;
  }
  std::optional<IndexVector> image = layout.map(last);
  if (!image || !isInShape(*image, layout.getOutputShape()))
    return std::nullopt;
  return Answer<Hole>::no({*image});
}

/// For tensors too large to enumerate whose outputs all determine their terms: they skip a position
/// if one of them skips a value, or if a term follows from the others.
static std::optional<Answer<Hole>> answerByDigits(const Layout &layout) {
  const std::optional<DigitForm> &form = DigitForm::of(layout);
  if (!form)
    return std::nullopt;
  if (!form->isExact())
    return answerByLargerTile(layout, *form);
  IndexVector lows(layout.getOutputMinimum());
  if (llvm::any_of(lows, [](int64_t low) { return low == kDynamic || low < 0; }))
    return std::nullopt;
  SmallVector<uint64_t, 16> rows;
  SmallVector<std::pair<unsigned, const DigitTerm *>, 16> termOfRow;
  for (auto [position, sum] : llvm::enumerate(form->getSums())) {
    if (!sum.isDecodable())
      return std::nullopt;
    IndexVector image = lows;
    if (lows[position] > 0) {
      image[position] = 0;
      return Answer<Hole>::no({image});
    }
    if (std::optional<int64_t> gap = findGap(sum, lows[position])) {
      image[position] = *gap;
      return Answer<Hole>::no({image});
    }
    for (const DigitTerm &term : sum.terms) {
      rows.push_back(term.digits);
      termOfRow.push_back({unsigned(position), &term});
    }
  }
  std::optional<unsigned> dependent = F2Matrix(form->getDigits().size(), rows).getDependentRow();
  if (!dependent)
    return Answer<Hole>::yes();
  auto [output, term] = termOfRow[*dependent];
  IndexVector image;
  for (auto [position, sum] : llvm::enumerate(form->getSums()))
    image.push_back(valueWithTerm(sum, position == output ? term : nullptr));
  return Answer<Hole>::no({image});
}

static Answer<Hole> computeCovering(const Layout &layout) {
  std::optional<int64_t> numElements = layout.getNumElements();
  std::optional<int64_t> numPositions = layout.getPhysicalSize();
  if (numPositions && *numPositions == 0)
    return Answer<Hole>::yes();
  if (isAddressable(layout).isYes() && isInjective(layout).isYes() && numElements && numPositions &&
      *numElements == *numPositions)
    return Answer<Hole>::yes();
  if (std::optional<Answer<Hole>> answer = answerByEnumeration(layout))
    return *answer;
  if (std::optional<Answer<Hole>> answer = answerByDigits(layout))
    return *answer;
  return Answer<Hole>::unknown("a tensor of shape " + shapeToString(layout.getShape()) +
                               " cannot be enumerated, and the digits of " + layout.str() +
                               " do not tell");
}

Answer<Hole> tilewright::covers(const Layout &layout) {
  return layout.getCache().covering.get([&] { return computeCovering(layout); });
}

Answer<Hole> tilewright::covers(const Fragment &fragment) { return covers(fragment.asLayout()); }

Answer<IndexVector> tilewright::isAddressable(const Layout &layout) {
  for (auto [position, low] : llvm::enumerate(layout.getOutputMinimum())) {
    if (low == kDynamic)
      return Answer<IndexVector>::unknown("output " + llvm::Twine(position) + " of " +
                                          layout.str() + " has no known minimum");
    if (low >= 0)
      continue;
    // The minimum is exact, so some element has it; only a tile too large to search hides which.
    std::optional<ValueColumns> values =
        enumerateValues(layout.getOutputs()[position], layout.getShape());
    if (!values)
      return Answer<IndexVector>::unknown("output " + llvm::Twine(position) + " of " +
                                          layout.str() + " reaches " + llvm::Twine(low));
    auto at = llvm::find((*values)[0], low) - (*values)[0].begin();
    return Answer<IndexVector>::no(delinearize(at, layout.getShape()));
  }
  return Answer<IndexVector>::yes();
}
