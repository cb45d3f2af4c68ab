//===- StartBulk.cpp - who starts the bulk copies outside of pipelines ------------------------===//
//
// A copy from a shared tile to a tensor that TMA may do, or an addition, becomes a group: one thread
// starts it, and it runs on. insert-orderings places the waits: for what it reads, before the tile is
// written again or the block ends.
//
//   tile.parallel {S -> C} {tile.bulk}    ──▶    tile.bulk_group { tile.parallel {S -> C} {tile.bulk} }
//
// Expects: plans of accesses; plan-pipeline has taken the copies that run ahead.   Leaves: each plan
// of a bulk copy in a group, and no tensor map that nothing uses.
//===----------------------------------------------------------------------------------------===//

#include "tilewright/Access/Bulk.h"
#include "tilewright/Tile/Remarks.h"
#include "tilewright/Tile/Tile.h"
#include "tilewright/Transforms/Passes.h"

namespace tilewright {
#define GEN_PASS_DEF_STARTBULK
#include "tilewright/Transforms/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

namespace {

/// `c: 1 x cp.async.bulk.tensor.2d of 32768 bytes`. Replaces what plan-accesses said about the loads
/// and stores of the copy (Driver/Decisions.cpp).
void remarkStore(ParallelOp loop, const access::CopyLoop &copy) {
  auto tile = getRoot(copy.getTileAccess().buffer).getDefiningOp<AllocOp>();
  auto [instruction, count, bytes] = access::BulkInstructions::get(loop, copy);
  StringRef tensor = tile::getName(getRoot(copy.getTensorAccess().buffer));
  InFlightDiagnostic diag = loop.emitRemark();
  diag << tensor << ": " << count << " x " << instruction << " of " << bytes
       << " bytes, started by one thread";
  describeRemark(diag, "access", tensor,
                 {{"width", count},
                  {"instruction", instruction},
                  {"bytes", bytes},
                  {"copies", tile.getName()}});
}

void wrapStore(ParallelOp loop) {
  OpBuilder b(loop);
  auto group = BulkGroupOp::create(b, loop.getLoc());
  loop->moveBefore(&group.getBody().front(), group.getBody().front().begin());
}

/// Drops the tensor maps that nothing uses.
void dropUnusedMaps(KernelOp kernel) {
  auto maps = kernel->getAttrOfType<ArrayAttr>(kTensorMapsAttr);
  if (!maps)
    return;
  SmallVector<Attribute> used;
  SmallVector<int64_t> numbers(maps.size(), -1);
  kernel.walk([&](ParallelOp copy) {
    auto plan = copy->getAttrOfType<BulkAttr>(kBulkAttr);
    if (!plan)
      return;
    int64_t &number = numbers[plan.getMap()];
    if (number < 0) {
      number = used.size();
      used.push_back(maps[plan.getMap()]);
    }
    copy->setAttr(kBulkAttr,
                  BulkAttr::get(kernel.getContext(), number, plan.getDims(), plan.getDivisors(),
                                plan.getBox(), plan.getSwizzle(), plan.getOrigins(),
                                plan.getOffsets(), plan.getClamped()));
  });
  if (used.empty())
    kernel->removeAttr(kTensorMapsAttr);
  else
    kernel->setAttr(kTensorMapsAttr, ArrayAttr::get(kernel.getContext(), used));
}

struct StartBulkPass : tilewright::impl::StartBulkBase<StartBulkPass> {
  using StartBulkBase::StartBulkBase;

  void runOnOperation() override {
    SmallVector<ParallelOp> loops;
    getOperation()->walk([&](ParallelOp loop) {
      if (isBulkCopy(loop) && !isa<AsyncGroupOp, BulkGroupOp>(loop->getParentOp()))
        loops.push_back(loop);
    });
    for (ParallelOp loop : loops) {
      std::optional<access::CopyLoop> copy = access::CopyLoop::get(loop);
      if (copy->isDrain()) {
        remarkStore(loop, *copy);
        wrapStore(loop);
        continue;
      }
      loop->removeAttr(kBulkAttr); // not pipelined: the threads copy
      loop->removeAttr(kSpanAttr);
    }
    getOperation()->walk(dropUnusedMaps);
  }
};

} // namespace
