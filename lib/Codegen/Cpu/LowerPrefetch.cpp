//===- LowerPrefetch.cpp - what the next turn of a loop will copy -----------------------------===//
//
// A tile that comes from a tensor is read row by row, each row on other pages, which the hardware's
// prefetchers do not foresee. What a copy into a tile that stands directly in a pipelined loop
// reads in the next turn is therefore prefetched in the present one. The product behind the copy
// that reads the tile does so on its way, a line with each step along k: a burst of prefetches
// would wait like the loads it is to spare. Where there is no such product they follow the copy,
// except for tiles whose rows follow each other in memory: those, and large ones, are read ahead
// while they are copied (LowerStreams.cpp). (From block to block all this costs more than it
// brings: blocks are next to each other.)
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

void Lowering::prefetchNext(tile::CopyOp copy) {
  auto slice = copy.getSource().getDefiningOp<tile::SliceOp>();
  auto type = cast<MemRefType>(copy.getSource().getType());
  if (!nextTurn || copy->getParentRegion() != nextTurn->region || !slice ||
      slice->getParentRegion() != nextTurn->region || !type.hasStaticShape() ||
      type.getRank() == 0 || getView(copy.getSource()).root->isOnChip() ||
      !getView(copy.getDest()).root->isOnChip())
    return;
  tile::GemmOp product = findProduct(copy);
  int64_t bytes = type.getNumElements() * tile::getStorageBytes(type.getElementType());
  if (bytes > kMaxPrefetchedBytes || (!product && isReadAhead(getView(copy.getSource()))))
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
  if (product) {
    scope->nextTiles[product].push_back(view);
    return;
  }
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

/// The tiles of the next turn that a product asks for on its way.
void Lowering::addNextTiles(tile::GemmOp op, Product &product) {
  for (const View &view : scope->nextTiles.lookup(op)) {
    Type element = getStorageType(view.elementType);
    std::optional<Matrix> matrix = view.getRank() == 2 ? getMatrix(view, element) : std::nullopt;
    std::optional<int64_t> rows = getConstantIntValue(view.extents.front()),
                           columns = getConstantIntValue(view.extents.back());
    if (!matrix || !rows || !columns)
      continue;
    int64_t lineElements = kCacheLine / tile::getStorageBytes(element);
    product.nextTiles.push_back(
        {*matrix, element, *rows, int64_t(llvm::divideCeil(*columns, lineElements))});
  }
  scope->nextTiles.erase(op);
}

/// Asks for one line of each tile of the next turn; `step` counts the steps of a pass over A. The
/// last row stands for those behind it.
void Lowering::prefetchLine(const Product &product, Value step) {
  for (const Product::NextTile &tile : product.nextTiles) {
    int64_t lineElements = kCacheLine / tile::getStorageBytes(tile.element);
    Value lines = index(tile.linesPerRow);
    Value row = b.createOrFold<arith::MinUIOp>(b.createOrFold<arith::DivUIOp>(step, lines),
                                               index(tile.rows - 1));
    Value column = mul(b.createOrFold<arith::RemUIOp>(step, lines), index(lineElements));
    LLVM::Prefetch::create(b, addressIn(tile.matrix, tile.element, row, column), /*rw=*/0,
                           kLocality, /*cache=*/1);
  }
}
