// Prefix sums: one block with warp shuffles; chained over blocks by published prefixes (blocks draw
// their number, so that each only waits for blocks that already run); and with a grid-wide barrier.
#include <cuda_runtime.h>

__device__ int block_inclusive_scan(int v, int *warp_totals) {
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int d = 1; d < 32; d *= 2) {
    int other = __shfl_up_sync(0xffffffffu, v, d);
    if (lane >= d)
      v += other;
  }
  if (lane == 31)
    warp_totals[warp] = v;
  __syncthreads();
  if (warp == 0) {
    int w = lane < blockDim.x / 32 ? warp_totals[lane] : 0;
    for (int d = 1; d < 32; d *= 2) {
      int other = __shfl_up_sync(0xffffffffu, w, d);
      if (lane >= d)
        w += other;
    }
    if (lane < blockDim.x / 32)
      warp_totals[lane] = w;
  }
  __syncthreads();
  return warp > 0 ? v + warp_totals[warp - 1] : v;
}

extern "C" __global__ void scan_block(const int *in, int *out) {
  __shared__ int warp_totals[32];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = block_inclusive_scan(in[i], warp_totals);
}

// A block's prefix is written, fenced, then announced by its flag.
extern "C" __global__ void scan_chained(const int *in, int *out, int *ticket, int *prefix,
                                        int *flag) {
  __shared__ int warp_totals[32];
  __shared__ int block, carry;
  if (threadIdx.x == 0)
    block = atomicAdd(ticket, 1);
  __syncthreads();
  int i = block * blockDim.x + threadIdx.x;
  int v = block_inclusive_scan(in[i], warp_totals);
  if (threadIdx.x == blockDim.x - 1) {
    int before = 0;
    if (block > 0) {
      while (atomicAdd(&flag[block - 1], 0) == 0)
        __nanosleep(20);
      __threadfence();
      before = prefix[block - 1];
    }
    prefix[block] = before + v;
    __threadfence();
    atomicExch(&flag[block], 1);
    carry = before;
  }
  __syncthreads();
  out[i] = v + carry;
}

// All blocks must be resident: block totals, a grid barrier, then each block adds those before it.
__device__ void grid_barrier(unsigned *arrived) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(arrived, 1u);
    while (atomicAdd(arrived, 0u) < gridDim.x)
      __nanosleep(20);
    __threadfence();
  }
  __syncthreads();
}

extern "C" __global__ void scan_grid_barrier(const int *in, int *out, int *totals,
                                             unsigned *arrived) {
  __shared__ int warp_totals[32];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int v = block_inclusive_scan(in[i], warp_totals);
  if (threadIdx.x == blockDim.x - 1)
    totals[blockIdx.x] = v;
  grid_barrier(arrived);
  for (int b = 0; b < blockIdx.x; ++b)
    v += totals[b];
  out[i] = v;
}
