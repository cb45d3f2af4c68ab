//===- Launches.h - what launching a function on a GPU takes ------------------------*- C++ -*-===//
//
// The same for the virtual GPU and a real one: each kernel's grid, and the parameters of its PTX,
// which are the function's arguments, then its workspaces (`T.alloc_global`).
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_DRIVER_LAUNCHES_H
#define TILEWRIGHT_DRIVER_LAUNCHES_H

#include "tilewright/Runtime/Arguments.h"

#include <array>

namespace tilewright::driver {

/// The grid of each kernel of `function` for these arguments, in launch order.
llvm::Expected<std::vector<std::array<int64_t, 3>>>
evaluateGrids(mlir::func::FuncOp function, llvm::ArrayRef<runtime::BoundArgument> arguments);

/// The bytes of each workspace, in order.
llvm::Expected<std::vector<int64_t>>
evaluateWorkspaces(mlir::func::FuncOp function, llvm::ArrayRef<runtime::BoundArgument> arguments);

/// The bytes of a tensor.
int64_t getBytes(const runtime::BoundTensor &tensor);

/// The bytes of a parameter that is a number.
std::vector<uint8_t> packNumber(mlir::Type type, const runtime::BoundArgument &number);

} // namespace tilewright::driver

#endif // TILEWRIGHT_DRIVER_LAUNCHES_H
