//===- PlaceProducts.cpp - gemms that warpgroups compute --------------------------------------===//
//
// On sm_90a a gemm goes to wgmma where its shape and the layouts of its operands allow it: a group
// of four warps takes 64 rows at a time, B comes from shared memory, A from shared memory or from
// registers. What keeps a gemm on mma.sync is a remark.
//
// Several grids of groups may divide the result. Shared memory is the bottleneck, so the grid that
// reads fewest bytes wins: for each 32 bytes of K, a group reads 2 KB of A (nothing if A lives in
// registers) and 32 bytes for each of its columns of B, once for each 64 of its rows.
//
//===----------------------------------------------------------------------------------------===//

#include "LayoutSolver.h"
#include "tilewright/Layout/Questions.h"
#include "tilewright/Tile/Remarks.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright {

/// Sums beyond these leave no registers for anything else; ptxas would serialise the products.
static constexpr int64_t kMaxProductSlots = 224;

/// How the groups divide M x N, within the policy; nothing if they cannot. `step` is that of B.
static std::optional<GroupGrid> chooseGroups(GemmOp gemm, const access::ProductShape &shape,
                                             int64_t count, bool isRegisterA, int64_t step) {
  auto [m, n, k] = gemm.getExtents();
  std::optional<GroupGrid> best;
  int64_t bestBytes = 0;
  for (int64_t groupsM = 1; groupsM <= count; ++groupsM) {
    GroupGrid grid{groupsM, count / groupsM};
    bool isAllowed = gemm.getPolicy() == GemmPolicy::FullRow   ? grid.groupsN == 1
                     : gemm.getPolicy() == GemmPolicy::FullCol ? grid.groupsM == 1
                                                               : true;
    bool isDivided = count % groupsM == 0 && m % (kProductRows * grid.groupsM) == 0 &&
                     n % grid.groupsN == 0 && (grid.groupsN == 1 || n / grid.groupsN % step == 0) &&
                     shape.getColumns(n / grid.groupsN, step);
    if (!isAllowed || !isDivided)
      continue;
    int64_t rows = m / grid.groupsM / kProductRows, columns = n / grid.groupsN;
    int64_t bytes = count * rows * ((isRegisterA ? 0 : 2048) + 32 * columns);
    if (!best || bytes <= bestBytes) { // on a tie, whole rows stay in a group
      best = grid;
      bestBytes = bytes;
    }
  }
  return best;
}

/// Proves that an operand in shared memory has a descriptor; gives the step of its products, 8 for
/// one that still lives in registers.
static llvm::Expected<int64_t> checkOperand(GemmOp gemm, access::GemmOperand operand,
                                            AllocOp inRegisters) {
  Value buffer = operand == access::GemmOperand::A ? gemm.getA() : gemm.getB();
  auto root = getRoot(buffer).getDefiningOp<AllocOp>();
  if (inRegisters)
    return 8;
  if (!root)
    return llvm::createStringError("'" + tile::getName(getRoot(buffer)) +
                                   "' is not in shared memory");
  llvm::Expected<ProductOperand> plan =
      access::planProductOperand(gemm, operand, getOperandLayout(root));
  if (!plan)
    return llvm::createStringError("'" + root.getName() + "': " + llvm::toString(plan.takeError()));
  return plan->getStep();
}

bool LayoutSolver::placeProduct(GemmOp gemm) {
  if (!context.arch.hasWgmma)
    return false;
  auto refuseProduct = [&](const Twine &obstacle) {
    warpGemms[gemm] = obstacle.str();
    return false;
  };
  std::optional<access::ProductShape> shape = access::getProductShape(gemm, context.arch);
  if (!shape) {
    auto describe = [](Value buffer) {
      return describeElementType(cast<MemRefType>(buffer.getType()).getElementType());
    };
    return refuseProduct("wgmma is not used for " + describe(gemm.getA()) + " and " +
                         describe(gemm.getB()) + " into " + describe(gemm.getC()));
  }
  auto [m, n, k] = gemm.getExtents();
  if (numThreads % kWarpgroupThreads)
    return refuseProduct("the block is not a whole number of warpgroups (128 threads)");
  if (k % shape->k)
    return refuseProduct("K = " + Twine(k) + " is not a multiple of " + Twine(shape->k));
  AllocOp c = fragmentRoot(gemm.getC()), a = fragmentRoot(gemm.getA()),
          b = fragmentRoot(gemm.getB());
  if (!c || c.getBuffer() != gemm.getC())
    return refuseProduct("its accumulator is not a whole fragment");
  if (m * n > kMaxProductSlots * numThreads)
    return refuseProduct(Twine(numThreads) + " threads have no registers for " + Twine(m) + " x " +
                         Twine(n) + " sums");
  if (a && (gemm.getTransposeA() || a.getBuffer() != gemm.getA()))
    return refuseProduct("A lives in registers, transposed or as a part of a tile");
  llvm::Expected<int64_t> stepA = checkOperand(gemm, access::GemmOperand::A, a);
  if (!stepA)
    return refuseProduct(llvm::toString(stepA.takeError()));
  llvm::Expected<int64_t> step = checkOperand(gemm, access::GemmOperand::B, b);
  if (!step)
    return refuseProduct(llvm::toString(step.takeError()));
  int64_t count = numThreads / kWarpgroupThreads;
  std::optional<GroupGrid> grid = chooseGroups(gemm, *shape, count, bool(a), *step);
  if (!grid)
    return refuseProduct("no grid of " + Twine(count) + " warpgroups divides " + Twine(m) + " x " +
                         Twine(n) + " into products of 64 rows and a multiple of " + Twine(*step) +
                         " columns");
  auto holds = [&](AllocOp alloc, llvm::Expected<Fragment> fragment) {
    Fragment wanted = llvm::cantFail(std::move(fragment)); // the grid divides the extents
    place(alloc, wanted);
    return isEqual(placed.find(alloc)->second, wanted).isYes();
  };
  if (!holds(c, productAccumulator(m, n, *grid)))
    return refuseProduct("another statement or annotation holds '" + c.getName() +
                         "' in another layout");
  if (a && !holds(a, productOperandA(m, k, shape->operandBits, *grid)))
    refuse(gemm, a, "the gemm reads A in a layout of its own");
  if (b)
    refuse(gemm, b, "the gemm reads B from memory");
  groups[gemm] = *grid;
  return true;
}

void LayoutSolver::writeProducts() {
  Builder b(kernel.getContext());
  for (auto &[op, grid] : groups) {
    op->setAttr(kGroupsAttr, b.getDenseI64ArrayAttr({grid.groupsM, grid.groupsN}));
    auto gemm = cast<GemmOp>(op);
    for (Value operand : {Value(gemm.getA()), Value(gemm.getB())}) {
      auto alloc = getRoot(operand).getDefiningOp<AllocOp>();
      if (alloc && isa_and_nonnull<LayoutAttr>(alloc->getAttr(kPlacementAttr)))
        alloc->setAttr(kAlignmentAttr, b.getI64IntegerAttr(kProductAlignment));
    }
  }
  for (auto &[op, obstacle] : warpGemms) {
    if (plainGemms.contains(op))
      continue; // has a reason of its own
    InFlightDiagnostic diag = op->emitRemark();
    diag << "'T.gemm' runs on mma.sync: " << obstacle;
    describeRemark(diag, "gemm", "", {{"unit", "mma"}, {"reason", obstacle}});
  }
}

} // namespace tilewright
