// Matrix products with the wmma API: a warp a tile, all shapes and element types of sm_80. The fragment
// layouts are opaque here, so these kernels say nothing about the lane maps of mma.sync.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

// A [M][K] by rows, B [K][N] by rows or columns, C and D [M][N] f32/s32/f64.
template <int M, int N, int K, typename In, typename Out, typename BLayout, typename Memory>
__device__ void product(int n, int k, const Memory *a, const Memory *b, const Out *c, Out *d) {
  constexpr bool columns = std::is_same<BLayout, wmma::col_major>::value;
  int row = blockIdx.y * M, col = blockIdx.x * N;
  wmma::fragment<wmma::matrix_a, M, N, K, In, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, M, N, K, In, BLayout> fb;
  wmma::fragment<wmma::accumulator, M, N, K, Out> acc;
  wmma::load_matrix_sync(acc, c + row * n + col, n, wmma::mem_row_major);
#pragma unroll 1
  for (int k0 = 0; k0 < k; k0 += K) {
    wmma::load_matrix_sync(fa, a + row * k + k0, k);
    wmma::load_matrix_sync(fb, columns ? b + col * k + k0 : b + k0 * n + col, columns ? k : n);
    wmma::mma_sync(acc, fa, fb, acc);
  }
  for (int i = 0; i < acc.num_elements; ++i)
    acc.x[i] = acc.x[i] + acc.x[i]; // uniform work on the elements needs no layout
  wmma::store_matrix_sync(d + row * n + col, acc, n, wmma::mem_row_major);
}

#define WMMA(NAME, M, N, K, IN, OUT, LAYOUT, MEMORY)                                               \
  extern "C" __global__ void NAME(int n, int k, const MEMORY *a, const MEMORY *b, const OUT *c,     \
                                  OUT *d) {                                                        \
    product<M, N, K, IN, OUT, wmma::LAYOUT, MEMORY>(n, k, a, b, c, d);                             \
  }
WMMA(wmma_f16, 16, 16, 16, __half, float, row_major, __half)
WMMA(wmma_f16_columns, 16, 16, 16, __half, float, col_major, __half)
WMMA(wmma_f16_f16, 16, 16, 16, __half, __half, row_major, __half)
WMMA(wmma_f16_32x8, 32, 8, 16, __half, float, row_major, __half)
WMMA(wmma_f16_8x32, 8, 32, 16, __half, float, col_major, __half)
WMMA(wmma_bf16, 16, 16, 16, __nv_bfloat16, float, row_major, __nv_bfloat16)
WMMA(wmma_s8, 16, 16, 16, signed char, int, row_major, signed char)
WMMA(wmma_u8_columns, 16, 16, 16, unsigned char, int, col_major, unsigned char)
WMMA(wmma_tf32, 16, 16, 8, wmma::precision::tf32, float, row_major, float)
WMMA(wmma_f64, 8, 8, 4, double, double, col_major, double)

// Through shared memory with a padded pitch; 4 warps, 32 x 32 a block.
extern "C" __global__ void wmma_shared(int n, int k, const __half *a, const __half *b, float *d) {
  __shared__ __align__(32) __half as[32 * 24], bs[16 * 40];
  __shared__ __align__(32) float ds[32 * 36];
  int warp = threadIdx.x / 32, warpRow = warp / 2 * 16, warpCol = warp % 2 * 16;
  int row = blockIdx.y * 32, col = blockIdx.x * 32;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc;
  wmma::fill_fragment(acc, 0.0f);
#pragma unroll 1
  for (int k0 = 0; k0 < k; k0 += 16) {
    for (int e = threadIdx.x; e < 512; e += 128) {
      as[e / 16 * 24 + e % 16] = a[(row + e / 16) * k + k0 + e % 16];
      bs[e / 32 * 40 + e % 32] = b[(k0 + e / 32) * n + col + e % 32];
    }
    __syncthreads();
    wmma::load_matrix_sync(fa, as + warpRow * 24, 24);
    wmma::load_matrix_sync(fb, bs + warpCol, 40);
    wmma::mma_sync(acc, fa, fb, acc);
    __syncthreads();
  }
  wmma::store_matrix_sync(ds + warpRow * 36 + warpCol, acc, 36, wmma::mem_row_major);
  __syncthreads();
  for (int e = threadIdx.x; e < 1024; e += 128)
    d[(row + e / 32) * n + col + e % 32] = ds[e / 32 * 36 + e % 32];
}
