//===- Pipeline.h - which passes run in which order, front door of the room ---------*- C++ -*-===//
//
// The table of contents of the compiler: read Pipeline.cpp from top to bottom.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_DRIVER_PIPELINE_H
#define TILEWRIGHT_DRIVER_PIPELINE_H

#include "tilewright/Codegen/Nvptx/Ptx.h"
#include "tilewright/Driver/CallFacts.h"
#include "tilewright/Driver/Decisions.h"
#include "tilewright/Target/Arch.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"
#include <functional>
#include <string>

namespace tilewright::driver {

/// Called with the name of a pass, or of a later stage ("threads", "nvvm", "llvm"), and the IR it
/// leaves.
using AfterPass = std::function<void(llvm::StringRef pass, llvm::StringRef ir)>;

/// What plans for the CPU depend on; `cpu::HostTarget` says it of a machine.
struct HostFeatures {
  int64_t vectorWidth = 8; ///< float32 elements of the widest vector.
  bool hasBf16Dots = false;
  bool hasInt8Dots = false;
};

struct PipelineOptions {
  /// Passes and stages whose result is shown; "*" shows all.
  std::vector<std::string> dumpAfter;
  AfterPass afterPass;
  /// What holds for every call of this code; the launcher makes sure.
  CallFacts calls;
  /// Of the machine that CPU code is made for.
  HostFeatures host;
  /// Re-verify every access plan by enumeration (tile-check-plans).
  bool checkPlans = false;
};

/// Rewrites a traced program that names its threads as one that does not. Each of the pipelines
/// below begins with it.
void buildThreadsPipeline(mlir::OpPassManager &pm);

/// A copy of a checked program after that pipeline; null where it changes nothing, or fails.
mlir::OwningOpRef<mlir::ModuleOp> spreadThreads(mlir::ModuleOp module);

/// What every engine wants of a traced program, whatever it is compiled for.
void buildCheckPipeline(mlir::OpPassManager &pm);

/// Runs the checks on `module`, which stays as it is. Errors are emitted as diagnostics.
mlir::LogicalResult checkProgram(mlir::ModuleOp module, const PipelineOptions &options = {});

/// What decides how a kernel runs on a GPU, before its thread code is built.
void buildGpuPipeline(mlir::OpPassManager &pm, llvm::StringRef arch,
                      const PipelineOptions &options = {});

/// What lets the statements of a kernel run together on the CPU, if no argument that is written
/// shares memory with another, and what decides how each of them runs.
void buildCpuPipeline(mlir::OpPassManager &pm, const PipelineOptions &options = {});

/// A copy of `module` after the CPU pipeline. Remarks become `decisions`; errors are emitted.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
prepareForCpu(mlir::ModuleOp module, std::vector<Decision> &decisions,
              const PipelineOptions &options = {});

/// The processor time of a part of a compilation: "passes", "threads", "nvvm", "llvm", "ptx".
struct PhaseTime {
  std::string name;
  double milliseconds;
};

/// A function compiled for a GPU architecture.
struct GpuProgram {
  std::string ptx;
  std::vector<Decision> decisions;
  std::vector<PhaseTime> phases;
  std::vector<nvptx::KernelInfo> kernels; ///< In launch order.
};
/// Compiles a checked module, which stays as it is. Errors are emitted as diagnostics; remarks
/// become decisions of the result.
mlir::FailureOr<GpuProgram> compileForGpu(mlir::ModuleOp module, const Arch &arch,
                                          const PipelineOptions &options = {});

/// The names of the passes of each pipeline, in order, for `--dump-ir-after`.
struct PassNames {
  std::vector<std::string> check, cpu, gpu;
  static PassNames get();
};

} // namespace tilewright::driver

#endif // TILEWRIGHT_DRIVER_PIPELINE_H
