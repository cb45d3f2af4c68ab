//===- CudaEngine.cpp - programs on a GPU of this machine -------------------------------------===//

#include "GpuKernel.h"
#include "tilewright/Rt/CudaLaunch.h"
#include "tilewright/Support/ToError.h"

using namespace mlir;
using tilewright::rt::CudaDriver;
using tilewright::rt::CudaModule;
using tilewright::rt::CudaScope;

namespace tilewright::driver {
namespace {

class CudaKernel : public GpuKernel {
public:
  CudaKernel(ProgramRef program, const Arch &arch, CudaDriver &driver, int device)
      : GpuKernel(std::move(program), arch), driver(driver), device(device) {}

  llvm::Expected<RunResult> run(const BoundArguments &arguments,
                                const RunOptions &options) override;
  bool isSilent() const override { return true; } // the driver prints

private:
  /// Code that the GPU has loaded.
  struct Loaded {
    CallFacts calls;
    rt::LaunchFormulas launches;
    std::shared_ptr<const CudaModule> module;
  };
  std::shared_ptr<const Loaded> findLoaded(const CallFacts &calls) const;
  llvm::Expected<std::shared_ptr<const Loaded>> load(const CallFacts &calls, RunResult &result);

  CudaDriver &driver;
  const int device;
  mutable ForkedMutex loadedMutex; ///< Held shortly, so that no call waits for a compilation.
  std::vector<std::shared_ptr<const Loaded>> loaded;
};

class CudaEngine : public Engine {
public:
  CudaEngine(const Arch &arch, CudaDriver &driver, int device)
      : arch(arch), driver(driver), device(device) {}

  llvm::Expected<std::shared_ptr<CompiledKernel>> compile(ProgramRef program,
                                                          const PipelineOptions &options) override {
    auto kernel = std::make_shared<CudaKernel>(std::move(program), arch, driver, device);
    if (llvm::Error error = kernel->compileFirst(options))
      return error;
    return kernel;
  }

private:
  const Arch &arch;
  CudaDriver &driver;
  const int device;
};

} // namespace

std::shared_ptr<const CudaKernel::Loaded> CudaKernel::findLoaded(const CallFacts &calls) const {
  std::lock_guard lock(loadedMutex);
  for (const std::shared_ptr<const Loaded> &known : loaded)
    if (known->calls == calls)
      return known;
  return nullptr;
}

/// The code for a call, compiled and loaded on first use. Within a CudaScope.
llvm::Expected<std::shared_ptr<const CudaKernel::Loaded>> CudaKernel::load(const CallFacts &calls,
                                                                           RunResult &result) {
  if (std::shared_ptr<const Loaded> known = findLoaded(calls))
    return known;
  PipelineOptions options;
  options.calls = calls;
  bool isNew = false;
  llvm::Expected<frontend::Program::Lock> lock = program->lock();
  if (!lock)
    return toProgramError(lock.takeError());
  auto artifact = compile(std::move(options), *lock, isNew);
  if (!artifact)
    return artifact.takeError();
  if (isNew)
    result.compiled = *artifact;
  if (std::shared_ptr<const Loaded> known = findLoaded(calls)) // another thread was faster
    return known;
  Result<std::shared_ptr<CudaModule>> module = CudaModule::load(
      driver, device, (*artifact)->code.c_str(), describeKernels((*artifact)->kernels));
  if (!module)
    return makeProgramError(module.getFailure().message);
  std::lock_guard loadedLock(loadedMutex);
  loaded.push_back(
      std::make_shared<Loaded>(Loaded{calls, (*artifact)->launches.describe(), *module}));
  return loaded.back();
}

llvm::Expected<RunResult> CudaKernel::run(const BoundArguments &bound, const RunOptions &options) {
  if (llvm::Error error = checkArguments(bound))
    return error;
  Result<CudaScope> scope = CudaScope::enter(driver, device);
  if (!scope)
    return makeProgramError(scope.getFailure().message);
  rt::Binding binding = bound.getBinding();
  Result<rt::GpuTensors> tensors = rt::GpuTensors::place(driver, device, signature->form, binding);
  if (!tensors)
    return makeProgramError(tensors.getFailure().message);
  CallFacts calls = bound.getFacts();
  calls.argumentAlignment = tensors->getAlignment();
  RunResult result;
  auto askCaller = [&] { return !options.poll || options.poll({}); };
  FunctionRef<bool()> poll(askCaller);
  for (bool tensorMaps : {true, false}) {
    calls.tensorMaps = tensorMaps;
    auto code = load(calls, result);
    if (!code)
      return code.takeError();
    Stopwatch watch;
    Result<bool> hasRun = (*code)->module->run((*code)->launches, signature->form, binding,
                                               *tensors, options.stream, &poll);
    if (!hasRun)
      return makeProgramError(hasRun.getFailure().message);
    result.seconds = watch.getSeconds();
    if (*hasRun)
      return result;
  }
  return makeUnexpectedMapsError();
}

llvm::Expected<std::shared_ptr<Engine>> makeCudaEngine(int device) {
  Result<CudaDriver *> found = CudaDriver::get();
  if (!found)
    return toError(found.getFailure());
  CudaDriver &driver = **found;
  if (size_t(device) >= driver.getDevices().size())
    return toError(CudaScope::enter(driver, device).getFailure()); // says how many there are
  llvm::Expected<const Arch *> arch = findArch(driver.getDevices()[device]);
  if (!arch)
    return arch.takeError();
  return std::make_shared<CudaEngine>(**arch, driver, device);
}

} // namespace tilewright::driver
