//===- LoopAccesses.cpp - which elements an iteration of a plain loop touches -----------------===//

#include "tilewright/Analysis/LoopAccesses.h"
#include "tilewright/Analysis/ValueFacts.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::analysis {

/// The place of an effect on one element, if it is a sum of iterators and outer values.
static std::optional<Place> getPlace(const Effect &effect, ParallelOp loop) {
  ArrayRef<int64_t> extents = loop.getStaticExtents();
  if (effect.region.isWhole())
    return std::nullopt;
  Place place;
  for (const DimRange &range : *effect.region.ranges) {
    IndexSum &coordinate = place.emplace_back();
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
  return place;
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
        accesses.push_back({&op, effect.kind, effect.root, getPlace(effect, loop)});
      }
    } else if (op.getNumRegions() != 0 || !isPure(&op)) {
      return std::nullopt;
    }
  }
  return accesses;
}

bool isProvenInside(const LoopAccess &access) {
  if (!access.place)
    return false;
  for (auto [dim, coordinate] : llvm::enumerate(*access.place)) {
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

bool isSamePlace(const Place &lhs, ValueRange lhsIterators, const Place &rhs,
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

bool isInjective(const Place &place, ValueRange iterators) {
  auto isAlone = [&](Value iterator, const IndexSum &coordinate) {
    bool isThere = false, hasOther = false;
    for (auto [value, factor] : coordinate.terms) {
      isThere |= value == iterator;
      hasOther |= value != iterator && llvm::is_contained(iterators, value);
    }
    return isThere && !hasOther;
  };
  return llvm::all_of(iterators, [&](Value iterator) {
    return llvm::any_of(place, [&](const IndexSum &sum) { return isAlone(iterator, sum); });
  });
}

bool isAlongRow(const Place &place, Value innermost) {
  for (auto [dim, coordinate] : llvm::enumerate(place))
    for (auto [value, factor] : coordinate.terms)
      if (value == innermost && (dim + 1 != place.size() || factor != 1))
        return false;
  return true;
}

} // namespace tilewright::analysis
