//===- GpuKernel.h - the variants of a program's GPU code ---------------------------*- C++ -*-===//

#ifndef TILEWRIGHT_LIB_DRIVER_GPUKERNEL_H
#define TILEWRIGHT_LIB_DRIVER_GPUKERNEL_H

#include "Engines.h"

namespace tilewright::driver {

/// A program compiled for an architecture, for a GPU or a virtual one: PTX for each set of facts
/// about calls, compiled once.
class GpuKernel : public CompiledKernel {
public:
  llvm::Expected<std::shared_ptr<const CompiledArtifact>> getCode(const CallFacts &calls) override;
  /// Those of the first variant for each set of divisible symbols, with tensor maps and without:
  /// others repeat them.
  std::vector<Decision> getDecisions() const override;
  /// The code that is compiled first.
  llvm::Error compileFirst(const PipelineOptions &options);

protected:
  GpuKernel(ProgramRef program, const Arch &arch)
      : CompiledKernel(std::move(program)), arch(arch) {}

  /// The code for a call. `isNew` tells whether it was compiled or loaded now.
  llvm::Expected<std::shared_ptr<const CompiledArtifact>>
  compile(PipelineOptions options, const frontend::Program::Lock &lock, bool &isNew);

  const Arch &arch;

private:
  mutable ForkedMutex variantsMutex; ///< Held shortly, never while something is compiled.
  std::vector<std::shared_ptr<const CompiledArtifact>> variants; ///< The latest last.
};

/// Of code that was compiled without tensor maps and has some.
llvm::Error makeUnexpectedMapsError();

} // namespace tilewright::driver

#endif // TILEWRIGHT_LIB_DRIVER_GPUKERNEL_H
