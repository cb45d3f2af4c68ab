//===- CheckParallel.cpp - refuse T.Parallel loops with dependent iterations -----------------===//
//
// Expects: any tile IR.   Leaves: the IR as it is.
// The thinking is in Analysis/ParallelConflicts.h.
//
//===----------------------------------------------------------------------------------------===//

#include "tilewright/Analysis/ParallelConflicts.h"
#include "tilewright/Transforms/Passes.h"

namespace tilewright {
#define GEN_PASS_DEF_CHECKPARALLEL
#include "tilewright/Transforms/Passes.h.inc"
} // namespace tilewright

using namespace tilewright;

namespace {
struct CheckParallelPass : impl::CheckParallelBase<CheckParallelPass> {
  void runOnOperation() override {
    getOperation()->walk([&](tile::ParallelOp loop) {
      std::optional<analysis::ParallelConflict> conflict = analysis::findParallelConflict(loop);
      if (!conflict)
        return;
      mlir::InFlightDiagnostic diag = conflict->first->emitError() << conflict->str();
      if (conflict->second != conflict->first)
        diag.attachNote(conflict->second->getLoc()) << "the other access is here";
      diag.attachNote(loop.getLoc()) << "the loop starts here";
      signalPassFailure();
    });
    markAllAnalysesPreserved();
  }
};
} // namespace
