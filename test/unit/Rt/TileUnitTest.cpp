//===- TileUnitTest.cpp - the functions that stand for AMX do what its instructions do --------===//

#include "tilewright/Rt/TileUnit.h"

#include "gtest/gtest.h"
#include <array>
#include <cmath>
#include <cstring>
#include <immintrin.h>
#include <random>

using namespace tilewright::rt;

namespace {

using Bytes = std::array<uint8_t, kTileRows * kTileRowBytes>;

TileConfig makeConfig(int rows = 16, int columns = 16, int words = 16) {
  TileConfig config;
  auto set = [&](int tile, int tileRows, int tileWords) {
    config.rows[tile] = tileRows;
    config.rowBytes[tile] = 4 * tileWords;
  };
  set(0, rows, columns);
  set(1, rows, words);
  set(2, words, columns);
  return config;
}

/// sum + a * b by the functions.
Bytes multiply(TileProduct kind, Bytes sum, const Bytes &a, const Bytes &b,
               TileConfig config = makeConfig()) {
  tw_tile_config(&config);
  tw_tile_load(0, sum.data(), kTileRowBytes);
  tw_tile_load(1, a.data(), kTileRowBytes);
  tw_tile_load(2, b.data(), kTileRowBytes);
  tw_tile_multiply(int32_t(kind), 0, 1, 2);
  tw_tile_store(0, sum.data(), kTileRowBytes);
  tw_tile_release();
  return sum;
}

template <typename T> T at(const Bytes &bytes, int row, int column) {
  T value;
  std::memcpy(&value, bytes.data() + row * kTileRowBytes + column * sizeof(T), sizeof(T));
  return value;
}
template <typename T> void put(Bytes &bytes, int row, int column, T value) {
  std::memcpy(bytes.data() + row * kTileRowBytes + column * sizeof(T), &value, sizeof(T));
}
uint16_t toBf16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return uint16_t(bits >> 16);
}

float toFloat(uint16_t bf16) {
  uint32_t bits = uint32_t(bf16) << 16;
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

Bytes drawBytes(std::mt19937 &random) {
  Bytes bytes;
  for (uint8_t &byte : bytes)
    byte = uint8_t(random());
  return bytes;
}

TEST(TileUnitTest, MultipliesBytesOfEachSign) {
  std::mt19937 random(1);
  Bytes sum = drawBytes(random), a = drawBytes(random), b = drawBytes(random);
  for (TileProduct kind : {TileProduct::SignedSigned, TileProduct::SignedUnsigned,
                           TileProduct::UnsignedSigned, TileProduct::UnsignedUnsigned}) {
    bool isSignedA = kind == TileProduct::SignedSigned || kind == TileProduct::SignedUnsigned;
    bool isSignedB = kind == TileProduct::SignedSigned || kind == TileProduct::UnsignedSigned;
    Bytes result = multiply(kind, sum, a, b);
    for (int m = 0; m < 16; ++m)
      for (int n = 0; n < 16; ++n) {
        int64_t expected = at<int32_t>(sum, m, n);
        for (int k = 0; k < 64; ++k) {
          int64_t left = isSignedA ? at<int8_t>(a, m, k) : at<uint8_t>(a, m, k);
          int column = 4 * n + k % 4;
          int64_t right = isSignedB ? at<int8_t>(b, k / 4, column) : at<uint8_t>(b, k / 4, column);
          expected += left * right;
        }
        ASSERT_EQ(at<uint32_t>(result, m, n), uint32_t(expected)) << m << " " << n;
      }
  }
}

TEST(TileUnitTest, MultipliesBfloat16) {
  std::mt19937 random(3);
  auto draw = [&] { return float(int(random() % 17) - 8); };
  Bytes sum{}, a{}, b{};
  for (int row = 0; row < 16; ++row)
    for (int column = 0; column < 32; ++column) {
      put(a, row, column, toBf16(draw()));
      put(b, row, column, toBf16(draw()));
      if (column < 16)
        put(sum, row, column, draw());
    }
  Bytes result = multiply(TileProduct::Bf16, sum, a, b);
  for (int m = 0; m < 16; ++m)
    for (int n = 0; n < 16; ++n) {
      float expected = at<float>(sum, m, n); // small whole numbers, so that the order is open
      for (int k = 0; k < 32; ++k)
        expected += toFloat(at<uint16_t>(a, m, k)) * toFloat(at<uint16_t>(b, k / 2, 2 * n + k % 2));
      ASSERT_EQ(at<float>(result, m, n), expected) << m << " " << n;
    }
}

TEST(TileUnitTest, TakesSubnormalsAsZeroAndFlushesThem) {
  Bytes sum{}, a{}, b{};
  const float tiny = 0x1p-127f; // subnormal in bfloat16 too
  put(a, 0, 0, toBf16(tiny));
  put(b, 0, 0, toBf16(1.0f));
  put(a, 1, 0, toBf16(0x1p-70f)); // a product of 2^-130
  put(b, 0, 2, toBf16(0x1p-60f));
  put(sum, 2, 0, tiny);
  put(sum, 3, 0, 1.5f);
  Bytes result = multiply(TileProduct::Bf16, sum, a, b);
  EXPECT_EQ(at<float>(result, 0, 0), 0.0f);
  EXPECT_EQ(at<float>(result, 1, 1), 0.0f);
  EXPECT_EQ(at<float>(result, 2, 0), 0.0f);
  EXPECT_EQ(at<float>(result, 3, 0), 1.5f);
}

TEST(TileUnitTest, SumsEvenAndOddElementsApart) {
  Bytes sum{}, a{}, b{};
  for (int k = 0; k < 4; ++k)
    for (int half = 0; half < 2; ++half) {
      // Even: 2^30 + 1 - 2^30 + 1, in order 2^30 and then 1 is lost once; odd: ones.
      float even[] = {0x1p30f, 1.0f, -0x1p30f, 1.0f};
      put(a, 0, 2 * k + half, toBf16(half ? 1.0f : even[k]));
      put(b, k, half, toBf16(1.0f));
    }
  EXPECT_EQ(at<float>(multiply(TileProduct::Bf16, sum, a, b), 0, 0), 1.0f + 4.0f);
}

TEST(TileUnitTest, ClearsWhatASmallTileDoesNotHave) {
  std::mt19937 random(2);
  TileConfig config = makeConfig(9, 12, 8);
  tw_tile_config(&config);
  Bytes bytes = drawBytes(random), stored{};
  tw_tile_load(0, bytes.data(), kTileRowBytes);
  tw_tile_store(0, stored.data(), kTileRowBytes);
  for (int row = 0; row < 16; ++row)
    for (int column = 0; column < 16; ++column)
      EXPECT_EQ(at<uint32_t>(stored, row, column),
                row < 9 && column < 12 ? at<uint32_t>(bytes, row, column) : 0u);
  tw_tile_release();
}

TEST(TileUnitTest, LeavesOtherTilesAlone) {
  std::mt19937 random(4);
  TileConfig config = makeConfig(1, 16, 16);
  config.rows[1] = 16;
  tw_tile_config(&config);
  Bytes bytes = drawBytes(random), stored{};
  tw_tile_load(1, bytes.data(), kTileRowBytes);
  tw_tile_load(0, drawBytes(random).data(), kTileRowBytes); // a single row
  tw_tile_store(1, stored.data(), kTileRowBytes);
  EXPECT_EQ(stored, bytes);
  tw_tile_release();
}

TEST(TileUnitDeathTest, EndsWhereAnInstructionWouldFault) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(tw_tile_zero(0), "not configured");
  TileConfig config = makeConfig(16, 16, 8);
  config.rows[2] = 16; // of B, which has 8 words in a row of A
  EXPECT_DEATH(
      {
        tw_tile_config(&config);
        tw_tile_multiply(int32_t(TileProduct::Bf16), 0, 1, 2);
      },
      "do not fit");
  EXPECT_DEATH(
      {
        tw_tile_config(&config);
        tw_tile_zero(3);
      },
      "has no rows");
  EXPECT_DEATH(
      {
        tw_tile_config(&config);
        tw_tile_release();
        tw_tile_zero(0);
      },
      "not configured");
  config.rows[0] = 17;
  EXPECT_DEATH(tw_tile_config(&config), "too large");
}

#define TW_WITH_AMX __attribute__((target("amx-tile,amx-int8,amx-bf16")))

/// The same by the instructions.
TW_WITH_AMX Bytes multiplyInHardware(TileProduct kind, Bytes sum, const Bytes &a, const Bytes &b) {
  TileConfig config = makeConfig();
  _tile_loadconfig(&config);
  _tile_loadd(0, sum.data(), kTileRowBytes);
  _tile_loadd(1, a.data(), kTileRowBytes);
  _tile_loadd(2, b.data(), kTileRowBytes);
  switch (kind) {
  case TileProduct::Bf16:
    _tile_dpbf16ps(0, 1, 2);
    break;
  case TileProduct::SignedSigned:
    _tile_dpbssd(0, 1, 2);
    break;
  case TileProduct::SignedUnsigned:
    _tile_dpbsud(0, 1, 2);
    break;
  case TileProduct::UnsignedSigned:
    _tile_dpbusd(0, 1, 2);
    break;
  case TileProduct::UnsignedUnsigned:
    _tile_dpbuud(0, 1, 2);
    break;
  }
  _tile_stored(0, sum.data(), kTileRowBytes);
  _tile_release();
  return sum;
}

TEST(TileUnitTest, AgreesWithTheInstructions) {
  if (!mayUseTileUnit())
    GTEST_SKIP() << "this machine has no AMX, or its system does not allow it";
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round)
    for (TileProduct kind :
         {TileProduct::Bf16, TileProduct::SignedSigned, TileProduct::SignedUnsigned,
          TileProduct::UnsignedSigned, TileProduct::UnsignedUnsigned}) {
      Bytes sum = drawBytes(random), a = drawBytes(random), b = drawBytes(random);
      for (Bytes *bytes : {&sum, &a, &b}) // finite: which NaN comes out is not modelled
        for (int i = 1; kind == TileProduct::Bf16 && i < int(bytes->size()); i += 2)
          (*bytes)[i] &= 0xbf;
      EXPECT_EQ(multiply(kind, sum, a, b), multiplyInHardware(kind, sum, a, b)) << int(kind);
    }
}

TEST(TileUnitTest, TheAnswerOfTheSystemStays) {
  EXPECT_EQ(mayUseTileUnit(), mayUseTileUnit());
  bool hasTiles = __builtin_cpu_supports("amx-tile");
  if (!hasTiles) {
    EXPECT_FALSE(mayUseTileUnit());
  }
}

TEST(TileUnitTest, InstructionsThatDoNotWorkAreNotUsed) {
  if (mayUseTileUnit())
    GTEST_SKIP() << "the instructions work here";
  EXPECT_FALSE(checkTileUnit()); // the first one ends the child
}

} // namespace
