// Element-wise kernels: one element a thread, grid-stride loops, vectors, packed halves.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void saxpy(int n, float a, const float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = a * x[i] + y[i];
}

// Fewer threads than elements; each thread makes a different number of rounds.
extern "C" __global__ void grid_stride(long long n, const int *x, int *y) {
  long long stride = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
    y[i] = 3 * x[i] + (int)(i & 7);
}

// 16-byte loads and stores, scalar tail by the last threads.
extern "C" __global__ void vector_copy(int n, const float *__restrict__ x, float *__restrict__ y) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  int n4 = n / 4;
  if (t < n4) {
    float4 v = reinterpret_cast<const float4 *>(x)[t];
    v = make_float4(v.y, v.x, v.w, v.z); // order matters, so a vector must not be permuted
    reinterpret_cast<float4 *>(y)[t] = v;
  } else if (n4 * 4 + (t - n4) < n) {
    y[n4 * 4 + (t - n4)] = x[n4 * 4 + (t - n4)];
  }
}

// The narrow and wide vector types: v2.u8 … v4.u16, v2.u64.
extern "C" __global__ void vector_types(const uchar4 *a, const short2 *b, const double2 *c,
                                        uchar4 *ra, short2 *rb, double2 *rc) {
  int t = threadIdx.x;
  uchar4 u = a[t];
  ra[t] = make_uchar4(u.w, u.z + 1, u.y + 2, u.x + 3);
  short2 s = b[t];
  rb[t] = make_short2(-s.y, s.x);
  double2 d = c[t];
  rc[t] = make_double2(d.y * 2.0, d.x - 1.0);
}

// f16x2: fma, add, mul with saturation, comparison masks, abs, neg, min, max.
extern "C" __global__ void half2_math(const __half2 *a, const __half2 *b, __half2 *fma_, __half2 *sat,
                                      __half2 *minmax, __half2 *cmp, __half2 *relu) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  __half2 x = a[t], y = b[t];
  fma_[t] = __hfma2(x, y, __hneg2(x));
  sat[t] = __hmul2_sat(x, y);
  minmax[t] = __hsub2(__hmax2(x, y), __hmin2(x, __habs2(y)));
  cmp[t] = __hgt2(x, y);
  relu[t] = __hfma2_relu(x, y, y);
}

extern "C" __global__ void bfloat2_math(const __nv_bfloat162 *a, const __nv_bfloat162 *b,
                                        __nv_bfloat162 *fma_, __nv_bfloat162 *minmax,
                                        float *widened) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  __nv_bfloat162 x = a[t], y = b[t];
  fma_[t] = __hfma2(x, y, __hneg2(x));
  minmax[t] = __hsub2(__hmax2(x, y), __hmin2(x, __habs2(y)));
  float2 f = __bfloat1622float2(__hadd2(x, y));
  widened[t] = f.x * 2.0f + f.y;
}

// Scalar half arithmetic and the roundings of f32 -> f16.
extern "C" __global__ void half_rounding(const float *x, __half *rn, __half *rz, __half *rd,
                                         __half *ru, __nv_bfloat16 *bf) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  float v = x[t];
  rn[t] = __float2half_rn(v);
  rz[t] = __float2half_rz(v);
  rd[t] = __float2half_rd(v);
  ru[t] = __float2half_ru(v);
  bf[t] = __float2bfloat16_rn(v);
}
