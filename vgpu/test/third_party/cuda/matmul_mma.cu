// Matrix products with inline mma.sync, ldmatrix and double-buffered cp.async. D = A x B with A [M][K]
// and B either as columns [N][K] (ldmatrix) or as rows [K][N] (ldmatrix.trans).
//
// A block computes 64 x 64 with 4 warps of 32 x 32; a k-step is 64 bytes of each row. Shared rows are
// 64 bytes = four 16-byte chunks, chunk c of row r lies at c ^ (r / 2) % 4. In bytes the fragments of all
// element types are alike (register 0: row g, bytes 4t..4t+3; 1: row g + 8; 2: bytes 16 + 4t; 3: both),
// so one kernel serves f16 (m16n8k16), tf32 (m16n8k8), s8, fp8 (m16n8k32) and s4 (m16n8k64).
#include <cuda_runtime.h>

namespace {
constexpr int tileM = 64, tileN = 64, rowBytes = 64, stageBytes = (tileM + tileN) * rowBytes;

__device__ unsigned shared_address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

__device__ unsigned swizzled(unsigned base, int row, int chunk) {
  return base + row * rowBytes + ((chunk ^ ((row / 2) % 4)) * 16);
}

// 16 bytes, of which the first `valid` are read and the rest zero.
__device__ void copy_async(unsigned to, const void *from, int valid) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(valid)
               : "memory");
}
__device__ void commit_group() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N> __device__ void wait_group() {
  asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}
__device__ void ldmatrix_x4(unsigned *r, unsigned address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(address) : "memory");
}
__device__ void ldmatrix_x2(unsigned *r, unsigned address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];"
               : "=r"(r[0]), "=r"(r[1]) : "r"(address) : "memory");
}
__device__ void ldmatrix_x4_trans(unsigned *r, unsigned address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(address) : "memory");
}

#define MMA_OPERATION(NAME, ACC, C, INSTRUCTION)                                                   \
  struct NAME {                                                                                    \
    using Accumulator = ACC;                                                                       \
    static __device__ void run(ACC *d, const unsigned *a, const unsigned *b) {                     \
      asm volatile(INSTRUCTION " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"            \
                   : "+" C(d[0]), "+" C(d[1]), "+" C(d[2]), "+" C(d[3])                            \
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));            \
    }                                                                                              \
  };
MMA_OPERATION(MmaF16, float, "f", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32")
MMA_OPERATION(MmaBf16, float, "f", "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32")
MMA_OPERATION(MmaTf32, float, "f", "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32")
MMA_OPERATION(MmaS8, int, "r", "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32")
MMA_OPERATION(MmaS4, int, "r", "mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32")
MMA_OPERATION(MmaE4m3, float, "f", "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32")

template <typename T> struct __align__(8) Pair {
  T x, y;
};

// Rows past `rows` are filled with zeros by cp.async itself.
__device__ void load_tile(unsigned to, const char *from, int row0, int rows, int pitch, int k0) {
#pragma unroll 1
  for (int e = threadIdx.x; e < 64 * 4; e += 128) {
    int row = e / 4, chunk = e % 4;
    bool inside = row0 + row < rows;
    const char *p = from + (long long)(inside ? row0 + row : 0) * pitch + k0 + chunk * 16;
    copy_async(swizzled(to, row, chunk), p, inside ? 16 : 0);
  }
}

// A and B as rows of K bytes each.
template <typename Mma>
__device__ void matmul_columns(int m, int n, int kBytes, const char *a, const char *b,
                               typename Mma::Accumulator *d) {
  __shared__ __align__(128) char smem[2 * stageBytes];
  unsigned base = shared_address(smem);
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int warpM = warp / 2 * 32, warpN = warp % 2 * 32;
  int row0 = blockIdx.y * tileM, col0 = blockIdx.x * tileN;
  typename Mma::Accumulator acc[2][4][4] = {};
  auto load = [&](int k0, int stage) {
    load_tile(base + stage * stageBytes, a, row0, m, kBytes, k0);
    load_tile(base + stage * stageBytes + tileM * rowBytes, b, col0, n, kBytes, k0);
    commit_group();
  };
  load(0, 0);
  for (int k0 = 0, stage = 0; k0 < kBytes; k0 += rowBytes, stage ^= 1) {
    if (k0 + rowBytes < kBytes) {
      load(k0 + rowBytes, stage ^ 1);
      wait_group<1>();
    } else {
      wait_group<0>();
    }
    __syncthreads();
    unsigned as = base + stage * stageBytes, bs = as + tileM * rowBytes;
#pragma unroll 1
    for (int kk = 0; kk < 2; ++kk) { // 32 bytes of k each
      unsigned x[2][4], y[4][2];
#pragma unroll
      for (int i = 0; i < 2; ++i) // matrices: rows 0-7, 8-15 of chunk 0, then of chunk 1
        ldmatrix_x4(x[i], swizzled(as, warpM + i * 16 + lane % 16, 2 * kk + lane / 16));
#pragma unroll
      for (int j = 0; j < 4; ++j) // lanes 0-15 give the addresses
        ldmatrix_x2(y[j], swizzled(bs, warpN + j * 8 + lane % 8, 2 * kk + lane / 8 % 2));
#pragma unroll
      for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j)
          Mma::run(acc[i][j], x[i], y[j]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 2; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
      for (int e = 0; e < 4; e += 2) { // n is even
        int row = row0 + warpM + i * 16 + lane / 4 + e / 2 * 8;
        int col = col0 + warpN + j * 8 + lane % 4 * 2;
        if (row < m && col < n)
          *reinterpret_cast<Pair<typename Mma::Accumulator> *>(d + (long long)row * n + col) = {
              acc[i][j][e], acc[i][j][e + 1]};
      }
}
} // namespace

#define MATMUL(NAME, MMA)                                                                          \
  extern "C" __global__ void __launch_bounds__(128)                                                \
      NAME(int m, int n, int kBytes, const char *a, const char *b, MMA::Accumulator *d) {          \
    matmul_columns<MMA>(m, n, kBytes, a, b, d);                                                    \
  }

#if __CUDA_ARCH__ < 890 || !defined(__CUDA_ARCH__)
MATMUL(matmul_mma_f16, MmaF16)
MATMUL(matmul_mma_bf16, MmaBf16)
MATMUL(matmul_mma_tf32, MmaTf32)
MATMUL(matmul_mma_s8, MmaS8)
MATMUL(matmul_mma_s4, MmaS4)

// B as rows [K][N]: tile 64 x 64 of f16, k-step 32; two n8 tiles a ldmatrix.x4.trans. f16 accumulators,
// three stages, one barrier a step: the copy into a stage is issued behind the barrier that ends its
// last readers.
extern "C" __global__ void __launch_bounds__(128)
    matmul_mma_f16_trans(int n, int k, const char *a, const char *b, unsigned *d) {
  extern __shared__ __align__(128) char dynamic[];
  constexpr int aBytes = 64 * 64, bBytes = 32 * 128, stages = 3;
  unsigned base = shared_address(dynamic);
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int warpM = warp / 2 * 32, warpN = warp % 2 * 32;
  int row0 = blockIdx.y * 64, col0 = blockIdx.x * 64, steps = k / 32;
  unsigned acc[2][4][2] = {};
  auto b_address = [&](unsigned bs, int row, int chunk) {
    return bs + row * 128 + ((chunk ^ (row % 8)) * 16);
  };
  auto load = [&](int step) {
    if (step < steps) {
      unsigned as = base + step % stages * (aBytes + bBytes), bs = as + aBytes;
#pragma unroll 1
      for (int e = threadIdx.x; e < 256; e += 128) {
        copy_async(swizzled(as, e / 4, e % 4),
                   a + ((long long)(row0 + e / 4) * k + step * 32) * 2 + e % 4 * 16, 16);
        copy_async(b_address(bs, e / 8, e % 8),
                   b + ((long long)(step * 32 + e / 8) * n + col0) * 2 + e % 8 * 16, 16);
      }
    }
    commit_group();
  };
  load(0);
  load(1);
  for (int step = 0; step < steps; ++step) {
    wait_group<1>();
    __syncthreads();
    load(step + 2);
    unsigned as = base + step % stages * (aBytes + bBytes), bs = as + aBytes;
#pragma unroll 1
    for (int kk = 0; kk < 2; ++kk) {
      unsigned x[2][4], y[2][4];
#pragma unroll
      for (int i = 0; i < 2; ++i)
        ldmatrix_x4(x[i], swizzled(as, warpM + i * 16 + lane % 16, 2 * kk + lane / 16));
#pragma unroll
      for (int j = 0; j < 2; ++j)
        ldmatrix_x4_trans(y[j], b_address(bs, kk * 16 + lane % 16, warpN / 8 + 2 * j + lane / 16));
#pragma unroll
      for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j)
          asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, "
                       "{%6,%7}, {%0,%1};"
                       : "+r"(acc[i][j][0]), "+r"(acc[i][j][1])
                       : "r"(x[i][0]), "r"(x[i][1]), "r"(x[i][2]), "r"(x[i][3]),
                         "r"(y[j / 2][j % 2 * 2]), "r"(y[j / 2][j % 2 * 2 + 1]));
    }
  }
#pragma unroll
  for (int i = 0; i < 2; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        int row = row0 + warpM + i * 16 + lane / 4 + e * 8;
        d[((long long)row * n + col0 + warpN + j * 8) / 2 + lane % 4] = acc[i][j][e];
      }
}

// ldmatrix .x1, .x1.trans, .x2.trans feeding m16n8k8: A [16][8] by rows or by columns, B [8][8].
extern "C" __global__ void ldmatrix_forms(const unsigned *a, const unsigned *aT, const unsigned *b,
                                          float *d) {
  __shared__ __align__(16) unsigned as[64], aTs[64], bs[32];
  int lane = threadIdx.x;
  for (int e = lane; e < 64; e += 32) {
    as[e] = a[e];
    aTs[e] = aT[e]; // [8][16]: the transpose of another A
  }
  bs[lane] = b[lane]; // rows [8 of k][8 of n]
  __syncwarp();
  unsigned x[2], xT[2], y, yT;
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
               : "=r"(x[0]) : "r"(shared_address(as) + lane % 8 * 16) : "memory");
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
               : "=r"(x[1]) : "r"(shared_address(as) + 128 + lane % 8 * 16) : "memory");
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
               : "=r"(xT[0]), "=r"(xT[1])
               : "r"(shared_address(aTs) + lane % 8 * 32 + lane / 8 % 2 * 16) : "memory");
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];"
               : "=r"(yT) : "r"(shared_address(bs) + lane % 8 * 16) : "memory");
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
               : "=r"(y) : "r"(shared_address(bs) + lane % 8 * 16) : "memory");
  float z[4] = {}, w[4] = {};
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
               : "+f"(z[0]), "+f"(z[1]), "+f"(z[2]), "+f"(z[3]) : "r"(x[0]), "r"(x[1]), "r"(yT));
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
               : "+f"(w[0]), "+f"(w[1]), "+f"(w[2]), "+f"(w[3]) : "r"(xT[0]), "r"(xT[1]), "r"(y));
  for (int e = 0; e < 4; ++e) {
    int at = (lane / 4 + e / 2 * 8) * 8 + lane % 4 * 2 + e % 2;
    d[at] = z[e];       // a x b
    d[128 + at] = w[e]; // aT' x b'
  }
}

// movmatrix turns B, loaded by rows, into the column fragment that mma wants.
extern "C" __global__ void movmatrix_form(const unsigned *a, const unsigned *b, float *d) {
  int lane = threadIdx.x, g = lane / 4, t = lane % 4;
  unsigned x[2] = {a[g * 4 + t], a[(g + 8) * 4 + t]}, y = b[g * 4 + t], yT;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(yT) : "r"(y));
  float z[4] = {};
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
               : "+f"(z[0]), "+f"(z[1]), "+f"(z[2]), "+f"(z[3]) : "r"(x[0]), "r"(x[1]), "r"(yT));
  for (int e = 0; e < 4; ++e)
    d[(g + e / 2 * 8) * 8 + t * 2 + e % 2] = z[e];
}
#else
MATMUL(matmul_mma_e4m3, MmaE4m3)

// The way out through stmatrix: two identical 16 x 8 products, one stored straight, one transposed.
extern "C" __global__ void stmatrix_forms(const unsigned *a, const unsigned *b, unsigned *straight,
                                          unsigned *transposed) {
  __shared__ __align__(16) unsigned as[128], out[64], outT[64];
  int lane = threadIdx.x;
  for (int e = lane; e < 128; e += 32)
    as[e] = a[e]; // [16][16] f16
  __syncwarp();
  unsigned x[4], y[2] = {b[lane / 4 * 8 + lane % 4], b[lane / 4 * 8 + lane % 4 + 4]}, z[2] = {};
  ldmatrix_x4(x, shared_address(as) + lane % 16 * 32 + lane / 16 * 16);
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};"
               : "+r"(z[0]), "+r"(z[1]) : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
  asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1,%2};" ::
               "r"(shared_address(out) + lane % 16 * 16), "r"(z[0]), "r"(z[1]) : "memory");
  asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1,%2};" ::
               "r"(shared_address(outT) + lane % 8 * 32 + lane / 8 % 2 * 16), "r"(z[0]), "r"(z[1]) : "memory");
  __syncwarp();
  for (int e = lane; e < 64; e += 32) {
    straight[e] = out[e];    // [16][8]
    transposed[e] = outT[e]; // [8][16]
  }
}

// A 16 x 16 product in four registers: stored by four .x1 and transposed by one .x4.trans.
extern "C" __global__ void stmatrix_wide(const unsigned *a, const unsigned *b, unsigned *straight,
                                         unsigned *transposed, unsigned *singly) {
  __shared__ __align__(16) unsigned out[128], outT[128], outS[128]; // [16][16] f16 each
  int lane = threadIdx.x, g = lane / 4, t = lane % 4;
  unsigned x[4] = {a[g * 8 + t], a[(g + 8) * 8 + t], a[g * 8 + t + 4], a[(g + 8) * 8 + t + 4]}, z[4] = {};
  for (int j = 0; j < 2; ++j) {
    unsigned y[2] = {b[(g + 8 * j) * 8 + t], b[(g + 8 * j) * 8 + t + 4]};
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};"
                 : "+r"(z[2 * j]), "+r"(z[2 * j + 1])
                 : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
  }
#pragma unroll
  for (int m = 0; m < 4; ++m) // matrix m: rows 8 (m % 2), columns 8 (m / 2)
    asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" ::
                 "r"(shared_address(out) + (m % 2 * 8 + lane % 8) * 32 + m / 2 * 16), "r"(z[m]) : "memory");
#pragma unroll
  for (int m = 0; m < 4; ++m) // the transpose of matrix m: rows 8 (m / 2), columns 8 (m % 2)
    asm volatile("stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%0], {%1};" ::
                 "r"(shared_address(outS) + (m / 2 * 8 + lane % 8) * 32 + m % 2 * 16), "r"(z[m]) : "memory");
  // lane l gives the address of row l % 8 of the transpose of matrix l / 8
  asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1,%2,%3,%4};" ::
               "r"(shared_address(outT) + (lane / 16 * 8 + lane % 8) * 32 + lane / 8 % 2 * 16),
               "r"(z[0]), "r"(z[1]), "r"(z[2]), "r"(z[3]) : "memory");
  __syncwarp();
  for (int e = lane; e < 128; e += 32) {
    straight[e] = out[e];
    transposed[e] = outT[e];
    singly[e] = outS[e];
  }
}
#endif
