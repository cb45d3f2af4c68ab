//===- Implementation.h - Vgpu.h on a processor that is known to be good enough --------------===//
#ifndef VGPU_LIB_IMPLEMENTATION_H
#define VGPU_LIB_IMPLEMENTATION_H

#include "vgpu/Vgpu.h"

namespace vgpu {

/// parsePtx and launch of Vgpu.h, on a processor that is known to be good enough.
llvm::Expected<std::unique_ptr<Module>> loadModule(llvm::StringRef text, llvm::StringRef fileName);
llvm::Expected<LaunchResult> runLaunch(const Module &module, const LaunchConfig &config,
                                       llvm::ArrayRef<Argument> arguments);

} // namespace vgpu

#endif // VGPU_LIB_IMPLEMENTATION_H
