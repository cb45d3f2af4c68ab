//===- DTypes.h - names and promotion of element types --------------------------------*- C++
//-*-===//
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

/// The dtype in which two operands of an arithmetic operation meet:
///   - equal dtypes stay; bool counts as int32 beside another bool;
///   - a float beside an integer wins; among floats the wider, float32 for float16 with bfloat16;
///   - among integers the wider, signed if either is; an index counts as the other side where that
///     has 32 bits or more, else as int32;
///   - float8 and tfloat32 have no arithmetic of their own and count as float32.
mlir::Type promote(mlir::Type lhs, mlir::Type rhs);
/// The dtype of arithmetic on one operand.
mlir::Type arithmeticType(mlir::Type dtype);
/// The dtype that a number takes beside `other`; a float beside an integer gives float32.
mlir::Type literalType(const Literal &literal, mlir::Type other);
/// The dtype of a number that stands alone: index, float32 or bool.
mlir::Type defaultType(const Literal &literal, mlir::MLIRContext *context);

} // namespace tilewright::frontend

#endif // TILEWRIGHT_FRONTEND_DTYPES_H
