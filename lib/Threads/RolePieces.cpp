//===- RolePieces.cpp - the statements of a role, cut at its waits --------------------------===//

#include "RolePieces.h"

#include "Waits.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::threads {

namespace {

class Cutter {
public:
  Cutter(const ThreadFacts &facts, const llvm::BitVector &threads)
      : facts(facts), threads(threads) {}

  /// Cuts a role into pieces; false if it has no such form.
  bool cut(Block &block) {
    start(block.getParentOp()->getLoc());
    if (!cutBlock(block.without_terminator(), /*depth=*/0))
      return false;
    pieces.back().next = pieces.size();
    return true;
  }

  RolePieces result;

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

  std::vector<Piece> &pieces = result.pieces;
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
      result.allocations.push_back(op);
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
  unsigned number = result.loops.size();
  result.loops.push_back(loop);
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

} // namespace

std::optional<RolePieces> RolePieces::cut(Block &block, const llvm::BitVector &threads,
                                          const ThreadFacts &facts) {
  Cutter cutter(facts, threads);
  if (!cutter.cut(block))
    return std::nullopt;
  return std::move(cutter.result);
}

} // namespace tilewright::threads
