//===- Ptx.h - from planned tile IR to PTX text -------------------------------------*- C++ -*-===//
//
// Three steps: the pass `tile-lower-to-threads` turns each kernel into the code of one thread (LLVM
// and NVVM dialects, scf, arith), the only place where a logical coordinate becomes an address;
// passes take that to the LLVM dialect (Driver/Pipeline.cpp lists them); `emitPtx` makes PTX of it in
// process. The parameters of a kernel are the function's arguments in
// order: tensors as pointers, index values as i64; then the workspaces of `T.alloc_global`; then the
// tensor maps of its bulk copies, 128 bytes each.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_CODEGEN_NVPTX_PTX_H
#define TILEWRIGHT_CODEGEN_NVPTX_PTX_H

#include "tilewright/Layout/IndexExpr.h"
#include "tilewright/Target/Arch.h"
#include "tilewright/Target/TensorMap.h"
#include "tilewright/Tile/CallFacts.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/Pass.h"
#include <functional>
#include <string>
#include <vector>

namespace tilewright::nvptx {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "tilewright/Codegen/Nvptx/Passes.h.inc"

/// Dialects and translations that these steps need in a context.
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

/// A tensor map that a launch makes: a TensorMap as formulas of the call, in which dim k is the
/// value of the function's argument k.
struct TensorMapRecipe {
  unsigned argument = 0; ///< Whose address: the function's arguments in order, then its workspaces.
  TensorMapType type = TensorMapType::F32;
  std::vector<IndexExpr> extents;
  std::vector<IndexExpr> strideBytes;
  std::vector<uint32_t> box, steps;
  unsigned swizzleBytes = 0;
  bool fillsNan = false;
  unsigned promotionBytes = 0;
};

/// One kernel of a function as a launch needs it.
struct KernelInfo {
  std::string name;
  int64_t numThreads = 0;
  int64_t sharedBytes = 0; ///< Dynamic.
  std::vector<SharedTile> tiles;
  std::vector<TensorMapRecipe> maps; ///< In the order of the parameters.
  bool overlapsLaunch = false;       ///< It may start while the launch before it still runs.
};

/// What launches must know of the kernels of a planned function, in their order.
std::vector<KernelInfo> describeKernels(mlir::func::FuncOp function);

/// Called when a stage of `emitPtx` is done: "llvm" (optimised). `print` writes it.
using StageObserver =
    std::function<void(llvm::StringRef stage, llvm::function_ref<void(llvm::raw_ostream &)> print)>;

/// Whether code is verified between the steps: a third of the lowering's time, so only in builds with
/// assertions.
#ifdef NDEBUG
inline constexpr bool kVerifiesCode = false;
#else
inline constexpr bool kVerifiesCode = true;
#endif

/// PTX text of a module in the LLVM dialect, which is consumed. `.loc` lines lead back to the
/// locations of its operations.
mlir::FailureOr<std::string> emitPtx(mlir::ModuleOp module, const Arch &arch,
                                     const StageObserver &observer = nullptr);

} // namespace tilewright::nvptx

#endif // TILEWRIGHT_CODEGEN_NVPTX_PTX_H
