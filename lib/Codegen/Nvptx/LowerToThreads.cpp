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

/// The tiles that lie in the block's shared memory, as written.
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

/// The type that a tensor map has for an element: others are copied as bits.
static TensorMapType getMapType(Type type) {
  if (type.isF16())
    return TensorMapType::F16;
  if (type.isBF16())
    return TensorMapType::BF16;
  if (type.isF32() || type.isTF32())
    return TensorMapType::F32;
  if (type.isF64())
    return TensorMapType::F64;
  switch (getStorageBytes(type)) {
  case 1:
    return TensorMapType::U8;
  case 2:
    return TensorMapType::U16;
  case 4:
    return TensorMapType::U32;
  default:
    return TensorMapType::U64;
  }
}

/// Formulas of shape symbols as formulas of the function's arguments.
static std::vector<IndexExpr> toArguments(func::FuncOp function, ShapeAttr formulas) {
  SmallVector<IndexExpr> arguments;
  for (StringAttr symbol : formulas.getSymbols())
    for (unsigned position = 0; position < function.getNumArguments(); ++position)
      if (function.getArgAttr(position, kSymbolAttr) == symbol) {
        arguments.push_back(IndexExpr::dim(position));
        break;
      }
  std::vector<IndexExpr> exprs;
  for (const IndexExpr &formula : formulas.getExtents())
    exprs.push_back(formula.substitute({}, arguments));
  return exprs;
}

static std::vector<TensorMapRecipe> listTensorMaps(func::FuncOp function, KernelOp kernel) {
  std::vector<TensorMapRecipe> maps;
  auto attributes = kernel->getAttrOfType<ArrayAttr>(kTensorMapsAttr);
  if (!attributes)
    return maps;
  for (auto attribute : attributes.getAsRange<TensorMapAttr>()) {
    TensorMapRecipe &map = maps.emplace_back();
    map.argument = attribute.getArgument();
    map.type = getMapType(attribute.getType());
    map.extents = toArguments(function, attribute.getExtents());
    map.strideBytes = toArguments(function, attribute.getStrides());
    map.box.assign(attribute.getBox().begin(), attribute.getBox().end());
    map.steps.assign(attribute.getSteps().begin(), attribute.getSteps().end());
    map.swizzleBytes = attribute.getSwizzle();
    map.fillsNan = attribute.getFillsNan();
    map.promotionBytes = attribute.getPromotion();
  }
  return maps;
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
    if (auto extra = kernel->getAttrOfType<IntegerAttr>(kExtraThreadsAttr))
      info.numThreads += extra.getInt();
    if (auto bytes = kernel->getAttrOfType<IntegerAttr>(kSharedBytesAttr))
      info.sharedBytes = bytes.getInt();
    info.tiles = listSharedTiles(kernel);
    info.maps = listTensorMaps(function, kernel);
    info.overlapsLaunch = kernel->hasAttr(kOverlapsLaunchAttr);
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

/// Functions and tables stand where a macro wrote them, without the lines of its callers: MLIR looks
/// for the function around whatever was inlined, and faults if there is none.
static void dropCallers(ModuleOp module) {
  for (Operation &op : *module.getBody())
    while (auto inlined = dyn_cast<CallSiteLoc>(op.getLoc()))
      op.setLoc(inlined.getCallee());
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
    dropCallers(getOperation());
  }
};
} // namespace

} // namespace tilewright::nvptx
