// The CUDA math library as the compiler expands it (slow paths, tables and local arrays included),
// the hardware approximations, IEEE roundings, and conversions.
#include <cuda_runtime.h>

extern "C" __global__ void math_f32(const float *in, float *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = in[i], *o = out + i * 12;
  o[0] = sinf(x * 1000.0f); // large arguments take the slow reduction
  o[1] = cosf(x);
  o[2] = expf(x * 0.1f);
  o[3] = logf(fabsf(x) + 1e-3f);
  o[4] = tanhf(x * 0.05f);
  o[5] = powf(fabsf(x), 1.5f);
  o[6] = sqrtf(fabsf(x));
  o[7] = rsqrtf(fabsf(x) + 1.0f);
  o[8] = x / (fabsf(x) + 2.0f);
  o[9] = erff(x * 0.05f);
  o[10] = fmodf(x, 3.0f);
  o[11] = floorf(x) + ceilf(x * 0.5f) * 2 + rintf(x * 0.25f) * 4 + truncf(x) * 8;
}

extern "C" __global__ void math_approximate(const float *in, float *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = in[i], *o = out + i * 8;
  o[0] = __sinf(x * 0.03f);
  o[1] = __cosf(x * 0.03f);
  o[2] = __expf(x * 0.1f);
  o[3] = __logf(fabsf(x) + 1e-3f);
  o[4] = __fdividef(x, fabsf(x) + 2.0f);
  o[5] = __frsqrt_rn(fabsf(x) + 1.0f);
  asm("tanh.approx.f32 %0, %1;" : "=f"(o[6]) : "f"(x * 0.05f));
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(o[7]) : "f"(fabsf(x) + 1.0f));
}

// Directed roundings and fused multiply-add: the results are exact by definition.
extern "C" __global__ void math_rounding(const float *a, const float *b, float *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = a[i], y = b[i], *o = out + i * 12;
  o[0] = __fadd_rn(x, y);
  o[1] = __fadd_rz(x, y);
  o[2] = __fadd_rd(x, y);
  o[3] = __fadd_ru(x, y);
  o[4] = __fmul_rn(x, y);
  o[5] = __fmul_rz(x, y);
  o[6] = __fmul_rd(x, y);
  o[7] = __fmul_ru(x, y);
  o[8] = __fmaf_rn(x, y, -x);
  o[9] = __fdiv_rn(x, y);
  o[10] = __fsqrt_rn(fabsf(x));
  o[11] = __frcp_rn(y);
}

extern "C" __global__ void math_f64(const double *in, double *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  double x = in[i], *o = out + i * 6;
  o[0] = sin(x);
  o[1] = exp(x * 0.1);
  o[2] = log(fabs(x) + 1e-3);
  o[3] = sqrt(fabs(x));
  o[4] = x / (fabs(x) + 2.0);
  o[5] = fma(x, x, -x);
}

extern "C" __global__ void convert(const float *in, int *i32, unsigned *u32, long long *i64,
                                   double *f64, signed char *i8, float *back) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = in[i];
  i32[i] = __float2int_rn(x) + 3 * __float2int_rd(x) + 5 * __float2int_ru(x) + 7 * (int)x;
  u32[i] = __float2uint_rn(x);
  i64[i] = __float2ll_rd(x * 65536.0f);
  f64[i] = (double)x * 0.5;
  int r;
  asm("cvt.rni.sat.s8.f32 %0, %1;" : "=r"(r) : "f"(x));
  i8[i] = (signed char)r;
  back[i] = (float)i64[i] + __uint2float_rn(u32[i]) + (float)f64[i];
}
