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

#include "ArrivalCounters.h"
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
using namespace tilewright::threads;

namespace {

/// On the counters of the row of barriers in front of them.
constexpr llvm::StringLiteral kCountersAttr = "counters";

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

Value loadCount(ImplicitLocOpBuilder &b, BarrierWaitOp wait, Value index) {
  return LoadOp::create(b, b.getI32Type(), getCounters(wait.getBarriers()), index);
}

Value dividedByArrivals(ImplicitLocOpBuilder &b, BarrierWaitOp wait, Value count) {
  Value arrivals = createConstant(b, wait.getExpectedArrivals());
  return FloorDivOp::create(b, count, arrivals, UnitAttr());
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

void lower(BarrierWaitOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  if (op.getParity()) {
    AssertOp::create(b, isParityOver(b, op, op.getIndex(), op.getParity()), kPhaseNotOver);
    return;
  }
  Value begun = createMod(b, loadCount(b, op, op.getIndex()), op.getExpectedArrivals());
  Value isOver = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, begun, createConstant(b, 0));
  AssertOp::create(b, isOver, kThreadsMissing);
}

void lower(BarrierAllocOp op) {
  Value counters = getCounters(op.getBarriers());
  for (Operation *user : llvm::make_early_inc_range(op.getBarriers().getUsers())) {
    if (auto arrival = dyn_cast<BarrierArriveOp>(user))
      lower(arrival, counters);
    else
      lower(cast<BarrierWaitOp>(user));
    user->erase();
  }
  counters.getDefiningOp()->removeAttr(kCountersAttr);
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

namespace tilewright::threads {

Value getCounters(Value barriers) {
  auto row = cast<BarrierAllocOp>(barriers.getDefiningOp());
  if (Operation *known = row->getNextNode(); known->hasAttr(kCountersAttr))
    return known->getResult(0);
  ImplicitLocOpBuilder b(row.getLoc(), row.getContext());
  b.setInsertionPointAfter(row);
  MemRefType type =
      makeBufferType(row.getBarriers().getType().getShape(), b.getI32Type(), Space::Shared);
  auto counters = AllocOp::create(b, type, row.getNameAttr(), ValueRange(), ReduceKindAttr());
  counters->setAttr(kCountersAttr, b.getUnitAttr());
  FillOp::create(b, createConstant(b, 0), counters);
  return counters.getBuffer();
}

Value isParityOver(ImplicitLocOpBuilder &b, BarrierWaitOp wait, Value index, Value parity) {
  Value phase = dividedByArrivals(b, wait, loadCount(b, wait, index));
  parity =
      FloorModOp::create(b, parity, arith::ConstantIndexOp::create(b, 2).getResult(), UnitAttr());
  parity = arith::IndexCastOp::create(b, b.getI32Type(), parity);
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, createMod(b, phase, 2), parity);
}

Value countPhaseOfArrival(ImplicitLocOpBuilder &b, BarrierWaitOp wait, Value index) {
  Value count = loadCount(b, wait, index);
  return dividedByArrivals(b, wait, arith::SubIOp::create(b, count, createConstant(b, 1)));
}

Value isPhaseOver(ImplicitLocOpBuilder &b, BarrierWaitOp wait, Value index, Value phase) {
  Value current = dividedByArrivals(b, wait, loadCount(b, wait, index));
  return arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, current, phase);
}

} // namespace tilewright::threads
