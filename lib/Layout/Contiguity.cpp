//===- Contiguity.cpp - runs of neighbouring elements and their alignment -------------------===//

#include "tilewright/Layout/Contiguity.h"
#include "tilewright/Layout/DigitForm.h"
#include "tilewright/Layout/Enumerate.h"
#include "tilewright/Layout/IndexFacts.h"
#include "tilewright/Support/IndexMath.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <bit>
#include <numeric>

using namespace tilewright;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace {

/// A stride of an output in memory: the product of the extents after it.
struct Stride {
  std::optional<int64_t> value; ///< If all those extents are known.
  int64_t divisor;              ///< Divides it in any case.
};

SmallVector<Stride, 4> stridesOf(const Layout &layout, ArrayRef<int64_t> extentDivisors) {
  SmallVector<Stride, 4> strides(layout.getNumOutputs());
  Stride stride{1, 1};
  for (unsigned output = layout.getNumOutputs(); output-- > 0;) {
    strides[output] = stride;
    int64_t extent = layout.getOutputShape()[output];
    int64_t divisor = extent;
    if (extent == kDynamic)
      divisor = output < extentDivisors.size() ? extentDivisors[output] : 1;
    stride.value =
        stride.value && extent != kDynamic ? checkedMul(*stride.value, extent) : std::nullopt;
    stride.divisor = checkedMul(stride.divisor, divisor).value_or(1);
  }
  return strides;
}

/// The offset in digits: the outputs with known strides as one sum, the others apart.
struct OffsetDigits {
  DigitSum known;
  SmallVector<std::pair<DigitSum, int64_t>, 4> others; ///< With a divisor of their stride.

  static std::optional<OffsetDigits> get(const DigitForm &form, ArrayRef<Stride> strides) {
    OffsetDigits offset;
    for (auto [sum, stride] : llvm::zip(form.getSums(), strides)) {
      if (!stride.value) {
        offset.others.push_back({sum, stride.divisor});
        continue;
      }
      std::optional<DigitSum> added = addScaled(offset.known, sum, *stride.value);
      if (!added)
        return std::nullopt;
      offset.known = std::move(*added);
    }
    return offset;
  }

  bool isFarApart(uint64_t digit) const {
    return llvm::any_of(others, [&](const auto &other) {
      return llvm::any_of(other.first.terms,
                          [&](const DigitTerm &term) { return (term.digits & digit) != 0; });
    });
  }
};

/// The run along a dim from its digits: the lowest ones must count the offset up by 1, 2, 4, ….
/// `exact` is cleared where a longer run is possible but not visible.
int64_t runFromDigits(const DigitForm &form, const OffsetDigits &offset, int64_t extent,
                      unsigned dim, bool &exact) {
  int64_t run = 1;
  for (unsigned position : form.digitsOfDim(dim)) {
    uint64_t digit = uint64_t(1) << position;
    SmallVector<DigitTerm, 2> with;
    for (const DigitTerm &term : offset.known.terms)
      if (term.digits & digit)
        with.push_back(term);
    bool counts = with.size() == 1 && with[0].digits == digit && with[0].flip == 0 &&
                  with[0].coefficient == run && !offset.isFarApart(digit);
    if (!counts) {
      exact = with.size() <= 1 && !(with.size() == 1 && with[0].digits == digit && with[0].flip);
      return extent == kDynamic ? run : std::gcd(extent, run);
    }
    if (!form.getDigits()[position].isBounded())
      return kDynamic;
    run *= form.getDigits()[position].range;
  }
  return extent; // all of it counts
}

/// The run from all offsets: it divides every position at which some line breaks.
std::optional<int64_t> runByEnumeration(const Layout &layout, unsigned dim) {
  std::optional<IndexExpr> offset = layout.getOffset();
  if (!offset)
    return std::nullopt;
  std::optional<ValueColumns> values = enumerateValues(*offset, layout.getShape());
  if (!values)
    return std::nullopt;
  ArrayRef<int64_t> shape = layout.getShape();
  int64_t extent = shape[dim], step = 1;
  for (int64_t inner : shape.drop_front(dim + 1))
    step *= inner;
  int64_t run = extent;
  ArrayRef<int64_t> offsets = (*values)[0];
  for (int64_t element = 0; element + step < int64_t(offsets.size()); ++element) {
    int64_t next = element / step % extent + 1;
    if (next < extent && offsets[element + step] != offsets[element] + 1)
      run = std::gcd(run, next);
  }
  return run;
}

/// The greatest common divisor of all values of a sum (0 if it is always 0).
int64_t divisorOf(const DigitSum &sum) {
  int64_t divisor = sum.constant;
  for (const DigitTerm &term : sum.terms)
    divisor = std::gcd(divisor, term.coefficient); // also divides the flips
  return std::abs(divisor);
}

} // namespace

int64_t tilewright::contiguousRun(const Layout &layout, unsigned dim) {
  assert(dim < layout.getRank() && "no such dimension");
  int64_t extent = layout.getShape()[dim];
  std::optional<int64_t> numElements = layout.getNumElements();
  if (extent == 1 || numElements == 0)
    return extent;
  int64_t run = 1;
  bool exact = false;
  if (const std::optional<DigitForm> &form = DigitForm::of(layout)) {
    if (auto offset = OffsetDigits::get(*form, stridesOf(layout, {}))) {
      exact = true;
      run = runFromDigits(*form, *offset, extent, dim, exact);
    }
  }
  if (exact)
    return run;
  return runByEnumeration(layout, dim).value_or(run);
}

int64_t tilewright::runAlignment(const Layout &layout, unsigned dim, int64_t width,
                                 ArrayRef<int64_t> extentDivisors) {
  assert(dim < layout.getRank() && width > 0 && "no such group of elements");
  // Only the starts of groups count: x = width * group.
  SmallVector<int64_t, 4> shape(layout.getShape());
  if (shape[dim] != kDynamic)
    shape[dim] = llvm::divideCeil(shape[dim], width);
  SmallVector<IndexExpr, 4> dims, starts;
  for (unsigned position = 0; position < layout.getRank(); ++position)
    dims.push_back(IndexExpr::dim(position) * IndexExpr(position == dim ? width : 1));
  for (const IndexExpr &output : layout.getOutputs())
    starts.push_back(output.substitute(dims));

  SmallVector<Stride, 4> strides = stridesOf(layout, extentDivisors);
  if (std::optional<DigitForm> form = DigitForm::read(starts, shape)) {
    if (auto offset = OffsetDigits::get(*form, strides)) {
      int64_t alignment = divisorOf(offset->known);
      for (auto [sum, divisor] : offset->others)
        alignment = std::gcd(alignment, checkedMul(divisorOf(sum), divisor).value_or(1));
      return alignment;
    }
  }
  // Without digits: look at all groups of a small tile, or trust the expressions' divisors.
  std::optional<ValueColumns> values = enumerateValues(starts, shape);
  int64_t alignment = 0;
  for (auto [position, start] : llvm::enumerate(starts)) {
    int64_t divisor = 0;
    if (values)
      for (int64_t value : (*values)[position])
        divisor = std::gcd(divisor, value);
    else
      divisor = analyzeIndexExpr(start, factsOfShape(shape)).getDivisor();
    alignment = std::gcd(alignment, checkedMul(divisor, strides[position].divisor).value_or(1));
  }
  return alignment;
}

//===----------------------------------------------------------------------------------------===//
// Boxes
//===----------------------------------------------------------------------------------------===//

namespace {
/// The digits of the lowest weights in memory, added one by one, as a box of the last two dims.
class BoxDigits {
public:
  BoxDigits(const DigitForm &form, unsigned rank) : form(form), rank(rank) {}

  /// Adds the digit of a term that continues the stretch; false if it does not.
  bool add(const DigitTerm &term) {
    if (term.coefficient != size || !std::has_single_bit(term.digits) || term.flip != 0 ||
        !term.isBounded())
      return false;
    unsigned position = std::countr_zero(term.digits);
    if (form.getDigits()[position].dim + 2 < rank)
      return false;
    chosen |= term.digits;
    weights.push_back({form.getDigits()[position], size});
    size *= term.range;
    return true;
  }

  int64_t getSize() const { return size; }
  uint64_t getChosen() const { return chosen; }

  /// How many indices of the dim the digits count from 0 on; nothing if there are gaps.
  std::optional<int64_t> getExtent(unsigned dim) const {
    int64_t extent = 1, reach = 1;
    for (const auto &[digit, weight] : weights)
      if (digit.dim == dim) {
        extent *= digit.range;
        reach = std::max(reach, digit.weight * digit.range);
      }
    return extent == reach ? std::optional(extent) : std::nullopt;
  }

  int64_t positionOf(int64_t row, int64_t column) const {
    int64_t position = 0;
    for (const auto &[digit, weight] : weights)
      position += weight * ((digit.dim + 1 == rank ? column : row) / digit.weight % digit.range);
    return position;
  }

private:
  const DigitForm &form;
  unsigned rank;
  SmallVector<std::pair<Digit, int64_t>> weights; ///< Digits and their weights in memory.
  uint64_t chosen = 0;
  int64_t size = 1;
};
} // namespace

std::optional<ContiguousBox> tilewright::contiguousBox(const IndexExpr &offset,
                                                       ArrayRef<int64_t> shape, int64_t unit,
                                                       int64_t limit) {
  unsigned rank = shape.size();
  if (rank < 2 || offset.getNumDims() > rank || offset.getNumSymbols() > 0)
    return std::nullopt;
  std::optional<DigitForm> form = DigitForm::read(offset, shape);
  if (!form || !form->isExact())
    return std::nullopt;
  BoxDigits digits(*form, rank);
  ArrayRef<DigitTerm> terms = form->getSums()[0].terms;
  while (!terms.empty() && digits.add(terms.front()) && digits.getSize() <= limit) {
    terms = terms.drop_front();
    std::optional<int64_t> rows = digits.getExtent(rank - 2), columns = digits.getExtent(rank - 1);
    bool isFree = llvm::none_of(
        terms, [&](const DigitTerm &term) { return term.digits & digits.getChosen(); });
    if (!rows || !columns || !isFree || digits.getSize() % unit != 0)
      continue;
    ContiguousBox box{*rows, *columns, {}};
    for (int64_t row = 0; row < *rows; ++row)
      for (int64_t column = 0; column < *columns; ++column)
        box.positions.push_back(digits.positionOf(row, column));
    return box;
  }
  return std::nullopt;
}
