//===- ThreadValues.cpp - which threads come to a statement, and what differs between them ----===//
//
// Conditions are evaluated by the interpreter's own steps, once for each thread.
//
//===----------------------------------------------------------------------------------------===//

#include "ThreadValues.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::interp;

//===----------------------------------------------------------------------------------------===//
// Branches that the thread index decides
//===----------------------------------------------------------------------------------------===//

/// Collects the ops that compute `value`, sources first; false if it depends on more than the thread
/// index and constants.
static bool collectSources(mlir::Value value, llvm::SetVector<Operation *> &sources) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (isa<arith::ConstantOp>(op) || sources.contains(op))
    return true;
  if (!isMemoryEffectFree(op) || isa<tile::LoadOp>(op))
    return false;
  llvm::SetVector<mlir::Value> used(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), used);
  for (mlir::Value operand : used)
    if (!collectSources(operand, sources))
      return false;
  sources.insert(op);
  return true;
}

BranchThreads::BranchThreads(Machine &machine, tile::KernelOp kernel)
    : kernel(kernel.getOperation()), numThreads(kernel.getNumThreads()) {
  llvm::DenseMap<Operation *, const Step *> steps;
  forEachStep(machine.program.bodies.front(), [&](const Step &step) { steps[step.op] = &step; });
  bool wasStopped = machine.stopped;
  ++machine.shadowDepth; // nothing is reported: the program has not come there
  kernel.walk([&](scf::IfOp branch) {
    llvm::SetVector<Operation *> sources;
    if (!collectSources(branch.getCondition(), sources))
      return;
    llvm::BitVector threads(numThreads);
    for (machine.thread = 0; machine.thread < numThreads; ++machine.thread) {
      for (Operation *op : sources)
        steps.at(op)->run(machine, *steps.at(op));
      threads[machine.thread] =
          machine.values[machine.program.slots.at(branch.getCondition())].integer != 0;
    }
    taken.try_emplace(branch, std::move(threads));
  });
  --machine.shadowDepth;
  machine.stopped = wasStopped;
}

llvm::BitVector BranchThreads::getThreadsAt(Operation *op) const {
  llvm::BitVector threads(numThreads, true);
  Region *inside = op->getParentRegion();
  for (Operation *parent = op->getParentOp(); parent && parent != kernel;
       inside = parent->getParentRegion(), parent = parent->getParentOp()) {
    auto found = taken.find(parent);
    if (found == taken.end())
      continue;
    llvm::BitVector side = found->second;
    if (inside == &cast<scf::IfOp>(parent).getElseRegion())
      side.flip();
    threads &= side;
  }
  return threads;
}

//===----------------------------------------------------------------------------------------===//
// Values that differ
//===----------------------------------------------------------------------------------------===//

ThreadValues::ThreadValues(tile::KernelOp kernel, const BranchThreads &branches)
    : kernel(kernel.getOperation()), branches(branches) {
  bool changed = true;
  while (changed) {
    changed = false;
    kernel.getBody().walk([&](Operation *op) { changed |= visit(op); });
  }
}

bool ThreadValues::mark(ValueRange values) {
  bool changed = false;
  for (mlir::Value value : values)
    changed |= differing.insert(value).second;
  return changed;
}

/// The memory that an element or tile statement of one thread sets; null for other ops.
static mlir::Value getWritten(Operation *op) {
  if (auto store = dyn_cast<tile::StoreOp>(op))
    return store.getBuffer();
  if (auto fill = dyn_cast<tile::FillOp>(op))
    return fill.getDest();
  if (auto copy = dyn_cast<tile::CopyOp>(op))
    return copy.getDest();
  return {};
}

bool ThreadValues::isUnderData(Operation *op) const {
  for (Operation *parent = op->getParentOp(); parent && parent != kernel;
       parent = parent->getParentOp()) {
    if (auto branch = dyn_cast<scf::IfOp>(parent))
      if (differs(branch.getCondition()) && !branches.isDecided(branch))
        return true;
    if (auto loop = dyn_cast<scf::WhileOp>(parent))
      if (differs(loop.getConditionOp().getCondition()))
        return true;
    if (isa<scf::ForOp, tile::PipelinedOp>(parent) &&
        llvm::any_of(parent->getOperands(), [&](mlir::Value v) { return differs(v); }))
      return true;
  }
  return false;
}

/// Whether a store leaves out threads that use the memory elsewhere.
bool ThreadValues::isPartial(Operation *store, mlir::Value root) const {
  if (isUnderData(store))
    return true;
  llvm::BitVector threads = branches.getThreadsAt(store);
  if (threads.all())
    return false;
  return llvm::any_of(root.getUsers(), [&](Operation *user) {
    return branches.getThreadsAt(user).test(threads); // others come there
  });
}

/// A fragment that is only used element by element, and is given a value that differs at an index
/// that does not, is an array of threads by another name.
bool ThreadValues::isArrayByUse(tile::StoreOp store) const {
  mlir::Value buffer = store.getBuffer();
  return tile::getSpace(buffer) == tile::Space::Fragment && buffer.getDefiningOp<tile::AllocOp>() &&
         differs(store.getValue()) &&
         llvm::none_of(store.getIndices(), [&](mlir::Value index) { return differs(index); }) &&
         llvm::all_of(buffer.getUsers(), llvm::IsaPred<tile::LoadOp, tile::StoreOp>);
}

bool ThreadValues::visit(Operation *op) {
  bool changed = visitControl(op);
  bool hasDiffering = llvm::any_of(op->getOperands(), [&](mlir::Value v) { return differs(v); });
  if (mlir::Value written = getWritten(op)) {
    mlir::Value root = tile::getRoot(written);
    auto copy = dyn_cast<tile::CopyOp>(op);
    bool takesOwn = copy && isOwn(tile::getRoot(copy.getSource()));
    bool isLocal = tile::getSpace(root) == tile::Space::Local;
    auto store = dyn_cast<tile::StoreOp>(op);
    if ((isLocal && (hasDiffering || takesOwn || isPartial(op, root))) ||
        (store && isArrayByUse(store)))
      changed |= own.insert(root).second;
  }
  if (auto load = dyn_cast<tile::LoadOp>(op))
    hasDiffering |= isOwn(tile::getRoot(load.getBuffer()));
  if (isa<tile::ThreadIdOp, tile::AtomicElementOp>(op) || hasDiffering)
    if (!isa<scf::WhileOp, scf::ForOp>(op))
      changed |= mark(op->getResults());
  return changed;
}

/// Values that leave a branch, or go round a loop.
bool ThreadValues::visitControl(Operation *op) {
  bool changed = false;
  auto pass = [&](ValueRange from, ValueRange to) {
    for (auto [source, target] : llvm::zip(from, to))
      if (differs(source))
        changed |= mark(target);
  };
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    bool differ =
        llvm::any_of(ValueRange{loop.getLowerBound(), loop.getUpperBound(), loop.getStep()},
                     [&](mlir::Value v) { return differs(v); });
    pass(loop.getInitArgs(), loop.getRegionIterArgs());
    pass(loop.getBody()->getTerminator()->getOperands(), loop.getRegionIterArgs());
    pass(loop.getRegionIterArgs(), loop.getResults());
    if (differ) {
      changed |= mark(loop.getInductionVar());
      changed |= mark(loop.getResults());
    }
  } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    auto condition = loop.getConditionOp();
    pass(loop.getInits(), loop.getBeforeArguments());
    pass(loop.getYieldOp().getOperands(), loop.getBeforeArguments());
    pass(condition.getArgs(), loop.getAfterArguments());
    pass(condition.getArgs(), loop.getResults());
    if (differs(condition.getCondition()))
      changed |= mark(loop.getResults());
  } else if (auto loop = dyn_cast<tile::PipelinedOp>(op)) {
    if (differs(loop.getLower()) || differs(loop.getUpper()))
      changed |= mark(loop.getInductionVar());
  } else if (auto yield = dyn_cast<scf::YieldOp>(op)) {
    if (isa<scf::IfOp>(op->getParentOp()))
      pass(yield.getOperands(), op->getParentOp()->getResults());
  }
  return changed;
}
