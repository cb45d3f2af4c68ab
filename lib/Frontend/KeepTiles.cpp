//===- KeepTiles.cpp - tiles that keep their values when the blocks of a grid meet -----------===//
//
// `T.sync_grid` ends the launch, and with it every tile (GridSync.cpp). A tile that is read after it
// with values from before spends the time between in global memory, a slice of a workspace for each
// block:
//
//   %w = tile.alloc "t"[gx, gy, m, n] global
//   tile.kernel (%bx, %by) in (gx, gy) {
//     ...
//     tile.copy %t, %w[%bx, %by, 0, 0]
//     tile.hint "sync_grid"
//     tile.copy %w[%bx, %by, 0, 0], %t
//
//===----------------------------------------------------------------------------------------===//

#include "KeepTiles.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::frontend {

bool canKeep(AllocOp alloc) {
  Space space = getSpace(alloc.getBuffer());
  return (space == Space::Shared || space == Space::Fragment) && !alloc.getReducer();
}

/// A workspace with room for the tile of each block.
static Value makeWorkspace(KernelOp kernel, AllocOp alloc) {
  ImplicitLocOpBuilder b(alloc.getLoc(), kernel);
  SmallVector<int64_t> shape;
  SmallVector<Value> dynamicExtents;
  for (Value extent : kernel.getGrid()) {
    std::optional<int64_t> constant = getConstantIntValue(extent);
    // An extent of 0 runs no block; a buffer has at least one element.
    shape.push_back(constant ? std::max<int64_t>(1, *constant) : ShapedType::kDynamic);
    if (!constant)
      dynamicExtents.push_back(extent);
  }
  MemRefType type = alloc.getBuffer().getType();
  llvm::append_range(shape, type.getShape());
  MemRefType workspace = makeBufferType(shape, type.getElementType(), Space::Global);
  return AllocOp::create(b, workspace, alloc.getNameAttr(), dynamicExtents, ReduceKindAttr());
}

/// The part of a workspace that belongs to the block.
static Value sliceOfBlock(ImplicitLocOpBuilder &b, KernelOp kernel, Value workspace,
                          ArrayRef<int64_t> extents) {
  SmallVector<OpFoldResult> offsets(kernel.getBlockIds().begin(), kernel.getBlockIds().end());
  SmallVector<OpFoldResult> sizes(offsets.size(), b.getIndexAttr(1));
  SmallVector<int64_t> dropped(llvm::to_vector(llvm::seq<int64_t>(0, offsets.size())));
  for (int64_t extent : extents) {
    offsets.push_back(b.getIndexAttr(0));
    sizes.push_back(b.getIndexAttr(extent));
  }
  SmallVector<OpFoldResult> steps(offsets.size(), b.getIndexAttr(1));
  return SliceOp::create(b, workspace, offsets, sizes, steps, dropped);
}

void keepTile(KernelOp kernel, HintOp sync, AllocOp alloc) {
  Value tile = alloc.getBuffer(), workspace = makeWorkspace(kernel, alloc);
  ArrayRef<int64_t> extents = alloc.getBuffer().getType().getShape();
  ImplicitLocOpBuilder b(sync.getLoc(), sync);
  auto copy = [&](Value from, Value to) {
    CopyOp::create(b, from, to, IntegerAttr(), FragmentAttr());
  };
  copy(tile, sliceOfBlock(b, kernel, workspace, extents));
  b.setInsertionPointAfter(sync);
  Value kept = sliceOfBlock(b, kernel, workspace, extents);
  copy(kept, tile);
}

} // namespace tilewright::frontend
