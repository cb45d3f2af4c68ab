//===- CheckUnwritten.cpp - refuse reads of tiles that no statement has written ---------------===//
//
// Expects: any tile IR.   Leaves: the IR as it is.
// The thinking is in Analysis/UnwrittenTiles.h.
//
//===----------------------------------------------------------------------------------------===//

#include "tilewright/Analysis/UnwrittenTiles.h"
#include "tilewright/Transforms/Passes.h"

namespace tilewright {
#define GEN_PASS_DEF_CHECKUNWRITTEN
#include "tilewright/Transforms/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

namespace {

/// What the statement does with the tile's old value, and what gives the tile one.
std::string explain(Operation *op, StringRef tile) {
  auto clear = [&](StringRef statement) {
    return (statement + " accumulates into it: add T.clear(" + tile + ")").str();
  };
  return llvm::TypeSwitch<Operation *, std::string>(op)
      .Case([&](GemmOp gemm) {
        return getName(gemm.getC()) == tile ? clear("T.gemm") + " or pass clear_accum=True"
                                            : "copy or store something into it first";
      })
      .Case([&](ReduceOp reduce) {
        return getName(reduce.getDest()) == tile ? clear("the reduction") + " or pass clear=True"
                                                 : "copy or store something into it first";
      })
      .Case<AtomicOp, AtomicElementOp>([&](auto) { return clear("the atomic"); })
      .Case([&](ReducerUpdateOp) { return clear("the update"); })
      .Default([](Operation *) { return "copy or store something into it first"; });
}

struct CheckUnwrittenPass : tilewright::impl::CheckUnwrittenBase<CheckUnwrittenPass> {
  void runOnOperation() override {
    getOperation()->walk([&](KernelOp kernel) {
      for (auto [op, alloc] : analysis::findUnwrittenReads(kernel)) {
        InFlightDiagnostic diag = op->emitError() << "'" << alloc.getName()
                                                  << "' is read before anything writes it; "
                                                  << explain(op, alloc.getName());
        diag.attachNote(alloc.getLoc()) << "'" << alloc.getName() << "' is allocated here";
        signalPassFailure();
      }
    });
    markAllAnalysesPreserved();
  }
};

} // namespace
