//===- Executable.cpp - a program with its kernels, one for each engine -----------------------===//

#include "tilewright/Driver/Executable.h"
#include "Interruptible.h"
#include "tilewright/Frontend/Diagnostics.h"
#include "tilewright/Support/Guarded.h"
#include "tilewright/Support/Interrupts.h"
#include "tilewright/Tile/InternalError.h"

#include "mlir/Parser/Parser.h"

using namespace mlir;
using tilewright::frontend::DiagnosticCapture;
using tilewright::frontend::Program;

namespace tilewright::driver {

//===----------------------------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------------------------===//

llvm::Expected<std::shared_ptr<Executable>> Executable::parse(const std::string &text) {
  std::unique_ptr<MLIRContext> context = frontend::makeContext();
  OwningOpRef<ModuleOp> module;
  {
    DiagnosticCapture capture(context.get());
    std::optional<std::string> stop =
        runGuarded([&] { module = parseSourceString<ModuleOp>(text, context.get()); });
    if (stop) {
      (void)context.release(); // the thread that stopped stands in it
      return makeProgramError("the text does not parse: " + *stop);
    }
    if (!module)
      return llvm::make_error<ProgramError>(capture.takeError());
  }
  if (module->getOps<func::FuncOp>().empty())
    return makeProgramError("the text has no function");
  return std::make_shared<Executable>(
      std::make_unique<Program>(std::move(context), std::move(module)));
}

llvm::Error Executable::check(const PipelineOptions &options) const {
  llvm::Expected<frontend::Program::Lock> lock = program->lock();
  if (!lock)
    return toProgramError(lock.takeError());
  struct Job {
    ProgramRef program;
    PipelineOptions options;
    std::optional<frontend::UserError> error;
  };
  std::shared_ptr<Job> job(new Job{program, detachListener(options), std::nullopt});
  llvm::Error stop = runInterruptibly(program, *lock, Work::Check, "cpu", options.calls, [job] {
    ModuleOp module = job->program->getModule();
    DiagnosticCapture capture(module.getContext());
    if (failed(checkProgram(module, job->options)))
      job->error = capture.takeError();
  });
  if (stop)
    return stop;
  return job->error ? llvm::make_error<ProgramError>(std::move(*job->error))
                    : llvm::Error::success();
}

llvm::Error Executable::checkArguments(ArrayRef<runtime::CallArgument> arguments) const {
  return toProgramError(runtime::bindArguments(program->getFunction(), arguments).takeError());
}

llvm::Expected<std::string> Executable::getText(bool withLocations) const {
  llvm::Expected<frontend::Program::Lock> lock = program->lock();
  if (!lock)
    return toProgramError(lock.takeError());
  return program->getText(withLocations);
}

llvm::Expected<std::shared_ptr<Executable>> Executable::withSetting(StringRef name,
                                                                    bool isSet) const {
  llvm::Expected<frontend::Program::Lock> lock = program->lock();
  if (!lock)
    return toProgramError(lock.takeError());
  std::unique_ptr<Program> copy = program->withSetting(name, isSet);
  if (!copy)
    return toProgramError(makeInternalError("the program cannot be copied"));
  return std::make_shared<Executable>(std::move(copy));
}

//===----------------------------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------------------------===//

std::shared_ptr<Executable::Slot> Executable::getSlot(StringRef device) {
  NoFork noFork;
  std::lock_guard lock(slotsMutex);
  std::shared_ptr<Slot> &slot = slots[device.str()];
  if (!slot)
    slot = std::make_shared<Slot>();
  return slot;
}

llvm::Expected<std::shared_ptr<CompiledKernel>> Executable::getKernel(StringRef device) {
  std::shared_ptr<Slot> slot = getSlot(device);
  std::unique_lock lock = lockInterruptibly(slot->mutex);
  if (!lock.owns_lock())
    return makeProgramError("interrupted");
  if (slot->kernel)
    return slot->kernel;
  llvm::Expected<std::shared_ptr<Engine>> engine = Engine::get(device);
  if (!engine)
    return engine.takeError();
  llvm::Expected<std::shared_ptr<CompiledKernel>> kernel = (*engine)->compile(program);
  if (kernel) {
    NoFork noFork;
    slot->kernel = *kernel;
  }
  return kernel;
}

llvm::Expected<std::shared_ptr<const CompiledArtifact>>
Executable::compileShown(StringRef device, const PipelineOptions &options) const {
  llvm::Expected<std::shared_ptr<Engine>> engine = Engine::get(device);
  if (!engine)
    return engine.takeError();
  llvm::Expected<std::shared_ptr<CompiledKernel>> kernel = (*engine)->compile(program, options);
  return kernel ? (*kernel)->getCode(options.calls) : kernel.takeError();
}

llvm::Expected<std::shared_ptr<const CompiledArtifact>>
Executable::getGpuCode(StringRef arch, const std::vector<std::string> &divisible,
                       PipelineOptions options) {
  std::string device = ("vgpu:" + arch).str();
  options.calls.divisibleSymbols = divisible;
  if (!options.dumpAfter.empty())
    return compileShown(device, options);
  llvm::Expected<std::shared_ptr<CompiledKernel>> kernel = getKernel(device);
  return kernel ? (*kernel)->getCode(options.calls) : kernel.takeError();
}

} // namespace tilewright::driver
