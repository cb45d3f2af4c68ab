//===- Waits.cpp - where threads wait for each other -----------------------------------------===//

#include "Waits.h"

#include "ThreadFacts.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::threads {

/// Whether `op` is or holds an op of one of these kinds.
template <typename... Ops> static bool holds(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        return isa<Ops...>(inner) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

bool holdsWait(Operation *op) { return holds<BarrierWaitOp>(op); }

bool usesBarriers(Operation *op) { return holds<BarrierWaitOp, BarrierArriveOp>(op); }

Operation *findEndOfStatement(Operation *op) {
  if (isa<LoadOp>(op))
    for (Operation *last = op; isPureScalar(last) || isa<LoadOp, BarrierWaitOp>(last);
         last = last->getNextNode()) {
      if (isa<BarrierWaitOp>(last))
        return last;
      if (last->hasTrait<OpTrait::IsTerminator>())
        break;
    }
  return op;
}

} // namespace tilewright::threads
