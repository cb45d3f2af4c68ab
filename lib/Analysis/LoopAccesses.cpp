//===- LoopAccesses.cpp - which elements an iteration of a plain loop touches -----------------===//

#include "tilewright/Analysis/LoopAccesses.h"
#include "tilewright/Analysis/ValueFacts.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::analysis {

/// The index of an effect on one element, if it is a sum of iterators and outer values.
static std::optional<ElementIndex> getElementIndex(const Effect &effect, ParallelOp loop) {
  ArrayRef<int64_t> extents = loop.getStaticExtents();
  if (effect.region.isWhole())
    return std::nullopt;
  ElementIndex index;
  for (const DimRange &range : *effect.region.ranges) {
    IndexSum &coordinate = index.emplace_back();
    coordinate.constant = range.offset.constant;
    for (auto [value, factor] : range.offset.terms) {
      auto iterator = llvm::find(loop.getIterators(), value);
      bool isIterator = iterator != loop.getIterators().end();
      if (!isIterator && !value.getParentRegion()->isProperAncestor(&loop.getBody()))
        return std::nullopt;
      if (!isIterator || extents[iterator - loop.getIterators().begin()] != 1)
        coordinate.terms.emplace_back(value, factor);
    }
  }
  return index;
}

std::optional<SmallVector<LoopAccess>> getPlainAccesses(ParallelOp loop) {
  SmallVector<LoopAccess> accesses;
  for (Operation &op : loop.getBody().front().without_terminator()) {
    if (isa<LoadOp, StoreOp, ReducerUpdateOp>(op)) {
      SmallVector<Effect> effects;
      cast<TileEffectsOpInterface>(op).getTileEffects(effects);
      for (const Effect &effect : effects) {
        if (!isOwnBuffer(effect.root))
          return std::nullopt;
        accesses.push_back({&op, effect.kind, effect.root, getElementIndex(effect, loop)});
      }
    } else if (op.getNumRegions() != 0 || !isPure(&op)) {
      return std::nullopt;
    }
  }
  return accesses;
}

bool isProvenInside(const LoopAccess &access) {
  if (!access.element)
    return false;
  for (auto [dim, coordinate] : llvm::enumerate(*access.element)) {
    IndexFacts facts = IndexFacts::constant(coordinate.constant);
    for (auto [value, factor] : coordinate.terms)
      facts = combineFacts(
          IndexExpr::Kind::Add, facts,
          combineFacts(IndexExpr::Kind::Mul, getFacts(value), IndexFacts::constant(factor)));
    IndexFacts extent = getExtentFacts(access.root, dim, access.op);
    if (!facts.isBounded() || facts.low < 0 || facts.high >= extent.low)
      return false;
  }
  return true;
}

bool isSameElement(const ElementIndex &lhs, ValueRange lhsIterators, const ElementIndex &rhs,
                   ValueRange rhsIterators) {
  if (lhs.size() != rhs.size())
    return false;
  for (auto [left, right] : llvm::zip_equal(lhs, rhs)) {
    IndexSum renamed;
    renamed.constant = left.constant;
    for (auto [value, factor] : left.terms) {
      auto it = llvm::find(lhsIterators, value);
      Value now = it == lhsIterators.end() ? value : rhsIterators[it - lhsIterators.begin()];
      renamed.terms.emplace_back(now, factor);
    }
    if (!renamed.add(right, -1) || !renamed.isConstant() || renamed.constant != 0)
      return false;
  }
  return true;
}

bool isInjective(const ElementIndex &index, ValueRange iterators) {
  auto isAlone = [&](Value iterator, const IndexSum &coordinate) {
    bool isThere = false, hasOther = false;
    for (auto [value, factor] : coordinate.terms) {
      isThere |= value == iterator;
      hasOther |= value != iterator && llvm::is_contained(iterators, value);
    }
    return isThere && !hasOther;
  };
  return llvm::all_of(iterators, [&](Value iterator) {
    return llvm::any_of(index, [&](const IndexSum &sum) { return isAlone(iterator, sum); });
  });
}

bool isAlongRow(const ElementIndex &index, Value innermost) {
  for (auto [dim, coordinate] : llvm::enumerate(index))
    for (auto [value, factor] : coordinate.terms)
      if (value == innermost && (dim + 1 != index.size() || factor != 1))
        return false;
  return true;
}

} // namespace tilewright::analysis
