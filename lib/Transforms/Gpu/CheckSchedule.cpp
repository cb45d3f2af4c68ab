//===- CheckSchedule.cpp - roles that wait for each other go on ------------------------------===//
//
// A producer and the threads of the program meet only at the barriers of channels. This pass proves
// that neither waits for ever and that no barrier is left in the wrong phase:
//
//   pairs     each version of a channel is acquired and filled once in every iteration of a loop of
//             the producer. The program waits for and releases the same iterations of the same nest,
//             each once and in order: by a loop, by a loop with some of its first or last iterations
//             beside it (schedule-products), by several loops after each other (peel-masks), or by such a
//             loop in each of several *segments* of the iterations. A statement of the loop may be that of
//             an iteration before, its *shift*;
//   counts    a barrier is told to expect as many arrivals as come;
//   parities  a reader waits for the phase of its own round, the producer for that of the round before;
//   clusters  where a block copies for others, all of them copy the same in the same iterations, and all of
//             them release it: their graphs are copies of one, and a cycle through several is a closed
//             walk of that one;
//   readers   what touches a version stands between the wait for it and its release, and a product that
//             reads it has ended before the release;
//   liveness  the statements of the roles are the transitions of a marked graph. Its edges hold
//             tokens: the order inside an iteration 0, the way to the next iteration 1, "filled" 0,
//             "read" as many as there are versions; a shift adds tokens where it waits, and takes them
//             where it releases. Such a graph never stops if and only if no cycle is without
//             tokens, whatever the number of iterations: 0, 1 and few included. (The iteration that is
//             peeled is one in which what is shifted does nothing. The first iteration of a segment has the
//             order of the loop, so that segments are one loop over all their iterations.)
//   turns     warpgroups take and pass turns alternately on every way through the kernel, and do not meet
//             in between. In a loop with turns, each warpgroup has its own copy of the program's
//             statements in the graph, and the turn is one more token, which goes round among them.
//
//   producer   acquire K ─▶ fill K ─▶ acquire V ─▶ fill V ─(1)▶ acquire K
//                 ▲(n)        │(0)       ▲(n)        │(0)
//   program    release K ◀─ wait K …  release V ◀─ wait V ─(1)▶ wait K
//
// Whatever fails here is our fault: an internal error.
//
// Expects: roles (split-roles), orderings.   Changes nothing.
//===----------------------------------------------------------------------------------------===//

#include "CheckReaders.h"
#include "CheckSharedCopies.h"
#include "CheckTurns.h"
#include "MarkedGraph.h"
#include "SameNumbers.h"
#include "tilewright/Tile/Schedule.h"
#include "tilewright/Tile/Teams.h"
#include "tilewright/Tile/Tile.h"
#include "tilewright/Tile/Turns.h"
#include "tilewright/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
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
using namespace tilewright::schedule;

namespace {

class ScheduleCheck {
public:
  explicit ScheduleCheck(KernelOp kernel) : kernel(kernel) {}
  LogicalResult run();

private:
  LogicalResult findUses(BarrierAllocOp full);
  LogicalResult checkUse(ChannelUse &use);
  LogicalResult checkAcquire(const ChannelUse &use);
  FailureOr<SmallVector<Piece, 0>> findPieces(ArrayRef<Operation *> ops, const ChannelUse &use);
  FailureOr<Piece> findPiece(Operation *op, Value index, int64_t versions);
  LogicalResult checkCover(ArrayRef<Piece> pieces, const ChannelUse &use);
  LogicalResult checkNests(Operation *frame, Operation *role);
  using Order = SmallVector<std::pair<Operation *, int64_t>>;
  Order getOrder(Operation *loop);
  Order getFirstOrder(scf::ForOp segments);
  LogicalResult checkOrder(Operation *loop, Operation *before);
  LogicalResult checkLiveness(Operation *programLoop);
  void addTurns(MarkedGraph &graph, Operation *programLoop, int64_t groups);

  KernelOp kernel;
  SmallVector<ChannelUse, 0> uses;
  SameNumbers numbers; ///< Of the program and of the role.
};

//===----------------------------------------------------------------------------------------===//
// Which statements belong together
//===----------------------------------------------------------------------------------------===//

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
    } else if (isa<BarrierWaitOp>(user)) {
      use.waitOps.push_back(user);
    } else {
      return fail(user, "it arrives where copies do");
    }
  }
  if (use.waitOps.empty())
    return fail(use.fill, "nothing waits for these copies");
  use.acquire = dyn_cast_if_present<BarrierWaitOp>(use.fill->getPrevNode());
  if (!use.acquire || use.acquire.getIndex() != use.fill.getVersion())
    return fail(use.fill, "it does not wait until its version has been read");
  for (Operation *user : use.acquire.getBarriers().getUsers()) {
    if (user == use.acquire)
      continue;
    if (!isa<BarrierArriveOp>(user))
      return fail(user, "it waits where readers arrive");
    use.releaseOps.push_back(user);
  }
  if (use.releaseOps.empty())
    return fail(use.acquire, "nothing releases what it waits for");
  uses.push_back(use);
  return success();
}

/// For which iterations a statement on a version stands.
FailureOr<Piece> ScheduleCheck::findPiece(Operation *op, Value index, int64_t versions) {
  Piece piece{op, {}, {}, 0, dyn_cast<PipelinedOp>(op->getParentOp()), getLaterBranch(op)};
  auto version = index.getDefiningOp<VersionOp>();
  bool isOne = versions == 1 && getConstantIntValue(index) == 0;
  if (isOne && piece.loop) {
    piece.from = IndexSum::get(getAsOpFoldResult(piece.loop.getLower()));
    piece.to = IndexSum::get(getAsOpFoldResult(piece.loop.getUpper()));
    return piece;
  }
  if (!version || int64_t(version.getCount()) != versions)
    return fail(op, isa<BarrierArriveOp>(op) ? "it releases another version than was waited for"
                                             : "its version is not that of an iteration");
  piece.shift = wrap(-int64_t(version.getAhead()), versions);
  if (piece.loop && version.getIteration() != piece.loop.getInductionVar())
    return fail(op, "its version is not that of the loop around it");
  IndexSum shift;
  shift.constant = -piece.shift;
  piece.from =
      IndexSum::get(getAsOpFoldResult(piece.loop ? piece.loop.getLower() : version.getIteration()));
  piece.to = piece.from;
  if (piece.loop)
    piece.to = IndexSum::get(getAsOpFoldResult(piece.loop.getUpper()));
  else
    piece.to.constant += 1;
  if (!piece.from.add(shift) || !piece.to.add(shift))
    return fail(op, "its iterations are not known");
  return piece;
}

/// The pieces in the order of the program, all in one block, but for the first ones, which may stand in a loop over
/// segments of that block.
FailureOr<SmallVector<Piece, 0>> ScheduleCheck::findPieces(ArrayRef<Operation *> ops,
                                                           const ChannelUse &use) {
  SmallVector<Piece, 0> pieces;
  for (Operation *op : ops) {
    Value index = isa<BarrierWaitOp>(op) ? cast<BarrierWaitOp>(op).getIndex()
                                         : cast<BarrierArriveOp>(op).getIndex();
    FailureOr<Piece> piece = findPiece(op, index, use.versions);
    if (failed(piece))
      return failure();
    pieces.push_back(*piece);
  }
  auto getOuter = [](const Piece &piece) -> Operation * {
    scf::ForOp segments = getSegments(piece.getStatement());
    return segments ? segments.getOperation() : piece.getStatement();
  };
  Operation *first = getOuter(pieces.front());
  for (const Piece &piece : pieces) {
    Operation *outer = getOuter(piece);
    bool isInSegments = outer != piece.getStatement();
    if (outer->getBlock() != first->getBlock())
      return fail(piece.op, "the loop's other iterations stand in another block");
    if (isInSegments || outer->isBeforeInBlock(first))
      first = outer;
  }
  llvm::sort(pieces, [&](const Piece &a, const Piece &b) {
    Operation *left = getOuter(a), *right = getOuter(b);
    if (left == right)
      std::tie(left, right) = std::pair(a.getStatement(), b.getStatement());
    return left != right && left->isBeforeInBlock(right);
  });
  for (const Piece &piece : pieces)
    if (getSegments(piece.getStatement()) && getOuter(piece) != getOuter(pieces.front()))
      return fail(piece.op, "iterations stand in front of a loop over segments, or in two of them");
  for (size_t i = 1; i < pieces.size(); ++i)
    if (pieces[i].getStatement() == pieces[i - 1].getStatement())
      return fail(pieces[i].op, isa<BarrierWaitOp>(pieces[i].op)
                                    ? "a version is waited for twice in an iteration"
                                    : "a version is released twice in an iteration");
  const Piece *loop = findLoop(pieces);
  if (!loop)
    return fail(pieces.front().op, "its iterations are not those of a loop");
  for (const Piece &piece : pieces)
    if (piece.loop && piece.shift != loop->shift)
      return fail(piece.op, "its iteration is another one than in the loop before");
  return pieces;
}

//===----------------------------------------------------------------------------------------===//
// Iterations
//===----------------------------------------------------------------------------------------===//

/// The pieces are the iterations of the producer's loop, each once and in order.
LogicalResult ScheduleCheck::checkCover(ArrayRef<Piece> pieces, const ChannelUse &use) {
  AsyncGroupOp fill = use.fill;
  auto loop = cast<PipelinedOp>(fill->getParentOp());
  IndexSum lower = IndexSum::get(getAsOpFoldResult(loop.getLower())),
           upper = IndexSum::get(getAsOpFoldResult(loop.getUpper()));
  std::optional<Cover> cover = getCover(pieces);
  if (!numbers.isSame(cover->from, lower) || !numbers.isSame(cover->to, upper)) {
    if (pieces.size() == 1 && pieces.front().shift == 0)
      return fail(loop, "its bounds differ from those of the readers");
    return fail(pieces.front().op, "it is not done for the iterations of its copies");
  }
  for (size_t i = 1; i < pieces.size(); ++i)
    if (subtract(pieces[i].from, i == cover->inSegments ? cover->segmentsTo : pieces[i - 1].to) !=
            0 ||
        (pieces[i].loop && pieces[i - 1].loop && !continues(pieces[i].loop, pieces[i - 1].loop)))
      return fail(pieces[i].op, "iterations are left out or come twice");
  if (!needsGuard(pieces))
    return success();
  auto guard = dyn_cast<scf::IfOp>(cover->first->getParentOp());
  auto isAny = guard ? guard.getCondition().getDefiningOp<arith::CmpIOp>() : arith::CmpIOp();
  if (!isAny || isAny.getPredicate() != arith::CmpIPredicate::slt ||
      cover->first->getBlock() != guard.thenBlock() ||
      subtract(IndexSum::get(getAsOpFoldResult(isAny.getLhs())), cover->from) != 0 ||
      subtract(IndexSum::get(getAsOpFoldResult(isAny.getRhs())), cover->to) != 0)
    return fail(pieces.front().op, "it stands for an iteration that may not exist");
  return success();
}

/// The parity is that of the version's own round, `rounds` later.
static bool isPhaseOf(BarrierWaitOp wait, int64_t shift, int64_t rounds, int64_t versions) {
  auto phase = wait.getParity() ? wait.getParity().getDefiningOp<PhaseOp>() : PhaseOp();
  auto version = wait.getIndex().getDefiningOp<VersionOp>();
  return phase && int64_t(phase.getCount()) == versions &&
         (!version || (version.getIteration() == phase.getIteration() &&
                       version.getFirst() == phase.getFirst())) &&
         wrap(phase.getAhead() + shift - rounds * versions, 2 * versions) == 0;
}

/// Both stand in loops and branches that run alike; `frame` is where the program's loop stands.
LogicalResult ScheduleCheck::checkNests(Operation *frame, Operation *role) {
  Operation *a = frame, *b = role->getParentOp();
  SmallVector<std::pair<Operation *, Operation *>> pairs;
  for (; a != kernel && !isa<RoleOp>(b); a = a->getParentOp(), b = b->getParentOp())
    pairs.emplace_back(a, b);
  if (a != kernel || !isa<RoleOp>(b))
    return fail(role, "it stands in another nest of loops than its readers");
  for (auto [outer, copy] : llvm::reverse(pairs)) {
    if (outer->getName() != copy->getName() || outer->getNumOperands() != copy->getNumOperands())
      return fail(copy, "it is another loop or branch than that of the readers");
    for (auto [x, y] : llvm::zip(outer->getOperands(), copy->getOperands()))
      if (!numbers.isSame(x, y))
        return fail(copy, "its bounds differ from those of the readers");
    auto loop = dyn_cast<scf::WhileOp>(outer);
    if (loop && !numbers.isSame(loop.getConditionOp().getCondition(),
                                cast<scf::WhileOp>(copy).getConditionOp().getCondition()))
      return fail(copy, "it goes on for another time than the loop of the readers");
    for (auto [from, to] : llvm::zip(outer->getRegions(), copy->getRegions()))
      for (auto [x, y] : llvm::zip(from.getArguments(), to.getArguments()))
        numbers.pair(x, y);
  }
  return success();
}

LogicalResult ScheduleCheck::checkAcquire(const ChannelUse &use) {
  AsyncGroupOp fill = use.fill;
  BarrierWaitOp acquire = use.acquire;
  FailureOr<Piece> piece = findPiece(acquire, acquire.getIndex(), use.versions);
  if (failed(piece))
    return failure();
  if (piece->shift != 0 || !isPhaseOf(acquire, 0, 1, use.versions))
    return fail(acquire, "it waits for the phase of another round");
  // The copies are those of this very iteration: none is left out, none comes twice.
  auto loop = dyn_cast<PipelinedOp>(fill->getParentOp());
  if (!loop || fill.getIteration() != loop.getInductionVar() || fill.getUpper() != loop.getUpper())
    return fail(fill, "it copies for another iteration than its own");
  return success();
}

//===----------------------------------------------------------------------------------------===//
// The check
//===----------------------------------------------------------------------------------------===//

LogicalResult ScheduleCheck::checkUse(ChannelUse &use) {
  if (failed(checkAcquire(use)))
    return failure();
  auto full = use.fill.getFull().getDefiningOp<BarrierAllocOp>(),
       empty = use.acquire.getBarriers().getDefiningOp<BarrierAllocOp>();
  FailureOr<int64_t> blocks = countSharingBlocks(kernel, use);
  if (failed(blocks))
    return failure();
  int64_t warps = llvm::divideCeil(kernel.getNumThreads(), 32);
  for (Operation *op : use.releaseOps) {
    auto release = cast<BarrierArriveOp>(op);
    int64_t arrivals = release.getByWarp() ? warps : release.getOnce() ? 1 : kernel.getNumThreads();
    arrivals *= *blocks;
    if (empty.getArrivals().size() != full.getArrivals().size() ||
        llvm::any_of(full.getArrivals(), [](int64_t n) { return n != 1; }) ||
        llvm::any_of(empty.getArrivals(), [&](int64_t n) { return n != arrivals; }))
      return fail(release, "barriers expect another number of arrivals than come");
  }
  FailureOr<SmallVector<Piece, 0>> waits = findPieces(use.waitOps, use),
                                   releases = findPieces(use.releaseOps, use);
  if (failed(waits) || failed(releases))
    return failure();
  use.waits = *waits;
  use.releases = *releases;
  auto loopsOf = [](ArrayRef<Piece> pieces) {
    SmallVector<Operation *> loops;
    for (const Piece &piece : pieces)
      if (piece.loop)
        loops.push_back(piece.getStatement());
    return loops;
  };
  SmallVector<Operation *> loops = loopsOf(use.waits);
  if (loops != loopsOf(use.releases))
    return fail(use.releaseOps.front(), "it releases another version than was waited for");
  for (const Piece &piece : use.waits)
    if (!isPhaseOf(cast<BarrierWaitOp>(piece.op), piece.shift, 0, use.versions))
      return fail(piece.op, "it waits for the phase of another round");
  for (ArrayRef<Piece> pieces : {ArrayRef<Piece>(use.waits), ArrayRef<Piece>(use.releases)})
    if (!getCover(pieces))
      return fail(pieces.front().op, "segments leave iterations out, or repeat them");
  // A loop over segments, or a branch that asks whether there is an iteration, is no part of the nest.
  Operation *frame = loops.front()->getParentOp();
  if (getSegments(loops.front()))
    frame = frame->getParentOp();
  if (needsGuard(use.waits) || needsGuard(use.releases))
    frame = frame->getParentOp();
  if (failed(checkNests(frame, use.fill->getParentOp())) || failed(checkCover(use.waits, use)) ||
      failed(checkCover(use.releases, use)) || failed(checkReaders(kernel, use)))
    return failure();
  return success();
}

LogicalResult ScheduleCheck::run() {
  if (failed(checkTurns(kernel)))
    return failure();
  LogicalResult result = checkSharedOnce(kernel);
  kernel.walk([&](BarrierAllocOp row) {
    if (failed(findUses(row)))
      result = failure();
  });
  if (failed(result))
    return failure();
  for (ChannelUse &use : uses)
    if (failed(checkUse(use)))
      return failure();
  // One graph for each loop of the program: where loops follow each other, all have the same order.
  llvm::MapVector<Operation *, Operation *> followers;
  for (ChannelUse &use : uses) {
    Operation *before = nullptr;
    for (const Piece &piece : use.waits) {
      if (!piece.loop)
        continue;
      followers[piece.getStatement()] = before;
      before = piece.getStatement();
    }
  }
  for (auto &[loop, before] : followers)
    if (failed(checkLiveness(loop)) || (before && failed(checkOrder(loop, before))) ||
        (getSegments(loop) && failed(checkOrder(loop, getSegments(loop)))))
      return failure();
  return success();
}

/// The statements on channels in a loop of the program, in order, with their shifts.
ScheduleCheck::Order ScheduleCheck::getOrder(Operation *loop) {
  Order order;
  for (const ChannelUse &use : uses)
    for (const Piece &piece : llvm::concat<const Piece>(use.waits, use.releases))
      if (piece.loop && piece.getStatement() == loop)
        order.emplace_back(piece.op, piece.shift);
  llvm::sort(order, [](auto &a, auto &b) { return a.first->isBeforeInBlock(b.first); });
  return order;
}

/// Those of the first iteration of a segment.
ScheduleCheck::Order ScheduleCheck::getFirstOrder(scf::ForOp segments) {
  SmallVector<std::pair<const Piece *, int64_t>> pieces;
  for (const ChannelUse &use : uses)
    for (const Piece &piece : llvm::concat<const Piece>(use.waits, use.releases))
      if (!piece.loop && getSegments(piece.getStatement()) == segments)
        pieces.emplace_back(&piece, piece.shift);
  llvm::sort(pieces, [](auto &a, auto &b) {
    return a.first->op != b.first->op && comesBefore(*a.first, b.first->op);
  });
  return map_to_vector(pieces,
                       [](auto &entry) { return std::pair(entry.first->op, entry.second); });
}

/// A loop that goes on with another one's iterations does so in the same order; so do segments.
LogicalResult ScheduleCheck::checkOrder(Operation *loop, Operation *before) {
  auto segments = dyn_cast<scf::ForOp>(before);
  Order own = getOrder(loop), other = segments ? getFirstOrder(segments) : getOrder(before);
  bool isSame = own.size() == other.size() && llvm::all_of(llvm::zip(own, other), [](auto pair) {
                  auto [a, b] = pair;
                  return a.second == b.second && a.first->getName() == b.first->getName() &&
                         a.first->getOperand(0) == b.first->getOperand(0);
                });
  return isSame ? success()
                : fail(loop, "it meets the producer in another order than the one before");
}

/// The turn of a loop: it goes from warpgroup to warpgroup, and from the last one to the first one's next.
void ScheduleCheck::addTurns(MarkedGraph &graph, Operation *programLoop, int64_t groups) {
  TurnOp take, pass;
  for (TurnOp turn : cast<PipelinedOp>(programLoop).getBody().getOps<TurnOp>())
    (turn.getKind() == TurnKind::Take ? take : pass) = turn;
  // Where it is passed first, an iteration takes the turn of the next one.
  int64_t ahead = take->isBeforeInBlock(pass) ? 0 : 1;
  for (int64_t group = 0; group < groups; ++group) {
    bool isLast = group == groups - 1;
    graph.connect({pass, group}, {take, isLast ? 0 : group + 1}, (isLast ? 1 : 0) - ahead);
  }
}

LogicalResult ScheduleCheck::checkLiveness(Operation *programLoop) {
  MarkedGraph graph;
  auto turnsInLoop = cast<PipelinedOp>(programLoop).getBody().getOps<TurnOp>();
  int64_t groups = turnsInLoop.empty() ? 1 : int64_t((*turnsInLoop.begin()).getGroups());
  llvm::MapVector<Operation *, SmallVector<Operation *>> inOrder; // by loop
  for (TurnOp turn : turnsInLoop)
    inOrder[programLoop].push_back(turn);
  for (ChannelUse &use : uses) {
    const Piece *wait = nullptr, *release = nullptr;
    for (const Piece &piece : use.waits)
      if (piece.loop && piece.getStatement() == programLoop)
        wait = &piece;
    for (const Piece &piece : use.releases)
      if (piece.loop && piece.getStatement() == programLoop)
        release = &piece;
    if (!wait || !release)
      continue;
    for (int64_t group = 0; group < groups; ++group) {
      graph.connect({use.fill, 0}, {wait->op, group}, wait->shift);
      graph.connect({release->op, group}, {use.acquire, 0}, use.versions - release->shift);
    }
    for (Operation *op :
         {use.acquire.getOperation(), use.fill.getOperation(), wait->op, release->op})
      inOrder[op->getParentOp()].push_back(op);
  }
  for (auto &[loop, ops] : inOrder) {
    llvm::sort(ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    for (int64_t group = 0; group < (loop == programLoop ? groups : 1); ++group) {
      for (size_t i = 1; i < ops.size(); ++i)
        graph.connect({ops[i - 1], group}, {ops[i], group}, 0);
      graph.connect({ops.back(), group}, {ops.front(), group}, 1);
    }
  }
  if (groups > 1)
    addTurns(graph, programLoop, groups);
  if (Operation *dead = graph.findDeadCycle())
    return fail(dead, "roles wait for each other for ever");
  return success();
}

struct CheckSchedulePass : tilewright::impl::CheckScheduleBase<CheckSchedulePass> {
  void runOnOperation() override {
    getOperation()->walk([&](KernelOp kernel) {
      // Roles of the user's were proved before (tile-assign-roles).
      if (!kernel.getBody().getOps<RoleOp>().empty() && getTeamRoles(kernel).empty() &&
          failed(ScheduleCheck(kernel).run()))
        signalPassFailure();
    });
  }
};

} // namespace
