// Integer and bit instructions as the compiler and the intrinsics emit them.
#include <cuda_runtime.h>
typedef unsigned long long u64;
typedef long long s64;

extern "C" __global__ void bit_tricks(const unsigned *a, const unsigned *b, unsigned *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned x = a[i], y = b[i], *o = out + i * 16, r;
  o[0] = __popc(x);
  o[1] = __clz(x);
  o[2] = __brev(x);
  o[3] = __ffs(x);
  o[4] = __byte_perm(x, y, 0x3715);
  o[5] = __byte_perm(x, y, y & 0xffff);
  o[6] = __funnelshift_l(x, y, y & 63);
  o[7] = __funnelshift_rc(x, y, y & 63);
  asm("lop3.b32 %0, %1, %2, %3, 0xd4;" : "=r"(r) : "r"(x), "r"(y), "r"(x * 3u));
  o[8] = r;
  asm("bfe.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y & 31), "r"((y >> 5) & 31));
  o[9] = r;
  asm("bfe.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y & 31), "r"((y >> 5) & 31));
  o[10] = r;
  asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(r) : "r"(x), "r"(y), "r"(y & 31), "r"((x >> 7) & 15));
  o[11] = r;
  asm("bfind.u32 %0, %1;" : "=r"(r) : "r"(x));
  o[12] = r;
  o[13] = __dp4a((int)x, (int)y, (int)(x ^ y));
  o[14] = __dp4a(x, y, x);
  o[15] = __sad((int)x, (int)y, 5u);
}

extern "C" __global__ void multiply(const int *a, const int *b, int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, x = a[i], y = b[i], *o = out + i * 8;
  o[0] = __mulhi(x, y);
  o[1] = __umulhi(x, y);
  o[2] = __mul24(x, y);
  o[3] = x * y + 17;
  o[4] = __hadd(x, y);
  o[5] = __rhadd(x, y);
  o[6] = __uhadd(x, y);
  o[7] = abs(x) - min(x, y) + max((unsigned)x, (unsigned)y);
}

extern "C" __global__ void divide(const int *a, const int *b, int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, x = a[i], y = b[i], *o = out + i * 6;
  o[0] = x / y;
  o[1] = x % y;
  o[2] = (unsigned)x / (unsigned)y;
  o[3] = (unsigned)x % (unsigned)y;
  o[4] = x / 7 + (unsigned)x / 10u; // multiplication by the reciprocal
  o[5] = (short)x / (short)(y | 1);
}

extern "C" __global__ void wide(const s64 *a, const s64 *b, s64 *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  s64 x = a[i], y = b[i], *o = out + i * 12;
  o[0] = x + y;
  o[1] = x * y;
  o[2] = __mul64hi(x, y);
  o[3] = __umul64hi(x, y);
  o[4] = x / y;
  o[5] = (s64)((u64)x % (u64)y);
  o[6] = x >> (y & 63);
  o[7] = (s64)((u64)x >> (y & 63)) ^ (x << (y & 63));
  o[8] = __popcll(x) * 100 + __clzll(x);
  o[9] = __brevll(x);
  o[10] = x < y ? x : (u64)x < (u64)y ? y : 0;
  o[11] = (s64)(int)x * (int)y + (s64)(unsigned)y;
}

// 128-bit sum and product with carries (add.cc, addc, mad.lo.cc, madc.hi).
extern "C" __global__ void carries(const u64 *a, const u64 *b, u64 *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned __int128 x = ((unsigned __int128)a[2 * i + 1] << 64) | a[2 * i];
  unsigned __int128 y = ((unsigned __int128)b[2 * i + 1] << 64) | b[2 * i];
  unsigned __int128 s = x + y, d = x - y, p = x * y;
  u64 *o = out + i * 6;
  o[0] = (u64)s, o[1] = (u64)(s >> 64);
  o[2] = (u64)d, o[3] = (u64)(d >> 64);
  o[4] = (u64)p, o[5] = (u64)(p >> 64);
}

// 8- and 16-bit storage, sign extension, saturation.
extern "C" __global__ void narrow(const signed char *a, const unsigned short *b, signed char *c,
                                  unsigned short *d, int *e) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int x = a[i], y = b[i];
  c[i] = (signed char)(x * 3 - y);
  d[i] = (unsigned short)((b[i] >> 3) + (unsigned short)(x << 2));
  e[i] = x * y + (signed char)y - (short)(y << 1);
}
