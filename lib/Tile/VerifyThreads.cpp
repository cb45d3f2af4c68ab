//===- VerifyThreads.cpp - what legal thread indices and barriers are ------------------===//
//
// See Verifiers.h.
//
//===----------------------------------------------------------------------------------------===//

#include "Verifiers.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

LogicalResult ThreadIdOp::verify() {
  auto kernel = (*this)->getParentOfType<KernelOp>();
  if (!kernel)
    return emitError() << "the index of a thread stands inside 'with T.Kernel(...)'";
  if ((*this)->getParentOfType<ParallelOp>())
    return emitError() << "'T.Parallel' deals its iterations to the threads itself, so its body "
                          "has no thread index; write a serial loop";
  int64_t dim = getDim(), rank = kernel.getThreads().size();
  if (dim < 0 || dim >= rank)
    return emitError() << "expected a thread dimension below " << rank << ", got " << dim;
  return success();
}

LogicalResult BarrierAllocOp::verify() {
  MemRefType type = getBarriers().getType();
  int64_t count = getArrivals().size();
  if (count == 0)
    return emitError() << "'T.alloc_barrier' needs at least one count";
  if (getSpace(type) != Space::Shared || !type.getElementType().isInteger(64) ||
      type.getShape() != ArrayRef<int64_t>{count})
    return emitOpError() << "of " << count << " barriers: expected a buffer of " << count
                         << " int64 in shared memory, got " << type;
  for (int64_t arrivals : getArrivals())
    if (arrivals < 0)
      return emitError() << "'T.alloc_barrier': a count is a positive integer, got " << arrivals;
  if (!(*this)->getParentOfType<KernelOp>())
    return emitError() << "a barrier stands inside 'with T.Kernel(...)'";
  if (failed(verifyUniformFlow(*this, "a barrier")))
    return failure();
  for (Operation *user : getBarriers().getUsers())
    if (!isa<BarrierArriveOp, BarrierWaitOp, AsyncGroupOp>(user)) {
      InFlightDiagnostic diag = user->emitOpError() << "uses the barriers '" << getName()
                                                    << "', which only arrivals and waits may touch";
      diag.attachNote(getLoc()) << "'" << getName() << "' is allocated here";
      return diag;
    }
  return success();
}

/// What holds for all statements on a barrier.
static LogicalResult verifyUse(Operation *op, Value barriers, Value index,
                               std::optional<int64_t> count) {
  auto alloc = barriers.getDefiningOp<BarrierAllocOp>();
  if (!alloc)
    return op->emitOpError() << "needs barriers of 'tile.barrier_alloc'";
  if (failed(verifyUniformFlow(op, "a barrier")) || failed(verifyIndices(op, barriers, index)))
    return failure();
  if (count && *count < 1)
    return op->emitError() << "a number of threads is a positive integer, got " << *count;
  bool isStated = llvm::all_of(alloc.getArrivals(), [](int64_t n) { return n > 0; });
  if (!count && !isStated)
    return op->emitOpError() << "says no count, and neither does the allocation of '"
                             << alloc.getName() << "'";
  if (!count && !getConstantIntValue(index) && !llvm::all_equal(alloc.getArrivals()))
    return op->emitError()
           << "a barrier is picked at run time among some with different arrive counts";
  return success();
}

/// The uses are verified before anything reads the count.
static int64_t findExpectedArrivals(Value barriers, Value index, std::optional<int64_t> count) {
  if (count)
    return *count;
  ArrayRef<int64_t> arrivals = barriers.getDefiningOp<BarrierAllocOp>().getArrivals();
  return arrivals[getConstantIntValue(index).value_or(0)];
}

LogicalResult BarrierArriveOp::verify() {
  return verifyUse(*this, getBarriers(), getIndex(), getCount());
}
int64_t BarrierArriveOp::getExpectedArrivals() {
  return findExpectedArrivals(getBarriers(), getIndex(), getCount());
}

LogicalResult BarrierWaitOp::verify() {
  return verifyUse(*this, getBarriers(), getIndex(), getCount());
}
int64_t BarrierWaitOp::getExpectedArrivals() {
  return findExpectedArrivals(getBarriers(), getIndex(), getCount());
}
