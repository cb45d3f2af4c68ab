// Row softmax: two-pass in base 2 (ex2.approx), and online with one row a warp.
#include <cuda_fp16.h>
#include <math_constants.h>

__device__ float fast_exp2(float x) {
  float r;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
}

template <typename Op> __device__ float block_reduce(float v, float *buf, Op op) {
  for (int d = 16; d > 0; d /= 2)
    v = op(v, __shfl_xor_sync(0xffffffffu, v, d));
  if (threadIdx.x % 32 == 0)
    buf[threadIdx.x / 32] = v;
  __syncthreads();
  v = buf[0];
  for (int w = 1; w < blockDim.x / 32; ++w)
    v = op(v, buf[w]);
  __syncthreads();
  return v;
}

extern "C" __global__ void softmax_rows(int cols, const float *in, float *out) {
  __shared__ float buf[32];
  const float *x = in + (size_t)blockIdx.x * cols;
  float *y = out + (size_t)blockIdx.x * cols;
  float top = -CUDART_INF_F, sum = 0;
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    top = fmaxf(top, x[c]);
  top = block_reduce(top, buf, [](float a, float b) { return fmaxf(a, b); });
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    sum += fast_exp2((x[c] - top) * 1.4426950408889634f);
  sum = block_reduce(sum, buf, [](float a, float b) { return a + b; });
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    y[c] = fast_exp2((x[c] - top) * 1.4426950408889634f) / sum;
}

// One pass over the row: maximum and rescaled sum together; f16 in and out, two values a load.
extern "C" __global__ void softmax_online(int cols, const __half2 *in, __half2 *out) {
  int lane = threadIdx.x % 32, row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  const __half2 *x = in + (size_t)row * (cols / 2);
  float top = -CUDART_INF_F, sum = 0;
  for (int c = lane; c < cols / 2; c += 32) {
    float2 v = __half22float2(x[c]);
    float next = fmaxf(top, fmaxf(v.x, v.y));
    sum = sum * exp2f(top - next) + exp2f(v.x - next) + exp2f(v.y - next);
    top = next;
  }
  for (int d = 16; d > 0; d /= 2) {
    float otherTop = __shfl_xor_sync(0xffffffffu, top, d);
    float otherSum = __shfl_xor_sync(0xffffffffu, sum, d);
    float next = fmaxf(top, otherTop);
    sum = sum * exp2f(top - next) + otherSum * exp2f(otherTop - next);
    top = next;
  }
  for (int c = lane; c < cols / 2; c += 32) {
    float2 v = __half22float2(x[c]);
    out[(size_t)row * (cols / 2) + c] =
        __floats2half2_rn(exp2f(v.x - top) / sum, exp2f(v.y - top) / sum);
  }
}
