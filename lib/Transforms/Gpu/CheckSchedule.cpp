//===- CheckSchedule.cpp - roles that wait for each other go on ------------------------------===//
//
// A producer and the threads of the program meet only at the barriers of channels. This pass proves
// that neither waits for ever and that no barrier is left in the wrong phase:
//
//   pairs     each version of a channel is acquired, filled, waited for and released once in every
//             iteration of one loop of each role, and the two loops run the same iterations of the
//             same nest;
//   counts    a barrier is told to expect as many arrivals as come;
//   parities  a reader waits for the phase of its own round, the producer for that of the round before;
//   liveness  the statements of the roles are the transitions of a marked graph. Its edges hold
//             tokens: the order inside an iteration 0, the way to the next iteration 1, "filled" 0,
//             "read" as many as there are versions. Such a graph never stops if and only if no
//             cycle is without tokens, whatever the number of iterations: 0, 1 and few included.
//
//   producer   acquire K ─▶ fill K ─▶ acquire V ─▶ fill V ─(1)▶ acquire K
//                 ▲(n)        │(0)       ▲(n)        │(0)
//   program    release K ◀─ wait K …  release V ◀─ wait V ─(1)▶ wait K
//
// Whatever fails here is our fault: an internal error.
//
// Expects: roles (split-roles).   Changes nothing.
//===----------------------------------------------------------------------------------------===//

#include "tilewright/Tile/Tile.h"
#include "tilewright/Transforms/Passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/MapVector.h"

namespace tilewright {
#define GEN_PASS_DEF_CHECKSCHEDULE
#include "tilewright/Transforms/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

namespace {

/// The four statements on one channel.
struct ChannelUse {
  BarrierWaitOp acquire;
  AsyncGroupOp fill;
  BarrierWaitOp wait;
  BarrierArriveOp release;
  int64_t versions = 0;
};

/// Statements with tokens between them.
class MarkedGraph {
public:
  unsigned add(Operation *op) { return numbers.try_emplace(op, numbers.size()).first->second; }
  void connect(Operation *from, Operation *to, int64_t tokens) {
    edges.push_back({add(from), add(to), tokens});
  }
  /// A statement of a cycle that holds no token, or null.
  Operation *findDeadCycle();

private:
  struct Edge {
    unsigned from, to;
    int64_t tokens;
  };
  bool visit(unsigned node, SmallVectorImpl<char> &state);

  llvm::MapVector<Operation *, unsigned> numbers;
  SmallVector<Edge> edges;
};

bool MarkedGraph::visit(unsigned node, SmallVectorImpl<char> &state) {
  if (state[node])
    return state[node] == 1; // on the way here: a cycle
  state[node] = 1;
  for (const Edge &edge : edges)
    if (edge.from == node && edge.tokens == 0 && visit(edge.to, state))
      return true;
  state[node] = 2;
  return false;
}

Operation *MarkedGraph::findDeadCycle() {
  SmallVector<char> state(numbers.size(), 0);
  for (auto &[op, number] : numbers)
    if (state[number] == 0 && visit(number, state))
      return op;
  return nullptr;
}

/// Whether two values, one of the program and one of the role, are the same number: one value from
/// outside, or the same computation.
bool isSameValue(Value a, Value b, llvm::DenseMap<Value, Value> &partners, unsigned depth = 0) {
  if (a == b || partners.lookup(a) == b)
    return true;
  Operation *first = a.getDefiningOp(), *second = b.getDefiningOp();
  if (!first || !second || depth > 64 || first->getName() != second->getName() ||
      first->getAttrDictionary() != second->getAttrDictionary() ||
      first->getNumOperands() != second->getNumOperands() || first->getNumRegions())
    return false;
  // Each role counts its own turns, in the same loops.
  if (auto load = dyn_cast<LoadOp>(first); load && getSpace(load.getBuffer()) == Space::Local)
    return getName(load.getBuffer()) == getName(cast<LoadOp>(second).getBuffer());
  bool isSame =
      llvm::all_of(llvm::zip(first->getOperands(), second->getOperands()), [&](auto pair) {
        return isSameValue(std::get<0>(pair), std::get<1>(pair), partners, depth + 1);
      });
  if (isSame)
    partners[a] = b;
  return isSame;
}

class ScheduleCheck {
public:
  explicit ScheduleCheck(KernelOp kernel) : kernel(kernel) {}
  LogicalResult run();

private:
  LogicalResult findUses(BarrierAllocOp full);
  LogicalResult checkUse(const ChannelUse &use);
  LogicalResult checkParity(BarrierWaitOp wait, int64_t rounds, int64_t versions);
  LogicalResult checkNests(Operation *program, Operation *role);
  LogicalResult checkReaders(const ChannelUse &use);
  LogicalResult fail(Operation *op, const Twine &text) {
    return op->emitError() << "internal error: the schedule is wrong: " << text;
  }

  KernelOp kernel;
  SmallVector<ChannelUse> uses;
  llvm::DenseMap<Value, Value> partners; ///< Values of the program and of the role that are equal.
};

/// Collects the statements on a row of barriers that bulk copies of a role arrive at.
LogicalResult ScheduleCheck::findUses(BarrierAllocOp full) {
  ChannelUse use;
  use.versions = full.getArrivals().size();
  bool isFilled = llvm::any_of(full.getBarriers().getUsers(), [](Operation *user) {
    return isa<AsyncGroupOp>(user) && user->getParentOfType<RoleOp>();
  });
  if (!isFilled)
    return success(); // the row of releases, or one whose copies the program's own threads issue
  for (Operation *user : full.getBarriers().getUsers()) {
    if (auto group = dyn_cast<AsyncGroupOp>(user)) {
      if (use.fill)
        return fail(user, "a version is filled twice in an iteration");
      use.fill = group;
    } else if (auto wait = dyn_cast<BarrierWaitOp>(user); wait && !use.wait) {
      use.wait = wait;
    } else {
      return fail(user, "a version is waited for twice in an iteration");
    }
  }
  if (!use.wait)
    return fail(use.fill, "nothing waits for these copies");
  use.acquire = dyn_cast_if_present<BarrierWaitOp>(use.fill->getPrevNode());
  if (!use.acquire || use.acquire.getIndex() != use.fill.getVersion())
    return fail(use.fill, "it does not wait until its version has been read");
  for (Operation *user : use.acquire.getBarriers().getUsers()) {
    if (user == use.acquire)
      continue;
    auto release = dyn_cast<BarrierArriveOp>(user);
    if (!release || use.release)
      return fail(user, "a version is released twice in an iteration");
    use.release = release;
  }
  if (!use.release)
    return fail(use.acquire, "nothing releases what it waits for");
  uses.push_back(use);
  return success();
}

/// The wait is for the phase of the iteration's own round, or of one `rounds` later.
LogicalResult ScheduleCheck::checkParity(BarrierWaitOp wait, int64_t rounds, int64_t versions) {
  auto phase = wait.getParity() ? wait.getParity().getDefiningOp<PhaseOp>() : PhaseOp();
  auto version = wait.getIndex().getDefiningOp<VersionOp>();
  bool isOne = versions == 1 && getConstantIntValue(wait.getIndex()) == 0;
  if (!phase || (!version && !isOne) || int64_t(phase.getCount()) != versions ||
      (version &&
       (int64_t(version.getCount()) != versions || version.getAhead() != 0 ||
        version.getIteration() != phase.getIteration() || version.getFirst() != phase.getFirst())))
    return fail(wait, "its parity is not that of its version");
  int64_t ahead = phase.getAhead();
  if (ahead % versions || (ahead / versions) % 2 != rounds % 2)
    return fail(wait, "it waits for the phase of another round");
  auto loop = dyn_cast<PipelinedOp>(wait->getParentOp());
  if (!loop || phase.getIteration() != loop.getInductionVar())
    return fail(wait, "its phase is not that of the loop around it");
  return success();
}

/// Both stand in loops and branches that run alike.
LogicalResult ScheduleCheck::checkNests(Operation *program, Operation *role) {
  Operation *a = program->getParentOp(), *b = role->getParentOp();
  SmallVector<std::pair<Operation *, Operation *>> pairs;
  for (; a != kernel && !isa<RoleOp>(b); a = a->getParentOp(), b = b->getParentOp())
    pairs.emplace_back(a, b);
  if (a != kernel || !isa<RoleOp>(b))
    return fail(role, "it stands in another nest of loops than its readers");
  for (auto [outer, copy] : llvm::reverse(pairs)) {
    if (outer->getName() != copy->getName() || outer->getNumOperands() != copy->getNumOperands())
      return fail(copy, "it is another loop or branch than that of the readers");
    for (auto [x, y] : llvm::zip(outer->getOperands(), copy->getOperands()))
      if (!isSameValue(x, y, partners))
        return fail(copy, "its bounds differ from those of the readers");
    for (auto [from, to] : llvm::zip(outer->getRegions(), copy->getRegions()))
      for (auto [x, y] : llvm::zip(from.getArguments(), to.getArguments()))
        partners[x] = y;
  }
  return success();
}

/// Every statement of the program that touches the tiles stands between wait and release.
LogicalResult ScheduleCheck::checkReaders(const ChannelUse &use) {
  AsyncGroupOp fill = use.fill;
  BarrierWaitOp wait = use.wait;
  BarrierArriveOp release = use.release;
  Block *block = wait->getBlock();
  LogicalResult result = success();
  fill.walk([&](StoreOp store) {
    Value tile = getRoot(store.getBuffer());
    kernel.walk([&](Operation *op) {
      auto effects = dyn_cast<TileEffectsOpInterface>(op);
      if (!effects || op->getParentOfType<RoleOp>())
        return;
      SmallVector<Effect> touched;
      effects.getTileEffects(touched);
      if (llvm::none_of(touched, [&](const Effect &effect) { return effect.root == tile; }))
        return;
      Operation *statement = block->findAncestorOpInBlock(*op);
      if (!statement || statement->isBeforeInBlock(wait) || release->isBeforeInBlock(statement))
        result = fail(op, "it touches '" + tile::getName(tile) +
                              "' outside of the wait for it and its release");
    });
  });
  return result;
}

LogicalResult ScheduleCheck::checkUse(const ChannelUse &use) {
  BarrierWaitOp acquire = use.acquire, wait = use.wait;
  BarrierArriveOp release = use.release;
  if (release->getBlock() != wait->getBlock() || release.getIndex() != wait.getIndex())
    return fail(release, "it releases another version than was waited for");
  auto full = wait.getBarriers().getDefiningOp<BarrierAllocOp>(),
       empty = acquire.getBarriers().getDefiningOp<BarrierAllocOp>();
  int64_t warps = llvm::divideCeil(kernel.getNumThreads(), 32);
  int64_t arrivals = release.getByWarp() ? warps : release.getOnce() ? 1 : kernel.getNumThreads();
  if (empty.getArrivals().size() != full.getArrivals().size() ||
      llvm::any_of(full.getArrivals(), [](int64_t n) { return n != 1; }) ||
      llvm::any_of(empty.getArrivals(), [&](int64_t n) { return n != arrivals; }))
    return fail(release, "barriers expect another number of arrivals than come");
  if (failed(checkNests(wait, acquire)) || failed(checkParity(wait, 0, use.versions)) ||
      failed(checkParity(acquire, 1, use.versions)) || failed(checkReaders(use)))
    return failure();
  // The copies are those of this very iteration: none is left out, none comes twice.
  AsyncGroupOp fill = use.fill;
  auto loop = dyn_cast<PipelinedOp>(fill->getParentOp());
  if (!loop || fill.getIteration() != loop.getInductionVar() || fill.getUpper() != loop.getUpper())
    return fail(fill, "it copies for another iteration than its own");
  return success();
}

LogicalResult ScheduleCheck::run() {
  LogicalResult result = success();
  kernel.walk([&](BarrierAllocOp row) {
    if (failed(findUses(row)))
      result = failure();
  });
  MarkedGraph graph;
  llvm::MapVector<Operation *, SmallVector<Operation *>> inOrder; // by loop
  for (ChannelUse &use : uses) {
    if (failed(checkUse(use)))
      return failure();
    graph.connect(use.fill, use.wait, 0);
    graph.connect(use.release, use.acquire, use.versions);
    for (Operation *op : {use.acquire.getOperation(), use.fill.getOperation(),
                          use.wait.getOperation(), use.release.getOperation()})
      inOrder[op->getParentOp()].push_back(op);
  }
  for (auto &[loop, ops] : inOrder) {
    llvm::sort(ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    for (size_t i = 1; i < ops.size(); ++i)
      graph.connect(ops[i - 1], ops[i], 0);
    graph.connect(ops.back(), ops.front(), 1);
  }
  if (Operation *dead = graph.findDeadCycle())
    return fail(dead, "roles wait for each other for ever");
  return result;
}

struct CheckSchedulePass : tilewright::impl::CheckScheduleBase<CheckSchedulePass> {
  void runOnOperation() override {
    getOperation()->walk([&](KernelOp kernel) {
      if (!kernel.getBody().getOps<RoleOp>().empty() && failed(ScheduleCheck(kernel).run()))
        signalPassFailure();
    });
  }
};

} // namespace
