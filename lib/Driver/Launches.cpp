//===- Launches.cpp - what launching a function on a GPU takes -------------------------------===//

#include "tilewright/Driver/Launches.h"
#include "tilewright/Analysis/IndexValues.h"
#include "tilewright/Tile/Tile.h"

using namespace mlir;

namespace tilewright::driver {

namespace {
/// Values of a function that its arguments alone decide.
class Formulas {
public:
  Formulas(func::FuncOp function, ArrayRef<runtime::BoundArgument> arguments)
      : translator(function) {
    for (auto [argument, bound] : llvm::zip(function.getArguments(), arguments)) {
      translator.addDim(argument);
      auto *integer = std::get_if<int64_t>(&bound);
      values.push_back(integer ? *integer : 0);
    }
  }
  /// Nothing where the value is no arithmetic of shapes and integers.
  std::optional<int64_t> evaluate(Value value) {
    std::optional<IndexExpr> expr = translator.translate(value);
    return expr ? expr->evaluate(values) : std::nullopt;
  }

private:
  analysis::IndexTranslator translator;
  SmallVector<int64_t> values;
};
} // namespace

llvm::Expected<std::vector<std::array<int64_t, 3>>>
evaluateGrids(func::FuncOp function, ArrayRef<runtime::BoundArgument> arguments) {
  Formulas formulas(function, arguments);
  std::vector<std::array<int64_t, 3>> grids;
  for (tile::KernelOp kernel : function.getOps<tile::KernelOp>()) {
    std::array<int64_t, 3> grid{1, 1, 1};
    for (auto [position, extent] : llvm::enumerate(kernel.getGrid())) {
      std::optional<int64_t> value = formulas.evaluate(extent);
      if (!value)
        return llvm::createStringError(
            "the grid of a kernel is not a formula of shapes and integers");
      if (*value < 0 || *value > INT32_MAX)
        return llvm::createStringError("grid extent " + Twine(*value) +
                                       " is not between 0 and 2^31 - 1");
      grid[position] = *value;
    }
    // A kernel whose blocks meet is several launches (tile-split-grid).
    auto syncs = kernel.getBody().getOps<tile::GridSyncOp>();
    grids.insert(grids.end(), 1 + std::distance(syncs.begin(), syncs.end()), grid);
  }
  return grids;
}

llvm::Expected<std::vector<int64_t>>
evaluateWorkspaces(func::FuncOp function, ArrayRef<runtime::BoundArgument> arguments) {
  Formulas formulas(function, arguments);
  std::vector<int64_t> workspaces;
  for (tile::AllocOp alloc : function.getOps<tile::AllocOp>()) {
    MemRefType type = alloc.getBuffer().getType();
    int64_t bytes = tile::getStorageBytes(type.getElementType());
    unsigned next = 0;
    for (int64_t extent : type.getShape()) {
      if (ShapedType::isDynamic(extent)) {
        std::optional<int64_t> value = formulas.evaluate(alloc.getDynamicExtents()[next++]);
        if (!value || *value < 0)
          return llvm::createStringError("an extent of workspace '" + alloc.getName() +
                                         "' is no formula of shapes and integers");
        extent = *value;
      }
      bytes *= extent;
    }
    workspaces.push_back(bytes);
  }
  return workspaces;
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
