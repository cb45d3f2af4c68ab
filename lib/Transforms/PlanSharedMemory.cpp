//===- PlanSharedMemory.cpp - where each shared tile lies in the block's arena ---------------===//
//
// Gives every shared tile of a kernel an offset and checks the total against the architecture.
// Tiles that are never live at the same time share bytes; insert-barriers orders them by those
// bytes.
//
// Expects: placements of shared tiles (infer-layouts), versions (plan-pipeline).   Leaves:
// `tile.offset` on allocations and `tile.shared_bytes` on the kernel.
//===----------------------------------------------------------------------------------------===//

#include "TargetArch.h"
#include "tilewright/Analysis/Distribution.h"
#include "tilewright/Analysis/SharedTiles.h"
#include "tilewright/Tile/Tile.h"
#include "tilewright/Transforms/Passes.h"

#include "mlir/IR/Builders.h"

namespace tilewright {
#define GEN_PASS_DEF_PLANSHAREDMEMORY
#include "tilewright/Transforms/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;
using namespace tilewright::analysis;

namespace {

/// Swizzle atoms are 128 bytes wide and eight rows high; a tile that starts on their boundary keeps
/// its bank arithmetic.
constexpr int64_t kTileAlignment = 128;

/// Tiles whose live ranges do not meet may share bytes; the largest come first, each at the lowest
/// offset that is free. Gives the bytes that all need.
int64_t placeTiles(KernelOp kernel, ArrayRef<AllocOp> tiles) {
  llvm::DenseMap<Operation *, LiveRange> live = getLiveRanges(kernel);
  SmallVector<std::pair<int64_t, unsigned>> order; // largest first, then as written
  for (auto [position, alloc] : llvm::enumerate(tiles))
    order.emplace_back(-getPlacedBytes(alloc), position);
  llvm::sort(order);
  struct Placed {
    LiveRange live;
    int64_t begin, end;
  };
  SmallVector<Placed> placed; // by their offsets
  Builder b(kernel.getContext());
  int64_t top = 0;
  for (auto [size, position] : order) {
    AllocOp alloc = tiles[position];
    int64_t bytes = llvm::alignTo(-size, kTileAlignment), offset = 0;
    for (const Placed &other : placed)
      if (other.live.overlaps(live[alloc]) && offset < other.end && other.begin < offset + bytes)
        offset = other.end;
    alloc->setAttr(kOffsetAttr, b.getI64IntegerAttr(offset));
    Placed entry{live[alloc], offset, offset + bytes};
    placed.insert(
        llvm::upper_bound(placed, entry,
                          [](const Placed &x, const Placed &y) { return x.begin < y.begin; }),
        entry);
    top = std::max(top, offset + bytes);
  }
  return top;
}

struct PlanSharedMemoryPass : tilewright::impl::PlanSharedMemoryBase<PlanSharedMemoryPass> {
  using PlanSharedMemoryBase::PlanSharedMemoryBase;

  void runOnOperation() override {
    const Arch *target = requireArch(getOperation(), arch);
    if (!target)
      return signalPassFailure();
    Builder b(&getContext());
    getOperation()->walk([&](KernelOp kernel) {
      int64_t scratch = 0;
      SmallVector<AllocOp> tiles;
      kernel.walk([&](AllocOp alloc) {
        if (livesInShared(alloc))
          tiles.push_back(alloc);
      });
      int64_t top = placeTiles(kernel, tiles);
      // One scratch area serves all statements: no two of them run at once.
      kernel.walk([&](TileEffectsOpInterface op) {
        scratch = std::max(scratch, getScratchBytes(op, kernel.getNumThreads()));
      });
      kernel->setAttr(kSharedBytesAttr, b.getI64IntegerAttr(top + scratch));
      if (top + scratch <= target->maxSharedBytes)
        return;
      InFlightDiagnostic diag = kernel.emitError()
                                << "kernel needs " << top + scratch << " bytes of shared memory, "
                                << arch << " allows " << target->maxSharedBytes
                                << "; lower num_stages or a tile";
      for (AllocOp alloc : tiles)
        diag.attachNote(alloc.getLoc())
            << "'" << alloc.getName() << "' takes " << getPlacedBytes(alloc) << " bytes";
      signalPassFailure();
    });
  }
};

} // namespace
