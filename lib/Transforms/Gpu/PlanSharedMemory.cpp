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

#include "Roles.h"
#include "SharedArena.h"
#include "TargetArch.h"
#include "tilewright/Analysis/Distribution.h"
#include "tilewright/Analysis/SharedTiles.h"
#include "tilewright/Tile/Remarks.h"
#include "tilewright/Tile/Schedule.h"
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

/// An update of 8 bits compares and swaps the two bytes around its element. Both must have a value,
/// or bytes that were never written would decide whether the swap took place: the neighbour of an
/// element, and the padding after a tile of an odd number of bytes. So such tiles start as zeros;
/// every engine may do so, since an unwritten element has any value.
void clearByteAtomics(KernelOp kernel) {
  kernel.walk([](Operation *op) {
    Value buffer;
    if (auto update = dyn_cast<AtomicElementOp>(op))
      buffer = update.getBuffer();
    else if (auto update = dyn_cast<ReducerUpdateOp>(op))
      buffer = update.getBuffer();
    if (!buffer || getStorageBytes(cast<MemRefType>(buffer.getType()).getElementType()) != 1)
      return;
    auto alloc = getRoot(buffer).getDefiningOp<AllocOp>();
    if (alloc && livesInShared(alloc))
      alloc->setAttr(kClearedAttr, UnitAttr::get(op->getContext()));
  });
}

/// Swizzle atoms are 128 bytes wide and eight rows high; a tile that starts on their boundary keeps
/// its bank arithmetic.
constexpr int64_t kTileAlignment = 128;

/// The widest access starts on such a boundary; so do the scratch area after tiles and barriers, and
/// tiles that are smaller than that access, as numbers that blocks keep are.
constexpr int64_t kScratchAlignment = 16;

/// Rows of barriers of so many bytes are worth a note.
constexpr int64_t kLargeRowBytes = 1024;

/// The boundary that a tile must start on: that of what reads it, if it says so (infer-layouts).
int64_t getTileAlignment(AllocOp alloc) {
  int64_t least = getPlacedBytes(alloc) < kScratchAlignment ? kScratchAlignment : kTileAlignment;
  auto alignment = alloc->getAttrOfType<IntegerAttr>(kAlignmentAttr);
  return alignment ? std::max(least, alignment.getInt()) : least;
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
    int64_t alignment = getTileAlignment(alloc), offset = 0;
    int64_t bytes = llvm::alignTo(-size, std::min(alignment, kTileAlignment));
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
void refuseTotal(KernelOp kernel, const SharedArena &arena, const Arch &arch) {
  bool hasVersions = llvm::any_of(arena.tiles, [](AllocOp a) { return a->hasAttr(kVersionsAttr); });
  InFlightDiagnostic diag = kernel.emitError()
                            << "kernel needs " << arena.bytes << " bytes of shared memory, "
                            << arch.name << " allows " << arch.maxSharedBytes << "; "
                            << (hasVersions ? "lower num_stages or a tile" : "take smaller tiles");
  for (AllocOp alloc : arena.tiles)
    describeShare(diag, alloc);
  kernel.walk([&](BarrierAllocOp row) {
    int64_t bytes = *getStorageBytes(row.getBarriers().getType());
    if (bytes >= kLargeRowBytes)
      diag.attachNote(row.getLoc()) << "'" << row.getName() << "' takes " << bytes << " bytes ("
                                    << row.getArrivals().size() << " barriers)";
  });
  if (arena.scratchBytes)
    diag.attachNote(TileEffectsOpInterface(arena.exchange).getLoc())
        << "threads exchange " << arena.scratchBytes << " bytes in this statement";
}

/// Where the blocks that the program wants on a processor do not fit, says so and drops the wish. Each block
/// takes 1 KB more than it needs.
void checkBlocks(KernelOp kernel, int64_t bytes, const Arch &arch) {
  int64_t blocks = getWantedBlocks(kernel), threads = kernel.getNumThreads();
  if (blocks == 1)
    return;
  int64_t most = arch.sharedBytesPerProcessor / blocks - 1024;
  int64_t possible = std::min(arch.blocksPerProcessor, arch.threadsPerProcessor / threads);
  // A producer's warps take registers too, in fours.
  bool hasProducer = false;
  kernel.walk([&](AsyncGroupOp group) { hasProducer |= bool(group.getEmpty()); });
  int64_t takers = hasProducer ? llvm::alignTo(threads + kWarpSize, 4 * kWarpSize) : threads;
  int64_t need = estimateRegisters(kernel),
          given = kRegistersPerProcessor / blocks / takers / 8 * 8;
  if (bytes <= most && blocks <= possible && need <= given)
    return;
  InFlightDiagnostic diag = kernel.emitRemark();
  diag << blocks << " blocks do not fit on a processor: ";
  if (blocks > possible)
    diag << "of " << threads << " threads it takes " << possible;
  else if (bytes > most)
    diag << "each needs " << bytes << " bytes of shared memory, and could have " << most;
  else
    diag << "a thread needs about " << need << " registers, and could have " << given;
  describeRemark(diag, "occupancy", "", {{"blocks", blocks}, {"bytes", bytes}});
  SmallVector<HintOp> hints;
  kernel.walk([&](HintOp hint) {
    if (hint.getName() == "min_blocks_per_sm")
      hints.push_back(hint);
  });
  for (HintOp hint : hints)
    hint.erase();
}

} // namespace

SharedArena tilewright::planSharedArena(KernelOp kernel) {
  Builder b(kernel.getContext());
  SharedArena arena;
  kernel.walk([&](AllocOp alloc) {
    if (livesInShared(alloc))
      arena.tiles.push_back(alloc);
  });
  int64_t top = placeTiles(kernel, arena.tiles);
  kernel.walk([&](BarrierAllocOp barriers) {
    barriers->setAttr(kOffsetAttr, b.getI64IntegerAttr(top));
    top += *getStorageBytes(barriers.getBarriers().getType());
  });
  top = llvm::alignTo(top, kScratchAlignment);
  // One scratch area serves all statements of a role: no two of them run at once.
  kernel.walk([&](TileEffectsOpInterface op) {
    int64_t bytes = getScratchBytes(op, getNumThreads(op));
    if (bytes > arena.scratchBytes)
      arena.exchange = op;
    arena.scratchBytes = std::max(arena.scratchBytes, bytes);
  });
  if (int64_t roles = getTeamRoles(kernel).size())
    arena.scratchBytes = llvm::alignTo(arena.scratchBytes, kScratchAlignment) * roles;
  arena.bytes = top + arena.scratchBytes;
  return arena;
}

namespace {

struct PlanSharedMemoryPass : tilewright::impl::PlanSharedMemoryBase<PlanSharedMemoryPass> {
  using PlanSharedMemoryBase::PlanSharedMemoryBase;

  void runOnOperation() override {
    const Arch *target = requireArch(getOperation(), arch);
    if (!target)
      return signalPassFailure();
    getOperation()->walk([](KernelOp kernel) { clearByteAtomics(kernel); });
    Builder b(&getContext());
    getOperation()->walk([&](KernelOp kernel) {
      SharedArena arena = planSharedArena(kernel);
      kernel->setAttr(kSharedBytesAttr, b.getI64IntegerAttr(arena.bytes));
      if (arena.bytes <= target->maxSharedBytes)
        return checkBlocks(kernel, arena.bytes, *target);
      refuseTotal(kernel, arena, *target);
      signalPassFailure();
    });
  }
};

} // namespace
