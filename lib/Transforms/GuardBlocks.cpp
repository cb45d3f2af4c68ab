//===- GuardBlocks.cpp - launches whose blocks race are stopped -------------------------------===//
//
// Blocks that certainly race are an error when the program is compiled (`tile-check-blocks`), if the
// grid certainly has them. Where the extent of the grid is known only at run time, the launch knows:
//
//   tile.kernel (%bx) in (%n) …            tile.kernel (%bx) in (%n) … {
//     tile.copy %own, %B          ──▶        tile.assert %n < 2, "blocks (0) and (1) both write …"
//                                            tile.copy %own, %B
//
// Nearly all programs get no assertion.
//
// Expects: no thread index.   Leaves: the same, and assertions.
//
//===----------------------------------------------------------------------------------------===//

#include "tilewright/Analysis/BlockConflicts.h"
#include "tilewright/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tilewright {
#define GEN_PASS_DEF_GUARDBLOCKS
#include "tilewright/Transforms/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;

namespace {
struct GuardBlocksPass : tilewright::impl::GuardBlocksBase<GuardBlocksPass> {
  void runOnOperation() override { getOperation()->walk(guard); }

  static void guard(tile::KernelOp kernel) {
    std::optional<analysis::BlockConflict> conflict =
        analysis::findBlockConflict(kernel, analysis::GridExtents::RunTime);
    if (!conflict)
      return;
    unsigned dim = conflict->dim;
    auto b =
        ImplicitLocOpBuilder::atBlockBegin(conflict->first->getLoc(), &kernel.getBody().front());
    Value last = arith::ConstantIndexOp::create(
        b, std::max(conflict->firstBlock[dim], conflict->secondBlock[dim]));
    Value holds = arith::CmpIOp::create(b, arith::CmpIPredicate::sle, kernel.getGrid()[dim], last);
    tile::AssertOp::create(b, holds, conflict->str());
  }
};
} // namespace
