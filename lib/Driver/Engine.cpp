//===- Engine.cpp - compile a program and run it, on any engine -------------------------------===//

#include "Engines.h"
#include "tilewright/Support/Environment.h"

using namespace mlir;

namespace tilewright::driver {

Engine::~Engine() = default;
CompiledKernel::~CompiledKernel() = default;

CompiledKernel::CompiledKernel(ProgramRef program)
    : program(std::move(program)),
      signature(std::make_shared<Signature>(this->program->getFunction())) {}

llvm::Expected<BoundArguments>
CompiledKernel::bind(ArrayRef<runtime::CallArgument> arguments) const {
  llvm::Expected<BoundArguments> bound = BoundArguments::bind(signature, arguments);
  return bound ? std::move(bound) : toProgramError(bound.takeError());
}

llvm::Error CompiledKernel::checkArguments(const BoundArguments &arguments) const {
  if (&arguments.getSignature() == signature.get())
    return llvm::Error::success();
  return makeProgramError("these arguments were bound for another kernel");
}

//===----------------------------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------------------------===//

static llvm::Expected<std::shared_ptr<Engine>> getVirtualGpu(StringRef archName) {
  if (const Arch *arch = tilewright::findArch(archName))
    return makeVirtualGpuEngine(*arch);
  return makeProgramError("unknown architecture '" + archName + "'; known are " + getArchNames());
}

static llvm::Expected<std::shared_ptr<Engine>> getCuda(StringRef number) {
  int device = 0;
  if (number.getAsInteger(10, device))
    return makeProgramError("'cuda:" + number + "' names no GPU; the first one is 'cuda:0'");
  llvm::Expected<std::shared_ptr<Engine>> engine = makeCudaEngine(device);
  return engine ? std::move(engine) : toProgramError(engine.takeError());
}

llvm::Expected<std::shared_ptr<Engine>> Engine::get(StringRef device) {
  if (device == "interp")
    return makeInterpreterEngine();
  if (device == "cpu")
    return makeCpuEngine();
  auto [kind, which] = device.split(':');
  if (kind == "vgpu" && device.contains(':'))
    return getVirtualGpu(which);
  if (kind == "cuda" && device.contains(':'))
    return getCuda(which);
  return makeProgramError("device '" + device +
                          "' does not exist; use 'cpu', 'interp', 'vgpu:sm_80' or 'cuda:0'");
}

//===----------------------------------------------------------------------------------------===//
// The environment
//===----------------------------------------------------------------------------------------===//

llvm::Expected<PipelineOptions> addEnvironment(PipelineOptions options) {
  if (MaybeFailure failure = environment::check())
    return makeProgramError(failure->message);
  for (environment::Variable variable :
       {environment::Variable::Check, environment::Variable::CheckPlans}) {
    Result<bool> isOn = environment::readSwitch(variable, false);
    if (!isOn)
      return makeProgramError(isOn.getFailure().message);
    options.checkPlans |= *isOn;
  }
  return options;
}

} // namespace tilewright::driver
