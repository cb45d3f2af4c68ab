//===- PlanLaunch.cpp - how the blocks of a kernel start -----------------------------------------===//
//
// Two wishes of a program are about its launch, and each is met only where nothing can tell the
// difference from blocks that start alone, after all that was launched before:
//
//   T.ClusterKernel   the blocks of a cluster start together (`tile.cluster`) where every launch allows it:
//                     the grid is a multiple of the cluster, and every GPU has room for it
//   T.pdl_sync        the kernel may start while the launch before it still runs (`tile.overlaps_launch`),
//                     where no thread touches global memory before it waits for the end of that launch
//
// A remark says what stands in the way.
//
// Expects: roles (split-roles).   Leaves: these attributes of the kernel.
//===----------------------------------------------------------------------------------------===//

#include "TargetArch.h"
#include "tilewright/Tile/Remarks.h"
#include "tilewright/Tile/Schedule.h"
#include "tilewright/Tile/Tile.h"
#include "tilewright/Transforms/Passes.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"

namespace tilewright {
#define GEN_PASS_DEF_PLANLAUNCH
#include "tilewright/Transforms/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

namespace {

/// Every GPU that has clusters starts so many blocks together.
constexpr int64_t kMaxClusterBlocks = 8;

/// The first hint of this name in the kernel, wherever it stands.
HintOp findHint(KernelOp kernel, StringRef name) {
  HintOp found;
  kernel.walk([&](HintOp hint) {
    if (!found && hint.getName() == name)
      found = hint;
  });
  return found;
}

void planCluster(KernelOp kernel) {
  HintOp hint = findHint(kernel, "cluster");
  if (!hint)
    return;
  SmallVector<int64_t> extents;
  int64_t blocks = 1;
  std::string obstacle;
  constexpr StringLiteral kNames[] = {"x", "y", "z"};
  for (auto [position, name] : llvm::enumerate(kNames)) {
    auto extent = hint->getAttrOfType<IntegerAttr>(name);
    extents.push_back(extent ? extent.getInt() : 1);
    blocks *= extents.back();
    std::optional<int64_t> grid = 1;
    if (position < kernel.getGrid().size())
      grid = getConstantIntValue(kernel.getGrid()[position]);
    if (extents.back() != 1 && (!grid || *grid % extents.back()))
      obstacle = "the grid is not known to be a multiple of it";
  }
  if (blocks == 1)
    return;
  if (blocks > kMaxClusterBlocks)
    obstacle = "it has " + std::to_string(blocks) + " blocks, and every GPU takes " +
               std::to_string(kMaxClusterBlocks);
  if (obstacle.empty()) {
    kernel->setAttr(kClusterAttr, DenseI64ArrayAttr::get(kernel.getContext(), extents));
    return;
  }
  InFlightDiagnostic diag = kernel.emitRemark();
  diag << "blocks start without a cluster: " << obstacle;
  describeRemark(diag, "cluster", "", {{"blocks", blocks}, {"reason", obstacle}});
}

/// Tells of a cluster whose blocks the front end made one block (Frontend/Clusters.h).
void tellJoined(KernelOp kernel) {
  HintOp hint = findHint(kernel, "joined_cluster");
  if (!hint)
    return;
  int64_t blocks = hint->getAttrOfType<IntegerAttr>("blocks").getInt();
  int64_t threads = kernel.getNumThreads();
  InFlightDiagnostic diag = kernel.emitRemark();
  diag << "the " << blocks << " blocks of a cluster run as one block of " << threads
       << " threads: they reach into each other's shared memory";
  describeRemark(diag, "cluster", "", {{"blocks", blocks}, {"threads", threads}});
}

/// Why the kernel may not start before the launch in front of it is over; empty if it may.
std::string findLaunchObstacle(KernelOp kernel, HintOp sync) {
  if (sync->getBlock() != &kernel.getBody().front())
    return "T.pdl_sync stands in a branch or loop";
  for (Operation *op = &kernel.getBody().front().front(); op != sync; op = op->getNextNode()) {
    std::optional<SmallVector<Effect>> effects = getEffects(op);
    if (!effects)
      return "a statement before T.pdl_sync has unknown effects";
    for (const Effect &effect : *effects)
      if (getSpace(effect.root) == Space::Global)
        return (effect.kind == EffectKind::Read ? "it reads '" : "it writes '") +
               tile::getName(effect.root).str() + "' before T.pdl_sync";
  }
  return "";
}

void planOverlap(KernelOp kernel) {
  HintOp sync = findHint(kernel, "pdl_sync");
  if (!sync)
    return;
  std::string obstacle = findLaunchObstacle(kernel, sync);
  if (obstacle.empty())
    kernel->setAttr(kOverlapsLaunchAttr, UnitAttr::get(kernel.getContext()));
  InFlightDiagnostic diag = sync.emitRemark();
  if (obstacle.empty())
    diag << "this kernel may start while the launch before it runs";
  else
    diag << "this kernel starts after the launch before it: " << obstacle;
  describeRemark(diag, "launch", "", {{"reason", obstacle}});
}

struct PlanLaunchPass : tilewright::impl::PlanLaunchBase<PlanLaunchPass> {
  using PlanLaunchBase::PlanLaunchBase;

  void runOnOperation() override {
    const Arch *target = requireArch(getOperation(), arch);
    if (!target)
      return signalPassFailure();
    getOperation()->walk(tellJoined);
    if (target->version < 90)
      return;
    getOperation()->walk([](KernelOp kernel) {
      planCluster(kernel);
      planOverlap(kernel);
    });
  }
};

} // namespace
