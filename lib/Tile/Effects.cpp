//===- Effects.cpp - root regions of buffers and effects of statements ----------------------===//

#include "tilewright/Tile/Effects.h"
#include "tilewright/Tile/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace tilewright::tile {

/// Adds `factor * value` to `sum`. Depth is bounded, as user expressions may be deep.
static void addLinear(IndexSum &sum, Value value, int64_t factor, unsigned depth) {
  auto leaf = [&] {
    IndexSum term;
    term.terms.emplace_back(value, 1);
    sum.add(term, factor);
  };
  if (std::optional<int64_t> constant = getConstantIntValue(value)) {
    sum.constant += factor * *constant;
    return;
  }
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0)
    return leaf();
  if (auto add = dyn_cast<arith::AddIOp>(op)) {
    addLinear(sum, add.getLhs(), factor, depth - 1);
    return addLinear(sum, add.getRhs(), factor, depth - 1);
  }
  if (auto sub = dyn_cast<arith::SubIOp>(op)) {
    addLinear(sum, sub.getLhs(), factor, depth - 1);
    return addLinear(sum, sub.getRhs(), -factor, depth - 1);
  }
  if (auto mul = dyn_cast<arith::MulIOp>(op)) {
    for (auto [operand, other] :
         {std::pair(mul.getLhs(), mul.getRhs()), std::pair(mul.getRhs(), mul.getLhs())})
      if (std::optional<int64_t> constant = getConstantIntValue(other))
        return addLinear(sum, operand, factor * *constant, depth - 1);
  }
  leaf();
}

IndexSum IndexSum::get(OpFoldResult value) {
  constexpr unsigned kMaxDepth = 32;
  IndexSum sum;
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    sum.constant = *constant;
  else
    addLinear(sum, cast<Value>(value), 1, kMaxDepth);
  return sum;
}

IndexSum &IndexSum::add(const IndexSum &other, int64_t factor) {
  constant += other.constant * factor;
  for (auto [value, otherFactor] : other.terms) {
    auto *it = llvm::find_if(terms, [&](auto &term) { return term.first == value; });
    if (it == terms.end())
      terms.emplace_back(value, otherFactor * factor);
    else if ((it->second += otherFactor * factor) == 0)
      terms.erase(it);
  }
  return *this;
}

/// All of a buffer, in its own coordinates. Run-time extents are not expressible: they make the
/// region whole.
static EffectRegion wholeAsRanges(Value buffer) {
  SmallVector<DimRange, 0> ranges;
  for (int64_t extent : cast<MemRefType>(buffer.getType()).getShape()) {
    if (ShapedType::isDynamic(extent))
      return EffectRegion::whole();
    DimRange range;
    range.size.constant = extent;
    ranges.push_back(range);
  }
  return {std::move(ranges)};
}

/// Rewrites a region of a slice's result into one of its source.
static EffectRegion throughSlice(SliceOp slice, const EffectRegion &region) {
  SmallVector<OpFoldResult> offsets = slice.getMixedOffsets(), sizes = slice.getMixedSizes(),
                            steps = slice.getMixedSteps();
  SmallVector<DimRange, 0> ranges;
  unsigned resultDim = 0;
  for (unsigned dim = 0; dim < offsets.size(); ++dim) {
    DimRange range;
    range.offset = IndexSum::get(offsets[dim]);
    std::optional<int64_t> step = getConstantIntValue(steps[dim]);
    if (!step)
      return EffectRegion::whole();
    if (llvm::is_contained(slice.getDropped(), int64_t(dim))) {
      range.size.constant = 1;
    } else if (region.isWhole()) {
      range.size = IndexSum::get(sizes[dim]);
      range.step = *step;
    } else {
      const DimRange &inner = (*region.ranges)[resultDim];
      range.offset.add(inner.offset, *step);
      range.size = inner.size;
      range.step = inner.step * *step;
    }
    resultDim += !llvm::is_contained(slice.getDropped(), int64_t(dim));
    ranges.push_back(std::move(range));
  }
  return {std::move(ranges)};
}

static Effect throughViews(EffectKind kind, Value buffer, EffectRegion region) {
  while (auto view = buffer.getDefiningOp<ViewLikeOpInterface>()) {
    if (auto slice = dyn_cast<SliceOp>(view.getOperation()))
      region = throughSlice(slice, region);
    else
      region = EffectRegion::whole();
    buffer = view.getViewSource();
  }
  return {kind, buffer, std::move(region)};
}

Effect makeEffect(EffectKind kind, Value buffer) {
  return throughViews(kind, buffer, wholeAsRanges(buffer));
}

Effect makeElementEffect(EffectKind kind, Value buffer, ValueRange indices) {
  SmallVector<DimRange, 0> ranges;
  for (Value index : indices) {
    DimRange range;
    range.offset = IndexSum::get(getAsOpFoldResult(index));
    range.size.constant = 1;
    ranges.push_back(std::move(range));
  }
  return throughViews(kind, buffer, {std::move(ranges)});
}

std::optional<SmallVector<Effect>> getEffects(Operation *op) {
  SmallVector<Effect> effects;
  WalkResult result = op->walk([&](Operation *nested) {
    if (auto declared = dyn_cast<TileEffectsOpInterface>(nested)) {
      declared.getTileEffects(effects);
      return WalkResult::advance();
    }
    // An op that touches no memory of its own; what its regions do is walked too.
    bool ownEffects = !nested->hasTrait<OpTrait::HasRecursiveMemoryEffects>() &&
                      !nested->hasTrait<OpTrait::IsTerminator>() && !isMemoryEffectFree(nested) &&
                      !isa<AllocOp>(nested);
    return ownEffects ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (result.wasInterrupted())
    return std::nullopt;
  return effects;
}

} // namespace tilewright::tile
