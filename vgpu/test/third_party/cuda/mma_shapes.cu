// One warp, one mma.sync shape: every operand is gathered from global memory element by element with
// the lane map of the PTX ISA ("Matrix Fragments for mma.m*n*k*"), so that the result depends on each
// lane holding the right element. D = A x B + C; A is [16 or 8][K], B is given as [8][K] (columns).
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

// A row of elements of `Bits` bits each, packed into words; element 0 lies in the low bits.
template <int Bits> __device__ unsigned gather(const unsigned *matrix, int k, int row, int col) {
  return matrix[(row * k + col) * Bits / 32];
}

// The word a lane holds for words `word` of its A (or B) rows: lane group g picks the row, lane%4 the
// word within 4, register index the further rows (odd registers of A: +8) and words (+4).
template <int Bits, int ARegs> __device__ void load_a(const unsigned *a, int k, unsigned *r) {
  int g = threadIdx.x / 4, t = threadIdx.x % 4, perWord = 32 / Bits;
  for (int i = 0; i < ARegs; ++i)
    r[i] = gather<Bits>(a, k, g + 8 * (i % 2), (t + 4 * (i / 2)) * perWord);
}
template <int Bits, int BRegs> __device__ void load_b(const unsigned *b, int k, unsigned *r) {
  int g = threadIdx.x / 4, t = threadIdx.x % 4, perWord = 32 / Bits;
  for (int i = 0; i < BRegs; ++i)
    r[i] = gather<Bits>(b, k, g, (t + 4 * i) * perWord);
}
// Accumulator element i of a lane: row g (+8 for i >= 2), column 2t + i%2.
__device__ int accumulator_index(int i) {
  int g = threadIdx.x / 4, t = threadIdx.x % 4;
  return (g + 8 * (i / 2)) * 8 + 2 * t + i % 2;
}

// 4 x 32-bit accumulators ("f" or "r"), A registers in {a…}, B registers in {b…}.
#define MMA16(NAME, INSTRUCTION, BITS, K, AREGS, BREGS, ACC, C, AOPS, BOPS, INPUTS)                \
  extern "C" __global__ void NAME(const unsigned *a, const unsigned *b, const ACC *c, ACC *d) {     \
    unsigned x[AREGS], y[BREGS];                                                                   \
    load_a<BITS, AREGS>(a, K, x);                                                                  \
    load_b<BITS, BREGS>(b, K, y);                                                                  \
    ACC z[4];                                                                                      \
    for (int i = 0; i < 4; ++i)                                                                    \
      z[i] = c[accumulator_index(i)];                                                              \
    asm volatile(INSTRUCTION " {%0,%1,%2,%3}, " AOPS ", " BOPS ", {%0,%1,%2,%3};"                  \
                 : "+" C(z[0]), "+" C(z[1]), "+" C(z[2]), "+" C(z[3])                              \
                 : INPUTS);                                                                        \
    for (int i = 0; i < 4; ++i)                                                                    \
      d[accumulator_index(i)] = z[i];                                                              \
  }
#define COMMA ,
#define IN21 "r"(x[0]) COMMA "r"(x[1]) COMMA "r"(y[0])
#define IN42 "r"(x[0]) COMMA "r"(x[1]) COMMA "r"(x[2]) COMMA "r"(x[3]) COMMA "r"(y[0]) COMMA "r"(y[1])
#define MMA_21(NAME, INSTRUCTION, BITS, K, ACC, C)                                                 \
  MMA16(NAME, INSTRUCTION, BITS, K, 2, 1, ACC, C, "{%4,%5}", "{%6}", IN21)
#define MMA_42(NAME, INSTRUCTION, BITS, K, ACC, C)                                                 \
  MMA16(NAME, INSTRUCTION, BITS, K, 4, 2, ACC, C, "{%4,%5,%6,%7}", "{%8,%9}", IN42)

#if __CUDA_ARCH__ < 890 || !defined(__CUDA_ARCH__)
MMA_21(mma_m16n8k8_f16_f32, "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", 16, 8, float, "f")
MMA_21(mma_m16n8k8_bf16, "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32", 16, 8, float, "f")
MMA_42(mma_m16n8k16_f16_f32, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 16, 16, float, "f")
MMA_42(mma_m16n8k16_bf16, "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", 16, 16, float, "f")
MMA_21(mma_m16n8k4_tf32, "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", 32, 4, float, "f")
MMA_42(mma_m16n8k8_tf32, "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 32, 8, float, "f")
MMA_21(mma_m16n8k16_u8, "mma.sync.aligned.m16n8k16.row.col.s32.u8.u8.s32", 8, 16, int, "r")
MMA_21(mma_m16n8k16_s8, "mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32", 8, 16, int, "r")
MMA_42(mma_m16n8k32_s8, "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", 8, 32, int, "r")
MMA_42(mma_m16n8k32_u8s8, "mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32", 8, 32, int, "r")
MMA_42(mma_m16n8k32_s8_sat, "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32", 8, 32, int, "r")
MMA_21(mma_m16n8k32_s4, "mma.sync.aligned.m16n8k32.row.col.s32.s4.s4.s32", 4, 32, int, "r")
MMA_42(mma_m16n8k64_s4, "mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32", 4, 64, int, "r")
MMA_42(mma_m16n8k64_u4s4, "mma.sync.aligned.m16n8k64.row.col.s32.u4.s4.s32", 4, 64, int, "r")
MMA_21(mma_m16n8k16_s8u8, "mma.sync.aligned.m16n8k16.row.col.s32.s8.u8.s32", 8, 16, int, "r")
MMA_21(mma_m16n8k16_u8s8, "mma.sync.aligned.m16n8k16.row.col.s32.u8.s8.s32", 8, 16, int, "r")
MMA_42(mma_m16n8k32_s8u8, "mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32", 8, 32, int, "r")
MMA_42(mma_m16n8k32_u8, "mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32", 8, 32, int, "r")
MMA_21(mma_m16n8k32_s4u4, "mma.sync.aligned.m16n8k32.row.col.s32.s4.u4.s32", 4, 32, int, "r")
MMA_21(mma_m16n8k32_u4s4, "mma.sync.aligned.m16n8k32.row.col.s32.u4.s4.s32", 4, 32, int, "r")
MMA_21(mma_m16n8k32_u4, "mma.sync.aligned.m16n8k32.row.col.s32.u4.u4.s32", 4, 32, int, "r")
MMA_42(mma_m16n8k64_s4u4, "mma.sync.aligned.m16n8k64.row.col.s32.s4.u4.s32", 4, 64, int, "r")
MMA_42(mma_m16n8k64_u4, "mma.sync.aligned.m16n8k64.row.col.s32.u4.u4.s32", 4, 64, int, "r")
MMA_21(mma_m16n8k128_b1_xor, "mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.xor.popc", 1, 128, int, "r")
MMA_42(mma_m16n8k256_b1_xor, "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc", 1, 256, int, "r")
MMA_21(mma_m16n8k128_b1_and, "mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.and.popc", 1, 128, int, "r")
MMA_42(mma_m16n8k256_b1_and, "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc", 1, 256, int, "r")

// f16 accumulators: two registers, rows g and g + 8, columns 2t and 2t + 1 packed.
template <int K> __device__ void mma_f16_f16(const unsigned *a, const unsigned *b, const unsigned *c,
                                             unsigned *d) {
  unsigned x[4], y[2], z[2];
  load_a<16, K / 4>(a, K, x);
  load_b<16, K / 8>(b, K, y);
  for (int i = 0; i < 2; ++i)
    z[i] = c[accumulator_index(2 * i) / 2];
  if (K == 8)
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3}, {%4}, {%0,%1};"
                 : "+r"(z[0]), "+r"(z[1]) : "r"(x[0]), "r"(x[1]), "r"(y[0]));
  else
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};"
                 : "+r"(z[0]), "+r"(z[1])
                 : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
  for (int i = 0; i < 2; ++i)
    d[accumulator_index(2 * i) / 2] = z[i];
}
extern "C" __global__ void mma_m16n8k8_f16_f16(const unsigned *a, const unsigned *b, const unsigned *c, unsigned *d) {
  mma_f16_f16<8>(a, b, c, d);
}
extern "C" __global__ void mma_m16n8k16_f16_f16(const unsigned *a, const unsigned *b, const unsigned *c, unsigned *d) {
  mma_f16_f16<16>(a, b, c, d);
}

// m8n8 integers: one register of A and of B, two accumulators.
#define MMA8(NAME, INSTRUCTION, BITS, K)                                                           \
  extern "C" __global__ void NAME(const unsigned *a, const unsigned *b, const int *c, int *d) {     \
    unsigned x[1], y[1];                                                                           \
    load_a<BITS, 1>(a, K, x);                                                                      \
    load_b<BITS, 1>(b, K, y);                                                                      \
    int z[2] = {c[accumulator_index(0)], c[accumulator_index(1)]};                                 \
    asm volatile(INSTRUCTION " {%0,%1}, {%2}, {%3}, {%0,%1};"                                      \
                 : "+r"(z[0]), "+r"(z[1]) : "r"(x[0]), "r"(y[0]));                                 \
    d[accumulator_index(0)] = z[0];                                                                \
    d[accumulator_index(1)] = z[1];                                                                \
  }
MMA8(mma_m8n8k16_s8, "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32", 8, 16)
MMA8(mma_m8n8k16_s8u8, "mma.sync.aligned.m8n8k16.row.col.s32.s8.u8.s32", 8, 16)
MMA8(mma_m8n8k32_s4, "mma.sync.aligned.m8n8k32.row.col.s32.s4.s4.s32", 4, 32)
MMA8(mma_m8n8k32_u4, "mma.sync.aligned.m8n8k32.row.col.s32.u4.u4.s32", 4, 32)
MMA8(mma_m8n8k16_u8s8, "mma.sync.aligned.m8n8k16.row.col.s32.u8.s8.s32", 8, 16)
MMA8(mma_m8n8k16_u8, "mma.sync.aligned.m8n8k16.row.col.s32.u8.u8.s32", 8, 16)
MMA8(mma_m8n8k32_s4u4, "mma.sync.aligned.m8n8k32.row.col.s32.s4.u4.s32", 4, 32)
MMA8(mma_m8n8k32_u4s4, "mma.sync.aligned.m8n8k32.row.col.s32.u4.s4.s32", 4, 32)
MMA8(mma_m8n8k128_b1_and, "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.and.popc", 1, 128)
MMA8(mma_m8n8k128_b1_xor, "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc", 1, 128)

// m8n8k4.f64: lane holds A[g][t], B[t][g], C[g][2t..2t+1].
extern "C" __global__ void mma_m8n8k4_f64(const double *a, const double *b, const double *c, double *d) {
  int g = threadIdx.x / 4, t = threadIdx.x % 4;
  double z0 = c[g * 8 + 2 * t], z1 = c[g * 8 + 2 * t + 1];
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
               : "+d"(z0), "+d"(z1) : "d"(a[g * 4 + t]), "d"(b[g * 4 + t]));
  d[g * 8 + 2 * t] = z0;
  d[g * 8 + 2 * t + 1] = z1;
}

// m8n8k4.f16 (Volta's): four independent products, one a quad pair {4q..4q+3, 16+4q..19+4q}. Lane l
// holds row (A) and column (B) l % 4, + 4 in the upper half; of the f32 accumulators element i is row
// (l & 1) + (i & 2) (+ 4), column (i & 4) + (l & 2) + (i & 1). Products are stored one after another.
template <bool ARow, bool BCol>
__device__ void mma_quad_pairs(const __half *a, const __half *b, const float *c, float *d) {
  int l = threadIdx.x, q = l % 16 / 4, high = l / 16 * 4;
  a += q * 32, b += q * 32, c += q * 64, d += q * 64;
  __half x[4], y[4];
  for (int i = 0; i < 4; ++i) {
    // row-major A: a lane has a row of 4; column-major: column l % 4, four rows of its half.
    x[i] = ARow ? a[(l % 4 + high) * 4 + i] : a[(i + high) * 4 + l % 4];
    y[i] = BCol ? b[(l % 4 + high) * 4 + i] : b[(i + high) * 4 + l % 4];
  }
  float z[8];
  for (int i = 0; i < 8; ++i)
    z[i] = c[((l & 1) + (i & 2) + high) * 8 + (i & 4) + (l & 2) + (i & 1)];
  const unsigned *xr = reinterpret_cast<const unsigned *>(x), *yr = reinterpret_cast<const unsigned *>(y);
#define QUAD(LAYOUT)                                                                               \
  asm volatile("mma.sync.aligned.m8n8k4." LAYOUT ".f32.f16.f16.f32 {%0,%1,%2,%3,%4,%5,%6,%7}, "    \
               "{%8,%9}, {%10,%11}, {%0,%1,%2,%3,%4,%5,%6,%7};"                                    \
               : "+f"(z[0]), "+f"(z[1]), "+f"(z[2]), "+f"(z[3]), "+f"(z[4]), "+f"(z[5]),           \
                 "+f"(z[6]), "+f"(z[7])                                                            \
               : "r"(xr[0]), "r"(xr[1]), "r"(yr[0]), "r"(yr[1]))
  if (ARow && BCol)
    QUAD("row.col");
  else if (ARow)
    QUAD("row.row");
  else if (BCol)
    QUAD("col.col");
  else
    QUAD("col.row");
  for (int i = 0; i < 8; ++i)
    d[((l & 1) + (i & 2) + high) * 8 + (i & 4) + (l & 2) + (i & 1)] = z[i];
}
#define QUAD_KERNEL(NAME, AROW, BCOL)                                                              \
  extern "C" __global__ void NAME(const __half *a, const __half *b, const float *c, float *d) {     \
    mma_quad_pairs<AROW, BCOL>(a, b, c, d);                                                        \
  }

// With f16 accumulators a lane has row l % 4 (+ 4) of its product, all eight columns.
template <bool ARow, bool BCol>
__device__ void mma_quad_pairs_f16(const __half *a, const __half *b, const uint4 *c, uint4 *d) {
  int l = threadIdx.x, q = l % 16 / 4, high = l / 16 * 4, at = q * 8 + l % 4 + high;
  a += q * 32, b += q * 32;
  __half x[4], y[4];
  for (int i = 0; i < 4; ++i) {
    x[i] = ARow ? a[(l % 4 + high) * 4 + i] : a[(i + high) * 4 + l % 4];
    y[i] = BCol ? b[(l % 4 + high) * 4 + i] : b[(i + high) * 4 + l % 4];
  }
  uint4 z = c[at];
  const unsigned *xr = reinterpret_cast<const unsigned *>(x), *yr = reinterpret_cast<const unsigned *>(y);
#define QUAD_F16(LAYOUT)                                                                           \
  asm volatile("mma.sync.aligned.m8n8k4." LAYOUT ".f16.f16.f16.f16 {%0,%1,%2,%3}, {%4,%5}, "       \
               "{%6,%7}, {%0,%1,%2,%3};"                                                           \
               : "+r"(z.x), "+r"(z.y), "+r"(z.z), "+r"(z.w)                                        \
               : "r"(xr[0]), "r"(xr[1]), "r"(yr[0]), "r"(yr[1]))
  if (ARow && BCol)
    QUAD_F16("row.col");
  else if (ARow)
    QUAD_F16("row.row");
  else if (BCol)
    QUAD_F16("col.col");
  else
    QUAD_F16("col.row");
  d[at] = z;
}
#define QUAD_F16_KERNEL(NAME, AROW, BCOL)                                                          \
  extern "C" __global__ void NAME(const __half *a, const __half *b, const uint4 *c, uint4 *d) {     \
    mma_quad_pairs_f16<AROW, BCOL>(a, b, c, d);                                                    \
  }
QUAD_F16_KERNEL(mma_m8n8k4_f16_f16, true, true)
QUAD_F16_KERNEL(mma_m8n8k4_f16_f16_row_row, true, false)
QUAD_F16_KERNEL(mma_m8n8k4_f16_f16_col_col, false, true)
QUAD_F16_KERNEL(mma_m8n8k4_f16_f16_col_row, false, false)
QUAD_KERNEL(mma_m8n8k4_f16_row_col, true, true)
QUAD_KERNEL(mma_m8n8k4_f16_row_row, true, false)
QUAD_KERNEL(mma_m8n8k4_f16_col_col, false, true)
QUAD_KERNEL(mma_m8n8k4_f16_col_row, false, false)
#else
// sm_89 and later: fp8; sm_90: the larger f64 shapes.
MMA_21(mma_m16n8k16_e4m3, "mma.sync.aligned.m16n8k16.row.col.f32.e4m3.e4m3.f32", 8, 16, float, "f")
MMA_21(mma_m16n8k16_e4m3_e5m2, "mma.sync.aligned.m16n8k16.row.col.f32.e4m3.e5m2.f32", 8, 16, float, "f")
MMA_21(mma_m16n8k16_e5m2_e4m3, "mma.sync.aligned.m16n8k16.row.col.f32.e5m2.e4m3.f32", 8, 16, float, "f")
MMA_21(mma_m16n8k16_e5m2, "mma.sync.aligned.m16n8k16.row.col.f32.e5m2.e5m2.f32", 8, 16, float, "f")
MMA_42(mma_m16n8k32_e4m3, "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", 8, 32, float, "f")
MMA_42(mma_m16n8k32_e5m2, "mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32", 8, 32, float, "f")
MMA_42(mma_m16n8k32_e5m2_e4m3, "mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e4m3.f32", 8, 32, float, "f")
MMA_42(mma_m16n8k32_e4m3_e5m2, "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32", 8, 32, float, "f")

// f16 accumulators, as for f16 operands.
#define F16_21 "{%2,%3}, {%6}"
#define F16_42 "{%2,%3,%4,%5}, {%6,%7}"
#define MMA_F16(NAME, TYPES, K)                                                                    \
  extern "C" __global__ void NAME(const unsigned *a, const unsigned *b, const unsigned *c,          \
                                  unsigned *d) {                                                   \
    unsigned x[4] = {}, y[2] = {}, z[2] = {c[accumulator_index(0) / 2], c[accumulator_index(2) / 2]}; \
    load_a<8, K / 8>(a, K, x);                                                                     \
    load_b<8, K / 16>(b, K, y);                                                                    \
    if (K == 16)                                                                                   \
      asm volatile("mma.sync.aligned.m16n8k16.row.col.f16." TYPES ".f16 {%0,%1}, " F16_21          \
                   ", {%0,%1};"                                                                    \
                   : "+r"(z[0]), "+r"(z[1])                                                        \
                   : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));            \
    else                                                                                           \
      asm volatile("mma.sync.aligned.m16n8k32.row.col.f16." TYPES ".f16 {%0,%1}, " F16_42          \
                   ", {%0,%1};"                                                                    \
                   : "+r"(z[0]), "+r"(z[1])                                                        \
                   : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));            \
    d[accumulator_index(0) / 2] = z[0];                                                            \
    d[accumulator_index(2) / 2] = z[1];                                                            \
  }
MMA_F16(mma_m16n8k16_e4m3_f16, "e4m3.e4m3", 16)
MMA_F16(mma_m16n8k16_e4m3_e5m2_f16, "e4m3.e5m2", 16)
MMA_F16(mma_m16n8k16_e5m2_e4m3_f16, "e5m2.e4m3", 16)
MMA_F16(mma_m16n8k16_e5m2_f16, "e5m2.e5m2", 16)
MMA_F16(mma_m16n8k32_e4m3_f16, "e4m3.e4m3", 32)
MMA_F16(mma_m16n8k32_e4m3_e5m2_f16, "e4m3.e5m2", 32)
MMA_F16(mma_m16n8k32_e5m2_e4m3_f16, "e5m2.e4m3", 32)
MMA_F16(mma_m16n8k32_e5m2_f16, "e5m2.e5m2", 32)

// f64 with 16 rows: A element i is row g + 8 (i % 2), column t + 4 (i / 2); B element i is row t + 4 i.
template <int K> __device__ void mma_f64(const double *a, const double *b, const double *c, double *d) {
  int g = threadIdx.x / 4, t = threadIdx.x % 4;
  double x[8], y[4], z[4];
  for (int i = 0; i < K / 2; ++i)
    x[i] = a[(g + 8 * (i % 2)) * K + t + 4 * (i / 2)];
  for (int i = 0; i < K / 4; ++i)
    y[i] = b[g * K + t + 4 * i];
  for (int i = 0; i < 4; ++i)
    z[i] = c[accumulator_index(i)];
#define F64_D "{%0,%1,%2,%3}"
#define F64_Z "+d"(z[0]), "+d"(z[1]), "+d"(z[2]), "+d"(z[3])
  if (K == 4)
    asm volatile("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 " F64_D ", {%4,%5}, {%6}, " F64_D ";"
                 : F64_Z : "d"(x[0]), "d"(x[1]), "d"(y[0]));
  else if (K == 8)
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 " F64_D ", {%4,%5,%6,%7}, {%8,%9}, " F64_D ";"
                 : F64_Z : "d"(x[0]), "d"(x[1]), "d"(x[2]), "d"(x[3]), "d"(y[0]), "d"(y[1]));
  else
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 " F64_D
                 ", {%4,%5,%6,%7,%8,%9,%10,%11}, {%12,%13,%14,%15}, " F64_D ";"
                 : F64_Z
                 : "d"(x[0]), "d"(x[1]), "d"(x[2]), "d"(x[3]), "d"(x[4]), "d"(x[5]), "d"(x[6]),
                   "d"(x[7]), "d"(y[0]), "d"(y[1]), "d"(y[2]), "d"(y[3]));
  for (int i = 0; i < 4; ++i)
    d[accumulator_index(i)] = z[i];
}
#define F64_KERNEL(NAME, K)                                                                        \
  extern "C" __global__ void NAME(const double *a, const double *b, const double *c, double *d) {   \
    mma_f64<K>(a, b, c, d);                                                                        \
  }
F64_KERNEL(mma_m16n8k4_f64, 4)
F64_KERNEL(mma_m16n8k8_f64, 8)
F64_KERNEL(mma_m16n8k16_f64, 16)
#endif
