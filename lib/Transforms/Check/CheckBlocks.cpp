//===- CheckBlocks.cpp - refuse kernels whose blocks certainly race ---------------------------===//
//
// Expects: any tile IR.   Leaves: the IR as it is.
// The thinking is in Analysis/BlockConflicts.h.
//
//===----------------------------------------------------------------------------------------===//

#include "tilewright/Analysis/BlockConflicts.h"
#include "tilewright/Transforms/Passes.h"

namespace tilewright {
#define GEN_PASS_DEF_CHECKBLOCKS
#include "tilewright/Transforms/Passes.h.inc"
} // namespace tilewright

using namespace tilewright;

namespace {
struct CheckBlocksPass : impl::CheckBlocksBase<CheckBlocksPass> {
  void runOnOperation() override {
    getOperation()->walk([&](tile::KernelOp kernel) {
      std::optional<analysis::BlockConflict> conflict =
          analysis::findBlockConflict(kernel, analysis::GridExtents::Constant);
      if (!conflict)
        return;
      mlir::InFlightDiagnostic diag = conflict->first->emitError() << conflict->str();
      if (conflict->second != conflict->first)
        diag.attachNote(conflict->second->getLoc()) << "the other access is here";
      signalPassFailure();
    });
    markAllAnalysesPreserved();
  }
};
} // namespace
