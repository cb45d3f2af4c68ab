//===- FlattenBranches.cpp - a choice between elements of tiles has no branch -----------------===//
//
// `T.if_then_else` computes only the side that it chooses, which matters if the other one would
// leave a tensor, and nowhere else. An iteration of T.Parallel with a branch inside has no plain
// form: it is not fused with its neighbours, and its tiles are not transposed. A side that only
// loads elements of tiles that are known to exist, with little arithmetic, is computed in any case:
//
//   %x = scf.if %c -> (f32) {
//     %a = tile.load %s[%i, %j]              %a = tile.load %s[%i, %j]
//     scf.yield %a                     ──▶   %x = arith.select %c, %a, %zero
//   } else { scf.yield %zero }
//
// An element that was never written may be loaded so; the choice discards it as before.
//
// Expects: tile IR.   Leaves: the same program, fewer branches.
//===----------------------------------------------------------------------------------------===//

#include "tilewright/Analysis/ValueFacts.h"
#include "tilewright/Tile/Tile.h"
#include "tilewright/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tilewright {
#define GEN_PASS_DEF_FLATTENBRANCHES
#include "tilewright/Transforms/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

namespace {

/// More ops than this are left to a branch, which may spare them.
constexpr unsigned kMaxOps = 8;

/// Whether the load is of an element of a tile that exists for all values of its indices.
bool isInsideTile(LoadOp load) {
  auto alloc = load.getBuffer().getDefiningOp<AllocOp>();
  if (!alloc || getSpace(load.getBuffer()) == Space::Global || alloc.getReducer())
    return false;
  ArrayRef<int64_t> shape = alloc.getBuffer().getType().getShape();
  for (auto [index, extent] : llvm::zip_equal(load.getIndices(), shape)) {
    IndexFacts facts = analysis::getFacts(index);
    if (ShapedType::isDynamic(extent) || !facts.isBounded() || facts.low < 0 ||
        facts.high >= extent)
      return false;
  }
  return true;
}

/// Whether a side may run whatever the choice, and costs little.
bool isHarmless(Block &side) {
  auto ops = side.without_terminator();
  return size_t(std::distance(ops.begin(), ops.end())) <= kMaxOps &&
         llvm::all_of(ops, [](Operation &op) {
           auto load = dyn_cast<LoadOp>(op);
           return load ? isInsideTile(load)
                       : isa<arith::ArithDialect>(op.getDialect()) && isPure(&op);
         });
}

void flatten(scf::IfOp branch) {
  OpBuilder b(branch);
  for (Block *side : {branch.thenBlock(), branch.elseBlock()})
    for (Operation &op : llvm::make_early_inc_range(side->without_terminator()))
      op.moveBefore(branch);
  SmallVector<Value> chosen;
  for (auto [yes, no] :
       llvm::zip_equal(branch.thenYield().getOperands(), branch.elseYield().getOperands()))
    chosen.push_back(arith::SelectOp::create(b, branch.getLoc(), branch.getCondition(), yes, no));
  branch.replaceAllUsesWith(chosen);
  branch.erase();
}

struct FlattenBranchesPass : tilewright::impl::FlattenBranchesBase<FlattenBranchesPass> {
  void runOnOperation() override {
    SmallVector<scf::IfOp> branches; // inner ones first
    getOperation()->walk([&](scf::IfOp branch) {
      if (branch->getParentOfType<ParallelOp>() && branch.getNumResults() != 0)
        branches.push_back(branch);
    });
    for (scf::IfOp branch : branches)
      if (isHarmless(*branch.thenBlock()) && isHarmless(*branch.elseBlock()))
        flatten(branch);
  }
};

} // namespace
