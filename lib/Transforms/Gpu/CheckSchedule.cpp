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

#include "tilewright/Access/Bulk.h"
#include "tilewright/Analysis/BlockDependence.h"
#include "tilewright/Analysis/Distribution.h"
#include "tilewright/Analysis/SharedTiles.h"
#include "tilewright/Tile/InternalError.h"
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

namespace {

/// Iterations for which a statement stands: those of a loop around it, or one.
struct Piece {
  Operation *op;
  IndexSum from, to;
  int64_t shift = 0;
  PipelinedOp loop; ///< Null: one iteration.
  scf::IfOp branch; ///< It is done in all segments but the first.

  Operation *getStatement() const { return loop || branch ? op->getParentOp() : op; }
};

/// The statements on one channel.
struct ChannelUse {
  BarrierWaitOp acquire;
  AsyncGroupOp fill;
  SmallVector<Operation *> waitOps, releaseOps;
  SmallVector<Piece, 0> waits, releases; ///< In the order of the program.
  int64_t versions = 0;
};

/// A statement of one of the warpgroups, which are told apart where they take turns.
using Transition = std::pair<Operation *, int64_t>;

/// Statements with tokens between them.
class MarkedGraph {
public:
  unsigned add(Transition node) { return numbers.try_emplace(node, numbers.size()).first->second; }
  void connect(Transition from, Transition to, int64_t tokens) {
    unsigned number = add(from); // before `to`, so that statements are numbered as they come
    edges.push_back({number, add(to), tokens});
  }
  /// A statement of a cycle that holds no token, or null.
  Operation *findDeadCycle();

private:
  struct Edge {
    unsigned from, to;
    int64_t tokens;
  };

  llvm::MapVector<Transition, unsigned> numbers;
  SmallVector<Edge> edges;
};

/// Shortest ways, where a token is longer than all edges of a cycle together and an edge makes a way a
/// little shorter: a cycle without tokens makes ways shorter for ever (Bellman and Ford).
Operation *MarkedGraph::findDeadCycle() {
  int64_t nodes = numbers.size();
  SmallVector<int64_t> length(nodes, 0), before(nodes, -1);
  int64_t shortened = 0;
  for (int64_t round = 0; round <= nodes && shortened >= 0; ++round) {
    shortened = -1;
    for (const Edge &edge : edges) {
      int64_t through = length[edge.from] + edge.tokens * (nodes + 1) - 1;
      if (through >= length[edge.to])
        continue;
      length[edge.to] = through;
      before[edge.to] = edge.from;
      shortened = edge.to;
    }
  }
  if (shortened < 0)
    return nullptr;
  for (int64_t step = 0; step < nodes; ++step) // onto the cycle
    shortened = before[shortened];
  int64_t first = shortened;
  for (int64_t node = before[shortened]; node != shortened; node = before[node])
    first = std::min(first, node);
  return (numbers.begin() + first)->first.first;
}

bool isSameValue(Value a, Value b, llvm::DenseMap<Value, Value> &partners, unsigned depth = 0);

/// The stores to a variable, in the order of the program, and how many of them stand in front of `load`.
std::pair<SmallVector<StoreOp>, int64_t> findStores(LoadOp load) {
  SmallVector<StoreOp> stores;
  int64_t before = 0;
  load->getParentOfType<KernelOp>().walk([&](Operation *op) {
    if (op == load)
      before = stores.size();
    if (auto store = dyn_cast<StoreOp>(op); store && store.getBuffer() == load.getBuffer())
      stores.push_back(store);
  });
  return {stores, before};
}

/// Whether two loads, one of the program and one of the role, read the same number: each role has the variable
/// for itself, and sets it to the same values in the same loops and branches.
bool isSameVariable(LoadOp a, LoadOp b, llvm::DenseMap<Value, Value> &partners) {
  auto [stores, before] = findStores(a);
  auto [others, otherBefore] = findStores(b);
  if (getName(a.getBuffer()) != getName(b.getBuffer()) || stores.size() != others.size() ||
      before != otherBefore)
    return false;
  if (!partners.try_emplace(a.getBuffer(), b.getBuffer()).second)
    return partners.lookup(a.getBuffer()) == b.getBuffer();
  for (auto [store, other] : llvm::zip_equal(stores, others)) {
    Operation *x = store->getParentOp(), *y = other->getParentOp();
    for (; x->getName() == y->getName() && !isa<KernelOp>(x); y = y->getParentOp())
      x = x->getParentOp();
    if (!isa<KernelOp>(x) || !isa<RoleOp>(y) ||
        !isSameValue(store.getValue(), other.getValue(), partners))
      return false;
  }
  return true;
}

/// Whether two values, one of the program and one of the role, are the same number: one value from
/// outside, or the same computation.
bool isSameValue(Value a, Value b, llvm::DenseMap<Value, Value> &partners, unsigned depth) {
  if (a == b || partners.lookup(a) == b)
    return true;
  Operation *first = a.getDefiningOp(), *second = b.getDefiningOp();
  if (!first || !second || depth > 64 || first->getName() != second->getName() ||
      first->getAttrDictionary() != second->getAttrDictionary() ||
      first->getNumOperands() != second->getNumOperands() || first->getNumRegions())
    return false;
  if (auto load = dyn_cast<LoadOp>(first); load && getSpace(load.getBuffer()) == Space::Local)
    return isSameVariable(load, cast<LoadOp>(second), partners);
  bool isSame =
      llvm::all_of(llvm::zip(first->getOperands(), second->getOperands()), [&](auto pair) {
        return isSameValue(std::get<0>(pair), std::get<1>(pair), partners, depth + 1);
      });
  if (isSame)
    partners[a] = b;
  return isSame;
}

/// The number that is `value` modulo `count`, from 0 on.
int64_t wrap(int64_t value, int64_t count) { return ((value % count) + count) % count; }

/// The first piece that is a loop, or that of this loop; null if there is none.
const Piece *findLoop(ArrayRef<Piece> pieces, PipelinedOp loop = {}) {
  const auto *it = llvm::find_if(
      pieces, [&](const Piece &piece) { return piece.loop && (!loop || piece.loop == loop); });
  return it == pieces.end() ? nullptr : it;
}

/// Whether `bound` is at most `upper`: a minimum of it and others.
bool isAtMost(Value bound, Value upper) {
  if (bound == upper)
    return true;
  auto least = bound.getDefiningOp<arith::MinSIOp>();
  return least && (isAtMost(least.getLhs(), upper) || isAtMost(least.getRhs(), upper));
}

/// Whether a loop goes on where another one ends, at some iteration between their bounds.
bool continues(PipelinedOp loop, PipelinedOp before) {
  auto bound = loop.getLower().getDefiningOp<arith::MaxSIOp>();
  return bound && before.getUpper() == loop.getLower() && bound.getLhs() == before.getLower() &&
         isAtMost(bound.getRhs(), loop.getUpper());
}

/// `a - b` where that is a constant.
std::optional<int64_t> subtract(IndexSum a, const IndexSum &b) {
  if (!a.add(b, -1) || !a.isConstant())
    return std::nullopt;
  return a.constant;
}

/// Whether `value` is `sum + constant`.
bool isSum(Value value, Value sum, int64_t constant) {
  return subtract(IndexSum::get(getAsOpFoldResult(value)), IndexSum::get(getAsOpFoldResult(sum))) ==
         constant;
}

/// The loop over segments in which a statement stands, or null.
scf::ForOp getSegments(Operation *statement) {
  auto segments = dyn_cast<scf::ForOp>(statement->getParentOp());
  return segments && segments->hasAttr(kSegmentsAttr) ? segments : scf::ForOp();
}

/// The branch of a loop over segments in which a statement stands that all but the first one have; or null.
scf::IfOp getLaterBranch(Operation *op) {
  auto branch = dyn_cast<scf::IfOp>(op->getParentOp());
  scf::ForOp segments = branch ? getSegments(branch) : scf::ForOp();
  auto isLater = segments ? branch.getCondition().getDefiningOp<arith::CmpIOp>() : arith::CmpIOp();
  bool asks = isLater && isLater.getPredicate() == arith::CmpIPredicate::ne &&
              isLater.getLhs() == segments.getInductionVar() &&
              isLater.getRhs() == segments.getLowerBound();
  return asks && op->getBlock() == branch.thenBlock() ? branch : scf::IfOp();
}

/// The iterations that a loop over segments makes of [lower, upper).
struct Segments {
  Value lower, upper,
      begin; ///< `begin`: the first one of a segment, which ends at the loop's variable.
};

/// Segments follow each other and are not empty, if there is any iteration: the first one goes from `lower` to
/// where the loop starts, each of the others has one iteration, up to `upper`.
std::optional<Segments> getSegmentBounds(scf::ForOp loop, Value begin) {
  auto start = begin.getDefiningOp<arith::SelectOp>();
  auto isFirst = start ? start.getCondition().getDefiningOp<arith::CmpIOp>() : arith::CmpIOp();
  auto firstEnd = loop.getLowerBound().getDefiningOp<arith::MaxSIOp>();
  auto upper = loop.getUpperBound().getDefiningOp<arith::AddIOp>();
  if (!isFirst || !firstEnd || !upper || getConstantIntValue(loop.getStep()) != 1 ||
      loop.getNumResults() || getConstantIntValue(upper.getRhs()) != 1 ||
      isFirst.getPredicate() != arith::CmpIPredicate::eq ||
      isFirst.getLhs() != loop.getInductionVar() || isFirst.getRhs() != firstEnd.getResult() ||
      !isSum(start.getFalseValue(), loop.getInductionVar(), -1) ||
      !isSum(firstEnd.getLhs(), start.getTrueValue(), 1) ||
      !isAtMost(firstEnd.getRhs(), upper.getLhs()))
    return std::nullopt;
  return Segments{start.getTrueValue(), upper.getLhs(), begin};
}

class ScheduleCheck {
public:
  explicit ScheduleCheck(KernelOp kernel) : kernel(kernel) {}
  LogicalResult run();

private:
  LogicalResult findUses(BarrierAllocOp full);
  LogicalResult checkUse(ChannelUse &use);
  LogicalResult checkAcquire(const ChannelUse &use);
  FailureOr<int64_t> countBlocks(const ChannelUse &use);
  LogicalResult checkSharedCopy(ParallelOp copy);
  LogicalResult checkSharedOnce();
  FailureOr<SmallVector<Piece, 0>> findPieces(ArrayRef<Operation *> ops, const ChannelUse &use);
  FailureOr<Piece> findPiece(Operation *op, Value index, int64_t versions);
  LogicalResult checkCover(ArrayRef<Piece> pieces, const ChannelUse &use);
  LogicalResult checkNests(Operation *frame, Operation *role);
  LogicalResult checkReaders(const ChannelUse &use);
  LogicalResult checkReader(Operation *op, const Effect &effect, const ChannelUse &use);
  bool hasEnded(GemmOp product, int64_t shift, const std::optional<IndexSum> &iteration,
                const ChannelUse &use);
  using Order = SmallVector<std::pair<Operation *, int64_t>>;
  Order getOrder(Operation *loop);
  Order getFirstOrder(scf::ForOp segments);
  LogicalResult checkOrder(Operation *loop, Operation *before);
  LogicalResult checkLiveness(Operation *programLoop);
  void addTurns(MarkedGraph &graph, Operation *programLoop, int64_t groups);
  FailureOr<bool> walkTurns(Block &block, bool isHeld);
  LogicalResult checkTurn(TurnOp op, bool &isHeld);
  LogicalResult checkTurns();
  bool isSameSum(const IndexSum &program, const IndexSum &role);
  LogicalResult fail(Operation *op, const Twine &text) {
    return emitInternalError(op) << "the schedule is wrong: " << text;
  }

  KernelOp kernel;
  SmallVector<ChannelUse, 0> uses;
  llvm::DenseMap<Value, Value> partners; ///< Values of the program and of the role that are equal.
  TurnOp opened;                         ///< What began the turns that are not over yet.
  int64_t turns = 0;                     ///< Statements about turns that were seen.
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

bool ScheduleCheck::isSameSum(const IndexSum &program, const IndexSum &role) {
  if (program.constant != role.constant || program.terms.size() != role.terms.size())
    return false;
  SmallVector<std::pair<Value, int64_t>> rest(role.terms.begin(), role.terms.end());
  for (auto [value, factor] : program.terms) {
    auto *partner = llvm::find_if(rest, [&, &value = value, &factor = factor](auto &term) {
      return term.second == factor && isSameValue(value, term.first, partners);
    });
    if (partner == rest.end())
      return false;
    rest.erase(partner);
  }
  return true;
}

/// The iterations that pieces stand for, each once and in order, and the statement that has them all.
struct Cover {
  IndexSum from, to;
  Operation *first;         ///< The first piece, or the loop over segments,
  size_t inSegments = 0;    ///< which has so many pieces
  IndexSum segmentsTo = {}; ///< and goes up to here.
};

/// Pieces that the first segment has.
static ArrayRef<Piece> dropLater(ArrayRef<Piece> pieces) {
  return pieces.drop_front(pieces.front().branch ? 1 : 0);
}

/// None if a loop over segments leaves some out. Each segment stands for its own iterations. Or it stands for those
/// an iteration before: then the first one, which has none before it, has a piece less, and they end an iteration
/// before the last segment does.
///
///   segment [begin, end)    [begin - 1, begin) if it is a later one, [begin, end - 1)
static std::optional<Cover> getCover(ArrayRef<Piece> pieces) {
  Cover cover{pieces.front().from, pieces.back().to, pieces.front().getStatement()};
  scf::ForOp loop = getSegments(cover.first);
  if (!loop)
    return cover;
  size_t count = llvm::count_if(
      pieces, [&](const Piece &piece) { return getSegments(piece.getStatement()) == loop; });
  ArrayRef<Piece> inside = pieces.take_front(count), own = dropLater(inside);
  bool isLate = own.size() < inside.size();
  if (own.empty() || own.front().from.terms.size() != 1 ||
      llvm::any_of(own, [](const Piece &piece) { return bool(piece.branch); }))
    return std::nullopt;
  IndexSum end = IndexSum::get(getAsOpFoldResult(loop.getInductionVar()));
  end.constant -= isLate;
  std::optional<Segments> segments = getSegmentBounds(loop, own.front().from.terms.front().first);
  if (!segments || own.front().from != IndexSum::get(getAsOpFoldResult(segments->begin)) ||
      own.back().to != end)
    return std::nullopt;
  IndexSum to = IndexSum::get(getAsOpFoldResult(segments->upper));
  to.constant -= isLate;
  return Cover{IndexSum::get(getAsOpFoldResult(segments->lower)),
               count < pieces.size() ? pieces.back().to : to, loop, count, to};
}

/// Whether an iteration stands beside the loop that may not exist, so that a branch must ask.
static bool needsGuard(ArrayRef<Piece> pieces) {
  std::optional<Cover> cover = getCover(pieces);
  return cover && llvm::any_of(pieces, [](const Piece &piece) { return !piece.loop; }) &&
         subtract(cover->to, cover->from).value_or(0) <= 0;
}

/// The pieces are the iterations of the producer's loop, each once and in order.
LogicalResult ScheduleCheck::checkCover(ArrayRef<Piece> pieces, const ChannelUse &use) {
  AsyncGroupOp fill = use.fill;
  auto loop = cast<PipelinedOp>(fill->getParentOp());
  IndexSum lower = IndexSum::get(getAsOpFoldResult(loop.getLower())),
           upper = IndexSum::get(getAsOpFoldResult(loop.getUpper()));
  std::optional<Cover> cover = getCover(pieces);
  if (!isSameSum(cover->from, lower) || !isSameSum(cover->to, upper)) {
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
      if (!isSameValue(x, y, partners))
        return fail(copy, "its bounds differ from those of the readers");
    auto loop = dyn_cast<scf::WhileOp>(outer);
    if (loop && !isSameValue(loop.getConditionOp().getCondition(),
                             cast<scf::WhileOp>(copy).getConditionOp().getCondition(), partners))
      return fail(copy, "it goes on for another time than the loop of the readers");
    for (auto [from, to] : llvm::zip(outer->getRegions(), copy->getRegions()))
      for (auto [x, y] : llvm::zip(from.getArguments(), to.getArguments()))
        partners[x] = y;
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
// Clusters
//===----------------------------------------------------------------------------------------===//

static ArrayRef<int64_t> getSharedDims(Operation *op) {
  auto dims = op->getAttrOfType<DenseI64ArrayAttr>(kMulticastAttr);
  return dims ? dims.asArrayRef() : ArrayRef<int64_t>();
}

/// How many blocks of the cluster copy for each other, and so release the versions of this channel.
FailureOr<int64_t> ScheduleCheck::countBlocks(const ChannelUse &use) {
  AsyncGroupOp fill = use.fill;
  ArrayRef<int64_t> dims = getSharedDims(use.acquire);
  for (Operation *release : use.releaseOps)
    if (getSharedDims(release) != dims)
      return fail(release, "other blocks release a version than those that wait");
  auto cluster = kernel->getAttrOfType<DenseI64ArrayAttr>(kClusterAttr);
  bool isNumbered = kernel.getBody().front().getOps<UseSwizzleOp>().empty();
  int64_t blocks = 1;
  for (int64_t dim : dims) {
    if (!cluster || !isNumbered || dim < 0 || dim >= cluster.size())
      return fail(use.acquire, "there is no cluster whose blocks arrive");
    blocks *= cluster[dim];
  }
  analysis::BlockDims around;
  for (Operation *op = fill; op != kernel; op = op->getParentOp())
    around |= analysis::findOperandBlockDims(kernel, op);
  for (int64_t dim : dims)
    if (around.test(dim))
      return fail(fill, "blocks copy for each other, but not in the same iterations");
  for (ParallelOp copy : fill.getBody().getOps<ParallelOp>()) {
    for (int64_t dim : getSharedDims(copy))
      if (!llvm::is_contained(dims, dim))
        return fail(copy, "a block copies for another one that it does not wait for");
    if (failed(checkSharedCopy(copy)))
      return failure();
  }
  return blocks;
}

/// Blocks that one copy reaches need the same.
LogicalResult ScheduleCheck::checkSharedCopy(ParallelOp copy) {
  ArrayRef<int64_t> dims = getSharedDims(copy);
  auto mask = copy->getAttrOfType<IntegerAttr>(kClusterMaskAttr);
  auto cluster = kernel->getAttrOfType<DenseI64ArrayAttr>(kClusterAttr);
  if (dims.empty())
    return success();
  bool isSame = cluster && mask &&
                analysis::isSameInBlocks(kernel, copy, cluster.asArrayRef(), mask.getInt());
  if (!mask) {
    analysis::BlockDims own = analysis::findBlockDims(kernel, copy);
    isSame = cluster && llvm::none_of(dims, [&](int64_t dim) { return own.test(dim); });
  }
  return isSame ? success()
                : fail(copy, "a block copies for another one that needs something else");
}

/// Copies outside of channels that several blocks share: once, into memory that no block has used before.
LogicalResult ScheduleCheck::checkSharedOnce() {
  LogicalResult result = success();
  kernel.walk([&](AsyncGroupOp fill) {
    if (!fill.getFull() || fill->getParentOfType<RoleOp>())
      return; // a channel's
    for (ParallelOp copy : fill.getBody().getOps<ParallelOp>()) {
      if (getSharedDims(copy).empty())
        continue;
      Value tile = getRoot(access::CopyLoop::get(copy)->getTileAccess().buffer);
      bool isFirst = analysis::isFirstUse(fill, tile) &&
                     kernel.getBody().front().getOps<UseSwizzleOp>().empty();
      analysis::BlockDims around = analysis::findOperandBlockDims(kernel, fill);
      bool isAlways =
          llvm::none_of(getSharedDims(copy), [&](int64_t dim) { return around.test(dim); });
      if (!isFirst)
        result = fail(copy, "another block may overwrite what this one still uses");
      else if (!isAlways)
        result = fail(copy, "blocks copy for each other, but not in the same iterations");
      else if (failed(checkSharedCopy(copy)))
        result = failure();
    }
  });
  return result;
}

//===----------------------------------------------------------------------------------------===//
// Readers
//===----------------------------------------------------------------------------------------===//

/// Looks for a wait that ends a product, from an op to another one of its block (null: the end). With
/// how many products have been issued after it, at least. Of a branch, both ways need one.
static bool findWait(Operation *from, Operation *to, int64_t &younger) {
  for (Operation *op = from; op && op != to; op = op->getNextNode()) {
    if (auto branch = dyn_cast<scf::IfOp>(op); branch && !branch.getElseRegion().empty()) {
      int64_t first = younger, second = younger;
      bool ends = findWait(&branch.thenBlock()->front(), nullptr, first);
      ends &= findWait(&branch.elseBlock()->front(), nullptr, second);
      if (ends)
        return true;
      younger = std::min(first, second);
    }
    if (auto wait = dyn_cast<ProductWaitOp>(op); wait && int64_t(wait.getPending()) <= younger)
      return true;
    younger += isa<GemmOp>(op) && op->hasAttr(kAsyncAttr);
  }
  return false;
}

/// Whether a loop is known to have an iteration.
static bool isNonEmpty(PipelinedOp loop) {
  return subtract(IndexSum::get(getAsOpFoldResult(loop.getUpper())),
                  IndexSum::get(getAsOpFoldResult(loop.getLower())))
             .value_or(0) > 0;
}

/// Whether a product is over wherever the version that it reads is released: in a loop that of `shift` iterations
/// before its own, elsewhere that of `iteration`.
bool ScheduleCheck::hasEnded(GemmOp product, int64_t shift,
                             const std::optional<IndexSum> &iteration, const ChannelUse &use) {
  Block *last = use.releases.back().getStatement()->getBlock(),
        *first = use.releases.front().getStatement()->getBlock();
  int64_t younger = 0;
  Operation *from = product;
  auto isInLoop = [&]() -> const Piece * {
    auto loop = dyn_cast<PipelinedOp>(from->getParentOp());
    return loop ? findLoop(use.releases, loop) : nullptr;
  };
  // Out of what is inside.
  while (from->getBlock() != first && from->getBlock() != last && !isInLoop()) {
    if (findWait(from->getNextNode(), nullptr, younger))
      return true;
    from = from->getParentOp();
  }
  auto endsInside = [&](const Piece &piece, int64_t count) {
    return findWait(&piece.op->getBlock()->front(), piece.op, count);
  };
  // On every way from an op on to a release: through a loop, or past it; to the next segment, and after them.
  auto endsFrom = [&](auto &&again, Block *block, Operation *op, int64_t count,
                      bool goesRound) -> bool {
    for (const Piece &piece : use.releases) {
      Operation *statement = piece.getStatement();
      if (statement->getBlock() != block || !op || statement->isBeforeInBlock(op))
        continue;
      bool isOther = iteration && goesRound && !piece.loop &&
                     subtract(*iteration, piece.from).value_or(0) != 0;
      if (isOther)
        continue;
      if (findWait(op, statement, count))
        return true;
      if ((!piece.loop && !piece.branch) || !endsInside(piece, count))
        return false;
      if (piece.loop && isNonEmpty(piece.loop))
        return true; // no way past it
      op = statement->getNextNode();
    }
    if (findWait(op, nullptr, count))
      return true;
    scf::ForOp segments = getSegments(&block->front());
    return !segments || ((!goesRound || again(again, block, &block->front(), count, false)) &&
                         again(again, segments->getBlock(), segments->getNextNode(), count, false));
  };
  auto endsAfter = [&](Operation *statement, int64_t count) {
    return endsFrom(endsFrom, statement->getBlock(), statement->getNextNode(), count, true);
  };
  if (!isInLoop())
    return endsAfter(from, younger);
  const Piece *inLoop = isInLoop();
  int64_t count = younger;
  bool isBefore = from->isBeforeInBlock(inLoop->op);
  if (isBefore && findWait(from->getNextNode(), inLoop->op, count))
    return true;
  if (isBefore && inLoop->shift == shift) // it releases this one
    return false;
  if (findWait(from->getNextNode(), nullptr, younger))
    return true;
  return inLoop->shift != 0 && endsInside(*inLoop, younger) &&
         endsAfter(inLoop->getStatement(), younger);
}

/// Whether a statement on a channel comes before an op that is in no loop with it.
static bool comesBefore(const Piece &piece, Operation *op) {
  for (Operation *statement = piece.op; !isa<KernelOp>(statement);
       statement = statement->getParentOp())
    if (Operation *other = statement->getBlock()->findAncestorOpInBlock(*op))
      return statement->isBeforeInBlock(other);
  return false;
}

/// What the program does to a tile stands between the wait for the version and its release.
LogicalResult ScheduleCheck::checkReader(Operation *op, const Effect &effect,
                                         const ChannelUse &use) {
  auto misplaced = [&] {
    return fail(op, "it touches '" + tile::getName(effect.root) +
                        "' outside of the wait for it and its release");
  };
  const Piece *wait = nullptr, *release = nullptr;
  Operation *statement = nullptr;
  for (const Piece &piece : use.waits) {
    PipelinedOp loop = piece.loop;
    statement = loop ? loop.getBody().front().findAncestorOpInBlock(*op) : nullptr;
    if (!statement)
      continue;
    wait = &piece;
    release = findLoop(use.releases, loop);
    break;
  }
  VersionOp version;
  if (use.versions > 1) {
    const auto &ranges = effect.region.ranges;
    if (!ranges || ranges->front().offset.terms.size() != 1 ||
        ranges->front().offset.constant != 0 || ranges->front().size.constant != 1)
      return fail(op, "it touches versions that are not known");
    version = ranges->front().offset.terms.front().first.getDefiningOp<VersionOp>();
    if (!version || int64_t(version.getCount()) != use.versions)
      return fail(op, "it touches a version that is not known");
  }
  int64_t shift = version ? wrap(-int64_t(version.getAhead()), use.versions) : 0;
  std::optional<IndexSum> iteration;
  if (statement) {
    PipelinedOp loop = wait->loop;
    if (version && version.getIteration() != loop.getInductionVar())
      return fail(op, "it touches a version of another loop");
    auto isBefore = [](Operation *a, int64_t shiftA, Operation *b, int64_t shiftB) {
      return shiftA < shiftB || (shiftA == shiftB && a->isBeforeInBlock(b));
    };
    if (!isBefore(wait->op, wait->shift, statement, shift) ||
        !isBefore(statement, shift, release->op, release->shift))
      return misplaced();
    // No iteration before the first one; a loop that follows another one does not begin before it.
    PipelinedOp firstLoop = findLoop(use.waits)->loop;
    IndexSum first = IndexSum::get(getAsOpFoldResult(firstLoop.getLower()));
    first.constant -= shift;
    std::optional<int64_t> after = subtract(first, dropLater(use.waits).front().from);
    if (!after || *after < 0)
      return misplaced();
  } else {
    if (!version)
      return misplaced();
    iteration = IndexSum::get(getAsOpFoldResult(version.getIteration()));
    iteration->constant -= shift;
    scf::ForOp segments = getSegments(use.waits.front().getStatement());
    bool isLater = bool(getLaterBranch(op));
    // Seen from after the loop over segments, a statement of it has been done for all that they stand for.
    auto getEnd = [&](const Piece &piece, ArrayRef<Piece> pieces) {
      return segments && getSegments(piece.getStatement()) && !segments->isAncestor(op)
                 ? getCover(pieces)->segmentsTo
                 : piece.to;
    };
    // Waits before it go beyond its iteration, releases before it do not reach it.
    bool isWaitedFor = false;
    for (const Piece &piece : use.waits)
      if (comesBefore(piece, op))
        isWaitedFor = (!piece.branch || isLater || !segments->isAncestor(op)) &&
                      subtract(getEnd(piece, use.waits), *iteration).value_or(0) >= 1;
    if (!isWaitedFor)
      return misplaced();
    bool isReleased = false;
    for (const Piece &piece : use.releases)
      if (comesBefore(piece, op))
        isReleased = subtract(*iteration, getEnd(piece, use.releases)).value_or(-1) < 0;
    if (isReleased)
      return misplaced();
  }
  auto product = dyn_cast<GemmOp>(op);
  if (product && product->hasAttr(kAsyncAttr) && !hasEnded(product, shift, iteration, use))
    return fail(op, "it may still read '" + tile::getName(effect.root) + "' when that is released");
  return success();
}

LogicalResult ScheduleCheck::checkReaders(const ChannelUse &use) {
  AsyncGroupOp fill = use.fill;
  llvm::SmallDenseSet<Value> tiles;
  fill.walk([&](StoreOp store) { tiles.insert(getRoot(store.getBuffer())); });
  LogicalResult result = success();
  kernel.walk([&](TileEffectsOpInterface op) {
    if (op->getParentOfType<RoleOp>())
      return;
    SmallVector<Effect> touched;
    op.getTileEffects(touched);
    for (const Effect &effect : touched)
      if (succeeded(result) && tiles.contains(effect.root))
        result = checkReader(op, effect, use);
  });
  return result;
}

//===----------------------------------------------------------------------------------------===//
// The check
//===----------------------------------------------------------------------------------------===//

LogicalResult ScheduleCheck::checkUse(ChannelUse &use) {
  if (failed(checkAcquire(use)))
    return failure();
  auto full = use.fill.getFull().getDefiningOp<BarrierAllocOp>(),
       empty = use.acquire.getBarriers().getDefiningOp<BarrierAllocOp>();
  FailureOr<int64_t> blocks = countBlocks(use);
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
      failed(checkCover(use.releases, use)) || failed(checkReaders(use)))
    return failure();
  return success();
}

LogicalResult ScheduleCheck::run() {
  if (failed(checkTurns()))
    return failure();
  LogicalResult result = checkSharedOnce();
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

//===----------------------------------------------------------------------------------------===//
// Turns
//===----------------------------------------------------------------------------------------===//

LogicalResult ScheduleCheck::checkTurn(TurnOp op, bool &isHeld) {
  ++turns;
  bool isOuter = op->getParentOp() == kernel;
  if (opened && (op.getGroups() != opened.getGroups() || op.getNumber() != opened.getNumber()))
    return fail(op, "this is another turn than the one that was opened");
  switch (op.getKind()) {
  case TurnKind::Open:
    if (opened || turns > 1 || !isOuter)
      return fail(op, "turns are opened twice, or in a part of the kernel");
    opened = op;
    return success();
  case TurnKind::Close:
    if (!opened || isHeld || !isOuter)
      return fail(op, "turns are closed while somebody has one");
    opened = nullptr;
    return success();
  case TurnKind::Take:
  case TurnKind::Pass: {
    bool takes = op.getKind() == TurnKind::Take;
    if (!opened || isHeld == takes)
      return fail(op, takes ? "it takes a turn that it has, or before turns are opened"
                            : "it passes a turn that it does not have");
    isHeld = takes;
    return success();
  }
  }
  return failure();
}

/// Whether the turn is held after a block; a loop leaves it as it found it, and so does a branch.
FailureOr<bool> ScheduleCheck::walkTurns(Block &block, bool isHeld) {
  for (Operation &op : block) {
    if (auto turn = dyn_cast<TurnOp>(op)) {
      if (failed(checkTurn(turn, isHeld)))
        return failure();
      continue;
    }
    auto effects = dyn_cast<TileEffectsOpInterface>(op);
    auto wait = dyn_cast<BarrierWaitOp>(op);
    bool meets = isa<BarrierOp>(op) || (wait && !wait.getParity()) ||
                 (effects && analysis::meetsInMemory(effects, kernel.getNumThreads()));
    if (isHeld && meets) {
      (void)fail(&op, "threads meet while one warpgroup has the turn");
      return failure();
    }
    if (!isa<PipelinedOp, scf::ForOp, scf::IfOp, scf::WhileOp>(op))
      continue;
    for (Region &region : op.getRegions()) {
      if (region.empty())
        continue;
      FailureOr<bool> after = walkTurns(region.front(), isHeld);
      if (failed(after))
        return failure();
      if (*after != isHeld) {
        (void)fail(&op, "it takes or passes a turn on one of its ways");
        return failure();
      }
    }
  }
  return isHeld;
}

LogicalResult ScheduleCheck::checkTurns() {
  int64_t all = 0;
  kernel.walk([&](TurnOp) { ++all; });
  if (all == 0)
    return success();
  FailureOr<bool> isHeld = walkTurns(kernel.getBody().front(), false);
  if (failed(isHeld))
    return failure();
  if (*isHeld || opened || turns != all)
    return fail(kernel, "a turn is not over when the kernel ends, or another role's");
  bool isShared = false; // the barriers by number are the program's, too
  kernel.walk([&](BarrierAllocOp row) { isShared |= llvm::is_contained(row.getArrivals(), 0); });
  return isShared ? fail(kernel, "turns use the program's barriers by number") : success();
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
