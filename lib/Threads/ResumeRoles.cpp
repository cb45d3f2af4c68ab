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
//                                      if none has gone on: refuse the waits they stand at
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
#include "RolePieces.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::threads {

namespace {

constexpr llvm::StringLiteral kDeadlock =
    "this wait is not met: what it waits for comes later or never, and no role can go on";

//===----------------------------------------------------------------------------------------===//
// The machine
//===----------------------------------------------------------------------------------------===//

/// Writes the pieces of one role.
class RoleWriter {
public:
  RoleWriter(RolePieces &role, Operation *front, const ThreadFacts &facts)
      : pieces(role.pieces), loops(role.loops), front(front), facts(facts) {
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

//===----------------------------------------------------------------------------------------===//
// The turns of all roles
//===----------------------------------------------------------------------------------------===//

/// Whether allocations, which move in front of the group, need what a role computes.
bool needComputedValues(const RolePieces &role, ArrayRef<RoleBody> bodies) {
  auto isComputed = [&](Value operand) {
    Operation *op = operand.getDefiningOp();
    return op && !llvm::is_contained(role.allocations, op) &&
           llvm::any_of(bodies, [&](const RoleBody &body) {
             return body.block->getParentOp()->isProperAncestor(op);
           });
  };
  return llvm::any_of(role.allocations,
                      [&](Operation *op) { return llvm::any_of(op->getOperands(), isComputed); });
}

/// Writes the loop in which each role gets its turn until all are through.
class TurnsWriter {
public:
  TurnsWriter(MutableArrayRef<RolePieces> roles, ArrayRef<RoleBody> bodies, Operation *end)
      : roles(roles), bodies(bodies), running(roles.size()), progress(roles.size() + 1),
        b(end->getLoc(), end) {}

  void write(const ThreadFacts &facts) {
    state = AllocOp::create(
        b, makeBufferType({int64_t(roles.size()) + 2}, b.getI32Type(), Space::Shared),
        b.getStringAttr("roles"), ValueRange(), ReduceKindAttr());
    FillOp::create(b, number(0), state);
    auto turns = startLoop([&] {
      Value isLeft = isUnderWay(0);
      for (size_t role = 1; role < roles.size(); ++role)
        isLeft = arith::OrIOp::create(b, isLeft, isUnderWay(role));
      return isLeft;
    });
    StoreOp::create(b, number(0), state, index(progress));
    for (size_t role = 0; role < roles.size(); ++role)
      writeTurn(role, turns, facts);
    b.setInsertionPoint(turns.getAfterBody()->getTerminator());
    refuseDeadlock();
  }

private:
  Value index(int64_t value) { return arith::ConstantIndexOp::create(b, value); }
  Value number(int64_t value) { return arith::ConstantIntOp::create(b, value, 32); }
  /// Whether the state at a slot is another number.
  Value isNot(int64_t slot, int64_t value) {
    Value now = LoadOp::create(b, b.getI32Type(), state, index(slot));
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, now, number(value));
  }
  Value isUnderWay(size_t role) { return isNot(role, roles[role].pieces.size()); }

  /// A loop that runs while what `test` writes holds; goes on inside of it.
  scf::WhileOp startLoop(llvm::function_ref<Value()> test) {
    auto loop = scf::WhileOp::create(b, TypeRange(), ValueRange());
    b.createBlock(&loop.getBefore());
    Value condition = test();
    scf::ConditionOp::create(b, condition, ValueRange());
    b.createBlock(&loop.getAfter());
    scf::YieldOp::create(b);
    b.setInsertionPointToStart(loop.getAfterBody());
    return loop;
  }

  void writeTurn(size_t role, scf::WhileOp turns, const ThreadFacts &facts) {
    auto branch = scf::IfOp::create(b, bodies[role].condition, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard outside(b);
    b.setInsertionPointToStart(&branch.getThenRegion().front());
    Value goesOn = arith::ExtUIOp::create(b, b.getI32Type(), isUnderWay(role));
    StoreOp::create(b, goesOn, state, index(running));
    startLoop([&] { return isNot(running, 0); });
    RoleWriter(roles[role], turns, facts).write(b, state, role, running, progress);
  }

  /// Where no role has gone on, each one that is left says at which wait it stands.
  void refuseDeadlock() {
    Value isStuck =
        arith::XOrIOp::create(b, isNot(progress, 0), arith::ConstantIntOp::create(b, 1, 1));
    auto branch = scf::IfOp::create(b, isStuck, /*withElseRegion=*/false);
    b.setInsertionPointToStart(&branch.getThenRegion().front());
    for (auto [number, role] : llvm::enumerate(roles))
      for (auto [at, piece] : llvm::enumerate(role.pieces))
        if (piece.kind == Piece::Wait) {
          b.setLoc(piece.loc);
          AssertOp::create(b, isNot(number, at), kDeadlock);
        }
  }

  MutableArrayRef<RolePieces> roles;
  ArrayRef<RoleBody> bodies;
  int64_t running, progress; ///< Slots of the state, after the next piece of each role.
  Value state;
  ImplicitLocOpBuilder b;
};

} // namespace

bool resumeRoles(ArrayRef<RoleBody> bodies, Operation *end, const ThreadFacts &facts) {
  SmallVector<RolePieces> roles;
  for (const RoleBody &body : bodies) {
    std::optional<llvm::BitVector> threads = facts.threadsWhere(body.condition);
    std::optional<RolePieces> role =
        threads ? RolePieces::cut(*body.block, *threads, facts) : std::nullopt;
    if (!role || needComputedValues(*role, bodies))
      return false;
    roles.push_back(std::move(*role));
  }
  for (RolePieces &role : roles)
    for (Operation *op : role.allocations)
      op->moveBefore(end);
  TurnsWriter(roles, bodies, end).write(facts);
  return true;
}

} // namespace tilewright::threads
