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

  std::string obstacle;

private:
  KernelOp kernel;
  bool writesAny;
  llvm::SmallDenseSet<Value> written;
  llvm::DenseMap<Value, bool> known;
};

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
    isFine = getSpace(root) == Space::Global && !writesAny && !written.contains(root);
    if (!isFine)
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
  for (Operation *op = loop; op != kernel; op = op->getParentOp()) {
    if (!isa<PipelinedOp, scf::ForOp, scf::IfOp>(op) || op->getNumResults())
      return "control flow around the loop depends on what other threads compute";
    for (Value operand : op->getOperands())
      if (!check.canCompute(operand))
        return check.obstacle;
  }
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
