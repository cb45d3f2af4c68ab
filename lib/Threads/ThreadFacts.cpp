//===- ThreadFacts.cpp - what of a kernel differs between its threads ------------------------===//
//
// The sets grow until they are stable: what a varying value touches varies, and what is assigned
// under a condition that varies is a thread's own.
//
//===----------------------------------------------------------------------------------------===//

#include "ThreadFacts.h"

#include "tilewright/Threads/Passes.h"
#include "tilewright/Tile/Teams.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::threads {

void eraseDeadOps(KernelOp kernel) {
  SmallVector<Operation *> ops;
  kernel.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : llvm::reverse(ops)) // uses before definitions, inner ops before outer
    if (isOpTriviallyDead(op))
      op->erase();
}

bool isArrayOfThreads(AllocOp alloc) {
  return getSpace(alloc.getBuffer()) == Space::Local && alloc.getBuffer().getType().getRank() > 0;
}

bool namesThreads(KernelOp kernel) {
  return kernel
      .walk([](Operation *op) {
        auto alloc = dyn_cast<AllocOp>(op);
        return isa<ThreadIdOp>(op) || (alloc && isArrayOfThreads(alloc)) ? WalkResult::interrupt()
                                                                         : WalkResult::advance();
      })
      .wasInterrupted();
}

bool ThreadFacts::isBlockVariable(Operation *op) const {
  auto load = dyn_cast<LoadOp>(op);
  return load && getSpace(load.getBuffer()) == Space::Local && !isPrivate(load.getBuffer()) &&
         load.getBuffer().getType().getRank() == 0;
}

Attribute foldScalar(Value value, llvm::function_ref<Attribute(Value)> evaluate) {
  Operation *op = value.getDefiningOp();
  if (!op || !isPureScalar(op))
    return {};
  unsigned number = cast<OpResult>(value).getResultNumber();
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    auto condition = dyn_cast_or_null<IntegerAttr>(evaluate(branch.getCondition()));
    if (!condition)
      return {};
    Region &side = condition.getValue().isZero() ? branch.getElseRegion() : branch.getThenRegion();
    return evaluate(side.front().getTerminator()->getOperand(number));
  }
  if (op->getNumRegions() != 0)
    return {};
  SmallVector<Attribute> operands;
  for (Value operand : op->getOperands()) {
    operands.push_back(evaluate(operand));
    if (!operands.back())
      return {};
  }
  SmallVector<OpFoldResult> results;
  OwningOpRef<Operation *> copy = op->clone(); // folding may change an op for good
  if (failed((*copy)->fold(operands, results)) || results.empty())
    return {};
  if (auto attribute = dyn_cast<Attribute>(results[number]))
    return attribute;
  return evaluate(cast<Value>(results[number])); // one of the operands
}

/// Statements on single elements and values, as opposed to whole tiles.
static bool isElementOp(Operation *op) {
  return isa<LoadOp, StoreOp, AtomicElementOp, AssertOp, AssumeOp, PrintOp>(op);
}

/// The buffer that an element or tile statement sets; null for other ops.
static Value getWritten(Operation *op) {
  if (auto store = dyn_cast<StoreOp>(op))
    return store.getBuffer();
  if (auto fill = dyn_cast<FillOp>(op))
    return fill.getDest();
  if (auto copy = dyn_cast<CopyOp>(op))
    return copy.getDest();
  return {};
}

ThreadFacts::ThreadFacts(KernelOp kernel) : kernel(kernel) {
  // Who comes where is asked of conditions further down, too: what the thread index decides is known
  // before the first answer.
  kernel.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (getThreadDim(op) || (isPureScalar(op) && llvm::any_of(op->getOperands(), [&](Value v) {
                               return this->varies(v);
                             })))
      markVarying(op->getResults());
  });
  while (update()) {
  }
  kernel.getBody().walk([&](Operation *op) { reaching[op] = findThreadsAt(op); });
}

bool ThreadFacts::update() {
  bool changed = false;
  kernel.getBody().walk([&](Operation *op) { changed |= updateOp(op); });
  return changed;
}

bool ThreadFacts::markVarying(ValueRange values) {
  bool changed = false;
  for (Value value : values)
    changed |= varying.insert(value).second;
  return changed;
}

bool ThreadFacts::isOfOneRole(const llvm::BitVector &threads, Value root) const {
  return llvm::all_of(root.getUsers(), [&](Operation *user) {
    if (!findThreadsAt(user, /*orFewer=*/true)->test(threads))
      return true; // no others come there
    // What others only write, no thread sees but these, if all of them write it too.
    std::optional<llvm::BitVector> writing = findThreadsAt(user);
    return isa<StoreOp>(user) && writing && !threads.test(*writing);
  });
}

bool ThreadFacts::isUnderThreadCondition(Operation *op) const {
  for (auto branch = op->getParentOfType<scf::IfOp>(); branch;
       branch = branch->getParentOfType<scf::IfOp>())
    if (varies(branch.getCondition()))
      return true;
  return false;
}

/// Whether a store gives a thread's value to an element that does not depend on the thread, of a
/// fragment that is only used element by element: an array of threads by another name.
bool ThreadFacts::isArrayByUse(Operation *op) const {
  auto store = dyn_cast<StoreOp>(op);
  return store && getSpace(store.getBuffer()) == Space::Fragment &&
         store.getBuffer().getDefiningOp<AllocOp>() && varies(store.getValue()) &&
         llvm::none_of(store.getIndices(), [&](Value index) { return varies(index); }) &&
         llvm::all_of(store.getBuffer().getUsers(), llvm::IsaPred<LoadOp, StoreOp>);
}

bool ThreadFacts::updateOp(Operation *op) {
  std::optional<llvm::BitVector> threads = findThreadsAt(op);
  bool divergent = !threads;
  bool varies = llvm::any_of(op->getOperands(), [&](Value v) { return this->varies(v); });
  bool changed = false;
  bool isThread =
      getThreadDim(op) || varies || (divergent && isElementOp(op) && !isBlockVariable(op));
  if (!isa<ViewLikeOpInterface, StoreOp>(op))
    isThread |= llvm::any_of(op->getOperands(), [&](Value operand) {
      return isa<MemRefType>(operand.getType()) && isPrivate(operand);
    });
  if (isa<AtomicElementOp>(op) && isUnderThreadCondition(op))
    isThread = true; // each thread of the branch updates
  if (Value written = getWritten(op)) {
    Value root = getRoot(written);
    bool isPartial = divergent || (threads && !threads->all() && !isOfOneRole(*threads, root));
    if ((getSpace(root) == Space::Local && (isThread || isPartial)) || isArrayByUse(op))
      changed |= privates.insert(root);
    isThread |= isPrivate(root);
  }
  if (auto yield = dyn_cast<scf::YieldOp>(op)) {
    Operation *parent = op->getParentOp();
    for (auto [operand, result] : llvm::zip(yield.getOperands(), parent->getResults()))
      if (this->varies(operand))
        changed |= markVarying(result);
    isThread = false;
  }
  if (auto loop = dyn_cast<scf::ForOp>(op); loop && isThread)
    changed |= markVarying(loop.getInductionVar());
  if (!isThread)
    return changed;
  changed |= markVarying(op->getResults());
  for (Operation *holder = op; holder != kernel; holder = holder->getParentOp())
    changed |= threaded.insert(holder).second;
  return changed;
}

//===----------------------------------------------------------------------------------------===//
// Conditions on the thread index
//===----------------------------------------------------------------------------------------===//

namespace {
/// Computes a scalar for one thread, by folding; fails for what depends on more than its index.
class ThreadEvaluator {
public:
  ThreadEvaluator(KernelOp kernel, int64_t thread) : kernel(kernel), thread(thread) {}

  Attribute evaluate(Value value) {
    if (auto it = known.find(value); it != known.end())
      return it->second;
    Attribute result = compute(value);
    known[value] = result;
    return result;
  }

private:
  Attribute compute(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op)
      return {};
    if (std::optional<int64_t> dim = getThreadDim(op))
      return IntegerAttr::get(value.getType(), coordinate(*dim));
    return foldScalar(value, [&](Value operand) { return evaluate(operand); });
  }

  int64_t coordinate(int64_t dim) {
    int64_t rest = thread;
    for (int64_t extent : kernel.getThreads().take_front(dim))
      rest /= extent;
    return rest % kernel.getThreads()[dim];
  }

  KernelOp kernel;
  int64_t thread;
  llvm::DenseMap<Value, Attribute> known;
};
} // namespace

std::optional<llvm::BitVector> ThreadFacts::threadsWhere(Value condition) const {
  auto [it, isNew] = conditions.try_emplace(condition);
  if (!isNew)
    return it->second;
  auto op = kernel;
  llvm::BitVector threads(op.getNumThreads());
  for (int64_t thread = 0; thread < op.getNumThreads(); ++thread) {
    auto value = dyn_cast_or_null<IntegerAttr>(ThreadEvaluator(op, thread).evaluate(condition));
    if (!value)
      return std::nullopt;
    threads[thread] = !value.getValue().isZero();
  }
  conditions[condition] = threads;
  return threads;
}

bool ThreadFacts::isDivergentBranch(Operation *op) const {
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return llvm::any_of(loop->getOperands(), [&](Value v) { return varies(v); });
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return varies(loop.getConditionOp().getCondition());
  return false;
}

std::optional<llvm::BitVector> ThreadFacts::findThreadsAt(Operation *op, bool orFewer) const {
  auto self = kernel;
  llvm::BitVector threads(self.getNumThreads(), true);
  Region *inside = op->getParentRegion();
  for (Operation *parent = op->getParentOp(); parent && parent != self.getOperation();
       inside = parent->getParentRegion(), parent = parent->getParentOp()) {
    if (isDivergentBranch(parent) && !orFewer)
      return std::nullopt;
    if (isa<RoleOp>(parent)) {
      Team team = getTeam(parent);
      llvm::BitVector role(self.getNumThreads());
      role.set(team.first, team.first + team.count);
      threads &= role;
      continue;
    }
    auto branch = dyn_cast<scf::IfOp>(parent);
    if (!branch || !varies(branch.getCondition()))
      continue;
    std::optional<llvm::BitVector> where = threadsWhere(branch.getCondition());
    if (!where && orFewer)
      continue;
    if (!where)
      return std::nullopt;
    if (inside == &branch.getElseRegion())
      where->flip();
    threads &= *where;
  }
  return threads;
}

//===----------------------------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------------------------===//

bool needsRewriting(ModuleOp module) {
  return module
      .walk([](Operation *op) {
        auto alloc = dyn_cast<AllocOp>(op);
        bool isFound =
            isa<ThreadIdOp, BarrierAllocOp, GridSyncOp>(op) || (alloc && isArrayOfThreads(alloc));
        return isFound ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

} // namespace tilewright::threads
