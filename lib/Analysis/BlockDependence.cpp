//===- BlockDependence.cpp - on which block numbers a statement depends -----------------------===//

#include "tilewright/Analysis/BlockDependence.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::analysis {

namespace {

/// Walks from values back to what they are computed from.
class Search {
public:
  explicit Search(KernelOp kernel) : kernel(kernel) {
    std::optional<SmallVector<Effect>> effects = getEffects(kernel);
    writesAny = !effects;
    for (const Effect &effect : effects.value_or(SmallVector<Effect>()))
      if (effect.kind != EffectKind::Read)
        written.insert(effect.root);
  }

  void add(Value value) { pending.insert(value); }
  void addOperands(Operation *op);
  BlockDims run();

private:
  void visit(Value value);
  void visitArgument(BlockArgument argument);
  void visitLoad(LoadOp load);

  KernelOp kernel;
  bool writesAny;
  llvm::SmallDenseSet<Value> written;
  llvm::SetVector<Value> pending; ///< In the order in which they were found; none is taken out.
  BlockDims found;
};

/// What decides how an op runs. The condition of a `while` is no operand of it.
void Search::addOperands(Operation *op) {
  for (Value operand : op->getOperands())
    add(operand);
  if (isa<scf::WhileOp>(op))
    found.set();
}

void Search::visitArgument(BlockArgument argument) {
  Operation *owner = argument.getOwner()->getParentOp();
  if (owner == kernel) {
    auto *id = llvm::find(kernel.getBlockIds(), argument);
    if (id != kernel.getBlockIds().end())
      found.set(id - kernel.getBlockIds().begin());
    return;
  }
  if (!kernel->isProperAncestor(owner) || isa<ParallelOp>(owner))
    return; // an argument of the function, or an iteration of a tile's loop
  if (isa<PipelinedOp>(owner) || (isa<scf::ForOp>(owner) && owner->getNumResults() == 0))
    return addOperands(owner);
  found.set();
}

void Search::visitLoad(LoadOp load) {
  addOperands(load);
  Value root = getRoot(load.getBuffer());
  if (getSpace(root) == Space::Global) {
    if (writesAny || written.contains(root))
      found.set();
    return;
  }
  // A variable: whatever is stored there, under whatever branches and loops.
  auto variable = root.getDefiningOp<AllocOp>();
  if (!variable || getSpace(root) != Space::Local)
    return found.set(), void();
  for (Operation *user : variable->getUsers()) {
    if (!isa<LoadOp, StoreOp>(user))
      return found.set(), void();
    addOperands(user);
    for (Operation *op = user->getParentOp(); op != kernel && kernel->isProperAncestor(op);
         op = op->getParentOp())
      addOperands(op);
  }
}

void Search::visit(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return visitArgument(argument);
  Operation *op = value.getDefiningOp();
  if (!kernel->isProperAncestor(op) || isa<AllocOp, BarrierAllocOp>(op))
    return; // the function's, or a name
  if (auto load = dyn_cast<LoadOp>(op))
    return visitLoad(load);
  if (op->getNumRegions() == 0 && (isMemoryEffectFree(op) || isa<SliceOp, ViewOp>(op)))
    return addOperands(op);
  found.set();
}

BlockDims Search::run() {
  for (size_t next = 0; next < pending.size() && !found.all(); ++next)
    visit(pending[next]);
  return found;
}

} // namespace

BlockDims findBlockDims(KernelOp kernel, Operation *op) {
  Search search(kernel);
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      search.add(operand);
  });
  return search.run();
}

BlockDims findOperandBlockDims(KernelOp kernel, Operation *op) {
  Search search(kernel);
  search.addOperands(op);
  return search.run();
}

} // namespace tilewright::analysis
