//===- Ptx.h - from planned tile IR to PTX text -------------------------------------*- C++ -*-===//
//
// Two steps: `lowerToThreads` turns each kernel into the code of one thread (LLVM and NVVM
// dialects, scf, arith), the only place where a logical coordinate becomes an address; `emitPtx`
// takes that to PTX in process.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_CODEGEN_NVPTX_PTX_H
#define TILEWRIGHT_CODEGEN_NVPTX_PTX_H

#include "tilewright/Target/Arch.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/OwningOpRef.h"
#include <functional>
#include <string>
#include <vector>

namespace tilewright::nvptx {

/// Dialects and translations that the two steps need in a context.
void registerDialects(mlir::DialectRegistry &registry);

/// A tile in the shared memory of a block: what a finding about these bytes is about.
struct SharedTile {
  std::string name;
  int64_t offset = 0; ///< In bytes, from the start of dynamic shared memory.
  int64_t bytes = 0;  ///< With all versions and padding.
  int64_t elementBytes = 1;
  std::vector<int64_t> shape; ///< Of one version.
  std::string layout;         ///< In the notation of docs/internals/layouts.md.
};

/// One kernel of a function as a launch needs it.
struct KernelInfo {
  std::string name;
  int64_t numThreads = 0;
  int64_t sharedBytes = 0; ///< Dynamic.
  std::vector<SharedTile> tiles;
};

/// What every launch is checked for.
struct LaunchAssumptions {
  bool disjointArguments = false; ///< Tensors of which one is written share no memory.
  int64_t argumentAlignment = 1;  ///< Of the addresses of tensors, in bytes.
};

/// The code of one thread for each kernel of `function`, in a module of its own. The parameters of
/// a kernel are the function's arguments in order: tensors as pointers, index values as i64; then
/// the workspaces of `T.alloc_global`.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
lowerToThreads(mlir::func::FuncOp function, const Arch &arch, std::vector<KernelInfo> &kernels,
               const LaunchAssumptions &assumptions = {});

/// Called when a stage of `emitPtx` is done: "nvvm", then "llvm" (optimised). `print` writes it.
using StageObserver =
    std::function<void(llvm::StringRef stage, llvm::function_ref<void(llvm::raw_ostream &)> print)>;

struct EmitOptions {
  bool fastMath = false;
  StageObserver observer;
};
/// PTX text of a module of `lowerToThreads`, which is consumed. `.loc` lines lead back to the
/// locations of its operations.
mlir::FailureOr<std::string> emitPtx(mlir::ModuleOp module, const Arch &arch,
                                     const EmitOptions &options = {});

} // namespace tilewright::nvptx

#endif // TILEWRIGHT_CODEGEN_NVPTX_PTX_H
