// Eight-bit floats of sm_89 and later: packed conversions from f32 and f16 and back.
#include <cuda_fp16.h>
#include <cuda_fp8.h>

extern "C" __global__ void fp8_from_f32(const float2 *in, unsigned short *e4m3, unsigned short *e5m2) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  e4m3[i] = __nv_cvt_float2_to_fp8x2(in[i], __NV_SATFINITE, __NV_E4M3);
  e5m2[i] = __nv_cvt_float2_to_fp8x2(in[i], __NV_SATFINITE, __NV_E5M2);
}

extern "C" __global__ void fp8_from_f16(const __half2 *in, unsigned short *e4m3) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  e4m3[i] = __nv_cvt_halfraw2_to_fp8x2(in[i], __NV_SATFINITE, __NV_E4M3);
}

// Every pattern, both formats.
extern "C" __global__ void fp8_to_f16(const unsigned short *in, __half2 *e4m3, __half2 *e5m2) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  e4m3[i] = __nv_cvt_fp8x2_to_halfraw2(in[i], __NV_E4M3);
  e5m2[i] = __nv_cvt_fp8x2_to_halfraw2(in[i], __NV_E5M2);
}
