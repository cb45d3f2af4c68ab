// Warpgroup matrix products of sm_90a. Lane map of the accumulators (PTX ISA, "Register Fragments for
// wgmma.mma_async.m64nNk*"): warp w has rows 16w…16w+15; element i of lane l is row l / 4 + 8 (i / 2 % 2),
// column 8 (i / 4) + 2 (l % 4) + i % 2.
#include "hopper.h"

namespace {
// A shared-memory matrix descriptor: address and both offsets in units of 16 bytes, and the swizzle.
__device__ unsigned long long descriptor(unsigned address, int leadingBytes, int strideBytes, int span) {
  unsigned long long mode = span == 128 ? 1 : span == 64 ? 2 : span == 32 ? 3 : 0;
  return ((address & 0x3ffff) >> 4) | (unsigned long long)(leadingBytes >> 4) << 16 |
         (unsigned long long)(strideBytes >> 4) << 32 | mode << 62;
}

#define D4(C, i) "+" C(d[i]), "+" C(d[i + 1]), "+" C(d[i + 2]), "+" C(d[i + 3])
#define D16(C, i) D4(C, i), D4(C, i + 4), D4(C, i + 8), D4(C, i + 12)
#define R4 "{%0,%1,%2,%3}"
#define R32                                                                                        \
  "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,"   \
  "%25,%26,%27,%28,%29,%30,%31}"
#define R64                                                                                        \
  "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,"   \
  "%25,%26,%27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,"   \
  "%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63}"

// 64 x 64, both operands K-major in shared memory. TAIL: the scale and transpose immediates.
#define WGMMA64(NAME, ACC, C, INSTRUCTION, TAIL)                                                   \
  struct NAME {                                                                                    \
    using Accumulator = ACC;                                                                       \
    static __device__ void run(ACC *d, unsigned long long a, unsigned long long b, int add) {      \
      asm volatile("{ .reg .pred p; setp.ne.b32 p, %34, 0;\n" INSTRUCTION " " R32                  \
                   ", %32, %33, p" TAIL "; }"                                                      \
                   : D16(C, 0), D16(C, 16) : "l"(a), "l"(b), "r"(add));                            \
    }                                                                                              \
  };
WGMMA64(F16, float, "f", "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16", ", 1, 1, 0, 0")
WGMMA64(Bf16, float, "f", "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16", ", 1, 1, 0, 0")
WGMMA64(Tf32, float, "f", "wgmma.mma_async.sync.aligned.m64n64k8.f32.tf32.tf32", ", 1, 1")
WGMMA64(E4m3, float, "f", "wgmma.mma_async.sync.aligned.m64n64k32.f32.e4m3.e4m3", ", 1, 1")
WGMMA64(E5m2E4m3, float, "f", "wgmma.mma_async.sync.aligned.m64n64k32.f32.e5m2.e4m3", ", 1, 1")
WGMMA64(S8, int, "r", "wgmma.mma_async.sync.aligned.m64n64k32.s32.s8.s8", "")
WGMMA64(U8S8, int, "r", "wgmma.mma_async.sync.aligned.m64n64k32.s32.u8.s8", "")
WGMMA64(E4m3E5m2, float, "f", "wgmma.mma_async.sync.aligned.m64n64k32.f32.e4m3.e5m2", ", 1, 1")
WGMMA64(E5m2, float, "f", "wgmma.mma_async.sync.aligned.m64n64k32.f32.e5m2.e5m2", ", 1, 1")
WGMMA64(S8U8, int, "r", "wgmma.mma_async.sync.aligned.m64n64k32.s32.s8.u8", "")
WGMMA64(U8, int, "r", "wgmma.mma_async.sync.aligned.m64n64k32.s32.u8.u8", "")
WGMMA64(B1, int, "r", "wgmma.mma_async.sync.aligned.m64n64k256.s32.b1.b1.and.popc", "")
WGMMA64(F16Negated, float, "f", "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16", ", -1, 1, 0, 0")

template <int Registers, typename T> __device__ void store_result(T *out, int n, const T *d) {
  struct __align__(8) Pair {
    T x, y;
  };
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  T *at = out + (16 * warp + lane / 4) * n + lane % 4 * 2;
#pragma unroll
  for (int i = 0; i < Registers; i += 2)
    *reinterpret_cast<Pair *>(at + i / 2 % 2 * 8 * n + i / 4 * 8) = Pair{d[i], d[i + 1]};
}

// Byte rows of K-major operands, copied by the threads themselves, with any swizzle. Swizzled: rows of
// `Span` bytes, one block of 64 rows for each Span bytes of k. None (16): core matrices of 8 rows x 16
// bytes, those along k first (leading offset 128), then those along m (stride offset 8 * 128).
template <int Span> __device__ void fill_operand(char *smem, const char *rows, int rowBytes) {
#pragma unroll 1
  for (int e = threadIdx.x; e < 64 * 128 / 16; e += 128) {
    int row = e / 8, byte = e % 8 * 16; // 128 bytes of k
    unsigned to = Span == 16 ? row / 8 * 1024 + byte / 16 * 128 + row % 8 * 16
                             : byte / Span * (64 * Span) + swizzled(row * Span + byte % Span, Span);
    *reinterpret_cast<uint4 *>(smem + to) =
        *reinterpret_cast<const uint4 *>(rows + (size_t)row * rowBytes + byte);
  }
}

template <typename Op, int Span>
__device__ void product_from_threads(int kBytes, const char *a, const char *b,
                                     typename Op::Accumulator *out) {
  __shared__ __align__(1024) char as[64 * 128], bs[64 * 128];
  typename Op::Accumulator d[32];
#pragma unroll 1
  for (int k0 = 0; k0 < kBytes; k0 += 128) {
    fill_operand<Span>(as, a + k0, kBytes);
    fill_operand<Span>(bs, b + k0, kBytes);
    proxy_fence();
    __syncthreads();
    wgmma_fence();
#pragma unroll
    for (int kk = 0; kk < 4; ++kk) { // 32 bytes of k an instruction
      unsigned at = Span == 16 ? kk * 256 : kk * 32 / Span * (64 * Span) + kk * 32 % Span;
      int leading = Span == 16 ? 128 : 16, stride = Span == 16 ? 1024 : 8 * Span;
      Op::run(d, descriptor(shared_address(as) + at, leading, stride, Span),
              descriptor(shared_address(bs) + at, leading, stride, Span), k0 + kk > 0);
    }
    wgmma_commit();
    wgmma_wait<0>();
    __syncthreads();
  }
  store_result<32>(out, 64, d);
}
} // namespace

#define WGMMA_KERNEL(NAME, OP, SPAN)                                                               \
  extern "C" __global__ void __launch_bounds__(128)                                                \
      NAME(int kBytes, const char *a, const char *b, OP::Accumulator *d) {                         \
    product_from_threads<OP, SPAN>(kBytes, a, b, d);                                               \
  }
WGMMA_KERNEL(wgmma_f16_128b, F16, 128)
WGMMA_KERNEL(wgmma_f16_64b, F16, 64)
WGMMA_KERNEL(wgmma_f16_32b, F16, 32)
WGMMA_KERNEL(wgmma_f16_plain, F16, 16)
WGMMA_KERNEL(wgmma_f16_negated, F16Negated, 128)
WGMMA_KERNEL(wgmma_bf16, Bf16, 128)
WGMMA_KERNEL(wgmma_tf32, Tf32, 128)
WGMMA_KERNEL(wgmma_e4m3, E4m3, 128)
WGMMA_KERNEL(wgmma_e5m2_e4m3, E5m2E4m3, 64)
WGMMA_KERNEL(wgmma_s8, S8, 128)
WGMMA_KERNEL(wgmma_u8_s8, U8S8, 32)
WGMMA_KERNEL(wgmma_e4m3_e5m2, E4m3E5m2, 128)
WGMMA_KERNEL(wgmma_e5m2, E5m2, 128)
WGMMA_KERNEL(wgmma_s8_u8, S8U8, 128)
WGMMA_KERNEL(wgmma_u8, U8, 64)
WGMMA_KERNEL(wgmma_b1, B1, 128)

// The whole machine: TMA with 128-byte swizzle, two stages on mbarriers, one product in flight while the
// next tile arrives. Tile 64 x 64, k-step 64; A [M][K] and B [N][K].
extern "C" __global__ void __launch_bounds__(128)
    matmul_wgmma_tma(const __grid_constant__ CUtensorMap mapA, const __grid_constant__ CUtensorMap mapB,
                     int n, int steps, float *out) {
  extern __shared__ __align__(1024) char smem[];
  __shared__ unsigned long long full[2];
  constexpr int tile = 64 * 128, stage = 2 * tile;
  auto load = [&](int step) {
    char *to = smem + step % 2 * stage;
    mbarrier_expect(&full[step % 2], stage);
    tma_load_2d(to, &mapA, &full[step % 2], step * 64, blockIdx.y * 64);
    tma_load_2d(to + tile, &mapB, &full[step % 2], step * 64, blockIdx.x * 64);
  };
  if (threadIdx.x == 0) {
    mbarrier_init(&full[0], 1);
    mbarrier_init(&full[1], 1);
    mbarrier_init_fence();
    load(0);
  }
  __syncthreads();
  float d[32];
  for (int step = 0; step < steps; ++step) {
    if (threadIdx.x == 0 && step + 1 < steps)
      load(step + 1); // its stage was released by the wait and the barrier of the last round
    mbarrier_wait(&full[step % 2], step / 2 & 1);
    unsigned as = shared_address(smem) + step % 2 * stage, bs = as + tile;
    wgmma_fence();
#pragma unroll
    for (int kk = 0; kk < 4; ++kk)
      F16::run(d, descriptor(as + kk * 32, 16, 1024, 128), descriptor(bs + kk * 32, 16, 1024, 128),
               step + kk > 0);
    wgmma_commit();
    wgmma_wait<0>();
    __syncthreads();
  }
  store_result<32>(out + (size_t)blockIdx.y * 64 * n + blockIdx.x * 64, n, d);
}

// B as rows [K][N] (MN-major, transposed by the descriptor): 128 columns in two blocks of 64, which the
// leading offset separates; the stride offset separates groups of 8 k.
extern "C" __global__ void __launch_bounds__(128)
    wgmma_f16_transposed(int k, const char *a, const char *b, float *out) {
  __shared__ __align__(1024) char as[64 * 128], bs[2 * 64 * 128];
  float d[64];
#pragma unroll 1
  for (int k0 = 0; k0 < k; k0 += 64) {
    fill_operand<128>(as, a + k0 * 2, k * 2);
#pragma unroll 1
    for (int e = threadIdx.x; e < 64 * 16; e += 128) {
      int row = e / 16, chunk = e % 16; // row: k; chunk: 8 columns
      *reinterpret_cast<uint4 *>(bs + chunk / 8 * 8192 + swizzled(row * 128 + chunk % 8 * 16, 128)) =
          *reinterpret_cast<const uint4 *>(b + (size_t)(k0 + row) * 256 + chunk * 16);
    }
    proxy_fence();
    __syncthreads();
    wgmma_fence();
#pragma unroll
    for (int kk = 0; kk < 4; ++kk)
      asm volatile("{ .reg .pred p; setp.ne.b32 p, %66, 0;\n"
                   "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 " R64
                   ", %64, %65, p, 1, 1, 0, 1; }"
                   : D16("f", 0), D16("f", 16), D16("f", 32), D16("f", 48)
                   : "l"(descriptor(shared_address(as) + kk * 32, 16, 1024, 128)),
                     "l"(descriptor(shared_address(bs) + kk * 2048, 8192, 1024, 128)), "r"(k0 + kk));
    wgmma_commit();
    wgmma_wait<0>();
    __syncthreads();
  }
  store_result<64>(out, 128, d);
}

// A in registers (the fragment of m16n8k16 in each warp), B in shared memory, N = 8; two groups in flight.
extern "C" __global__ void __launch_bounds__(128)
    wgmma_f16_registers(const unsigned *a, const char *b, float *out) {
  __shared__ __align__(1024) char bs[8 * 128];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (threadIdx.x < 64) // 8 columns x 64 of k
    *reinterpret_cast<uint4 *>(bs + swizzled(threadIdx.x * 16, 128)) =
        reinterpret_cast<const uint4 *>(b)[threadIdx.x];
  proxy_fence();
  __syncthreads();
  unsigned x[4][4];
#pragma unroll
  for (int kk = 0; kk < 4; ++kk)
#pragma unroll
    for (int i = 0; i < 4; ++i)
      x[kk][i] = a[(16 * warp + lane / 4 + i % 2 * 8) * 32 + kk * 8 + lane % 4 + i / 2 * 4];
  float d[4]; // not zeroed: the compiler would move that behind the fence; the first product does not add
  wgmma_fence();
#pragma unroll
  for (int kk = 0; kk < 4; ++kk) {
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %9, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 " R4
                 ", {%4,%5,%6,%7}, %8, p, 1, 1, 0; }"
                 : D4("f", 0)
                 : "r"(x[kk][0]), "r"(x[kk][1]), "r"(x[kk][2]), "r"(x[kk][3]),
                   "l"(descriptor(shared_address(bs) + kk * 32, 16, 1024, 128)), "r"(kk));
    wgmma_commit();
  }
  wgmma_wait<1>();
  wgmma_wait<0>();
  store_result<4>(out, 8, d);
}

// f16 accumulators: two columns a register.
#define WGMMA_F16(NAME, TYPES, TAIL)                                                               \
  extern "C" __global__ void __launch_bounds__(128)                                                \
      NAME(const char *a, const char *b, unsigned *out) {                                          \
    __shared__ __align__(1024) char as[64 * 128], bs[16 * 128];                                    \
    fill_operand<128>(as, a, 128);                                                                 \
    *reinterpret_cast<uint4 *>(bs + swizzled(threadIdx.x * 16, 128)) =                             \
        reinterpret_cast<const uint4 *>(b)[threadIdx.x];                                           \
    proxy_fence();                                                                                 \
    __syncthreads();                                                                               \
    unsigned d[4];                                                                                 \
    wgmma_fence();                                                                                 \
    _Pragma("unroll") for (int kk = 0; kk < 4; ++kk)                                               \
      asm volatile("{ .reg .pred p; setp.ne.b32 p, %6, 0;\n"                                       \
                   "wgmma.mma_async.sync.aligned." TYPES " " R4 ", %4, %5, p, 1, 1" TAIL "; }"     \
                   : D4("r", 0)                                                                    \
                   : "l"(descriptor(shared_address(as) + kk * 32, 16, 1024, 128)),                 \
                     "l"(descriptor(shared_address(bs) + kk * 32, 16, 1024, 128)), "r"(kk));       \
    wgmma_commit();                                                                                \
    wgmma_wait<0>();                                                                               \
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;                                          \
    for (int i = 0; i < 4; ++i)                                                                    \
      out[(16 * warp + lane / 4 + i % 2 * 8) * 8 + i / 2 * 4 + lane % 4] = d[i];                   \
  }
WGMMA_F16(wgmma_f16_f16, "m64n16k16.f16.f16.f16", ", 0, 0")
WGMMA_F16(wgmma_e4m3_f16, "m64n16k32.f16.e4m3.e4m3", "")
WGMMA_F16(wgmma_e4m3_e5m2_f16, "m64n16k32.f16.e4m3.e5m2", "")
WGMMA_F16(wgmma_e5m2_e4m3_f16, "m64n16k32.f16.e5m2.e4m3", "")
WGMMA_F16(wgmma_e5m2_f16, "m64n16k32.f16.e5m2.e5m2", "")

// Both operands as rows of k (A [K][64], B [K][64]), both transposed by the descriptors.
extern "C" __global__ void __launch_bounds__(128)
    wgmma_f16_both_transposed(int k, const char *a, const char *b, float *out) {
  __shared__ __align__(1024) char as[64 * 128], bs[64 * 128];
  float d[32];
#pragma unroll 1
  for (int k0 = 0; k0 < k; k0 += 64) {
    fill_operand<128>(as, a + k0 * 128, 128); // a row is one k, 64 columns of m or n
    fill_operand<128>(bs, b + k0 * 128, 128);
    proxy_fence();
    __syncthreads();
    wgmma_fence();
#pragma unroll
    for (int kk = 0; kk < 4; ++kk)
      asm volatile("{ .reg .pred p; setp.ne.b32 p, %34, 0;\n"
                   "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 " R32 ", %32, %33, p, 1, 1, 1, 1; }"
                   : D16("f", 0), D16("f", 16)
                   : "l"(descriptor(shared_address(as) + kk * 2048, 8192, 1024, 128)),
                     "l"(descriptor(shared_address(bs) + kk * 2048, 8192, 1024, 128)), "r"(k0 + kk));
    wgmma_commit();
    wgmma_wait<0>();
    __syncthreads();
  }
  store_result<32>(out, 64, d);
}

// Other widths: A [64][64], B [N][64], one round.
#define WGMMA_WIDTH(N, REGISTERS, LIST, DESCRIPTORS, PREDICATE, OUTPUTS)                           \
  extern "C" __global__ void __launch_bounds__(128)                                                \
      wgmma_f16_n##N(const char *a, const char *b, float *out) {                                   \
    extern __shared__ __align__(1024) char smem[]; /* A: 8192 bytes, then B */                     \
    fill_operand<128>(smem, a, 128);                                                               \
    _Pragma("unroll 1") for (int e = threadIdx.x; e < N * 8; e += 128)                             \
      *reinterpret_cast<uint4 *>(smem + 8192 + swizzled(e * 16, 128)) =                            \
          reinterpret_cast<const uint4 *>(b)[e];                                                   \
    proxy_fence();                                                                                 \
    __syncthreads();                                                                               \
    float d[REGISTERS];                                                                            \
    wgmma_fence();                                                                                 \
    _Pragma("unroll") for (int kk = 0; kk < 4; ++kk) {                                             \
      unsigned at = shared_address(smem) + kk * 32;                                                \
      asm volatile("{ .reg .pred p; setp.ne.b32 p, " PREDICATE ", 0;\n"                            \
                   "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32.f16.f16 " LIST                  \
                   ", " DESCRIPTORS ", p, 1, 1, 0, 0; }"                                           \
                   : OUTPUTS                                                                       \
                   : "l"(descriptor(at, 16, 1024, 128)), "l"(descriptor(at + 8192, 16, 1024, 128)),\
                     "r"(kk));                                                                     \
    }                                                                                              \
    wgmma_commit();                                                                                \
    wgmma_wait<0>();                                                                               \
    store_result<REGISTERS>(out, N, d);                                                            \
  }
#define COMMA ,
#define D48(i) D16("f", i) COMMA D16("f", i + 16) COMMA D16("f", i + 32)
#define R12 \
  "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11}"
#define R52 \
  "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21," \
  "%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41," \
  "%42,%43,%44,%45,%46,%47,%48,%49,%50,%51}"
#define R128 \
  "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21," \
  "%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41," \
  "%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61," \
  "%62,%63,%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79,%80,%81," \
  "%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95,%96,%97,%98,%99,%100," \
  "%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111,%112,%113,%114,%115,%116," \
  "%117,%118,%119,%120,%121,%122,%123,%124,%125,%126,%127}"
WGMMA_WIDTH(24, 12, R12, "%12, %13", "%14", D4("f", 0) COMMA D4("f", 4) COMMA D4("f", 8))
WGMMA_WIDTH(104, 52, R52, "%52, %53", "%54", D48(0) COMMA D4("f", 48))
WGMMA_WIDTH(256, 128, R128, "%128, %129", "%130",
            D48(0) COMMA D48(48) COMMA D16("f", 96) COMMA D16("f", 112))
