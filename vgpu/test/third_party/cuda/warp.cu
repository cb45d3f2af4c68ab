// Warp-level primitives: votes, matches, shuffles of all kinds and widths, in full and in divergent
// warps.
extern "C" __global__ void votes(const int *in, unsigned *ballot, int *anyAll, unsigned *active) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, v = in[i];
  ballot[i] = __ballot_sync(0xffffffffu, v > 0);
  anyAll[i] = __any_sync(0xffffffffu, v == 5) * 2 + __all_sync(0xffffffffu, v < 100);
  active[i] = 0;
  if (v % 2) // only the odd lanes take part
    active[i] = __activemask();
}

extern "C" __global__ void matches(const int *in, unsigned *any32, unsigned *any64, unsigned *all) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, v = in[i];
  any32[i] = __match_any_sync(0xffffffffu, v);
  any64[i] = __match_any_sync(0xffffffffu, (long long)(v / 4) << 33);
  int pred;
  unsigned mask = __match_all_sync(0xffffffffu, v < 1000 ? 7 : v, &pred);
  all[i] = mask ^ (pred ? 5u : 9u);
}

extern "C" __global__ void shuffles(const int *in, int *idx, int *up, int *down, int *bfly,
                                    double *wide) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, v = in[i];
  idx[i] = __shfl_sync(0xffffffffu, v, (i * 5 + 3) % 16, 16);
  up[i] = __shfl_up_sync(0xffffffffu, v, 3, 8);
  down[i] = __shfl_down_sync(0xffffffffu, v, 5, 32);
  bfly[i] = __shfl_xor_sync(0xffffffffu, v, 0x15);
  wide[i] = __shfl_sync(0xffffffffu, (double)v * 0.5, (i + 1) % 32);
}

// Two halves of a warp shuffle within themselves, in different branches.
extern "C" __global__ void divergent_shuffle(const int *in, int *out) {
  int lane = threadIdx.x % 32, i = blockIdx.x * blockDim.x + threadIdx.x, v = in[i];
  if (lane < 12) {
    for (int d = 1; d < 4; ++d)
      v += __shfl_sync(0x00000fffu, v, (lane + d) % 12);
  } else {
    v -= __shfl_sync(0xfffff000u, v, 12 + (lane - 11) % 20);
  }
  __syncwarp();
  out[i] = v + __shfl_xor_sync(0xffffffffu, v, 1);
}

// Exchange inside a warp through shared memory, ordered by __syncwarp alone.
extern "C" __global__ void syncwarp_exchange(const int *in, int *out) {
  __shared__ int buf[4][32];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, i = blockIdx.x * blockDim.x + threadIdx.x;
  buf[warp][lane] = in[i];
  __syncwarp();
  int v = buf[warp][31 - lane];
  __syncwarp();
  buf[warp][(lane * 7) % 32] = v * 2;
  __syncwarp();
  out[i] = buf[warp][lane];
}

// Named barriers: warps 0,1 produce for warps 2,3 (bar.arrive / bar.sync with a thread count).
extern "C" __global__ void named_barriers(const int *in, int *out) {
  __shared__ int buf[64];
  int t = threadIdx.x;
  if (t < 64) {
    buf[t] = in[t] + 1;
    asm volatile("bar.arrive 1, 128;" ::: "memory");
  } else {
    asm volatile("bar.sync 1, 128;" ::: "memory");
    out[t - 64] = buf[127 - t] * 2;
  }
}

// Barrier reductions: __syncthreads_count / _and / _or.
extern "C" __global__ void barrier_reductions(const int *in, int *out) {
  int t = threadIdx.x, v = in[blockIdx.x * blockDim.x + t];
  int count = __syncthreads_count(v > 3);
  int all = __syncthreads_and(v > -100), any = __syncthreads_or(v == 9);
  out[blockIdx.x * blockDim.x + t] = count * 4 + (all != 0) * 2 + (any != 0);
}
