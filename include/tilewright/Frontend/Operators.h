//===- Operators.h - the operators and functions of scalar expressions -------------*- C++ -*-===//
//
// The words in which Python names an operation on scalars, as kinds. What they compute, and in which
// dtype, is said in Arithmetic.h.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_FRONTEND_OPERATORS_H
#define TILEWRIGHT_FRONTEND_OPERATORS_H

#include "llvm/ADT/StringRef.h"
#include <optional>

namespace tilewright::frontend {

enum class BinaryKind {
  Add,
  Sub,
  Mul,
  Div,
  FloorDiv,
  FloorMod,
  TruncDiv,
  TruncMod,
  Pow,
  Max,
  Min,
  MaxNan,
  MinNan,
  And,
  Or,
  Xor,
  Shl,
  Shr,
  Lt,
  Le,
  Gt,
  Ge,
  Eq,
  Ne,
  Atan2,
  Fmod
};
enum class UnaryKind {
  Exp,
  Exp2,
  Exp10,
  Log,
  Log2,
  Log10,
  Log1p,
  Sqrt,
  Rsqrt,
  Sin,
  Cos,
  Tan,
  Tanh,
  Sinh,
  Cosh,
  Atan,
  Erf,
  Sigmoid,
  Floor,
  Ceil,
  Round,
  Trunc,
  Abs,
  Neg,
  Not,
  BitNot,
  IsNan,
  IsInf,
  IsFinite,
  Popcount
};
std::optional<BinaryKind> symbolizeBinary(llvm::StringRef name);
std::optional<UnaryKind> symbolizeUnary(llvm::StringRef name);

} // namespace tilewright::frontend

#endif // TILEWRIGHT_FRONTEND_OPERATORS_H
