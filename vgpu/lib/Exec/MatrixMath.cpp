//===- MatrixMath.cpp - the arithmetic of the tensor cores ------------------------------------===//
#include "vgpu/Exec/MatrixMath.h"
#include "vgpu/Exec/SmallFloat.h"
#include <cmath>
#include <utility>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace vgpu {

float matrixElementToFloat(uint64_t bits, ptx::Type type) {
  switch (type) {
  case ptx::Type::F16:
    return halfToFloat(static_cast<uint16_t>(bits));
  case ptx::Type::BF16:
    return bf16ToFloat(static_cast<uint16_t>(bits));
  case ptx::Type::TF32:
    return std::bit_cast<float>(static_cast<uint32_t>(bits) & 0xffffe000u);
  case ptx::Type::E4M3:
    return static_cast<float>(decodeFloat(bits & 0xff, formatE4M3));
  case ptx::Type::E5M2:
    return static_cast<float>(decodeFloat(bits & 0xff, formatE5M2));
  default:
    return std::bit_cast<float>(static_cast<uint32_t>(bits));
  }
}

void halvesToFloats(const uint16_t *from, float *to, size_t count) {
  size_t i = 0;
#if defined(__F16C__) && defined(__AVX__)
  for (; i + 8 <= count; i += 8)
    _mm256_storeu_ps(to + i,
                     _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i *>(from + i))));
#endif
  for (; i < count; ++i)
    to[i] = halfToFloat(from[i]);
}

#if defined(__SSE2__)
/// Pairs of 16, 32 and 64 bits in turn.
void transpose(HalfTile &tile) {
  __m128i rows[8], half[8];
  for (unsigned i = 0; i < 8; ++i)
    rows[i] = _mm_loadu_si128(reinterpret_cast<const __m128i *>(tile[i]));
  for (unsigned i = 0; i < 4; ++i) {
    half[i] = _mm_unpacklo_epi16(rows[2 * i], rows[2 * i + 1]);
    half[i + 4] = _mm_unpackhi_epi16(rows[2 * i], rows[2 * i + 1]);
  }
  for (unsigned side = 0; side < 8; side += 4)
    for (unsigned i = 0; i < 2; ++i) {
      rows[side + i] = _mm_unpacklo_epi32(half[side + 2 * i], half[side + 2 * i + 1]);
      rows[side + i + 2] = _mm_unpackhi_epi32(half[side + 2 * i], half[side + 2 * i + 1]);
    }
  for (unsigned i = 0; i < 8; i += 2) {
    __m128i even = _mm_unpacklo_epi64(rows[i], rows[i + 1]);
    __m128i odd = _mm_unpackhi_epi64(rows[i], rows[i + 1]);
    _mm_storeu_si128(reinterpret_cast<__m128i *>(tile[i]), even);
    _mm_storeu_si128(reinterpret_cast<__m128i *>(tile[i + 1]), odd);
  }
}
#else
void transpose(HalfTile &tile) {
  for (unsigned i = 0; i < 8; ++i)
    for (unsigned j = i + 1; j < 8; ++j)
      std::swap(tile[i][j], tile[j][i]);
}
#endif

/// Eight rows at a time, eight columns each: the sums stay in registers while k runs.
template <unsigned rows>
static void multiplyStrip(const float *a, const float *b, float *acc, unsigned n, unsigned k) {
  for (unsigned j = 0; j < n; j += 8) {
    float sums[rows][8];
    for (unsigned r = 0; r < rows; ++r)
      for (unsigned c = 0; c < 8; ++c)
        sums[r][c] = acc[size_t(r) * n + j + c];
    for (unsigned p = 0; p < k; ++p)
      for (unsigned r = 0; r < rows; ++r) {
        float left = a[size_t(r) * k + p];
        for (unsigned c = 0; c < 8; ++c)
          sums[r][c] = __builtin_fmaf(left, b[size_t(p) * n + j + c], sums[r][c]);
      }
    for (unsigned r = 0; r < rows; ++r)
      for (unsigned c = 0; c < 8; ++c)
        acc[size_t(r) * n + j + c] = sums[r][c];
  }
}

void multiplyAccumulate(const float *a, const float *b, float *acc, unsigned m, unsigned n,
                        unsigned k) {
  // Every shape has m and n that are multiples of 8.
  for (unsigned i = 0; i < m; i += 8)
    multiplyStrip<8>(a + size_t(i) * k, b, acc + size_t(i) * n, n, k);
}

void multiplyAccumulate(const double *a, const double *b, double *acc, unsigned m, unsigned n,
                        unsigned k) {
  for (unsigned i = 0; i < m; ++i)
    for (unsigned p = 0; p < k; ++p)
      for (unsigned j = 0; j < n; ++j)
        acc[size_t(i) * n + j] =
            std::fma(a[size_t(i) * k + p], b[size_t(p) * n + j], acc[size_t(i) * n + j]);
}

void multiplyAccumulate(const int32_t *a, const int32_t *b, int64_t *acc, unsigned m, unsigned n,
                        unsigned k) {
  for (unsigned i = 0; i < m; ++i)
    for (unsigned p = 0; p < k; ++p)
      for (unsigned j = 0; j < n; ++j)
        acc[size_t(i) * n + j] += int64_t(a[size_t(i) * k + p]) * b[size_t(p) * n + j];
}

} // namespace vgpu
