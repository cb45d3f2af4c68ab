// Atomics of every kind the headers offer, on global and on shared memory; the results do not depend
// on the order of the updates, except where the returned old values are only counted.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
typedef unsigned long long u64;

extern "C" __global__ void atomics_integer(const int *in, int *s, unsigned *u, long long *l,
                                           u64 *v) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, x = in[i];
  atomicAdd(&s[0], x);
  atomicSub(&s[1], x);
  atomicMin(&s[2], x);
  atomicMax(&s[3], x);
  atomicAnd(&s[4], x | 0xff0);
  atomicOr(&s[5], x & 0x7777);
  atomicXor(&s[6], x);
  atomicMin(&u[0], (unsigned)x);
  atomicMax(&u[1], (unsigned)x);
  atomicInc(&u[2], 100u);
  atomicDec(&u[3], 41u);
  atomicMin(&l[0], (long long)x << 20);
  atomicMax(&l[1], (long long)x << 20);
  atomicAdd(&v[0], (u64)(long long)x << 8);
  atomicMin(&v[1], (u64)(long long)x);
  atomicMax(&v[2], (u64)(long long)x);
  atomicOr(&v[3], 1ull << (i & 63));
  atomicXor(&v[4], (u64)i * 0x123456789ull);
  atomicAnd(&v[5], ~(1ull << (x & 31)));
}

extern "C" __global__ void atomics_float(const float *in, float *f, double *d, __half2 *h,
                                         __half *h1) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = in[i];
  atomicAdd(&f[i % 5], x);
  atomicAdd(&d[i % 3], (double)x * 0.25);
  atomicAdd(&h[i % 7], __floats2half2_rn(x, 1.0f));
  atomicAdd(&h1[i % 9], __float2half(x));
}

// Native on sm_90; on sm_80 the CUDA header emulates it by compare-and-swap and reads the first guess
// with a plain load, which races with the other threads' swaps.
extern "C" __global__ void atomics_bfloat(const float *in, __nv_bfloat162 *b, __nv_bfloat16 *b1) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&b[i % 7], __floats2bfloat162_rn(in[i] > 0 ? 1.0f : 0.0f, -1.0f));
  atomicAdd(&b1[i % 9], __float2bfloat16(1.0f));
}

// Old values: tickets are a permutation; exchanges hand each value on exactly once.
extern "C" __global__ void atomics_returning(int *ticket, int *order, int *slot, int *seen,
                                             unsigned *wrap, unsigned *wrapped) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  order[atomicAdd(ticket, 1)] = i;
  int old = atomicExch(slot, i + 1);
  atomicAdd(&seen[old], 1);
  atomicAdd(&wrapped[atomicInc(wrap, 9u)], 1u);
}

// A lock-free f32 maximum and a multiplication by compare-and-swap loops, 32 and 64 bits.
extern "C" __global__ void atomics_cas(const float *in, int *maximum, u64 *product) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = in[i];
  int old = *(volatile int *)maximum;
  while (__int_as_float(old) < x) {
    int seen = atomicCAS(maximum, old, __float_as_int(x));
    if (seen == old)
      break;
    old = seen;
  }
  u64 p = *(volatile u64 *)product, assumed;
  do {
    assumed = p;
    p = atomicCAS(product, assumed, assumed * (2 * i + 3));
  } while (p != assumed);
}

extern "C" __global__ void atomics_shared(const int *in, int *out) {
  __shared__ int s[8];
  __shared__ u64 w[2];
  __shared__ float f;
  int t = threadIdx.x, x = in[blockIdx.x * blockDim.x + t];
  if (t < 8)
    s[t] = t == 2 ? 1000 : t == 3 ? -1000 : t == 4 ? -1 : 0;
  if (t < 2)
    w[t] = 0;
  if (t == 0)
    f = 0;
  __syncthreads();
  atomicAdd(&s[0], x);
  atomicSub(&s[1], x);
  atomicMin(&s[2], x);
  atomicMax(&s[3], x);
  atomicAnd(&s[4], x | 0xf00);
  atomicXor(&s[5], x);
  atomicInc((unsigned *)&s[6], 1000u);
  atomicAdd(&w[0], (u64)(x + 100));
  atomicMax(&w[1], (u64)(x + 100));
  atomicAdd(&f, (float)x);
  if (x % 16 == 0)
    atomicCAS(&s[7], 0, 77);
  __syncthreads();
  if (t < 8)
    out[blockIdx.x * 11 + t] = s[t];
  if (t == 8)
    out[blockIdx.x * 11 + 8] = (int)f;
  if (t == 9 || t == 10)
    out[blockIdx.x * 11 + t] = (int)w[t - 9];
}

// A spin lock around a plain read-modify-write: ordered by fences at device scope.
extern "C" __global__ void spin_lock(int *lock, int *value, int *order) {
  if (threadIdx.x == 0) {
    while (atomicCAS(lock, 0, 1) != 0)
      __nanosleep(10);
    __threadfence();
    int v = *value;
    *value = v * 2 + 1;
    order[v == 0 ? 0 : __popc(v)] = 1;
    __threadfence();
    atomicExch(lock, 0);
  }
}

#if __CUDA_ARCH__ >= 900
// Vector reductions of sm_90.
extern "C" __global__ void atomics_vector(const float4 *in, float4 *four, float2 *two) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 x = in[i];
  atomicAdd(&four[i % 3], x);
  atomicAdd(&two[i % 3], make_float2(x.w, x.y));
}
#endif
