//===- Conditionals.cpp - expressions that evaluate one of two sides -------------------------===//

#include "tilewright/Frontend/Conditionals.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace tilewright::frontend {

void Conditionals::begin(const Operand &condition) {
  auto branch =
      emitter.create<scf::IfOp>(TypeRange(), scalars.toCondition(condition), /*withElse=*/true);
  regions.open("select", branch, &branch.getThenRegion().front());
}

void Conditionals::otherwise(const Operand &value) {
  if (regions.getKind() != "select")
    emitter.fail("a region inside an expression is still open");
  // A literal stays one until the other side's dtype is known; anything else is read here, on its
  // own side.
  OpenRegion &region = regions.getInnermost();
  region.thenValue = value;
  if (!std::holds_alternative<Literal>(value))
    region.thenValue = scalars.materialize(value);
  auto branch = cast<scf::IfOp>(region.op);
  builder.setInsertionPoint(branch.getElseRegion().front().getTerminator());
}

static bool isSpeculatable(Block &block) {
  return llvm::all_of(block.without_terminator(), [](Operation &op) {
    return isMemoryEffectFree(&op) && mlir::isSpeculatable(&op);
  });
}

Scalar Conditionals::end(const Operand &value) {
  auto branch = cast<scf::IfOp>(regions.getInnermost().op);
  Block *thenBlock = &branch.getThenRegion().front(), *elseBlock = &branch.getElseRegion().front();

  // Both sides meet in one dtype; each conversion is built on its own side.
  Operand thenOperand = *regions.getInnermost().thenValue, elseOperand = value;
  if (!std::holds_alternative<Literal>(value))
    elseOperand = scalars.materialize(value);
  Type dtype = scalars.commonType(thenOperand, elseOperand);
  Scalar elseValue = scalars.convert(elseOperand, dtype);
  builder.setInsertionPoint(thenBlock->getTerminator());
  Scalar thenValue = scalars.convert(thenOperand, dtype);

  OpenRegion region = regions.close();
  builder.setInsertionPointAfter(branch);
  Value result;
  if (frontend::isSpeculatable(*thenBlock) && frontend::isSpeculatable(*elseBlock)) {
    for (Block *block : {thenBlock, elseBlock}) {
      block->getTerminator()->erase();
      branch->getBlock()->getOperations().splice(Block::iterator(branch), block->getOperations());
    }
    result = builder.createOrFold<arith::SelectOp>(branch.getLoc(), branch.getCondition(),
                                                   thenValue.value, elseValue.value);
  } else {
    auto typed = scf::IfOp::create(builder, branch.getLoc(), TypeRange(thenValue.value.getType()),
                                   branch.getCondition(), /*withElse=*/true);
    auto move = [&](Block *from, Region &to, Value yielded) {
      Block *block = &to.front();
      if (!block->empty())
        block->clear();
      from->getTerminator()->erase();
      block->getOperations().splice(block->end(), from->getOperations());
      OpBuilder atEnd = OpBuilder::atBlockEnd(block);
      scf::YieldOp::create(atEnd, branch.getLoc(), yielded);
    };
    move(thenBlock, typed.getThenRegion(), thenValue.value);
    move(elseBlock, typed.getElseRegion(), elseValue.value);
    result = typed.getResult(0);
  }
  branch.erase();
  builder.restoreInsertionPoint(region.after);
  return emitter.wrap(result, dtype);
}

/// What a helper builds beyond this in one expression stays as it is, and what lies further back. Each choice
/// looks for what it can defer: without an end, the choices of a long expression take quadratic time.
static constexpr size_t kMaxDeferred = 256, kMaxDistance = 1024;

/// The operations of this block that only `value` needs, in order, if evaluating them later is the
/// same: pure ones, and reads with nothing written since. Empty if there is no read among them.
static SmallVector<Operation *> collectDeferrable(Value value, Block *block, Block::iterator end) {
  llvm::SmallSetVector<Operation *, 8> slice;
  SmallVector<Value> work{value};
  while (!work.empty()) {
    Operation *op = work.pop_back_val().getDefiningOp();
    if (!op || op->getBlock() != block || op->getNumRegions() != 0)
      continue;
    if (!isMemoryEffectFree(op) && !isa<tile::LoadOp>(op))
      continue;
    if (slice.insert(op))
      llvm::append_range(work, op->getOperands());
    if (slice.size() > kMaxDeferred)
      return {};
  }
  // Everything between the first read and here must leave memory alone.
  bool writes = false, reads = false;
  size_t numLeft = llvm::count_if(slice, llvm::IsaPred<tile::LoadOp>), distance = 0;
  for (Block::iterator it = end; numLeft > 0 && it != block->begin();) {
    Operation *op = &*--it;
    if (++distance > kMaxDistance)
      return {};
    if (auto load = dyn_cast<tile::LoadOp>(op); load && slice.contains(op)) {
      --numLeft;
      if (writes)
        slice.remove(op);
      else
        reads = true;
    }
    writes |= !isMemoryEffectFree(op) && !isa<tile::LoadOp>(op);
  }
  if (!reads)
    return {};
  SmallVector<Operation *> ordered = llvm::to_vector(slice);
  llvm::sort(ordered, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return ordered;
}

Scalar Conditionals::ifThenElse(const Operand &condition, const Operand &thenOperand,
                                const Operand &elseOperand) {
  // Python has evaluated both sides already. What a side reads is read again inside the branch, and
  // the first read is dead unless something else uses it.
  Block *block = builder.getInsertionBlock();
  Block::iterator here = builder.getInsertionPoint();
  auto deferred = [&](const Operand &operand) {
    SmallVector<Operation *> ops;
    if (auto *scalar = std::get_if<Scalar>(&operand))
      ops = collectDeferrable(scalar->value, block, here);
    return ops;
  };
  SmallVector<Operation *> thenOps = deferred(thenOperand), elseOps = deferred(elseOperand);
  auto replay = [&](const Operand &operand, ArrayRef<Operation *> ops) -> Operand {
    if (ops.empty())
      return operand;
    IRMapping mapping;
    for (Operation *op : ops)
      builder.clone(*op, mapping);
    Scalar scalar = std::get<Scalar>(operand);
    return emitter.wrap(mapping.lookup(scalar.value), scalar.dtype);
  };
  begin(condition);
  otherwise(replay(thenOperand, thenOps));
  return end(replay(elseOperand, elseOps));
}

} // namespace tilewright::frontend
