//===- VirtualGpu.cpp - launch a compiled function on the virtual GPU ------------------------===//

#include "tilewright/Driver/VirtualGpu.h"
#include "tilewright/Analysis/IndexValues.h"
#include "tilewright/Tile/Tile.h"

#include "llvm/ADT/ScopeExit.h"

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
    grids.push_back(grid);
  }
  return grids;
}

llvm::Expected<std::unique_ptr<VirtualGpuKernel>> VirtualGpuKernel::load(const GpuProgram &program,
                                                                         StringRef arch) {
  auto kernel = std::make_unique<VirtualGpuKernel>();
  kernel->kernels = program.kernels;
  kernel->arch = arch.str();
  llvm::Expected<std::unique_ptr<vgpu::Module>> module = vgpu::parsePtx(program.ptx, "kernel.ptx");
  if (!module)
    return module.takeError();
  kernel->module = std::move(*module);
  return kernel;
}

/// An argument as the bytes of a PTX parameter.
static vgpu::Argument toArgument(func::FuncOp function, unsigned position,
                                 const runtime::BoundArgument &bound) {
  if (auto *tensor = std::get_if<runtime::BoundTensor>(&bound)) {
    int64_t elements = 1;
    for (int64_t extent : tensor->shape)
      elements *= extent;
    auto name = function.getArgAttrOfType<StringAttr>(position, tile::kNameAttr);
    return vgpu::Argument::buffer(tensor->data,
                                  elements * tile::getStorageBytes(tensor->elementType),
                                  name ? name.str() : "");
  }
  Type type = function.getArgumentTypes()[position];
  if (auto *real = std::get_if<double>(&bound)) {
    llvm::APFloat value(*real);
    bool losesInfo = false;
    value.convert(cast<FloatType>(type).getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven,
                  &losesInfo);
    uint64_t bits = value.bitcastToAPInt().getZExtValue();
    return vgpu::Argument::raw(
        {reinterpret_cast<uint8_t *>(&bits), size_t(tile::getStorageBytes(type))});
  }
  int64_t integer = std::get<int64_t>(bound);
  return vgpu::Argument::raw(
      {reinterpret_cast<uint8_t *>(&integer), size_t(tile::getStorageBytes(type))});
}

/// Parameters (arguments, then workspaces) of an odd number of bytes that a kernel updates
/// atomically. Such an update works on two bytes, as memory of a GPU always has them: allocations
/// are multiples of 256.
static std::vector<unsigned> findOddAtomics(func::FuncOp function,
                                            ArrayRef<vgpu::Argument> parameters) {
  SmallVector<Value> roots(function.getArguments());
  for (tile::AllocOp alloc : function.getOps<tile::AllocOp>())
    roots.push_back(alloc.getBuffer());
  std::vector<unsigned> positions;
  auto add = [&](Value buffer) {
    auto found = llvm::find(roots, tile::getRoot(buffer));
    unsigned position = found - roots.begin();
    if (found != roots.end() && parameters[position].sizeBytes % 2 &&
        !llvm::is_contained(positions, position))
      positions.push_back(position);
  };
  function.walk([&](tile::AtomicOp op) { add(op.getDest()); });
  function.walk([&](tile::AtomicElementOp op) { add(op.getBuffer()); });
  return positions;
}

/// The workspaces of a launch (`T.alloc_global`), in order: parameters behind the arguments.
static llvm::Expected<std::vector<std::vector<uint8_t>>>
allocateWorkspaces(func::FuncOp function, ArrayRef<runtime::BoundArgument> arguments) {
  Formulas formulas(function, arguments);
  std::vector<std::vector<uint8_t>> workspaces;
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
    workspaces.emplace_back(bytes);
  }
  return workspaces;
}

llvm::Expected<VirtualGpuRun> VirtualGpuKernel::run(func::FuncOp function,
                                                    ArrayRef<runtime::BoundArgument> arguments,
                                                    StringRef checks,
                                                    std::optional<vgpu::WatchedBytes> watch,
                                                    std::function<bool()> poll) const {
  auto grids = evaluateGrids(function, arguments);
  if (!grids)
    return grids.takeError();
  auto checkSet = vgpu::CheckSet::parse(checks);
  if (!checkSet)
    return checkSet.takeError();
  std::vector<vgpu::Argument> values;
  for (auto [position, bound] : llvm::enumerate(arguments))
    values.push_back(toArgument(function, position, bound));
  auto workspaces = allocateWorkspaces(function, arguments);
  if (!workspaces)
    return workspaces.takeError();
  for (auto [alloc, bytes] : llvm::zip(function.getOps<tile::AllocOp>(), *workspaces))
    values.push_back(vgpu::Argument::buffer(bytes.data(), bytes.size(), alloc.getName().str()));
  std::vector<std::pair<unsigned, std::vector<uint8_t>>> padded;
  for (unsigned position : findOddAtomics(function, values)) {
    vgpu::Argument &value = values[position];
    auto *bytes = static_cast<uint8_t *>(value.host);
    padded.emplace_back(position, std::vector<uint8_t>(bytes, bytes + value.sizeBytes));
    padded.back().second.push_back(0);
    value.host = padded.back().second.data();
    ++value.sizeBytes;
  }
  llvm::scope_exit bringBack([&] {
    for (auto &[position, bytes] : padded)
      if (position < arguments.size()) // a workspace ends with the launch
        std::copy(bytes.begin(), bytes.end() - 1,
                  static_cast<uint8_t *>(std::get<runtime::BoundTensor>(arguments[position]).data));
  });
  VirtualGpuRun result;
  for (auto [info, grid] : llvm::zip_equal(kernels, *grids)) {
    if (llvm::is_contained(grid, 0)) // an empty grid runs nothing
      continue;
    vgpu::LaunchConfig config;
    config.entry = info.name;
    config.grid = {uint32_t(grid[0]), uint32_t(grid[1]), uint32_t(grid[2])};
    config.block = {uint32_t(info.numThreads), 1, 1};
    config.dynamicSharedBytes = info.sharedBytes;
    config.arch = arch;
    config.checks = *checkSet;
    config.watch = watch;
    config.poll = poll;
    llvm::Expected<vgpu::LaunchResult> launch = vgpu::launch(*module, config, values);
    if (!launch)
      return launch.takeError();
    result.launches.push_back(std::move(*launch));
  }
  return result;
}

} // namespace tilewright::driver
