//===- PlanAccumulators.cpp - where the sums of products begin and end ------------------------===//
//
// Most products end as a part of a tensor, which a loop sums up in a tile. We skip the fill and the
// copy-out when that is unobservable: the first iteration starts from the fill value (one row of
// it, which stands for all rows), and the last stores directly to the tensor.
//
//   tile.fill %zero, %c                     %row = tile.alloc {tile.id = 0} : 1 x N
//   tile.pipelined %k = … {                 tile.fill %zero, %row
//     tile.gemm %a, %b, %c           ──▶    %C = tile.slice … {tile.id = 1}
//   }                                       tile.pipelined %k = … {
//   %C = tile.slice …                         tile.gemm %a, %b, %c
//   tile.copy %c, %C                              {tile.starts_at = 0, tile.writes_to = 1,
//                                                  tile.sums_over_loop}
//                                           }
//
// A loop that may have no iteration keeps both, under the condition that it has none.
//
// Both follow from the uses of the tile: one gemm adds to what the fill begins, and all others only
// read the result. The second one moves writes of the tensor from the copy to the last iteration,
// which nothing may notice: neither the loop nor what stands between it and the copy touches the
// tensor, and no block tells another one by an atomic update what it has done.
//
// A loop that multiplies each row of an accumulator by a number, as attention does before each of its
// products, leaves that to the product, which reads the accumulator anyway:
//
//   tile.parallel (%i, %j) {                tile.gemm %a, %b, %c {tile.scaled_by = 2}
//     %c[%i, %j] *= %s[%i]           ──▶      // c = (row i of c) * s[i] + a * b
//   }
//   tile.gemm %a, %b, %c
//
// Expects: tile IR that passed its verifier.   Leaves: fewer fills, copies and loops.
//===----------------------------------------------------------------------------------------===//

#include "StaticView.h"
#include "tilewright/Analysis/ValueFacts.h"
#include "tilewright/Tile/Remarks.h"
#include "tilewright/Tile/Statements.h"
#include "tilewright/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"

namespace tilewright {
#define GEN_PASS_DEF_PLANCPUACCUMULATORS
#include "tilewright/Transforms/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

namespace {

/// The life of a tile from the fill in its block on.
struct Accumulator {
  FillOp fill;
  GemmOp gemm;
  Operation *iterations = nullptr; ///< The loop whose iterations are gemms, or the gemm itself.
  CopyOp copy;                     ///< The only reader after it, if it is a copy in the same block.

  /// Nothing unless one gemm adds to what the fill begins, and all others read only the result.
  static std::optional<Accumulator> find(FillOp fill);
  bool isOverLoop() const { return iterations != static_cast<Operation *>(gemm); }
};

std::optional<Accumulator> Accumulator::find(FillOp fill) {
  Accumulator found;
  Value buffer = fill.getDest();
  SmallVector<Operation *> others;
  for (OpOperand &use : buffer.getUses()) {
    Operation *user = use.getOwner();
    auto gemm = dyn_cast<GemmOp>(user);
    if (isa<FillOp>(user) && !found.fill)
      found.fill = cast<FillOp>(user);
    else if (gemm && &use == &gemm.getCMutable() && !found.gemm)
      found.gemm = gemm;
    else if (!isa<AnnotateLayoutOp>(user))
      others.push_back(user);
  }
  if (!buffer.getDefiningOp<AllocOp>() || found.fill != fill || !found.gemm)
    return std::nullopt;
  Block *block = fill->getBlock();
  found.iterations = block->findAncestorOpInBlock(*found.gemm);
  if (!found.iterations || !fill->isBeforeInBlock(found.iterations))
    return std::nullopt;
  auto loop = dyn_cast<scf::ForOp>(found.iterations);
  bool isLoop =
      isa<PipelinedOp>(found.iterations) || (loop && loop.getInductionVar().getType().isIndex());
  if (found.isOverLoop() && !(isLoop && found.gemm->getParentOp() == found.iterations))
    return std::nullopt;
  for (Operation *other : others) {
    Operation *ancestor = block->findAncestorOpInBlock(*other);
    if (!ancestor || ancestor == found.iterations || ancestor->isBeforeInBlock(found.iterations))
      return std::nullopt;
  }
  auto copy = others.size() == 1 ? dyn_cast<CopyOp>(others[0]) : CopyOp();
  if (copy && copy->getBlock() == block && copy.getSource() == buffer)
    found.copy = copy;
  return found;
}

/// Whether the microkernel can keep its sums in the tile: a matrix of them.
bool isMatrixOfSums(const Accumulator &sums) {
  FillOp fill = sums.fill;
  GemmOp gemm = sums.gemm;
  MemRefType type = fill.getDest().getType();
  OperandForm form;
  form.sumType = getSumType(gemm.getA().getType().getElementType(), type.getElementType());
  return type.getRank() == 2 && !gemm.getClear() && hasStaticShapes(gemm) &&
         form.isInPlace(type.getElementType());
}

/// Whether a bound is a number, or is computed before `point`.
bool isAvailable(OpFoldResult bound, Operation *point) {
  if (getConstantIntValue(bound))
    return true;
  auto value = dyn_cast<Value>(bound);
  Operation *op = value ? value.getDefiningOp() : nullptr;
  return !op || op->getBlock() != point->getBlock() || op->isBeforeInBlock(point);
}

/// Whether the loop may have no iteration. Nothing if its bounds are not known at the fill.
std::optional<bool> mayBeEmpty(const Accumulator &sums) {
  if (!sums.isOverLoop())
    return false;
  auto loop = cast<LoopLikeOpInterface>(sums.iterations);
  OpFoldResult lower = *loop.getSingleLowerBound(), upper = *loop.getSingleUpperBound();
  if (!isAvailable(lower, sums.fill) || !isAvailable(upper, sums.fill))
    return std::nullopt;
  auto factsOf = [](OpFoldResult bound) {
    std::optional<int64_t> constant = getConstantIntValue(bound);
    return constant ? IndexFacts::constant(*constant) : analysis::getFacts(cast<Value>(bound));
  };
  IndexFacts first = factsOf(lower), past = factsOf(upper);
  return !first.isBounded() || past.low == IndexFacts::kNoLow || past.low <= first.high;
}

/// Whether nothing notices if the tensor is written in the last iteration, not by the copy.
bool canWriteEarly(const Accumulator &sums) {
  CopyOp copy = sums.copy;
  Value tensor = getRoot(copy.getDest());
  for (Operation *op = sums.iterations; op != copy; op = op->getNextNode()) {
    std::optional<SmallVector<Effect>> effects = getEffects(op);
    if (!effects || getBlockOrder(op) ||
        llvm::any_of(*effects, [&](const Effect &effect) { return effect.root == tensor; }))
      return false;
  }
  return true;
}

/// The number of the part of a tensor that the copy fills, if the gemm can write it: all of it
/// exists, in rows, and nothing is converted.
std::optional<int64_t> findTarget(const Accumulator &sums, PlanIds &ids) {
  CopyOp copy = sums.copy;
  if (!copy || !canWriteEarly(sums))
    return std::nullopt;
  std::optional<StaticView> matrix = getDirectMatrix(copy.getDest(), copy.getSource(), copy);
  if (!matrix || matrix->isOnChip || !hoistBefore(copy.getDest(), sums.iterations))
    return std::nullopt;
  MemRefType from = copy.getSource().getType(), to = copy.getDest().getType();
  return nameMatrix(copy.getDest(), pairDimensions(to.getShape(), from.getShape()).lhs,
                    sums.iterations, ids);
}

/// Moves a statement under a condition, or erases it if there is none.
void guard(Operation *statement, Value condition) {
  if (!condition)
    return statement->erase();
  OpBuilder b(statement);
  auto branch = scf::IfOp::create(b, statement->getLoc(), condition, /*withElseRegion=*/false);
  statement->moveBefore(branch.thenBlock(), branch.thenBlock()->begin());
}

void plan(FillOp fill, PlanIds &ids, bool mayMoveWrites) {
  std::optional<Accumulator> sums = Accumulator::find(fill);
  if (!sums || !isMatrixOfSums(*sums))
    return;
  std::optional<bool> isEmpty = mayBeEmpty(*sums);
  if (!isEmpty)
    return;
  GemmOp gemm = sums->gemm;
  CopyOp copy = sums->copy;
  MemRefType type = fill.getDest().getType();
  StringRef name = getName(fill.getDest());
  std::optional<int64_t> target = mayMoveWrites ? findTarget(*sums, ids) : std::nullopt;

  ImplicitLocOpBuilder b(fill.getLoc(), fill);
  auto rowType = makeBufferType({1, type.getDimSize(1)}, type.getElementType(), Space::Fragment);
  auto row =
      AllocOp::create(b, rowType, b.getStringAttr(name + "_start"), ValueRange(), ReduceKindAttr());
  int64_t start = ids.take();
  setPlanNumber(row, kPlanIdAttr, start);
  FillOp::create(b, fill.getValue(), row.getBuffer());
  Value condition;
  if (*isEmpty) {
    auto loop = cast<LoopLikeOpInterface>(sums->iterations);
    auto asValue = [&](OpFoldResult bound) -> Value {
      if (std::optional<int64_t> constant = getConstantIntValue(bound))
        return arith::ConstantIndexOp::create(b, *constant);
      return cast<Value>(bound);
    };
    condition =
        arith::CmpIOp::create(b, arith::CmpIPredicate::sge, asValue(*loop.getSingleLowerBound()),
                              asValue(*loop.getSingleUpperBound()));
  }
  setPlanNumber(gemm, kStartsAtAttr, start);
  if (matchPattern(fill.getValue(), m_AnyZeroFloat()) || matchPattern(fill.getValue(), m_Zero()))
    gemm->setAttr(kStartsAtZeroAttr, b.getUnitAttr());
  if (sums->isOverLoop())
    gemm->setAttr(kSumsOverLoopAttr, b.getUnitAttr());
  InFlightDiagnostic remark =
      fill.emitRemark("'") << name << "' is not filled: the gemm starts from one row of the value";
  describeRemark(remark, "accumulator", name);
  remark.report();
  if (target) {
    setPlanNumber(gemm, kWritesToAttr, *target);
    InFlightDiagnostic written = copy.emitRemark("'")
                                 << name << "' is not copied: the last gemm writes to '"
                                 << getName(copy.getDest()) << "'";
    describeRemark(written, "accumulator", name);
    written.report();
    guard(copy, condition);
  }
  guard(fill, condition);
}

//===----------------------------------------------------------------------------------------===//
// Rows that are scaled
//===----------------------------------------------------------------------------------------===//

/// The tile of factors, if the loop does nothing but multiply each row of `sums` by one.
AllocOp findFactors(ParallelOp loop, Value sums) {
  auto type = cast<MemRefType>(sums.getType());
  Block &body = loop.getBody().front();
  if (loop.getStaticExtents() != type.getShape() || body.getOperations().size() != 5)
    return {}; // two loads, a product, a store and the terminator
  auto store = dyn_cast<StoreOp>(*std::prev(body.getTerminator()->getIterator()));
  auto product = store ? store.getValue().getDefiningOp<arith::MulFOp>() : arith::MulFOp();
  auto isAt = [&](auto access, ValueRange index) {
    return llvm::equal(access.getIndices(), index);
  };
  ValueRange iterators = loop.getIterators();
  if (!product || product->getBlock() != &body || store.getBuffer() != sums ||
      !isAt(store, iterators))
    return {};
  for (unsigned side : {0u, 1u}) {
    auto old = product->getOperand(side).getDefiningOp<LoadOp>(),
         factor = product->getOperand(1 - side).getDefiningOp<LoadOp>();
    if (!old || !factor || old.getBuffer() != sums || !isAt(old, iterators) ||
        !isAt(factor, iterators.take_front(1)))
      continue;
    auto tile = factor.getBuffer().getDefiningOp<AllocOp>();
    MemRefType factors = factor.getBuffer().getType();
    bool isColumn = tile && !tile.getReducer() && getSpace(factors) != Space::Global &&
                    factors.getShape() == type.getShape().take_front(1) &&
                    factors.getElementType() == type.getElementType();
    return isColumn ? tile : AllocOp();
  }
  return {};
}

/// Whether an op reads or writes the tile.
bool touches(Operation *op, Value tile) { return mayRead(op, tile) || mayWrite(op, tile); }

/// Leaves the scaling of rows in front of a product to it, if nothing between them notices.
void planScaling(GemmOp gemm, PlanIds &ids) {
  Value sums = gemm.getC();
  MemRefType type = gemm.getC().getType();
  Type operand = gemm.getA().getType().getElementType();
  if (!sums.getDefiningOp<AllocOp>() || type.getRank() != 2 || !hasStaticShapes(gemm) ||
      !type.getElementType().isF32() || !getSumType(operand, type.getElementType()).isF32() ||
      gemm.getClear() || gemm->hasAttr(kStartsAtAttr) || gemm->hasAttr(kMatrixUnitAttr) ||
      gemm.getA() == sums || gemm.getB() == sums)
    return;
  Operation *before = gemm->getPrevNode();
  while (before && !touches(before, sums))
    before = before->getPrevNode();
  auto loop = dyn_cast_or_null<ParallelOp>(before);
  AllocOp factors = loop ? findFactors(loop, sums) : AllocOp();
  if (!factors)
    return;
  for (Operation *op = loop->getNextNode(); op != gemm; op = op->getNextNode())
    if (mayWrite(op, factors.getBuffer()))
      return;
  std::optional<int64_t> id = getPlanNumber(factors, kPlanIdAttr);
  if (!id)
    setPlanNumber(factors, kPlanIdAttr, *(id = ids.take()));
  setPlanNumber(gemm, kScaledByAttr, *id);
  InFlightDiagnostic remark = loop.emitRemark("the gemm after it multiplies the rows of '")
                              << getName(sums) << "' by '" << getName(factors.getBuffer()) << "'";
  describeRemark(remark, "accumulator", getName(sums));
  remark.report();
  loop.erase();
}

struct PlanCpuAccumulatorsPass
    : tilewright::impl::PlanCpuAccumulatorsBase<PlanCpuAccumulatorsPass> {
  using Base::Base;

  void runOnOperation() override {
    PlanIds ids(getOperation());
    getOperation()->walk([&](KernelOp kernel) {
      bool hasAtomics = false;
      SmallVector<FillOp> fills;
      kernel.walk([&](Operation *op) {
        hasAtomics |= isa<AtomicOp, AtomicElementOp>(op);
        if (auto fill = dyn_cast<FillOp>(op))
          fills.push_back(fill);
      });
      for (FillOp fill : fills)
        plan(fill, ids, disjoint && !hasAtomics);
      kernel.walk([&](GemmOp gemm) { planScaling(gemm, ids); });
    });
  }
};

} // namespace
