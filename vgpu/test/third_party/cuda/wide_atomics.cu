// 128-bit atomics of sm_90, which keep two 64-bit words consistent: exchanges, compare-and-swap loops,
// and loads and stores with the orders and scopes of the compiler's own atomic functions.
typedef unsigned long long u64;
typedef unsigned __int128 u128;

// Only ever seen whole.
struct __align__(16) Pair {
  u64 low, high;
};

__device__ u128 joined(u64 low, u64 high) { return (u128)high << 64 | low; }

// Each value is handed on exactly once, its halves together: what is seen and what stays is a
// permutation of what was put in.
extern "C" __global__ void wide_exchange(Pair *slot, Pair *seen) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  seen[i] = atomicExch(slot, Pair{0x8000000000000000ull + i, ~(u64)i});
}

// A sum of squares of 64-bit numbers, modulo 2^128.
extern "C" __global__ void wide_sum(const u64 *in, Pair *sum) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  Pair old, seen = {0, 0};
  do {
    old = seen;
    u128 total = joined(old.low, old.high) + (u128)in[i] * in[i];
    seen = atomicCAS(sum, old, Pair{(u64)total, (u64)(total >> 64)});
  } while (seen.low != old.low || seen.high != old.high);
}

// The smallest key and where it first is: of each block in shared memory, then of all in global memory.
extern "C" __global__ void wide_argmin(const u64 *keys, u128 *best) {
  __shared__ Pair least;
  u64 i = blockIdx.x * blockDim.x + threadIdx.x, key = keys[i];
  if (threadIdx.x == 0)
    least = Pair{~0ull, ~0ull};
  __syncthreads();
  Pair seen = {~0ull, ~0ull};
  while (key < seen.low || (key == seen.low && i < seen.high)) {
    Pair old = atomicCAS_block(&least, seen, Pair{key, i});
    if (old.low == seen.low && old.high == seen.high)
      break;
    seen = old;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    u128 mine = joined(least.low, least.high), now = ~(u128)0;
    while ((u64)mine < (u64)now || ((u64)mine == (u64)now && mine < now))
      if (__nv_atomic_compare_exchange(best, &now, &mine, false, __NV_ATOMIC_ACQ_REL,
                                       __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE))
        break;
  }
}

// A scan in which each block waits for the sum of those before it. The sum is 64 bits long and comes
// with a flag of its own; the release and acquire of the pair also order `trail`, plain memory.
extern "C" __global__ void wide_chained_scan(const u64 *in, u128 *state, u64 *trail, u64 *out) {
  __shared__ u64 before;
  unsigned b = blockIdx.x, t = threadIdx.x;
  if (t == 0) {
    u128 previous = (u128)1 << 64;
    u64 steps = 0;
    if (b > 0) {
      do
        __nv_atomic_load(&state[b - 1], &previous, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE);
      while ((previous >> 64) == 0);
      steps = trail[b - 1];
    }
    u64 sum = (u64)previous;
    before = sum;
    for (unsigned k = 0; k < blockDim.x; ++k)
      sum += in[b * blockDim.x + k];
    trail[b] = steps + 1;
    u128 mine = joined(sum, 1);
    __nv_atomic_store(&state[b], &mine, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
  }
  __syncthreads();
  u64 sum = before;
  for (unsigned k = 0; k <= t; ++k)
    sum += in[b * blockDim.x + k];
  out[b * blockDim.x + t] = sum;
}
