//===- KeepTiles.cpp - tiles that keep their values when the blocks of a grid meet -----------===//
//
// `T.sync_grid` ends the launch, and with it every tile (tile-split-grid). A tile that may be read
// after it with values from before is saved to global memory, in a slice of a workspace for each
// block, and read back:
//
//   %w = tile.alloc "t"[gx, gy, m, n] global
//   tile.kernel (%bx, %by) in (gx, gy) {
//     ...
//     tile.copy %t, %w[%bx, %by, 0, 0]
//     tile.grid_sync
//     tile.copy %w[%bx, %by, 0, 0], %t
//
//===----------------------------------------------------------------------------------------===//

#include "tilewright/Threads/Passes.h"
#include "tilewright/Tile/OldValues.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tilewright {
#define GEN_PASS_DEF_KEEPTILES
#include "tilewright/Threads/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::threads {

static bool hasThreadIds(KernelOp kernel) {
  return kernel.walk([](ThreadIdOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

/// Whether a tile is the block's. A fragment that single threads use element by element may be an
/// array of each thread by another name (docs/semantics.md), which a copy would not keep.
static bool canKeep(KernelOp kernel, AllocOp alloc) {
  Space space = getSpace(alloc.getBuffer());
  if (alloc.getReducer() || (space != Space::Shared && space != Space::Fragment))
    return false;
  return space == Space::Shared || !hasThreadIds(kernel) ||
         llvm::any_of(alloc.getBuffer().getUsers(),
                      [](Operation *user) { return !isa<LoadOp, StoreOp>(user); }) ||
         llvm::all_of(alloc.getBuffer().getUsers(), [](Operation *user) {
           return user->getParentOfType<ParallelOp>() != nullptr;
         });
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

static void keepTile(KernelOp kernel, GridSyncOp sync, AllocOp alloc) {
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

namespace {
struct KeepTilesPass : tilewright::impl::KeepTilesBase<KeepTilesPass> {
  void runOnOperation() override {
    getOperation().walk([](KernelOp kernel) {
      Block &body = kernel.getBody().front();
      for (auto sync : llvm::to_vector(body.getOps<GridSyncOp>()))
        for (auto alloc : llvm::to_vector(body.getOps<AllocOp>()))
          if (alloc->isBeforeInBlock(sync) && canKeep(kernel, alloc) &&
              mayReadAcross(sync, alloc.getBuffer()))
            keepTile(kernel, sync, alloc);
    });
  }
};
} // namespace

} // namespace tilewright::threads
