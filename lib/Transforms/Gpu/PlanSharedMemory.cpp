//===- PlanSharedMemory.cpp - where each shared tile lies in the block's arena ---------------===//
//
// Gives every shared tile of a kernel an offset and checks the total against the architecture.
// Tiles that are never live at the same time share bytes; insert-orderings orders them by those
// bytes.
//
// Barriers lie after all tiles: they live as long as the block.
//
// Expects: placements of shared tiles (infer-layouts), versions (plan-pipeline).   Leaves:
// `tile.offset` on allocations and `tile.shared_bytes` on the kernel.
//===----------------------------------------------------------------------------------------===//

#include "TargetArch.h"
#include "tilewright/Analysis/Distribution.h"
#include "tilewright/Analysis/SharedTiles.h"
#include "tilewright/Tile/Teams.h"
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

/// The scratch area after tiles and barriers starts on such a boundary.
constexpr int64_t kScratchAlignment = 16;

/// The boundary that a tile must start on: that of what reads it, if it says so (infer-layouts).
int64_t getTileAlignment(AllocOp alloc) {
  auto alignment = alloc->getAttrOfType<IntegerAttr>(kAlignmentAttr);
  return alignment ? std::max(kTileAlignment, alignment.getInt()) : kTileAlignment;
}

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
    int64_t alignment = getTileAlignment(alloc);
    for (const Placed &other : placed)
      if (other.live.overlaps(live[alloc]) && offset < other.end && other.begin < offset + bytes)
        offset = llvm::alignTo(other.end, alignment);
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

/// How the bytes of a tile come about: versions, and why a fragment is here.
void describeShare(InFlightDiagnostic &diag, AllocOp alloc) {
  int64_t bytes = getPlacedBytes(alloc);
  Diagnostic &note = diag.attachNote(alloc.getLoc());
  note << "'" << alloc.getName() << "' takes " << bytes << " bytes";
  if (auto versions = alloc->getAttrOfType<IntegerAttr>(kVersionsAttr))
    note << " (" << versions.getInt() << " stages x " << bytes / versions.getInt() << ")";
  if (getSpace(alloc.getBuffer()) == Space::Fragment)
    note << ": a fragment that lives in shared memory, see the remarks";
}

/// Lists what a kernel keeps in shared memory, and what to lower.
void refuseTotal(KernelOp kernel, int64_t total, const Arch &arch, ArrayRef<AllocOp> tiles,
                 TileEffectsOpInterface exchange, int64_t scratch) {
  bool hasVersions = llvm::any_of(tiles, [](AllocOp a) { return a->hasAttr(kVersionsAttr); });
  InFlightDiagnostic diag = kernel.emitError()
                            << "kernel needs " << total << " bytes of shared memory, " << arch.name
                            << " allows " << arch.maxSharedBytes << "; "
                            << (hasVersions ? "lower num_stages or a tile" : "take smaller tiles");
  for (AllocOp alloc : tiles)
    describeShare(diag, alloc);
  if (scratch)
    diag.attachNote(exchange.getLoc())
        << "threads exchange " << scratch << " bytes in this statement";
}

struct PlanSharedMemoryPass : tilewright::impl::PlanSharedMemoryBase<PlanSharedMemoryPass> {
  using PlanSharedMemoryBase::PlanSharedMemoryBase;

  void runOnOperation() override {
    const Arch *target = requireArch(getOperation(), arch);
    if (!target)
      return signalPassFailure();
    Builder b(&getContext());
    getOperation()->walk([&](KernelOp kernel) {
      SmallVector<AllocOp> tiles;
      kernel.walk([&](AllocOp alloc) {
        if (livesInShared(alloc))
          tiles.push_back(alloc);
      });
      int64_t top = placeTiles(kernel, tiles);
      kernel.walk([&](BarrierAllocOp barriers) {
        barriers->setAttr(kOffsetAttr, b.getI64IntegerAttr(top));
        top += *getStorageBytes(barriers.getBarriers().getType());
      });
      top = llvm::alignTo(top, kScratchAlignment);
      // One scratch area serves all statements of a role: no two of them run at once.
      int64_t scratch = 0;
      TileEffectsOpInterface exchange; // the statement that needs most
      kernel.walk([&](TileEffectsOpInterface op) {
        int64_t bytes = getScratchBytes(op, getNumThreads(op));
        if (bytes > scratch)
          exchange = op;
        scratch = std::max(scratch, bytes);
      });
      if (int64_t roles = getTeamRoles(kernel).size())
        scratch = llvm::alignTo(scratch, kScratchAlignment) * roles;
      kernel->setAttr(kSharedBytesAttr, b.getI64IntegerAttr(top + scratch));
      if (top + scratch <= target->maxSharedBytes)
        return;
      refuseTotal(kernel, top + scratch, *target, tiles, exchange, scratch);
      signalPassFailure();
    });
  }
};

} // namespace
