//===- Equality.cpp - are two layouts the same map? -----------------------------------------===//

#include "Counterexamples.h"
#include "LayoutCache.h"
#include "tilewright/Layout/Enumerate.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace tilewright;
using llvm::ArrayRef;
using llvm::SmallVector;

/// The difference of two layouts at an index, if there is one.
static std::optional<Answer<Difference>> refute(const Layout &first, const Layout &second,
                                                ArrayRef<int64_t> index) {
  if (!isInShape(index, first.getShape()))
    return std::nullopt;
  std::optional<IndexVector> a = first.map(index), b = second.map(index);
  if (!a || !b || *a == *b)
    return std::nullopt;
  return Answer<Difference>::no({IndexVector(index), *a, *b});
}

static std::optional<Answer<Difference>> answerByF2(const Layout &first, const Layout &second) {
  const std::optional<F2Form> &a = F2Form::of(first), &b = F2Form::of(second);
  if (!a || !b)
    return std::nullopt;
  for (auto [x, y] : llvm::zip(a->getOutputs(), b->getOutputs())) {
    if (x.constant != y.constant)
      return refute(first, second, a->toIndex(0));
    for (auto [bit, columns] : llvm::enumerate(llvm::zip(x.columns, y.columns)))
      if (std::get<0>(columns) != std::get<1>(columns))
        return refute(first, second, a->toIndex(uint64_t(1) << bit));
  }
  return Answer<Difference>::yes();
}

static std::optional<Answer<Difference>> answerByDigits(const Layout &first, const Layout &second) {
  SmallVector<IndexExpr, 8> outputs(first.getOutputs());
  outputs.append(second.getOutputs().begin(), second.getOutputs().end());
  std::optional<DigitForm> form = DigitForm::read(outputs, first.getShape());
  if (!form)
    return std::nullopt;
  unsigned numOutputs = first.getNumOutputs();
  if (form->getSums().take_front(numOutputs) == form->getSums().drop_front(numOutputs))
    return Answer<Difference>::yes();
  // Different sums may still be the same function (x ^ 1 and 1 - x for one bit), but most differ
  // already where at most one digit is not 0.
  if (auto answer = refute(first, second, form->indexWithOnes(0)))
    return answer;
  for (unsigned digit = 0; digit < form->getDigits().size(); ++digit)
    if (auto answer = refute(first, second, form->indexWithOnes(uint64_t(1) << digit)))
      return answer;
  return std::nullopt;
}

/// Looks at every element of `shape`, which is the layouts' or a corner of it.
static std::optional<Answer<Difference>>
answerByEnumeration(const Layout &first, const Layout &second, ArrayRef<int64_t> shape) {
  std::optional<ValueColumns> a = enumerateValues(first.getOutputs(), shape);
  std::optional<ValueColumns> b = enumerateValues(second.getOutputs(), shape);
  if (!a || !b)
    return std::nullopt;
  std::optional<int64_t> differs;
  for (auto [x, y] : llvm::zip(*a, *b)) {
    auto at = std::mismatch(x.begin(), x.end(), y.begin()).first - x.begin();
    if (at != int64_t(x.size()))
      differs = std::min<int64_t>(at, differs.value_or(at));
  }
  if (differs)
    return refute(first, second, delinearize(*differs, shape));
  return Answer<Difference>::yes();
}

Answer<Difference> tilewright::isEqual(const Layout &first, const Layout &second) {
  if (first.getShape() != second.getShape() || first.getNumOutputs() != second.getNumOutputs())
    return Answer<Difference>::no({});
  if (first == second || first.getNumElements() == 0)
    return Answer<Difference>::yes();
  if (first.getNumSymbols() != 0 || second.getNumSymbols() != 0)
    return Answer<Difference>::unknown("the layouts depend on symbols");
  if (std::optional<Answer<Difference>> answer = answerByF2(first, second))
    return *answer;
  if (std::optional<Answer<Difference>> answer = answerByDigits(first, second))
    return *answer;
  if (auto answer = answerByEnumeration(first, second, first.getShape()))
    return *answer;
  auto corner = answerByEnumeration(first, second, cornerOf(first.getShape()));
  if (corner && corner->isNo())
    return *corner;
  return Answer<Difference>::unknown("tensors of shape " + shapeToString(first.getShape()) +
                                     " cannot be enumerated, and the layouts have no common "
                                     "digit form");
}

//===----------------------------------------------------------------------------------------===//
// Fragments
//===----------------------------------------------------------------------------------------===//

/// The owners of all elements; the replicas of an element are adjacent, sorted.
static std::optional<std::vector<Owner>> sortedOwners(const Fragment &fragment) {
  std::optional<ValueColumns> columns =
      enumerateValues(fragment.asLayout().getOutputs(), fragment.asLayout().getShape());
  if (!columns)
    return std::nullopt;
  std::vector<Owner> owners;
  for (auto [thread, slot] : llvm::zip((*columns)[0], (*columns)[1]))
    owners.push_back({thread, slot});
  int64_t replicas = fragment.getReplicas();
  for (size_t start = 0; start < owners.size(); start += replicas)
    std::sort(owners.begin() + start, owners.begin() + start + replicas,
              [](const Owner &a, const Owner &b) {
                return std::pair(a.thread, a.slot) < std::pair(b.thread, b.slot);
              });
  return owners;
}

Answer<Difference> tilewright::isEqual(const Fragment &first, const Fragment &second) {
  if (first.getShape() != second.getShape() || first.getReplicas() != second.getReplicas())
    return Answer<Difference>::no({});
  if (isEqual(first.asLayout(), second.asLayout()).isYes())
    return Answer<Difference>::yes();
  std::optional<std::vector<Owner>> a = sortedOwners(first), b = sortedOwners(second);
  if (!a || !b)
    return Answer<Difference>::unknown("fragments of shape " + shapeToString(first.getShape()) +
                                       " cannot be enumerated");
  auto [at, other] = std::mismatch(a->begin(), a->end(), b->begin());
  if (at == a->end())
    return Answer<Difference>::yes();
  int64_t element = (at - a->begin()) / first.getReplicas();
  return Answer<Difference>::no({delinearize(element, first.getShape()),
                                 {at->thread, at->slot},
                                 {other->thread, other->slot}});
}

Answer<Missing> tilewright::isProvidedBy(const Fragment &needed, const Fragment &held) {
  assert(needed.getShape() == held.getShape() && "fragments of one tile");
  if (needed == held)
    return Answer<Missing>::yes();
  std::optional<std::vector<Owner>> need = sortedOwners(needed), have = sortedOwners(held);
  if (!need || !have)
    return Answer<Missing>::unknown("fragments of shape " + shapeToString(needed.getShape()) +
                                    " cannot be enumerated");
  for (size_t at = 0; at < need->size(); ++at) {
    int64_t element = at / needed.getReplicas();
    auto holders = ArrayRef(*have).slice(element * held.getReplicas(), held.getReplicas());
    int64_t thread = (*need)[at].thread;
    if (llvm::none_of(holders, [&](const Owner &owner) { return owner.thread == thread; }))
      return Answer<Missing>::no({delinearize(element, needed.getShape()), thread});
  }
  return Answer<Missing>::yes();
}

SmallVector<Owner, 4> tilewright::ownersOf(const Fragment &fragment, ArrayRef<int64_t> index) {
  SmallVector<Owner, 4> owners;
  for (int64_t replica = 0; replica < fragment.getReplicas(); ++replica)
    if (std::optional<Owner> owner = fragment.ownerOf(index, replica))
      owners.push_back(*owner);
  return owners;
}
