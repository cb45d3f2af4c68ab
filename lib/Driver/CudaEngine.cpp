//===- CudaEngine.cpp - programs on a GPU of this machine -------------------------------------===//

#include "GpuKernel.h"
#include "tilewright/Driver/CudaGpu.h"

using namespace mlir;
using tilewright::runtime::BoundArgument;
using tilewright::runtime::CudaDriver;
using tilewright::runtime::CudaScope;

namespace tilewright::driver {
namespace {

class CudaKernel : public GpuKernel {
public:
  CudaKernel(ProgramRef program, const Arch &arch, CudaDriver &driver, int device)
      : GpuKernel(std::move(program), arch), driver(driver), device(device) {}

  llvm::Expected<RunResult> run(const BoundArguments &arguments,
                                const RunOptions &options) override;

private:
  std::shared_ptr<const CudaModule> findLoaded(const CallFacts &calls) const;
  llvm::Expected<std::shared_ptr<const CudaModule>> load(const CallFacts &calls, RunResult &result);

  CudaDriver &driver;
  const int device;
  mutable ForkedMutex loadedMutex; ///< Held shortly, so that no call waits for a compilation.
  std::vector<std::shared_ptr<const CudaModule>> loaded;
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

std::shared_ptr<const CudaModule> CudaKernel::findLoaded(const CallFacts &calls) const {
  std::lock_guard lock(loadedMutex);
  for (const std::shared_ptr<const CudaModule> &known : loaded)
    if (known->getArtifact()->calls == calls)
      return known;
  return nullptr;
}

/// The code for a call, compiled and loaded on first use. Within a CudaScope.
llvm::Expected<std::shared_ptr<const CudaModule>> CudaKernel::load(const CallFacts &calls,
                                                                   RunResult &result) {
  if (std::shared_ptr<const CudaModule> known = findLoaded(calls))
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
  if (std::shared_ptr<const CudaModule> known = findLoaded(calls)) // another thread was faster
    return known;
  llvm::Expected<std::shared_ptr<const CudaModule>> module =
      CudaModule::load(driver, device, *artifact);
  if (!module)
    return toProgramError(module.takeError());
  std::lock_guard loadedLock(loadedMutex);
  loaded.push_back(*module);
  return module;
}

llvm::Expected<RunResult> CudaKernel::run(const BoundArguments &bound, const RunOptions &options) {
  if (llvm::Error error = checkArguments(bound))
    return error;
  llvm::Expected<CudaScope> scope = CudaScope::enter(driver, device);
  if (!scope)
    return toProgramError(scope.takeError());
  std::vector<BoundArgument> arguments = bound.getArguments();
  auto tensors = GpuTensors::place(driver, device, signature->function, arguments);
  if (!tensors)
    return toProgramError(tensors.takeError());
  CallFacts calls = bound.getFacts();
  calls.argumentAlignment = tensors->getAlignment();
  RunResult result;
  auto poll = [&] { return !options.poll || options.poll({}); };
  for (bool tensorMaps : {true, false}) {
    calls.tensorMaps = tensorMaps;
    auto module = load(calls, result);
    if (!module)
      return module.takeError();
    Stopwatch watch;
    llvm::Expected<bool> hasRun = (*module)->run(bound, arguments, *tensors, options.stream, poll);
    if (!hasRun)
      return toProgramError(hasRun.takeError());
    result.seconds = watch.getSeconds();
    if (*hasRun)
      return result;
  }
  return makeUnexpectedMapsError();
}

llvm::Expected<std::shared_ptr<Engine>> makeCudaEngine(int device) {
  llvm::Expected<CudaDriver &> driver = CudaDriver::get();
  if (!driver)
    return driver.takeError();
  if (size_t(device) >= driver->getDevices().size())
    return CudaScope::enter(*driver, device).takeError(); // says how many there are
  llvm::Expected<const Arch *> arch = findArch(driver->getDevices()[device]);
  if (!arch)
    return arch.takeError();
  return std::make_shared<CudaEngine>(**arch, *driver, device);
}

} // namespace tilewright::driver
