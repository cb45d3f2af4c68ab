//===- Launches.cpp - what launching a function on a GPU takes -------------------------------===//

#include "tilewright/Driver/Launches.h"
#include "tilewright/Analysis/IndexValues.h"
#include "tilewright/Tile/Tile.h"

using namespace mlir;

namespace tilewright::driver {

LaunchFormulas::LaunchFormulas(func::FuncOp function) {
  analysis::IndexTranslator translator(function);
  for (BlockArgument argument : function.getArguments())
    translator.addDim(argument);
  for (tile::KernelOp kernel : function.getOps<tile::KernelOp>()) {
    // A kernel whose blocks meet is several launches (tile-split-grid).
    auto syncs = kernel.getBody().getOps<tile::GridSyncOp>();
    Kernel &entry = kernels.emplace_back();
    entry.numLaunches = 1 + std::distance(syncs.begin(), syncs.end());
    for (Value extent : kernel.getGrid())
      entry.grid.push_back(translator.translate(extent));
  }
  for (tile::AllocOp alloc : function.getOps<tile::AllocOp>()) {
    MemRefType type = alloc.getBuffer().getType();
    Workspace &entry = workspaces.emplace_back();
    entry.name = alloc.getName().str();
    entry.elementBytes = tile::getStorageBytes(type.getElementType());
    unsigned next = 0;
    for (int64_t extent : type.getShape())
      entry.extents.push_back(ShapedType::isDynamic(extent)
                                  ? translator.translate(alloc.getDynamicExtents()[next++])
                                  : IndexExpr(extent));
  }
}

/// The value of a formula; nothing if there is none, or it has none.
static std::optional<int64_t> evaluate(const std::optional<IndexExpr> &formula,
                                       ArrayRef<int64_t> numbers) {
  return formula ? formula->evaluate(numbers) : std::nullopt;
}

llvm::Expected<SmallVector<LaunchFormulas::Grid>>
LaunchFormulas::evaluateGrids(ArrayRef<int64_t> numbers) const {
  SmallVector<Grid> grids;
  for (const Kernel &kernel : kernels) {
    Grid grid{1, 1, 1};
    for (auto [position, extent] : llvm::enumerate(kernel.grid)) {
      std::optional<int64_t> value = evaluate(extent, numbers);
      if (!value)
        return llvm::createStringError(
            "the grid of a kernel is not a formula of shapes and integers");
      if (*value < 0 || *value > INT32_MAX)
        return llvm::createStringError("grid extent " + Twine(*value) +
                                       " is not between 0 and 2^31 - 1");
      grid[position] = *value;
    }
    grids.append(kernel.numLaunches, grid);
  }
  return grids;
}

llvm::Expected<SmallVector<int64_t>>
LaunchFormulas::evaluateWorkspaces(ArrayRef<int64_t> numbers) const {
  SmallVector<int64_t> sizes;
  for (const Workspace &workspace : workspaces) {
    int64_t bytes = workspace.elementBytes;
    for (const Formula &extent : workspace.extents) {
      std::optional<int64_t> value = evaluate(extent, numbers);
      if (!value || *value < 0)
        return llvm::createStringError("an extent of workspace '" + workspace.name +
                                       "' is no formula of shapes and integers");
      bytes *= *value;
    }
    sizes.push_back(bytes);
  }
  return sizes;
}

int64_t getBytes(const runtime::BoundTensor &tensor) {
  int64_t elements = 1;
  for (int64_t extent : tensor.shape)
    elements *= extent;
  return elements * tile::getStorageBytes(tensor.elementType);
}

std::vector<uint8_t> packNumber(Type type, const runtime::BoundArgument &number) {
  uint64_t bits = 0;
  if (auto *real = std::get_if<double>(&number)) {
    llvm::APFloat value(*real);
    bool losesInfo = false;
    value.convert(cast<FloatType>(type).getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven,
                  &losesInfo);
    bits = value.bitcastToAPInt().getZExtValue();
  } else {
    bits = uint64_t(std::get<int64_t>(number));
  }
  auto *bytes = reinterpret_cast<uint8_t *>(&bits);
  return std::vector<uint8_t>(bytes, bytes + tile::getStorageBytes(type));
}

} // namespace tilewright::driver
