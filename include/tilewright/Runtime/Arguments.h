//===- Arguments.h - checks what a caller passes before anything runs ---------------*- C++ -*-===//
//
// The only code that compares a call with a function's parameters: count, kind, dtype, rank, shape,
// strides, layout size. It finds the values of shape symbols from the tensors. Every message names
// the parameter, what was expected and what came.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_RUNTIME_ARGUMENTS_H
#define TILEWRIGHT_RUNTIME_ARGUMENTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include <string>
#include <variant>
#include <vector>

namespace tilewright::runtime {

/// A tensor as the caller holds it. Strides count elements; the dtype has the language's name.
struct TensorView {
  void *data = nullptr;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
  std::string dtype;
  bool isWritable = true;
  bool isOnGpu = false; ///< The data lie in memory of a GPU.
  /// The data are a dense copy; the strides are those of the caller's tensor.
  bool isPacked = false;
};

/// What a caller may pass for one parameter; an integer beyond int64_t is a uint64_t.
using CallArgument = std::variant<TensorView, bool, int64_t, uint64_t, double>;

/// One argument of the function after the check: a tensor (with its shape), an integer or a float.
struct BoundTensor {
  void *data;
  llvm::SmallVector<int64_t> shape;
  mlir::Type elementType;
  bool isOnGpu = false;
};
using BoundArgument = std::variant<BoundTensor, int64_t, double>;

/// Checks `arguments` against the parameters of `function` and appends the values of its shape
/// symbols, so that the result has one entry for each argument of the function.
llvm::Expected<std::vector<BoundArgument>> bindArguments(mlir::func::FuncOp function,
                                                         llvm::ArrayRef<CallArgument> arguments);

/// The same for one parameter that is a number.
llvm::Expected<BoundArgument> bindScalar(mlir::func::FuncOp function, unsigned position,
                                         const CallArgument &argument);

} // namespace tilewright::runtime

#endif // TILEWRIGHT_RUNTIME_ARGUMENTS_H
