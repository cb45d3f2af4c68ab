//===- Launches.h - what launching a function on a GPU takes ------------------------*- C++ -*-===//
//
// The same for the virtual GPU and a real one: each kernel's grid, and the parameters of its PTX,
// which are the function's arguments, then its workspaces (`T.alloc_global`).
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_DRIVER_LAUNCHES_H
#define TILEWRIGHT_DRIVER_LAUNCHES_H

#include "tilewright/Layout/IndexExpr.h"
#include "tilewright/Runtime/Arguments.h"

#include <array>

namespace tilewright::driver {

/// What launching a function depends on, as formulas of its integer arguments: found once, since
/// reading a program takes longer than a launch may.
class LaunchFormulas {
public:
  using Grid = std::array<int64_t, 3>;

  explicit LaunchFormulas(mlir::func::FuncOp function);

  /// The grid of each kernel, in launch order. `numbers` has an entry for each argument of the
  /// function, of which those of integers count.
  llvm::Expected<llvm::SmallVector<Grid>> evaluateGrids(llvm::ArrayRef<int64_t> numbers) const;
  /// The bytes of each workspace, in order.
  llvm::Expected<llvm::SmallVector<int64_t>>
  evaluateWorkspaces(llvm::ArrayRef<int64_t> numbers) const;

private:
  /// Nothing for a value that is no arithmetic of shapes and integers.
  using Formula = std::optional<IndexExpr>;
  struct Kernel {
    llvm::SmallVector<Formula, 3> grid;
    unsigned numLaunches;
  };
  struct Workspace {
    std::string name;
    int64_t elementBytes;
    llvm::SmallVector<Formula, 4> extents;
  };
  std::vector<Kernel> kernels;
  std::vector<Workspace> workspaces;
};

/// The bytes of a tensor.
int64_t getBytes(const runtime::BoundTensor &tensor);

/// The bytes of a parameter that is a number.
std::vector<uint8_t> packNumber(mlir::Type type, const runtime::BoundArgument &number);

} // namespace tilewright::driver

#endif // TILEWRIGHT_DRIVER_LAUNCHES_H
