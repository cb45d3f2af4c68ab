//===- CallFacts.h - reads from a call what its code may rely on --------------------*- C++ -*-===//

#ifndef TILEWRIGHT_DRIVER_CALLFACTS_H
#define TILEWRIGHT_DRIVER_CALLFACTS_H

#include "tilewright/Runtime/Arguments.h"
#include "tilewright/Tile/CallFacts.h"

namespace tilewright::driver {

/// For each argument, whether some statement writes or updates it.
llvm::SmallVector<bool> findWritten(mlir::func::FuncOp function);

/// The bytes of a tensor argument.
struct TensorBytes {
  uint64_t begin;
  int64_t size;
  bool isWritten;
};
/// Whether a tensor that is written shares bytes with another one.
bool haveOverlap(llvm::ArrayRef<TensorBytes> tensors);

/// The facts about one call.
CallFacts readCallFacts(mlir::func::FuncOp function,
                        llvm::ArrayRef<runtime::BoundArgument> arguments);

} // namespace tilewright::driver

#endif // TILEWRIGHT_DRIVER_CALLFACTS_H
