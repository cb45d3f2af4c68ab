// Barriers in shared memory on sm_80, fed by cp.async.mbarrier.arrive.
#include <cuda_runtime.h>

__device__ unsigned shared_address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

// Producer warp and consumer warps over a ring of mbarriers (full/empty pairs), phases by parity.
__device__ void mbarrier_init(void *bar, int count) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(bar)), "r"(count) : "memory");
}
__device__ void mbarrier_arrive(void *bar) {
  asm volatile("{ .reg .b64 state; mbarrier.arrive.shared.b64 state, [%0]; }" ::"r"(shared_address(bar))
               : "memory");
}
__device__ void mbarrier_wait(void *bar, int parity) {
  asm volatile("{\n"
               ".reg .pred done;\n"
               "again:\n"
               "mbarrier.test_wait.parity.shared.b64 done, [%0], %1;\n"
               "@!done bra again;\n"
               "}" ::"r"(shared_address(bar)), "r"(parity) : "memory");
}

extern "C" __global__ void mbarrier_ring(int tiles, const int *in, int *out) {
  __shared__ __align__(16) int ring[2][128];
  __shared__ unsigned long long full[2], empty[2];
  int t = threadIdx.x;
  if (t == 0)
    for (int s = 0; s < 2; ++s) {
      mbarrier_init(&full[s], 32); // the producer's lanes, each through its copies
      mbarrier_init(&empty[s], 96);
    }
  __syncthreads();
  if (t < 32) {
    for (int tile = 0; tile < tiles; ++tile) {
      int s = tile % 2, round = tile / 2;
      if (round > 0)
        mbarrier_wait(&empty[s], (round - 1) & 1);
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(&ring[s][4 * t])),
                   "l"(in + tile * 128 + 4 * t) : "memory");
      asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(shared_address(&full[s]))
                   : "memory");
    }
  } else {
    int acc = 0;
    for (int tile = 0; tile < tiles; ++tile) {
      int s = tile % 2, round = tile / 2;
      mbarrier_wait(&full[s], round & 1);
      acc = acc * 3 + ring[s][(t * 5) % 128];
      mbarrier_arrive(&empty[s]);
    }
    out[t - 32] = acc;
  }
}
