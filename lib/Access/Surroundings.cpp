//===- Surroundings.cpp - what is known where an access stands -------------------------------===//

#include "Surroundings.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tilewright::tile;
using tilewright::analysis::IndexTranslator;

namespace tilewright::access {

/// `lhs - rhs < 0` where the predicate is an order of index values, or its negation.
struct Order {
  IndexExpr difference;
  bool isNegated;
};
static std::optional<Order> getOrder(arith::CmpIOp compare, IndexTranslator &translator) {
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
    return Order{*lhs - *rhs, compare.getPredicate() == P::sge};
  case P::sgt:
  case P::sle:
    return Order{*rhs - *lhs, compare.getPredicate() == P::sle};
  default:
    return std::nullopt;
  }
}

//===----------------------------------------------------------------------------------------===//
// Do slots run it together?
//===----------------------------------------------------------------------------------------===//

/// Whether a value is the same for all iterations of a loop.
static bool isUniform(Value value, ParallelOp loop, unsigned depth = 16) {
  if (!loop->isAncestor(value.getParentBlock()->getParentOp()))
    return true;
  Operation *op = value.getDefiningOp();
  return op && isPure(op) && op->getNumRegions() == 0 && depth > 0 &&
         llvm::all_of(op->getOperands(),
                      [&](Value operand) { return isUniform(operand, loop, depth - 1); });
}

/// Adds the comparisons that decide a condition; false where something else does.
static bool collectTests(Value condition, ParallelOp loop, IndexTranslator &translator,
                         SmallVectorImpl<BranchTest> &tests) {
  if (isUniform(condition, loop))
    return true;
  Operation *op = condition.getDefiningOp();
  if (isa_and_present<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op))
    return collectTests(op->getOperand(0), loop, translator, tests) &&
           collectTests(op->getOperand(1), loop, translator, tests);
  auto compare = dyn_cast_or_null<arith::CmpIOp>(op);
  if (!compare)
    return false;
  if (std::optional<Order> order = getOrder(compare, translator)) {
    tests.push_back({order->difference});
    return true;
  }
  bool isEquality = compare.getPredicate() == arith::CmpIPredicate::eq ||
                    compare.getPredicate() == arith::CmpIPredicate::ne;
  if (!isEquality || !isa<IndexType>(compare.getLhs().getType()))
    return false;
  std::optional<IndexExpr> lhs = translator.translate(compare.getLhs()),
                           rhs = translator.translate(compare.getRhs());
  if (!lhs || !rhs)
    return false;
  tests.push_back({*lhs - *rhs, /*isEquality=*/true});
  return true;
}

std::optional<SmallVector<BranchTest, 2>> getBranchTests(Operation *access, ParallelOp loop,
                                                         IndexTranslator &translator) {
  SmallVector<BranchTest, 2> tests;
  for (Operation *op = access->getParentOp(); op != loop; op = op->getParentOp())
    if (auto branch = dyn_cast<scf::IfOp>(op))
      if (!collectTests(branch.getCondition(), loop, translator, tests))
        return std::nullopt;
  return tests;
}

//===----------------------------------------------------------------------------------------===//
// Where can it lie?
//===----------------------------------------------------------------------------------------===//

/// Adds what follows from a condition that has, or has not, been found true.
static void collectKnown(Value condition, bool isTrue, IndexTranslator &translator,
                         SmallVectorImpl<IndexExpr> &known) {
  Operation *op = condition.getDefiningOp();
  bool hasBoth = isTrue ? isa_and_present<arith::AndIOp>(op) : isa_and_present<arith::OrIOp>(op);
  if (hasBoth) {
    collectKnown(op->getOperand(0), isTrue, translator, known);
    collectKnown(op->getOperand(1), isTrue, translator, known);
    return;
  }
  auto compare = dyn_cast_or_null<arith::CmpIOp>(op);
  if (!compare)
    return;
  if (std::optional<Order> order = getOrder(compare, translator))
    known.push_back(order->isNegated == isTrue ? order->difference
                                               : IndexExpr(-1) - order->difference);
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
  if (auto serial = dyn_cast<PipelinedOp>(owner))
    return {serial.getLower(), serial.getUpper()};
  if (auto serial = dyn_cast<scf::ForOp>(owner); serial && argument == serial.getInductionVar())
    return {serial.getLowerBound(), serial.getUpperBound()};
  return {};
}

SmallVector<IndexExpr, 4> getKnownNonNegative(Operation *access, IndexTranslator &translator,
                                              const analysis::SymbolNumbers &numbers) {
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

} // namespace tilewright::access
