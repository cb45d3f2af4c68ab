//===- CallFacts.h - what compiled code may rely on about its calls -----------------*- C++ -*-===//
//
// Code that assumes more is faster: that a tensor which is written shares memory with no other one,
// that rows of a dynamic tensor start at multiples of 16 elements. Nothing is assumed silently: the
// facts are read off the arguments of a call, and the call takes code that was compiled under
// exactly these facts. Each set of facts is compiled once.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_DRIVER_CALLFACTS_H
#define TILEWRIGHT_DRIVER_CALLFACTS_H

#include "tilewright/Runtime/Arguments.h"

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

struct CallFacts {
  /// The divisor of shape symbols that calls are asked for: the elements of the widest access.
  static constexpr int64_t kDivisor = 16;

  /// No two tensor arguments share memory of which one is written.
  bool disjointArguments = true;
  /// Bytes that divide the address of every tensor argument.
  int64_t argumentAlignment = 16;
  /// Shape symbols that kDivisor divides, in the order of the function's arguments.
  std::vector<std::string> divisibleSymbols;

  /// The facts about one call.
  static CallFacts get(mlir::func::FuncOp function,
                       llvm::ArrayRef<runtime::BoundArgument> arguments);
  /// A name for code that was compiled under these facts.
  std::string getKey() const;
  /// Leaves what is known of symbols on the function's arguments (`tile.divisor`).
  void annotate(mlir::func::FuncOp function) const;
};

} // namespace tilewright::driver

#endif // TILEWRIGHT_DRIVER_CALLFACTS_H
