//===- MmaHalvesTest.cpp - fragments of halves: vectors, lanes, and a model -------------------===//
#include "vgpu/Exec/MatrixMath.h"
#include <bit>
#include <cmath>
#include <gtest/gtest.h>
#include <random>
#include <vector>

using namespace vgpu;

namespace {

/// Fragments that own their registers.
template <unsigned k> struct Operands {
  std::vector<std::vector<uint16_t>> a{k / 4, std::vector<uint16_t>(64)},
      b{k / 8, std::vector<uint16_t>(64)};
  std::vector<std::vector<float>> c{4, std::vector<float>(32)};

  HalfFragments view() const {
    HalfFragments fragments;
    for (unsigned i = 0; i < k / 4; ++i)
      fragments.a[i] = a[i].data();
    for (unsigned i = 0; i < k / 8; ++i)
      fragments.b[i] = b[i].data();
    for (unsigned i = 0; i < 4; ++i)
      fragments.c[i] = c[i].data();
    return fragments;
  }
};

/// Small integers as halves: their products and sums are exact.
uint16_t encode(int value, bool isBf16) {
  uint32_t bits = std::bit_cast<uint32_t>(static_cast<float>(value));
  if (isBf16)
    return static_cast<uint16_t>(bits >> 16);
  if (value == 0)
    return 0;
  uint32_t exponent = (bits >> 23 & 0xff) - 127 + 15;
  return static_cast<uint16_t>((bits >> 16 & 0x8000) | exponent << 10 | (bits >> 13 & 0x3ff));
}

/// The ISA's fragments: lane 4 * g + t has of A the rows g and g + 8, columns 2 * t and 2 * t + 1
/// (registers 2 and 3: eight columns further), of B those rows of column g, of D row g (+ 8),
/// columns 2 * t and 2 * t + 1.
template <bool isBf16, unsigned k> void multipliesLikeTheModel() {
  std::mt19937 random(k + isBf16);
  int a[16][k], b[k][8], c[16][8];
  Operands<k> operands;
  for (unsigned lane = 0; lane < 32; ++lane) {
    unsigned g = lane / 4, t = lane % 4;
    for (unsigned e = 0; e < 2; ++e) {
      for (unsigned i = 0; i < k / 4; ++i) {
        unsigned row = g + 8 * (i % 2), column = 2 * t + e + 8 * (i / 2);
        a[row][column] = static_cast<int>(random() % 17) - 8;
        operands.a[i][2 * lane + e] = encode(a[row][column], isBf16);
      }
      for (unsigned i = 0; i < k / 8; ++i) {
        unsigned row = 2 * t + e + 8 * i;
        b[row][g] = static_cast<int>(random() % 17) - 8;
        operands.b[i][2 * lane + e] = encode(b[row][g], isBf16);
      }
      for (unsigned half = 0; half < 2; ++half) {
        int &start = c[g + 8 * half][2 * t + e] = static_cast<int>(random() % 201) - 100;
        operands.c[2 * half + e][lane] = static_cast<float>(start);
      }
    }
  }
  HalfFragments vectors = operands.view(), lanes = operands.view();
  multiplyFragments<isBf16, k>(vectors);
  multiplyFragmentsByLane<isBf16, k>(lanes);
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < 4; ++i) {
      unsigned row = lane / 4 + 8 * (i / 2), column = 2 * (lane % 4) + i % 2;
      int sum = c[row][column];
      for (unsigned p = 0; p < k; ++p)
        sum += a[row][p] * b[p][column];
      ASSERT_EQ(vectors.d[i][lane], static_cast<float>(sum)) << row << ", " << column;
      ASSERT_EQ(lanes.d[i][lane], static_cast<float>(sum)) << row << ", " << column;
    }
}

TEST(MmaHalves, MultiplyLikeTheModel) {
  multipliesLikeTheModel<false, 8>();
  multipliesLikeTheModel<false, 16>();
  multipliesLikeTheModel<true, 8>();
  multipliesLikeTheModel<true, 16>();
}

/// Any bits at all: infinities, NaN, subnormals, and sums that round.
template <bool isBf16, unsigned k> void vectorsEqualLanes() {
  std::mt19937 random(7 * k + isBf16);
  for (unsigned round = 0; round < 200; ++round) {
    Operands<k> operands;
    // Most rounds keep to exponents near one, where sums round; some take any pattern.
    uint16_t mask = round % 4 == 0 ? 0xffff : isBf16 ? 0xbfff : 0xbfff & ~0x2000;
    for (auto *registers : {&operands.a, &operands.b})
      for (std::vector<uint16_t> &row : *registers)
        for (uint16_t &half : row)
          half = static_cast<uint16_t>(random() & mask);
    for (std::vector<float> &row : operands.c)
      for (float &value : row)
        value = std::bit_cast<float>(static_cast<uint32_t>(random() & 0xbfffffff));
    HalfFragments vectors = operands.view(), lanes = operands.view();
    multiplyFragments<isBf16, k>(vectors);
    multiplyFragmentsByLane<isBf16, k>(lanes);
    for (unsigned i = 0; i < 4; ++i)
      for (unsigned lane = 0; lane < 32; ++lane) {
        float x = vectors.d[i][lane], y = lanes.d[i][lane];
        ASSERT_TRUE(std::bit_cast<uint32_t>(x) == std::bit_cast<uint32_t>(y) ||
                    (std::isnan(x) && std::isnan(y)))
            << x << " and " << y;
      }
  }
}

TEST(MmaHalves, VectorsGiveTheBitsOfLanes) {
  vectorsEqualLanes<false, 8>();
  vectorsEqualLanes<false, 16>();
  vectorsEqualLanes<true, 8>();
  vectorsEqualLanes<true, 16>();
}

} // namespace
