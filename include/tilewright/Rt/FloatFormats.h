//===- FloatFormats.h - rounding to narrow floats, as compiled code needs it --------*- C++ -*-===//
//
// Conversions that are too rare to be worth inline code: compiled code calls them by name. Values
// of narrow floats travel as doubles, which hold each of them.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_RT_FLOATFORMATS_H
#define TILEWRIGHT_RT_FLOATFORMATS_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace tilewright::rt {

/// How compiled code names a float format.
enum class FloatFormat : int32_t { F8E4M3FN, F8E5M2, F16, BF16, TF32, F32, F64 };

/// The format of a dtype of the language.
std::optional<FloatFormat> findFloatFormat(std::string_view dtype);

/// The bits of a number in a format, rounded to it if need be; those of tfloat32 are a float32's.
uint64_t encode(double number, FloatFormat format);

} // namespace tilewright::rt

extern "C" {
/// A real or integer rounded to a format. The rounding is a tile::Rounding: nearest even, toward
/// zero, nearest away, downward, upward. Overflow is infinity; the largest number if `saturate` is
/// not 0, and in the formats of 8 bits. tfloat32 has ties away from zero for nearest even.
double tw_narrow_real(double real, int32_t format, int32_t rounding, int32_t saturate);
double tw_narrow_integer(int64_t integer, int32_t isUnsigned, int32_t format, int32_t rounding,
                         int32_t saturate);
/// Repeated multiplication modulo 2^64. A negative exponent gives the truncated reciprocal.
int64_t tw_integer_power(int64_t base, int64_t exponent);
}

#endif // TILEWRIGHT_RT_FLOATFORMATS_H
