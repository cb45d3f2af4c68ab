//===- CheckPlans.cpp - re-verifies recorded access plans ------------------------------------===//
//
// Expects: distributions, placements and plans (infer-layouts, plan-accesses).   Changes nothing.
//
//===----------------------------------------------------------------------------------------===//

#include "AsyncCopies.h"
#include "Conditions.h"
#include "tilewright/PlanCheck/PlanCheck.h"

namespace tilewright {
#define GEN_PASS_DEF_CHECKPLANS
#include "tilewright/PlanCheck/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

namespace tilewright::plancheck {

std::string findFault(Operation *access, AccessAttr plan, const Options &options) {
  auto loop = access->getParentOfType<ParallelOp>();
  auto kernel = access->getParentOfType<KernelOp>();
  if (!loop || !kernel || !getBuffer(access))
    return "it is no access of a loop of a kernel";
  llvm::Expected<Places> places = Places::get(loop, kernel.getNumThreads());
  if (!places)
    return llvm::toString(places.takeError());
  return PlanJudge(access, plan, *places, options).run(loop, kernel);
}

LogicalResult checkPlans(Operation *root, const Options &options) {
  bool isRight = true;
  root->walk([&](ParallelOp loop) {
    std::string fault =
        loop->hasAttr(kAsyncAttr) ? findAsyncFault(loop, options.arch) : std::string();
    if (fault.empty())
      return;
    loop.emitError() << "internal error: the plan of this asynchronous copy is wrong: " << fault;
    isRight = false;
  });
  root->walk([&](Operation *op) {
    auto plan = op->getAttrOfType<AccessAttr>(kAccessAttr);
    if (!plan)
      return;
    std::string fault = findFault(op, plan, options);
    if (fault.empty())
      return;
    Value buffer = getBuffer(op);
    op->emitError() << "internal error: the plan of '" << (buffer ? getName(getRoot(buffer)) : "")
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
