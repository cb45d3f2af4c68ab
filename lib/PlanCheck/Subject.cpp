//===- Subject.cpp - the access that a plan is about -----------------------------------------===//

#include "Subject.h"
#include "AccessModel.h"
#include "tilewright/Tile/Teams.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;
using namespace tilewright::plancheck;

Value plancheck::getPlannedBuffer(Operation *op, StringRef planName) {
  if (planName == kAccessAttr || planName == kMatrixRowsAttr)
    return getBuffer(op);
  auto gemm = dyn_cast<GemmOp>(op);
  if (!gemm)
    return Value();
  return planName == kAccessAAttr ? gemm.getA() : gemm.getB();
}

llvm::Expected<Subject> Subject::get(Operation *op, StringRef planName) {
  Subject subject;
  subject.op = op;
  subject.buffer = getPlannedBuffer(op, planName);
  subject.isMatrix = isa<GemmOp>(op);
  subject.hasRows = subject.isMatrix || planName == kMatrixRowsAttr;
  auto loop = op->getParentOfType<ParallelOp>();
  subject.scope = subject.isMatrix ? op : loop.getOperation();
  subject.kernel = op->getParentOfType<KernelOp>();
  if (!subject.buffer || !subject.scope || !subject.kernel)
    return llvm::createStringError("it is no access of a loop of a kernel");
  subject.isRead = subject.isMatrix || isa<LoadOp>(op);
  int64_t numThreads = getNumThreads(op);
  llvm::Expected<IterationOwners> owners =
      subject.isMatrix ? getMatrixOwners(cast<GemmOp>(op), planName == kAccessAAttr, numThreads)
                       : IterationOwners::get(loop, numThreads);
  if (owners && planName == kMatrixRowsAttr)
    owners = getStoredRows(*owners, subject.getElementBytes());
  if (!owners)
    return owners.takeError();
  subject.owners = std::move(*owners);
  return subject;
}
