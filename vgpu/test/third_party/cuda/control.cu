// Control flow: switch tables, calls, function pointers, local arrays, divergent loops,
// early exits, structs by value, three-dimensional grids, module variables.
#include <cuda_runtime.h>

__device__ int sum_steps(int x, int y) {
  int r = 0;
  for (; x > 0; x -= 3)
    r += y;
  return r;
}

extern "C" __global__ void switch_table(const int *op, const int *a, const int *b, int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, x = a[i], y = b[i], r;
  switch (op[i]) {
  case 0: r = x + y; break;
  case 1: r = x - y; break;
  case 2: r = x * y; break;
  case 3: r = y ? x / y : -1; break;
  case 4: r = y ? x % y : -2; break;
  case 5: r = x & y; break;
  case 6: r = x | ~y; break;
  case 7: r = sum_steps(x, y); break;
  case 8: r = x << (y & 15); break;
  case 9: r = __popc(x) + y; break;
  case 10: r = __clz(x); break;
  case 11: r = x ^ y; break;
  case 12: r = min(x, y); break;
  case 13: r = max(x, y); break;
  case 14: r = abs(x) * 3; break;
  case 15: r = x >> 2; break;
  case 16: r = (x * 7) ^ (y >> 1); break;
  case 17: r = x == y; break;
  case 18: r = x < y ? 5 : y; break;
  case 19: r = __brev(x); break;
  default: r = 12345;
  }
  out[i] = r;
}

// The indirect branch itself: nvcc compiles a switch to it only where its heuristics say so.
extern "C" __global__ void indirect_branch(const int *op, const int *a, int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, r;
  asm volatile("{\n"
               "targets: .branchtargets L_add, L_twice, L_negate, L_zero;\n"
               "brx.idx %1, targets;\n"
               "L_add: add.s32 %0, %2, 5; bra L_end;\n"
               "L_twice: shl.b32 %0, %2, 1; bra L_end;\n"
               "L_negate: neg.s32 %0, %2; bra L_end;\n"
               "L_zero: mov.u32 %0, 0;\n"
               "L_end:\n"
               "}"
               : "=r"(r)
               : "r"(op[i]), "r"(a[i]));
  out[i] = r;
}

__device__ __noinline__ float polynomial(float x, const float *c, int n) {
  float r = 0;
  for (int i = n - 1; i >= 0; --i)
    r = r * x + c[i];
  return r;
}

__device__ __noinline__ int2 divmod(int a, int b) { return make_int2(a / b, a % b); }


extern "C" __global__ void calls(const float *x, const int *a, const int *b, float *p,
                                 int *q) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float c[4] = {1.0f, -2.0f, 0.5f, (float)(i % 3)};
  p[i] = polynomial(x[i], c, 4);
  int2 d = divmod(a[i], b[i]);
  q[i] = d.x * 1000 + d.y;
}

__device__ __noinline__ int twice(int x) { return 2 * x; }
__device__ __noinline__ int square(int x) { return x * x; }
__device__ __noinline__ int negate(int x) { return -x; }
__device__ int (*const table[3])(int) = {twice, square, negate};

extern "C" __global__ void function_pointers(const int *which, const int *x, int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = table[which[i]](x[i]);
}

// A local array indexed by data: sorted by insertion, each thread its own.
extern "C" __global__ void local_array(const int *in, int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int v[12];
  for (int k = 0; k < 12; ++k)
    v[k] = in[i * 12 + k];
  for (int k = 1; k < 12; ++k) {
    int x = v[k], j = k;
    while (j > 0 && v[j - 1] > x) {
      v[j] = v[j - 1];
      --j;
    }
    v[j] = x;
  }
  for (int k = 0; k < 12; ++k)
    out[i * 12 + k] = v[k];
}

// Every lane leaves its loop at another time; some by continue, some by break, some by return.
extern "C" __global__ void divergent_loops(const unsigned *in, int *steps) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned long long x = in[i];
  int n = 0;
  if (x == 0) {
    steps[i] = -1;
    return;
  }
  while (x != 1) {
    if (++n > 200)
      break;
    if (x % 2 == 0) {
      x /= 2;
      continue;
    }
    for (unsigned k = 0; k < x % 3; ++k)
      n += 2;
    x = 3 * x + 1;
  }
  steps[i] = n;
}

struct Affine {
  double scale;
  int offset[3];
  char tag;
  short bias;
};

// A struct and a small array in parameter space; blocks and threads in three dimensions.
extern "C" __global__ void struct_parameter(Affine f, int3 extent, double *out) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
      z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x >= extent.x || y >= extent.y || z >= extent.z)
    return;
  int which = (x + y + z) % 3;
  out[(z * extent.y + y) * extent.x + x] =
      f.scale * (x + 10 * y + 100 * z) + f.offset[which] + f.tag + f.bias;
}

__constant__ int weights[8] = {1, -2, 3, -4, 5, -6, 7, -8};
__constant__ float bounds[2] = {-1.5f, 2.5f};
__device__ int counter = 7;
__device__ unsigned char bytes[6] = {1, 2, 3, 0xff, 5, 6};

extern "C" __global__ void module_variables(const int *in, int *out, int *old) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int sum = 0;
  for (int k = 0; k < 8; ++k)
    sum += weights[(k + in[i]) & 7] * (k + 1);
  sum += (int)(bounds[in[i] & 1] * 2.0f) + bytes[i % 6];
  out[i] = sum;
  if (in[i] > 4)
    old[i] = atomicAdd(&counter, 1) >= 7;
}
