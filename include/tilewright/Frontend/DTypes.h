//===- DTypes.h - names and promotion of element types ------------------------------*- C++ -*-===//
//
// The language's dtypes are MLIR element types with signedness, and `index` for values that are
// mathematical integers (block ids, loop variables, sizes).
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_FRONTEND_DTYPES_H
#define TILEWRIGHT_FRONTEND_DTYPES_H

#include "tilewright/Frontend/Values.h"
#include "llvm/ADT/StringRef.h"

namespace tilewright::frontend {

/// The type with this canonical name (`float16`, `uint8`, `index`); throws UserError if there is
/// none.
mlir::Type parseDType(llvm::StringRef name, mlir::MLIRContext *context);
std::string getDTypeName(mlir::Type dtype);

bool isFloat(mlir::Type dtype);
bool isBool(mlir::Type dtype);
bool isUnsigned(mlir::Type dtype);

/// The dtype in which two operands meet, TileLang's rule:
///   - equal dtypes stay;
///   - of different kinds the higher wins: {float16, float32, float64}, bfloat16, float8, integers,
///     bool; an index beside anything else counts as int32, tfloat32 as float32;
///   - within a kind the wider wins, of integers of one width the unsigned one; the two float8
///     dtypes meet in float32.
mlir::Type promote(mlir::Type lhs, mlir::Type rhs);
/// The dtype that arithmetic on this dtype has: int32 for bool, float32 for tfloat32, else itself.
mlir::Type arithmeticType(mlir::Type dtype);
/// The dtype whose operations compute for this dtype: float8 and tfloat32 have none of their own
/// and take those of float32; the result is rounded once.
mlir::Type computeType(mlir::Type dtype);
/// The dtype in which a number and a value of dtype `other` meet: a float counts as float32, an int
/// as int32, or int64 where it does not fit, and stays an index beside an index.
mlir::Type literalType(const Literal &literal, mlir::Type other);
/// The dtype of a number that stands alone: index, float32 or bool.
mlir::Type defaultType(const Literal &literal, mlir::MLIRContext *context);

} // namespace tilewright::frontend

#endif // TILEWRIGHT_FRONTEND_DTYPES_H
