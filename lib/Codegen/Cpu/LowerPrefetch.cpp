//===- LowerPrefetch.cpp - what will be copied and updated soon -------------------------------===//
//
// A tile that comes from a tensor is read row by row, each row on other pages, which the hardware's
// prefetchers do not foresee. What a copy into a tile that stands directly in a pipelined loop
// reads in the next turn is therefore prefetched in the present one. The product behind the copy
// that reads the tile does so on its way, a line with each step along k: a burst of prefetches
// would wait like the loads it is to spare. Where there is no such product they follow the copy,
// except for tiles whose rows follow each other in memory: those, and large ones, are read ahead
// while they are copied (LowerStreams.cpp). (From block to block all this costs more than it
// brings: blocks are next to each other.) In the same way a product asks for the part of a tensor
// that its sums are added to behind it.
//
// The place of the next slice is found by lowering its index arithmetic a second time with the next
// value of the loop variable. In the last turn that is the last value again, so that the place is
// always one the program itself reads, and prefetches nothing new.
//
//===----------------------------------------------------------------------------------------===//

#include "Lowering.h"
#include "tilewright/Layout/Contiguity.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

/// Larger tiles would push out what the present turn works on.
static constexpr int64_t kMaxPrefetchedBytes = int64_t(1) << 16;
/// Into the first-level cache and so into all, or from the second level on.
static constexpr uint32_t kIntoFirst = 3, kIntoSecond = 2;

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
  return !isAskedFor && !view.root->isOnChip() && !view.root->layout &&
         (isOneStretch(view) || bytes > kMaxPrefetchedBytes);
}

/// The first product behind a copy, in the same block, that reads the tile it fills.
static tile::GemmOp findProduct(tile::CopyOp copy) {
  tile::GemmOp first;
  for (Operation *user : copy.getDest().getUsers()) {
    auto gemm = dyn_cast<tile::GemmOp>(user);
    bool isBehind = gemm && gemm->getBlock() == copy->getBlock() && copy->isBeforeInBlock(gemm) &&
                    gemm.getC() != copy.getDest();
    if (isBehind && (!first || gemm->isBeforeInBlock(first)))
      first = gemm;
  }
  return first;
}

/// The part of a tensor that the copy reads in the next turn, if it is prefetched.
std::optional<View> Lowering::findNextTile(tile::CopyOp copy) {
  auto slice = copy.getSource().getDefiningOp<tile::SliceOp>();
  auto type = cast<MemRefType>(copy.getSource().getType());
  if (!nextTurn || copy->getParentRegion() != nextTurn->region || !slice ||
      slice->getParentRegion() != nextTurn->region || !type.hasStaticShape() ||
      type.getRank() == 0 || getView(copy.getSource()).root->isOnChip() ||
      !getView(copy.getDest()).root->isOnChip())
    return std::nullopt;
  int64_t bytes = type.getNumElements() * tile::getStorageBytes(type.getElementType());
  if (bytes > kMaxPrefetchedBytes || (!findProduct(copy) && isReadAhead(getView(copy.getSource()))))
    return std::nullopt;
  std::optional<SmallVector<Operation *>> arithmetic =
      collectArithmetic(slice, nextTurn->region, nextTurn->values);
  if (!arithmetic || llvm::is_contained(*arithmetic, slice.getSource().getDefiningOp()))
    return std::nullopt;

  llvm::DenseMap<Value, Value> present = scope->values;
  for (auto [old, next] : nextTurn->values)
    define(old, next);
  for (Operation *op : ArrayRef(*arithmetic).drop_back())
    lowerOp(*op);
  View view = makeSlice(slice);
  scope->values = std::move(present);
  return isContiguousAlong(view, view.getRank() - 1) ? std::optional(view) : std::nullopt;
}

/// A copy, and prefetches of what it reads in the next turn.
void Lowering::lowerCopyAndPrefetch(tile::CopyOp copy) {
  std::optional<View> next = findNextTile(copy);
  tile::GemmOp product = findProduct(copy);
  if (next && product)
    scope->nextTiles[product].push_back(*next);
  isAskedFor = next && product;
  lowerTileCopy(copy);
  isAskedFor = false;
  if (!next || product)
    return;
  unsigned last = next->getRank() - 1;
  int64_t elements = kCacheLine / tile::getStorageBytes(next->elementType);
  SmallVector<Value> extents(next->extents.begin(), next->extents.end());
  extents[last] = index(llvm::divideCeil(*getConstantIntValue(extents[last]), elements));
  loopNest(extents, /*isParallel=*/false, [&](ArrayRef<Value> variables) {
    SmallVector<Value> place(variables);
    place[last] = mul(place[last], index(elements));
    LLVM::Prefetch::create(b, addressOf(*next, toSurface(*next, place)), /*rw=*/0, kIntoSecond,
                           /*cache=*/1);
  });
}

/// The stretches of a matrix in a tensor: all of it, rows, or under a layout rows of boxes. Nothing
/// if it is not known to consist of such, or has no constant extents.
std::optional<Lowering::Stretches> Lowering::findStretches(const View &view) {
  if (view.getRank() != 2 || view.root->isOnChip())
    return std::nullopt;
  std::optional<int64_t> rows = getConstantIntValue(view.extents[0]),
                         columns = getConstantIntValue(view.extents[1]);
  std::optional<Window> window = windowOf(view, {0, 1}, view.extents);
  if (!rows || !columns || !window || !window->isWhole)
    return std::nullopt;
  int64_t rowsOfStretch = 1;
  if (view.root->layout) {
    auto isStretch = [&](int64_t height) {
      int64_t elements = height * *columns;
      std::optional<ContiguousBox> box = findBox(*view.root, elements, elements);
      return box && box->rows == height;
    };
    while (rowsOfStretch <= *rows && (*rows % rowsOfStretch != 0 || !isStretch(rowsOfStretch)))
      ++rowsOfStretch;
    if (rowsOfStretch > *rows)
      return std::nullopt;
  } else if (!isContiguousAlong(view, 1)) {
    return std::nullopt;
  } else if (isOneStretch(view)) {
    rowsOfStretch = *rows;
  }
  int64_t bytes = rowsOfStretch * *columns * tile::getStorageBytes(view.elementType);
  auto startOf = [this, view, rowsOfStretch](Value number) {
    return addressOf(view, toSurface(view, {mul(number, index(rowsOfStretch)), index(0)}));
  };
  return Stretches{*rows / rowsOfStretch, int64_t(llvm::divideCeil(bytes, kCacheLine)), startOf};
}

/// The part of a tensor to which the product's tile is added behind it, in the same turn.
std::optional<View> Lowering::findUpdated(tile::GemmOp op) {
  for (Operation *user : op.getC().getUsers()) {
    auto update = dyn_cast<tile::AtomicOp>(user);
    if (update && update.getValue() == op.getC() && update->getBlock() == op->getBlock() &&
        op->isBeforeInBlock(update) && lowerAhead(update.getDest(), op))
      return getView(update.getDest());
  }
  return std::nullopt;
}

/// What a product asks for on its way: tiles of the next turn, and what it will be added to.
void Lowering::askAhead(tile::GemmOp op, Product &product) {
  SmallVector<View, 1> views = scope->nextTiles.lookup(op);
  scope->nextTiles.erase(op);
  if (std::optional<View> updated = findUpdated(op))
    views.push_back(*updated);
  for (const View &view : views)
    if (std::optional<Stretches> stretches = findStretches(view))
      product.ahead.push_back(*stretches);
}

/// Asks for one line of each of these parts. `block` counts the blocks of C before this one. The
/// last stretch stands for those behind it.
void Lowering::prefetchLines(const Product &product, Value block, Value k) {
  auto divide = [&](Value value, int64_t by) {
    return b.createOrFold<arith::DivUIOp>(value, index(by));
  };
  auto remainder = [&](Value value, int64_t by) {
    return b.createOrFold<arith::RemUIOp>(value, index(by));
  };
  // With short vectors tiles of B are copied (LowerOperands.cpp), and need the first cache.
  uint32_t locality = options.vectorWidth >= 16 ? kIntoFirst : kIntoSecond;
  for (const Stretches &stretches : product.ahead) {
    Value number, line;
    if (stretches.lines % product.k == 0) { // the loop over k stays in one stretch
      int64_t blocks = stretches.lines / product.k;
      number = divide(block, blocks);
      line = add(mul(remainder(block, blocks), index(product.k)), k);
    } else {
      Value step = add(mul(block, index(product.k)), k);
      number = divide(step, stretches.lines);
      line = remainder(step, stretches.lines);
    }
    number = b.createOrFold<arith::MinUIOp>(number, index(stretches.count - 1));
    Value start = stretches.startOf(number), bytes = toI64(mul(line, index(kCacheLine)));
    // Not `inbounds`: boxes may begin before the part does, and end behind the tensor.
    Value address = LLVM::GEPOp::create(b, start.getType(), b.getI8Type(), start,
                                        ArrayRef<LLVM::GEPArg>{bytes});
    LLVM::Prefetch::create(b, address, /*rw=*/0, locality, /*cache=*/1);
  }
}
