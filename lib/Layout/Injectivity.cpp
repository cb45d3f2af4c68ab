//===- Injectivity.cpp - do two elements share a position? ----------------------------------===//

#include "Counterexamples.h"
#include "LayoutCache.h"
#include "tilewright/Layout/Enumerate.h"
#include "tilewright/Layout/IndexFacts.h"
#include "tilewright/Support/IndexMath.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <numeric>

using namespace tilewright;
using llvm::ArrayRef;
using llvm::SmallVector;

/// The collision of two different elements, if it is one.
static std::optional<Answer<Collision>> refute(const Layout &layout, ArrayRef<int64_t> first,
                                               ArrayRef<int64_t> second) {
  if (first == second || !isInShape(first, layout.getShape()) ||
      !isInShape(second, layout.getShape()))
    return std::nullopt;
  std::optional<IndexVector> image = layout.map(first);
  if (!image || image != layout.map(second))
    return std::nullopt;
  return Answer<Collision>::no({IndexVector(first), IndexVector(second), *image});
}

static std::optional<Answer<Collision>> answerByF2(const Layout &layout) {
  const std::optional<F2Form> &form = F2Form::of(layout);
  if (!form)
    return std::nullopt;
  std::optional<uint64_t> kernel = form->getMatrix().getKernelVector();
  if (!kernel)
    return Answer<Collision>::yes();
  return refute(layout, form->toIndex(0), form->toIndex(*kernel));
}

static std::optional<Answer<Collision>> answerByDigits(const Layout &layout) {
  const std::optional<DigitForm> &form = DigitForm::of(layout);
  if (!form)
    return std::nullopt;
  // Outputs that are not decodable may tell elements apart too; leaving them out is safe for yes,
  // and a no is checked.
  SmallVector<uint64_t, 16> rows;
  for (const DigitSum &sum : form->getSums())
    if (sum.isDecodable())
      for (const DigitTerm &term : sum.terms)
        rows.push_back(term.digits);
  std::optional<uint64_t> kernel = F2Matrix(form->getDigits().size(), rows).getKernelVector();
  if (!kernel)
    return Answer<Collision>::yes();
  return refute(layout, form->indexWithOnes(0), form->indexWithOnes(*kernel));
}

//===----------------------------------------------------------------------------------------===//
// Enumeration
//===----------------------------------------------------------------------------------------===//

/// The numbers of two elements with equal values in all columns, the second as small as possible.
using ElementPair = std::pair<int64_t, int64_t>;

/// One number that tells the values of all outputs, as an expression with values in [0, numKeys).
/// Nothing if the outputs' bounds leave too many numbers for a table.
static std::optional<IndexExpr> packOutputs(const Layout &layout, ArrayRef<int64_t> shape,
                                            int64_t maxKeys, int64_t &numKeys) {
  SmallVector<IndexFacts, 4> dims = factsOfShape(shape);
  IndexExpr key = 0;
  numKeys = 1;
  for (const IndexExpr &output : layout.getOutputs()) {
    IndexFacts facts = analyzeIndexExpr(output, dims);
    std::optional<int64_t> range =
        facts.isBounded() ? checkedSub(facts.high, facts.low) : std::nullopt;
    if (!range || *range >= maxKeys / numKeys)
      return std::nullopt;
    numKeys *= *range + 1;
    key = key * (*range + 1) + (output - facts.low);
  }
  return key;
}

/// Looks for two elements with the same key; false if a key cannot be computed.
static bool findEqualByTable(const IndexExpr &key, ArrayRef<int64_t> shape, int64_t numKeys,
                             std::optional<ElementPair> &found) {
  std::vector<int32_t> firstWithKey(numKeys, -1);
  return visitValues(key, shape, [&](int64_t start, ArrayRef<int64_t> values) {
    for (size_t at = 0; at < values.size(); ++at) {
      int32_t &first = firstWithKey[values[at]];
      if (first >= 0) {
        found = ElementPair(first, start + at);
        return false;
      }
      first = start + at;
    }
    return true;
  });
}

static std::optional<ElementPair> findEqualBySorting(const ValueColumns &columns,
                                                     int64_t numElements) {
  auto compare = [&](int64_t a, int64_t b) {
    for (const std::vector<int64_t> &column : columns)
      if (column[a] != column[b])
        return column[a] < column[b] ? -1 : 1;
    return 0;
  };
  std::vector<int32_t> order(numElements);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    int result = compare(a, b);
    return result != 0 ? result < 0 : a < b;
  });
  std::optional<ElementPair> found;
  for (size_t at = 1; at < order.size(); ++at)
    if (compare(order[at - 1], order[at]) == 0 && (!found || order[at] < found->second))
      found = ElementPair(order[at - 1], order[at]);
  return found;
}

/// Looks at every element of `shape`, which is the layout's or a corner of it.
static std::optional<Answer<Collision>> answerByEnumeration(const Layout &layout,
                                                            ArrayRef<int64_t> shape) {
  std::optional<int64_t> numElements = Layout::get(shape, {}).getNumElements();
  if (!numElements || *numElements > kMaxEnumeratedElements)
    return std::nullopt;
  std::optional<ElementPair> pair;
  int64_t numKeys;
  if (std::optional<IndexExpr> key = packOutputs(layout, shape, 16 * *numElements, numKeys)) {
    if (!findEqualByTable(*key, shape, numKeys, pair))
      return std::nullopt;
  } else {
    std::optional<ValueColumns> columns = enumerateValues(layout.getOutputs(), shape);
    if (!columns)
      return std::nullopt;
    pair = findEqualBySorting(*columns, *numElements);
  }
  if (pair)
    return refute(layout, delinearize(pair->first, shape), delinearize(pair->second, shape));
  return Answer<Collision>::yes();
}

static Answer<Collision> computeInjective(const Layout &layout) {
  std::optional<int64_t> numElements = layout.getNumElements();
  if (numElements && *numElements <= 1)
    return Answer<Collision>::yes();
  if (layout.getNumSymbols() != 0)
    return Answer<Collision>::unknown("the layout depends on symbols");
  if (std::optional<Answer<Collision>> answer = answerByF2(layout))
    return *answer;
  if (std::optional<Answer<Collision>> answer = answerByDigits(layout))
    return *answer;
  if (std::optional<Answer<Collision>> answer = answerByEnumeration(layout, layout.getShape()))
    return *answer;
  std::optional<Answer<Collision>> corner =
      answerByEnumeration(layout, cornerOf(layout.getShape()));
  if (corner && corner->isNo())
    return *corner;
  return Answer<Collision>::unknown("a tensor of shape " + shapeToString(layout.getShape()) +
                                    " cannot be enumerated, and " + layout.str() +
                                    " has no digit form");
}

Answer<Collision> tilewright::isInjective(const Layout &layout) {
  return layout.getCache().injective.get([&] { return computeInjective(layout); });
}

Answer<Collision> tilewright::isInjective(const Fragment &fragment) {
  return isInjective(fragment.asLayout());
}
