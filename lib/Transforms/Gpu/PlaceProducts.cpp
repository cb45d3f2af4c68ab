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
#include "tilewright/Analysis/SharedTiles.h"
#include "tilewright/Layout/Questions.h"
#include "tilewright/Tile/Remarks.h"
#include "tilewright/Tile/Statements.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright {

/// How the groups divide the rows and columns of a product, within the policy; nothing if they
/// cannot. `step` is that of the right operand.
static std::optional<GroupGrid> chooseGroups(GemmOp gemm, const access::ProductRoles &roles,
                                             const access::ProductShape &shape, int64_t count,
                                             bool isRegisterA, int64_t step) {
  int64_t m = roles.m, n = roles.n;
  GemmPolicy fullRow = roles.isSwapped ? GemmPolicy::FullCol : GemmPolicy::FullRow,
             fullColumn = roles.isSwapped ? GemmPolicy::FullRow : GemmPolicy::FullCol;
  std::optional<GroupGrid> best;
  int64_t bestBytes = 0;
  for (int64_t groupsM = 1; groupsM <= count; ++groupsM) {
    GroupGrid grid{groupsM, count / groupsM};
    bool isAllowed = gemm.getPolicy() == fullRow      ? grid.groupsN == 1
                     : gemm.getPolicy() == fullColumn ? grid.groupsM == 1
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

/// Proves that an operand in shared memory has a descriptor. One that still lives in registers will
/// have one that sets no limits.
static llvm::Expected<ProductOperand> checkOperand(GemmOp gemm, access::GemmOperand operand,
                                                   AllocOp inRegisters) {
  Value buffer = access::getOperand(gemm, operand);
  auto root = getRoot(buffer).getDefiningOp<AllocOp>();
  if (inRegisters)
    return ProductOperand();
  if (!root)
    return llvm::createStringError("'" + tile::getName(getRoot(buffer)) +
                                   "' is not in shared memory");
  llvm::Expected<ProductOperand> plan =
      access::planProductOperand(gemm, operand, getOperandLayout(root));
  if (!plan)
    return llvm::createStringError("'" + root.getName() + "': " + llvm::toString(plan.takeError()));
  return plan;
}

/// Whether a statement leaves only rounded elements in a tile of tfloat32.
static bool keepsRounded(Operation *user, Value tile) {
  if (isa<SliceOp, ViewOp, AnnotateLayoutOp>(user))
    return true;
  if (auto store = dyn_cast<StoreOp>(user)) {
    // What was copied from other memory has all bits that it had there.
    auto cast = store.getValue().getDefiningOp<CastOp>();
    bool isRounded =
        cast ? !isa<FloatTF32Type>(cast.getFrom()) : matchPattern(store.getValue(), m_Constant());
    return isRounded && !changesElement(store.getBuffer());
  }
  std::optional<SmallVector<Effect>> effects = getEffects(user);
  return effects && llvm::all_of(*effects, [&](const Effect &effect) {
           return effect.root != tile || effect.kind == EffectKind::Read;
         });
}

/// A tile of tfloat32 whose elements may have bits beyond those of the type, which wgmma cuts off
/// where a gemm rounds them; null if neither operand has.
static Value findUnrounded(GemmOp gemm) {
  for (Value operand : {Value(gemm.getA()), Value(gemm.getB())}) {
    Value root = getRoot(operand);
    auto tile = root.getDefiningOp<AllocOp>();
    if (!tile || !llvm::all_of(analysis::getUsersThroughViews(tile),
                               [&](Operation *user) { return keepsRounded(user, root); }))
      return root;
  }
  return Value();
}

/// Where C lives if its transpose lives here.
static Fragment transpose(const Fragment &fragment) {
  SmallVector<IndexExpr> swapped{IndexExpr::dim(1), IndexExpr::dim(0)};
  ArrayRef<int64_t> shape = fragment.getShape();
  return Fragment::get({shape[1], shape[0]}, fragment.getThread().substitute(swapped),
                       fragment.getSlot().substitute(swapped));
}

bool LayoutSolver::placeProduct(GemmOp gemm) {
  if (!context.arch.hasWgmma)
    return false;
  auto refuseProduct = [&](const Twine &obstacle) {
    warpGemms[gemm] = obstacle.str();
    return false;
  };
  std::optional<access::ProductShape> shape = access::getProductShape(gemm, context.arch);
  bool isTf32 = isa<FloatTF32Type>(gemm.getA().getType().getElementType());
  if (Value unrounded = isTf32 ? findUnrounded(gemm) : Value())
    return refuseProduct("elements of '" + tile::getName(unrounded) +
                         "' may have bits that are still to be rounded to tfloat32, and wgmma "
                         "would cut them off; fill it from a float32 tensor");
  if (!shape) {
    auto describe = [](Value buffer) {
      return describeElementType(cast<MemRefType>(buffer.getType()).getElementType());
    };
    return refuseProduct("wgmma is not used for " + describe(gemm.getA()) + " and " +
                         describe(gemm.getB()) + " into " + describe(gemm.getC()));
  }
  // A result of few rows and many columns is computed as its transpose.
  auto [m, n, k] = gemm.getExtents();
  auto roles = access::ProductRoles::get(gemm, m % kProductRows != 0 && n % kProductRows == 0);
  auto [firstThread, numThreads] = getTeam(gemm);
  if (numThreads % kWarpgroupThreads || firstThread % kWarpgroupThreads)
    return refuseProduct("the block is not a whole number of warpgroups (128 threads)");
  if (k % shape->k)
    return refuseProduct("K = " + Twine(k) + " is not a multiple of " + Twine(shape->k));
  AllocOp c = fragmentRoot(gemm.getC()), a = fragmentRoot(gemm.getA()),
          b = fragmentRoot(gemm.getB());
  if (!c || c.getBuffer() != gemm.getC())
    return refuseProduct("its accumulator is not a whole fragment");
  if (m * n > access::kMaxProductSlots * numThreads)
    return refuseProduct(Twine(numThreads) + " threads have no registers for " + Twine(m) + " x " +
                         Twine(n) + " sums");
  if (a && isTf32)
    return refuseProduct("A lives in registers as tfloat32");
  if (a && (gemm.getTransposeA() || a.getBuffer() != gemm.getA()))
    return refuseProduct("A lives in registers, transposed or as a part of a tile");
  if (roles.isSwapped && (a || b))
    return refuseProduct("M = " + Twine(m) +
                         " is not a multiple of 64, and an operand lives in "
                         "registers");
  AllocOp inRegisters[] = {a, b};
  auto check = [&](access::GemmOperand operand) {
    return checkOperand(gemm, operand, inRegisters[operand == access::GemmOperand::B]);
  };
  llvm::Expected<ProductOperand> left = check(roles.left);
  if (!left)
    return refuseProduct(llvm::toString(left.takeError()));
  llvm::Expected<ProductOperand> right = check(roles.right);
  if (!right)
    return refuseProduct(llvm::toString(right.takeError()));
  int64_t count = numThreads / kWarpgroupThreads, step = right->getStep();
  std::optional<GroupGrid> grid = chooseGroups(gemm, roles, *shape, count, bool(a), step);
  if (!grid)
    return refuseProduct("no grid of " + Twine(count) +
                         (count == 1 ? " warpgroup divides " : " warpgroups divides ") + Twine(m) +
                         " x " + Twine(n) + " into products of 64 rows and a multiple of " +
                         Twine(step) + " columns");
  auto holds = [&](AllocOp alloc, llvm::Expected<Fragment> fragment) {
    Fragment wanted = llvm::cantFail(std::move(fragment)); // the grid divides the extents
    place(alloc, wanted);
    return isEqual(placed.find(alloc)->second, wanted).isYes();
  };
  Fragment sums = llvm::cantFail(productAccumulator(roles.m, roles.n, *grid));
  if (!holds(c, roles.isSwapped ? transpose(sums) : sums))
    return refuseProduct("another statement or annotation holds '" + c.getName() +
                         "' in another layout");
  if (a && !holds(a, productOperandA(m, k, shape->operandBits, *grid)))
    refuse(gemm, a, "the gemm reads A in a layout of its own");
  if (b)
    refuse(gemm, b, "the gemm reads B from memory");
  groups[gemm] = {*grid, roles.isSwapped};
  for (auto [operand, plan] : {std::pair(roles.left, *left), std::pair(roles.right, *right)}) {
    int64_t &alignment = alignments[getRoot(access::getOperand(gemm, operand)).getDefiningOp()];
    alignment = std::max(alignment, plan.getAlignment());
  }
  return true;
}

/// So many instructions on one accumulator may each begin before the last one has ended. LLVM keeps the sums
/// in place only while their registers are joined from few parts (256 by its own count): beyond, it moves
/// them between two instructions, which nothing may do while one is under way. Loops that are unrolled or
/// peeled later count more than once.
static constexpr int64_t kMaxOpenSteps = 64;

static void remarkNotOpen(GemmOp gemm, int64_t numSteps) {
  StringRef name = tile::getName(getRoot(gemm.getC()));
  std::string reason = (Twine(numSteps) + " instructions add to '" + name + "', more than " +
                        Twine(kMaxOpenSteps) + " whose registers LLVM certainly keeps in place")
                           .str();
  InFlightDiagnostic diag = gemm.emitRemark();
  diag << "this product ends before the next statement begins: " << reason;
  describeRemark(diag, "gemm", name, {{"unit", "wgmma"}, {"reason", reason}});
}

void LayoutSolver::writeProducts() {
  Builder b(kernel.getContext());
  auto shapeOf = [&](GemmOp gemm) { return *access::getProductShape(gemm, context.arch); };
  llvm::DenseMap<Value, int64_t> numSteps; // on each accumulator
  for (auto &[op, product] : groups) {
    auto gemm = cast<GemmOp>(op);
    numSteps[getRoot(gemm.getC())] += gemm.getExtents().k / shapeOf(gemm).k;
  }
  for (auto &[op, product] : groups) {
    auto &[grid, isSwapped] = product;
    op->setAttr(kGroupsAttr, b.getDenseI64ArrayAttr({grid.groupsM, grid.groupsN}));
    if (isSwapped)
      op->setAttr(kSwappedAttr, b.getUnitAttr());
    // Pairs of 16-bit sums share a register only inside the product; partial sums are added there.
    auto gemm = cast<GemmOp>(op);
    if (getStorageBits(gemm.getC().getType().getElementType()) != 32 || shapeOf(gemm).promotedSteps)
      continue;
    if (int64_t all = numSteps[getRoot(gemm.getC())]; all > kMaxOpenSteps)
      remarkNotOpen(gemm, all);
    else
      op->setAttr(kAsyncAttr, b.getUnitAttr());
  }
  for (auto &[op, alignment] : alignments)
    if (isa_and_nonnull<LayoutAttr>(op->getAttr(kPlacementAttr)))
      op->setAttr(kAlignmentAttr, b.getI64IntegerAttr(alignment));
  for (auto &[op, obstacle] : warpGemms) {
    if (plainGemms.contains(op))
      continue; // has a reason of its own
    InFlightDiagnostic diag = op->emitRemark();
    diag << "'T.gemm' runs on mma.sync: " << obstacle;
    describeRemark(diag, "gemm", "", {{"unit", "mma"}, {"reason", obstacle}});
  }
}

} // namespace tilewright
