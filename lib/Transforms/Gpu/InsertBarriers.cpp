//===- InsertBarriers.cpp - order the accesses of a block's threads --------------------------===//
//
// Two statements of a block conflict when one writes memory that the other touches. Threads run
// freely between barriers, so every conflicting pair needs one between, pairs over the back edge of
// a loop included. One barrier serves all hazards that are open where it stands.
//
// Expects: effects on every op, statements expanded.   Leaves: coordinates logical.
//
//   tile.parallel { … store %s }        tile.parallel { … store %s }
//   tile.gemm %s, %k, %c         ──▶    tile.barrier            // %s: written above, read below
//                                       tile.gemm %s, %k, %c
//
// How: one walk in program order keeps the reads and writes since the last barrier. A loop's body
// is walked until what its own end leaves open is known where it starts: that is the back edge. A
// loop that may run zero times leaves open what was open before it.
//===----------------------------------------------------------------------------------------===//

#include "tilewright/Analysis/Distribution.h"
#include "tilewright/Analysis/SharedTiles.h"
#include "tilewright/Tile/Tile.h"
#include "tilewright/Transforms/Passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SetVector.h"

namespace tilewright {
#define GEN_PASS_DEF_INSERTBARRIERS
#include "tilewright/Transforms/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

namespace {

/// Roots touched since the last barrier that all paths passed. Shared tiles stand for their bytes
/// of the arena, which other tiles may use at other times.
struct Open {
  llvm::SmallSetVector<Value, 8> read, written;
  llvm::SmallSetVector<std::pair<Value, Combination>, 8> accumulated;

  /// Whether something was not open before.
  bool merge(const Open &other) {
    size_t before = size();
    read.insert_range(other.read);
    written.insert_range(other.written);
    accumulated.insert_range(other.accumulated);
    return size() > before;
  }
  size_t size() const { return read.size() + written.size() + accumulated.size(); }
  void clear() { *this = Open(); }
};

class Inserter {
public:
  Inserter(KernelOp kernel, bool disjoint) : disjoint(disjoint) {
    kernel.walk([&](TileEffectsOpInterface op) {
      if (!isa<BarrierOp>(op) && analysis::meetsInMemory(op, kernel.getNumThreads()))
        collective.insert(op);
    });
  }
  /// Walks a block with what is open at its start; leaves what is open at its end.
  void walk(Block &block, Open &open, bool insert);

private:
  void statement(Operation *op, Open &open, bool insert);
  void loop(Operation &op, Open &open, bool insert);
  bool conflicts(const Open &open, const Effect &effect);
  bool mayMeet(Value a, Value b);

  bool disjoint; ///< Arguments of which one is written share no memory.
  /// Statements inside which threads meet, in the block's scratch area.
  llvm::DenseSet<Operation *> collective;
};

/// Tiles that asynchronous copies fill: plan-pipeline wrote the waits and barriers that their own
/// accesses need.
bool isPipelined(Value root) {
  auto alloc = root.getDefiningOp<AllocOp>();
  if (!alloc || getSpace(root) != Space::Shared)
    return false;
  for (Operation *user : analysis::getUsersThroughViews(alloc))
    if (isa<StoreOp>(user) && user->getParentOp()->hasAttr(kAsyncAttr))
      return true;
  return false;
}

/// Whether the body of a loop is known to run. The first region of a while loop always does.
bool runsAtLeastOnce(Operation &op) {
  if (isa<scf::WhileOp>(op))
    return true;
  auto loop = cast<LoopLikeOpInterface>(op);
  std::optional<int64_t> lower = getConstantIntValue(loop.getLoopLowerBounds()->front());
  std::optional<int64_t> upper = getConstantIntValue(loop.getLoopUpperBounds()->front());
  return lower && upper && *lower < *upper;
}

/// Registers and variables are a thread's own.
bool isSharedByThreads(Value root) {
  if (getSpace(root) == Space::Local)
    return false;
  if (getSpace(root) != Space::Fragment)
    return true;
  auto alloc = root.getDefiningOp<AllocOp>();
  return alloc && alloc->hasAttr(kPlacementAttr) && isa<LayoutAttr>(alloc->getAttr(kPlacementAttr));
}

/// Whether accesses to two roots may meet: one buffer, shared tiles with common bytes, or arguments
/// that may overlap.
bool Inserter::mayMeet(Value a, Value b) {
  if (a == b)
    return !isPipelined(a);
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

bool Inserter::conflicts(const Open &open, const Effect &effect) {
  auto meets = [&](const llvm::SmallSetVector<Value, 8> &roots) {
    return llvm::any_of(roots, [&](Value root) { return mayMeet(root, effect.root); });
  };
  bool meetsUpdates = llvm::any_of(open.accumulated, [&](const auto &update) {
    auto [root, combination] = update;
    Effect before{EffectKind::Accumulate, root, EffectRegion::whole(), nullptr, combination};
    return mayMeet(root, effect.root) && !(root == effect.root && commute(before, effect));
  });
  bool isRead = effect.kind == EffectKind::Read;
  return meets(open.written) || meetsUpdates || (!isRead && meets(open.read));
}

void Inserter::statement(Operation *op, Open &open, bool insert) {
  std::optional<SmallVector<Effect>> effects = getEffects(op);
  bool needsBarrier = !effects.has_value();
  if (effects) {
    llvm::erase_if(*effects, [](const Effect &e) { return !isSharedByThreads(e.root); });
    needsBarrier = llvm::any_of(*effects, [&](const Effect &e) { return conflicts(open, e); });
  }
  // The statement before may still read the scratch area.
  needsBarrier |= collective.contains(op);
  if (needsBarrier) {
    if (insert) {
      OpBuilder b(op);
      BarrierOp::create(b, op->getLoc());
    }
    open.clear();
  }
  if (!effects)
    return;
  for (const Effect &effect : *effects) {
    if (effect.kind == EffectKind::Read)
      open.read.insert(effect.root);
    else if (effect.kind == EffectKind::Write)
      open.written.insert(effect.root);
    else
      open.accumulated.insert({effect.root, effect.combination});
  }
}

void Inserter::loop(Operation &op, Open &open, bool insert) {
  // `end` is open where the loop is left: after the last region, and for a while loop after the
  // first, which decides whether to go on.
  auto walkBody = [&](Open &start, Open &end, bool doInsert) {
    for (Region &region : op.getRegions()) {
      walk(region.front(), start, doInsert);
      end.merge(start);
    }
  };
  Open head = open;
  for (bool grows = true; grows;) {
    Open start = head, end;
    walkBody(start, end, false);
    grows = head.merge(start);
  }
  Open end;
  walkBody(head, end, insert);
  if (!runsAtLeastOnce(op))
    end.merge(open);
  open = end;
}

void Inserter::walk(Block &block, Open &open, bool insert) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (isa<BarrierOp>(op)) {
      open.clear();
      continue;
    }
    bool isLoop = isa<PipelinedOp, scf::ForOp, scf::WhileOp>(op);
    if (isLoop) {
      loop(op, open, insert);
      continue;
    }
    if (auto branch = dyn_cast<scf::IfOp>(op)) {
      Open atStart = open;
      walk(branch.getThenRegion().front(), open, insert);
      Open other = atStart;
      if (!branch.getElseRegion().empty())
        walk(branch.getElseRegion().front(), other, insert);
      open.merge(other);
      continue;
    }
    if (!isMemoryEffectFree(&op) || isa<ParallelOp>(op))
      statement(&op, open, insert);
  }
}

struct InsertBarriersPass : tilewright::impl::InsertBarriersBase<InsertBarriersPass> {
  using InsertBarriersBase::InsertBarriersBase;

  void runOnOperation() override {
    getOperation()->walk([&](KernelOp kernel) {
      Open open;
      Inserter(kernel, disjoint).walk(kernel.getBody().front(), open, true);
    });
  }
};

} // namespace
