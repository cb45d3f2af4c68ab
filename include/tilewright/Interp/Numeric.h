//===- Numeric.h - numbers of the language: formats, rounding, integer corners ----*- C++ -*-===//
//
// What a number of each element type is, bit by bit, and how a real number becomes one. Everything
// here is written out in integers and doubles, on purpose: the interpreter judges engines that use
// the compiler's and the machine's own conversions, so it may not use the same ones.
//
// Floats are held as `double`, which contains every value of every format exactly. NaN payloads
// survive decode and encode (copies, views and bit casts keep bits); arithmetic gives some NaN.
//
// The corners (docs/semantics.md):
//   float -> narrower float   rounds to nearest even; overflow gives infinity, as cvt.rn does
//   float -> fp8              as PTX `cvt.rn.satfinite`, the only conversion to fp8 there is:
//                             overflow and infinities give the largest finite value, NaN stays NaN
//   float -> tf32             rounds to nearest, ties away from zero, as `cvt.rna.tf32.f32`
//   float -> integer          truncates and saturates, NaN gives 0; to bool it means `x != 0`
//   integer -> float          rounds once, to nearest even
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_INTERP_NUMERIC_H
#define TILEWRIGHT_INTERP_NUMERIC_H

#include <cstdint>

namespace tilewright::interp {

/// An element type of the language, or `index`.
enum class Format : uint8_t {
  Bool,
  I8,
  I16,
  I32,
  I64,
  U8,
  U16,
  U32,
  U64,
  Index,
  F8E4M3FN,
  F8E5M2,
  F16,
  BF16,
  TF32,
  F32,
  F64
};

/// As in the dialect. Downward and upward are towards the infinities.
enum class Rounding : uint8_t { NearestEven, TowardZero, NearestAway, Downward, Upward };

inline bool isFloat(Format format) { return format >= Format::F8E4M3FN; }
/// Integers whose bits are read without a sign. Bool is one: true widens to 1.
bool isUnsigned(Format format);
/// Bits of the value: 1 for Bool, 64 for Index, 19 of 32 stored bits for TF32 count as 32.
unsigned getBits(Format format);
/// Bytes in memory.
unsigned getBytes(Format format);

//===----------------------------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------------------------===//

/// The value of a bit pattern. TF32 takes any float32 pattern and rounds it as an operand is.
double decodeFloat(Format format, uint64_t bits);

/// The bit pattern of `value` in `format`. `saturate` clamps overflow and infinities to the largest
/// finite value; for fp8 it is always on.
uint64_t encodeFloat(Format format, double value, Rounding rounding = Rounding::NearestEven,
                     bool saturate = false);

/// The bit pattern of a value that `format` has; a store packs, it does not convert.
uint64_t packFloat(Format format, double value);

/// `value` rounded to a value of `format`.
double roundFloat(Format format, double value, Rounding rounding = Rounding::NearestEven,
                  bool saturate = false);

/// `a * b + c` rounded once to `format`.
double fusedMultiplyAdd(Format format, double a, double b, double c);

/// Maximum and minimum. -0 is less than +0. A NaN loses against a number, or wins if `propagate`.
double maxFloat(double lhs, double rhs, bool propagate);
double minFloat(double lhs, double rhs, bool propagate);

/// Half the distance from 1 to the next value: a rounding to nearest changes x by at most u|x|.
double getUnitRoundoff(Format format);
/// The smallest positive value, a subnormal.
double getSmallest(Format format);
double getLargestFinite(Format format);

//===----------------------------------------------------------------------------------------===//
// Integers. A value is held in 64 bits in canonical form: sign-extended from its width, except
// Bool, which is 0 or 1. Unsigned operations read the low bits of it.
//===----------------------------------------------------------------------------------------===//

/// How an operation reads its operands.
struct IntegerSpec {
  unsigned width;
  bool isUnsigned;
};
IntegerSpec getIntegerSpec(Format format);

/// The canonical form of the low `width` bits.
inline int64_t wrap(int64_t value, unsigned width) {
  if (width == 1)
    return value & 1;
  unsigned unused = 64 - width;
  return static_cast<int64_t>(static_cast<uint64_t>(value) << unused) >> unused;
}
/// The value read without a sign.
inline uint64_t asUnsigned(int64_t value, unsigned width) {
  return width == 64 ? static_cast<uint64_t>(value)
                     : static_cast<uint64_t>(value) & ((uint64_t(1) << width) - 1);
}
/// The value read with a sign; only that of Bool differs from the canonical form.
inline int64_t asSigned(int64_t value, unsigned width) { return width == 1 ? -value : value; }

int64_t floorDivide(int64_t lhs, int64_t rhs, IntegerSpec spec);
int64_t floorModulo(int64_t lhs, int64_t rhs, IntegerSpec spec);
int64_t truncDivide(int64_t lhs, int64_t rhs, IntegerSpec spec);
int64_t truncModulo(int64_t lhs, int64_t rhs, IntegerSpec spec);
int64_t shiftLeft(int64_t lhs, int64_t rhs, IntegerSpec spec);
int64_t shiftRight(int64_t lhs, int64_t rhs, IntegerSpec spec);
bool isLess(int64_t lhs, int64_t rhs, IntegerSpec spec);
int64_t maxInteger(int64_t lhs, int64_t rhs, IntegerSpec spec);
int64_t minInteger(int64_t lhs, int64_t rhs, IntegerSpec spec);
/// The absolute value; that of the most negative value wraps to itself.
int64_t absInteger(int64_t value, IntegerSpec spec);
/// The least and greatest value, in canonical form.
int64_t getLeast(IntegerSpec spec);
int64_t getGreatest(IntegerSpec spec);

//===----------------------------------------------------------------------------------------===//
// Conversions between families
//===----------------------------------------------------------------------------------------===//

int64_t floatToInteger(Format to, double value);
double integerToFloat(Format to, int64_t value, IntegerSpec from,
                      Rounding rounding = Rounding::NearestEven, bool saturate = false);
int64_t integerToInteger(Format to, int64_t value, IntegerSpec from);

} // namespace tilewright::interp

#endif // TILEWRIGHT_INTERP_NUMERIC_H
