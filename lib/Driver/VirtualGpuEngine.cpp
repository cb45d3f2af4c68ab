//===- VirtualGpuEngine.cpp - programs on the virtual GPU -------------------------------------===//

#include "GpuKernel.h"
#include "tilewright/Support/Environment.h"
#include "tilewright/Support/ToError.h"
#include "tilewright/Tile/Tile.h"

#include "vgpu/Vgpu.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using tilewright::runtime::BoundArgument;
using tilewright::runtime::BoundTensor;

namespace tilewright::driver {
namespace {

/// PTX that the virtual GPU has loaded, with the code that it belongs to.
struct LoadedCode {
  std::shared_ptr<const CompiledArtifact> artifact;
  std::unique_ptr<vgpu::Module> module;
};

/// The parameters of the PTX of a function: its arguments, then its workspaces, then the tensor maps
/// of a kernel.
class Parameters {
public:
  Parameters(const BoundArguments &bound, ArrayRef<BoundArgument> arguments,
             ArrayRef<LaunchFormulas::Workspace> workspaces, ArrayRef<int64_t> workspaceBytes);
  /// Those of a kernel; nothing if one of its tensor maps cannot be made for these numbers.
  std::optional<std::vector<vgpu::Argument>> getValues(const nvptx::KernelInfo &kernel,
                                                       ArrayRef<int64_t> numbers) const;
  /// Brings back tensors that the launches worked on a copy of.
  void finish(ArrayRef<BoundArgument> arguments);

private:
  void padOdd(unsigned position);

  std::vector<vgpu::Argument> values;
  std::vector<std::vector<uint8_t>> memory;                      ///< Of workspaces.
  std::vector<std::pair<unsigned, std::vector<uint8_t>>> padded; ///< By position.
};

class VirtualGpuKernel : public GpuKernel {
public:
  VirtualGpuKernel(ProgramRef program, const Arch &arch) : GpuKernel(std::move(program), arch) {}

  llvm::Expected<RunResult> run(const BoundArguments &arguments,
                                const RunOptions &options) override;

private:
  llvm::Expected<std::shared_ptr<const LoadedCode>>
  load(const CallFacts &calls, const RunOptions &options, RunResult &result);
  llvm::Expected<bool> launch(const LoadedCode &code, const BoundArguments &bound,
                              const RunOptions &options, RunResult &result) const;

  std::vector<std::shared_ptr<const LoadedCode>> loaded; ///< Guarded by the program's mutex.
};

class VirtualGpuEngine : public Engine {
public:
  explicit VirtualGpuEngine(const Arch &arch) : arch(arch) {}

  llvm::Expected<std::shared_ptr<CompiledKernel>> compile(ProgramRef program,
                                                          const PipelineOptions &options) override {
    auto kernel = std::make_shared<VirtualGpuKernel>(std::move(program), arch);
    if (llvm::Error error = kernel->compileFirst(options))
      return error;
    return kernel;
  }

private:
  const Arch &arch;
};

} // namespace

//===----------------------------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------------------------===//

/// An argument as the bytes of a PTX parameter.
static vgpu::Argument toArgument(const BoundArguments &bound, unsigned position,
                                 const BoundArgument &argument) {
  if (auto *tensor = std::get_if<BoundTensor>(&argument)) {
    func::FuncOp function = bound.getSignature().function;
    auto name = function.getArgAttrOfType<StringAttr>(position, tile::kNameAttr);
    return vgpu::Argument::buffer(tensor->data, getBytes(*tensor), name ? name.str() : "");
  }
  rt::PackedNumber number =
      rt::packNumber(bound.getSignature().form, position, bound.getSlots()[position]);
  auto *bytes = reinterpret_cast<const uint8_t *>(&number.bits);
  return vgpu::Argument::raw(std::vector<uint8_t>(bytes, bytes + number.bytes));
}

/// The arguments that a kernel updates atomically.
static llvm::SmallBitVector findUpdated(func::FuncOp function) {
  llvm::SmallBitVector updated(function.getNumArguments());
  auto add = [&](Value buffer) {
    if (auto argument = dyn_cast<BlockArgument>(tile::getRoot(buffer)))
      updated.set(argument.getArgNumber());
  };
  function.walk([&](tile::AtomicOp op) { add(op.getDest()); });
  function.walk([&](tile::AtomicElementOp op) { add(op.getBuffer()); });
  return updated;
}

Parameters::Parameters(const BoundArguments &bound, ArrayRef<BoundArgument> arguments,
                       ArrayRef<LaunchFormulas::Workspace> workspaces,
                       ArrayRef<int64_t> workspaceBytes) {
  for (auto [position, argument] : llvm::enumerate(arguments))
    values.push_back(toArgument(bound, position, argument));
  for (unsigned position : findUpdated(bound.getSignature().function).set_bits())
    padOdd(position);
  for (auto [workspace, bytes] : llvm::zip_equal(workspaces, workspaceBytes)) {
    std::vector<uint8_t> &own = memory.emplace_back(bytes);
    values.push_back(vgpu::Argument::buffer(own.data(), own.size(), workspace.name));
    if (workspace.isUpdated)
      padOdd(values.size() - 1);
  }
}

/// Makes a parameter that is updated atomically an even number of bytes. Such an update may work on
/// two bytes, as memory of a GPU always has them: allocations are multiples of 256.
void Parameters::padOdd(unsigned position) {
  vgpu::Argument &value = values[position];
  if (value.sizeBytes % 2 == 0)
    return;
  auto *bytes = static_cast<uint8_t *>(value.host);
  padded.emplace_back(position, std::vector<uint8_t>(bytes, bytes + value.sizeBytes));
  padded.back().second.push_back(0);
  value.host = padded.back().second.data();
  ++value.sizeBytes;
}

/// A tensor map as the virtual GPU takes it; the address is the argument's.
static vgpu::TensorMap toVirtual(const TensorMap &map) {
  using ptx = vgpu::ptx::Type;
  static constexpr std::array<ptx, 10> kTypes = {ptx::U8,  ptx::U16, ptx::U32, ptx::S32, ptx::U64,
                                                 ptx::S64, ptx::F16, ptx::F32, ptx::F64, ptx::BF16};
  vgpu::TensorMap made;
  made.type = kTypes[size_t(map.type)];
  made.swizzle =
      map.swizzleBytes ? vgpu::Swizzle(llvm::Log2_32(map.swizzleBytes / 16)) : vgpu::Swizzle::None;
  made.fillsNan = map.fillsNan;
  made.extents.assign(map.extents.begin(), map.extents.end());
  made.strideBytes.assign(map.strideBytes.begin(), map.strideBytes.end());
  made.box.assign(map.box.begin(), map.box.end());
  made.elementStrides.assign(map.steps.begin(), map.steps.end());
  return made;
}

std::optional<std::vector<vgpu::Argument>> Parameters::getValues(const nvptx::KernelInfo &kernel,
                                                                 ArrayRef<int64_t> numbers) const {
  std::vector<vgpu::Argument> all = values;
  // The virtual GPU has each tensor at an address that TMA can take.
  std::vector<uint64_t> addresses(values.size());
  for (const nvptx::TensorMapRecipe &recipe : kernel.maps) {
    std::optional<TensorMap> map = rt::evaluateTensorMap(describeMap(recipe), {addresses, numbers});
    if (!map)
      return std::nullopt;
    const vgpu::Argument &tensor = values[recipe.argument];
    all.push_back(
        vgpu::Argument::tensorMap(toVirtual(*map), tensor.host, tensor.sizeBytes, tensor.name));
  }
  return all;
}

void Parameters::finish(ArrayRef<BoundArgument> arguments) {
  for (auto &[position, bytes] : padded)
    if (position < arguments.size()) // a workspace ends with the launch
      std::copy(bytes.begin(), bytes.end() - 1,
                static_cast<uint8_t *>(std::get<BoundTensor>(arguments[position]).data));
}

//===----------------------------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------------------------===//

static llvm::Expected<std::shared_ptr<const LoadedCode>>
loadPtx(std::shared_ptr<const CompiledArtifact> artifact, StringRef ptx) {
  llvm::Expected<std::unique_ptr<vgpu::Module>> module = vgpu::parsePtx(ptx, "kernel.ptx");
  if (!module)
    return toProgramError(module.takeError());
  auto code = std::make_shared<LoadedCode>();
  code->artifact = std::move(artifact);
  code->module = std::move(*module);
  return code;
}

/// The code for a call, compiled and loaded on first use.
llvm::Expected<std::shared_ptr<const LoadedCode>>
VirtualGpuKernel::load(const CallFacts &calls, const RunOptions &options, RunResult &result) {
  PipelineOptions pipeline;
  pipeline.calls = calls;
  bool isNew = false;
  llvm::Expected<frontend::Program::Lock> lock = program->lock();
  if (!lock)
    return toProgramError(lock.takeError());
  auto artifact = compile(std::move(pipeline), *lock, isNew);
  if (!artifact)
    return artifact.takeError();
  if (isNew)
    result.compiled = *artifact;
  if (options.ptx)
    return loadPtx(*artifact, *options.ptx);
  for (const std::shared_ptr<const LoadedCode> &known : loaded)
    if (known->artifact == *artifact)
      return known;
  auto code = loadPtx(*artifact, (*artifact)->code);
  if (code)
    loaded.push_back(*code);
  return code;
}

/// Runs the kernels; gives false, before any has run, if a tensor map cannot be made for this call.
llvm::Expected<bool> VirtualGpuKernel::launch(const LoadedCode &code, const BoundArguments &bound,
                                              const RunOptions &options, RunResult &result) const {
  func::FuncOp function = signature->function;
  std::vector<BoundArgument> arguments = bound.getArguments();
  rt::LaunchFormulas formulas = code.artifact->launches.describe();
  auto grids = formulas.evaluateGrids(bound.getNumbers());
  if (!grids)
    return toError(grids.getFailure());
  auto workspaces = formulas.evaluateWorkspaces(bound.getNumbers());
  if (!workspaces)
    return toError(workspaces.getFailure());
  auto checks = vgpu::CheckSet::parse(options.checks);
  if (!checks)
    return checks.takeError();
  Parameters parameters(bound, arguments, code.artifact->launches.getWorkspaces(), *workspaces);
  std::vector<std::vector<vgpu::Argument>> values;
  for (const nvptx::KernelInfo &info : code.artifact->kernels) {
    auto all = parameters.getValues(info, bound.getNumbers());
    if (!all)
      return false;
    values.push_back(std::move(*all));
  }
  llvm::scope_exit bringBack([&] { parameters.finish(arguments); });
  FindingList findings(function, arguments);
  for (auto [info, grid, all] : llvm::zip_equal(code.artifact->kernels, *grids, values)) {
    if (llvm::is_contained(grid, 0)) // an empty grid runs nothing
      continue;
    vgpu::LaunchConfig config;
    config.entry = info.name;
    config.grid = {uint32_t(grid[0]), uint32_t(grid[1]), uint32_t(grid[2])};
    config.block = {uint32_t(info.numThreads), 1, 1};
    config.dynamicSharedBytes = info.sharedBytes;
    config.arch = arch.name.str();
    config.checks = *checks;
    if (!environment::getText(environment::Variable::VgpuMode).empty())
      config.asyncTime = vgpu::AsyncTime::Late;
    config.watch = options.watch;
    if (options.trace && options.trace->block < config.grid.count())
      config.trace = options.trace;
    if (options.poll)
      config.poll = [&] { return options.poll({}); };
    llvm::Expected<vgpu::LaunchResult> launch = vgpu::launch(*code.module, config, all);
    if (!launch)
      return launch.takeError();
    findings.add(launch->findings, info);
    result.output += launch->output;
    result.stopped |= !launch->isComplete;
    result.launches.push_back(std::move(*launch));
  }
  result.findings = findings.take();
  return true;
}

llvm::Expected<RunResult> VirtualGpuKernel::run(const BoundArguments &bound,
                                                const RunOptions &options) {
  if (llvm::Error error = checkArguments(bound))
    return error;
  RunResult result;
  CallFacts calls = bound.getFacts();
  for (bool tensorMaps : {true, false}) {
    calls.tensorMaps = tensorMaps;
    auto code = load(calls, options, result);
    if (!code)
      return code.takeError();
    Stopwatch watch;
    llvm::Expected<bool> hasRun = launch(**code, bound, options, result);
    if (!hasRun)
      return toProgramError(hasRun.takeError());
    result.seconds = watch.getSeconds();
    if (*hasRun)
      return result;
  }
  return makeUnexpectedMapsError();
}

std::shared_ptr<Engine> makeVirtualGpuEngine(const Arch &arch) {
  return std::make_shared<VirtualGpuEngine>(arch);
}

} // namespace tilewright::driver
