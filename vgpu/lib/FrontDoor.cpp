//===- FrontDoor.cpp - the ways in, for any processor -----------------------------------------===//
#include "Implementation.h"
#include "vgpu/HostCpu.h"

namespace vgpu {

llvm::Expected<std::unique_ptr<Module>> parsePtx(llvm::StringRef text, llvm::StringRef fileName) {
  if (const char *reason = whyHostCannotRun())
    return llvm::createStringError(std::string(reason), llvm::inconvertibleErrorCode());
  return loadModule(text, fileName);
}

llvm::Expected<LaunchResult> launch(const Module &module, const LaunchConfig &config,
                                    llvm::ArrayRef<Argument> arguments) {
  return runLaunch(module, config, arguments); // a module exists, so the processor is good enough
}

} // namespace vgpu
