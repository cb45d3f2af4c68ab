//===- FuseLoops.cpp - statements that go over the same elements become one loop --------------===//
//
// A row kernel is a chain of statements on whole tiles: copy in, square, sum, scale, copy out. Each
// goes over its tile from beginning to end, and a tile that is larger than the first cache is
// fetched again by each. Here neighbours that go over the same elements become one loop:
//
//   tile.copy %X, %x                       tile.fill %zero, %sums
//   tile.parallel (%i, %j) {               tile.parallel (%i, %j) {
//     %y[i, j] = %x[i, j] * %x[i, j]         %v = load %X[i, j]
//   }                               ──▶      store %v, %x[i, j]
//   tile.reduce sum %y, %t dim 1             reducer_update %v * %v, %sums[i]
//                                          }
//                                          tile.finalize_reducer %sums, %t
//
// What a statement of the loop stores and a later one loads again stays in a register; a tile that
// nothing reads any more (%y) is not stored.
//
// Iteration p of the second statement then runs before the later iterations of the first. That
// changes nothing if, for every buffer that one of them writes, all accesses of both have one and
// the same element, and no two iterations share one: what p touches no other iteration touches.
// The sum of a reduction is complete after the loop, so nothing after it in the loop may touch
// its destination. Only loops whose accesses go along rows and are known to exist are fused: the
// others are no vectors, and would keep their neighbours from being some.
//
// Expects: tile IR that passed tile-check-parallel; arguments that are written share no memory
// with others.   Leaves: the same program, fewer loops.
//===----------------------------------------------------------------------------------------===//

#include "LoopForm.h"
#include "tilewright/Tile/Remarks.h"
#include "tilewright/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tilewright {
#define GEN_PASS_DEF_FUSELOOPS
#include "tilewright/Transforms/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;
using analysis::LoopAccess;

namespace {

//===----------------------------------------------------------------------------------------===//
// Statements as loops
//===----------------------------------------------------------------------------------------===//

/// A statement as a loop, and what a reduction needs besides.
struct Member {
  LoopForm form;
  AllocOp reducer; ///< Which the loop updates, filled before and finished after it.
  Operation *start = nullptr, *finish = nullptr;

  bool isReduction() const { return start != nullptr; }
  Value getReduced() const { return getRoot(cast<ReduceOp>(form.statement).getDest()); }

  /// Takes back what was written beside the statement.
  void discard() {
    form.discard();
    if (!isReduction())
      return;
    start->erase();
    finish->erase();
    reducer.erase();
  }
};

/// The value from which a reduction starts; nothing for kinds that are no plain sums and extremes
/// of floats.
std::optional<double> getStart(ReduceOp op) {
  if (op.getNanPropagate())
    return std::nullopt;
  switch (op.getKind()) {
  case ReduceKind::Sum:
  case ReduceKind::AbsSum:
    return 0.0;
  case ReduceKind::Max:
  case ReduceKind::Min:
  case ReduceKind::AbsMax: // a NaN loses, and a row of NaNs stays one
    return std::numeric_limits<double>::quiet_NaN();
  default:
    return std::nullopt;
  }
}

Value castElement(ImplicitLocOpBuilder &b, Value value, Type to) {
  if (value.getType() == to)
    return value;
  return CastOp::create(b, to, value, TypeAttr::get(value.getType()), TypeAttr::get(to),
                        RoundingAttr::get(b.getContext(), Rounding::NearestEven), UnitAttr());
}

/// Writes a reduction along the last dimension as a loop of updates in front of it. Sums are formed
/// in float32 or wider and rounded once, as the reduction does.
std::optional<Member> writeReduction(ReduceOp op) {
  MemRefType source = op.getSource().getType(), dest = op.getDest().getType();
  std::optional<double> start = getStart(op);
  auto from = dyn_cast<FloatType>(source.getElementType()),
       to = dyn_cast<FloatType>(dest.getElementType());
  bool isLast = int64_t(op.getDim()) + 1 == source.getRank();
  if (!start || !from || !to || !isLast || !op.getClear() || !source.hasStaticShape() ||
      !dest.hasStaticShape() || getRoot(op.getSource()) == getRoot(op.getDest()))
    return std::nullopt;
  ImplicitLocOpBuilder b(op.getLoc(), op);
  bool isWide = from.isF64() || to.isF64();
  FloatType sumType = isWide ? FloatType(b.getF64Type()) : FloatType(b.getF32Type());
  ArrayRef<int64_t> kept = source.getShape().drop_back();
  SmallVector<int64_t> shape(kept);
  if (shape.empty())
    shape.push_back(1);
  Member member;
  member.reducer = AllocOp::create(b, makeBufferType(shape, sumType, Space::Fragment),
                                   b.getStringAttr(getName(op.getDest())), ValueRange(),
                                   ReduceKindAttr::get(b.getContext(), op.getKind()));
  Value first = arith::ConstantOp::create(b, b.getFloatAttr(sumType, *start));
  member.start = FillOp::create(b, first, member.reducer.getBuffer());
  auto loop = ParallelOp::create(b, getAsIndexOpFoldResult(b.getContext(), source.getShape()));
  member.finish = FinalizeReducerOp::create(b, member.reducer.getBuffer(), op.getDest());
  b.setInsertionPointToStart(&loop.getBody().front());
  Value element = LoadOp::create(b, getScalarType(from), op.getSource(), loop.getIterators());
  Value value = castElement(b, element, sumType);
  SmallVector<Value> index(loop.getIterators().drop_back());
  if (kept.empty())
    index.push_back(arith::ConstantIndexOp::create(b, 0));
  ReducerUpdateOp::create(b, value, member.reducer.getBuffer(), index);
  member.form = *describeLoop(op, loop); // constant extents, a load and an update
  return member;
}

/// LLVM's vectoriser takes time that grows with the square of a body, and so does the comparison of each
/// statement with those before it. A loop of so many operations is not held up by memory.
constexpr int64_t kMaxOperations = 256;

int64_t countOperations(Member &member) {
  return int64_t(member.form.loop.getBody().front().getOperations().size());
}

/// Whether all accesses of a loop go along rows, to elements that exist.
bool isOfRows(LoopForm &form) {
  return llvm::all_of(form.accesses, [&](const LoopAccess &access) {
    return access.element && analysis::isProvenInside(access) &&
           analysis::isAlongRow(*access.element, form.loop.getIterators().back());
  });
}

/// The statement as a loop that may be fused with others; else everything is as before.
std::optional<Member> writeMember(Operation *statement) {
  std::optional<Member> member;
  auto loop = dyn_cast<ParallelOp>(statement);
  if (auto reduce = dyn_cast<ReduceOp>(statement)) {
    member = writeReduction(reduce);
  } else if (!loop || loop.getBody().getOps<ReducerUpdateOp>().empty()) {
    if (std::optional<LoopForm> form = writeLoopForm(statement)) {
      member.emplace();
      member->form = std::move(*form);
    }
  }
  if (member && !isOfRows(member->form)) {
    member->discard();
    return std::nullopt;
  }
  return member;
}

//===----------------------------------------------------------------------------------------===//
// What may become one loop
//===----------------------------------------------------------------------------------------===//

/// Why `next` cannot run in the same loop as a statement before it; empty if it can.
std::string findObstacle(const Member &before, const Member &next) {
  for (const LoopAccess &first : before.form.accesses)
    for (const LoopAccess &second : next.form.accesses) {
      if (first.root != second.root || (first.isRead() && second.isRead()))
        continue;
      if (!analysis::isSameElement(*first.element, before.form.iterators, *second.element,
                                   next.form.iterators) ||
          !analysis::isInjective(*second.element, next.form.iterators))
        return ("an iteration needs elements of '" + getName(second.root) + "' of others").str();
    }
  if (before.isReduction())
    for (const LoopAccess &access : next.form.accesses)
      if (access.root == before.getReduced())
        return ("'" + getName(access.root) + "' is complete only after the loop").str();
  if (before.isReduction() && next.isReduction() && before.getReduced() == next.getReduced())
    return ("'" + getName(next.getReduced()) + "' is reduced twice").str();
  return "";
}

bool haveCommonBuffer(const Member &lhs, const Member &rhs) {
  return llvm::any_of(lhs.form.accesses, [&](const LoopAccess &first) {
    return llvm::any_of(rhs.form.accesses,
                        [&](const LoopAccess &second) { return first.root == second.root; });
  });
}

//===----------------------------------------------------------------------------------------===//
// One loop
//===----------------------------------------------------------------------------------------===//

/// Lets loads take what the same iteration has stored or loaded there before.
void forwardStores(ParallelOp loop) {
  SmallVector<LoopAccess> accesses = *analysis::getPlainAccesses(loop);
  SmallVector<std::pair<LoopAccess, Value>> known;
  for (const LoopAccess &access : accesses) {
    bool isOwn = access.element && getSpace(access.root) != Space::Global;
    auto *it = llvm::find_if(known, [&](auto &entry) {
      return entry.first.root == access.root && entry.first.element == access.element;
    });
    if (auto load = dyn_cast<LoadOp>(access.op)) {
      if (access.element && it != known.end()) {
        load.getValue().replaceAllUsesWith(it->second);
        load.erase();
      } else if (access.element) {
        known.push_back({access, load.getValue()});
      }
      continue;
    }
    llvm::erase_if(known, [&](auto &entry) {
      return getSpace(access.root) == Space::Global ? getSpace(entry.first.root) == Space::Global
                                                    : entry.first.root == access.root;
    });
    if (auto store = dyn_cast<StoreOp>(access.op); store && isOwn)
      known.push_back({access, store.getValue()});
  }
}

/// Writes the members as one loop where the last of them stands.
ParallelOp merge(MutableArrayRef<Member> members) {
  Operation *last = members.back().form.statement;
  ImplicitLocOpBuilder b(members.front().form.statement->getLoc(), last);
  SmallVector<int64_t> extents(members.front().form.extents.begin(),
                               members.front().form.extents.end());
  if (extents.empty())
    extents.push_back(1);
  for (Member &member : members)
    if (member.isReduction())
      member.start->moveBefore(last);
  auto merged = ParallelOp::create(b, getAsIndexOpFoldResult(b.getContext(), extents));
  for (Member &member : members)
    if (member.isReduction())
      member.finish->moveBefore(last);
  b.setInsertionPointToStart(&merged.getBody().front());
  Value zero = arith::ConstantIndexOp::create(b, 0);
  for (auto &[form, reducer, start, finish] : members) {
    IRMapping mapping;
    for (Value iterator : form.loop.getIterators())
      mapping.map(iterator, zero);
    for (auto [old, now] : llvm::zip(form.iterators, merged.getIterators()))
      mapping.map(old, now);
    for (Operation &op : form.loop.getBody().front().without_terminator())
      b.clone(op, mapping);
    form.discard();
    form.statement->erase();
  }
  forwardStores(merged);
  return merged;
}

//===----------------------------------------------------------------------------------------===//
// Stores that nothing reads
//===----------------------------------------------------------------------------------------===//

/// Whether something may read what `store` wrote. Iterations of its own loop read only what they
/// have stored themselves, and that was forwarded. Inside another loop everything comes after it.
bool isReadLater(StoreOp store, ParallelOp loop, KernelOp kernel) {
  Value root = getRoot(store.getBuffer());
  if (loop->getParentOp() != kernel)
    return mayRead(kernel, root);
  auto readsFrom = [&](Operation *op) {
    for (op = op->getNextNode(); op; op = op->getNextNode())
      if (mayRead(op, root))
        return true;
    return false;
  };
  return readsFrom(store) || readsFrom(loop);
}

void eraseDeadStores(ParallelOp loop) {
  auto kernel = loop->getParentOfType<KernelOp>();
  for (StoreOp store : llvm::make_early_inc_range(loop.getBody().getOps<StoreOp>())) {
    Value root = getRoot(store.getBuffer());
    if (root.getDefiningOp<AllocOp>() && getSpace(root) != Space::Global &&
        !isReadLater(store, loop, kernel))
      store.erase();
  }
}

//===----------------------------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------------------------===//

/// Fuses the statements of one block.
void fuseBlock(Block &block, SmallVectorImpl<ParallelOp> &merged) {
  SmallVector<Operation *> statements;
  for (Operation &op : block)
    statements.push_back(&op);
  SmallVector<Member, 0> group;
  int64_t numOperations = 0; // of the group
  auto close = [&] {
    if (group.size() > 1) {
      auto remark = group.front().form.statement->emitRemark("the ")
                    << group.size() << " statements from here on run as one loop";
      describeRemark(remark, "fusion", "", {{"statements", int64_t(group.size())}});
      merged.push_back(merge(group));
    } else if (!group.empty())
      group.front().discard();
    group.clear();
    numOperations = 0;
  };
  for (Operation *op : statements) {
    if (isTransparent(*op))
      continue;
    std::optional<Member> next = writeMember(op);
    if (!next) {
      close();
      continue;
    }
    bool fits = !group.empty() && group.front().form.extents == next->form.extents &&
                llvm::any_of(group, [&](Member &m) { return haveCommonBuffer(m, *next); });
    auto refuse = [&](const Twine &obstacle) {
      fits = false;
      auto remark = op->emitRemark("starts a loop of its own: ") << obstacle;
      describeRemark(remark, "fusion", "");
    };
    int64_t count = countOperations(*next);
    if (fits && numOperations + count > kMaxOperations)
      refuse("the loop before it has " + Twine(numOperations) + " operations");
    for (Member &before : group) {
      if (!fits)
        break;
      if (std::string obstacle = findObstacle(before, *next); !obstacle.empty())
        refuse(obstacle);
    }
    if (!fits)
      close();
    numOperations += count;
    group.push_back(std::move(*next));
  }
  close();
}

struct FuseLoopsPass : tilewright::impl::FuseLoopsBase<FuseLoopsPass> {
  void runOnOperation() override {
    SmallVector<ParallelOp> merged;
    for (Block *block : getStatementBlocks(getOperation()))
      fuseBlock(*block, merged);
    for (ParallelOp loop : merged)
      eraseDeadStores(loop);
    getOperation()->walk([](AllocOp alloc) {
      if (alloc.getBuffer().use_empty())
        alloc.erase();
    });
  }
};

} // namespace
