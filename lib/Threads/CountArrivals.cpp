//===- CountArrivals.cpp - barriers become counters of arrivals ------------------------------===//
//
// After tile-merge-roles the statements of all roles stand in one order. In that order a wait never
// has to block: the arrivals it waits for have happened, or never will. So a barrier is a counter,
// and a wait compares it.
//
//   phase  = counter / n              the phases that are over
//   parity = phase % 2 != p           the phase of parity p is over
//   all    = counter % n == 0         (a wait without parity) no phase has begun
//
// An arrival of each thread is an atomic increment under a condition on the thread index that
// always holds; tile-spread-threads then lets each thread that comes there make it.
//
// Expects: statements in an order in which waits are met.   Leaves: no barrier ops.
//===----------------------------------------------------------------------------------------===//

#include "tilewright/Threads/Passes.h"
#include "tilewright/Tile/Teams.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tilewright {
#define GEN_PASS_DEF_COUNTARRIVALS
#include "tilewright/Threads/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright::tile;

namespace {

constexpr llvm::StringLiteral kPhaseNotOver =
    "this wait is not met: the arrivals that it waits for come later or never; roles take "
    "turns at waits, and in loops only where these have the same bounds";
constexpr llvm::StringLiteral kThreadsMissing =
    "this wait is not met: the threads that it waits for come later or never; roles take "
    "turns at waits, and in loops only where these have the same bounds";

Value createConstant(ImplicitLocOpBuilder &b, int64_t value) {
  return arith::ConstantIntOp::create(b, value, 32);
}

Value createMod(ImplicitLocOpBuilder &b, Value value, int64_t divisor) {
  return FloorModOp::create(b, value, createConstant(b, divisor), UnitAttr());
}

void lower(BarrierArriveOp op, Value counters) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Value one = createConstant(b, 1);
  if (op.getOnce()) {
    Value count = LoadOp::create(b, b.getI32Type(), counters, op.getIndex());
    StoreOp::create(b, arith::AddIOp::create(b, count, one), counters, op.getIndex());
    return;
  }
  Value thread = ThreadIdOp::create(b, b.getIndexType(), b.getI64IntegerAttr(0));
  Value isThread = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, thread,
                                         arith::ConstantIndexOp::create(b, 0));
  auto branch = scf::IfOp::create(b, isThread, /*withElseRegion=*/false);
  b.setInsertionPointToStart(&branch.getThenRegion().front());
  AtomicElementOp::create(b, b.getI32Type(), AtomicKind::Add, one, counters, op.getIndex(),
                          MemoryOrder::Relaxed);
}

void lower(BarrierWaitOp op, Value counters) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Value count = LoadOp::create(b, b.getI32Type(), counters, op.getIndex());
  int64_t arrivals = op.getExpectedArrivals();
  if (!op.getParity()) {
    Value isOver = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, createMod(b, count, arrivals),
                                         createConstant(b, 0));
    AssertOp::create(b, isOver, kThreadsMissing);
    return;
  }
  Value phase = FloorDivOp::create(b, count, createConstant(b, arrivals), UnitAttr());
  Value two = arith::ConstantIndexOp::create(b, 2);
  Value parity = FloorModOp::create(b, op.getParity(), two, UnitAttr());
  parity = arith::IndexCastOp::create(b, b.getI32Type(), parity);
  Value isOver = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, createMod(b, phase, 2), parity);
  AssertOp::create(b, isOver, kPhaseNotOver);
}

void lower(BarrierAllocOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  MemRefType type =
      makeBufferType(op.getBarriers().getType().getShape(), b.getI32Type(), Space::Shared);
  Value counters = AllocOp::create(b, type, op.getNameAttr(), ValueRange(), ReduceKindAttr());
  FillOp::create(b, createConstant(b, 0), counters);
  for (Operation *user : llvm::make_early_inc_range(op.getBarriers().getUsers())) {
    if (auto arrival = dyn_cast<BarrierArriveOp>(user))
      lower(arrival, counters);
    else
      lower(cast<BarrierWaitOp>(user), counters);
    user->erase();
  }
  op.erase();
}

struct CountArrivalsPass : tilewright::impl::CountArrivalsBase<CountArrivalsPass> {
  void runOnOperation() override {
    SmallVector<BarrierAllocOp> barriers;
    getOperation().walk([&](BarrierAllocOp op) {
      if (getTeamRoles(op->getParentOfType<KernelOp>()).empty()) // else nothing is in one order
        barriers.push_back(op);
    });
    for (BarrierAllocOp op : barriers)
      lower(op);
  }
};

} // namespace
