//===- ParallelValues.cpp - values that iterations of T.Parallel share or carry ---------------===//

#include "ParallelAccess.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::analysis {

//===----------------------------------------------------------------------------------------===//
// The same value in two iterations
//===----------------------------------------------------------------------------------------===//

namespace {
/// Walks over all that a value is made of. It is the same in two iterations if every index
/// expression among it is, and nothing else in it can differ.
class SameValue {
public:
  SameValue(ParallelOp loop, ArrayRef<int64_t> first, ArrayRef<int64_t> second)
      : loop(loop), translator(loop) {
    for (auto [iterator, a, b] : llvm::zip_equal(loop.getIterators(), first, second)) {
      translator.addDim(iterator);
      firstIteration.push_back(a);
      secondIteration.push_back(b);
    }
  }

  bool prove(ArrayRef<Value> values) {
    work.assign(values.begin(), values.end());
    while (!work.empty()) {
      Value value = work.pop_back_val();
      if (seen.insert(value).second && !visit(value))
        return false;
    }
    return true;
  }

private:
  bool isOutside(Value value) { return !loop->isAncestor(value.getParentRegion()->getParentOp()); }

  /// Puts what `value` is made of on the list; false if it may differ.
  bool visit(Value value) {
    Operation *def = value.getDefiningOp();
    if (isBufferType(value.getType())) {
      if (!getViewSource(value))
        return isOutside(value); // a tile of the body is another one in each iteration
      llvm::append_range(work, def->getOperands());
      return true;
    }
    if (std::optional<IndexExpr> expr = translator.translate(value))
      return expr->substitute(firstIteration) == expr->substitute(secondIteration);
    if (!def)
      return false;
    if (auto load = dyn_cast<LoadOp>(def); load && getSpace(load.getBuffer()) == Space::Local)
      return visitVariable(load.getBuffer());
    if (auto branch = dyn_cast<scf::IfOp>(def)) {
      unsigned position = cast<OpResult>(value).getResultNumber();
      work.push_back(branch.getCondition());
      work.push_back(branch.thenYield().getOperand(position));
      work.push_back(branch.elseYield().getOperand(position));
      return true;
    }
    // An element that two iterations read and one of them writes is a conflict of its own.
    if (def->getNumRegions() || !(isMemoryEffectFree(def) || isa<LoadOp>(def)))
      return false;
    llvm::append_range(work, def->getOperands());
    return true;
  }

  /// A variable is what the body stores into it, under the conditions of the stores.
  bool visitVariable(Value variable) {
    Value root = getRoot(variable);
    WalkResult result = loop.walk([&](TileEffectsOpInterface op) {
      SmallVector<Effect> effects;
      op.getTileEffects(effects);
      if (llvm::none_of(effects, [&](const Effect &effect) {
            return effect.root == root && effect.kind != EffectKind::Read;
          }))
        return WalkResult::advance();
      auto store = dyn_cast<StoreOp>(op.getOperation());
      if (!store)
        return WalkResult::interrupt();
      work.push_back(store.getValue());
      for (Operation *parent = store->getParentOp(); parent != loop; parent = parent->getParentOp())
        if (auto branch = dyn_cast<scf::IfOp>(parent))
          work.push_back(branch.getCondition());
        else
          return WalkResult::interrupt();
      return WalkResult::advance();
    });
    return !result.wasInterrupted();
  }

  ParallelOp loop;
  IndexTranslator translator;
  SmallVector<IndexExpr> firstIteration, secondIteration;
  SmallVector<Value> work;
  llvm::SmallDenseSet<Value> seen;
};
} // namespace

/// The scalar that an op writes to each element it touches, or null.
static Value getWrittenScalar(Operation *op) {
  if (auto store = dyn_cast<StoreOp>(op))
    return store.getValue();
  if (auto fill = dyn_cast<FillOp>(op))
    return fill.getValue();
  if (auto atomic = dyn_cast<AtomicElementOp>(op);
      atomic && atomic.getKind() == AtomicKind::Exchange)
    return atomic.getValue();
  return {};
}

bool writesSameValue(ParallelOp loop, Operation *first, Operation *second,
                     ArrayRef<int64_t> firstIteration, ArrayRef<int64_t> secondIteration) {
  SameValue proof(loop, firstIteration, secondIteration);
  if (auto copy = dyn_cast<CopyOp>(first); copy && first == second)
    return proof.prove({copy.getSource(), copy.getDest()});
  Value a = getWrittenScalar(first), b = getWrittenScalar(second);
  if (!a || !b)
    return false;
  if (a == b)
    return proof.prove({a});
  Attribute constantA, constantB;
  return matchPattern(a, m_Constant(&constantA)) && matchPattern(b, m_Constant(&constantB)) &&
         constantA == constantB;
}

bool isValueOfData(ParallelOp loop, Operation *write) {
  SmallVector<Value> work{getWrittenScalar(write)};
  llvm::SmallDenseSet<Value> seen;
  while (!work.empty()) {
    Value value = work.pop_back_val();
    Operation *def = value ? value.getDefiningOp() : nullptr;
    if (!def || !loop->isAncestor(def) || !seen.insert(value).second)
      continue;
    if (isa<LoadOp, AtomicElementOp>(def))
      return true;
    llvm::append_range(work, def->getOperands());
    for (Region &region : def->getRegions())
      llvm::append_range(work, region.front().getTerminator()->getOperands());
  }
  return false;
}

//===----------------------------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------------------------===//

static bool touches(Operation *op, Value root, bool writes) {
  auto declared = dyn_cast<TileEffectsOpInterface>(op);
  if (!declared)
    return false;
  SmallVector<Effect> effects;
  declared.getTileEffects(effects);
  return llvm::any_of(effects, [&](const Effect &effect) {
    return effect.root == root && (effect.kind == EffectKind::Write) == writes;
  });
}

static bool assigns(Block &block, Value variable);

/// Whether `op` assigns the variable on each path through it.
static bool assigns(Operation *op, Value variable) {
  if (touches(op, variable, /*writes=*/true))
    return true;
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return branch.elseBlock() && assigns(*branch.thenBlock(), variable) &&
           assigns(*branch.elseBlock(), variable);
  if (auto inner = dyn_cast<scf::ForOp>(op)) {
    std::optional<int64_t> lower = getConstantIntValue(inner.getLowerBound()),
                           upper = getConstantIntValue(inner.getUpperBound());
    return lower && upper && *lower < *upper && !inner.getUnsignedCmp() &&
           assigns(*inner.getBody(), variable);
  }
  return false;
}

static bool assigns(Block &block, Value variable) {
  return llvm::any_of(block, [&](Operation &op) { return assigns(&op, variable); });
}

/// Whether an iteration has assigned the variable whenever it comes to `read`.
static bool isAssignedBefore(Operation *read, Value variable, ParallelOp loop) {
  for (Operation *op = read; op != loop; op = op->getParentOp()) {
    for (Operation *before = op->getPrevNode(); before; before = before->getPrevNode())
      if (assigns(before, variable))
        return true;
    // The condition of a while loop runs before its body.
    auto parent = dyn_cast<scf::WhileOp>(op->getParentOp());
    if (parent && op->getParentRegion() == &parent.getAfter() &&
        assigns(parent.getBefore().front(), variable))
      return true;
  }
  return false;
}

std::optional<CarriedVariable> findCarriedVariable(ParallelOp loop) {
  llvm::MapVector<Value, Operation *> assigned; // variable -> its first assignment
  SmallVector<std::pair<Value, Operation *>> reads;
  loop.walk([&](TileEffectsOpInterface op) {
    SmallVector<Effect> effects;
    op.getTileEffects(effects);
    for (Effect &effect : effects) {
      if (getSpace(effect.root) != Space::Local ||
          loop->isAncestor(effect.root.getParentRegion()->getParentOp()))
        continue;
      if (effect.kind == EffectKind::Read)
        reads.emplace_back(effect.root, op);
      else
        assigned.try_emplace(effect.root, op);
    }
  });
  for (auto [variable, read] : reads)
    if (auto *it = assigned.find(variable);
        it != assigned.end() && !isAssignedBefore(read, variable, loop))
      return CarriedVariable{variable, it->second, read};
  return std::nullopt;
}

} // namespace tilewright::analysis
