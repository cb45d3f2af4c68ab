//===- ResumeRoles.cpp - roles that wait in the middle of loops and branches -----------------===//
//
// Where no order of the statements of all roles is known in advance, each role becomes a machine
// that can stop at a wait and go on there. Its statements are cut into pieces: in front of each wait,
// and where a loop or branch that holds one begins and ends. A number says which piece is next:
//
//   if producer:                     while a role is not through:
//     for k in range(n):               if producer:
//       wait(free, (k + 1) % 2)   ──▶    running = 1
//       copy; arrive(ready)              while running:
//   else: …                                if next == 0: k = 0;                    next = 1
//                                          if next == 1:                           next = k < n ? 2 : 4
//                                          if next == 2: running = free is over;   next = running ? 3 : 2
//                                          if next == 3: copy; arrive(ready); k++; next = 1
//                                                        running = 0
//                                      if consumer: …
//                                      assert that a role has gone on
//
// A role runs until a wait is not met, or to the end of an iteration of an outermost loop with
// waits: so loops of several roles run side by side. That is the order of docs/semantics.md.
//
// What a piece reads that another one has computed is computed again if it is a number, and else
// kept: for the block in shared memory, for each thread in a variable of its own. A wait for the
// phase of the arrival in front of it (`T.sync_threads(id, n)`) keeps the number of that phase.
//
// Expects: barriers, and the blocks of roles.   Leaves: no waits in roles; barriers are counters.
//===----------------------------------------------------------------------------------------===//

#include "ResumeRoles.h"

#include "ArrivalCounters.h"
#include "Waits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::threads {

namespace {

constexpr llvm::StringLiteral kDeadlock =
    "the roles wait for each other: each has come to a wait, and none of these is met";

//===----------------------------------------------------------------------------------------===//
// The pieces of a role
//===----------------------------------------------------------------------------------------===//

/// A condition under which only some threads of the role run a piece.
struct Guard {
  Value condition;
  bool isThen;
};

/// Statements without a wait, and how the role goes on after them.
struct Piece {
  enum Kind : uint8_t {
    Next,   ///< To `next`.
    Wait,   ///< To `next` if `wait` is met, else here again.
    Branch, ///< To `next` if `condition` holds, else to `other`.
    Enter,  ///< Into `loop`, whose variable starts: to `next`.
    Test,   ///< To `next` if `loop` goes on, else to `other`.
    Repeat  ///< Back to `next`, with the next value of the variable of `loop`, if it has one.
  } kind = Next;
  SmallVector<Operation *> statements;
  SmallVector<Guard, 1> guards;
  Location loc;
  BarrierWaitOp wait;
  Value condition;
  unsigned loop = 0; ///< Of the role's loops.
  unsigned next = 0, other = 0;
  bool yields = false; ///< Other roles get their turn.

  explicit Piece(Location loc) : loc(loc) {}
};

/// A loop with waits inside that counts.
struct Loop {
  Value variable, lower, upper, step;
};

class Cutter {
public:
  Cutter(const ThreadFacts &facts, const llvm::BitVector &threads)
      : facts(facts), threads(threads) {}

  /// Cuts a role into pieces; false if it has no such form.
  bool cut(Block &block) {
    start(block.getParentOp()->getLoc());
    return cutBlock(block.without_terminator(), /*depth=*/0);
  }

  std::vector<Piece> pieces;
  SmallVector<Loop> loops;
  /// What the whole group needs, in front of it.
  SmallVector<Operation *> allocations;

private:
  using Statements = llvm::iterator_range<Block::iterator>;

  unsigned getLast() const { return pieces.size() - 1; }

  /// Begins the next piece, to which the one before goes on.
  unsigned start(Location loc) {
    Piece piece(loc);
    piece.guards = guards;
    if (!pieces.empty() && pieces.back().kind == Piece::Next)
      pieces.back().next = pieces.size();
    pieces.push_back(std::move(piece));
    return getLast();
  }

  bool cutBlock(Statements statements, unsigned depth);
  bool cutWait(Operation *&op);
  bool cutBranch(scf::IfOp branch, unsigned depth);
  bool cutFor(Operation *op, Loop loop, Block &body, unsigned depth);
  bool cutWhile(scf::WhileOp loop, unsigned depth);

  const ThreadFacts &facts;
  llvm::BitVector threads;
  SmallVector<Guard, 1> guards;
};

bool Cutter::cutBlock(Statements statements, unsigned depth) {
  for (auto it = statements.begin(); it != statements.end();) {
    Operation *op = &*it;
    Operation *last = findEndOfStatement(op);
    it = std::next(last->getIterator());
    if (isa<BarrierAllocOp>(op) && depth)
      return false; // a new one in each iteration
    if (isa<AllocOp, BarrierAllocOp, AnnotateLayoutOp>(op)) {
      allocations.push_back(op);
      continue;
    }
    if (!holdsWait(last)) {
      pieces.back().statements.push_back(op);
      continue;
    }
    bool isCut = true;
    if (auto wait = dyn_cast<BarrierWaitOp>(last)) {
      unsigned number = start(last->getLoc()); // what is read for the wait is read when it is tried
      for (Operation *part = op; part != last; part = part->getNextNode())
        pieces[number].statements.push_back(part);
      pieces[number].kind = Piece::Wait;
      pieces[number].wait = wait;
      pieces[number].next = number + 1;
      start(last->getLoc());
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      isCut = cutBranch(branch, depth);
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      isCut = loop.getInitArgs().empty() && cutFor(op,
                                                   {loop.getInductionVar(), loop.getLowerBound(),
                                                    loop.getUpperBound(), loop.getStep()},
                                                   *loop.getBody(), depth);
    } else if (auto pipelined = dyn_cast<PipelinedOp>(op)) {
      isCut = cutFor(
          op, {pipelined.getInductionVar(), pipelined.getLower(), pipelined.getUpper(), Value()},
          pipelined.getBody().front(), depth);
    } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      isCut = cutWhile(loop, depth);
    } else {
      return false;
    }
    if (!isCut)
      return false;
  }
  return true;
}

bool Cutter::cutBranch(scf::IfOp branch, unsigned depth) {
  if (branch.getNumResults())
    return false;
  auto cutSide = [&](Region &side) {
    return side.empty() || cutBlock(side.front().without_terminator(), depth);
  };
  if (facts.varies(branch.getCondition())) {
    std::optional<llvm::BitVector> where = facts.threadsWhere(branch.getCondition());
    if (!where)
      return false;
    llvm::BitVector taking = threads, others = threads;
    taking &= *where;
    others.reset(*where);
    for (bool isThen : {true, false}) {
      llvm::BitVector &side = isThen ? taking : others;
      if (side.none())
        continue;
      std::swap(threads, side);
      bool isPartial = side != threads; // `side` is now what came here
      if (isPartial)
        guards.push_back({branch.getCondition(), isThen});
      start(branch.getLoc());
      bool isCut = cutSide(isThen ? branch.getThenRegion() : branch.getElseRegion());
      if (isPartial)
        guards.pop_back();
      std::swap(threads, side);
      if (!isCut)
        return false;
      start(branch.getLoc());
    }
    return true;
  }
  unsigned fork = getLast();
  pieces[fork].kind = Piece::Branch;
  pieces[fork].condition = branch.getCondition();
  pieces[fork].next = start(branch.getLoc());
  if (!cutSide(branch.getThenRegion()))
    return false;
  unsigned endOfThen = getLast();
  pieces[fork].other = start(branch.getLoc());
  if (!cutSide(branch.getElseRegion()))
    return false;
  pieces[endOfThen].next = start(branch.getLoc());
  return true;
}

bool Cutter::cutFor(Operation *op, Loop loop, Block &body, unsigned depth) {
  for (Value bound : {loop.lower, loop.upper, loop.step})
    if (bound && facts.varies(bound))
      return false;
  unsigned number = loops.size();
  loops.push_back(loop);
  unsigned enter = getLast();
  pieces[enter].kind = Piece::Enter;
  pieces[enter].loop = number;
  unsigned test = start(op->getLoc());
  pieces[enter].next = test;
  pieces[test].kind = Piece::Test;
  pieces[test].loop = number;
  pieces[test].next = start(op->getLoc());
  if (!cutBlock(body.without_terminator(), depth + 1))
    return false;
  Piece &last = pieces.back();
  last.kind = Piece::Repeat;
  last.loop = number;
  last.next = test;
  last.yields = depth == 0;
  pieces[test].other = start(op->getLoc());
  return true;
}

bool Cutter::cutWhile(scf::WhileOp loop, unsigned depth) {
  if (loop->getNumOperands() || loop->getNumResults() ||
      facts.varies(loop.getConditionOp().getCondition()))
    return false;
  unsigned test = start(loop.getLoc());
  if (!cutBlock(loop.getBeforeBody()->without_terminator(), depth + 1))
    return false;
  unsigned fork = getLast();
  pieces[fork].kind = Piece::Branch;
  pieces[fork].condition = loop.getConditionOp().getCondition();
  pieces[fork].next = start(loop.getLoc());
  if (!cutBlock(loop.getAfterBody()->without_terminator(), depth + 1))
    return false;
  Piece &last = pieces.back();
  last.next = test;
  last.kind = Piece::Repeat;
  last.loop = ~0U;
  last.yields = depth == 0;
  pieces[fork].other = start(loop.getLoc());
  return true;
}

//===----------------------------------------------------------------------------------------===//
// The machine
//===----------------------------------------------------------------------------------------===//

/// Writes the pieces of one role.
class RoleWriter {
public:
  RoleWriter(Cutter &cutter, Operation *front, const ThreadFacts &facts)
      : pieces(cutter.pieces), loops(cutter.loops), front(front), facts(facts) {
    for (const Piece &piece : pieces)
      cut.insert(piece.statements.begin(), piece.statements.end());
    for (auto [number, loop] : llvm::enumerate(loops))
      loopOf[loop.variable] = number;
    counts.resize(loops.size());
  }

  /// The pieces, one after another, each under the condition that it is the next one. `state` holds
  /// the number of the next piece at `slot`, and whether the role is running at `running`.
  void write(ImplicitLocOpBuilder &b, Value state, int64_t slot, int64_t running, int64_t progress);

private:
  void writeStatements(unsigned number, ImplicitLocOpBuilder &b);
  Value writeTransition(unsigned number, ImplicitLocOpBuilder &b);
  Value tryWait(Piece &piece, ImplicitLocOpBuilder &b);
  /// What a value of the program is in the current piece.
  Value resolve(Value value, ImplicitLocOpBuilder &b);
  /// A copy of a statement in the current piece.
  Operation *copy(Operation *op, ImplicitLocOpBuilder &b);
  /// Memory for a number that outlives its piece.
  Value makeSlot(Type type, bool isThreads, StringRef name);
  void save(ImplicitLocOpBuilder &b, Value value, Value slot);
  Value load(ImplicitLocOpBuilder &b, Type type, Value slot);
  Value countOf(unsigned loop) {
    if (!counts[loop])
      counts[loop] = makeSlot(IndexType::get(front->getContext()), /*isThreads=*/false, "loop");
    return counts[loop];
  }

  std::vector<Piece> &pieces;
  ArrayRef<Loop> loops;
  Operation *front;
  const ThreadFacts &facts;
  llvm::DenseSet<Operation *> cut; ///< All statements of pieces.
  llvm::DenseMap<Value, unsigned> loopOf;
  SmallVector<Value> counts;                 ///< Of each loop where its variable is.
  llvm::MapVector<Value, Value> kept;        ///< Values that outlive their piece, and where.
  llvm::DenseMap<Value, Value> computed;     ///< What they are in their piece.
  IRMapping mapping;                         ///< In the current piece.
  llvm::DenseMap<Operation *, Value> phases; ///< That waits are for.
};

Value RoleWriter::makeSlot(Type type, bool isThreads, StringRef name) {
  ImplicitLocOpBuilder b(front->getLoc(), front);
  if (type.isIndex())
    type = b.getI64Type();
  else if (type.isInteger(1))
    type = b.getI32Type();
  MemRefType buffer =
      isThreads ? makeBufferType({}, type, Space::Local) : makeBufferType({1}, type, Space::Shared);
  return AllocOp::create(b, buffer, b.getStringAttr(name), ValueRange(), ReduceKindAttr());
}

static SmallVector<Value, 1> firstOf(ImplicitLocOpBuilder &b, Value slot) {
  if (cast<MemRefType>(slot.getType()).getRank() == 0)
    return {};
  return {arith::ConstantIndexOp::create(b, 0)};
}

void RoleWriter::save(ImplicitLocOpBuilder &b, Value value, Value slot) {
  Type element = cast<MemRefType>(slot.getType()).getElementType();
  if (value.getType().isIndex())
    value = arith::IndexCastOp::create(b, element, value);
  else if (value.getType().isInteger(1))
    value = arith::ExtUIOp::create(b, element, value);
  StoreOp::create(b, value, slot, firstOf(b, slot));
}

Value RoleWriter::load(ImplicitLocOpBuilder &b, Type type, Value slot) {
  Type element = cast<MemRefType>(slot.getType()).getElementType();
  Value value = LoadOp::create(b, element, slot, firstOf(b, slot));
  if (type.isIndex())
    return arith::IndexCastOp::create(b, type, value);
  if (type.isInteger(1))
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, value,
                                 arith::ConstantIntOp::create(b, 0, 32));
  return value;
}

Value RoleWriter::resolve(Value value, ImplicitLocOpBuilder &b) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  Value result = value;
  Operation *op = value.getDefiningOp();
  if (auto loop = loopOf.find(value); loop != loopOf.end()) {
    result = load(b, value.getType(), countOf(loop->second));
  } else if (!op || !cut.contains(op)) {
    return value; // it stands around or in front of all roles, or is inside of a statement
  } else if (isPureScalar(op)) {
    copy(op, b);
    return mapping.lookup(value);
  } else {
    Value &slot = kept[value];
    if (!slot)
      slot = makeSlot(value.getType(), facts.varies(value), "kept");
    result = load(b, value.getType(), slot);
  }
  mapping.map(value, result);
  return result;
}

Operation *RoleWriter::copy(Operation *op, ImplicitLocOpBuilder &b) {
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (Value known = resolve(operand, b); known != operand)
        mapping.map(operand, known);
  });
  return b.clone(*op, mapping);
}

void RoleWriter::writeStatements(unsigned number, ImplicitLocOpBuilder &b) {
  Piece &piece = pieces[number];
  for (const Guard &guard : piece.guards) {
    Value condition = resolve(guard.condition, b);
    if (!guard.isThen)
      condition = arith::XOrIOp::create(b, condition, arith::ConstantIntOp::create(b, 1, 1));
    auto branch = scf::IfOp::create(b, condition, /*withElseRegion=*/false);
    b.setInsertionPointToStart(&branch.getThenRegion().front());
  }
  for (Operation *op : piece.statements) {
    Operation *copied = copy(op, b);
    for (auto [value, result] : llvm::zip(op->getResults(), copied->getResults()))
      computed[value] = result;
  }
}

/// Whether the wait is over.
Value RoleWriter::tryWait(Piece &piece, ImplicitLocOpBuilder &b) {
  Value index = resolve(piece.wait.getIndex(), b);
  if (Value parity = piece.wait.getParity())
    return isParityOver(b, piece.wait, index, resolve(parity, b));
  Value phase = load(b, b.getI32Type(), phases.at(piece.wait));
  return isPhaseOver(b, piece.wait, index, phase);
}

/// The number of the next piece.
Value RoleWriter::writeTransition(unsigned number, ImplicitLocOpBuilder &b) {
  Piece &piece = pieces[number];
  auto constant = [&](unsigned value) -> Value {
    return arith::ConstantIntOp::create(b, value, 32);
  };
  auto choose = [&](Value condition) -> Value {
    return arith::SelectOp::create(b, condition, constant(piece.next), constant(piece.other));
  };
  switch (piece.kind) {
  case Piece::Next:
    return constant(piece.next);
  case Piece::Wait:
    piece.other = number;
    return choose(tryWait(piece, b));
  case Piece::Branch:
    return choose(resolve(piece.condition, b));
  case Piece::Enter:
    save(b, resolve(loops[piece.loop].lower, b), countOf(piece.loop));
    return constant(piece.next);
  case Piece::Test: {
    const Loop &loop = loops[piece.loop];
    Value at = load(b, loop.variable.getType(), countOf(piece.loop));
    return choose(arith::CmpIOp::create(b, arith::CmpIPredicate::slt, at, resolve(loop.upper, b)));
  }
  case Piece::Repeat:
    if (piece.loop != ~0U) {
      const Loop &loop = loops[piece.loop];
      Value at = load(b, loop.variable.getType(), countOf(piece.loop));
      Value step =
          loop.step ? resolve(loop.step, b) : arith::ConstantIndexOp::create(b, 1).getResult();
      save(b, arith::AddIOp::create(b, at, step), countOf(piece.loop));
    }
    return constant(piece.next);
  }
  llvm_unreachable("all kinds of pieces are handled");
}

void RoleWriter::write(ImplicitLocOpBuilder &b, Value state, int64_t slot, int64_t running,
                       int64_t progress) {
  auto index = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(b, value); };
  auto number = [&](int64_t value) -> Value { return arith::ConstantIntOp::create(b, value, 32); };
  for (unsigned at = 0; at < pieces.size(); ++at) {
    Piece &piece = pieces[at];
    mapping.clear();
    b.setLoc(piece.loc);
    Value next = LoadOp::create(b, b.getI32Type(), state, index(slot));
    Value isNext = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, next, number(at));
    auto branch = scf::IfOp::create(b, isNext, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard outside(b);
    b.setInsertionPointToStart(&branch.getThenRegion().front());
    {
      OpBuilder::InsertionGuard guard(b);
      writeStatements(at, b);
      // A wait for the phase of an arrival of its own: which phase that is, is known now.
      if (at + 1 < pieces.size() && pieces[at + 1].kind == Piece::Wait &&
          !pieces[at + 1].wait.getParity()) {
        BarrierWaitOp wait = pieces[at + 1].wait;
        Value phase = makeSlot(b.getI32Type(), /*isThreads=*/false, "phase");
        phases[wait] = phase;
        save(b, countPhaseOfArrival(b, wait, resolve(wait.getIndex(), b)), phase);
      }
    }
    if (!piece.guards.empty())
      mapping.clear(); // what stands under guards is not seen outside
    b.setInsertionPoint(branch.getThenRegion().front().getTerminator());
    Value chosen = writeTransition(at, b);
    StoreOp::create(b, chosen, state, index(slot));
    bool isEnd = at + 1 == pieces.size();
    if (piece.kind == Piece::Wait) {
      Value isMet = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, chosen, number(at));
      Value met = arith::ExtUIOp::create(b, b.getI32Type(), isMet);
      StoreOp::create(b, met, state, index(running));
      Value before = LoadOp::create(b, b.getI32Type(), state, index(progress));
      StoreOp::create(b, arith::OrIOp::create(b, before, met), state, index(progress));
    } else {
      StoreOp::create(b, number(1), state, index(progress));
      if (piece.yields || isEnd)
        StoreOp::create(b, number(0), state, index(running));
    }
  }
  for (auto [value, slot] : kept) {
    b.setLoc(value.getLoc());
    b.setInsertionPointAfterValue(computed.at(value));
    save(b, computed.at(value), slot);
  }
}

} // namespace

bool resumeRoles(ArrayRef<RoleBody> roles, Operation *end, const ThreadFacts &facts) {
  std::vector<Cutter> cutters;
  for (const RoleBody &role : roles) {
    std::optional<llvm::BitVector> threads = facts.threadsWhere(role.condition);
    if (!threads)
      return false;
    Cutter &cutter = cutters.emplace_back(facts, *threads);
    if (!cutter.cut(*role.block))
      return false;
    cutter.pieces.back().next = cutter.pieces.size();
  }
  for (Cutter &cutter : cutters)
    for (Operation *op : cutter.allocations)
      for (Value operand : op->getOperands())
        if (llvm::any_of(roles, [&](const RoleBody &role) {
              Operation *holder = role.block->getParentOp();
              return operand.getDefiningOp() && holder->isProperAncestor(operand.getDefiningOp()) &&
                     !llvm::is_contained(cutter.allocations, operand.getDefiningOp());
            }))
          return false;
  ImplicitLocOpBuilder b(end->getLoc(), end);
  for (Cutter &cutter : cutters)
    for (Operation *op : cutter.allocations)
      op->moveBefore(end);
  int64_t running = roles.size(), progress = roles.size() + 1;
  auto index = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(b, value); };
  auto number = [&](int64_t value) -> Value { return arith::ConstantIntOp::create(b, value, 32); };
  Value state =
      AllocOp::create(b, makeBufferType({int64_t(roles.size()) + 2}, b.getI32Type(), Space::Shared),
                      b.getStringAttr("roles"), ValueRange(), ReduceKindAttr());
  FillOp::create(b, number(0), state);
  auto turns = scf::WhileOp::create(b, TypeRange(), ValueRange());
  b.createBlock(&turns.getBefore());
  Value isLeft;
  for (auto [role, cutter] : llvm::enumerate(cutters)) {
    Value next = LoadOp::create(b, b.getI32Type(), state, index(role));
    Value isUnderWay =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ne, next, number(cutter.pieces.size()));
    isLeft = isLeft ? arith::OrIOp::create(b, isLeft, isUnderWay).getResult() : isUnderWay;
  }
  scf::ConditionOp::create(b, isLeft, ValueRange());
  b.createBlock(&turns.getAfter());
  scf::YieldOp::create(b);
  b.setInsertionPointToStart(turns.getAfterBody());
  StoreOp::create(b, number(0), state, index(progress));
  for (auto [role, cutter] : llvm::enumerate(cutters)) {
    auto branch = scf::IfOp::create(b, roles[role].condition, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard outside(b);
    b.setInsertionPointToStart(&branch.getThenRegion().front());
    Value next = LoadOp::create(b, b.getI32Type(), state, index(role));
    Value isUnderWay =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ne, next, number(cutter.pieces.size()));
    StoreOp::create(b, arith::ExtUIOp::create(b, b.getI32Type(), isUnderWay), state,
                    index(running));
    auto run = scf::WhileOp::create(b, TypeRange(), ValueRange());
    b.createBlock(&run.getBefore());
    Value isRunning =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ne,
                              LoadOp::create(b, b.getI32Type(), state, index(running)), number(0));
    scf::ConditionOp::create(b, isRunning, ValueRange());
    b.createBlock(&run.getAfter());
    scf::YieldOp::create(b);
    b.setInsertionPointToStart(run.getAfterBody());
    RoleWriter(cutter, turns, facts).write(b, state, role, running, progress);
  }
  b.setInsertionPoint(turns.getAfterBody()->getTerminator());
  Value gone = LoadOp::create(b, b.getI32Type(), state, index(progress));
  AssertOp::create(b, arith::CmpIOp::create(b, arith::CmpIPredicate::ne, gone, number(0)),
                   kDeadlock);
  return true;
}

} // namespace tilewright::threads
