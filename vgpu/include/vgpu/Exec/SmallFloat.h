//===- SmallFloat.h - encoding and decoding of floating-point formats --------------------===//
//
// One exact routine serves every format and rounding mode: a value is a sign, a 64-bit integer and
// a power of two, and rounding looks at the bits that do not fit. Fast paths for f16 and bf16 use
// the host's instructions where it has them.
//
//===-----------------------------------------------------------------------------------===//
#ifndef VGPU_EXEC_SMALLFLOAT_H
#define VGPU_EXEC_SMALLFLOAT_H

#include <bit>
#include <cstdint>
#include <cstring>
#if defined(__F16C__)
#include <immintrin.h>
#endif

namespace vgpu {

enum class Rounding : uint8_t { Nearest, Zero, Down, Up, NearestAway };

struct FloatFormat {
  unsigned exponentBits;
  unsigned mantissaBits;
  bool hasInfinity; ///< e4m3 has none; its only NaN is all ones
  constexpr int bias() const { return (1 << (exponentBits - 1)) - 1; }
  constexpr uint64_t signBit() const { return uint64_t(1) << (exponentBits + mantissaBits); }
  constexpr uint64_t infinity() const {
    return ((uint64_t(1) << exponentBits) - 1) << mantissaBits;
  }
  constexpr uint64_t nan() const { return signBit() - 1; } ///< canonical: all ones, positive
  constexpr uint64_t largest() const { return hasInfinity ? infinity() - 1 : nan() - 1; }
};

constexpr FloatFormat formatF16 = {5, 10, true};
constexpr FloatFormat formatBF16 = {8, 7, true};
constexpr FloatFormat formatTF32 = {8, 10, true}; ///< kept in the upper 19 bits of 32
constexpr FloatFormat formatF32 = {8, 23, true};
constexpr FloatFormat formatF64 = {11, 52, true};
constexpr FloatFormat formatE4M3 = {4, 3, false};
constexpr FloatFormat formatE5M2 = {5, 2, true};

/// Rounds (-1)^isNegative * magnitude * 2^exponent to a format. `isSaturating`: overflow and
/// infinity give the largest finite value.
uint64_t encodeScaled(bool isNegative, uint64_t magnitude, int exponent, const FloatFormat &format,
                      Rounding rounding, bool isSaturating = false);
uint64_t encodeFloat(double value, const FloatFormat &format, Rounding rounding,
                     bool isSaturating = false);
double decodeFloat(uint64_t bits, const FloatFormat &format);

/// a * b + c rounded to odd in f64: rounding it once more to a format of at most 50 bits is the
/// correctly rounded fma of that format. Operands must be exact products in f64 (f16, bf16).
double fmaToOdd(double a, double b, double c);

inline float bf16ToFloat(uint16_t bits) { return std::bit_cast<float>(uint32_t(bits) << 16); }
inline uint16_t floatToBf16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  return static_cast<uint16_t>((bits & 0x7fffffff) > 0x7f800000 ? 0x7fff : rounded);
}

#if defined(__F16C__)
inline float halfToFloat(uint16_t bits) { return _cvtsh_ss(bits); }
inline uint16_t floatToHalf(float value) {
  uint16_t bits = static_cast<uint16_t>(_cvtss_sh(value, 0));
  return (bits & 0x7fff) > 0x7c00 ? 0x7fff : bits;
}
#else
inline float halfToFloat(uint16_t bits) { return static_cast<float>(decodeFloat(bits, formatF16)); }
inline uint16_t floatToHalf(float value) {
  return static_cast<uint16_t>(encodeFloat(value, formatF16, Rounding::Nearest));
}
#endif

/// Rounds to tf32 (10 mantissa bits), ties away from zero, as cvt.rna does.
inline uint32_t floatToTf32Rna(uint32_t bits) {
  if ((bits & 0x7f800000) == 0x7f800000)
    return (bits & 0x7fffff) ? 0x7fffffff : bits;
  return (bits + 0x1000) & 0xffffe000;
}

/// Subnormals to zero of the same sign.
inline float flushSubnormal(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  return std::bit_cast<float>((bits & 0x7f800000) ? bits : bits & 0x80000000);
}
/// PTX's canonical NaN for every NaN result of f32 arithmetic.
inline float canonical(float value) {
  return value != value ? std::bit_cast<float>(0x7fffffffu) : value;
}

} // namespace vgpu

#endif // VGPU_EXEC_SMALLFLOAT_H
