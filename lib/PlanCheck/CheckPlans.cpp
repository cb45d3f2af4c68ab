//===- CheckPlans.cpp - re-verifies recorded access plans ------------------------------------===//
//
// Expects: distributions, placements and plans (infer-layouts, plan-accesses).   Changes nothing.
//
//===----------------------------------------------------------------------------------------===//

#include "AsyncCopies.h"
#include "BulkCopies.h"
#include "Conditions.h"
#include "ProductOperands.h"
#include "tilewright/PlanCheck/PlanCheck.h"
#include "tilewright/Tile/InternalError.h"

namespace tilewright {
#define GEN_PASS_DEF_CHECKPLANS
#include "tilewright/PlanCheck/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

namespace tilewright::plancheck {

std::string findFault(Operation *op, StringRef planName, AccessAttr plan, const Options &options) {
  llvm::Expected<Subject> subject = Subject::get(op, planName);
  if (!subject)
    return llvm::toString(subject.takeError());
  if (planName == kMatrixRowsAttr && (options.arch.version < 90 || subject->isGlobal()))
    return subject->isGlobal() ? "stmatrix writes to shared memory"
                               : options.arch.name.str() + " has no stmatrix";
  return PlanJudge(*subject, plan, options).run();
}

void forEachPlan(Operation *root,
                 llvm::function_ref<void(Operation *, StringRef, AccessAttr)> action) {
  root->walk([&](Operation *op) {
    for (StringRef planName : {kAccessAttr, kAccessAAttr, kAccessBAttr, kMatrixRowsAttr})
      if (auto plan = op->getAttrOfType<AccessAttr>(planName))
        action(op, planName, plan);
  });
}

LogicalResult checkPlans(Operation *root, const Options &options) {
  bool isRight = true;
  root->walk([&](ParallelOp loop) {
    bool isBulk = isBulkCopy(loop);
    std::string fault = isBulk ? findBulkFault(loop, options)
                        : isa<AsyncGroupOp>(loop->getParentOp())
                            ? findAsyncFault(loop, options.arch)
                            : std::string();
    if (fault.empty())
      return;
    emitInternalError(loop) << "the plan of this " << (isBulk ? "bulk" : "asynchronous")
                            << " copy is wrong: " << fault;
    isRight = false;
  });
  root->walk([&](GemmOp gemm) {
    std::string fault =
        gemm->hasAttr(kGroupsAttr) ? findProductFault(gemm, options) : std::string();
    if (fault.empty())
      return;
    emitInternalError(gemm) << "the plan of this product is wrong: " << fault;
    isRight = false;
  });
  forEachPlan(root, [&](Operation *op, StringRef planName, AccessAttr plan) {
    std::string fault = findFault(op, planName, plan, options);
    if (fault.empty())
      return;
    Value buffer = getPlannedBuffer(op, planName);
    emitInternalError(op) << "the plan of '" << (buffer ? getName(getRoot(buffer)) : "")
                          << "' (width " << plan.getWidth() << ") is wrong: " << fault;
    isRight = false;
  });
  return success(isRight);
}

} // namespace tilewright::plancheck

namespace {
struct CheckPlansPass : tilewright::impl::CheckPlansBase<CheckPlansPass> {
  using CheckPlansBase::CheckPlansBase;

  void runOnOperation() override {
    const Arch *target = findArch(arch);
    if (!target) {
      getOperation()->emitError() << "unknown architecture '" << arch << "'; known are "
                                  << getArchNames();
      return signalPassFailure();
    }
    if (failed(plancheck::checkPlans(getOperation(), {*target, alignment})))
      signalPassFailure();
  }
};
} // namespace
