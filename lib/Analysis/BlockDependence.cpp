//===- BlockDependence.cpp - on which block numbers a statement depends -----------------------===//

#include "tilewright/Analysis/BlockDependence.h"
#include "tilewright/Analysis/IndexValues.h"
#include "tilewright/Tile/Scalars.h"

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

//===----------------------------------------------------------------------------------------===//
// Some blocks of a cluster
//===----------------------------------------------------------------------------------------===//

namespace {

/// The blocks of a cluster, and index values as each of them sees them.
class MaskedBlocks {
public:
  MaskedBlocks(KernelOp kernel, ParallelOp copy, ArrayRef<int64_t> cluster, int64_t mask);
  bool isSame(Value value);

private:
  IndexExpr inBlock(const IndexExpr &expr, ArrayRef<int64_t> coordinates);

  KernelOp kernel;
  ArrayRef<int64_t> cluster;
  SmallVector<SmallVector<int64_t>> blocks; ///< The coordinates of each in the cluster.
  SymbolNumbers symbols;
  IndexTranslator translator; ///< Numbers of blocks are the first dims.
};

MaskedBlocks::MaskedBlocks(KernelOp kernel, ParallelOp copy, ArrayRef<int64_t> cluster,
                           int64_t mask)
    : kernel(kernel), cluster(cluster), translator(kernel, &symbols) {
  for (int64_t rank = 0; (mask >> rank) != 0; ++rank) {
    if (!((mask >> rank) & 1))
      continue;
    SmallVector<int64_t> &coordinates = blocks.emplace_back();
    int64_t rest = rank;
    for (int64_t extent : cluster) {
      coordinates.push_back(rest % extent);
      rest /= extent;
    }
  }
  for (Value id : kernel.getBlockIds())
    translator.addDim(id);
  for (Value iterator : copy.getIterators())
    translator.addDim(iterator);
  for (Operation *op = copy->getParentOp(); op != kernel; op = op->getParentOp())
    for (Region &region : op->getRegions())
      for (Value argument : region.getArguments())
        translator.addDim(argument);
}

/// With the number of the cluster in place of the number of the block: x = cluster extent * number + coordinate.
IndexExpr MaskedBlocks::inBlock(const IndexExpr &expr, ArrayRef<int64_t> coordinates) {
  using K = IndexExpr::Kind;
  auto blockDim = [&](const IndexExpr &e) {
    return e.getKind() == K::Dim && e.getPosition() < kernel.getBlockIds().size() &&
           e.getPosition() < cluster.size();
  };
  if (blockDim(expr))
    return expr * cluster[expr.getPosition()] + coordinates[expr.getPosition()];
  if (!expr.isBinary())
    return expr;
  std::optional<int64_t> divisor = expr.getRhs().getConstant();
  if (blockDim(expr.getLhs()) && divisor && *divisor > 0) {
    const IndexExpr number = expr.getLhs();
    int64_t extent = cluster[number.getPosition()], own = coordinates[number.getPosition()];
    if (expr.getKind() == K::FloorDiv && *divisor % extent == 0)
      return IndexExpr::binary(K::FloorDiv, number, *divisor / extent);
    if (expr.getKind() == K::Mod && extent % *divisor == 0)
      return own % *divisor;
    if (expr.getKind() == K::Mod && *divisor % extent == 0)
      return number % (*divisor / extent) * extent + own;
  }
  return IndexExpr::binary(expr.getKind(), inBlock(expr.getLhs(), coordinates),
                           inBlock(expr.getRhs(), coordinates));
}

bool MaskedBlocks::isSame(Value value) {
  BlockDims needed;
  for (unsigned dim = 0; dim < cluster.size(); ++dim)
    for (ArrayRef<int64_t> block : blocks)
      if (block[dim] != blocks.front()[dim])
        needed.set(dim);
  auto depends = [&](Value part) {
    Search search(kernel);
    search.add(part);
    return (search.run() & needed).any();
  };
  if (!depends(value))
    return true;
  std::optional<IndexExpr> expr = translator.translate(value);
  if (!expr)
    return false;
  SmallVector<unsigned> used;
  collectSymbols(*expr, used);
  for (auto &[symbol, number] : symbols)
    if (llvm::is_contained(used, number) && depends(symbol))
      return false;
  IndexExpr first = inBlock(*expr, blocks.front());
  return llvm::all_of(ArrayRef(blocks).drop_front(),
                      [&](ArrayRef<int64_t> block) { return inBlock(*expr, block) == first; });
}

} // namespace

bool isSameInBlocks(KernelOp kernel, ParallelOp copy, ArrayRef<int64_t> cluster, int64_t mask) {
  MaskedBlocks blocks(kernel, copy, cluster, mask);
  auto isSame = [&](Value value) { return blocks.isSame(value); };
  auto isSamePart = [&](Value buffer) {
    while (Operation *op = buffer.getDefiningOp()) {
      if (isa<AllocOp>(op))
        return true;
      if (!isa<SliceOp, ViewOp>(op) || !llvm::all_of(op->getOperands().drop_front(), isSame))
        return false;
      buffer = op->getOperand(0);
    }
    return true; // an argument of the function
  };
  if (!llvm::all_of(copy->getOperands(), isSame))
    return false;
  return !copy.walk([&](Operation *op) {
                bool isFine = isPureScalar(op) || op->hasTrait<OpTrait::IsTerminator>();
                if (auto load = dyn_cast<LoadOp>(op))
                  isFine = isSamePart(load.getBuffer()) && llvm::all_of(load.getIndices(), isSame);
                else if (auto store = dyn_cast<StoreOp>(op))
                  isFine =
                      isSamePart(store.getBuffer()) && llvm::all_of(store.getIndices(), isSame);
                return isFine || op == copy ? WalkResult::advance() : WalkResult::interrupt();
              })
              .wasInterrupted();
}

BlockDims findOperandBlockDims(KernelOp kernel, Operation *op) {
  Search search(kernel);
  search.addOperands(op);
  return search.run();
}

} // namespace tilewright::analysis
