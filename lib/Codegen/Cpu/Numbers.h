//===- Numbers.h - numbers of the language as machine values ------------------------*- C++ -*-===//
//
// An element lives in memory in its *storage* type and in computations in its *carrier* type:
//
//   element            storage   carrier   after each operation
//   bool               i8        i1
//   (u)int8 … (u)int64 iN        iN
//   float8, bfloat16   i8, i16   f32       rounded to the element type
//   float16            f16       f32       rounded to the element type
//   tfloat32           f32       f32       rounded to the element type
//   float32, float64   itself    itself
//
// Sums, products, quotients and roots of two narrow floats are correctly rounded that way, since a
// float32 has more than twice their bits and two. bfloat16 is rounded by integer instructions: the
// machine's own conversion (vcvtneps2bf16) loses subnormals.
//
// All functions work on scalars and, element by element, on vectors.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_LIB_CODEGEN_CPU_NUMBERS_H
#define TILEWRIGHT_LIB_CODEGEN_CPU_NUMBERS_H

#include "tilewright/Rt/FloatFormats.h"
#include "tilewright/Tile/Tile.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tilewright::cpu {

/// The type of an element (or `index`) in computations and in memory.
mlir::Type getCarrierType(mlir::Type elementType);
mlir::Type getStorageType(mlir::Type elementType);

/// A narrow float, whose results are rounded after each operation.
bool isNarrowFloat(mlir::Type type);

class Numbers {
public:
  explicit Numbers(mlir::ImplicitLocOpBuilder &builder) : b(builder) {}

  /// A constant of `type`, a splat if it is a vector.
  mlir::Value integer(mlir::Type type, int64_t value);
  mlir::Value real(mlir::Type type, double value);
  /// A typed attribute of an element type (or index) as a carrier.
  mlir::Value constant(mlir::TypedAttr value);

  /// Between memory and computation. A packed value must be one of its element type.
  mlir::Value unpack(mlir::Value stored, mlir::Type elementType);
  mlir::Value pack(mlir::Value carrier, mlir::Type elementType);
  /// The bits of a carrier as an integer of the storage's width, and back.
  mlir::Value toBits(mlir::Value carrier, mlir::Type elementType);
  mlir::Value fromBits(mlir::Value bits, mlir::Type elementType);

  /// The result of an operation computed in the carrier type of a float.
  mlir::Value round(mlir::Value carrier, mlir::Type elementType);

  /// Converts a carrier between element types as T.copy and T.cast do.
  mlir::Value convert(mlir::Value value, mlir::Type from, mlir::Type to,
                      tile::Rounding rounding = tile::Rounding::NearestEven, bool saturate = false);

  /// A NaN loses (or wins, if `propagate`), and -0 is less than +0.
  mlir::Value maxFloat(mlir::Value lhs, mlir::Value rhs, bool propagate);
  mlir::Value minFloat(mlir::Value lhs, mlir::Value rhs, bool propagate);

  /// Calls an LLVM intrinsic that has no operation in MLIR.
  mlir::Value intrinsic(llvm::StringRef name, mlir::Type result, mlir::ValueRange operands);
  /// Calls a function of the process, declaring it in the module where needed.
  mlir::Value call(llvm::StringRef name, mlir::Type result, mlir::ValueRange operands);
  void callVoid(llvm::StringRef name, mlir::ValueRange operands);

private:
  mlir::Value encodeFloat8(mlir::Value carrier, mlir::Type elementType);
  mlir::Value decodeFloat8(mlir::Value bits, mlir::Type elementType);
  mlir::Value clampToFinite(mlir::Value carrier, mlir::Type elementType);
  mlir::Value convertFloats(mlir::Value value, mlir::Type from, mlir::Type to,
                            tile::Rounding rounding, bool saturate);
  mlir::Value convertToInteger(mlir::Value value, mlir::Type to);
  mlir::Value convertToFloat(mlir::Value value, mlir::Type from, mlir::Type to,
                             tile::Rounding rounding, bool saturate);
  mlir::Value convertIntegers(mlir::Value value, mlir::Type from, mlir::Type to);
  mlir::Value isNaN(mlir::Value value);
  mlir::Value pickNumber(mlir::Value lhs, mlir::Value rhs, bool isMax);

  mlir::ImplicitLocOpBuilder &b;
};

/// How the helpers below name a float format; part of the compiled code.
using rt::FloatFormat;
FloatFormat getFloatFormat(mlir::Type type);

/// The functions that compiled code calls by name, with their addresses (Rt/FloatFormats.h).
struct HelperFunction {
  llvm::StringLiteral name;
  void *address;
};
llvm::ArrayRef<HelperFunction> getHelperFunctions();
inline constexpr llvm::StringLiteral kNarrowReal = "tw_narrow_real";
inline constexpr llvm::StringLiteral kNarrowInteger = "tw_narrow_integer";
inline constexpr llvm::StringLiteral kIntegerPower = "tw_integer_power";

} // namespace tilewright::cpu

#endif // TILEWRIGHT_LIB_CODEGEN_CPU_NUMBERS_H
