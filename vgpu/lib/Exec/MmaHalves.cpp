//===- MmaHalves.cpp - the workhorse: mma of f16 and bf16 with f32 sums ----------------------===//
//
// m16n8k16 and m16n8k8. The fragments (Mma.cpp) are multiplied as they lie in the registers,
// without building matrices: four neighbouring lanes hold one row of A, C and D, so a vector of
// eight lanes is two rows, and
//
//     D's even columns  +=  A's column p, spread over the four lanes of its row
//                           * B's row p, even columns, the same for all rows
//
// likewise the odd ones. Spreading is one shuffle; only B must be transposed. The order of the sum
// is that of multiplyAccumulate: c, then k = 0, 1, 2, ...
//
//===-----------------------------------------------------------------------------------===//
#include "Families.h"
#include "vgpu/Exec/MatrixMath.h"
#include "vgpu/Exec/Rows.h"
#include "vgpu/Exec/SmallFloat.h"

#if defined(__AVX2__) && defined(__F16C__) && defined(__FMA__)
#define VGPU_VECTOR_MMA 1
#include <immintrin.h>
#endif

using namespace vgpu::ptx;

namespace vgpu {

namespace {

#ifdef VGPU_VECTOR_MMA
/// B with its columns in the order 0, 2, 4, 6, 1, 3, 5, 7: rows of eight floats.
template <bool isBf16, unsigned k> void collectB(const HalfFragments &fragments, float (&b)[k][8]) {
  for (unsigned i = 0; i < k / 8; ++i) {
    const uint16_t *columns = fragments.b[i]; // eight halves of one column side by side
    HalfTile tile;
    for (unsigned column = 0; column < 8; ++column)
      std::memcpy(tile[column / 2 + 4 * (column % 2)], columns + size_t(8) * column, 16);
    transpose(tile);
    if constexpr (isBf16) {
      for (unsigned e = 0; e < 64; ++e)
        b[8 * i + e / 8][e % 8] = bf16ToFloat(tile[e / 8][e % 8]);
    } else {
      halvesToFloats(tile[0], b[size_t(8) * i], 64);
    }
  }
}

/// Sixteen halves of two rows of A as floats: columns 0, 2, 4, 6 of both, and 1, 3, 5, 7 of both.
template <bool isBf16> inline void widenPairs(const uint16_t *halves, __m256 &even, __m256 &odd) {
  __m256i words = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(halves));
  if constexpr (isBf16) {
    even = _mm256_castsi256_ps(_mm256_slli_epi32(words, 16));
    odd = _mm256_castsi256_ps(_mm256_and_si256(words, _mm256_set1_epi32(int(0xffff0000u))));
  } else {
    const __m256i lowThenHigh = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15));
    __m256i sorted = _mm256_permute4x64_epi64(_mm256_shuffle_epi8(words, lowThenHigh), 0xd8);
    even = _mm256_cvtph_ps(_mm256_castsi256_si128(sorted));
    odd = _mm256_cvtph_ps(_mm256_extracti128_si256(sorted, 1));
  }
}

/// Two steps of k for the columns 2 * t and 2 * t + 1 of A and eight rows of the result.
template <int t>
inline void multiplyPair(const __m256 (&even)[4], const __m256 (&odd)[4], const float (*b)[8],
                         __m256 (&sums)[2][4]) {
  for (unsigned s = 0; s < 2; ++s) {
    __m256 left = _mm256_broadcast_ps(reinterpret_cast<const __m128 *>(b[2 * t + s]));
    __m256 right = _mm256_broadcast_ps(reinterpret_cast<const __m128 *>(b[2 * t + s] + 4));
    for (unsigned r = 0; r < 4; ++r) {
      __m256 a = _mm256_permute_ps(s ? odd[r] : even[r], t * 0x55);
      sums[0][r] = _mm256_fmadd_ps(a, left, sums[0][r]);
      sums[1][r] = _mm256_fmadd_ps(a, right, sums[1][r]);
    }
  }
}

#endif

template <bool isBf16, unsigned k> void multiplyHalves(Warp &w, const Inst &in, uint32_t mask) {
  const Slot *slots = in.slots + in.numDst;
  HalfFragments fragments;
  for (unsigned i = 0; i < k / 4; ++i)
    fragments.a[i] = w.row<uint16_t>(*slots++);
  for (unsigned i = 0; i < k / 8; ++i)
    fragments.b[i] = w.row<uint16_t>(*slots++);
  for (const float *&row : fragments.c)
    row = w.row<float>(*slots++);
  multiplyFragments<isBf16, k>(fragments);
  for (unsigned i = 0; i < 4; ++i)
    writeRow(w.row<float>(in.dst(i)), mask,
             [&](unsigned lane) { return canonical(fragments.d[i][lane]); });
}

} // namespace

#ifdef VGPU_VECTOR_MMA
template <bool isBf16, unsigned k> void multiplyFragments(HalfFragments &fragments) {
  alignas(64) float b[k][8];
  collectB<isBf16, k>(fragments, b);
  for (unsigned half = 0; half < 2; ++half) { // rows 0 to 7, rows 8 to 15
    __m256 sums[2][4];                        // even and odd columns of two rows each
    for (unsigned e = 0; e < 2; ++e)
      for (unsigned r = 0; r < 4; ++r)
        sums[e][r] = _mm256_loadu_ps(fragments.c[2 * half + e] + 8 * r);
    for (unsigned i = 0; i < k / 8; ++i) {
      const uint16_t *a = fragments.a[2 * i + half];
      __m256 even[4], odd[4];
      for (unsigned r = 0; r < 4; ++r)
        widenPairs<isBf16>(a + 16 * r, even[r], odd[r]);
      multiplyPair<0>(even, odd, b + 8 * i, sums);
      multiplyPair<1>(even, odd, b + 8 * i, sums);
      multiplyPair<2>(even, odd, b + 8 * i, sums);
      multiplyPair<3>(even, odd, b + 8 * i, sums);
    }
    for (unsigned e = 0; e < 2; ++e)
      for (unsigned r = 0; r < 4; ++r)
        _mm256_store_ps(fragments.d[2 * half + e] + 8 * r, sums[e][r]);
  }
}
#else
template <bool isBf16, unsigned k> void multiplyFragments(HalfFragments &fragments) {
  multiplyFragmentsByLane<isBf16, k>(fragments);
}
#endif

template <bool isBf16, unsigned k> void multiplyFragmentsByLane(HalfFragments &fragments) {
  auto widen = [](uint16_t bits) { return isBf16 ? bf16ToFloat(bits) : halfToFloat(bits); };
  for (unsigned i = 0; i < 4; ++i)
    for (unsigned lane = 0; lane < warpSize; ++lane) {
      unsigned row = lane / 4, column = 2 * (lane % 4) + i % 2; // of rows 8 * (i / 2) on
      float sum = fragments.c[i][lane];
      for (unsigned p = 0; p < k; ++p)
        sum = __builtin_fmaf(widen(fragments.a[2 * (p / 8) + i / 2][row * 8 + p % 8]),
                             widen(fragments.b[p / 8][column * 8 + p % 8]), sum);
      fragments.d[i][lane] = sum;
    }
}

template void multiplyFragments<false, 8>(HalfFragments &);
template void multiplyFragments<false, 16>(HalfFragments &);
template void multiplyFragments<true, 8>(HalfFragments &);
template void multiplyFragments<true, 16>(HalfFragments &);
template void multiplyFragmentsByLane<false, 8>(HalfFragments &);
template void multiplyFragmentsByLane<false, 16>(HalfFragments &);
template void multiplyFragmentsByLane<true, 8>(HalfFragments &);
template void multiplyFragmentsByLane<true, 16>(HalfFragments &);

Handler halfMmaHandler(Type type, unsigned k) {
  if (type == Type::BF16)
    return k == 16 ? multiplyHalves<true, 16> : multiplyHalves<true, 8>;
  return k == 16 ? multiplyHalves<false, 16> : multiplyHalves<false, 8>;
}

} // namespace vgpu
