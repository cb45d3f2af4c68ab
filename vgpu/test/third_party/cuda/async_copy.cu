// Asynchronous copies of sm_80: cp.async of 4, 8 and 16 bytes, groups, wait_all (no tensor cores, so
// that the copies alone are on trial).
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

// A moving average of 3 over a tile with a halo; four stages in flight.
extern "C" __global__ void stencil_pipeline(int tiles, const float *in, float *out) {
  __shared__ float buf[4][132];
  int t = threadIdx.x;
  in += (size_t)blockIdx.x * tiles * 128;
  out += (size_t)blockIdx.x * tiles * 128;
  auto fetch = [&](int tile) {
    if (tile < tiles) {
      __pipeline_memcpy_async(&buf[tile % 4][t + 1], in + tile * 128 + t, 4);
      if (t == 0 && (tile > 0 || blockIdx.x > 0))
        __pipeline_memcpy_async(&buf[tile % 4][0], in + tile * 128 - 1, 4);
      if (t == 127 && (tile + 1 < tiles || blockIdx.x + 1 < gridDim.x))
        __pipeline_memcpy_async(&buf[tile % 4][129], in + tile * 128 + 128, 4);
    }
    __pipeline_commit();
  };
  for (int s = 0; s < 3; ++s)
    fetch(s);
  for (int tile = 0; tile < tiles; ++tile) {
    __pipeline_wait_prior(2);
    __syncthreads();
    fetch(tile + 3);
    const float *b = buf[tile % 4];
    bool first = t == 0 && tile == 0 && blockIdx.x == 0;
    bool last = t == 127 && tile + 1 == tiles && blockIdx.x + 1 == gridDim.x;
    out[tile * 128 + t] = (first ? 0.0f : b[t]) + b[t + 1] * 2.0f + (last ? 0.0f : b[t + 2]);
  }
}

// 16-, 8- and 4-byte copies with zero fill, wait_all, then a reversed read.
extern "C" __global__ void copy_widths(int n, const int *in, int *out) {
  __shared__ __align__(16) int a[256], b[128], c[64];
  int t = threadIdx.x;
  __pipeline_memcpy_async(a + 4 * t, in + 4 * t, 16, 4 * t + 4 <= n ? 0 : 12);
  __pipeline_memcpy_async(b + 2 * t, in + 2 * t, 8);
  __pipeline_memcpy_async(c + t, in + t, 4);
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  out[t] = a[255 - t] + 3 * b[127 - t] + 5 * c[63 - t];
  out[64 + t] = a[t * 4 + 3] - a[t * 4];
}
