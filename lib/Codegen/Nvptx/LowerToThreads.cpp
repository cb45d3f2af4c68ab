//===- LowerToThreads.cpp - the pass, and what launches must know ----------------------------===//

#include "Lowerings.h"
#include "tilewright/Analysis/SharedTiles.h"

#include "mlir/Dialect/Math/IR/Math.h"

namespace tilewright::nvptx {
#define GEN_PASS_DEF_LOWERTOTHREADS
#include "tilewright/Codegen/Nvptx/Passes.h.inc"
} // namespace tilewright::nvptx

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::nvptx {

/// The tiles that have a place in the block's shared memory, as written.
static std::vector<SharedTile> listSharedTiles(KernelOp kernel) {
  std::vector<SharedTile> tiles;
  kernel.walk([&](AllocOp alloc) {
    auto offset = alloc->getAttrOfType<IntegerAttr>(kOffsetAttr);
    auto layout = alloc->getAttrOfType<LayoutAttr>(kPlacementAttr);
    if (!offset || !layout)
      return;
    MemRefType type = alloc.getBuffer().getType();
    tiles.push_back({alloc.getName().str(), offset.getInt(), analysis::getPlacedBytes(alloc),
                     getStorageBytes(type.getElementType()), std::vector<int64_t>(type.getShape()),
                     layout.getLayout().str()});
  });
  return tiles;
}

static std::string getKernelName(func::FuncOp function, unsigned number) {
  return (function.getName() + "_kernel" + (number ? std::to_string(number) : "")).str();
}

std::vector<KernelInfo> describeKernels(func::FuncOp function) {
  std::vector<KernelInfo> kernels;
  for (KernelOp kernel : function.getOps<KernelOp>()) {
    KernelInfo info;
    info.name = getKernelName(function, kernels.size());
    info.numThreads = kernel.getNumThreads();
    if (auto bytes = kernel->getAttrOfType<IntegerAttr>(kSharedBytesAttr))
      info.sharedBytes = bytes.getInt();
    info.tiles = listSharedTiles(kernel);
    kernels.push_back(std::move(info));
  }
  return kernels;
}

/// Appends the code of one thread of each kernel to a module.
static LogicalResult lowerKernels(func::FuncOp function, ModuleOp threads, const Arch &arch,
                                  const CallFacts &calls) {
  for (auto [number, kernel] : llvm::enumerate(function.getOps<KernelOp>())) {
    Thread thread(threads, kernel, arch, getKernelName(function, number), calls);
    if (failed(lowerKernel(thread)))
      return failure();
  }
  return success();
}

namespace {
struct LowerToThreadsPass : impl::LowerToThreadsBase<LowerToThreadsPass> {
  using LowerToThreadsBase::LowerToThreadsBase;

  void runOnOperation() override {
    const Arch *target = findArch(arch);
    if (!target) {
      getOperation().emitError() << "unknown architecture '" << arch << "'; known are "
                                 << getArchNames();
      return signalPassFailure();
    }
    OwningOpRef<ModuleOp> threads = ModuleOp::create(getOperation().getLoc());
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (failed(lowerKernels(function, *threads, *target, {disjoint, alignment})))
        return signalPassFailure();
    getOperation().getBodyRegion().takeBody(threads->getBodyRegion());
  }
};
} // namespace

} // namespace tilewright::nvptx
