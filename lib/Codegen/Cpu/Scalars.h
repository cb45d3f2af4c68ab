//===- Scalars.h - arithmetic with the language's corners ---------------------------*- C++ -*-===//
//
// Narrow floats are computed in float32 and rounded after each operation. Division by zero, shifts
// by too much and INT_MIN // -1 have defined results where the machine's instructions have none.
// Index values are mathematical integers: their overflow may be assumed absent.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_LIB_CODEGEN_CPU_SCALARS_H
#define TILEWRIGHT_LIB_CODEGEN_CPU_SCALARS_H

#include "Emitter.h"

namespace tilewright::cpu {

enum class Division { FloorDiv, FloorMod, TruncDiv, TruncMod };
mlir::Value divide(Emitter &e, Division kind, mlir::Value lhs, mlir::Value rhs, bool isUnsigned);

/// The value of an index expression.
mlir::Value evaluate(Emitter &e, const IndexExpr &expr, llvm::ArrayRef<mlir::Value> dims,
                     llvm::ArrayRef<mlir::Value> symbols);

/// exp, log, tanh and their family (LowerFunctions.cpp). Null for ops of other dialects.
mlir::Value emitFunction(mlir::Operation &op, Emitter &e);

} // namespace tilewright::cpu

#endif // TILEWRIGHT_LIB_CODEGEN_CPU_SCALARS_H
