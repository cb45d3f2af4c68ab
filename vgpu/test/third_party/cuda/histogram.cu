// Histograms: shared atomics merged into global memory, and one sub-histogram a warp.
extern "C" __global__ void histogram_shared(int n, const unsigned char *in, unsigned *bins) {
  __shared__ unsigned local[256];
  for (int b = threadIdx.x; b < 256; b += blockDim.x)
    local[b] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&local[in[i]], 1u);
  __syncthreads();
  for (int b = threadIdx.x; b < 256; b += blockDim.x)
    if (local[b])
      atomicAdd(&bins[b], local[b]);
}

extern "C" __global__ void histogram_per_warp(int n, const unsigned *__restrict__ in,
                                              unsigned *__restrict__ bins) {
  extern __shared__ unsigned sub[]; // [warps][64]
  int warps = blockDim.x / 32, warp = threadIdx.x / 32;
  for (int b = threadIdx.x; b < warps * 64; b += blockDim.x)
    sub[b] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    unsigned word = in[i];
    for (int k = 0; k < 4; ++k)
      atomicAdd(&sub[warp * 64 + ((word >> (8 * k)) & 63)], 1u);
  }
  __syncthreads();
  for (int b = threadIdx.x; b < 64; b += blockDim.x) {
    unsigned sum = 0;
    for (int w = 0; w < warps; ++w)
      sum += sub[w * 64 + b];
    bins[blockIdx.x * 64 + b] = sum;
  }
}
