//===- Effects.cpp - root regions of buffers and effects of statements ----------------------===//

#include "tilewright/Tile/Effects.h"
#include "tilewright/Tile/SeenRegion.h"
#include "tilewright/Tile/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tilewright::tile {

/// `sum += value * factor`; false on overflow.
static bool addProduct(int64_t &sum, int64_t value, int64_t factor) {
  int64_t product = 0;
  return !llvm::MulOverflow(value, factor, product) && !llvm::AddOverflow(sum, product, sum);
}

/// Adds `factor * value` to `sum`; false on overflow. Looks into at most `budget` operations: user
/// expressions may be deep, and `x = x + x` forty times is a tree of 2^40 leaves.
static bool addLinear(IndexSum &sum, Value value, int64_t factor, unsigned &budget) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return addProduct(sum.constant, *constant, factor);
  auto leaf = [&] {
    IndexSum term;
    term.terms.emplace_back(value, 1);
    return sum.add(term, factor);
  };
  Operation *op = value.getDefiningOp();
  // Machine integers wrap; only index values are sums of their parts.
  if (!op || !isa<IndexType>(value.getType()) || budget == 0)
    return leaf();
  --budget;
  if (auto add = dyn_cast<arith::AddIOp>(op))
    return addLinear(sum, add.getLhs(), factor, budget) &&
           addLinear(sum, add.getRhs(), factor, budget);
  if (auto sub = dyn_cast<arith::SubIOp>(op))
    return factor != INT64_MIN && addLinear(sum, sub.getLhs(), factor, budget) &&
           addLinear(sum, sub.getRhs(), -factor, budget);
  if (auto mul = dyn_cast<arith::MulIOp>(op)) {
    for (auto [operand, other] :
         {std::pair(mul.getLhs(), mul.getRhs()), std::pair(mul.getRhs(), mul.getLhs())})
      if (std::optional<int64_t> constant = getConstantIntValue(other)) {
        int64_t product = 0;
        return !llvm::MulOverflow(factor, *constant, product) &&
               addLinear(sum, operand, product, budget);
      }
  }
  return leaf();
}

IndexSum IndexSum::get(OpFoldResult value) {
  if (std::optional<int64_t> constant = getConstantIntValue(value)) {
    IndexSum sum;
    sum.constant = *constant;
    return sum;
  }
  unsigned budget = 256;
  if (IndexSum sum; addLinear(sum, cast<Value>(value), 1, budget))
    return sum;
  IndexSum sum;
  sum.terms.emplace_back(cast<Value>(value), 1);
  return sum;
}

bool IndexSum::add(const IndexSum &other, int64_t factor) {
  if (!addProduct(constant, other.constant, factor))
    return false;
  for (auto [value, otherFactor] : other.terms) {
    auto *it = llvm::find_if(terms, [&](auto &term) { return term.first == value; });
    if (it == terms.end())
      it = &terms.emplace_back(value, 0);
    if (!addProduct(it->second, otherFactor, factor))
      return false;
    if (it->second == 0)
      terms.erase(it);
  }
  return true;
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

/// One element of a buffer, in its own coordinates.
static EffectRegion elementAsRanges(ValueRange indices) {
  SmallVector<DimRange, 0> ranges;
  for (Value index : indices) {
    DimRange range;
    range.offset = IndexSum::get(getAsOpFoldResult(index));
    range.size.constant = 1;
    ranges.push_back(std::move(range));
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
      if (!range.offset.add(inner.offset, *step) ||
          llvm::MulOverflow(inner.step, *step, range.step))
        return EffectRegion::whole();
      range.size = inner.size;
    }
    resultDim += !llvm::is_contained(slice.getDropped(), int64_t(dim));
    ranges.push_back(std::move(range));
  }
  return {std::move(ranges)};
}

static Effect throughViews(EffectKind kind, Value buffer, EffectRegion region) {
  Value root = getRoot(buffer);
  while (buffer != root) {
    if (auto slice = buffer.getDefiningOp<SliceOp>())
      region = throughSlice(slice, region);
    else
      region = EffectRegion::whole();
    buffer = getViewSource(buffer);
  }
  return {kind, root, std::move(region)};
}

/// The element or region of `buffer`, an operand of `op`, in its own coordinates.
static EffectRegion regionOfOperand(Operation *op, Value buffer) {
  std::optional<ValueRange> indices =
      TypeSwitch<Operation *, std::optional<ValueRange>>(op)
          .Case<LoadOp, StoreOp, AtomicElementOp, ReducerUpdateOp>(
              [](auto access) -> std::optional<ValueRange> { return access.getIndices(); })
          .Default(std::nullopt);
  return indices ? elementAsRanges(*indices) : wholeAsRanges(buffer);
}

SeenRegion getSeenRegion(Operation *op, const Effect &effect) {
  SeenRegion unknown{effect.root, EffectRegion::whole()};
  if (!effect.region.isWhole())
    return {effect.root, effect.region};
  auto isOfRoot = [&](Value operand) {
    return isBufferType(operand.getType()) && getRoot(operand) == effect.root;
  };
  auto operands = llvm::make_filter_range(op->getOperands(), isOfRoot);
  if (!llvm::hasSingleElement(operands))
    return unknown;
  Value buffer = *operands.begin();
  EffectRegion region = regionOfOperand(op, buffer);
  for (; auto slice = buffer.getDefiningOp<SliceOp>(); buffer = getViewSource(buffer))
    region = throughSlice(slice, region);
  for (Value source = buffer; source != effect.root; source = getViewSource(source))
    if (source.getDefiningOp<SliceOp>())
      return unknown;
  return {buffer, std::move(region)};
}

bool commute(const Effect &a, const Effect &b) {
  if (a.kind != b.kind)
    return false;
  if (a.kind == EffectKind::Accumulate)
    return a.combination == b.combination && a.combination != Combination::Ordered;
  return a.kind == EffectKind::Read;
}

Effect makeEffect(EffectKind kind, Value buffer) {
  return throughViews(kind, buffer, wholeAsRanges(buffer));
}

Effect makeElementEffect(EffectKind kind, Value buffer, ValueRange indices) {
  return throughViews(kind, buffer, elementAsRanges(indices));
}

std::optional<SmallVector<Effect>> getEffects(Operation *op) {
  SmallVector<Effect> effects;
  WalkResult result = op->walk([&](Operation *nested) {
    if (auto declared = dyn_cast<TileEffectsOpInterface>(nested)) {
      size_t first = effects.size();
      declared.getTileEffects(effects);
      Operation *group = nested->getParentOfType<AsyncGroupOp>();
      if (!group)
        group = nested->getParentOfType<BulkGroupOp>();
      if (group)
        for (Effect &effect : llvm::MutableArrayRef(effects).drop_front(first))
          effect.until = group;
      return WalkResult::advance();
    }
    // An op that touches no memory of its own; what its regions do is walked too.
    bool ownEffects = !nested->hasTrait<OpTrait::HasRecursiveMemoryEffects>() &&
                      !nested->hasTrait<OpTrait::IsTerminator>() && !isMemoryEffectFree(nested) &&
                      !isa<AllocOp, BarrierAllocOp, GridSyncOp, FunctionOpInterface>(nested);
    return ownEffects ? WalkResult::interrupt() : WalkResult::advance();
  });
  // A buffer of unknown origin may be another one under a second name.
  bool isKnown = llvm::all_of(effects, [](const Effect &e) { return isOwnBuffer(e.root); });
  if (result.wasInterrupted() || !isKnown)
    return std::nullopt;
  return effects;
}

/// Whether some effect on `root` may be of another kind than `kind`.
static bool mayDoOtherThan(EffectKind kind, Operation *op, Value root) {
  std::optional<SmallVector<Effect>> effects = getEffects(op);
  return !effects || llvm::any_of(*effects, [&](const Effect &effect) {
    return effect.root == root && effect.kind != kind;
  });
}

bool mayWrite(Operation *op, Value root) { return mayDoOtherThan(EffectKind::Read, op, root); }
bool mayRead(Operation *op, Value root) { return mayDoOtherThan(EffectKind::Write, op, root); }

BlockOrder getBlockOrder(Operation *op) {
  BlockOrder both;
  auto add = [&](Value buffer, MemoryOrder order) {
    if (getSpace(getRoot(buffer)) != Space::Global || order == MemoryOrder::Relaxed)
      return;
    both.publishes |= order != MemoryOrder::Acquire && order != MemoryOrder::Consume;
    both.learns |= order != MemoryOrder::Release;
  };
  op->walk([&](Operation *inner) {
    TypeSwitch<Operation *>(inner)
        .Case<AtomicOp>([&](AtomicOp atomic) { add(atomic.getDest(), atomic.getOrder()); })
        .Case<AtomicElementOp>(
            [&](AtomicElementOp atomic) { add(atomic.getBuffer(), atomic.getOrder()); });
  });
  return both;
}

} // namespace tilewright::tile
