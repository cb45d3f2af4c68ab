//===- PlanAccesses.cpp - one width for each access, with its reason -------------------------===//
//
// Asks the access planner about every access of every distributed loop, and about the operands that
// tensor cores read from shared memory, and writes its answers down: as attributes for the passes
// that follow, and as remarks for the user.
//
// Expects: placements and distributions (infer-layouts).   Leaves: `tile.access` on accesses inside
// loops, `tile.access_a` and `tile.access_b` on gemms.
//
//   %v = tile.load %q[%i, %j]     ──▶    %v = tile.load %q[%i, %j] {tile.access = <width = 8, …>}
//===----------------------------------------------------------------------------------------===//

#include "TargetArch.h"
#include "tilewright/Access/Matrices.h"
#include "tilewright/Tile/Remarks.h"
#include "tilewright/Tile/Tile.h"
#include "tilewright/Transforms/Passes.h"

namespace tilewright {
#define GEN_PASS_DEF_PLANACCESSES
#include "tilewright/Transforms/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;
using namespace tilewright::access;

namespace {

/// `dQ: 1 x red.global.add.f32 (2 wide refused: …); a warp covers one 128-byte line`.
void remark(const ElementAccess &access, const Plan &plan) {
  InFlightDiagnostic diag = access.op->emitRemark();
  diag << getName(getRoot(access.buffer)) << ": " << plan.width << " x "
       << describeInstruction(access, plan.width);
  if (!plan.refusal.empty())
    diag << " (" << plan.refusal << ")";
  if (plan.linesPerWarp == 1)
    diag << "; a warp covers one 128-byte line";
  else if (plan.linesPerWarp > 1)
    diag << "; a warp covers " << plan.linesPerWarp << " lines of 128 bytes";
  SmallVector<RemarkFact> facts{{"width", plan.width},
                                {"instruction", describeInstruction(access, plan.width)}};
  if (!plan.refusal.empty())
    facts.emplace_back("refusal", plan.refusal);
  if (plan.linesPerWarp > 0)
    facts.emplace_back("lines_per_warp", plan.linesPerWarp);
  describeRemark(diag, "access", getName(getRoot(access.buffer)), facts);
}

struct PlanAccessesPass : tilewright::impl::PlanAccessesBase<PlanAccessesPass> {
  using PlanAccessesBase::PlanAccessesBase;

  void runOnOperation() override {
    const Arch *target = requireArch(getOperation(), arch);
    if (!target)
      return signalPassFailure();
    getOperation()->walk([&](KernelOp kernel) {
      Context context{kernel, *target, CallFacts{.argumentAlignment = alignment}};
      kernel.walk([&](ParallelOp loop) { planLoop(loop, context); });
      kernel.walk([&](GemmOp gemm) {
        planOperand(gemm, GemmOperand::A, kAccessAAttr, context);
        planOperand(gemm, GemmOperand::B, kAccessBAttr, context);
      });
    });
  }

  void planOperand(GemmOp gemm, GemmOperand operand, StringRef attribute, const Context &context) {
    std::optional<Plan> plan = planMatrixLoads(gemm, operand, context);
    if (!plan)
      return;
    Value buffer = operand == GemmOperand::A ? gemm.getA() : gemm.getB();
    StringRef name = tile::getName(getRoot(buffer));
    if (plan->width * getStorageBytes(cast<MemRefType>(buffer.getType()).getElementType()) < 16) {
      InFlightDiagnostic diag = gemm.emitRemark();
      diag << name << ": read element by element, not by ldmatrix (" << plan->refusal << ")";
      describeRemark(diag, "access", name, {{"width", 1}, {"refusal", plan->refusal}});
      return;
    }
    gemm->setAttr(attribute, makeAttr(&getContext(), *plan));
    InFlightDiagnostic diag = gemm.emitRemark();
    diag << name << ": " << plan->getNumGroups() << " x ldmatrix";
    describeRemark(diag, "access", name,
                   {{"instruction", "ldmatrix"}, {"count", plan->getNumGroups()}});
  }

  void planLoop(ParallelOp loop, Context &context) {
    std::optional<analysis::LoopDistribution> distribution =
        analysis::getDistribution(loop, context.kernel.getNumThreads());
    if (!distribution || distribution->getNumIterations() == 0)
      return; // run-time loops go element by element
    loop.walk([&](Operation *op) {
      std::optional<ElementAccess> access = ElementAccess::get(op);
      std::optional<Request> request =
          access ? makeRequest(*access, loop, *distribution, context) : std::nullopt;
      if (!request)
        return;
      Plan plan = planAccess(*request);
      op->setAttr(kAccessAttr, makeAttr(&getContext(), plan));
      remark(*access, plan);
    });
  }
};

} // namespace
