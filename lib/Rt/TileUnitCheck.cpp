//===- TileUnitCheck.cpp - whether the matrix unit multiplies right ---------------------------===//
//
// A processor and a system may announce AMX although a hypervisor does not let its instructions through. So
// the unit is tried before code relies on it: products of a sample are compared with those of the functions
// that tests compare with Intel's manual. A child process runs the instructions, since a SIGILL ends it. It
// is made by the system call alone: handlers of fork would wait for locks that the caller may hold.
//
//===----------------------------------------------------------------------------------------===//

#include "tilewright/Rt/TileUnit.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <initializer_list>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <immintrin.h>

using namespace tilewright::rt;

namespace {

constexpr int kNumProducts = 5, kTileBytes = kTileRows * kTileRowBytes;
constexpr int kSum = 0, kA = 4, kB = 6; // as compiled code numbers them

/// What one product reads, and what it gives.
struct Sample {
  alignas(64) uint8_t sum[kTileBytes], a[kTileBytes], b[kTileBytes], expected[kTileBytes];
};
struct Samples {
  TileConfig config;
  Sample products[kNumProducts];
};

/// Numbers of a few bits, whose sums are exact: products of bfloat16 may be added in any order.
void fill(uint8_t *bytes, bool isBf16, uint32_t seed) {
  for (int word = 0; word < kTileBytes / 2; ++word) {
    seed = seed * 1664525 + 1013904223;
    uint16_t bits = uint16_t(seed >> 16);
    if (isBf16) {
      float number = float(int(bits % 15) - 7) / 4;
      uint32_t wide;
      std::memcpy(&wide, &number, sizeof(wide));
      bits = uint16_t(wide >> 16);
    }
    std::memcpy(bytes + 2 * word, &bits, sizeof(bits));
  }
}

void makeSample(Sample &sample, const TileConfig &config, TileProduct kind) {
  bool isBf16 = kind == TileProduct::Bf16;
  std::memset(sample.sum, 0, sizeof(sample.sum));
  fill(sample.a, isBf16, 17);
  fill(sample.b, isBf16, 29);
  tw_tile_config(&config);
  tw_tile_zero(kSum);
  tw_tile_load(kA, sample.a, kTileRowBytes);
  tw_tile_load(kB, sample.b, kTileRowBytes);
  tw_tile_multiply(int32_t(kind), kSum, kA, kB);
  tw_tile_store(kSum, sample.expected, kTileRowBytes);
  tw_tile_release();
}

/// In the child: nothing but instructions on memory that is there. (GCC wants the tiles as numerals:
/// kSum, kA and kB.)
__attribute__((target("amx-tile,amx-bf16,amx-int8"))) bool multiplyAll(Samples &samples) {
  bool areEqual = true;
  for (int number = 0; number < kNumProducts; ++number) {
    Sample &sample = samples.products[number];
    _tile_loadconfig(&samples.config);
    _tile_zero(0);
    _tile_loadd(4, sample.a, kTileRowBytes);
    _tile_loadd(6, sample.b, kTileRowBytes);
    switch (TileProduct(number)) {
    case TileProduct::Bf16:
      _tile_dpbf16ps(0, 4, 6);
      break;
    case TileProduct::SignedSigned:
      _tile_dpbssd(0, 4, 6);
      break;
    case TileProduct::SignedUnsigned:
      _tile_dpbsud(0, 4, 6);
      break;
    case TileProduct::UnsignedSigned:
      _tile_dpbusd(0, 4, 6);
      break;
    case TileProduct::UnsignedUnsigned:
      _tile_dpbuud(0, 4, 6);
      break;
    }
    _tile_stored(0, sample.sum, kTileRowBytes);
    _tile_release();
    areEqual &= std::memcmp(sample.sum, sample.expected, kTileBytes) == 0;
  }
  return areEqual;
}

/// A SIGILL ends the child without a core file or a handler of the program's.
[[noreturn]] void runChild(Samples &samples) {
  std::signal(SIGILL, SIG_DFL);
  _exit(multiplyAll(samples) ? 0 : 1);
}

} // namespace

bool tilewright::rt::checkTileUnit() {
  static Samples samples;
  for (int tile : {kSum, kA, kB}) {
    samples.config.rows[tile] = kTileRows;
    samples.config.rowBytes[tile] = kTileRowBytes;
  }
  for (int number = 0; number < kNumProducts; ++number)
    makeSample(samples.products[number], samples.config, TileProduct(number));
  long child = syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr);
  if (child == 0)
    runChild(samples);
  if (child < 0)
    return false;
  int status = 0;
  pid_t ended;
  do
    ended = waitpid(pid_t(child), &status, 0);
  while (ended < 0 && errno == EINTR);
  return ended == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

#else
bool tilewright::rt::checkTileUnit() { return false; }
#endif
