//===- MatrixMath.h - the arithmetic of the tensor cores --------------------------------------===//
//
// D = A * B + C on small dense matrices in host memory; mma, wmma and wgmma differ only in which
// lane or which bytes hold an element. Products of f16, bf16, tf32 and fp8 are exact in f32; sums
// are formed in f32 in the order c, k = 0, 1, 2, ... (hardware's order is not documented). Integers
// wrap, or saturate once at the end.
//
//===-----------------------------------------------------------------------------------===//
#ifndef VGPU_EXEC_MATRIXMATH_H
#define VGPU_EXEC_MATRIXMATH_H

#include "vgpu/Ptx/Types.h"
#include <cstddef>
#include <cstdint>

namespace vgpu {

/// The value of an operand element as the multiplier sees it (tf32 drops the low 13 bits).
float matrixElementToFloat(uint64_t bits, ptx::Type type);
/// Rows of f16 elements, converted with the host's instructions where it has them.
void halvesToFloats(const uint16_t *from, float *to, size_t count);

/// Registers of an m16n8k8 or m16n8k16 of f16 or bf16 with f32 sums, by lane (Exec/MmaHalves.cpp).
struct HalfFragments {
  const uint16_t *a[4]; ///< two halves a lane; k / 4 registers
  const uint16_t *b[2]; ///< k / 8 registers
  const float *c[4];
  alignas(32) float d[4][32]; ///< the result
};
/// D = A * B + C by the host's vector instructions, where it has them, and lane by lane: the same
/// bits either way.
template <bool isBf16, unsigned k> void multiplyFragments(HalfFragments &fragments);
template <bool isBf16, unsigned k> void multiplyFragmentsByLane(HalfFragments &fragments);

/// A matrix of 8 x 8 elements of 16 bits.
using HalfTile = uint16_t[8][8];
void transpose(HalfTile &tile);

/// a: m x k, b: k x n, acc: m x n; all row-major. acc += a * b.
void multiplyAccumulate(const float *a, const float *b, float *acc, unsigned m, unsigned n,
                        unsigned k);
void multiplyAccumulate(const double *a, const double *b, double *acc, unsigned m, unsigned n,
                        unsigned k);
void multiplyAccumulate(const int32_t *a, const int32_t *b, int64_t *acc, unsigned m, unsigned n,
                        unsigned k);

} // namespace vgpu

#endif // VGPU_EXEC_MATRIXMATH_H
