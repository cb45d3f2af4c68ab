//===- InsertOrderings.cpp - order the accesses of a block's threads -------------------------===//
//
// Two statements of a block conflict when one writes memory that the other touches. Threads run
// freely between barriers, so every conflicting pair needs one between, pairs over the back edge of
// a loop included. An asynchronous copy goes on after its statement: the thread that issued it waits
// for its group in front of the barrier. So does a product of a warpgroup, which also holds
// registers: a statement that touches these waits, and needs no barrier for them. This is the only
// place that orders memory.
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
//   tile.gemm %s[k], …, %c {async}      tile.gemm %s[k], …, %c {async}
//   async_group k + 2 { … s[k + 2] }    tile.product_wait 1     // all but the last product: s[k - 1] is
//                              ──▶      tile.barrier            // read, and s[k + 2] takes its place
//                                       async_group k + 2 { … s[k + 2] }
//
// How: one walk in program order keeps what is open (OpenAccesses.h). A statement that conflicts
// with it gets a barrier in front: as late as possible, so that one barrier serves many hazards. A
// loop's body is walked until what its own end leaves open is known where it starts: that is the
// back edge. Two things are looked ahead for, by counting the barriers that the rest of the block
// would need: whether a barrier should wait for groups that only a later statement reads, and
// whether a barrier belongs in front of a loop or branch and not inside. Both compare two choices, and
// look only as far as these leave something else open, and at no more than kMaxAhead statements: a look
// at the rest of the block from each branch would take time that grows with its square.
//===----------------------------------------------------------------------------------------===//

#include "OpenAccesses.h"
#include "Roles.h"
#include "tilewright/Access/Products.h"
#include "tilewright/Analysis/Distribution.h"
#include "tilewright/Analysis/SharedTiles.h"
#include "tilewright/Tile/InternalError.h"
#include "tilewright/Tile/Scalars.h"
#include "tilewright/Tile/Teams.h"
#include "tilewright/Tile/Turns.h"
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

/// What must end before a statement: groups of copies, of products and of bulk stores, all but so many,
/// and what other threads do.
struct Needs {
  std::optional<int64_t> copies, products;
  bool barrier = false;
  std::optional<int64_t> storesRead, stores; ///< What they read in shared memory; all of it.

  void endFlight(const OpenAccess &access) {
    const Flight &flight = *access.flight;
    std::optional<int64_t> &pending = flight.product                    ? products
                                      : !flight.stores                  ? copies
                                      : access.kind == EffectKind::Read ? storesRead
                                                                        : stores;
    pending = std::min(pending.value_or(flight.younger), flight.younger);
  }
};

/// What the walk needs to know of a statement.
struct Statement {
  SmallVector<OpenAccess> accesses;
  bool isCollective = false; ///< Threads meet inside, in the block's scratch area.
  BlockOrder order; ///< What it tells other blocks, or learns from them, is of all threads.
};

class Inserter {
public:
  Inserter(KernelOp kernel, bool disjoint) : kernel(kernel), disjoint(disjoint) {
    std::optional<SmallVector<Effect>> effects = getEffects(kernel);
    if (!effects)
      written.insert(Value());
    for (const Effect &effect : effects.value_or(SmallVector<Effect>()))
      if (effect.kind != EffectKind::Read && getSpace(effect.root) == Space::Global)
        written.insert(disjoint ? effect.root : Value());
    kernel.walk([&](GemmOp gemm) {
      if (gemm->hasAttr(kGroupsAttr))
        asyncTiles.insert_range(ArrayRef<Value>{getRoot(gemm.getA()), getRoot(gemm.getB())});
      if (gemm->hasAttr(kAsyncAttr))
        productRegisters.insert_range(
            ArrayRef<Value>{getRoot(gemm.getA()), getRoot(gemm.getB()), getRoot(gemm.getC())});
    });
    kernel.walk([&](ParallelOp copy) {
      auto group = dyn_cast<AsyncGroupOp>(copy->getParentOp());
      if ((group && group.getFull()) || isa<BulkGroupOp>(copy->getParentOp()))
        copy.walk([&](TileEffectsOpInterface access) {
          SmallVector<Effect> effects;
          access.getTileEffects(effects);
          for (const Effect &effect : effects)
            if (getSpace(effect.root) == Space::Shared || effect.kind != EffectKind::Read)
              asyncTiles.insert(effect.root);
        });
    });
  }
  LogicalResult run() {
    OpenAccesses open;
    walk(kernel.getBody().front().begin(), open, Mode::Insert);
    return failure(hasFailed);
  }

private:
  enum class Mode {
    Count,  ///< Only counts, without looking ahead.
    Decide, ///< Finds the points that `Insert` fills.
    Insert
  };

  /// Walks from here to the end of the block with what is open; leaves what is open then. Gives
  /// the number of barriers that this takes.
  int64_t walk(Block::iterator from, OpenAccesses &open, Mode mode);
  int64_t walkOp(Operation &op, OpenAccesses &open, Mode mode);
  int64_t walkStatement(Operation &op, OpenAccesses &open, Mode mode);
  int64_t walkLoop(Operation &op, OpenAccesses &open, Mode mode);
  int64_t walkBranch(scf::IfOp op, OpenAccesses &open, Mode mode);
  void walkRelease(BarrierArriveOp op, OpenAccesses &open, Mode mode);
  int64_t walkArrival(BarrierArriveOp op, OpenAccesses &open, Mode mode);
  int64_t walkRole(RoleOp role, OpenAccesses &open, Mode mode);
  int64_t walkTurn(TurnOp op, OpenAccesses &open, Mode mode);
  int64_t countInTurn(Block::iterator from, OpenAccesses open);
  int64_t countMore(Operation &from, OpenAccesses open, OpenAccesses other);
  /// Waits and a barrier in front of `op`, as needed.
  void order(Operation &op, OpenAccesses &open, const Needs &needs, Mode mode);
  std::optional<int64_t> chooseWait(Operation &op, const OpenAccesses &open, const Needs &needs);
  void endBlock(Operation &terminator, OpenAccesses &open, Mode mode);
  void endProducts(Operation &op, OpenAccesses &open, Mode mode);
  void needRelease(BarrierArriveOp op, const OpenAccesses &open, Needs &needs);
  bool orderInFront(Operation &op, OpenAccesses &open, Mode mode);
  Attribute findProxyFence(const OpenAccesses &open);
  bool areReadByProducts(ArrayRef<Value> tiles);
  void reportMissingWait(Operation &op, const OpenAccess &copy, Mode mode);

  const Statement &describe(Operation &op);
  bool mayMeet(Value a, Value b);
  bool isOfBlocks(Value root);
  bool conflicts(const OpenAccess &open, const OpenAccess &access);

  KernelOp kernel;
  bool disjoint; ///< A written argument shares no memory with another.
  bool hasFailed = false;
  llvm::SmallDenseSet<Value> written; ///< Tensors that the kernel writes; with a null one, any.
  /// Tiles that wgmma or TMA read or write, and tensors that TMA writes.
  llvm::SmallSetVector<Value, 4> asyncTiles;
  /// What products that are left open touch; those in registers are held until a wait.
  llvm::SmallSetVector<Value, 4> productRegisters;
  /// What statements touch that are neither products of warpgroups nor copies to their operands.
  std::optional<llvm::SmallSetVector<Value, 8>> touchedByOthers;
  llvm::DenseMap<Operation *, std::unique_ptr<Statement>> statements;
};

/// Statements that a choice looks ahead at. Blocks of real programs have fewer.
constexpr int64_t kMaxAhead = 128;

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
  statement.isCollective = effects && analysis::meetsInMemory(effects, getNumThreads(&op));
  statement.order = getBlockOrder(&op);
  std::optional<SmallVector<Effect>> touched = getEffects(&op);
  if (!touched) {
    statement.accesses.emplace_back(); // writes anything
    return statement;
  }
  OpenAccesses each; // every access once
  for (const Effect &effect : *touched) {
    if (effect.kind == EffectKind::Read && !effect.until &&
        getSpace(effect.root) == Space::Global && !isOfBlocks(effect.root))
      continue; // nothing conflicts with it
    bool isPrivate = !analysis::isSharedByThreads(effect.root);
    if (isPrivate && !productRegisters.contains(effect.root))
      continue;
    OpenAccess access = OpenAccess::get(effect);
    access.isPrivate = isPrivate;
    each.add(access);
  }
  statement.accesses.assign(each.get().begin(), each.get().end());
  return statement;
}

/// Whether accesses to two roots may meet: one buffer, shared tiles with common bytes, or arguments
/// that may overlap.
bool Inserter::mayMeet(Value a, Value b) {
  return analysis::shareBytes(a, b) ||
         (!disjoint && getSpace(a) == Space::Global && getSpace(b) == Space::Global);
}

/// Whether a product goes on with the sums of another one: the hardware orders instructions of one
/// shape on the same registers. One that certainly clears its sums gets other registers from LLVM.
bool continuesSums(GemmOp product, GemmOp before, Value root) {
  auto attributesOf = [](GemmOp gemm) {
    return std::make_tuple(gemm->getAttr(kGroupsAttr), gemm->getAttr(kSwappedAttr),
                           access::getOperandPlan(gemm, access::ProductRoles::get(gemm).right),
                           gemm.getA().getType().getElementType(),
                           gemm.getB().getType().getElementType());
  };
  bool isCleared = product.getClear() && matchPattern(product.getClear(), m_One());
  return getRoot(product.getC()) == root && getRoot(before.getC()) == root && !isCleared &&
         (product == before || attributesOf(product) == attributesOf(before));
}

/// Whether other blocks may see what is done to this memory, or change it: a tensor that nothing writes is
/// the same at all times.
bool Inserter::isOfBlocks(Value root) {
  return !root ||
         (getSpace(root) == Space::Global && (written.contains(root) || written.contains(Value())));
}

static bool isBarrier(Value root) { return root && root.getDefiningOp<BarrierAllocOp>(); }

bool Inserter::conflicts(const OpenAccess &open, const OpenAccess &access) {
  if (open.isLearned)
    return isOfBlocks(access.root);
  // Operands in registers are copied into the product's own: not twice while one is under way.
  if (open.isPrivate && access.isPrivate && open.root == access.root && access.flight)
    return !continuesSums(access.flight->product, open.flight->product, open.root);
  if (open.kind == EffectKind::Read && access.kind == EffectKind::Read)
    return false;
  if (isBarrier(open.root) || isBarrier(access.root))
    return open.root == access.root && !areOtherVersions(open, access);
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

void Inserter::order(Operation &op, OpenAccesses &open, const Needs &needs, Mode mode) {
  if (!needs.copies && !needs.products && !needs.storesRead && !needs.stores && !needs.barrier)
    return;
  OpenAccesses::HeldRegisters held = open.getHeldRegisters();
  if (needs.products)
    open.wait(FlightKind::Product, *needs.products);
  if (needs.copies)
    open.wait(FlightKind::Copy, *needs.copies);
  if (needs.storesRead)
    open.wait(FlightKind::Store, *needs.storesRead, /*readsOnly=*/true);
  if (needs.stores)
    open.wait(FlightKind::Store, *needs.stores);
  Attribute fence;
  if (mode == Mode::Insert && needs.barrier)
    fence = findProxyFence(open);
  if (needs.barrier)
    open.meet();
  if (mode != Mode::Insert)
    return;
  OpBuilder b(&op);
  if (needs.products)
    ProductWaitOp::create(b, op.getLoc(), *needs.products, held.sums, held.factors);
  if (needs.copies)
    AsyncWaitOp::create(b, op.getLoc(), *needs.copies);
  // To wait for all that a group does is to wait for what it reads.
  if (needs.storesRead && (!needs.stores || *needs.storesRead < *needs.stores))
    BulkWaitOp::create(b, op.getLoc(), *needs.storesRead, /*read=*/true);
  if (needs.stores)
    BulkWaitOp::create(b, op.getLoc(), *needs.stores, /*read=*/false);
  if (!needs.barrier)
    return;
  auto barrier = BarrierOp::create(b, op.getLoc());
  if (fence)
    barrier->setAttr(kProxyFenceAttr, fence);
}

/// Whether a barrier here publishes what a product or a bulk copy touches later: these go through the
/// asynchronous proxy, so the threads that wrote must fence before they meet. Every barrier does that for
/// what is open, so nothing has to be remembered beyond it. Null: no fence; "all" if a tensor is concerned.
Attribute Inserter::findProxyFence(const OpenAccesses &open) {
  Attribute fence;
  for (const OpenAccess &access : open.get()) {
    if (access.kind == EffectKind::Read || access.flight)
      continue;
    for (Value tile : asyncTiles) {
      if (!mayMeet(access.root, tile))
        continue;
      if (getSpace(tile) == Space::Global)
        return StringAttr::get(kernel.getContext(), "all");
      fence = UnitAttr::get(kernel.getContext());
    }
  }
  return fence;
}

/// The wait for copies of a barrier in front of `op` that is needed anyway: what it must leave under
/// way at most, or less where that saves a barrier further on. Waiting for more never costs a barrier.
std::optional<int64_t> Inserter::chooseWait(Operation &op, const OpenAccesses &open,
                                            const Needs &needs) {
  std::optional<int64_t> required = needs.copies;
  SmallVector<int64_t> choices = open.getFlights();
  llvm::erase_if(choices, [&](int64_t pending) { return required && pending >= *required; });
  if (choices.empty())
    return required;
  auto choose = [&](std::optional<int64_t> pending) {
    OpenAccesses after = open;
    Needs with = needs;
    with.copies = pending;
    with.barrier = true;
    order(op, after, with, Mode::Count);
    return after;
  };
  OpenAccesses least = choose(choices.back());
  auto costsMore = [&](std::optional<int64_t> pending) {
    return countMore(op, choose(pending), least) > 0;
  };
  return costsMore(required) ? *llvm::partition_point(choices, costsMore) : required;
}

/// Whether products of other sums are under way. ptxas counts groups from where a loop begins: if one
/// of the last iteration ends while another one is left open, it loses count, and serialises all of
/// them (C7514). In the loop of a single product it does not.
bool isAmongOthers(const OpenAccess &access, const OpenAccesses &open) {
  GemmOp own = access.flight->product;
  return llvm::any_of(open.get(), [&](const OpenAccess &other) {
    GemmOp product = other.flight ? other.flight->product : GemmOp();
    if (!product || (product == own && !other.iterations)) // one, in front of the loop
      return false;
    return !continuesSums(product, own, getRoot(own.getC())) &&
           !continuesSums(own, product, getRoot(own.getC())); // the first one may clear them
  });
}

/// No product outlives a fragment that it holds: the kernel's end ends all of them. Bulk stores read shared
/// memory, which the block must not give back before.
void Inserter::endBlock(Operation &terminator, OpenAccesses &open, Mode mode) {
  Needs needs;
  if (terminator.getParentOp() == kernel)
    for (const OpenAccess &access : open.get())
      if (access.flight && access.flight->stores && access.kind == EffectKind::Read)
        needs.storesRead = 0;
  // Where branches join, registers are moved: no product may hold them there. LLVM leaves those of a product
  // that one branch issues where they are, but ptxas must see that others end on both ways.
  auto branch = dyn_cast<scf::IfOp>(terminator.getParentOp());
  if (branch && open.has(FlightKind::Product))
    needs.products =
        branch->hasAttr(kLeavesOpenAttr) && terminator.getBlock() == branch.thenBlock();
  for (const OpenAccess &access : open.get())
    if (access.isPrivate && Value(access.root).getParentBlock() == terminator.getBlock())
      needs.endFlight(access);
  order(terminator, open, needs, mode);
}

/// Products that are open in front of a loop or branch without products, and in the way of one of its
/// statements, are waited for once, in front of it.
void Inserter::endProducts(Operation &op, OpenAccesses &open, Mode mode) {
  if (!open.has(FlightKind::Product))
    return;
  if (op.walk([](GemmOp gemm) {
          return gemm->hasAttr(kAsyncAttr) ? WalkResult::interrupt() : WalkResult::advance();
        }).wasInterrupted())
    return;
  Needs needs;
  for (const OpenAccess &access : describe(op).accesses)
    for (const OpenAccess &before : open.get())
      if (before.flight && before.flight->product && conflicts(before, access))
        needs.endFlight(before);
  if (isa<scf::IfOp>(op))
    op.walk([&](BarrierArriveOp arrive) {
      if (arrive.getByWarp())
        needRelease(arrive, open, needs);
    });
  needs.stores = needs.storesRead = std::nullopt;
  order(op, open, needs, mode);
}

/// Puts a barrier in front of a loop or branch if that saves one in it or after it, or takes one
/// out of the loop.
bool Inserter::orderInFront(Operation &op, OpenAccesses &open, Mode mode) {
  auto countInside = [&](OpenAccesses start) { return walkOp(op, start, Mode::Count); };
  int64_t inside = open.empty() ? 0 : countInside(open);
  if (inside == 0)
    return false;
  Needs needs;
  needs.barrier = true;
  needs.copies = chooseWait(op, open, needs);
  OpenAccesses after = open;
  order(op, after, needs, Mode::Count);
  int64_t saved = countMore(op, open, after) - 1;
  bool isBetter = saved > 0 || (saved == 0 && isLoop(op) && countInside(after) < inside);
  if (isBetter)
    order(op, open, needs, mode);
  return isBetter;
}

//===----------------------------------------------------------------------------------------===//
// The walk
//===----------------------------------------------------------------------------------------===//

/// No barrier of the block orders what follows after a bulk copy: plan-pipeline placed its wait, in
/// front of all that touches the tile.
void Inserter::reportMissingWait(Operation &op, const OpenAccess &copy, Mode mode) {
  if (mode != Mode::Insert)
    return;
  emitInternalError(&op) << "this statement touches '" << tile::getName(copy.root)
                         << "' while a bulk copy may still write it";
  hasFailed = true;
}

/// Waiting at a barrier reads its phase; the arrival of the next copies writes that. A thread that is late would
/// miss the phase that it waits for, and wait for ever: all have waited before copies arrive again.
static OpenAccess accessPhase(Value row, Value index, EffectKind kind) {
  OpenAccess access = OpenAccess::getWrite(row, index);
  access.kind = kind;
  return access;
}

int64_t Inserter::walkStatement(Operation &op, OpenAccesses &open, Mode mode) {
  const Statement &statement = describe(op);
  Needs needs;
  if (auto group = dyn_cast<AsyncGroupOp>(op);
      group && group.getFull() && !op.getParentOfType<RoleOp>()) {
    OpenAccess arrival = accessPhase(group.getFull(), group.getVersion(), EffectKind::Write);
    needs.barrier = llvm::any_of(
        open.get(), [&](const OpenAccess &before) { return conflicts(before, arrival); });
  }
  // The statement before may still read the scratch area.
  needs.barrier |= statement.isCollective;
  if (statement.order.publishes)
    for (const OpenAccess &before : open.get())
      if (!before.isPrivate && isOfBlocks(before.root)) {
        needs.barrier = true;
        if (before.flight)
          needs.endFlight(before);
      }
  for (const OpenAccess &access : statement.accesses)
    for (const OpenAccess &before : open.get()) {
      if (!conflicts(before, access))
        continue;
      needs.barrier |= !before.isPrivate && !access.isPrivate;
      if (!before.flight)
        continue;
      if (before.flight->getKind() == FlightKind::Bulk) {
        reportMissingWait(op, before, mode);
        continue;
      }
      needs.endFlight(before);
      if (before.flight->product && before.iterations != 0 && isAmongOthers(before, open))
        needs.products = 0;
    }
  if (needs.barrier && mode != Mode::Count)
    needs.copies = chooseWait(op, open, needs);
  order(op, open, needs, mode);
  if (auto group = dyn_cast<AsyncGroupOp>(op); group && !group.getFull())
    open.commit(FlightKind::Copy);
  if (op.hasAttr(kAsyncAttr))
    open.commit(FlightKind::Product);
  if (isa<BulkGroupOp>(op))
    open.commit(FlightKind::Store);
  if (isa<AsyncGroupOp>(op) && op.hasAttr(kAtArrivalAttr))
    return needs.barrier; // all that touches the tiles waits for them (tile-assign-roles)
  for (const OpenAccess &access : statement.accesses)
    if (!access.isPrivate || access.flight)
      open.add(access);
  if (statement.order.learns)
    open.add(OpenAccess::getLearned());
  return needs.barrier;
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

/// An arrival tells a producer that this thread has read a version: the products and bulk stores that read
/// it must be over, younger ones may run on. What the arrival of a user's barrier releases is not known.
void Inserter::needRelease(BarrierArriveOp op, const OpenAccesses &open, Needs &needs) {
  SmallVector<Value> tiles = findReleasedTiles(op.getBarriers());
  for (const OpenAccess &access : open.get()) {
    if (!access.flight || (!access.flight->product && !access.flight->stores))
      continue;
    bool isOther = !tiles.empty() && llvm::all_of(tiles, [&](Value tile) {
      return !mayMeet(access.root, tile) ||
             (access.root == tile &&
              areOtherVersions(access, OpenAccess::getWrite(tile, op.getIndex())));
    });
    if (isOther)
      continue;
    needs.endFlight(access);
    if (!access.flight->product)
      continue;
    if (tiles.empty() || (access.iterations != 0 && isAmongOthers(access, open)))
      needs.products = 0;
  }
}

void Inserter::walkRelease(BarrierArriveOp op, OpenAccesses &open, Mode mode) {
  SmallVector<Value> tiles = findReleasedTiles(op.getBarriers());
  Needs needs;
  needRelease(op, open, needs);
  order(*op, open, needs, mode);
  if (mode == Mode::Insert && !tiles.empty() && areReadByProducts(tiles))
    op->setAttr(kProductsReadAttr, UnitAttr::get(op.getContext()));
}

/// Whether products, and no statement of the program besides, touch these tiles.
bool Inserter::areReadByProducts(ArrayRef<Value> tiles) {
  if (!touchedByOthers) {
    touchedByOthers.emplace();
    kernel.walk([&](TileEffectsOpInterface op) {
      if (op->getParentOfType<RoleOp>() || op->getParentOfType<AsyncGroupOp>() ||
          (isa<GemmOp>(op) && op->hasAttr(kGroupsAttr)))
        return;
      SmallVector<Effect> effects;
      op.getTileEffects(effects);
      for (const Effect &effect : effects)
        touchedByOthers->insert(effect.root);
    });
  }
  return llvm::none_of(*touchedByOthers, [&](Value root) {
    return llvm::any_of(tiles, [&](Value tile) { return mayMeet(root, tile); });
  });
}

/// The arrival of a user's barrier tells of all that its threads have done.
int64_t Inserter::walkArrival(BarrierArriveOp op, OpenAccesses &open, Mode mode) {
  Needs needs;
  if (open.has(FlightKind::Product))
    needs.products = 0;
  if (open.has(FlightKind::Copy))
    needs.copies = 0;
  if (open.has(FlightKind::Store))
    needs.stores = 0;
  needs.barrier = op.getOnce(); // one thread arrives for all of them
  order(*op, open, needs, mode);
  if (Attribute fence = findProxyFence(open); fence && mode == Mode::Insert)
    op->setAttr(kProxyFenceAttr, fence);
  return needs.barrier;
}

/// Roles that run at once are ordered by their barriers (tile-assign-roles); each starts when all
/// threads have come to it, and what follows waits for all of them.
int64_t Inserter::walkRole(RoleOp role, OpenAccesses &open, Mode mode) {
  Needs meeting;
  meeting.barrier = true;
  if (open.has(FlightKind::Copy))
    meeting.copies = 0;
  if (open.has(FlightKind::Product))
    meeting.products = 0;
  if (open.has(FlightKind::Store))
    meeting.stores = 0;
  bool isFirst = !isa_and_present<RoleOp>(role->getPrevNode());
  if (isFirst)
    order(*role, open, meeting, mode);
  OpenAccesses own;
  int64_t count = isFirst + walk(role.getBody().front().begin(), own, mode);
  Operation *next = role->getNextNode();
  if (isa<RoleOp>(next) || next->hasTrait<OpTrait::IsTerminator>())
    return count;
  open = OpenAccesses();
  Needs end;
  end.barrier = true;
  order(*next, open, end, mode);
  return count + 1;
}

/// How many barriers more the rest of the block takes, `from` included, with `open` than with `other`.
int64_t Inserter::countMore(Operation &from, OpenAccesses open, OpenAccesses other) {
  int64_t more = 0, numStatements = 0;
  for (Operation &op : llvm::make_range(from.getIterator(), from.getBlock()->end())) {
    if (open == other || numStatements > kMaxAhead)
      break;
    more += walkOp(op, open, Mode::Count) - walkOp(op, other, Mode::Count);
    numStatements += !isMemoryEffectFree(&op);
  }
  return more;
}

/// The barriers from here until the turn is passed on, which may be inside a loop or in its next
/// iteration.
int64_t Inserter::countInTurn(Block::iterator from, OpenAccesses open) {
  int64_t count = 0;
  Block &block = *from->getBlock();
  for (Operation &op : llvm::make_range(from, block.end())) {
    if (isa<TurnOp>(op))
      return count;
    if (isLoop(op)) {
      open.enter(CountedLoop::get(&op));
      return count + countInTurn(op.getRegion(0).front().begin(), std::move(open));
    }
    count += walkOp(op, open, Mode::Count);
  }
  open.advance(CountedLoop::get(block.getParentOp()), /*goesOn=*/true);
  return count + countInTurn(block.begin(), std::move(open));
}

/// Who has the turn would wait for the others at a barrier, and they for the turn. So the threads meet
/// before for what is done in the turn.
int64_t Inserter::walkTurn(TurnOp op, OpenAccesses &open, Mode mode) {
  if (op.getKind() != TurnKind::Take || open.empty() ||
      countInTurn(std::next(op->getIterator()), open) == 0)
    return 0;
  Needs needs;
  needs.barrier = true;
  if (mode != Mode::Count)
    needs.copies = chooseWait(*op, open, needs);
  order(*op, open, needs, mode);
  return 1;
}

int64_t Inserter::walkOp(Operation &op, OpenAccesses &open, Mode mode) {
  if (isa<BarrierOp>(op)) {
    if (Attribute fence = findProxyFence(open); fence && mode == Mode::Insert)
      op.setAttr(kProxyFenceAttr, fence);
    open.meet();
    return 0;
  }
  if (auto turn = dyn_cast<TurnOp>(op))
    return walkTurn(turn, open, mode);
  if (auto wait = dyn_cast<AsyncWaitOp>(op)) {
    open.wait(FlightKind::Copy, wait.getPending());
    return 0;
  }
  if (auto wait = dyn_cast<ProductWaitOp>(op)) {
    open.wait(FlightKind::Product, wait.getPending());
    return 0;
  }
  if (auto wait = dyn_cast<BarrierWaitOp>(op)) {
    open.arrive(wait.getBarriers(), wait.getIndex());
    if (!wait->getParentOfType<RoleOp>()) // the orders of roles were proved before
      open.add(accessPhase(wait.getBarriers(), wait.getIndex(), EffectKind::Read));
    return 0;
  }
  if (auto arrive = dyn_cast<BarrierArriveOp>(op)) {
    if (!arrive.getByWarp())
      return walkArrival(arrive, open, mode);
    walkRelease(arrive, open, mode);
    return 0;
  }
  if (auto wait = dyn_cast<BulkWaitOp>(op)) {
    open.wait(FlightKind::Store, wait.getPending(), wait.getRead());
    return 0;
  }
  if (isa<RoleOp>(op) && getTeamRole(&op) == &op)
    return walkRole(cast<RoleOp>(op), open, mode);
  // Copies that wait for such arrivals are ordered by them alone (check-schedule), and so is a role.
  auto group = dyn_cast<AsyncGroupOp>(op);
  if (isa<BarrierAllocOp, RoleOp>(op) || (group && group.getEmpty()))
    return 0;
  auto branch = dyn_cast<scf::IfOp>(op);
  if (branch || isLoop(op)) {
    endProducts(op, open, mode);
    int64_t inFront = mode != Mode::Count && orderInFront(op, open, mode);
    return inFront + (branch ? walkBranch(branch, open, mode) : walkLoop(op, open, mode));
  }
  if (op.hasTrait<OpTrait::IsTerminator>())
    endBlock(op, open, mode);
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

/// Marks arrivals at barriers by number whose threads wait right after: nothing came between.
void markMeetings(KernelOp kernel) {
  kernel.walk([](BarrierArriveOp op) {
    auto wait = dyn_cast_or_null<BarrierWaitOp>(op->getNextNode());
    if (op.getCount() && wait && !wait.getParity() && wait.getBarriers() == op.getBarriers() &&
        areEqual(wait.getIndex(), op.getIndex()))
      op->setAttr(kAtWaitAttr, UnitAttr::get(op.getContext()));
  });
}

struct InsertOrderingsPass : tilewright::impl::InsertOrderingsBase<InsertOrderingsPass> {
  using InsertOrderingsBase::InsertOrderingsBase;

  void runOnOperation() override {
    getOperation()->walk([&](KernelOp kernel) {
      if (failed(Inserter(kernel, disjoint).run()))
        signalPassFailure();
      markMeetings(kernel);
    });
  }
};

} // namespace
