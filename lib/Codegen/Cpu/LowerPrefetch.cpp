//===- LowerPrefetch.cpp - what the next turn of a loop will copy -----------------------------===//
//
// A tile that comes from a tensor is read row by row, each row on other pages, which the hardware's
// prefetchers do not foresee. Each copy into a tile that stands directly in a pipelined loop is
// therefore followed by prefetches of what the same copy reads in the next turn: they arrive while
// the tile is worked on. Tiles whose rows follow each other in memory, and large ones, are read
// ahead instead, while they are copied (LowerStreams.cpp). (From block to block the same costs more
// than it brings: blocks are next to each other, and a burst of prefetches waits like the loads it
// is to spare.)
//
// The place of the next slice is found by lowering its index arithmetic a second time with the next
// value of the loop variable. In the last turn that is the last value again, so that the place is
// always one the program itself reads, and prefetches nothing new.
//
//===----------------------------------------------------------------------------------------===//

#include "Lowering.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

/// Larger tiles would push out what the present turn works on.
static constexpr int64_t kMaxPrefetchedBytes = int64_t(1) << 16;
/// Into the second-level cache.
static constexpr uint32_t kLocality = 2;

/// The ops of `region` that `op` depends on, in their order, and itself. Nothing if one of them is
/// more than arithmetic, or none depends on the changing values.
static std::optional<SmallVector<Operation *>>
collectArithmetic(Operation *op, Region *region, const llvm::DenseMap<Value, Value> &changing) {
  llvm::SetVector<Operation *> found;
  SmallVector<Operation *> left = {op};
  bool changes = false;
  while (!left.empty()) {
    Operation *next = left.pop_back_val();
    if (!found.insert(next))
      continue;
    if (next != op && (!isPure(next) || next->getNumRegions() != 0))
      return std::nullopt;
    for (Value operand : next->getOperands()) {
      changes |= changing.contains(operand);
      Operation *definition = operand.getDefiningOp();
      if (definition && definition->getParentRegion() == region)
        left.push_back(definition);
    }
  }
  if (!changes)
    return std::nullopt;
  SmallVector<Operation *> sorted = found.takeVector();
  llvm::sort(sorted, [](Operation *lhs, Operation *rhs) { return lhs->isBeforeInBlock(rhs); });
  return sorted;
}

/// Whether the elements are one stretch of memory: behind the first dimension of which the view has
/// a part, it has all of each.
static bool isOneStretch(const View &view) {
  bool hasAll = true;
  for (unsigned dim = view.surface.size(); dim-- > 0;) {
    const unsigned *found = llvm::find(view.dims, dim);
    std::optional<int64_t> extent = 1, whole = getConstantIntValue(view.surface[dim]);
    if (found != view.dims.end())
      extent = getConstantIntValue(view.extents[found - view.dims.begin()]);
    if (!hasAll && extent != 1)
      return false;
    hasAll &= extent && extent == whole;
  }
  return true;
}

/// Whether a part of a tensor is read ahead while it is copied, not prefetched a turn before.
bool Lowering::isReadAhead(const View &view) {
  int64_t bytes = tile::getStorageBytes(view.elementType);
  for (Value extent : view.extents)
    bytes *= getConstantIntValue(extent).value_or(0);
  return !view.root->isOnChip() && !view.root->layout &&
         (isOneStretch(view) || bytes > kMaxPrefetchedBytes);
}

void Lowering::prefetchNext(tile::CopyOp copy) {
  auto slice = copy.getSource().getDefiningOp<tile::SliceOp>();
  auto type = cast<MemRefType>(copy.getSource().getType());
  if (!nextTurn || copy->getParentRegion() != nextTurn->region || !slice ||
      slice->getParentRegion() != nextTurn->region || !type.hasStaticShape() ||
      type.getRank() == 0 || getView(copy.getSource()).root->isOnChip() ||
      !getView(copy.getDest()).root->isOnChip())
    return;
  if (isReadAhead(getView(copy.getSource())))
    return;
  std::optional<SmallVector<Operation *>> arithmetic =
      collectArithmetic(slice, nextTurn->region, nextTurn->values);
  if (!arithmetic || llvm::is_contained(*arithmetic, slice.getSource().getDefiningOp()))
    return;

  llvm::DenseMap<Value, Value> present = scope->values;
  for (auto [old, next] : nextTurn->values)
    define(old, next);
  for (Operation *op : ArrayRef(*arithmetic).drop_back())
    lowerOp(*op);
  View view = makeSlice(slice);
  scope->values = std::move(present);

  unsigned last = view.getRank() - 1;
  if (!isContiguousAlong(view, last))
    return;
  int64_t elements = kCacheLine / tile::getStorageBytes(type.getElementType());
  SmallVector<Value> extents(view.extents.begin(), view.extents.end());
  extents[last] = index(llvm::divideCeil(type.getDimSize(last), elements));
  loopNest(extents, /*isParallel=*/false, [&](ArrayRef<Value> variables) {
    SmallVector<Value> place(variables);
    place[last] = mul(place[last], index(elements));
    LLVM::Prefetch::create(b, addressOf(view, toSurface(view, place)), /*rw=*/0, kLocality,
                           /*cache=*/1);
  });
}
