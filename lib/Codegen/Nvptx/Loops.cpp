//===- Loops.cpp - the iterations of T.Parallel that one thread runs -------------------------===//
//
// A loop's distribution says which (thread, slot) runs which iteration. Its inverse gives, for this
// thread and each slot, the loop's variables. Loops that touch registers are written out slot by
// slot, since a register's number must be a constant; the others stay loops where they are long.
//
//===----------------------------------------------------------------------------------------===//

#include "Lowerings.h"
#include "tilewright/Access/MatrixStores.h"
#include "tilewright/Analysis/IndexValues.h"
#include "tilewright/Layout/Algebra.h"
#include "tilewright/Tile/InternalError.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tilewright::tile;
using namespace tilewright::analysis;

namespace tilewright::nvptx {

/// Longer loops without registers stay loops, and so do those with more operations in all: LLVM's code
/// generator takes time that grows with the square of a basic block.
static constexpr int64_t kMaxUnrolledGroups = 16, kMaxUnrolledOperations = 4096;
/// The slots whose values are in flight at once, if no plan needs more.
static constexpr int64_t kMaxPart = 32;

/// The threads that are active in a slot, as the cheapest condition that says so.
enum class Activity { All, None, Prefix, Other };
static Activity classify(const OwnerTable &table, int64_t slot, int64_t &prefix) {
  int64_t active = 0;
  prefix = 0;
  for (int64_t thread = 0; thread < table.threads; ++thread) {
    if (table.at(thread, slot) < 0)
      continue;
    ++active;
    if (thread == prefix)
      ++prefix;
  }
  if (active == table.threads)
    return Activity::All;
  if (active == 0)
    return Activity::None;
  return active == prefix ? Activity::Prefix : Activity::Other;
}

//===----------------------------------------------------------------------------------------===//
// Values of one iteration
//===----------------------------------------------------------------------------------------===//

/// The condition under which this thread runs an iteration in a slot; null if every thread does.
static Value activeCondition(Thread &t, const SlotChunk &chunk, int64_t slot, Value slotValue) {
  ImplicitLocOpBuilder &b = t.b;
  const OwnerTable &table = chunk.distribution->table;
  auto compare = [&](arith::CmpIPredicate predicate, Value lhs, Value rhs) -> Value {
    return b.createOrFold<arith::CmpIOp>(predicate, lhs, rhs);
  };
  if (slot >= 0) {
    int64_t prefix = 0;
    switch (classify(table, slot, prefix)) {
    case Activity::All:
      return Value();
    case Activity::Prefix:
      return compare(arith::CmpIPredicate::ult, t.threadId, t.index(prefix));
    case Activity::None:
    case Activity::Other:
      break;
    }
  } else if (!llvm::is_contained(table.element, -1)) {
    return Value();
  }
  // The owner that the inverse names must lead back here.
  const Fragment fragment =
      ParallelOp(chunk.loop)->getAttrOfType<FragmentAttr>(kDistributionAttr).getFragment();
  SmallVector<Value> owner{t.threadId, slotValue}, dims;
  for (const IndexExpr &output : chunk.inverse->getOutputs())
    dims.push_back(t.evaluate(output, owner));
  Value guard;
  for (auto [coordinate, extent] : llvm::zip(dims, fragment.getShape()))
    guard = t.both(guard, compare(arith::CmpIPredicate::ult, coordinate, t.index(extent)));
  guard = t.both(
      guard, compare(arith::CmpIPredicate::eq, t.evaluate(fragment.getThread(), dims), t.threadId));
  return t.both(guard,
                compare(arith::CmpIPredicate::eq, t.evaluate(fragment.getSlot(), dims), slotValue));
}

//===----------------------------------------------------------------------------------------===//
// Slots
//===----------------------------------------------------------------------------------------===//

/// Builds the body for these slots, op by op: iterations are independent, so all slots may do the
/// first op before any does the second, and the groups of a plan meet at their op.
static LogicalResult lowerSlots(Thread &t, SlotChunk chunk, ArrayRef<int64_t> slots,
                                Value firstSlot) {
  ImplicitLocOpBuilder &b = t.b;
  chunk.hasConstantSlots = !firstSlot;
  const Fragment fragment =
      chunk.loop->getAttrOfType<FragmentAttr>(kDistributionAttr).getFragment();
  std::vector<Iteration> iterations(slots.size());
  for (auto [at, slot] : llvm::zip(iterations, slots)) {
    at.chunk = &chunk;
    at.slot = slot;
    at.slotValue =
        firstSlot ? b.createOrFold<arith::AddIOp>(firstSlot, t.index(slot)) : t.index(slot);
    if (fragment.getReplicas() > 1) {
      SmallVector<Value> owner{t.threadId, at.slotValue};
      at.isOwner = b.createOrFold<arith::CmpIOp>(
          arith::CmpIPredicate::eq, t.evaluate(chunk.inverse->getOutputs().back(), owner),
          t.index(0));
    }
  }
  SmallVector<Iteration *> members;
  for (Iteration &at : iterations)
    members.push_back(&at);
  chunk.start = arith::ConstantIndexOp::create(b, 0); // a mark: `index` would make none here
  // Variables that the body writes are each iteration's own.
  llvm::SmallSetVector<Value, 4> written;
  chunk.loop.walk([&](StoreOp store) {
    Value root = getRoot(store.getBuffer());
    if (getSpace(root) == Space::Local && !chunk.loop->isAncestor(root.getDefiningOp()))
      written.insert(root);
  });
  for (Iteration &at : iterations)
    for (Value root : written) {
      const Storage &outer = t.storageOf(root);
      auto own = std::make_unique<Storage>();
      own->kind = Storage::Kind::Variable;
      own->elementType = outer.elementType;
      own->base = t.allocateStack(getRegisterType(outer.elementType), 1);
      t.storeRegister(*own, 0, t.loadRegister(outer, 0));
      at.variables[root] = std::move(own);
    }
  if (isa<AsyncGroupOp>(chunk.loop->getParentOp())) {
    Block &body = chunk.loop.getBody().front();
    copyAsync(t, *body.getOps<LoadOp>().begin(), *body.getOps<StoreOp>().begin(), members);
    return success();
  }
  return lowerBlock(t, chunk.loop.getBody().front(), members);
}

/// Joins the slots that plans below `root` do at once.
static void joinGroups(Operation *root, llvm::EquivalenceClasses<int64_t> &together) {
  root->walk([&](Operation *op) {
    auto plan = op->getAttrOfType<AccessAttr>(kAccessAttr);
    if (!plan)
      return;
    for (int64_t group = 0; group < plan.getNumGroups(); ++group)
      for (int64_t slot : plan.getGroup(group))
        together.unionSets(plan.getGroup(group)[0], slot);
    for (auto [slot, source] : llvm::enumerate(plan.getSources()))
      if (source >= 0)
        together.unionSets(plan.getSlots()[source], int64_t(slot));
    if (auto rows = op->getAttrOfType<AccessAttr>(kMatrixRowsAttr))
      for (int64_t slot : rows.getSlots())
        together.unionSets(slot / access::kMatrixSlots * access::kMatrixSlots, slot);
  });
}

/// One branch for the slots that accesses inside do at once, which all take the same way: that is
/// what their plans say. Every other iteration has its own.
static LogicalResult lowerBranches(Thread &t, scf::IfOp op, ArrayRef<Iteration *> members) {
  llvm::EquivalenceClasses<int64_t> together;
  for (Iteration *member : members)
    together.insert(member->slot);
  joinGroups(op, together);
  llvm::MapVector<int64_t, SmallVector<Iteration *>> sets; // by leader
  for (Iteration *member : members)
    sets[together.getLeaderValue(member->slot)].push_back(member);
  for (auto &[leader, set] : sets)
    if (failed(lowerIf(t, op, set)))
      return failure();
  return success();
}

LogicalResult lowerBlock(Thread &t, Block &block, ArrayRef<Iteration *> members) {
  ImplicitLocOpBuilder &b = t.b;
  if (!members[0] || !members[0]->chunk)
    return lowerBlock(t, block);
  Iteration *current = t.iteration;
  for (Operation &op : block.without_terminator()) {
    if (members[0]->chunk->lazyOps->contains(&op))
      continue;
    b.setLoc(op.getLoc());
    LogicalResult result = success();
    if (isPlanned(&op)) {
      result = lowerPlanned(t, &op, members);
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      result = lowerBranches(t, branch, members);
    } else if (isPackable(&op)) {
      result = lowerPacked(t, &op, members);
    } else {
      for (Iteration *member : members) {
        t.iteration = member;
        if (failed(result = lowerOp(t, &op)))
          break;
      }
    }
    t.iteration = current;
    if (failed(result))
      return failure();
  }
  return success();
}

/// Index arithmetic of the loop's variables, computed only where it is needed: that of the body,
/// and of its branches, which costs nothing to do early.
static void findLazyOps(ParallelOp loop, Block &block, llvm::DenseSet<Operation *> &lazy) {
  for (Operation &op : block.without_terminator()) {
    if (auto branch = dyn_cast<scf::IfOp>(op))
      for (Region &region : branch->getRegions())
        if (!region.empty())
          findLazyOps(loop, region.front(), lazy);
    bool isConstant = op.hasTrait<OpTrait::ConstantLike>();
    if (!isConstant && !getIndexKind(&op))
      continue;
    if (!isConstant && !isa<IndexType>(op.getResult(0).getType()))
      continue;
    bool isEarly = llvm::all_of(op.getOperands(), [&](Value operand) {
      Operation *definition = operand.getDefiningOp();
      return !definition || !loop->isAncestor(definition) || lazy.contains(definition);
    });
    if (isEarly)
      lazy.insert(&op);
  }
}

static FailureOr<RegisterTable> resolveRegisters(Thread &t, ParallelOp op,
                                                 const LoopDistribution &distribution) {
  RegisterTable registers;
  bool resolved = true;
  op.walk([&](Operation *access) {
    bool isWrite = isa<StoreOp>(access);
    if (!isWrite && !isa<LoadOp>(access))
      return;
    Value buffer = access->getOperand(isWrite ? 1 : 0);
    const Storage *storage = t.findStorage(getRoot(buffer));
    if (!storage || storage->kind != Storage::Kind::Registers)
      return;
    ValueRange indices = isWrite ? ValueRange(cast<StoreOp>(access).getIndices())
                                 : ValueRange(cast<LoadOp>(access).getIndices());
    auto expressions = getAccessIndices(op, buffer, indices);
    auto slots = expressions ? resolveSlots(distribution, *expressions, storage->staticExtents,
                                            storage->owners, isWrite)
                             : std::nullopt;
    if (slots)
      registers[access] = *slots;
    else
      resolved = false;
  });
  if (!resolved)
    return emitInternalError(op) << "a register tile of this loop was not laid out for it";
  return registers;
}

/// The slots of a loop in parts that may be built one after the other: slots with the same active
/// threads, and whole groups of every plan. Each part is given with its smallest slot first.
static SmallVector<SmallVector<int64_t>> splitSlots(ParallelOp loop, const OwnerTable &table) {
  llvm::EquivalenceClasses<int64_t> together;
  SmallVector<int64_t> active;
  for (int64_t slot = 0; slot < table.slots; ++slot) {
    int64_t prefix;
    if (classify(table, slot, prefix) == Activity::None)
      continue;
    active.push_back(slot);
    together.insert(slot);
  }
  joinGroups(loop, together);
  auto isSameActivity = [&](int64_t a, int64_t b) {
    for (int64_t thread = 0; thread < table.threads; ++thread)
      if ((table.at(thread, a) < 0) != (table.at(thread, b) < 0))
        return false;
    return true;
  };
  // Whole sets, in the order of their first slots, while the part stays small and its threads the
  // same. Parts keep the values of a few slots in flight, not those of all.
  SmallVector<SmallVector<int64_t>> parts;
  llvm::DenseSet<int64_t> done;
  for (int64_t slot : active) {
    if (done.contains(slot))
      continue;
    SmallVector<int64_t> members;
    for (auto it = together.findLeader(slot); it != together.member_end(); ++it)
      members.push_back(*it);
    llvm::sort(members);
    done.insert(members.begin(), members.end());
    if (!parts.empty() && int64_t(parts.back().size() + members.size()) <= kMaxPart &&
        isSameActivity(parts.back()[0], slot))
      parts.back().append(members);
    else
      parts.push_back(members);
  }
  return parts;
}

/// How many slots a loop over slots may do at once: every plan's groups must be neighbouring slots,
/// with the same threads active. Nothing if they are not.
static std::optional<int64_t> getLoopStep(ParallelOp loop, const OwnerTable &table) {
  int64_t step = 1;
  bool fits = true;
  loop.walk([&](Operation *op) {
    auto plan = op->getAttrOfType<AccessAttr>(kAccessAttr);
    if (!plan)
      return;
    step = std::max(step, plan.getWidth());
    fits &= plan.getSources().empty() && int64_t(plan.getSlots().size()) == table.slots;
    for (auto [position, slot] : llvm::enumerate(plan.getSlots()))
      fits &= int64_t(position) == slot;
  });
  fits &= table.slots % step == 0;
  for (int64_t thread = 0; fits && thread < table.threads; ++thread)
    for (int64_t slot = 0; slot < table.slots; ++slot)
      fits &= (table.at(thread, slot) < 0) == (table.at(thread, slot / step * step) < 0);
  return fits ? std::optional(step) : std::nullopt;
}

static int64_t countOperations(ParallelOp loop) {
  int64_t count = 0;
  loop.getBody().walk([&](Operation *) { ++count; });
  return count;
}

/// Extents known when the kernel runs: thread t takes iterations t, t + threads, …
static LogicalResult lowerRunTimeParallel(Thread &t, ParallelOp op) {
  ImplicitLocOpBuilder &b = t.b;
  SmallVector<Value> extents;
  Value total = t.index(1);
  for (OpFoldResult extent : op.getMixedExtents()) {
    std::optional<int64_t> constant = getConstantIntValue(extent);
    extents.push_back(constant ? t.index(*constant) : t.mapped(cast<Value>(extent)));
    total = b.createOrFold<arith::MulIOp>(total, extents.back());
  }
  auto loop = scf::ForOp::create(b, t.threadId, total, t.index(t.getNumThreads()));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value number = loop.getInductionVar();
  SmallVector<Value> coordinates(extents.size());
  for (int64_t dim = extents.size() - 1; dim >= 0; --dim) {
    coordinates[dim] =
        dim == 0 ? number : arith::RemUIOp::create(b, number, extents[dim]).getResult();
    if (dim)
      number = arith::DivUIOp::create(b, number, extents[dim]);
  }
  Iteration current;
  for (auto [iterator, coordinate] : llvm::zip(op.getIterators(), coordinates))
    current.values[iterator] = coordinate;
  t.iteration = &current;
  LogicalResult result = lowerBlock(t, op.getBody().front());
  t.iteration = nullptr;
  return result;
}

LogicalResult lowerParallel(Thread &t, ParallelOp op) {
  ImplicitLocOpBuilder &b = t.b;
  std::optional<LoopDistribution> distribution = getDistribution(op, t.getNumThreads());
  if (!distribution)
    return lowerRunTimeParallel(t, op);
  if (distribution->getNumIterations() == 0)
    return success();
  if (op->hasAttr(kExchangeAttr))
    return lowerExchange(t, op);
  const Fragment fragment = op->getAttrOfType<FragmentAttr>(kDistributionAttr).getFragment();
  llvm::Expected<Layout> inverse = invert(fragment);
  if (!inverse)
    return emitInternalError(op) << "the distribution " << fragment.str()
                                 << " has no inverse: " << llvm::toString(inverse.takeError());
  FailureOr<RegisterTable> registers = resolveRegisters(t, op, *distribution);
  if (failed(registers))
    return failure();
  llvm::DenseSet<Operation *> lazyOps;
  findLazyOps(op, op.getBody().front(), lazyOps);
  SlotChunk chunk;
  chunk.loop = op;
  chunk.distribution = &*distribution;
  chunk.inverse = &*inverse;
  chunk.registers = &*registers;
  chunk.lazyOps = &lazyOps;
  const OwnerTable &table = distribution->table;
  std::optional<int64_t> step = getLoopStep(op, table);
  bool isLong = step && (table.slots / *step > kMaxUnrolledGroups ||
                         countOperations(op) * table.slots > kMaxUnrolledOperations);
  if (registers->empty() && isLong && table.slots > *step) {
    auto loop = scf::ForOp::create(b, t.index(0), t.index(table.slots), t.index(*step));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    SmallVector<int64_t> slots = llvm::to_vector(llvm::seq<int64_t>(0, *step));
    LogicalResult result = success();
    t.guarded(activeCondition(t, chunk, -1, loop.getInductionVar()),
              [&] { result = lowerSlots(t, chunk, slots, loop.getInductionVar()); });
    return result;
  }
  for (ArrayRef<int64_t> slots : splitSlots(op, table)) {
    LogicalResult result = success();
    t.guarded(activeCondition(t, chunk, slots[0], t.index(slots[0])),
              [&] { result = lowerSlots(t, chunk, slots, Value()); });
    if (failed(result))
      return failure();
  }
  return success();
}

} // namespace tilewright::nvptx
