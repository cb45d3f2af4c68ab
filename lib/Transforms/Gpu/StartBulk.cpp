//===- StartBulk.cpp - who starts the bulk copies outside of pipelines ------------------------===//
//
// A copy from a shared tile to a tensor that TMA may do, or an addition, becomes a group: one thread
// starts it, and it runs on. insert-orderings places the waits: for what it reads, before the tile is
// written again or the block ends.
//
//   tile.parallel {S -> C} {tile.bulk}    ──▶    tile.bulk_group { tile.parallel {S -> C} {tile.bulk} }
//
// A copy from a tensor to a shared tile arrives at a barrier of its own, and the threads wait in front of the
// first statement that touches the tile. Copies that follow each other share a barrier. In a loop, a
// variable holds the parity of the barrier's phase: each time flips it.
//
//   tile.parallel {Q -> S} {tile.bulk}    ──▶    tile.async_group 0 below 1 on %q_full[0] { Q -> S }
//   other statements                             other statements
//   use S                                        tile.barrier_wait %q_full[0] parity 0
//                                                use S
//
// Expects: plans of accesses; plan-pipeline has taken the copies that run ahead.   Leaves: each plan
// of a bulk copy in a group, and no tensor map that nothing uses.
//===----------------------------------------------------------------------------------------===//

#include "Roles.h"
#include "SharedArena.h"
#include "TargetArch.h"
#include "tilewright/Access/Bulk.h"
#include "tilewright/Tile/Remarks.h"
#include "tilewright/Tile/Teams.h"
#include "tilewright/Tile/Tile.h"
#include "tilewright/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tilewright {
#define GEN_PASS_DEF_STARTBULK
#include "tilewright/Transforms/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

namespace {

/// `c: 1 x cp.async.bulk.tensor.2d of 32768 bytes, started by one thread`. Replaces what plan-accesses said about the loads
/// and stores of the copy (Driver/Decisions.cpp).
void remarkCopy(ParallelOp loop, const access::CopyLoop &copy) {
  StringRef to = tile::getName(getRoot(copy.getTileAccess().buffer)),
            from = tile::getName(getRoot(copy.getTensorAccess().buffer));
  if (copy.isDrain())
    std::swap(to, from);
  auto [instruction, count, bytes] = access::BulkInstructions::get(loop, copy);
  InFlightDiagnostic diag = loop.emitRemark();
  diag << to << ": " << count << " x " << instruction << " of " << bytes
       << " bytes, started by one thread";
  describeRemark(
      diag, "access", to,
      {{"width", count}, {"instruction", instruction}, {"bytes", bytes}, {"copies", from}});
}

void wrapStore(ParallelOp loop) {
  OpBuilder b(loop);
  auto group = BulkGroupOp::create(b, loop.getLoc());
  loop->moveBefore(&group.getBody().front(), group.getBody().front().begin());
}

//===----------------------------------------------------------------------------------------===//
// Copies to shared memory
//===----------------------------------------------------------------------------------------===//

/// What a barrier counts of one phase at most, in bytes (PTX ISA, "tx-count").
constexpr int64_t kMaxPhaseBytes = (int64_t(1) << 20) - 1;

/// Copies that arrive at one barrier.
struct Fill {
  SmallVector<ParallelOp> copies;
  SmallVector<Value> tiles;
  int64_t bytes = 0;
};

Value getTile(ParallelOp loop) {
  return getRoot(access::CopyLoop::get(loop)->getTileAccess().buffer);
}

int64_t countBytes(ParallelOp loop) {
  auto instructions = access::BulkInstructions::get(loop, *access::CopyLoop::get(loop));
  return instructions.count * instructions.bytes;
}

/// Whether nothing but plain ops stands between two copies of one block.
bool follows(ParallelOp loop, ParallelOp before) {
  if (loop->getBlock() != before->getBlock())
    return false;
  Operation *next = before->getNextNode();
  while (next && next != loop && isPlain(next))
    next = next->getNextNode();
  return next == loop;
}

/// The first statement after `op` in its block that touches one of these tiles, or the end of the block.
Operation *findUse(Operation *op, ArrayRef<Value> tiles) {
  Operation *next = op->getNextNode();
  for (; !next->hasTrait<OpTrait::IsTerminator>(); next = next->getNextNode()) {
    if (isPlain(next))
      continue;
    std::optional<SmallVector<Effect>> effects = getEffects(next);
    if (!effects || llvm::any_of(*effects, [&](const Effect &effect) {
          return llvm::is_contained(tiles, effect.root);
        }))
      break;
  }
  return next;
}

/// A variable that is 0 and 1 in turn, if a statement runs more than once; null if it does not.
Value makeParity(KernelOp kernel, Operation *statement) {
  bool isRepeated = false;
  for (Operation *op = statement->getParentOp(); op != kernel; op = op->getParentOp())
    isRepeated |= isa<LoopLikeOpInterface, scf::WhileOp>(op);
  if (!isRepeated)
    return Value();
  ImplicitLocOpBuilder b(statement->getLoc(), &kernel.getBody().front().front());
  auto parity = AllocOp::create(b, makeBufferType({}, b.getI64Type(), Space::Local),
                                b.getStringAttr("parity"), ValueRange(), ReduceKindAttr());
  Value zero = arith::ConstantOp::create(b, b.getI64IntegerAttr(0));
  StoreOp::create(b, zero, parity.getBuffer(), ValueRange());
  return parity.getBuffer();
}

/// One group of the copies, where the last of them stands, and the wait for it.
void startFill(KernelOp kernel, const Fill &fill) {
  ParallelOp last = fill.copies.back();
  ImplicitLocOpBuilder b(last.getLoc(), &kernel.getBody().front().front());
  std::string name = tile::getName(fill.tiles.front()).str() + "_full";
  Value full = BarrierAllocOp::create(b, makeBufferType({1}, b.getI64Type(), Space::Shared),
                                      b.getStringAttr(name), b.getDenseI64ArrayAttr({1}));
  b.setInsertionPoint(last);
  Value zero = arith::ConstantIndexOp::create(b, 0), one = arith::ConstantIndexOp::create(b, 1);
  auto group = AsyncGroupOp::create(b, zero, one, full, zero);
  Operation *end = group.getBody().front().getTerminator();
  for (ParallelOp copy : fill.copies)
    copy->moveBefore(end);
  b.setInsertionPoint(findUse(group, fill.tiles));
  Value variable = makeParity(kernel, group);
  if (!variable) {
    BarrierWaitOp::create(b, full, zero, zero, IntegerAttr());
    return;
  }
  Value parity = LoadOp::create(b, b.getI64Type(), variable, ValueRange());
  BarrierWaitOp::create(b, full, zero, arith::IndexCastOp::create(b, b.getIndexType(), parity),
                        IntegerAttr());
  Value flip = arith::ConstantOp::create(b, b.getI64IntegerAttr(1));
  StoreOp::create(b, arith::XOrIOp::create(b, parity, flip), variable, ValueRange());
}

/// The boundary that the tile of a bulk copy starts on.
int64_t getAlignment(ParallelOp loop) {
  auto plan = loop->getAttrOfType<BulkAttr>(kBulkAttr);
  return std::max<int64_t>(128, plan ? 8 * plan.getSwizzle() : 0);
}

void align(AllocOp tile, int64_t bytes) {
  auto known = tile->getAttrOfType<IntegerAttr>(kAlignmentAttr);
  tile->setAttr(kAlignmentAttr, OpBuilder(tile).getI64IntegerAttr(
                                    std::max(bytes, known ? known.getInt() : int64_t(0))));
}

void refuse(ParallelOp loop, StringRef reason) {
  StringRef name = tile::getName(getTile(loop));
  InFlightDiagnostic diag = loop.emitRemark();
  diag << name << ": not copied by TMA: " << reason;
  describeRemark(diag, "bulk", name, {{"reason", reason}});
  loop->removeAttr(kBulkAttr);
  loop->removeAttr(kSpanAttr);
}

/// Why the threads copy by themselves; empty if one of them starts a bulk copy. A wait is worth it in front of a
/// reader: copies that each fill a part of the tile would wait for one another.
std::string findObstacle(ParallelOp loop) {
  Value tile = getTile(loop);
  std::string name = "'" + tile::getName(tile).str() + "'";
  if (getTeamRole(loop))
    return "a role that uses barriers of the program copies it";
  Operation *use = findUse(loop, tile);
  if (use->hasTrait<OpTrait::IsTerminator>())
    return "no statement after it reads " + name + " in the same block";
  std::optional<SmallVector<Effect>> effects = getEffects(use);
  bool isRead = !effects || llvm::any_of(*effects, [&](const Effect &effect) {
    return effect.root == tile && effect.kind != EffectKind::Write;
  });
  return isRead ? "" : "another statement writes " + name + " before it is read";
}

/// Gives copies to shared memory their barriers, if those find room beside the tiles.
void startFills(KernelOp kernel, SmallVector<ParallelOp> loops, const Arch &arch) {
  llvm::erase_if(loops, [](ParallelOp loop) {
    std::string obstacle = findObstacle(loop);
    if (!obstacle.empty())
      refuse(loop, obstacle);
    return !obstacle.empty();
  });
  if (loops.empty())
    return;
  int64_t needed = planSharedArena(kernel).bytes;
  for (ParallelOp loop : loops) // a barrier, and what a larger boundary may leave unused
    needed += 16 + getAlignment(loop);
  if (needed > arch.maxSharedBytes) {
    for (ParallelOp loop : loops)
      refuse(loop, "tiles leave no room for a barrier in shared memory");
    return;
  }
  SmallVector<Fill> fills;
  for (ParallelOp loop : loops) {
    remarkCopy(loop, *access::CopyLoop::get(loop));
    Value tile = getTile(loop);
    align(tile.getDefiningOp<AllocOp>(), getAlignment(loop));
    bool isJoined = !fills.empty() && follows(loop, fills.back().copies.back()) &&
                    !llvm::is_contained(fills.back().tiles, tile) &&
                    fills.back().bytes + countBytes(loop) <= kMaxPhaseBytes;
    if (!isJoined)
      fills.emplace_back();
    fills.back().copies.push_back(loop);
    fills.back().tiles.push_back(tile);
    fills.back().bytes += countBytes(loop);
  }
  for (const Fill &fill : fills)
    startFill(kernel, fill);
}

/// Drops the tensor maps that nothing uses.
void dropUnusedMaps(KernelOp kernel) {
  auto maps = kernel->getAttrOfType<ArrayAttr>(kTensorMapsAttr);
  if (!maps)
    return;
  SmallVector<Attribute> used;
  SmallVector<int64_t> numbers(maps.size(), -1);
  kernel.walk([&](ParallelOp copy) {
    auto plan = copy->getAttrOfType<BulkAttr>(kBulkAttr);
    if (!plan)
      return;
    int64_t &number = numbers[plan.getMap()];
    if (number < 0) {
      number = used.size();
      used.push_back(maps[plan.getMap()]);
    }
    copy->setAttr(kBulkAttr,
                  BulkAttr::get(kernel.getContext(), number, plan.getDims(), plan.getDivisors(),
                                plan.getBox(), plan.getSwizzle(), plan.getOrigins(),
                                plan.getOffsets(), plan.getClamped()));
  });
  if (used.empty())
    kernel->removeAttr(kTensorMapsAttr);
  else
    kernel->setAttr(kTensorMapsAttr, ArrayAttr::get(kernel.getContext(), used));
}

struct StartBulkPass : tilewright::impl::StartBulkBase<StartBulkPass> {
  using StartBulkBase::StartBulkBase;

  void runOnOperation() override {
    const Arch *target = requireArch(getOperation(), arch);
    if (!target)
      return signalPassFailure();
    getOperation()->walk([&](KernelOp kernel) {
      SmallVector<ParallelOp> drains, fills;
      kernel.walk([&](ParallelOp loop) {
        if (!isBulkCopy(loop) || isa<AsyncGroupOp, BulkGroupOp>(loop->getParentOp()))
          return;
        (access::CopyLoop::get(loop)->isDrain() ? drains : fills).push_back(loop);
      });
      for (ParallelOp loop : drains) {
        remarkCopy(loop, *access::CopyLoop::get(loop));
        wrapStore(loop);
      }
      startFills(kernel, std::move(fills), *target);
      dropUnusedMaps(kernel);
    });
  }
};

} // namespace
