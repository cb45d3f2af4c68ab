//===- PlanAccesses.cpp - one width for each access, with its reason -------------------------===//
//
// Asks the access planner about every access of every distributed loop, and about the operands that
// tensor cores read from shared memory, and writes its answers down: as attributes for the passes
// that follow, and as remarks for the user.
//
// Expects: placements and distributions (infer-layouts).   Leaves: `tile.access` on accesses inside
// loops, `tile.matrix_rows` on stores of stmatrix, `tile.bulk` or `tile.span` on copies that TMA may do, with the
// kernel's `tile.tensor_maps`, `tile.access_a` and `tile.access_b` on gemms of mma, `tile.operand_a` and `tile.operand_b` on
// those of wgmma.
//
//   %v = tile.load %q[%i, %j]     ──▶    %v = tile.load %q[%i, %j] {tile.access = <width = 8, …>}
//===----------------------------------------------------------------------------------------===//

#include "TargetArch.h"
#include "tilewright/Access/Bulk.h"
#include "tilewright/Access/MatrixStores.h"
#include "tilewright/Access/Products.h"
#include "tilewright/Tile/InternalError.h"
#include "tilewright/Tile/Remarks.h"
#include "tilewright/Tile/Teams.h"
#include "tilewright/Tile/Tile.h"
#include "tilewright/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

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

/// `c: 8 x stmatrix of four 8 x 8 matrices`.
void remarkMatrixStores(const ElementAccess &access, const Plan &rows) {
  StringRef name = getName(getRoot(access.buffer));
  InFlightDiagnostic diag = access.op->emitRemark();
  diag << name << ": " << rows.getNumGroups() << " x stmatrix of four 8 x 8 matrices";
  describeRemark(diag, "access", name,
                 {{"instruction", "stmatrix"}, {"count", rows.getNumGroups()}});
}

/// True if nothing else in a loop touches what an access does. stmatrix writes for one lane what
/// another one brings, so that lanes which touch their own elements before it or after it would
/// need an order between them.
bool isOnlyAccess(ParallelOp loop, const ElementAccess &access) {
  Value root = getRoot(access.buffer);
  WalkResult result = loop.walk([&](Operation *op) {
    std::optional<ElementAccess> other = ElementAccess::get(op);
    bool isMeeting = other && op != access.op && getRoot(other->buffer) == root;
    return isMeeting ? WalkResult::interrupt() : WalkResult::advance();
  });
  return !result.wasInterrupted();
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
      if (bulk && target->hasBulkCopies)
        planBulkCopies(kernel, context);
      kernel.walk([&](GemmOp gemm) {
        if (gemm->hasAttr(kGroupsAttr))
          return planProduct(gemm, context);
        planOperand(gemm, GemmOperand::A, kAccessAAttr, context);
        planOperand(gemm, GemmOperand::B, kAccessBAttr, context);
      });
    });
  }

  /// The copies that TMA may do, into shared tiles and from shared tiles to tensors. Whether they run
  /// ahead is plan-pipeline's business.
  void planBulkCopies(KernelOp kernel, const Context &context) {
    BulkContext all = BulkContext::get(context, disjoint);
    if (kernel->getParentOfType<func::FuncOp>()->hasAttr(kNoBulkAttr))
      return;
    SmallVector<Attribute> maps;
    kernel.walk([&](ParallelOp loop) {
      std::optional<CopyLoop> copy = CopyLoop::get(loop);
      if (!copy)
        return;
      auto pipeline = dyn_cast<PipelinedOp>(loop->getParentOp());
      bool isAhead = (pipeline && pipeline.getNumStages() >= 1) || loop->hasAttr(kAtArrivalAttr);
      if (!copy->isDrain() && !copy->isFill())
        return;
      auto tile = getRoot(copy->getTileAccess().buffer).getDefiningOp<AllocOp>();
      llvm::Expected<BulkPlan> plan =
          loop->hasAttr(kNoBulkAttr)
              ? llvm::Expected<BulkPlan>(llvm::createStringError("the program says disable_tma"))
          : copy->isDrain() && getTeamRole(loop)
              ? llvm::Expected<BulkPlan>(
                    llvm::createStringError("a role that uses barriers of the program stores it"))
              : planBulk(loop, *copy, all);
      if (!plan)
        return refuseBulk(loop, tile, *copy, llvm::toString(plan.takeError()));
      Builder b(&getContext());
      if (plan->spanBytes) {
        loop->setAttr(kSpanAttr, SpanAttr::get(&getContext(), plan->spanBytes));
      } else {
        auto *known = llvm::find(maps, Attribute(plan->map));
        int64_t number = known - maps.begin();
        if (known == maps.end())
          maps.push_back(plan->map);
        loop->setAttr(kBulkAttr, makeAttr(&getContext(), *plan, number));
      }
      if (copy->isFill() && !isAhead)
        return; // start-bulk decides
      auto alignment = tile->getAttrOfType<IntegerAttr>(kAlignmentAttr);
      tile->setAttr(kAlignmentAttr,
                    b.getI64IntegerAttr(std::max(plan->alignmentBytes,
                                                 alignment ? alignment.getInt() : int64_t(0))));
    });
    keepAdditionsInOneProxy(kernel);
    if (!maps.empty())
      kernel->setAttr(kTensorMapsAttr, ArrayAttr::get(&getContext(), maps));
  }

  static bool isBulk(ParallelOp loop) {
    return loop->hasAttr(kBulkAttr) || loop->hasAttr(kSpanAttr);
  }

  /// Additions need no order, since each is atomic; but an addition of a thread and one of TMA are so only
  /// among their own kind (PTX ISA, memory consistency model: operations of one proxy). Where threads
  /// update a tensor, nothing is added to it in bulk.
  void keepAdditionsInOneProxy(KernelOp kernel) {
    llvm::SmallDenseSet<Value> updatedByThreads;
    kernel.walk([&](TileEffectsOpInterface op) {
      auto loop = dyn_cast<ParallelOp>(op->getParentOp());
      if (loop && isBulk(loop))
        return;
      SmallVector<Effect> effects;
      op.getTileEffects(effects);
      for (const Effect &effect : effects)
        if (effect.kind != EffectKind::Read)
          updatedByThreads.insert(effect.root);
    });
    kernel.walk([&](ParallelOp loop) {
      if (!isBulk(loop))
        return;
      CopyLoop copy = *CopyLoop::get(loop);
      Value tensor = getRoot(copy.getTensorAccess().buffer);
      if (!copy.update || !updatedByThreads.contains(tensor))
        return;
      loop->removeAttr(kBulkAttr);
      loop->removeAttr(kSpanAttr);
      auto tile = getRoot(copy.getTileAccess().buffer).getDefiningOp<AllocOp>();
      refuseBulk(loop, tile, copy, "threads update '" + tile::getName(tensor).str() + "' too");
    });
  }

  void refuseBulk(ParallelOp loop, AllocOp tile, const CopyLoop &copy, StringRef reason) {
    InFlightDiagnostic diag = loop.emitRemark();
    StringRef what = copy.isFill() ? "copied" : copy.update ? "added" : "stored";
    diag << tile.getName() << ": not " << what << " by TMA: " << reason;
    describeRemark(diag, "bulk", tile.getName(), {{"reason", reason}});
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

  /// The descriptors of a gemm that wgmma computes; infer-layouts has asked before it decided.
  void planProduct(GemmOp gemm, const Context &context) {
    for (GemmOperand operand : {GemmOperand::A, GemmOperand::B}) {
      bool isA = operand == GemmOperand::A;
      Value root = getRoot(isA ? gemm.getA() : gemm.getB());
      std::optional<Memory> memory = getMemory(root, context);
      if (!memory)
        continue; // in registers
      llvm::Expected<ProductOperand> plan = planProductOperand(gemm, operand, *memory->layout);
      if (!plan) {
        emitInternalError(gemm) << "'" << tile::getName(root)
                                << "' has no descriptor: " << llvm::toString(plan.takeError());
        return signalPassFailure();
      }
      gemm->setAttr(isA ? kOperandAAttr : kOperandBAttr, makeAttr(&getContext(), *plan));
    }
    remarkProduct(gemm, context);
  }

  /// `'T.gemm': 4 x wgmma.m64n256k16 on each of 2 x 1 warpgroups, A from shared memory`.
  void remarkProduct(GemmOp gemm, const Context &context) {
    auto groups = gemm->getAttrOfType<DenseI64ArrayAttr>(kGroupsAttr);
    ProductShape shape = *getProductShape(gemm, context.arch);
    ProductDivision division = ProductDivision::get(gemm, shape);
    ProductRoles roles = ProductRoles::get(gemm);
    int64_t count = division.products * (division.groupColumns / division.columns) * division.steps;
    std::string instruction =
        "wgmma.m64n" + std::to_string(division.columns) + "k" + std::to_string(shape.k);
    InFlightDiagnostic diag = gemm.emitRemark();
    diag << "'T.gemm': " << count << " x " << instruction << " on each of " << groups[0] << " x "
         << groups[1] << (groups[0] * groups[1] == 1 ? " warpgroup" : " warpgroups")
         << (roles.isSwapped ? ", transposed, B from " : ", A from ")
         << (getOperandPlan(gemm, roles.left) ? "shared memory" : "registers");
    if (shape.promotedSteps)
      diag << ", partial sums added in float32 every " << shape.promotedSteps * shape.k << " of K";
    describeRemark(diag, "gemm", "",
                   {{"unit", "wgmma"},
                    {"instruction", instruction},
                    {"count", count},
                    {"groups_m", groups[0]},
                    {"groups_n", groups[1]},
                    {"promoted_depth", shape.promotedSteps * shape.k}});
  }

  void planLoop(ParallelOp loop, Context &context) {
    std::optional<analysis::LoopDistribution> distribution =
        analysis::getDistribution(loop, getNumThreads(loop));
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
      // Lanes of mma and wgmma hold pairs.
      std::optional<Plan> rows;
      if (plan.width == 2 && isOnlyAccess(loop, *access))
        rows = planMatrixStores(*access, *request, context);
      if (rows) {
        op->setAttr(kMatrixRowsAttr, makeAttr(&getContext(), *rows));
        remarkMatrixStores(*access, *rows);
        return;
      }
      remark(*access, plan);
    });
  }
};

} // namespace
