//===- BarrierCounts.cpp - how barriers stand in the IR --------------------------------------===//

#include "BarrierCounts.h"

#include "ThreadFacts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::frontend {

namespace {

/// Whether a store makes an element greater by one: an arrival that counts once, whoever comes.
bool isIncrement(Operation *op) {
  auto store = dyn_cast<StoreOp>(op);
  auto sum = store ? store.getValue().getDefiningOp<arith::AddIOp>() : nullptr;
  auto load = sum ? sum.getLhs().getDefiningOp<LoadOp>() : nullptr;
  return load && matchPattern(sum.getRhs(), m_One()) && load.getBuffer() == store.getBuffer() &&
         llvm::equal(load.getIndices(), store.getIndices(), areEqual);
}

} // namespace

bool isCounter(Value tile) {
  auto type = cast<MemRefType>(tile.getType());
  return tile.getDefiningOp<AllocOp>() && getSpace(tile) == Space::Shared && type.getRank() == 1 &&
         type.getElementType().isInteger(32) && llvm::all_of(tile.getUsers(), [](Operation *user) {
           return isa<FillOp, LoadOp, AtomicElementOp>(user) || isIncrement(user);
         });
}

std::optional<Arrival> findArrival(Operation *op) {
  if (auto atomic = dyn_cast<AtomicElementOp>(op); atomic && isCounter(atomic.getBuffer()))
    return Arrival{atomic.getBuffer(), atomic.getIndices()[0], /*isOnce=*/false};
  if (auto store = dyn_cast<StoreOp>(op); store && isCounter(store.getBuffer()))
    return Arrival{store.getBuffer(), store.getIndices()[0], /*isOnce=*/true};
  return std::nullopt;
}

Value waitedFor(Operation *op) {
  auto assertion = dyn_cast<AssertOp>(op);
  if (!assertion)
    return {};
  SmallVector<Value> open{assertion.getCondition()};
  while (!open.empty()) {
    Operation *source = open.pop_back_val().getDefiningOp();
    if (!source)
      continue;
    if (auto load = dyn_cast<LoadOp>(source); load && isCounter(load.getBuffer()))
      return load.getBuffer();
    if (isPureScalar(source))
      llvm::append_range(open, source->getOperands());
  }
  return {};
}

bool holdsWait(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        return waitedFor(inner) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

bool usesCounters(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        return waitedFor(inner) || findArrival(inner) ? WalkResult::interrupt()
                                                      : WalkResult::advance();
      })
      .wasInterrupted();
}

Operation *findEndOfStatement(Operation *op) {
  if (isa<LoadOp>(op))
    for (Operation *last = op; isPureScalar(last) || isa<LoadOp, AssertOp>(last);
         last = last->getNextNode()) {
      if (waitedFor(last))
        return last;
      if (last->hasTrait<OpTrait::IsTerminator>())
        break;
    }
  return op;
}

} // namespace tilewright::frontend
