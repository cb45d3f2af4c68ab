//===- Pipeline.h - which passes run in which order, front door of the room ---------*- C++ -*-===//
//
// The table of contents of the compiler: read Pipeline.cpp from top to bottom.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_DRIVER_PIPELINE_H
#define TILEWRIGHT_DRIVER_PIPELINE_H

#include "tilewright/Codegen/Cpu/HostCode.h"
#include "tilewright/Driver/CompiledArtifact.h"
#include "tilewright/Target/Arch.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"
#include <functional>
#include <string>

namespace tilewright::driver {

/// Called with the name of a pass, or of a later stage ("threads", "nvvm" and "llvm" of GPU code,
/// "host", "llvm" and "asm" of CPU code), and the text it leaves. It may be another thread that
/// calls.
using AfterPass = std::function<void(llvm::StringRef pass, llvm::StringRef ir)>;

struct PipelineOptions {
  /// Passes and stages whose result is shown; "*" shows all.
  std::vector<std::string> dumpAfter;
  AfterPass afterPass;
  /// IR is shown as JSON that links it to its source (Description.h's describeText); "plan", after
  /// tile-plan-shared-memory, is what describePlan says.
  bool isDescribed = false;
  /// What holds for every call of this code; the launcher makes sure.
  CallFacts calls;
  /// Re-verify every access plan by enumeration (tile-check-plans).
  bool checkPlans = false;
  /// CPU code: the processor it is for, this machine if none is named, and what its function is
  /// called in the object file (with ".entry" after it), if not by its own name.
  std::optional<cpu::HostTarget> host;
  std::string symbol;
};

/// Rewrites a traced program that names its threads as one that does not. Each of the pipelines
/// below begins with it.
void buildThreadsPipeline(mlir::OpPassManager &pm);

/// What every engine wants of a traced program, whatever it is compiled for.
void buildCheckPipeline(mlir::OpPassManager &pm);

/// Runs the checks on `module`, which stays as it is. Errors are emitted as diagnostics.
mlir::LogicalResult checkProgram(mlir::ModuleOp module, const PipelineOptions &options = {});

/// What decides how a kernel runs on a GPU, before its thread code is built.
void buildGpuPipeline(mlir::OpPassManager &pm, llvm::StringRef arch,
                      const PipelineOptions &options = {});

/// What lets the statements of a kernel run together on the CPU, where the facts about its calls
/// allow it, and what decides how each of them runs on `host`.
void buildCpuPipeline(mlir::OpPassManager &pm, const cpu::HostTarget &host,
                      const CallFacts &calls = {});

/// The code of one thread of each planned kernel.
void buildThreadCodePipeline(mlir::OpPassManager &pm, llvm::StringRef arch,
                             const CallFacts &calls = {});
/// From there to the LLVM dialect, which nvptx::emitPtx takes.
void buildNvvmPipeline(mlir::OpPassManager &pm, bool fastMath);

/// The host functions of a planned program.
void buildHostCodePipeline(mlir::OpPassManager &pm, const cpu::HostTarget &host,
                           const CallFacts &calls = {});
/// From there to the LLVM dialect, which cpu::emitObject takes.
void buildHostLlvmPipeline(mlir::OpPassManager &pm);

/// Compiles a checked module to PTX; the module stays as it is. Errors are emitted as diagnostics;
/// remarks become decisions of the result.
mlir::FailureOr<CompiledArtifact> compileForGpu(mlir::ModuleOp module, const Arch &arch,
                                                const PipelineOptions &options = {});

/// A copy of a checked module as `compileForGpu` lowers it: planned and scheduled tile IR, which the
/// interpreter can run too. Errors are emitted as diagnostics; remarks are dropped.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
scheduleForGpu(mlir::ModuleOp module, const Arch &arch, const PipelineOptions &options = {});

/// Compiles a checked module to an object file for this machine; the module stays as it is. What is
/// wrong with the program is a cpu::CompileError; remarks become decisions of the result.
llvm::Expected<CompiledArtifact> compileForCpu(mlir::ModuleOp module,
                                               const PipelineOptions &options = {});

/// The names of the passes of each pipeline, in order, for `--dump-ir-after`.
struct PassNames {
  std::vector<std::string> check, cpu, gpu;
  static PassNames get();
};

} // namespace tilewright::driver

#endif // TILEWRIGHT_DRIVER_PIPELINE_H
