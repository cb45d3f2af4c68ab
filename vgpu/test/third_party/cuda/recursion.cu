// Two recursive calls: not a loop in disguise. The depth differs from lane to lane.
__device__ __noinline__ int fibonacci(int n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

extern "C" __global__ void recursion(const int *n, int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = i % 3 ? fibonacci(n[i]) : -1;
}
