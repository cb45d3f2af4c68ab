//===- CheckTurns.cpp - warpgroups take and pass turns alternately ---------------------------===//

#include "CheckTurns.h"

#include "ChannelPieces.h"
#include "tilewright/Analysis/Distribution.h"
#include "tilewright/Tile/Turns.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::schedule {

namespace {
class TurnCheck {
public:
  explicit TurnCheck(KernelOp kernel) : kernel(kernel) {}
  LogicalResult run();

private:
  LogicalResult visit(TurnOp op, bool &isHeld);
  FailureOr<bool> walk(Block &block, bool isHeld);

  KernelOp kernel;
  TurnOp opened;     ///< What began the turns that are not over yet.
  int64_t turns = 0; ///< Statements about turns that were seen.
};
} // namespace

LogicalResult TurnCheck::visit(TurnOp op, bool &isHeld) {
  ++turns;
  bool isOuter = op->getParentOp() == kernel;
  if (opened && (op.getGroups() != opened.getGroups() || op.getNumber() != opened.getNumber()))
    return fail(op, "this is another turn than the one that was opened");
  switch (op.getKind()) {
  case TurnKind::Open:
    if (opened || turns > 1 || !isOuter)
      return fail(op, "turns are opened twice, or in a part of the kernel");
    opened = op;
    return success();
  case TurnKind::Close:
    if (!opened || isHeld || !isOuter)
      return fail(op, "turns are closed while somebody has one");
    opened = nullptr;
    return success();
  case TurnKind::Take:
  case TurnKind::Pass: {
    bool takes = op.getKind() == TurnKind::Take;
    if (!opened || isHeld == takes)
      return fail(op, takes ? "it takes a turn that it has, or before turns are opened"
                            : "it passes a turn that it does not have");
    isHeld = takes;
    return success();
  }
  }
  return failure();
}

/// Whether the turn is held after a block; a loop leaves it as it found it, and so does a branch.
FailureOr<bool> TurnCheck::walk(Block &block, bool isHeld) {
  for (Operation &op : block) {
    if (auto turn = dyn_cast<TurnOp>(op)) {
      if (failed(visit(turn, isHeld)))
        return failure();
      continue;
    }
    auto effects = dyn_cast<TileEffectsOpInterface>(op);
    auto wait = dyn_cast<BarrierWaitOp>(op);
    bool meets = isa<BarrierOp>(op) || (wait && !wait.getParity()) ||
                 (effects && analysis::meetsInMemory(effects, kernel.getNumThreads()));
    if (isHeld && meets) {
      (void)fail(&op, "threads meet while one warpgroup has the turn");
      return failure();
    }
    if (!isa<PipelinedOp, scf::ForOp, scf::IfOp, scf::WhileOp>(op))
      continue;
    for (Region &region : op.getRegions()) {
      if (region.empty())
        continue;
      FailureOr<bool> after = walk(region.front(), isHeld);
      if (failed(after))
        return failure();
      if (*after != isHeld) {
        (void)fail(&op, "it takes or passes a turn on one of its ways");
        return failure();
      }
    }
  }
  return isHeld;
}

LogicalResult TurnCheck::run() {
  int64_t all = 0;
  kernel.walk([&](TurnOp) { ++all; });
  if (all == 0)
    return success();
  FailureOr<bool> isHeld = walk(kernel.getBody().front(), false);
  if (failed(isHeld))
    return failure();
  if (*isHeld || opened || turns != all)
    return fail(kernel, "a turn is not over when the kernel ends, or another role's");
  bool isShared = false; // the barriers by number are the program's, too
  kernel.walk([&](BarrierAllocOp row) { isShared |= llvm::is_contained(row.getArrivals(), 0); });
  return isShared ? fail(kernel, "turns use the program's barriers by number") : success();
}

LogicalResult checkTurns(KernelOp kernel) { return TurnCheck(kernel).run(); }

} // namespace tilewright::schedule
