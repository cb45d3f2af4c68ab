//===- Arithmetic.h - operators and functions of scalar expressions ----------------*- C++ -*-===//
//
// Builds each operation in the dtype that TileLang's promotion gives it (docs/semantics.md, "Types of
// expressions"): operands are promoted, narrow floats computed in float32, the result rounded once.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_FRONTEND_ARITHMETIC_H
#define TILEWRIGHT_FRONTEND_ARITHMETIC_H

#include "tilewright/Frontend/Scalars.h"

namespace tilewright::frontend {

class Arithmetic {
public:
  Arithmetic(Emitter &emitter, Scalars &scalars)
      : emitter(emitter), scalars(scalars), builder(emitter.getBuilder()) {}

  Scalar unary(UnaryKind kind, const Operand &operand);
  Scalar binary(BinaryKind kind, const Operand &lhs, const Operand &rhs);
  /// An explicit conversion.
  Scalar cast(const Operand &operand, mlir::Type dtype,
              tile::Rounding rounding = tile::Rounding::NearestEven, bool saturate = false);

private:
  mlir::Type operandType(BinaryKind kind, const Operand &lhs, const Operand &rhs);
  Scalar binaryInteger(BinaryKind kind, Scalar lhs, Scalar rhs);
  Scalar binaryFloat(BinaryKind kind, Scalar lhs, Scalar rhs);
  Scalar integerPower(Scalar lhs, Scalar rhs);
  Scalar unaryInteger(UnaryKind kind, Scalar x);
  Scalar unaryFloat(UnaryKind kind, Scalar x);
  Scalar sigmoid(Scalar x);

  Emitter &emitter;
  Scalars &scalars;
  mlir::OpBuilder &builder;
};

} // namespace tilewright::frontend

#endif // TILEWRIGHT_FRONTEND_ARITHMETIC_H
