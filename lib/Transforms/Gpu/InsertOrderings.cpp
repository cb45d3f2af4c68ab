//===- InsertOrderings.cpp - order the accesses of a block's threads -------------------------===//
//
// Two statements of a block conflict when one writes memory that the other touches. Threads run
// freely between barriers, so every conflicting pair needs one between, pairs over the back edge of
// a loop included. An asynchronous copy goes on after its statement: the thread that issued it waits
// for its group in front of the barrier. This is the only place that orders memory.
//
// Expects: effects on every op, statements expanded, tiles placed.   Leaves: coordinates logical.
//
//   tile.parallel { … store %s }        tile.parallel { … store %s }
//   tile.gemm %s, %k, %c         ──▶    tile.barrier            // %s: written above, read below
//                                       tile.gemm %s, %k, %c
//
//   tile.pipelined %k … {               tile.pipelined %k … {
//     async_group k + 2 { … s[k + 2] }    tile.async_wait 1     // all but the last group: s[k] is there
//     tile.gemm %s[k], …                  tile.barrier          // and s[k + 2] = s[k - 1] was read
//   }                                     async_group k + 2 { … s[k + 2] }
//                              ──▶        tile.gemm %s[k], …
//                                       }
//
// How: one walk in program order keeps what is open (OpenAccesses.h). A statement that conflicts
// with it gets a barrier in front: as late as possible, so that one barrier serves many hazards. A
// loop's body is walked until what its own end leaves open is known where it starts: that is the
// back edge. Two things are looked ahead for, by counting the barriers that the rest of the block
// would need: whether a barrier should wait for groups that only a later statement reads, and
// whether a barrier belongs in front of a loop or branch and not inside.
//===----------------------------------------------------------------------------------------===//

#include "OpenAccesses.h"
#include "tilewright/Analysis/Distribution.h"
#include "tilewright/Analysis/SharedTiles.h"
#include "tilewright/Transforms/Passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

namespace tilewright {
#define GEN_PASS_DEF_INSERTORDERINGS
#include "tilewright/Transforms/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

namespace {

/// What the walk needs to know of a statement.
struct Statement {
  SmallVector<OpenAccess> accesses;
  bool isCollective = false; ///< Threads meet inside, in the block's scratch area.
};

class Inserter {
public:
  Inserter(KernelOp kernel, bool disjoint) : kernel(kernel), disjoint(disjoint) {
    kernel.walk([&](GemmOp gemm) {
      if (gemm->hasAttr(kGroupsAttr))
        productOperands.insert_range(ArrayRef<Value>{getRoot(gemm.getA()), getRoot(gemm.getB())});
    });
  }
  void run() {
    OpenAccesses open;
    walk(kernel.getBody().front().begin(), open, Mode::Insert);
  }

private:
  enum class Mode {
    Count,  ///< Only counts, without looking ahead.
    Decide, ///< Finds the places that `Insert` fills.
    Insert
  };

  /// Walks from here to the end of the block with what is open; leaves what is open then. Gives
  /// the number of barriers that this takes.
  int64_t walk(Block::iterator from, OpenAccesses &open, Mode mode);
  int64_t walkOp(Operation &op, OpenAccesses &open, Mode mode);
  int64_t walkStatement(Operation &op, OpenAccesses &open, Mode mode);
  int64_t walkLoop(Operation &op, OpenAccesses &open, Mode mode);
  int64_t walkBranch(scf::IfOp op, OpenAccesses &open, Mode mode);

  int64_t countFrom(Operation &op, OpenAccesses open) {
    return walk(op.getIterator(), open, Mode::Count);
  }
  /// A barrier in front of `op`, after a wait that leaves so many groups under way, if any.
  void order(Operation &op, OpenAccesses &open, std::optional<int64_t> pending, Mode mode);
  std::optional<int64_t> chooseWait(Operation &op, const OpenAccesses &open,
                                    std::optional<int64_t> required);
  bool orderInFront(Operation &op, OpenAccesses &open, Mode mode);
  bool needsProxyFence(const OpenAccesses &open);

  const Statement &describe(Operation &op);
  bool mayMeet(Value a, Value b);
  bool conflicts(const OpenAccess &open, const OpenAccess &access);

  KernelOp kernel;
  bool disjoint; ///< Arguments of which one is written share no memory.
  llvm::SmallSetVector<Value, 4> productOperands; ///< Tiles that wgmma reads.
  llvm::DenseMap<Operation *, std::unique_ptr<Statement>> statements;
};

/// Registers and variables are a thread's own.
bool isSharedByThreads(Value root) {
  if (getSpace(root) == Space::Local)
    return false;
  if (getSpace(root) != Space::Fragment)
    return true;
  auto alloc = root.getDefiningOp<AllocOp>();
  return alloc && alloc->hasAttr(kPlacementAttr) && isa<LayoutAttr>(alloc->getAttr(kPlacementAttr));
}

bool isLoop(Operation &op) { return isa<PipelinedOp, scf::ForOp, scf::WhileOp>(op); }

//===----------------------------------------------------------------------------------------===//
// Conflicts
//===----------------------------------------------------------------------------------------===//

const Statement &Inserter::describe(Operation &op) {
  std::unique_ptr<Statement> &known = statements[&op];
  if (known)
    return *known;
  known = std::make_unique<Statement>();
  Statement &statement = *known;
  auto effects = dyn_cast<TileEffectsOpInterface>(op);
  statement.isCollective = effects && analysis::meetsInMemory(effects, kernel.getNumThreads());
  std::optional<SmallVector<Effect>> touched = getEffects(&op);
  if (!touched) {
    statement.accesses.emplace_back(); // writes anything
    return statement;
  }
  OpenAccesses each; // every access once
  for (const Effect &effect : *touched)
    if (isSharedByThreads(effect.root))
      each.add(OpenAccess::get(effect));
  statement.accesses.assign(each.get().begin(), each.get().end());
  return statement;
}

/// Whether accesses to two roots may meet: one buffer, shared tiles with common bytes, or arguments
/// that may overlap.
bool Inserter::mayMeet(Value a, Value b) {
  if (!a || !b || a == b)
    return true;
  if (!disjoint && getSpace(a) == Space::Global && getSpace(b) == Space::Global)
    return true;
  auto first = a.getDefiningOp<AllocOp>(), second = b.getDefiningOp<AllocOp>();
  if (!first || !second || !first->hasAttr(kOffsetAttr) || !second->hasAttr(kOffsetAttr))
    return false;
  auto begin = [](AllocOp alloc) {
    return alloc->getAttrOfType<IntegerAttr>(kOffsetAttr).getInt();
  };
  return begin(first) < begin(second) + analysis::getPlacedBytes(second) &&
         begin(second) < begin(first) + analysis::getPlacedBytes(first);
}

bool Inserter::conflicts(const OpenAccess &open, const OpenAccess &access) {
  if (open.kind == EffectKind::Read && access.kind == EffectKind::Read)
    return false;
  if (!mayMeet(open.root, access.root))
    return false;
  if (open.root != access.root || !open.root)
    return true;
  auto effectOf = [](const OpenAccess &own) {
    return Effect{own.kind, own.root, EffectRegion::whole(), nullptr, own.combination};
  };
  return !commute(effectOf(open), effectOf(access)) && !areOtherVersions(open, access);
}

//===----------------------------------------------------------------------------------------===//
// Barriers and waits
//===----------------------------------------------------------------------------------------===//

void Inserter::order(Operation &op, OpenAccesses &open, std::optional<int64_t> pending, Mode mode) {
  if (pending)
    open.wait(*pending);
  bool isFenced = mode == Mode::Insert && needsProxyFence(open);
  open.meet();
  if (mode != Mode::Insert)
    return;
  OpBuilder b(&op);
  if (pending)
    AsyncWaitOp::create(b, op.getLoc(), *pending);
  auto barrier = BarrierOp::create(b, op.getLoc());
  if (isFenced)
    barrier->setAttr(kProxyFenceAttr, b.getUnitAttr());
}

/// Whether a barrier here publishes what a product reads later: wgmma reads through the asynchronous
/// proxy, so the threads that wrote must fence before they meet. Every barrier does that for what is
/// open, so nothing has to be remembered beyond it.
bool Inserter::needsProxyFence(const OpenAccesses &open) {
  return llvm::any_of(open.get(), [&](const OpenAccess &access) {
    return access.kind != EffectKind::Read && !access.flight &&
           llvm::any_of(productOperands,
                        [&](Value operand) { return mayMeet(access.root, operand); });
  });
}

/// The wait of a barrier in front of `op` that is needed anyway: what it must leave under way at
/// most, or less where that saves a barrier further on. Waiting for more never costs a barrier.
std::optional<int64_t> Inserter::chooseWait(Operation &op, const OpenAccesses &open,
                                            std::optional<int64_t> required) {
  SmallVector<int64_t> choices = open.getFlights();
  llvm::erase_if(choices, [&](int64_t pending) { return required && pending >= *required; });
  if (choices.empty())
    return required;
  auto count = [&](std::optional<int64_t> pending) {
    OpenAccesses after = open;
    order(op, after, pending, Mode::Count);
    return countFrom(op, std::move(after));
  };
  int64_t least = count(choices.back());
  if (count(required) <= least)
    return required;
  return *llvm::partition_point(choices, [&](int64_t pending) { return count(pending) > least; });
}

/// Puts a barrier in front of a loop or branch if that saves one in it or after it, or takes one
/// out of the loop.
bool Inserter::orderInFront(Operation &op, OpenAccesses &open, Mode mode) {
  auto countInside = [&](OpenAccesses start) { return walkOp(op, start, Mode::Count); };
  int64_t inside = open.empty() ? 0 : countInside(open);
  if (inside == 0)
    return false;
  std::optional<int64_t> pending = chooseWait(op, open, std::nullopt);
  OpenAccesses after = open;
  order(op, after, pending, Mode::Count);
  int64_t without = countFrom(op, open), with = 1 + countFrom(op, after);
  bool isBetter = with < without || (with == without && isLoop(op) && countInside(after) < inside);
  if (isBetter)
    order(op, open, pending, mode);
  return isBetter;
}

//===----------------------------------------------------------------------------------------===//
// The walk
//===----------------------------------------------------------------------------------------===//

int64_t Inserter::walkStatement(Operation &op, OpenAccesses &open, Mode mode) {
  const Statement &statement = describe(op);
  // The statement before may still read the scratch area.
  bool needsBarrier = statement.isCollective;
  std::optional<int64_t> pending;
  for (const OpenAccess &access : statement.accesses)
    for (const OpenAccess &before : open.get()) {
      if (!conflicts(before, access))
        continue;
      needsBarrier = true;
      if (before.flight)
        pending = std::min(pending.value_or(before.flight->younger), before.flight->younger);
    }
  if (needsBarrier) {
    if (mode != Mode::Count)
      pending = chooseWait(op, open, pending);
    order(op, open, pending, mode);
  }
  if (isa<AsyncGroupOp>(op))
    open.commit();
  for (const OpenAccess &access : statement.accesses)
    open.add(access);
  return needsBarrier;
}

int64_t Inserter::walkLoop(Operation &op, OpenAccesses &open, Mode mode) {
  CountedLoop loop = CountedLoop::get(&op);
  // `end` is open where the loop is left: after the last region, and for a while loop after the
  // first, which decides whether to go on.
  auto walkBody = [&](OpenAccesses &start, OpenAccesses &end, Mode bodyMode) {
    int64_t count = 0;
    for (Region &region : op.getRegions()) {
      count += walk(region.front().begin(), start, bodyMode);
      OpenAccesses left = start;
      left.advance(loop, /*goesOn=*/false); // the variable has grown once more when the loop ends
      end.merge(left);
    }
    return count;
  };
  OpenAccesses head = open;
  head.enter(loop);
  OpenAccesses before = head;
  for (bool grows = true; grows;) {
    OpenAccesses start = head, end;
    walkBody(start, end, mode == Mode::Count ? Mode::Count : Mode::Decide);
    start.advance(loop, /*goesOn=*/true);
    grows = head.merge(start);
  }
  OpenAccesses end;
  int64_t count = walkBody(head, end, mode);
  if (!loop.runsAtLeastOnce())
    end.merge(before);
  end.leave(loop);
  open = std::move(end);
  return count;
}

int64_t Inserter::walkBranch(scf::IfOp op, OpenAccesses &open, Mode mode) {
  OpenAccesses other = open;
  int64_t count = walk(op.getThenRegion().front().begin(), open, mode);
  if (!op.getElseRegion().empty())
    count += walk(op.getElseRegion().front().begin(), other, mode);
  open.merge(other);
  return count;
}

int64_t Inserter::walkOp(Operation &op, OpenAccesses &open, Mode mode) {
  if (isa<BarrierOp>(op)) {
    if (mode == Mode::Insert && needsProxyFence(open))
      op.setAttr(kProxyFenceAttr, UnitAttr::get(op.getContext()));
    open.meet();
    return 0;
  }
  if (auto wait = dyn_cast<AsyncWaitOp>(op)) {
    open.wait(wait.getPending());
    return 0;
  }
  auto branch = dyn_cast<scf::IfOp>(op);
  if (branch || isLoop(op)) {
    int64_t inFront = mode != Mode::Count && orderInFront(op, open, mode);
    return inFront + (branch ? walkBranch(branch, open, mode) : walkLoop(op, open, mode));
  }
  if (isMemoryEffectFree(&op) && !isa<ParallelOp>(op))
    return 0;
  return walkStatement(op, open, mode);
}

int64_t Inserter::walk(Block::iterator from, OpenAccesses &open, Mode mode) {
  int64_t count = 0;
  for (Operation &op : llvm::make_early_inc_range(llvm::make_range(from, from->getBlock()->end())))
    count += walkOp(op, open, mode);
  return count;
}

struct InsertOrderingsPass : tilewright::impl::InsertOrderingsBase<InsertOrderingsPass> {
  using InsertOrderingsBase::InsertOrderingsBase;

  void runOnOperation() override {
    getOperation()->walk([&](KernelOp kernel) { Inserter(kernel, disjoint).run(); });
  }
};

} // namespace
