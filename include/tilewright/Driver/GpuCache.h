//===- GpuCache.h - compiled GPU code, kept on disk ---------------------------------*- C++ -*-===//
//
// PTX is a function of the program (with its source positions, which `.loc` lines and remarks
// name), the architecture, what holds for the calls, and the compiler's build. It is kept in the
// store that also holds CPU code (Runtime/DiskCache.h), together with what the compiler decided.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_DRIVER_GPUCACHE_H
#define TILEWRIGHT_DRIVER_GPUCACHE_H

#include "tilewright/Driver/Pipeline.h"

namespace tilewright::driver {

/// `compileForGpu`, or what it gave before. Dumps and checks of plans are made anew.
mlir::FailureOr<GpuProgram> compileForGpuOrLoad(mlir::ModuleOp module, const Arch &arch,
                                                const PipelineOptions &options = {});

/// The program that an entry of the cache holds; nothing where it is none of ours.
std::optional<GpuProgram> parseGpuProgram(llvm::StringRef text);

} // namespace tilewright::driver

#endif // TILEWRIGHT_DRIVER_GPUCACHE_H
