//===- Launches.h - what launching a function on a GPU takes ------------------------*- C++ -*-===//
//
// The same for the virtual GPU and a real one: each kernel's grid, and the parameters of its PTX,
// which are the function's arguments, then its workspaces (`T.alloc_global`, and tiles that are kept
// while the blocks of a grid meet).
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_DRIVER_LAUNCHES_H
#define TILEWRIGHT_DRIVER_LAUNCHES_H

#include "tilewright/Codegen/Nvptx/Ptx.h"
#include "tilewright/Layout/Notation.h"
#include "tilewright/Rt/CudaDriver.h"
#include "tilewright/Rt/GpuCode.h"
#include "tilewright/Runtime/Arguments.h"

#include "llvm/Support/JSON.h"

namespace tilewright::driver {

/// What launching a function depends on, as formulas of its integer arguments: found once, when it
/// is compiled, since reading a program takes longer than a launch may.
class LaunchFormulas {
public:
  using Grid = rt::LaunchFormulas::Grid;
  /// Nothing for a value that is no arithmetic of shapes and integers.
  using Formula = std::optional<IndexExpr>;

  /// Global memory that exists during a call.
  struct Workspace {
    std::string name;
    int64_t elementBytes = 1;
    bool isUpdated = false; ///< Atomically, by some kernel.
    std::vector<Formula> extents;
  };

  LaunchFormulas() = default;
  /// Those of a function after the passes on tile IR: they add workspaces and split kernels.
  explicit LaunchFormulas(mlir::func::FuncOp planned);

  /// The same as launches take it.
  rt::LaunchFormulas describe() const;
  llvm::ArrayRef<Workspace> getWorkspaces() const { return workspaces; }

private:
  friend llvm::json::Value toJSON(const LaunchFormulas &formulas);
  friend bool fromJSON(const llvm::json::Value &value, LaunchFormulas &formulas,
                       llvm::json::Path path);

  unsigned numArguments = 0;
  std::vector<std::vector<Formula>> grids; ///< In launch order.
  std::vector<Workspace> workspaces;
};

/// As an entry of the store has them (CompiledArtifact.h).
llvm::json::Value toJSON(const LaunchFormulas &formulas);
bool fromJSON(const llvm::json::Value &value, LaunchFormulas &formulas, llvm::json::Path path);

/// How formulas in an entry of the store name a function's arguments: d0, d1, …
IndexNames nameArguments(unsigned count);
constexpr unsigned kMaxArguments = 1 << 16; ///< Of a function; an entry with more is damaged.

/// The bytes of a tensor.
int64_t getBytes(const runtime::BoundTensor &tensor);

/// The kernels of compiled code as launches take them.
std::vector<rt::GpuKernel> describeKernels(llvm::ArrayRef<nvptx::KernelInfo> kernels);
rt::TensorMapRecipe describeMap(const nvptx::TensorMapRecipe &recipe);

/// The architecture whose PTX runs best on a GPU; an error names what ours is for.
llvm::Expected<const Arch *> findArch(const rt::CudaDeviceInfo &device);

} // namespace tilewright::driver

#endif // TILEWRIGHT_DRIVER_LAUNCHES_H
