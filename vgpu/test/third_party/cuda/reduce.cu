// Reductions: shared tree, warp shuffles, redux.sync, and "last block done" with fence and atomic.
#include <cuda_runtime.h>

extern "C" __global__ void reduce_tree(int n, const int *in, int *out) {
  extern __shared__ int buf[];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  buf[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s /= 2) {
    if (t < s)
      buf[t] += buf[t + s];
    __syncthreads();
  }
  if (t == 0)
    out[blockIdx.x] = buf[0];
}

__device__ float warp_sum(float v) {
  for (int d = 16; d > 0; d /= 2)
    v += __shfl_down_sync(0xffffffffu, v, d);
  return v;
}

extern "C" __global__ void reduce_shuffle(int n, const float *in, float *out) {
  __shared__ float partial[32];
  float v = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    v += in[i];
  v = warp_sum(v);
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (lane == 0)
    partial[warp] = v;
  __syncthreads();
  if (warp == 0) {
    v = lane < (blockDim.x + 31) / 32 ? partial[lane] : 0;
    v = warp_sum(v);
    if (lane == 0)
      out[blockIdx.x] = v;
  }
}

// Butterfly all-reduce of 64-bit values within groups of 8 lanes.
extern "C" __global__ void reduce_butterfly(const long long *in, long long *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  long long v = in[i];
  for (int m = 4; m > 0; m /= 2) {
    long long other = __shfl_xor_sync(0xffffffffu, v, m, 8);
    v = v > other ? v : other;
  }
  out[i] = v;
}

extern "C" __global__ void reduce_redux(const int *in, int *add, unsigned *umin, int *smax,
                                        unsigned *andor) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int v = in[i];
  int s = __reduce_add_sync(0xffffffffu, v);
  unsigned lo = __reduce_min_sync(0xffffffffu, (unsigned)v);
  int hi = __reduce_max_sync(0xffffffffu, v);
  unsigned a = __reduce_and_sync(0xffffffffu, (unsigned)v | 0xff);
  unsigned o = __reduce_or_sync(0xffffffffu, (unsigned)v);
  unsigned x = __reduce_xor_sync(0xffffffffu, (unsigned)v);
  if (threadIdx.x % 32 == 0) {
    int w = i / 32;
    add[w] = s;
    umin[w] = lo;
    smax[w] = hi;
    andor[w] = (a & 0xffff) ^ o ^ x;
  }
}

// The CUDA guide's pattern: each block publishes a partial sum; the block that draws the last ticket
// adds them. The fence before the ticket and the block barrier after it order the partial sums.
__device__ unsigned ticket = 0;

extern "C" __global__ void last_block_done(int n, const float *in, float *partial,
                                           float *out) {
  __shared__ float buf[128];
  __shared__ bool last;
  int t = threadIdx.x;
  float v = 0;
  for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x)
    v += in[i];
  buf[t] = v;
  __syncthreads();
  for (int s = 64; s > 0; s /= 2) {
    if (t < s)
      buf[t] += buf[t + s];
    __syncthreads();
  }
  if (t == 0) {
    partial[blockIdx.x] = buf[0];
    __threadfence();
    last = atomicInc(&ticket, gridDim.x) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && t == 0) {
    __threadfence();
    float sum = 0;
    for (int b = 0; b < gridDim.x; ++b)
      sum += partial[b];
    *out = sum;
    ticket = 0;
  }
}
