// Bulk copies of sm_90a: tensor tiles in and out with all swizzles and out-of-bounds fill, reductions,
// plain bulk copies, and a producer/consumer ring on mbarriers.
#include "hopper.h"

// Each block loads one box of `rows` x `rowBytes`, undoes the swizzle by hand, and writes it densely.
extern "C" __global__ void tma_load(const __grid_constant__ CUtensorMap map, int span, int rows,
                                    int rowBytes, int elementBytes, unsigned *out) {
  extern __shared__ __align__(1024) char tile[];
  __shared__ unsigned long long bar;
  int bytes = rows * rowBytes;
  if (threadIdx.x == 0) {
    mbarrier_init(&bar, 1);
    mbarrier_init_fence();
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    mbarrier_expect(&bar, bytes);
    tma_load_2d(tile, &map, &bar, blockIdx.x * rowBytes / elementBytes, blockIdx.y * rows);
  }
  mbarrier_wait(&bar, 0);
  out += (blockIdx.y * gridDim.x + blockIdx.x) * (bytes / 4);
  for (int e = threadIdx.x; e < bytes / 4; e += blockDim.x)
    out[e] = *reinterpret_cast<const unsigned *>(tile + swizzled(e * 4, span));
}

// The box starts left of and above the tensor: negative coordinates.
extern "C" __global__ void tma_load_negative(const __grid_constant__ CUtensorMap map, float *out) {
  __shared__ __align__(128) float tile[8 * 16];
  __shared__ unsigned long long bar;
  if (threadIdx.x == 0) {
    mbarrier_init(&bar, 1);
    mbarrier_init_fence();
    mbarrier_expect(&bar, sizeof(tile));
    tma_load_2d(tile, &map, &bar, -3, -2);
  }
  __syncthreads(); // nobody may wait on a barrier before it is initialised
  mbarrier_wait(&bar, 0);
  for (int e = threadIdx.x; e < 128; e += blockDim.x)
    out[e] = tile[e];
}

extern "C" __global__ void tma_load_cube(const __grid_constant__ CUtensorMap map, int *out) {
  __shared__ __align__(128) int tile[4 * 4 * 8];
  __shared__ unsigned long long bar;
  if (threadIdx.x == 0) {
    mbarrier_init(&bar, 1);
    mbarrier_init_fence();
    mbarrier_expect(&bar, sizeof(tile));
    tma_load_3d(tile, &map, &bar, blockIdx.x * 8, blockIdx.y * 4, blockIdx.z * 4);
  }
  __syncthreads();
  mbarrier_wait(&bar, 0);
  int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  for (int e = threadIdx.x; e < 128; e += blockDim.x)
    out[block * 128 + e] = tile[e];
}

// Generic writes, proxy fence, barrier, then one thread stores (or adds) the tile; parts outside the
// tensor are dropped.
template <bool Add> __device__ void store(const CUtensorMap *map, const float *in, float *tile) {
  for (int e = threadIdx.x; e < 16 * 32; e += blockDim.x)
    *reinterpret_cast<float *>(reinterpret_cast<char *>(tile) + swizzled(e * 4, 128)) =
        in[(blockIdx.y * gridDim.x + blockIdx.x) * 512 + e] * 2.0f;
  proxy_fence();
  __syncthreads();
  if (threadIdx.x == 0) {
    if (Add)
      tma_reduce_add_2d(map, tile, blockIdx.x * 24, blockIdx.y * 16); // boxes overlap by 8 columns
    else
      tma_store_2d(map, tile, blockIdx.x * 32, blockIdx.y * 16);
    bulk_commit_group();
    bulk_wait_group();
  }
}
extern "C" __global__ void tma_store(const __grid_constant__ CUtensorMap map, const float *in) {
  __shared__ __align__(1024) float tile[16 * 32];
  store<false>(&map, in, tile);
}
extern "C" __global__ void tma_reduce(const __grid_constant__ CUtensorMap map, const float *in) {
  __shared__ __align__(1024) float tile[16 * 32];
  store<true>(&map, in, tile);
}

// One-dimensional bulk copies both ways: doubles in place in shared memory.
extern "C" __global__ void bulk_copy(const int *in, int *out) {
  __shared__ __align__(128) int buf[256];
  __shared__ unsigned long long bar;
  int t = threadIdx.x;
  if (t == 0) {
    mbarrier_init(&bar, 1);
    mbarrier_init_fence();
    mbarrier_expect(&bar, sizeof(buf));
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
                     "r"(shared_address(buf)), "l"(in + blockIdx.x * 256), "r"((int)sizeof(buf)),
                 "r"(shared_address(&bar)) : "memory");
  }
  __syncthreads();
  mbarrier_wait(&bar, 0);
  buf[t] = buf[t] * 2 + t;
  proxy_fence();
  __syncthreads();
  if (t == 0) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(out + blockIdx.x * 256),
                 "r"(shared_address(buf)), "r"((int)sizeof(buf)) : "memory");
    bulk_commit_group();
    bulk_wait_group_read();
  }
}

// A producer warp streams tiles through three stages; three consumer warps add them up.
extern "C" __global__ void tma_ring(const __grid_constant__ CUtensorMap map, int tiles, float *out) {
  __shared__ __align__(1024) float ring[3][8 * 32];
  __shared__ unsigned long long full[3], empty[3];
  int t = threadIdx.x;
  if (t == 0) {
    for (int s = 0; s < 3; ++s) {
      mbarrier_init(&full[s], 1);
      mbarrier_init(&empty[s], 3);
    }
    mbarrier_init_fence();
  }
  __syncthreads();
  if (t < 32) {
    if (t == 0)
      for (int i = 0; i < tiles; ++i) {
        int s = i % 3, round = i / 3;
        if (round > 0)
          mbarrier_wait(&empty[s], (round - 1) & 1);
        mbarrier_expect(&full[s], 8 * 32 * 4);
        tma_load_2d(ring[s], &map, &full[s], blockIdx.x * 32, i * 8);
      }
  } else {
    int c = t - 32; // 96 consumers; rows c / 32, c / 32 + 3, … of column c % 32
    float sum = 0;
    for (int i = 0; i < tiles; ++i) {
      int s = i % 3;
      mbarrier_wait(&full[s], i / 3 & 1);
      for (int r = c / 32; r < 8; r += 3)
        sum = sum * 0.5f + *reinterpret_cast<const float *>(
            reinterpret_cast<const char *>(ring[s]) + swizzled((r * 32 + c % 32) * 4, 128));
      __syncwarp();
      if (c % 32 == 0)
        mbarrier_arrive(&empty[s]);
    }
    out[blockIdx.x * 96 + c] = sum;
  }
}
