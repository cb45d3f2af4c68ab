//===- VirtualGpu.cpp - launch a compiled function on the virtual GPU ------------------------===//

#include "tilewright/Driver/VirtualGpu.h"
#include "tilewright/Driver/Launches.h"
#include "tilewright/Support/Environment.h"
#include "tilewright/Tile/Tile.h"

#include "llvm/ADT/ScopeExit.h"

using namespace mlir;

namespace tilewright::driver {

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
  auto *tensor = std::get_if<runtime::BoundTensor>(&bound);
  if (!tensor)
    return vgpu::Argument::raw(packNumber(function.getArgumentTypes()[position], bound));
  auto name = function.getArgAttrOfType<StringAttr>(position, tile::kNameAttr);
  return vgpu::Argument::buffer(tensor->data, getBytes(*tensor), name ? name.str() : "");
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
  auto workspaceBytes = evaluateWorkspaces(function, arguments);
  if (!workspaceBytes)
    return workspaceBytes.takeError();
  std::vector<std::vector<uint8_t>> workspaces;
  for (int64_t bytes : *workspaceBytes)
    workspaces.emplace_back(bytes);
  for (auto [alloc, bytes] : llvm::zip(function.getOps<tile::AllocOp>(), workspaces))
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
    if (!environment::getText(environment::Variable::VgpuMode).empty())
      config.asyncTime = vgpu::AsyncTime::Late;
    config.watch = watch;
    config.poll = poll;
    llvm::Expected<vgpu::LaunchResult> launch = vgpu::launch(*module, config, values);
    if (!launch)
      return launch.takeError();
    result.launches.push_back(std::move(*launch));
    result.launched.push_back(&info);
  }
  return result;
}

} // namespace tilewright::driver
