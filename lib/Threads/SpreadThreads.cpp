//===- SpreadThreads.cpp - statements of single threads become loops over threads ------------===//
//
// A kernel that names its threads means what all others mean, one statement after another: a
// statement that differs between threads is a loop over the threads of the block, and the next one
// begins when all threads are through.
//
//   %t = tile.thread_id 0                    tile.parallel (%t) in (128) {
//   %v = tile.load %A[%t]            ──▶       %v = tile.load %A[%t]
//   tile.store %v, %local[%c0]                 tile.store %v, %local[%t, %c0]   // a fragment
//   tile.store %v, %s[%t]                      tile.store %v, %s[%t]
//                                            }
//   %w = tile.load %s[%u]                    tile.parallel (%t) in (128) {      // %u: of another
//   tile.store %w, %B[%t]                      ...                              // thread
//                                            }
//
// A tile statement is the whole block's. Under a condition on the thread index (`if tx < 32`, a
// warp group of its own) it runs once, if some thread meets the condition, in the order of the
// text.
//
// Expects: no barriers, no grid syncs.   Leaves: no thread index, no arrays in the local space.
//
// How: a block of the kernel is walked in order, and the statements of single threads are collected
// into a group. The group ends, as one loop over the threads, in front of a statement that it must
// not be mixed with. Statements are copied into the loop with the pure values they need; a value
// that an earlier loop has read from memory is handed over in a row of its own (`slotFor`). What
// was copied is erased at the end.
//
// A uniform loop or branch that cannot be in a group as a whole stays where it is and its body is
// walked; a branch on values of threads is opened: its sides are walked under a guard.
//
//===----------------------------------------------------------------------------------------===//

#include "AlignLoops.h"
#include "PlaceUniformArrays.h"
#include "SplitArrays.h"
#include "ThreadFacts.h"
#include "ThreadStatements.h"
#include "ThreadStorage.h"
#include "tilewright/Threads/Passes.h"
#include "tilewright/Tile/Teams.h"
#include "tilewright/Tile/ThreadLoops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tilewright {
#define GEN_PASS_DEF_SPREADTHREADS
#include "tilewright/Threads/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::threads {

namespace {

/// A condition that holds for the statements of one side of an opened branch.
struct Guard {
  Value condition;
  bool isThen;
};

class Spreader {
public:
  Spreader(KernelOp kernel, const ThreadFacts &facts)
      : kernel(kernel), facts(facts), storage(kernel, facts) {}

  LogicalResult run() {
    Block &body = kernel.getBody().front();
    if (failed(spread(body, body.getTerminator())))
      return failure();
    // Later ops use earlier ones; inside out, so that no region keeps a use alive.
    for (Operation *op : llvm::reverse(copied)) {
      op->dropAllUses();
      op->erase();
    }
    return checkPrivates();
  }

private:
  LogicalResult spread(Block &block, Operation *end);
  LogicalResult take(Operation *op, Operation *end);
  LogicalResult walkInside(Operation *op);
  LogicalResult openBranch(scf::IfOp branch, Operation *end);
  LogicalResult refuse(Operation *op);
  /// Nothing but elements of a thread's memory is used.
  LogicalResult checkPrivates();
  /// Whether all threads must have finished the group before one begins with `op`: one touches what the
  /// other writes, or tells other blocks, or learns from them, what concerns all threads.
  bool comesAfterGroup(Operation *op, ArrayRef<SharedAccess> accesses) {
    // What speaks for all threads begins a group, so that only the last of one can have done so.
    bool isOrdered = getBlockOrder(op) || (!group.empty() && getBlockOrder(group.back()));
    return isOrdered || groupAccesses.mayMeet(accesses);
  }
  /// Ends the group as a loop in front of `end`.
  void flush(Operation *end);

  /// The loop that is being built: its variable, and what values of the block are in it.
  struct Loop {
    Value thread;
    IRMapping values;
  };
  Value materialize(Value value, Loop &loop, ImplicitLocOpBuilder &b);
  void copyInto(Operation *op, Loop &loop, ImplicitLocOpBuilder &b);
  void replaceThreadIndices(Operation *copy, Loop &loop);
  /// Where the value of an earlier loop is kept for later ones.
  Value slotFor(Value value);

  KernelOp kernel;
  const ThreadFacts &facts;
  ThreadStorage storage;
  SmallVector<Operation *> group;
  SharedAccesses groupAccesses;
  SmallVector<Guard> guards;
  SmallVector<Operation *> copied;
  /// Values read by finished loops: where they are computed, and for which thread.
  struct Origin {
    Value copy, thread;
  };
  llvm::DenseMap<Value, Origin> origins;
  llvm::DenseMap<Value, Value> slots;
};

//===----------------------------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------------------------===//

/// Whether an update leaves the element as it is: `T.atomic_load`, `T.atomic_or(F[0], 0)`.
static bool changesNothing(AtomicElementOp atomic) {
  switch (atomic.getKind()) {
  case AtomicKind::Add:
    return matchPattern(atomic.getValue(), m_Zero()) ||
           matchPattern(atomic.getValue(), m_NegZeroFloat());
  case AtomicKind::Or:
  case AtomicKind::Xor:
    return matchPattern(atomic.getValue(), m_Zero());
  default:
    return false;
  }
}

/// Whether an update that one thread makes does what it does if all threads make it.
static bool isOnceEnough(AtomicElementOp atomic) {
  bool isSum = atomic.getKind() == AtomicKind::Add || atomic.getKind() == AtomicKind::Xor;
  return changesNothing(atomic) || (!isSum && atomic.getPrevious().use_empty());
}

/// An update that every thread would make, though nothing in it is a thread's.
static LogicalResult refuseAtomics(Operation *op) {
  WalkResult result = op->walk<WalkOrder::PreOrder>([](Operation *inner) {
    if (isa<ParallelOp>(inner))
      return WalkResult::skip();
    auto atomic = dyn_cast<AtomicElementOp>(inner);
    if (!atomic || isOnceEnough(atomic))
      return WalkResult::advance();
    inner->emitError("in a kernel that names its threads, an atomic outside a condition on the "
                     "thread index does not say how often it runs; write 'if tx == 0:' around it");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

/// The policies of products of a role divide its own warps; now all of the block's take part.
static void forgetPolicies(Operation *op) {
  op->walk([](GemmOp gemm) { gemm.setPolicy(GemmPolicy::Square); });
}

/// Walks the statements of `block`; what becomes of them stands in front of `end`.
LogicalResult Spreader::spread(Block &block, Operation *end) {
  for (Operation &op : llvm::make_early_inc_range(block.without_terminator())) {
    if (&op == end)
      break;
    if (failed(take(&op, end->getBlock() == &block ? op.getNextNode() : end)))
      return failure();
  }
  flush(end);
  return success();
}

LogicalResult Spreader::take(Operation *op, Operation *end) {
  bool isOpened = op->getBlock() != end->getBlock();
  if (!facts.isThreaded(op)) {
    if (failed(refuseAtomics(op)))
      return failure();
    bool isForAll = isPureScalar(op) || isa<AllocOp>(op) || facts.isBlockVariable(op);
    if (!guards.empty() && !isForAll && !facts.threadsAt(op))
      return refuse(op);
    if (!guards.empty())
      forgetPolicies(op);
    // A statement of the block comes after the group where one touches what the other writes.
    std::optional<SmallVector<SharedAccess>> accesses = collectAccesses(op, facts);
    if (!accesses || comesAfterGroup(op, *accesses))
      flush(isOpened ? end : op);
    if (isOpened)
      op->moveBefore(end);
    return success();
  }
  if (isPureScalar(op) && op->getNumRegions() == 0) {
    copied.push_back(op); // computed again wherever it is needed
    return success();
  }
  std::optional<SmallVector<SharedAccess>> accesses = collectAccesses(op, facts);
  if (runsAtOwnPace(op, facts)) {
    if (comesAfterGroup(op, *accesses))
      flush(isOpened ? end : op);
    group.push_back(op);
    groupAccesses.add(*accesses);
    copied.push_back(op);
    return success();
  }
  flush(isOpened ? end : op);
  if (auto branch = dyn_cast<scf::IfOp>(op);
      branch && facts.varies(branch.getCondition()) && op->getNumResults() == 0) {
    copied.push_back(op);
    return openBranch(branch, isOpened ? end : op);
  }
  if (isOpened)
    op->moveBefore(end);
  return walkInside(op);
}

LogicalResult Spreader::walkInside(Operation *op) {
  if (auto loop = dyn_cast<PipelinedOp>(op)) { // its statements are no longer those of a schedule
    loop.removeOrderAttr();
    loop.removeStageAttr();
    return spread(loop.getBody().front(), loop.getBody().front().getTerminator());
  }
  if (auto role = dyn_cast<RoleOp>(op)) {
    Block &body = role.getBody().front();
    storage.enter(role);
    LogicalResult result = spread(body, body.getTerminator());
    storage.enter(kernel);
    return result;
  }
  if (auto loop = dyn_cast<scf::ForOp>(op); loop && isUniformLoop(op, facts))
    return spread(*loop.getBody(), loop.getBody()->getTerminator());
  auto branch = dyn_cast<scf::IfOp>(op);
  if (branch && !facts.varies(branch.getCondition()) && op->getNumResults() == 0) {
    for (Region &side : branch->getRegions())
      if (!side.empty() && failed(spread(side.front(), side.front().getTerminator())))
        return failure();
    return success();
  }
  if (auto repeat = dyn_cast<scf::WhileOp>(op); repeat && isUniformLoop(op, facts))
    return spread(*repeat.getAfterBody(), repeat.getAfterBody()->getTerminator());
  return refuse(op);
}

LogicalResult Spreader::openBranch(scf::IfOp branch, Operation *end) {
  for (Region &side : branch->getRegions()) {
    if (side.empty())
      continue;
    const std::optional<llvm::BitVector> &threads = facts.threadsAt(side.front().getTerminator());
    if (threads && threads->none())
      continue; // no thread comes here
    guards.push_back({branch.getCondition(), &side == &branch.getThenRegion()});
    if (failed(spread(side.front(), end)))
      return failure();
    guards.pop_back();
  }
  return success();
}

LogicalResult Spreader::refuse(Operation *op) {
  if (!facts.threadsAt(op) && !facts.isThreaded(op))
    return op->emitError("a tile statement is the whole block's, but whether it runs depends on "
                         "values of single threads; only conditions on the thread index and "
                         "constants may decide that");
  if (isa<ParallelOp>(op))
    return op->emitError("'T.Parallel' deals its iterations to the threads itself, so its body "
                         "cannot use the index or the memory of one thread; write a serial loop");
  if (isa<scf::ForOp, scf::WhileOp>(op))
    return op->emitError("threads leave this loop at different times, but statements in it need "
                         "all of them (they touch what other threads write, or are tile "
                         "statements); give all threads the same bounds");
  if (isa<scf::IfOp>(op))
    return op->emitError("a value of this branch is a single thread's, but statements in it need "
                         "all threads");
  return op->emitError("this statement is the whole block's; it cannot depend on the index or use "
                       "the memory ('T.alloc_local') of one thread");
}

LogicalResult Spreader::checkPrivates() {
  for (Value root : facts.getPrivates()) {
    for (Operation *user : llvm::make_early_inc_range(root.getUsers()))
      if (isa<ViewLikeOpInterface>(user) && user->use_empty())
        user->erase();
    if (!root.use_empty())
      return root.user_begin()->emitError("a thread's own memory ('")
             << getName(root) << "') is used element by element, or by 'T.copy', 'T.fill' and "
             << "'T.clear'";
  }
  return success();
}

//===----------------------------------------------------------------------------------------===//
// Loops over the threads
//===----------------------------------------------------------------------------------------===//

void Spreader::flush(Operation *end) {
  if (group.empty())
    return;
  ImplicitLocOpBuilder b(group.front()->getLoc(), end);
  auto parallel =
      ParallelOp::create(b, OpFoldResult(b.getIndexAttr(getNumThreads(storage.getHolder()))));
  parallel.setLoopLayoutAttr(storage.makeLayout({}));
  parallel->setAttr(kThreadLoopAttr, b.getUnitAttr());
  b.setInsertionPointToStart(&parallel.getBody().front());
  Loop loop{parallel.getIterators()[0], {}};
  for (const Guard &guard : guards) {
    Value condition = materialize(guard.condition, loop, b);
    if (!guard.isThen)
      condition = arith::XOrIOp::create(b, condition, arith::ConstantIntOp::create(b, 1, 1));
    auto branch = scf::IfOp::create(b, condition, /*withElseRegion=*/false);
    b.setInsertionPointToStart(&branch.getThenRegion().front());
  }
  for (Operation *op : group)
    copyInto(op, loop, b);
  group.clear();
  groupAccesses.clear();
}

Value Spreader::materialize(Value value, Loop &loop, ImplicitLocOpBuilder &b) {
  if (Value known = loop.values.lookupOrNull(value))
    return known;
  if (!facts.varies(value))
    return value;
  Operation *op = value.getDefiningOp();
  Value result;
  if (std::optional<int64_t> dim = getThreadDim(op)) {
    result = storage.coordinate(b, loop.thread, *dim);
  } else if (op && isPureScalar(op) && op->getNumRegions() == 0) {
    copyInto(op, loop, b);
    return loop.values.lookup(value);
  } else {
    result = storage.loadSlot(b, value.getType(), slotFor(value), loop.thread);
  }
  loop.values.map(value, result);
  return result;
}

/// The values that an op and the ops in it use and do not compute. They need not be visible any
/// more: a loop moves out of the branch that computes its operands.
static llvm::SetVector<Value> getUsedValues(Operation *op) {
  llvm::SetVector<Value> used;
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (!op->isAncestor(operand.getParentBlock()->getParentOp()))
        used.insert(operand);
  });
  return used;
}

void Spreader::copyInto(Operation *op, Loop &loop, ImplicitLocOpBuilder &b) {
  for (Value value : getUsedValues(op))
    if (!isa<MemRefType>(value.getType()) || facts.varies(value))
      (void)materialize(value, loop, b); // from now on known
  b.setLoc(op->getLoc());
  Operation *copy = b.clone(*op, loop.values);
  replaceThreadIndices(copy, loop);
  bool isPure = isPureScalar(op);
  SmallVector<Value> results = storage.replacePrivateAccesses(copy, loop.thread);
  for (auto [original, result] : llvm::zip(op->getResults(), results)) {
    loop.values.map(original, result);
    if (!isPure || op->getNumRegions() != 0)
      origins[original] = {result, loop.thread};
  }
}

/// A branch or loop may use the thread index inside.
void Spreader::replaceThreadIndices(Operation *copy, Loop &loop) {
  SmallVector<std::pair<Operation *, int64_t>> indices;
  copy->walk([&](Operation *inner) {
    if (std::optional<int64_t> dim = getThreadDim(inner))
      indices.push_back({inner, *dim});
  });
  for (auto [index, dim] : indices) {
    ImplicitLocOpBuilder b(index->getLoc(), index);
    index->getResult(0).replaceAllUsesWith(storage.coordinate(b, loop.thread, dim));
    index->erase();
  }
}

Value Spreader::slotFor(Value value) {
  if (Value slot = slots.lookup(value))
    return slot;
  Origin origin = origins.at(value);
  Value slot = storage.allocSlot(value);
  ImplicitLocOpBuilder b(value.getLoc(), value.getContext());
  b.setInsertionPointAfterValue(origin.copy);
  storage.storeSlot(b, origin.copy, slot, origin.thread);
  return slots[value] = slot;
}

} // namespace

/// Moves what threads have of their own in front of all statements: the branch or loop that a
/// program allocates it in may be copied as a whole, and its rows outlive that.
static void hoistPrivates(KernelOp kernel, const ThreadFacts &facts) {
  for (Value root : facts.getPrivates()) {
    Operation *alloc = root.getDefiningOp();
    if (!alloc)
      continue;
    RoleOp role = getTeamRole(alloc);
    Block &body = role ? role.getBody().front() : kernel.getBody().front();
    if (alloc->getBlock() != &body)
      alloc->moveBefore(&body, body.begin());
  }
}

static LogicalResult spreadKernel(KernelOp kernel) {
  auto traced = std::make_unique<ThreadFacts>(kernel);
  if (splitArrays(kernel, *traced))
    traced = std::make_unique<ThreadFacts>(kernel);
  placeUniformArrays(kernel, *traced);
  if (failed(expandThreadStatements(kernel, *traced)))
    return failure();
  alignLoops(kernel);
  ThreadFacts facts(kernel); // the expanded statements are new
  hoistPrivates(kernel, facts);
  if (failed(Spreader(kernel, facts).run()))
    return failure();
  eraseDeadOps(kernel);
  return success();
}

namespace {
struct SpreadThreadsPass : tilewright::impl::SpreadThreadsBase<SpreadThreadsPass> {
  void runOnOperation() override {
    SmallVector<KernelOp> kernels;
    getOperation().walk([&](KernelOp kernel) {
      if (namesThreads(kernel))
        kernels.push_back(kernel);
    });
    for (KernelOp kernel : kernels)
      if (failed(spreadKernel(kernel)))
        return signalPassFailure();
  }
};
} // namespace

} // namespace tilewright::threads
