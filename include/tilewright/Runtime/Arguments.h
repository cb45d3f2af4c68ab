//===- Arguments.h - checks what a caller passes before anything runs ---------------*- C++ -*-===//
//
// Describes a function of IR for the one check of calls (Rt/Signature.h), and has it check them.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_RUNTIME_ARGUMENTS_H
#define TILEWRIGHT_RUNTIME_ARGUMENTS_H

#include "tilewright/Layout/IndexExpr.h"
#include "tilewright/Rt/Signature.h"

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

/// An expression as steps. Its k-th symbol becomes symbol `symbols[k]`; without a list it keeps its
/// number.
rt::Formula toFormula(const IndexExpr &expr, llvm::ArrayRef<unsigned> symbols = {});

/// What the check of a call needs to know of a function.
rt::Signature describeSignature(mlir::func::FuncOp function);

/// Whether the check of a call looks at all layouts of the function's tensors. (The memory that a
/// layout of a run-time shape spans may have no formula; `bindArguments` enumerates it then.)
bool hasFormulasOfLayouts(mlir::func::FuncOp function);

/// Checks `arguments` against the parameters of `function`, whose description is `signature`, and
/// appends the values of its shape symbols, so that the result has one entry for each argument of
/// the function.
llvm::Expected<std::vector<BoundArgument>> bindArguments(mlir::func::FuncOp function,
                                                         const rt::Signature &signature,
                                                         llvm::ArrayRef<CallArgument> arguments);
inline llvm::Expected<std::vector<BoundArgument>>
bindArguments(mlir::func::FuncOp function, llvm::ArrayRef<CallArgument> arguments) {
  return bindArguments(function, describeSignature(function), arguments);
}

/// Checks one parameter that is a number.
llvm::Expected<BoundArgument> bindScalar(const rt::Parameter &parameter,
                                         const CallArgument &argument);

} // namespace tilewright::runtime

#endif // TILEWRIGHT_RUNTIME_ARGUMENTS_H
