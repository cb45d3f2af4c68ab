// Thin wrappers of the sm_90a instructions that the TMA and wgmma kernels share.
#pragma once
#include <cuda.h>
#include <cuda_runtime.h>

__device__ inline unsigned shared_address(const void *p) {
  return (unsigned)__cvta_generic_to_shared(p);
}

__device__ inline void mbarrier_init(void *bar, int count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(bar)), "r"(count)
               : "memory");
}
// Makes the initialised barriers visible to the async proxy.
__device__ inline void mbarrier_init_fence() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ inline void mbarrier_expect(void *bar, int bytes) {
  asm volatile(
      "{ .reg .b64 state; mbarrier.arrive.expect_tx.shared::cta.b64 state, [%0], %1; }" ::"r"(
          shared_address(bar)),
      "r"(bytes)
      : "memory");
}
__device__ inline void mbarrier_arrive(void *bar) {
  asm volatile(
      "{ .reg .b64 state; mbarrier.arrive.shared::cta.b64 state, [%0]; }" ::"r"(shared_address(bar))
      : "memory");
}
__device__ inline void mbarrier_wait(void *bar, int parity) {
  asm volatile("{\n"
               ".reg .pred done;\n"
               "again:\n"
               "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
               "@done bra through;\n"
               "bra again;\n"
               "through:\n"
               "}" ::"r"(shared_address(bar)),
               "r"(parity)
               : "memory");
}

// Coordinates are in elements, the innermost first.
__device__ inline void tma_load_2d(void *to, const CUtensorMap *map, void *bar, int x, int y) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
               "[%0], [%1, {%3, %4}], [%2];" ::"r"(shared_address(to)),
               "l"(map), "r"(shared_address(bar)), "r"(x), "r"(y)
               : "memory");
}
__device__ inline void tma_load_3d(void *to, const CUtensorMap *map, void *bar, int x, int y,
                                   int z) {
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
               "[%0], [%1, {%3, %4, %5}], [%2];" ::"r"(shared_address(to)),
               "l"(map), "r"(shared_address(bar)), "r"(x), "r"(y), "r"(z)
               : "memory");
}
__device__ inline void tma_store_2d(const CUtensorMap *map, const void *from, int x, int y) {
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"(map),
      "r"(shared_address(from)), "r"(x), "r"(y)
      : "memory");
}
__device__ inline void tma_reduce_add_2d(const CUtensorMap *map, const void *from, int x, int y) {
  asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group "
               "[%0, {%2, %3}], [%1];" ::"l"(map),
               "r"(shared_address(from)), "r"(x), "r"(y)
               : "memory");
}
__device__ inline void bulk_commit_group() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
__device__ inline void bulk_wait_group_read() {
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}
__device__ inline void bulk_wait_group() {
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
// Orders this thread's generic writes to shared memory before later accesses of the async proxy.
__device__ inline void proxy_fence() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

__device__ inline void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ inline void wgmma_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int N> __device__ void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}

// The place of byte `offset` of a tile (aligned to 8 * span) stored with a swizzle of `span` bytes
// (16 = none, 32, 64, 128): the 16-byte chunk number within the span is xored with address bits 7…
__host__ __device__ inline unsigned swizzled(unsigned offset, unsigned span) {
  return offset ^ (((offset >> 7) & (span / 16 - 1)) << 4);
}
