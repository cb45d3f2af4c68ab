//===- CompiledArtifact.h - compiled code with what was decided about it ------------*- C++ -*-===//
//
// One form for all code, PTX or an object file of the host, in memory and on disk. Code is a
// function of the program (with its source positions, which messages and `.loc` lines name), the
// target, what holds for its calls, and the compiler's build; together they name its entry in the
// store (Runtime/DiskCache.h). An entry is a line of JSON, then the bytes of the code.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_DRIVER_COMPILEDARTIFACT_H
#define TILEWRIGHT_DRIVER_COMPILEDARTIFACT_H

#include "tilewright/Codegen/Nvptx/Ptx.h"
#include "tilewright/Driver/Decisions.h"
#include "tilewright/Driver/Launches.h"
#include "tilewright/Frontend/Program.h"
#include "tilewright/Support/PhaseTime.h"
#include "tilewright/Tile/CallFacts.h"

namespace tilewright::driver {

struct PipelineOptions;

struct CompiledArtifact {
  CallFacts calls;                        ///< What the code assumes.
  std::string code;                       ///< PTX text, or an object file of the host.
  std::vector<nvptx::KernelInfo> kernels; ///< Of GPU code, in launch order.
  LaunchFormulas launches;                ///< Of GPU code: grids of its kernels, workspaces.
  std::vector<Decision> decisions;
  std::vector<PhaseTime> phases; ///< Of this process: compiling, or loading.
  bool fromCache = false;        ///< The code was found on disk.
};

/// The content of an artifact's entry; calls, phases and fromCache are not part of it.
std::string writeArtifact(const CompiledArtifact &artifact);
/// The artifact that an entry holds; nothing if `writeArtifact` did not write it.
std::optional<CompiledArtifact> parseArtifact(llvm::StringRef entry);

/// Called with an artifact before it counts: an error rejects one from the cache, so that it is
/// compiled anew, and is the result for one that was just compiled.
using AcceptArtifact = llvm::function_ref<llvm::Error(const CompiledArtifact &)>;

/// Code of a checked program for `arch`, or for the host if it is null: compiled now, or found on
/// disk. Code that is shown, and GPU code whose plans are checked, is always compiled. Errors are
/// ProgramErrors.
llvm::Expected<CompiledArtifact>
compileOrLoad(const std::shared_ptr<const frontend::Program> &program,
              const frontend::Program::Lock &lock, const Arch *arch, const PipelineOptions &options,
              AcceptArtifact accept = nullptr);

} // namespace tilewright::driver

#endif // TILEWRIGHT_DRIVER_COMPILEDARTIFACT_H
