//===- SplitBranches.cpp - branches with waits inside, wait by wait --------------------------===//
//
//   if k + 1 < n:                         more = k + 1 < n
//     copy; arrive(ready)                 if more: copy; arrive(ready)
//     wait(free, k % 2)            ──▶    if more: wait(free, k % 2); gemm
//     gemm
//
// A branch whose condition is the block's is cut in front of each wait. What the condition is has
// been decided in front of the first piece, so that no piece changes it for the next. Numbers that
// are computed in the branch from what is known in front of it are computed there. A cut that would
// part a value from its use is not made.
//
//===----------------------------------------------------------------------------------------===//

#include "SplitBranches.h"

#include "Waits.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;

namespace tilewright::threads {

namespace {

/// Moves numbers that do not need the branch in front of it.
void hoistNumbers(scf::IfOp branch) {
  Region &body = branch.getThenRegion();
  for (Operation &op : llvm::make_early_inc_range(body.front().without_terminator()))
    if (isPureScalar(&op) && op.getNumRegions() == 0 &&
        llvm::none_of(op.getOperands(),
                      [&](Value operand) { return body.isAncestor(operand.getParentRegion()); }))
      op.moveBefore(branch);
}

/// Whether nothing before `cut` is used by it or after it.
bool isCleanCut(Operation *cut) {
  Block *block = cut->getBlock();
  return llvm::all_of(llvm::make_range(block->begin(), cut->getIterator()), [&](Operation &op) {
    return llvm::all_of(op.getUsers(), [&](Operation *user) {
      return block->findAncestorOpInBlock(*user)->isBeforeInBlock(cut);
    });
  });
}

void split(scf::IfOp branch) {
  hoistNumbers(branch);
  Block *body = &branch.getThenRegion().front();
  SmallVector<Operation *> cuts;
  for (Operation *op = &body->front(); !op->hasTrait<OpTrait::IsTerminator>();) {
    Operation *last = findEndOfStatement(op);
    if (op != &body->front() && holdsWait(last) && isCleanCut(op))
      cuts.push_back(op);
    op = last->getNextNode();
  }
  // From the back: what follows the last cut becomes a branch after this one.
  for (Operation *cut : llvm::reverse(cuts)) {
    ImplicitLocOpBuilder b(cut->getLoc(), branch);
    b.setInsertionPointAfter(branch);
    auto rest = scf::IfOp::create(b, branch.getCondition(), /*withElseRegion=*/false);
    Block &target = rest.getThenRegion().front();
    target.getOperations().splice(target.begin(), body->getOperations(), cut->getIterator(),
                                  std::prev(body->end()));
  }
}

} // namespace

void splitBranches(Block &role, const ThreadFacts &facts) {
  SmallVector<scf::IfOp> branches;
  role.walk<WalkOrder::PostOrder>([&](scf::IfOp branch) {
    if (branch.getNumResults() == 0 && branch.getElseRegion().empty() && holdsWait(branch) &&
        !facts.varies(branch.getCondition()))
      branches.push_back(branch);
  });
  llvm::for_each(branches, split);
}

} // namespace tilewright::threads
