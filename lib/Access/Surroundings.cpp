//===- Surroundings.cpp - what is known where an access stands -------------------------------===//

#include "Surroundings.h"
#include "tilewright/Analysis/Conditions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tilewright::tile;
using tilewright::analysis::IndexTranslator;

namespace tilewright::access {

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
  if (std::optional<analysis::IndexOrder> order = analysis::getOrder(compare, translator)) {
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

} // namespace tilewright::access
