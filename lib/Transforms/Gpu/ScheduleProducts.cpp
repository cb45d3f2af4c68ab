//===- ScheduleProducts.cpp - products run beside the next iteration ---------------------------===//
//
// In a loop whose copies a producer issues, a product (wgmma) that is left open runs on until
// something needs its end: the release of the tiles it reads, or a statement that touches its
// registers. This pass moves what an iteration does last to the next iteration, so that there is
// work beside the product. The first iteration is peeled, and what is left over follows the loop:
//
//   for k { A(k); T(k) }   ──▶   if (lower < upper) {
//                                  A(lower)
//                                  for k from lower + 1 { head of A(k); T(k - 1); rest of A(k) }
//                                  T(upper - 1)
//                                }
//
// Two forms are known:
//
//   one product        T is the release. Two products follow each other without a gap: the wait in
//                      front of the release of version k - 1 leaves product k open.
//   two products       T is the second one (attention: P V). It is issued after the first one of the
//   with work between  next iteration (S = Q K), and runs beside the work (softmax). The release of
//                      what it reads goes in front of the first statement that needs its end.
//
//     wait K(k); S = Q K(k); wait V(k - 1); O += P V(k - 1); release K(k)      // one product open
//     softmax of S                                                            // beside O += P V
//     release V(k - 1); rescale O; P = S                                      // no product open
//
// Where a mask matters in the last iterations only (causal attention), a copy of the loop without the mask, one with
// it and the peeled iteration would be three times the same code. There an outer loop runs over *segments*: the
// first one ends where the mask begins to matter, and each iteration after that is one by itself. The peeled
// iteration tests, the loop does not. It has the product of the iteration before beside it, if there is one:
//
//   for end from split to upper + 1 {         // split: at least lower + 1
//     begin = end == split ? lower : end - 1
//     head of A(begin); if (begin > lower) T(begin - 1); rest of A(begin)       // with the mask
//     for k from begin + 1 to end { head of A(k); T(k - 1); rest of A(k) }
//   }
//   T(upper - 1)
//
// In other loops, products move inside their iteration (OverlapProducts.h). Besides, the warpgroups of a block can
// take turns at issuing their products (TakeTurns.h). A model of the machine (ScheduleModel.h) predicts how
// long an iteration takes in each of these orders: one that it expects to be slower than the program's is not
// taken, and turns only where they save cycles. A product that runs beside the next iteration holds
// registers meanwhile; where there are too few (LoopRegisters.h), turns are what is left. Where a loop keeps
// its order, a remark says why. insert-orderings places the waits for products, and check-schedule proves the
// result.
//
// Expects: roles (split-roles).   Leaves: loops in another order, copies of ops, `tile.turn`.
//===----------------------------------------------------------------------------------------===//

#include "LoopRegisters.h"
#include "MaskBounds.h"
#include "OverlapProducts.h"
#include "Roles.h"
#include "ScheduleModel.h"
#include "TakeTurns.h"
#include "tilewright/Analysis/SharedTiles.h"
#include "tilewright/Tile/Remarks.h"
#include "tilewright/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/Support/FormatVariadic.h"

namespace tilewright {
#define GEN_PASS_DEF_SCHEDULEPRODUCTS
#include "tilewright/Transforms/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

namespace {

/// A version that is released an iteration later is lost to the copies meanwhile: two must be left.
constexpr int64_t kLeastVersions = 3;

/// So many iterations may run without one beside them, where masks begin to matter.
constexpr int64_t kMostMasked = 4;

/// What an iteration leaves to the next one.
struct Rotation {
  GemmOp anchor;                     ///< What is moved follows this product,
  SmallVector<Operation *> moved;    ///< but for releases,
  SmallVector<Operation *> releases; ///< which stand in front of `end`, or right after it.
  Operation *end = nullptr;
};

/// Iterations that run after each other in the loop.
struct Segment {
  Value begin, end;
  Value isLater; ///< Whether another segment is before it. Null: no other exists.
};

class Scheduler {
public:
  explicit Scheduler(PipelinedOp loop) : loop(loop), body(loop.getBody().front()) {}
  void run();

private:
  std::string plan();
  std::string planOne(GemmOp product);
  std::string planTwo(GemmOp first, GemmOp second);
  bool canMove(Operation *op);
  Segment writeSegments(ImplicitLocOpBuilder &b, ArrayRef<Mask> masks);
  void writeJoint(ImplicitLocOpBuilder &b, const Segment &segment, const IRMapping &peeled);
  void rotate();
  Operation *writePrevious(ImplicitLocOpBuilder &b, Operation *op, Value iteration,
                           IRMapping &mapping);
  Value previous(ImplicitLocOpBuilder &b, Value value, Value iteration, IRMapping &mapping);
  SmallVector<OrderedStatement> getOrder(bool isRotated);
  std::string findRoomObstacle();
  bool isSlower(ArrayRef<OrderedStatement> order);
  void overlap();
  void restore();
  bool considerTurns(ArrayRef<OrderedStatement> order);
  void chooseTurns(ArrayRef<OrderedStatement> written);
  void remark(StringRef obstacle);
  void remarkOverlap(GemmOp product);
  void remarkTurns();
  void remarkPrediction();

  PipelinedOp loop;
  Block &body;
  SmallVector<GemmOp> products;
  Rotation rotation;
  bool isFlat = false; ///< Products and waits stand directly in the loop, copies do not.
  bool isRotated = false;
  SmallVector<Operation *> before; ///< The statements as they stood before `overlap` moved them.
  SmallVector<GemmOp> overlapped;
  llvm::DenseMap<Operation *, Operation *> inLoop; ///< Of `rotation.moved`: what stands for it now.
  std::optional<TurnPlan> turns;
  /// Cycles of an iteration in the program's order, with moved products, with turns; the one that is taken.
  SchedulePrediction asWritten, moved, inTurns, chosen;
};

//===----------------------------------------------------------------------------------------===//
// What is moved
//===----------------------------------------------------------------------------------------===//

/// Whether all that an op of the body uses can be computed for another iteration.
bool Scheduler::canMove(Operation *op) {
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    Operation *definition = operand.getDefiningOp();
    if (!definition || definition->getBlock() != &body)
      return true;
    return isPlain(definition) && canMove(definition);
  });
}

std::string Scheduler::planOne(GemmOp product) {
  for (Operation *next = product->getNextNode(); next && isa<BarrierArriveOp>(next);
       next = next->getNextNode())
    rotation.releases.push_back(next);
  if (rotation.releases.empty())
    return "other statements read its tiles after it";
  for (Operation *release : rotation.releases) {
    auto row = cast<BarrierArriveOp>(release).getBarriers().getDefiningOp<BarrierAllocOp>();
    if (int64_t(row.getArrivals().size()) < kLeastVersions)
      return "two stages leave the copies no version to run ahead into";
  }
  SmallVector<Value> held{getRoot(product.getC())};
  if (getSpace(getRoot(product.getA())) == Space::Fragment)
    held.push_back(getRoot(product.getA()));
  for (Operation &op : body.without_terminator())
    if (&op != product && !isPlain(&op) && analysis::touchesAny(&op, held))
      return "the iteration uses its result";
  rotation.anchor = product;
  return "";
}

std::string Scheduler::planTwo(GemmOp first, GemmOp second) {
  for (Operation *next = second->getNextNode(); next != body.getTerminator();
       next = next->getNextNode()) {
    if (isa<BarrierArriveOp>(next))
      rotation.releases.push_back(next);
    else if (!isPlain(next))
      return "statements follow the last product";
  }
  auto isMoved = [&](Operation *op) {
    return op == second || llvm::is_contained(rotation.moved, op) ||
           llvm::is_contained(rotation.releases, op);
  };
  // Waits for what the second product alone reads go with it.
  for (Operation *op = first->getNextNode(); op != second; op = op->getNextNode()) {
    auto wait = dyn_cast<BarrierWaitOp>(op);
    if (!wait)
      continue;
    SmallVector<Value> tiles = findFilledTiles(wait.getBarriers());
    bool isOnly = llvm::none_of(body, [&](Operation &other) {
      return &other != second && !isPlain(&other) && analysis::touchesAny(&other, tiles);
    });
    if (isOnly && !tiles.empty())
      rotation.moved.push_back(wait);
  }
  rotation.moved.push_back(second);
  for (Operation *op = &body.front(); op != first->getNextNode(); op = op->getNextNode())
    if (!isPlain(op) && analysis::haveConflict(op, second))
      return "statements before the first product touch what the last one does";
  rotation.end = body.getTerminator();
  bool hasWork = false;
  for (Operation *op = first->getNextNode(); op != body.getTerminator(); op = op->getNextNode()) {
    if (isPlain(op) || isa<BarrierArriveOp, BarrierWaitOp>(op) || isMoved(op))
      continue;
    if (analysis::haveConflict(op, second)) {
      rotation.end = op;
      break;
    }
    hasWork = true;
  }
  if (!hasWork)
    return "no work of the iteration can run beside one of them";
  rotation.anchor = first;
  return "";
}

std::string Scheduler::plan() {
  for (GemmOp gemm : body.getOps<GemmOp>())
    if (gemm->hasAttr(kAsyncAttr))
      products.push_back(gemm);
  bool isNested = false;
  loop.walk([&](Operation *op) {
    bool isOwn = op->getBlock() == &body;
    isNested |= !isOwn && isa<BarrierWaitOp, BarrierArriveOp, AsyncGroupOp>(op);
    auto gemm = dyn_cast<GemmOp>(op);
    isNested |= gemm && gemm->hasAttr(kGroupsAttr) && (!isOwn || !gemm->hasAttr(kAsyncAttr));
  });
  if (isNested)
    return "products or waits stand inside other statements";
  if (!body.getOps<AsyncGroupOp>().empty())
    return "the program's threads issue copies too";
  isFlat = true;
  if (products.size() > 2)
    return "it has more than two products";
  if (std::string obstacle =
          products.size() == 1 ? planOne(products[0]) : planTwo(products[0], products[1]);
      !obstacle.empty())
    return obstacle;
  for (Operation *op : llvm::concat<Operation *>(rotation.moved, rotation.releases))
    if (!canMove(op))
      return "what it reads depends on what the iteration computes";
  return products.size() == 1 ? "" : findRoomObstacle();
}

/// A product beside the next iteration holds what it reads while that computes the same anew.
std::string Scheduler::findRoomObstacle() {
  auto kernel = loop->getParentOfType<KernelOp>();
  constexpr int64_t kMaxRegisters = 255;
  auto given = kernel->getAttrOfType<IntegerAttr>(kRegistersAttr);
  int64_t room = std::min(kMaxRegisters, given ? given.getInt() : getGrantedRegisters(kernel));
  int64_t need = countLoopRegisters(loop, getOrder(/*isRotated=*/true)) + kOtherRegisters;
  if (need <= room)
    return "";
  return llvm::formatv("beside the next one it takes {0} registers a thread, of {1}", need, room);
}

//===----------------------------------------------------------------------------------------===//
// How it is moved
//===----------------------------------------------------------------------------------------===//

/// What a value of the body is in the iteration before `iteration`.
Value Scheduler::previous(ImplicitLocOpBuilder &b, Value value, Value iteration,
                          IRMapping &mapping) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  if (value == loop.getInductionVar()) {
    Value before =
        b.createOrFold<arith::SubIOp>(iteration, arith::ConstantIndexOp::create(b, 1).getResult());
    mapping.map(value, before);
    return before;
  }
  Operation *definition = value.getDefiningOp();
  if (!definition || definition->getBlock() != &body)
    return value;
  // Versions and phases count on from the loop's own iteration, so that the loop carries them.
  auto version = dyn_cast<VersionOp>(definition);
  auto phase = dyn_cast<PhaseOp>(definition);
  Value result;
  if (version && version.getIteration() == loop.getInductionVar())
    result = VersionOp::create(b, b.getIndexType(), iteration, version.getFirst(),
                               version.getAhead() + version.getCount() - 1, version.getCount());
  else if (phase && phase.getIteration() == loop.getInductionVar())
    result = PhaseOp::create(b, b.getIndexType(), iteration, phase.getFirst(),
                             phase.getAhead() + 2 * phase.getCount() - 1, phase.getCount());
  if (result) {
    mapping.map(value, result);
    return result;
  }
  writePrevious(b, definition, iteration, mapping);
  return mapping.lookup(value);
}

Operation *Scheduler::writePrevious(ImplicitLocOpBuilder &b, Operation *op, Value iteration,
                                    IRMapping &mapping) {
  for (Value operand : op->getOperands())
    (void)previous(b, operand, iteration, mapping);
  return b.clone(*op, mapping);
}

/// Puts the loop, which no iteration precedes or follows yet, into a loop over segments: the tiles that the mask
/// lets through whole, and then each of the others by itself.
Segment Scheduler::writeSegments(ImplicitLocOpBuilder &b, ArrayRef<Mask> masks) {
  Value lower = loop.getLower(), upper = loop.getUpper();
  Value one = arith::ConstantIndexOp::create(b, 1);
  Value firstEnd = upper;
  for (const Mask &mask : masks)
    firstEnd = arith::MinSIOp::create(b, firstEnd, makeBound(b, mask));
  firstEnd = arith::MaxSIOp::create(b, arith::AddIOp::create(b, lower, one), firstEnd);
  auto segments = scf::ForOp::create(b, firstEnd, arith::AddIOp::create(b, upper, one), one);
  segments->setAttr(kSegmentsAttr, b.getUnitAttr());
  InFlightDiagnostic diag = loop.emitRemark();
  diag << "tiles that the mask lets through whole run in a loop of their own, without it; the "
          "others one "
          "by one";
  describeRemark(diag, "schedule", "", {{"masks", int64_t(masks.size())}});
  loop->moveBefore(segments.getBody()->getTerminator());
  b.setInsertionPoint(loop);
  Value end = segments.getInductionVar();
  Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, end, firstEnd);
  Value begin =
      arith::SelectOp::create(b, isFirst, lower, arith::SubIOp::create(b, end, one).getResult());
  return {begin, end, arith::CmpIOp::create(b, arith::CmpIPredicate::ne, end, firstEnd)};
}

/// What the iteration before a segment leaves to its first one, which the loop does not hold. `peeled` maps to
/// the statements of that.
void Scheduler::writeJoint(ImplicitLocOpBuilder &b, const Segment &segment,
                           const IRMapping &peeled) {
  OpBuilder::InsertionGuard guard(b);
  auto write = [&](ArrayRef<Operation *> ops, bool opens) {
    if (ops.empty())
      return;
    auto branch = scf::IfOp::create(b, segment.isLater, /*withElseRegion=*/opens);
    if (opens)
      branch->setAttr(kLeavesOpenAttr, b.getUnitAttr());
    b.setInsertionPoint(branch.thenBlock()->getTerminator());
    IRMapping mapping;
    for (Operation *op : ops)
      writePrevious(b, op, segment.begin, mapping);
  };
  b.setInsertionPointAfter(peeled.lookup(rotation.anchor.getOperation()));
  write(rotation.moved, /*opens=*/true);
  if (rotation.end)
    b.setInsertionPoint(rotation.end == body.getTerminator() ? loop.getOperation()
                                                             : peeled.lookup(rotation.end));
  write(rotation.releases, /*opens=*/false);
}

void Scheduler::rotate() {
  ImplicitLocOpBuilder b(loop.getLoc(), loop);
  Value lower = loop.getLower(), upper = loop.getUpper();
  std::optional<int64_t> first = getConstantIntValue(lower), end = getConstantIntValue(upper);
  if (!first || !end || *first >= *end) {
    Value isAny = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, lower, upper);
    auto guard = scf::IfOp::create(b, isAny, /*withElseRegion=*/false);
    loop->moveBefore(guard.thenBlock()->getTerminator());
    b.setInsertionPoint(loop);
  }
  SmallVector<Mask, 0> masks = findMasks(loop);
  bool hasSegments =
      !masks.empty() && countMasked(masks, upper).value_or(kMostMasked + 1) <= kMostMasked;
  Segment segment{lower, upper, Value()};
  if (hasSegments)
    segment = writeSegments(b, masks);
  auto isLeft = [&](Operation *op) {
    return llvm::is_contained(rotation.moved, op) || llvm::is_contained(rotation.releases, op);
  };
  IRMapping peeled;
  peeled.map(loop.getInductionVar(), segment.begin);
  for (Operation &op : body.without_terminator())
    if (!isLeft(&op))
      b.clone(op, peeled);
  Value second = b.createOrFold<arith::AddIOp>(segment.begin,
                                               arith::ConstantIndexOp::create(b, 1).getResult());
  loop.getLowerMutable().assign(second);
  loop.getUpperMutable().assign(segment.end);
  if (hasSegments) {
    writeJoint(b, segment, peeled);
    for (const Mask &mask : masks)
      dropTest(mask.test);
  }
  IRMapping within, after;
  b.setInsertionPointAfter(rotation.anchor);
  for (Operation *op : rotation.moved)
    inLoop[op] = writePrevious(b, op, loop.getInductionVar(), within);
  if (rotation.end)
    b.setInsertionPoint(rotation.end);
  for (Operation *op : rotation.releases)
    writePrevious(b, op, loop.getInductionVar(), within);
  b.setInsertionPointAfter(hasSegments ? loop->getParentOp() : loop);
  for (Operation *op : llvm::concat<Operation *>(rotation.moved, rotation.releases))
    writePrevious(b, op, upper, after);
  for (Operation *op : llvm::concat<Operation *>(rotation.moved, rotation.releases))
    op->erase();
}

void Scheduler::remark(StringRef obstacle) {
  if (!obstacle.empty()) {
    InFlightDiagnostic diag = loop.emitRemark();
    diag << "products of this loop end in their own iteration: " << obstacle;
    describeRemark(diag, "schedule", "", {{"reason", obstacle}});
    return;
  }
  StringRef sums = tile::getName(getRoot(products.back().getC()));
  InFlightDiagnostic diag = products.back().emitRemark();
  diag << "the product of '" << sums << "' runs beside the next iteration; the first one is peeled";
  describeRemark(diag, "schedule", sums, {{"overlap", int64_t(products.size())}});
}

void Scheduler::remarkOverlap(GemmOp product) {
  StringRef sums = tile::getName(getRoot(product.getC()));
  InFlightDiagnostic diag = product.emitRemark();
  diag << "the product of '" << sums << "' runs beside other statements of its iteration";
  describeRemark(diag, "schedule", sums, {{"overlap", int64_t(products.size())}});
}

//===----------------------------------------------------------------------------------------===//
// Whether it is moved
//===----------------------------------------------------------------------------------------===//

/// The statements of an iteration, as they stand or as the rotation would have them.
SmallVector<OrderedStatement> Scheduler::getOrder(bool isRotated) {
  SmallVector<OrderedStatement> order;
  auto isLeft = [&](Operation *op) {
    return llvm::is_contained(rotation.moved, op) || llvm::is_contained(rotation.releases, op);
  };
  auto add = [&](ArrayRef<Operation *> ops) {
    for (Operation *op : ops)
      order.push_back({op, 1});
  };
  for (Operation &op : body.without_terminator()) {
    if (isPlain(&op) || (isRotated && isLeft(&op)))
      continue;
    if (isRotated && &op == rotation.end)
      add(rotation.releases);
    order.push_back({&op, 0});
    if (!isRotated || &op != rotation.anchor)
      continue;
    add(rotation.moved);
    if (!rotation.end)
      add(rotation.releases);
  }
  if (isRotated && rotation.end == body.getTerminator())
    add(rotation.releases);
  return order;
}

/// Whether the model expects that an order takes longer than that of the program, by more than its own error.
bool Scheduler::isSlower(ArrayRef<OrderedStatement> order) {
  constexpr double kTolerance = 1.1;
  moved = predictSchedule(loop, order);
  if (moved.cycles > kTolerance * asWritten.cycles)
    return true;
  chosen = moved;
  return false;
}

/// Moves products inside their iteration, and back again if that does not pay.
void Scheduler::overlap() {
  for (Operation &op : body.without_terminator())
    before.push_back(&op);
  overlapped = overlapProducts(loop);
  if (!overlapped.empty() && isSlower(getOrder(/*isRotated=*/false)))
    restore();
}

void Scheduler::restore() {
  for (Operation *op : before)
    op->moveBefore(body.getTerminator());
  overlapped.clear();
}

/// Takes turns in this order if that is faster than what was chosen, by more than a turn may cost.
bool Scheduler::considerTurns(ArrayRef<OrderedStatement> order) {
  constexpr double kGain = 0.98;
  std::optional<TurnPlan> plan = planTurns(loop, order);
  if (!plan)
    return false;
  SchedulePrediction prediction = predictSchedule(loop, addTurns(order, *plan));
  if (prediction.cycles == 0)
    return false;
  if (inTurns.cycles == 0 || prediction.cycles < inTurns.cycles)
    inTurns = prediction;
  if (prediction.cycles >= (turns ? 1 : kGain) * chosen.cycles)
    return false;
  turns = plan;
  chosen = prediction;
  return true;
}

/// Turns in the order that was chosen, or in the program's.
void Scheduler::chooseTurns(ArrayRef<OrderedStatement> written) {
  considerTurns(getOrder(isRotated));
  bool isMoved = isRotated || !overlapped.empty();
  if (!isMoved || !considerTurns(written))
    return;
  if (!overlapped.empty())
    restore();
  isRotated = false;
}

void Scheduler::remarkTurns() {
  int64_t groups = loop->getParentOfType<KernelOp>().getNumThreads() / 128;
  InFlightDiagnostic diag = loop.emitRemark();
  diag << groups << " warpgroups take turns: one issues its products while the others compute";
  describeRemark(diag, "schedule", "", {{"turns", groups}});
}

void Scheduler::remarkPrediction() {
  int64_t cycles = int64_t(chosen.cycles);
  if (cycles == 0)
    return;
  InFlightDiagnostic diag = loop.emitRemark();
  diag << "predicted: " << cycles << " cycles an iteration";
  SmallVector<RemarkFact> facts{{"cycles", cycles}};
  auto compare = [&](const SchedulePrediction &other, bool isChosen, StringRef how,
                     StringRef fact) {
    if (other.cycles == 0)
      return;
    if (!isChosen)
      diag << ", " << int64_t(other.cycles) << " " << how;
    facts.emplace_back(fact, int64_t(other.cycles));
  };
  bool isMoved = isRotated || !overlapped.empty();
  compare(asWritten, !isMoved && !turns, "in the order of the program", "as_written");
  compare(moved, isMoved && !turns, "with products beside other work", "moved");
  compare(inTurns, turns.has_value(), "if warpgroups take turns", "in_turns");
  diag << "; they pass through " << chosen.critical;
  facts.emplace_back("critical", chosen.critical);
  describeRemark(diag, "schedule", "", facts);
}

void Scheduler::run() {
  bool hasProduct =
      llvm::any_of(body.getOps<GemmOp>(), [](GemmOp gemm) { return gemm->hasAttr(kAsyncAttr); });
  if (!hasProduct || body.getOps<BarrierArriveOp>().empty())
    return;
  std::string obstacle = plan();
  SmallVector<OrderedStatement> written = getOrder(/*isRotated=*/false);
  asWritten = chosen = predictSchedule(loop, written);
  if (obstacle.empty() && isSlower(getOrder(/*isRotated=*/true)))
    obstacle = "the next iteration would take longer";
  isRotated = obstacle.empty();
  if (!isRotated && isFlat)
    overlap();
  if (isFlat)
    chooseTurns(written);
  if (obstacle.empty() && !isRotated)
    obstacle = "it is faster if warpgroups take turns";
  remarkPrediction();
  for (GemmOp product : overlapped)
    remarkOverlap(product);
  if (overlapped.empty() || products.size() == 2)
    remark(obstacle);
  if (turns)
    remarkTurns();
  if (isRotated)
    rotate();
  if (!turns)
    return;
  auto nowOf = [&](Operation *op) { return inLoop.lookup_or(op, op); };
  takeTurns(loop, {nowOf(turns->first), nowOf(turns->last), turns->wraps});
}

struct ScheduleProductsPass : tilewright::impl::ScheduleProductsBase<ScheduleProductsPass> {
  void runOnOperation() override {
    SmallVector<PipelinedOp> loops;
    getOperation()->walk([&](PipelinedOp loop) {
      auto kernel = loop->getParentOfType<KernelOp>();
      if (!loop->getParentOfType<RoleOp>() && kernel && !kernel.getBody().getOps<RoleOp>().empty())
        loops.push_back(loop);
    });
    for (PipelinedOp loop : loops)
      Scheduler(loop).run();
  }
};

} // namespace
