//===- FuseRowLoops.cpp - a chain of statements runs row by row -------------------------------===//
//
// A block of many long rows has tiles that no cache holds: by the time the last row was copied in,
// the first is gone. Where all statements of a chain treat rows alike and apart, the chain runs
// for the first row, then for the second:
//
//   parallel (i, j) in (64, 4096) { x[i, j] = X[i, j]; sums[i] += … }
//   parallel (i) in (64) { t[i] = f(sums[i]) }
//   parallel (i, j) in (64, 4096) { Z[i, j] = x[i, j] * t[i] }
//     ──▶
//   for i in 0 … 63 {
//     parallel (j) in (4096) { x[0, j] = X[i, j]; sums[0] += … }
//     parallel (z) in (1) { t[0] = f(sums[0]) }
//     parallel (j) in (4096) { Z[i, j] = x[0, j] * t[0] }
//   }
//
// Row i of one statement then runs before row i + 1 of those in front of it. That changes nothing
// if each buffer that the chain writes has a dimension along which row i of every statement touches
// one coordinate only, `i + constant`. A tile that only the chain uses, and that the chain uses
// once in a block, needs room for one row: what a row reads it has written before, or it is poison.
//
// Expects: tile IR that passed tile-check-parallel; arguments that are written share no memory
// with others.   Leaves: the same program.
//===----------------------------------------------------------------------------------------===//

#include "LoopForm.h"
#include "tilewright/Tile/Remarks.h"
#include "tilewright/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/MapVector.h"

namespace tilewright {
#define GEN_PASS_DEF_FUSEROWLOOPS
#include "tilewright/Transforms/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;
using analysis::LoopAccess;

namespace {

/// Where the rows of a buffer lie: row i at coordinate `i + offset` of dimension `dim`.
struct RowCoordinate {
  unsigned dim;
  IndexSum offset;
};

/// Where an access finds row i of its buffer, if it touches only that.
std::optional<RowCoordinate> findRow(const LoopAccess &access, Value rowIterator) {
  std::optional<RowCoordinate> found;
  if (!access.element)
    return std::nullopt;
  for (auto [dim, coordinate] : llvm::enumerate(*access.element)) {
    IndexSum row;
    row.terms.emplace_back(rowIterator, 1);
    RowCoordinate candidate{unsigned(dim), coordinate};
    auto isIterator = [&](auto &term) {
      auto argument = dyn_cast<BlockArgument>(term.first);
      return argument && argument.getOwner() == rowIterator.getParentBlock();
    };
    bool isRow = llvm::any_of(coordinate.terms, [&](auto &t) { return t.first == rowIterator; });
    if (!isRow)
      continue;
    if (found || !candidate.offset.add(row, -1) || llvm::any_of(candidate.offset.terms, isIterator))
      return std::nullopt;
    found = std::move(candidate);
  }
  return found;
}

/// Statements that treat rows alike.
class Chain {
public:
  bool isEmpty() const { return members.empty(); }
  /// Takes the statement in, or says which buffer stands in the way.
  std::optional<Value> findObstacle(const LoopForm &next) const;
  bool fits(const LoopForm &next) const {
    return members.empty() || members.front().extents.front() == next.extents.front();
  }
  void add(LoopForm form) { members.push_back(std::move(form)); }
  /// Whether at least two statements go over long rows.
  bool isWorthwhile() const;
  void fuseRows();
  void discard() {
    for (LoopForm &form : members)
      form.discard();
  }

private:
  void shrinkTiles(scf::ForOp rows);

  SmallVector<LoopForm, 0> members;
};

/// A buffer that some statement writes, and whose rows do not belong to one statement each.
std::optional<Value> Chain::findObstacle(const LoopForm &next) const {
  llvm::MapVector<Value, std::optional<RowCoordinate>> rows;
  llvm::SmallDenseSet<Value> written;
  SmallVector<const LoopForm *> all;
  for (const LoopForm &form : members)
    all.push_back(&form);
  all.push_back(&next);
  for (const LoopForm *form : all)
    for (const LoopAccess &access : form->accesses) {
      std::optional<RowCoordinate> row = findRow(access, form->iterators.front());
      auto [it, isNew] = rows.insert({access.root, row});
      std::optional<RowCoordinate> &known = it->second;
      if (!isNew && known && (!row || row->dim != known->dim || row->offset != known->offset))
        known.reset();
      if (!access.isRead())
        written.insert(access.root);
    }
  for (auto &[root, row] : rows)
    if (written.contains(root) && !row)
      return root;
  return std::nullopt;
}

bool Chain::isWorthwhile() const {
  return llvm::count_if(members, [](const LoopForm &form) {
           int64_t most = 0;
           for (const LoopAccess &access : form.accesses) {
             int64_t bytes =
                 getStorageBytes(cast<MemRefType>(access.root.getType()).getElementType());
             for (int64_t extent : ArrayRef(form.extents).drop_front())
               bytes *= extent;
             most = std::max(most, bytes);
           }
           return form.extents.size() > 1 && most >= kLongRowBytes;
         }) >= 2;
}

/// Replaces the chain by a loop over rows where its last statement stands.
void Chain::fuseRows() {
  Operation *last = members.back().statement;
  ImplicitLocOpBuilder b(members.front().statement->getLoc(), last);
  auto constant = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(b, value); };
  Value zero = constant(0);
  auto rows = scf::ForOp::create(b, zero, constant(members.front().extents.front()), constant(1));
  for (LoopForm &form : members) {
    b.setInsertionPoint(rows.getBody()->getTerminator());
    b.setLoc(form.statement->getLoc());
    SmallVector<int64_t> extents(ArrayRef(form.extents).drop_front());
    if (extents.empty())
      extents.push_back(1);
    auto loop = ParallelOp::create(b, getAsIndexOpFoldResult(b.getContext(), extents));
    IRMapping mapping;
    for (Value iterator : form.loop.getIterators())
      mapping.map(iterator, zero);
    mapping.map(form.iterators.front(), rows.getInductionVar());
    for (auto [old, now] : llvm::zip(ArrayRef(form.iterators).drop_front(), loop.getIterators()))
      mapping.map(old, now);
    b.setInsertionPointToStart(&loop.getBody().front());
    for (Operation &op : form.loop.getBody().front().without_terminator())
      b.clone(op, mapping);
    form.discard();
    form.statement->erase();
  }
  if (isa<KernelOp>(rows->getParentOp()))
    shrinkTiles(rows);
  auto remark = rows.emitRemark("the statements from here on run row by row");
  describeRemark(remark, "rows", "", {{"statements", int64_t(members.size())}});
}

/// The dimension that every access of a tile indexes by the loop's variable, if all its uses are
/// accesses inside the loop. Notes on its placement do not count.
std::optional<unsigned> findRowDimension(AllocOp alloc, scf::ForOp rows) {
  ArrayRef<int64_t> shape = alloc.getBuffer().getType().getShape();
  for (unsigned dim = 0; dim < shape.size(); ++dim) {
    auto isByRow = [&](Operation *user) {
      if (isa<AnnotateLayoutOp>(user))
        return true;
      if (!isa<LoadOp, StoreOp, ReducerUpdateOp>(user) || !rows->isProperAncestor(user))
        return false;
      unsigned first = isa<LoadOp>(user) ? 1 : 2; // after the buffer, and the value before it
      return user->getOperand(first + dim) == rows.getInductionVar();
    };
    if (llvm::all_of(alloc.getBuffer().getUsers(), isByRow))
      return dim;
  }
  return std::nullopt;
}

void Chain::shrinkTiles(scf::ForOp rows) {
  SmallVector<AllocOp> tiles;
  rows->getParentOfType<KernelOp>().walk([&](AllocOp alloc) { tiles.push_back(alloc); });
  for (AllocOp alloc : tiles) {
    std::optional<unsigned> dim = findRowDimension(alloc, rows);
    MemRefType type = alloc.getBuffer().getType();
    if (!dim || getSpace(alloc.getBuffer()) == Space::Global || alloc.getBuffer().use_empty())
      continue;
    SmallVector<int64_t> shape(type.getShape());
    shape[*dim] = 1;
    for (Operation *user : llvm::make_early_inc_range(alloc.getBuffer().getUsers())) {
      if (isa<AnnotateLayoutOp>(user))
        user->erase(); // places, and changes no value
      else
        user->setOperand((isa<LoadOp>(user) ? 1 : 2) + *dim, rows.getLowerBound());
    }
    alloc.getBuffer().setType(makeBufferType(shape, type.getElementType(), getSpace(type)));
  }
}

void fuseBlock(Block &block) {
  SmallVector<Operation *> statements;
  for (Operation &op : block)
    statements.push_back(&op);
  Chain chain;
  auto close = [&] {
    if (chain.isWorthwhile())
      chain.fuseRows();
    else
      chain.discard();
    chain = Chain();
  };
  for (Operation *op : statements) {
    if (isTransparent(*op))
      continue;
    std::optional<LoopForm> next = writeLoopForm(op);
    if (next && next->extents.empty()) {
      next->discard();
      next.reset();
    }
    if (!next) {
      close();
      continue;
    }
    bool fits = chain.fits(*next);
    if (fits && chain.findObstacle(*next))
      fits = false;
    if (!fits)
      close();
    if (chain.findObstacle(*next))
      next->discard(); // even alone
    else
      chain.add(std::move(*next));
  }
  close();
}

struct FuseRowLoopsPass : tilewright::impl::FuseRowLoopsBase<FuseRowLoopsPass> {
  void runOnOperation() override {
    for (Block *block : getStatementBlocks(getOperation()))
      fuseBlock(*block);
  }
};

} // namespace
