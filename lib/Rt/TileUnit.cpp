//===- TileUnit.cpp - the matrix unit of a processor (AMX) ------------------------------------===//

#include "tilewright/Rt/TileUnit.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <sys/syscall.h>
#include <unistd.h>

using namespace tilewright::rt;

namespace tilewright::rt {

/// Linux's arch_prctl, Documentation/arch/x86/xstate.rst. A child of a fork has what its parent was
/// allowed; a new program asks again.
static bool askForTiles() {
#if defined(__x86_64__) && defined(SYS_arch_prctl)
  constexpr long getPermission = 0x1022, requestPermission = 0x1023, tileData = 18;
  uint64_t allowed = 0;
  if (syscall(SYS_arch_prctl, requestPermission, tileData) != 0 ||
      syscall(SYS_arch_prctl, getPermission, &allowed) != 0)
    return false; // EINVAL, EOPNOTSUPP; ENOSPC where a thread's signal stack is too small
  return allowed >> tileData & 1;
#else
  return false;
#endif
}

bool mayUseTileUnit() {
  static const bool may = askForTiles() && checkTileUnit();
  return may;
}

namespace {

/// The state of one thread.
struct TileUnit {
  TileConfig config;
  bool isConfigured = false;
  uint8_t data[kNumTiles][kTileRows][kTileRowBytes];

  uint8_t *row(int tile, int number) { return data[tile][number]; }
};

/// Made at its first use: thread-local memory of a shared library is scarce.
TileUnit &getUnit() {
  thread_local std::unique_ptr<TileUnit> unit;
  if (!unit)
    unit = std::make_unique<TileUnit>();
  return *unit;
}

[[noreturn]] void fault(const char *instruction, const char *why) {
  std::fprintf(stderr, "tilewright: amx-in-software: %s: %s\n", instruction, why);
  std::abort();
}

void require(bool holds, const char *instruction, const char *why) {
  if (!holds)
    fault(instruction, why);
}

/// A tile that an instruction names; it must have rows and columns.
struct Tile {
  Tile(int32_t number, const char *instruction) : number(number) {
    require(getUnit().isConfigured, instruction, "the tiles are not configured");
    require(number >= 0 && number < kNumTiles, instruction, "there is no such tile");
    rows = getUnit().config.rows[number], rowBytes = getUnit().config.rowBytes[number];
    require(rows && rowBytes, instruction, "the tile has no rows");
  }
  template <typename T> T get(int row, int column) const {
    T value;
    std::memcpy(&value, getUnit().row(number, row) + column * sizeof(T), sizeof(T));
    return value;
  }
  template <typename T> void set(int row, int column, T value) const {
    std::memcpy(getUnit().row(number, row) + column * sizeof(T), &value, sizeof(T));
  }
  /// What an instruction does not write of its destination becomes zero.
  void clearRest() const {
    for (int row = 0; row < kTileRows; ++row) {
      int kept = row < rows ? rowBytes : 0;
      std::memset(getUnit().row(number, row) + kept, 0, kTileRowBytes - kept);
    }
  }

  int32_t number;
  int rows, rowBytes;
};

/// Subnormal operands and results are zeros, whatever MXCSR says.
float flush(float value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0f, value) : value;
}
float multiplyAdd(float a, float b, float sum) {
  return flush(std::fma(flush(a), flush(b), flush(sum)));
}
float widen(uint16_t bits) {
  uint32_t word = uint32_t(bits) << 16;
  float value;
  std::memcpy(&value, &word, sizeof(value));
  return value;
}

/// Each element sums the products of the even and of the odd elements on their own, from zero, and
/// adds the two sums to what was there.
void multiplyBf16(const Tile &sum, const Tile &a, const Tile &b) {
  for (int m = 0; m < sum.rows; ++m)
    for (int n = 0; n < sum.rowBytes / 4; ++n) {
      float even = 0, odd = 0;
      for (int k = 0; k < a.rowBytes / 4; ++k) {
        even =
            multiplyAdd(widen(a.get<uint16_t>(m, 2 * k)), widen(b.get<uint16_t>(k, 2 * n)), even);
        odd = multiplyAdd(widen(a.get<uint16_t>(m, 2 * k + 1)),
                          widen(b.get<uint16_t>(k, 2 * n + 1)), odd);
      }
      float both = flush(even + odd);
      sum.set<float>(m, n, flush(flush(sum.get<float>(m, n)) + both));
    }
}

template <typename A, typename B>
void multiplyBytes(const Tile &sum, const Tile &a, const Tile &b) {
  for (int m = 0; m < sum.rows; ++m)
    for (int n = 0; n < sum.rowBytes / 4; ++n) {
      uint32_t total = sum.get<uint32_t>(m, n);
      for (int k = 0; k < a.rowBytes / 4; ++k)
        for (int byte = 0; byte < 4; ++byte)
          total +=
              uint32_t(int32_t(a.get<A>(m, 4 * k + byte)) * int32_t(b.get<B>(k, 4 * n + byte)));
      sum.set<uint32_t>(m, n, total);
    }
}

} // namespace
} // namespace tilewright::rt

/// Compiled code finds these by name.
#define TW_VISIBLE extern "C" __attribute__((visibility("default")))

TW_VISIBLE void tw_tile_config(const void *address) {
  TileConfig config;
  std::memcpy(&config, address, sizeof(config));
  require(config.palette == 1, "ldtilecfg", "the palette is not 1");
  for (uint8_t byte : config.reserved)
    require(byte == 0, "ldtilecfg", "a reserved byte is not 0");
  for (int tile = 0; tile < 16; ++tile) {
    int rows = config.rows[tile], bytes = config.rowBytes[tile];
    require((rows == 0) == (bytes == 0), "ldtilecfg", "a tile has rows or columns, and not both");
    require(rows <= kTileRows && bytes <= kTileRowBytes, "ldtilecfg", "a tile is too large");
    require(tile < kNumTiles || rows == 0, "ldtilecfg", "there are eight tiles");
  }
  getUnit() = {};
  getUnit().config = config;
  getUnit().isConfigured = true;
}

TW_VISIBLE void tw_tile_release() { getUnit() = {}; }

TW_VISIBLE void tw_tile_zero(int32_t tile) {
  Tile target(tile, "tilezero");
  std::memset(getUnit().data[target.number], 0, sizeof(getUnit().data[0]));
}

TW_VISIBLE void tw_tile_load(int32_t tile, const void *address, int64_t stride) {
  Tile target(tile, "tileloadd");
  for (int row = 0; row < target.rows; ++row)
    std::memcpy(getUnit().row(tile, row), static_cast<const char *>(address) + row * stride,
                target.rowBytes);
  target.clearRest();
}

TW_VISIBLE void tw_tile_store(int32_t tile, void *address, int64_t stride) {
  Tile source(tile, "tilestored");
  for (int row = 0; row < source.rows; ++row)
    std::memcpy(static_cast<char *>(address) + row * stride, getUnit().row(tile, row),
                source.rowBytes);
}

TW_VISIBLE void tw_tile_multiply(int32_t kind, int32_t sumTile, int32_t aTile, int32_t bTile) {
  const char *name = kind == int32_t(TileProduct::Bf16) ? "tdpbf16ps" : "tdpb..d";
  Tile sum(sumTile, name), a(aTile, name), b(bTile, name);
  require(sumTile != aTile && sumTile != bTile && aTile != bTile, name, "a tile is named twice");
  require(sum.rows == a.rows && sum.rowBytes == b.rowBytes && a.rowBytes == 4 * b.rows, name,
          "the tiles' extents do not fit each other");
  require(sum.rowBytes % 4 == 0, name, "a row is not made of words");
  switch (TileProduct(kind)) {
  case TileProduct::Bf16:
    multiplyBf16(sum, a, b);
    break;
  case TileProduct::SignedSigned:
    multiplyBytes<int8_t, int8_t>(sum, a, b);
    break;
  case TileProduct::SignedUnsigned:
    multiplyBytes<int8_t, uint8_t>(sum, a, b);
    break;
  case TileProduct::UnsignedSigned:
    multiplyBytes<uint8_t, int8_t>(sum, a, b);
    break;
  case TileProduct::UnsignedUnsigned:
    multiplyBytes<uint8_t, uint8_t>(sum, a, b);
    break;
  default:
    fault(name, "there is no such product");
  }
  sum.clearRest();
}
