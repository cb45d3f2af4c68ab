//===- PlanSharedMemory.cpp - where each shared tile lies in the block's arena ---------------===//
//
// Gives every shared tile of a kernel an offset and checks the total against the architecture.
//
// Expects: placements of shared tiles (infer-layouts).   Leaves: `tile.offset` on allocations and
// `tile.shared_bytes` on the kernel.
//===----------------------------------------------------------------------------------------===//

#include "tilewright/Target/Arch.h"
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

namespace {

/// Swizzle atoms are 128 bytes wide and eight rows high; a tile that starts on their boundary keeps
/// its bank arithmetic.
constexpr int64_t kTileAlignment = 128;

/// Bytes of a tile in its placement, padding included.
int64_t placedBytes(AllocOp alloc) {
  MemRefType type = alloc.getBuffer().getType();
  int64_t elements = type.getNumElements();
  if (auto layout = alloc->getAttrOfType<LayoutAttr>(kPlacementAttr))
    elements = layout.getLayout().getPhysicalSize().value_or(elements);
  return elements * getStorageBytes(type.getElementType());
}

bool livesInShared(AllocOp alloc) {
  if (getSpace(alloc.getBuffer()) == Space::Shared)
    return true;
  // A fragment whose uses no register layout satisfies was placed in shared memory.
  return getSpace(alloc.getBuffer()) == Space::Fragment &&
         alloc->getAttrOfType<LayoutAttr>(kPlacementAttr);
}

struct PlanSharedMemoryPass : tilewright::impl::PlanSharedMemoryBase<PlanSharedMemoryPass> {
  using PlanSharedMemoryBase::PlanSharedMemoryBase;

  void runOnOperation() override {
    const Arch *target = findArch(arch);
    if (!target) {
      getOperation()->emitError() << "unknown architecture '" << arch << "'; known are "
                                  << getArchNames();
      return signalPassFailure();
    }
    Builder b(&getContext());
    getOperation()->walk([&](KernelOp kernel) {
      int64_t top = 0, scratch = 0;
      SmallVector<AllocOp> tiles;
      kernel.walk([&](AllocOp alloc) {
        if (!livesInShared(alloc))
          return;
        alloc->setAttr(kOffsetAttr, b.getI64IntegerAttr(top));
        top = llvm::alignTo(top + placedBytes(alloc), kTileAlignment);
        tiles.push_back(alloc);
      });
      // One scratch area serves all statements: no two of them run at once.
      kernel.walk([&](TileEffectsOpInterface op) {
        scratch = std::max(scratch, op.getScratchSharedBytes(kernel.getNumThreads()));
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
            << "'" << alloc.getName() << "' takes " << placedBytes(alloc) << " bytes";
      signalPassFailure();
    });
  }
};

} // namespace
