//===- Numbers.h - numbers of the language in registers and in memory ------------------------===//
//
// Conversions and combinations with the language's corners, over an Emitter alone. A register holds
// a float8 as its bits and a tfloat32 as a float32; memory holds a bool as a byte.
//
//   Scalars.cpp       integers, conversions, combinations
//   NarrowFloats.cpp  float8, tfloat32, rounding modes, saturation
//   Words.cpp         pairs, vectors, and what another lane has
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_LIB_CODEGEN_NVPTX_NUMBERS_H
#define TILEWRIGHT_LIB_CODEGEN_NVPTX_NUMBERS_H

#include "Emitter.h"
#include "tilewright/Tile/Statements.h"

namespace tilewright::nvptx {

/// The bits of an element in memory: bool as i8, tfloat32 as f32, everything else its scalar.
mlir::Type getStorageType(mlir::Type elementType);
/// The same for what a thread keeps to itself or is given, where an index may stand too.
mlir::Type getRegisterType(mlir::Type elementType);
/// The register of an element, NarrowFloats.cpp: float8 as its bits, tfloat32 as a float32, and
/// what the dialect says of all others.
mlir::Type getScalarType(mlir::Type elementType);
/// float8 and tfloat32, which must be converted before they are numbers.
bool isStorageFloat(mlir::Type type);
/// A constant of the dialect as a register holds it.
mlir::TypedAttr getRegisterConstant(mlir::TypedAttr constant);

/// Between a register and the bits in memory or in a stack array.
Value toStorage(Emitter &e, Value value, mlir::Type elementType);
Value fromStorage(Emitter &e, Value value, mlir::Type elementType);

/// Between element types, as `tile.cast` says.
Value convertScalar(Emitter &e, Value value, mlir::Type from, mlir::Type to,
                    tile::Rounding rounding = tile::Rounding::NearestEven, bool saturate = false);
/// One step of an atomic or of a reduction; `propagate`: a NaN wins over any number.
Value combine(Emitter &e, tile::AtomicKind kind, Value lhs, Value rhs, mlir::Type elementType,
              bool propagate);
inline Value combine(Emitter &e, tile::ReduceKind kind, Value lhs, Value rhs,
                     mlir::Type elementType, bool propagate) {
  return combine(e, tile::getAtomicKind(kind), lhs, rhs, elementType, propagate);
}
Value magnitudeOf(Emitter &e, Value value, mlir::Type type);

/// An instruction without side effects.
Value inlinePtx(mlir::ImplicitLocOpBuilder &b, llvm::StringRef text, llvm::StringRef constraints,
                mlir::Type type, mlir::ValueRange operands);
/// An instruction with side effects and any number of results.
llvm::SmallVector<Value> callPtx(mlir::ImplicitLocOpBuilder &b, llvm::StringRef text,
                                 llvm::StringRef constraints, llvm::ArrayRef<mlir::Type> results,
                                 llvm::ArrayRef<Value> operands);
/// A float32 without the digits that a tfloat32 has not, ties away from zero, as 32 bits: an
/// instruction that takes a tfloat32 would cut them off.
Value roundToTf32(mlir::ImplicitLocOpBuilder &b, Value value);
/// The float32 that a register of a storage type stands for.
Value widenStorageFloat(Emitter &e, Value value, mlir::Type from);
/// Of a float16, bfloat16, float32 or float64.
Value convertFloat(Emitter &e, Value value, mlir::Type to, tile::Rounding rounding, bool saturate);
Value convertIntegerToFloat(Emitter &e, Value value, bool isUnsigned, mlir::Type to,
                            tile::Rounding rounding, bool saturate);

/// The vector of these elements: the one they were taken from, if they are all of it.
Value packVector(Emitter &e, llvm::ArrayRef<Value> elements);
/// The element of a vector.
Value elementOf(Emitter &e, Value vector, int64_t position);
/// What another lane has; all lanes of the warp take part.
Value shuffle(Emitter &e, Value value, int64_t lane,
              mlir::NVVM::ShflKind kind = mlir::NVVM::ShflKind::bfly);

} // namespace tilewright::nvptx

#endif // TILEWRIGHT_LIB_CODEGEN_NVPTX_NUMBERS_H
