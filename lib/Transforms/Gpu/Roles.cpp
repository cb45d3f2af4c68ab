//===- Roles.cpp - what a producer warp can compute by itself ---------------------------------===//

#include "Roles.h"
#include "TargetArch.h"
#include "tilewright/Analysis/SharedTiles.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

bool tilewright::isPlain(Operation *op) {
  return op->getNumRegions() == 0 && !isa<AllocOp>(op) &&
         (isMemoryEffectFree(op) || isa<SliceOp, ViewOp>(op));
}

namespace {

class ProducerCheck {
public:
  ProducerCheck(KernelOp kernel, bool disjoint) : kernel(kernel) {
    std::optional<SmallVector<Effect>> effects = getEffects(kernel);
    writesAny = !effects;
    for (const Effect &effect : effects.value_or(SmallVector<Effect>()))
      if (effect.kind != EffectKind::Read) {
        written.insert(effect.root);
        writesAny |= !disjoint && getSpace(effect.root) == Space::Global;
      }
  }

  /// Whether the values that `op` and what it contains take from outside can be computed.
  bool canCompute(Operation *op) {
    WalkResult result = op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (!canCompute(operand, op))
          return WalkResult::interrupt();
      return WalkResult::advance();
    });
    return !result.wasInterrupted();
  }
  bool canCompute(Value value, Operation *scope = nullptr);
  /// Whether all that decides if and how often `op` runs can be computed.
  bool canReach(Operation *op);

  std::string obstacle;

private:
  bool canFollow(AllocOp variable);

  KernelOp kernel;
  bool writesAny;
  llvm::SmallDenseSet<Value> written;
  llvm::DenseMap<Value, bool> known;
  llvm::DenseMap<Operation *, bool> variables; ///< Which a producer can keep for itself.
};

/// Loops and branches that hold no values between their iterations but in variables.
bool isPlainFlow(Operation *op) {
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return loop->getNumResults() == 0 && loop->getNumOperands() == 0;
  return isa<PipelinedOp, scf::ForOp, scf::IfOp>(op) && op->getNumResults() == 0;
}

bool ProducerCheck::canReach(Operation *op) {
  for (Operation *around = op->getParentOp(); around != kernel; around = around->getParentOp()) {
    if (!isPlainFlow(around)) {
      obstacle = "control flow around the loop depends on what other threads compute";
      return false;
    }
    auto loop = dyn_cast<scf::WhileOp>(around);
    SmallVector<Value> decides(around->getOperands());
    if (loop)
      decides.push_back(loop.getConditionOp().getCondition());
    if (!llvm::all_of(decides, [&](Value value) { return canCompute(value); }))
      return false;
  }
  return true;
}

/// A variable that all threads of the program set alike, to what a producer can compute too: it has one of
/// its own.
bool ProducerCheck::canFollow(AllocOp variable) {
  auto [it, isNew] = variables.try_emplace(variable, true); // what it depends on may be itself
  if (!isNew)
    return it->second;
  bool isFine = variable.getBuffer().getType().getRank() == 0;
  for (Operation *user : variable->getUsers()) {
    auto store = dyn_cast<StoreOp>(user);
    isFine = isFine && (isa<LoadOp>(user) || (store && store.getBuffer() == variable.getBuffer() &&
                                              canCompute(store.getValue()) && canReach(store)));
  }
  variables[variable] = isFine;
  return isFine;
}

bool ProducerCheck::canCompute(Value value, Operation *scope) {
  Operation *op = value.getDefiningOp();
  // Block numbers, loop variables and arguments are there; tiles are named, not read.
  if (!op || !kernel->isProperAncestor(op) || isa<AllocOp, BarrierAllocOp>(op))
    return true;
  if (scope && scope->isAncestor(op))
    return true; // computed by what is cloned anyway
  auto [it, isNew] = known.try_emplace(value, true);
  if (!isNew)
    return it->second;
  bool isFine = op->getNumRegions() == 0 && (isMemoryEffectFree(op) || isa<SliceOp, ViewOp>(op));
  if (auto load = dyn_cast<LoadOp>(op)) {
    Value root = getRoot(load.getBuffer());
    auto variable = root.getDefiningOp<AllocOp>();
    if (variable && getSpace(root) == Space::Local)
      isFine = canFollow(variable);
    else
      isFine = getSpace(root) == Space::Global && !writesAny && !written.contains(root);
    if (!isFine && obstacle.empty())
      obstacle =
          "where they read depends on '" + tile::getName(root).str() + "', which the kernel writes";
  } else if (!isFine && obstacle.empty()) {
    obstacle = "where they read depends on what other threads compute";
  }
  isFine = isFine && llvm::all_of(op->getOperands(),
                                  [&](Value operand) { return canCompute(operand, nullptr); });
  known[value] = isFine;
  return isFine;
}

} // namespace

std::string tilewright::findProducerObstacle(PipelinedOp loop, ArrayRef<Operation *> copies,
                                             bool disjoint) {
  auto kernel = loop->getParentOfType<KernelOp>();
  ProducerCheck check(kernel, disjoint);
  for (Operation *copy : copies) {
    if (!check.canCompute(copy))
      return check.obstacle;
    bool isNested = false; // then the producer could not name it
    copy->walk([&](StoreOp store) {
      isNested |= getRoot(store.getBuffer()).getParentBlock() != &kernel.getBody().front();
    });
    if (isNested)
      return "their tile is allocated inside a loop or branch";
  }
  if (!llvm::all_of(loop->getOperands(), [&](Value bound) { return check.canCompute(bound); }) ||
      !check.canReach(loop))
    return check.obstacle;
  return "";
}

static void addTiles(AsyncGroupOp group, SmallVectorImpl<Value> &tiles) {
  group.walk([&](StoreOp store) {
    if (Value tile = getRoot(store.getBuffer()); !llvm::is_contained(tiles, tile))
      tiles.push_back(tile);
  });
}

SmallVector<Value> tilewright::findFilledTiles(Value full) {
  SmallVector<Value> tiles;
  for (Operation *user : full.getUsers())
    if (auto group = dyn_cast<AsyncGroupOp>(user); group && group.getFull() == full)
      addTiles(group, tiles);
  return tiles;
}

SmallVector<Value> tilewright::findReleasedTiles(Value empty) {
  SmallVector<Value> tiles;
  for (Operation *user : empty.getUsers()) {
    // In a role the wait stands in front of the group; before, the group names the barriers itself.
    auto group = dyn_cast<AsyncGroupOp>(user);
    if (isa<BarrierWaitOp>(user) && user->getParentOfType<RoleOp>())
      group = dyn_cast_if_present<AsyncGroupOp>(user->getNextNode());
    if (group)
      addTiles(group, tiles);
  }
  return tiles;
}

int64_t tilewright::estimateRegisters(KernelOp kernel) {
  int64_t bytes = 0;
  kernel.walk([&](AllocOp alloc) {
    if (auto placement = alloc->getAttrOfType<FragmentAttr>(kPlacementAttr))
      bytes += placement.getFragment().getSlotsPerThread() *
               getStorageBytes(alloc.getBuffer().getType().getElementType());
  });
  return llvm::divideCeil(bytes, 4) + kOtherRegisters;
}

int64_t tilewright::getGrantedRegisters(KernelOp kernel) {
  constexpr int64_t kWarpgroup = 128;
  return kRegistersPerProcessor / analysis::getWantedBlocks(kernel) /
         llvm::alignTo(kernel.getNumThreads() + kWarpSize, kWarpgroup) / 8 * 8;
}
