//===- CheckFragments.cpp - refuse fragments indexed by loaded values -------------------------===//
//
// Expects: any tile IR.   Leaves: the IR as it is.
//
//   %k = tile.load %I[%i]              // a value of memory
//   %v = tile.load %f[%k]              // error: 'f' is a fragment …
//===----------------------------------------------------------------------------------------===//

#include "tilewright/Tile/Tile.h"
#include "tilewright/Transforms/Passes.h"

#include "llvm/ADT/SmallPtrSet.h"

namespace tilewright {
#define GEN_PASS_DEF_CHECKFRAGMENTS
#include "tilewright/Transforms/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

namespace {

/// The read of memory that an index depends on, if there is one.
Operation *findLoadedValue(ValueRange indices) {
  SmallVector<Value> work(indices);
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!work.empty()) {
    Operation *op = work.pop_back_val().getDefiningOp();
    if (!op || !seen.insert(op).second)
      continue;
    if (isa<AtomicElementOp>(op))
      return op;
    if (auto load = dyn_cast<LoadOp>(op)) {
      // Variables are another matter: a loop over them may still be unrolled.
      if (getSpace(load.getBuffer()) != Space::Local)
        return op;
      continue;
    }
    llvm::append_range(work, op->getOperands());
  }
  return nullptr;
}

struct CheckFragmentsPass : tilewright::impl::CheckFragmentsBase<CheckFragmentsPass> {
  void runOnOperation() override {
    getOperation()->walk([&](Operation *op) {
      auto [buffer, indices] =
          TypeSwitch<Operation *, std::pair<Value, ValueRange>>(op)
              .Case([](LoadOp load) { return std::pair(load.getBuffer(), load.getIndices()); })
              .Case([](StoreOp store) { return std::pair(store.getBuffer(), store.getIndices()); })
              .Case([](SliceOp slice) { return std::pair(slice.getSource(), slice.getOffsets()); })
              .Default(std::pair<Value, ValueRange>());
      if (!buffer || getSpace(getRoot(buffer)) != Space::Fragment)
        return;
      Operation *loaded = findLoadedValue(indices);
      if (!loaded)
        return;
      InFlightDiagnostic diag = op->emitError()
                                << "'" << tile::getName(buffer)
                                << "' is a fragment: its index must be known after unrolling, got "
                                   "a loaded value; use 'T.alloc_shared'";
      if (auto alloc = getRoot(buffer).getDefiningOp<AllocOp>())
        diag.attachNote(alloc.getLoc()) << "'" << alloc.getName() << "' is allocated here";
      signalPassFailure();
    });
    markAllAnalysesPreserved();
  }
};

} // namespace
