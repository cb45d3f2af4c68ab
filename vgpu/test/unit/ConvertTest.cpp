//===- ConvertTest.cpp - cvt over all patterns of the small types, against APFloat ------------===//
#include "KernelHarness.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APSInt.h"
#include <gtest/gtest.h>

using namespace vgpu::test;
using llvm::APFloat;
using llvm::APInt;

namespace {

std::vector<Operands> allPatterns(unsigned bits) {
  std::vector<Operands> operands;
  for (uint64_t value = 0; value < (uint64_t(1) << bits); ++value)
    operands.push_back({value});
  return operands;
}

/// The conversion by APFloat; every NaN compares equal to every other.
uint64_t convert(uint64_t bits, const llvm::fltSemantics &from, const llvm::fltSemantics &to,
                 llvm::RoundingMode rounding, bool &isNan) {
  APFloat value(from, APInt(APFloat::getSizeInBits(from), bits));
  bool losesInfo;
  value.convert(to, rounding, &losesInfo);
  isNan = value.isNaN();
  return value.bitcastToAPInt().getZExtValue();
}

struct FloatCase {
  const char *opcode;
  const char *d, *a;
  const llvm::fltSemantics &to, &from;
  llvm::RoundingMode rounding;
};

void check(const FloatCase &test, const std::vector<Operands> &operands, uint64_t nanPattern) {
  std::vector<uint64_t> results =
      run({std::string(test.opcode) + " %d, %a;", test.d, test.a}, operands);
  for (size_t i = 0; i < operands.size(); ++i) {
    bool isNan;
    uint64_t expected = convert(operands[i].a, test.from, test.to, test.rounding, isNan);
    ASSERT_EQ(results[i], isNan ? nanPattern : expected)
        << test.opcode << " of " << std::hex << operands[i].a;
  }
}

constexpr auto nearest = llvm::RoundingMode::NearestTiesToEven;

TEST(Convert, WidensEveryHalf) {
  check({"cvt.f32.f16", "b32", "b16", APFloat::IEEEsingle(), APFloat::IEEEhalf(), nearest},
        allPatterns(16), 0x7fffffff);
  check({"cvt.f32.bf16", "b32", "b16", APFloat::IEEEsingle(), APFloat::BFloat(), nearest},
        allPatterns(16), 0x7fffffff);
  check({"cvt.f64.f16", "b64", "b16", APFloat::IEEEdouble(), APFloat::IEEEhalf(), nearest},
        allPatterns(16), 0x7fffffffffffffff);
}

/// Every value of f16 and bf16, its neighbours in f32 and the ties between two of them.
std::vector<Operands> around(const llvm::fltSemantics &semantics) {
  std::vector<Operands> operands;
  for (uint64_t bits = 0; bits < 65536; bits += 7) {
    APFloat value(semantics, APInt(16, bits));
    if (value.isNaN())
      continue;
    bool losesInfo;
    value.convert(APFloat::IEEEsingle(), nearest, &losesInfo);
    uint32_t exact = static_cast<uint32_t>(value.bitcastToAPInt().getZExtValue());
    uint32_t half = &semantics == &APFloat::BFloat() ? 0x8000 : 0x1000;
    for (uint32_t pattern :
         {exact, exact + 1, exact - 1, exact + half, exact + half + 1, exact + half - 1})
      operands.push_back({pattern});
  }
  return operands;
}

TEST(Convert, RoundsSinglesToHalves) {
  std::vector<Operands> halves = around(APFloat::IEEEhalf()), brains = around(APFloat::BFloat());
  check({"cvt.rn.f16.f32", "b16", "b32", APFloat::IEEEhalf(), APFloat::IEEEsingle(), nearest},
        halves, 0x7fff);
  check({"cvt.rz.f16.f32", "b16", "b32", APFloat::IEEEhalf(), APFloat::IEEEsingle(),
         llvm::RoundingMode::TowardZero},
        halves, 0x7fff);
  check({"cvt.rm.f16.f32", "b16", "b32", APFloat::IEEEhalf(), APFloat::IEEEsingle(),
         llvm::RoundingMode::TowardNegative},
        halves, 0x7fff);
  check({"cvt.rp.f16.f32", "b16", "b32", APFloat::IEEEhalf(), APFloat::IEEEsingle(),
         llvm::RoundingMode::TowardPositive},
        halves, 0x7fff);
  check({"cvt.rn.bf16.f32", "b16", "b32", APFloat::BFloat(), APFloat::IEEEsingle(), nearest},
        brains, 0x7fff);
  check({"cvt.rz.bf16.f32", "b16", "b32", APFloat::BFloat(), APFloat::IEEEsingle(),
         llvm::RoundingMode::TowardZero},
        brains, 0x7fff);
}

/// fp8 saturates: overflow and infinity give the largest value, which APFloat does not do by
/// itself.
uint64_t toFp8(uint64_t bits, const llvm::fltSemantics &from, const llvm::fltSemantics &to) {
  APFloat value(from, APInt(APFloat::getSizeInBits(from), bits));
  if (value.isNaN())
    return 0x7f;
  bool isNegative = value.isNegative(), losesInfo;
  APFloat largest = APFloat::getLargest(to, isNegative);
  APFloat bound = largest;
  bound.convert(from, nearest, &losesInfo);
  if (value.isInfinity() || (isNegative ? value < bound : value > bound))
    return largest.bitcastToAPInt().getZExtValue();
  value.convert(to, nearest, &losesInfo);
  return value.bitcastToAPInt().getZExtValue();
}

TEST(Convert, PacksEveryHalfIntoFp8) {
  std::vector<Operands> operands = allPatterns(16);
  std::vector<uint64_t> e4m3 =
      run({"mov.b32 %x, {%a, %a}; cvt.rn.satfinite.e4m3x2.f16x2 %d, %x;", "b16", "b16"}, operands);
  std::vector<uint64_t> e5m2 =
      run({"mov.b32 %x, {%a, %a}; cvt.rn.satfinite.e5m2x2.f16x2 %d, %x;", "b16", "b16"}, operands);
  for (size_t i = 0; i < operands.size(); ++i) {
    ASSERT_EQ(e4m3[i], toFp8(i, APFloat::IEEEhalf(), APFloat::Float8E4M3FN()) * 0x101)
        << std::hex << i;
    ASSERT_EQ(e5m2[i], toFp8(i, APFloat::IEEEhalf(), APFloat::Float8E5M2()) * 0x101)
        << std::hex << i;
  }
}

TEST(Convert, UnpacksEveryFp8) {
  std::vector<Operands> operands = allPatterns(8);
  for (auto [opcode, semantics] : {std::pair<const char *, const llvm::fltSemantics *>{
                                       "cvt.rn.f16x2.e4m3x2 %d, %a;", &APFloat::Float8E4M3FN()},
                                   {"cvt.rn.f16x2.e5m2x2 %d, %a;", &APFloat::Float8E5M2()}}) {
    std::vector<uint64_t> results = run({opcode, "b32", "b16"}, operands);
    for (size_t i = 0; i < operands.size(); ++i) {
      bool isNan;
      uint64_t expected = convert(i, *semantics, APFloat::IEEEhalf(), nearest, isNan);
      ASSERT_EQ(results[i] & 0xffff, isNan ? 0x7fff : expected) << opcode << std::hex << i;
    }
  }
}

TEST(Convert, FloatToIntegerRoundsThenSaturates) {
  struct Mode {
    const char *word;
    llvm::RoundingMode rounding;
  };
  for (Mode mode : {Mode{"rni", nearest}, Mode{"rzi", llvm::RoundingMode::TowardZero},
                    Mode{"rmi", llvm::RoundingMode::TowardNegative},
                    Mode{"rpi", llvm::RoundingMode::TowardPositive}})
    for (unsigned bits : {8u, 16u, 32u, 64u})
      for (bool isSigned : {false, true}) {
        std::string type = (isSigned ? "s" : "u") + std::to_string(bits);
        std::string wide = bits == 64 ? "b64" : "b32";
        std::vector<uint64_t> results =
            run({std::string("cvt.") + mode.word + "." + type + ".f32 %d, %a;", wide, "b32"},
                cross(floats32));
        for (size_t i = 0; i < floats32.size(); ++i) {
          APFloat value(APFloat::IEEEsingle(), APInt(32, floats32[i]));
          llvm::APSInt expected(bits, !isSigned);
          bool isExact;
          value.convertToInteger(expected, mode.rounding, &isExact); // saturates; NaN gives 0
          unsigned width = bits == 64 ? 64 : 32;
          uint64_t extended = isSigned ? expected.sextOrTrunc(width).getZExtValue()
                                       : expected.zextOrTrunc(width).getZExtValue();
          ASSERT_EQ(results[i], extended)
              << mode.word << "." << type << " of " << std::hex << floats32[i];
        }
      }
}

TEST(Convert, IntegersRoundToFloats) {
  for (auto [opcode, isSigned] : {std::pair{"cvt.rn.f32.s64", true}, {"cvt.rn.f32.u64", false}}) {
    std::vector<uint64_t> values = corners64;
    for (uint64_t extra :
         {0x1000001ull, 0x1000003ull, 0x7fffff4000000000ull, 0xffffff7fffffffffull})
      values.push_back(extra);
    std::vector<uint64_t> results =
        run({std::string(opcode) + " %d, %a;", "b32", "b64"}, cross(values));
    for (size_t i = 0; i < values.size(); ++i) {
      APFloat expected(APFloat::IEEEsingle());
      expected.convertFromAPInt(APInt(64, values[i]), isSigned, nearest);
      EXPECT_EQ(results[i], expected.bitcastToAPInt().getZExtValue())
          << opcode << std::hex << values[i];
    }
  }
}

TEST(Convert, NarrowSourcesOfWideRegistersAreExtended) {
  std::vector<Operands> operands = cross({0x12345680, 0xffffff7f, 0x8000});
  EXPECT_EQ(run({"cvt.s32.s8 %d, %a;"}, operands), (std::vector<uint64_t>{0xffffff80, 0x7f, 0}));
  EXPECT_EQ(run({"cvt.u32.u8 %d, %a;"}, operands), (std::vector<uint64_t>{0x80, 0x7f, 0}));
  EXPECT_EQ(run({"cvt.sat.u8.s32 %d, %a;"}, operands), (std::vector<uint64_t>{0xff, 0, 0xff}));
}

} // namespace
