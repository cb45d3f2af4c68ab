//===- Conditions.cpp - what is known where an operation stands -------------------------------===//

#include "tilewright/Analysis/Conditions.h"
#include "tilewright/Tile/Tile.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::analysis {

std::optional<IndexOrder> getOrder(arith::CmpIOp compare, IndexTranslator &translator) {
  if (!isa<IndexType>(compare.getLhs().getType()))
    return std::nullopt;
  std::optional<IndexExpr> lhs = translator.translate(compare.getLhs()),
                           rhs = translator.translate(compare.getRhs());
  if (!lhs || !rhs)
    return std::nullopt;
  using P = arith::CmpIPredicate;
  switch (compare.getPredicate()) {
  case P::slt:
  case P::sge:
    return IndexOrder{*lhs - *rhs, compare.getPredicate() == P::sge};
  case P::sgt:
  case P::sle:
    return IndexOrder{*rhs - *lhs, compare.getPredicate() == P::sle};
  default:
    return std::nullopt;
  }
}

/// The value that a branch without effects yields on its other side, if one side yields `constant`:
/// `a and b` computes b only where a holds.
static Value getShortCircuit(scf::IfOp branch, Value result, bool constant) {
  unsigned number = cast<OpResult>(result).getResultNumber();
  Value otherwise = branch.elseYield().getOperand(number);
  std::optional<int64_t> known =
      getConstantIntValue(constant ? branch.thenYield().getOperand(number) : otherwise);
  if (!known || (*known != 0) != constant)
    return Value();
  return constant ? otherwise : branch.thenYield().getOperand(number);
}

void collectKnown(Value condition, bool isTrue, IndexTranslator &translator,
                  SmallVectorImpl<IndexExpr> &known) {
  Operation *op = condition.getDefiningOp();
  bool hasBoth = isTrue ? isa_and_present<arith::AndIOp>(op) : isa_and_present<arith::OrIOp>(op);
  if (hasBoth) {
    collectKnown(op->getOperand(0), isTrue, translator, known);
    collectKnown(op->getOperand(1), isTrue, translator, known);
    return;
  }
  if (auto branch = dyn_cast_or_null<scf::IfOp>(op))
    if (Value other = getShortCircuit(branch, condition, !isTrue)) {
      collectKnown(branch.getCondition(), isTrue, translator, known);
      collectKnown(other, isTrue, translator, known);
      return;
    }
  auto compare = dyn_cast_or_null<arith::CmpIOp>(op);
  if (!compare)
    return;
  if (std::optional<IndexOrder> order = getOrder(compare, translator)) {
    known.push_back(order->isNegated == isTrue ? order->difference
                                               : IndexExpr(-1) - order->difference);
    return;
  }
  auto equal = isTrue ? arith::CmpIPredicate::eq : arith::CmpIPredicate::ne;
  if (compare.getPredicate() != equal || !isa<IndexType>(compare.getLhs().getType()))
    return;
  std::optional<IndexExpr> lhs = translator.translate(compare.getLhs()),
                           rhs = translator.translate(compare.getRhs());
  if (lhs && rhs) {
    known.push_back(*lhs - *rhs);
    known.push_back(*rhs - *lhs);
  }
}

/// The range of a value that is a loop's variable or a block's number; nulls for any other.
static std::pair<OpFoldResult, OpFoldResult> getRange(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument)
    return {};
  Operation *owner = argument.getOwner()->getParentOp();
  OpFoldResult zero = IntegerAttr::get(IndexType::get(value.getContext()), 0);
  if (auto kernel = dyn_cast<KernelOp>(owner);
      kernel && argument.getArgNumber() < kernel.getGrid().size())
    return {zero, kernel.getGrid()[argument.getArgNumber()]};
  if (auto loop = dyn_cast<ParallelOp>(owner))
    return {zero, loop.getMixedExtents()[argument.getArgNumber()]};
  if (auto serial = dyn_cast<PipelinedOp>(owner))
    return {serial.getLower(), serial.getUpper()};
  if (auto serial = dyn_cast<scf::ForOp>(owner); serial && argument == serial.getInductionVar())
    return {serial.getLowerBound(), serial.getUpperBound()};
  return {};
}

SmallVector<IndexExpr, 4> getKnownNonNegative(Operation *access, IndexTranslator &translator,
                                              const SymbolNumbers &numbers) {
  SmallVector<IndexExpr, 4> known;
  for (Operation *child = access, *op = child->getParentOp(); op && !isa<KernelOp>(op);
       child = op, op = op->getParentOp())
    if (auto branch = dyn_cast<scf::IfOp>(op))
      collectKnown(branch.getCondition(), child->getParentRegion() == &branch.getThenRegion(),
                   translator, known);
  auto translate = [&](OpFoldResult result) -> std::optional<IndexExpr> {
    if (std::optional<int64_t> constant = getConstantIntValue(result))
      return IndexExpr(*constant);
    return translator.translate(cast<Value>(result));
  };
  // Bounds of one variable may name others, which are numbered then.
  llvm::SmallDenseSet<Value, 8> done;
  for (bool hasNew = true; hasNew;) {
    hasNew = false;
    SmallVector<std::pair<Value, unsigned>> symbols(numbers.begin(), numbers.end());
    for (auto [value, number] : symbols) {
      if (!done.insert(value).second)
        continue;
      hasNew = true;
      auto [lower, upper] = getRange(value);
      if (!lower || !upper)
        continue;
      IndexExpr symbol = IndexExpr::symbol(number);
      if (std::optional<IndexExpr> bound = translate(lower))
        known.push_back(symbol - *bound);
      if (std::optional<IndexExpr> bound = translate(upper))
        known.push_back(*bound - 1 - symbol);
    }
  }
  return known;
}

} // namespace tilewright::analysis
