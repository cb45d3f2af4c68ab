//===- FloatOpsTest.cpp - float arithmetic against APFloat ------------------------------------===//
#include "KernelHarness.h"
#include "llvm/ADT/APFloat.h"
#include <gtest/gtest.h>

using namespace vgpu::test;
using llvm::APFloat;
using llvm::APInt;

namespace {

enum class Op { Add, Sub, Mul, Div, Fma };

APFloat compute(Op op, APFloat a, const APFloat &b, const APFloat &c, llvm::RoundingMode rounding) {
  switch (op) {
  case Op::Add:
    a.add(b, rounding);
    break;
  case Op::Sub:
    a.subtract(b, rounding);
    break;
  case Op::Mul:
    a.multiply(b, rounding);
    break;
  case Op::Div:
    a.divide(b, rounding);
    break;
  case Op::Fma:
    a.fusedMultiplyAdd(b, c, rounding);
    break;
  }
  return a;
}

struct Case {
  const char *opcode;
  Op op;
  const llvm::fltSemantics &semantics;
  const char *type;
  llvm::RoundingMode rounding = llvm::RoundingMode::NearestTiesToEven;
};

TEST(FloatOps, RoundAsApFloatDoes) {
  using Mode = llvm::RoundingMode;
  const Case cases[] = {
      {"add.f32", Op::Add, APFloat::IEEEsingle(), "b32"},
      {"sub.rn.f32", Op::Sub, APFloat::IEEEsingle(), "b32"},
      {"mul.f32", Op::Mul, APFloat::IEEEsingle(), "b32"},
      {"div.rn.f32", Op::Div, APFloat::IEEEsingle(), "b32"},
      {"fma.rn.f32", Op::Fma, APFloat::IEEEsingle(), "b32"},
      {"add.rz.f32", Op::Add, APFloat::IEEEsingle(), "b32", Mode::TowardZero},
      {"mul.rm.f32", Op::Mul, APFloat::IEEEsingle(), "b32", Mode::TowardNegative},
      {"fma.rp.f32", Op::Fma, APFloat::IEEEsingle(), "b32", Mode::TowardPositive},
      {"add.f16", Op::Add, APFloat::IEEEhalf(), "b16"},
      {"mul.f16", Op::Mul, APFloat::IEEEhalf(), "b16"},
      {"fma.rn.f16", Op::Fma, APFloat::IEEEhalf(), "b16"},
      {"fma.rn.bf16", Op::Fma, APFloat::BFloat(), "b16"},
      {"add.rn.bf16", Op::Add, APFloat::BFloat(), "b16"},
  };
  for (const Case &test : cases) {
    bool isHalf = llvm::StringRef(test.type) == "b16";
    unsigned bits = isHalf ? 16 : 32;
    const std::vector<uint64_t> &values = isHalf ? floats16 : floats32;
    bool isTernary = test.op == Op::Fma;
    std::vector<Operands> operands =
        cross(values, values, isTernary ? values : std::vector<uint64_t>{0});
    Snippet snippet{std::string(test.opcode) + (isTernary ? " %d, %a, %b, %c;" : " %d, %a, %b;"),
                    test.type, test.type, test.type, test.type};
    std::vector<uint64_t> results = run(snippet, operands);
    for (size_t i = 0; i < operands.size(); ++i) {
      const Operands &o = operands[i];
      auto value = [&](uint64_t pattern) { return APFloat(test.semantics, APInt(bits, pattern)); };
      APFloat expected = compute(test.op, value(o.a), value(o.b), value(o.c), test.rounding);
      uint64_t pattern = expected.isNaN() ? (isHalf ? 0x7fff : 0x7fffffff)
                                          : expected.bitcastToAPInt().getZExtValue();
      ASSERT_EQ(results[i], pattern)
          << test.opcode << std::hex << " " << o.a << ", " << o.b << ", " << o.c;
    }
  }
}

TEST(FloatOps, MixedPrecisionRoundsOnce) {
  // The narrow operand is exact in float32; a product of two is not rounded before the sum.
  for (bool isHalf : {true, false}) {
    const llvm::fltSemantics &narrow = isHalf ? APFloat::IEEEhalf() : APFloat::BFloat();
    std::string type = isHalf ? "f16" : "bf16";
    auto widen = [&](uint64_t pattern) {
      APFloat value(narrow, APInt(16, pattern));
      bool loses = false;
      value.convert(APFloat::IEEEsingle(), llvm::RoundingMode::NearestTiesToEven, &loses);
      return value;
    };
    auto single = [](uint64_t pattern) {
      return APFloat(APFloat::IEEEsingle(), APInt(32, pattern));
    };
    auto patternOf = [](const APFloat &value) {
      return value.isNaN() ? 0x7fffffff : value.bitcastToAPInt().getZExtValue();
    };
    std::vector<Operands> pairs = cross(floats16, floats32, {0});
    std::vector<uint64_t> sums = run({"add.rn.f32." + type + " %d, %a, %b;", "b32", "b16"}, pairs),
                          down = run({"sub.rm.f32." + type + " %d, %a, %b;", "b32", "b16"}, pairs);
    for (size_t i = 0; i < pairs.size(); ++i) {
      ASSERT_EQ(sums[i], patternOf(compute(Op::Add, widen(pairs[i].a), single(pairs[i].b),
                                           single(0), llvm::RoundingMode::NearestTiesToEven)));
      ASSERT_EQ(down[i], patternOf(compute(Op::Sub, widen(pairs[i].a), single(pairs[i].b),
                                           single(0), llvm::RoundingMode::TowardNegative)));
    }
    std::vector<Operands> triples = cross(floats16, floats16, floats32);
    std::vector<uint64_t> products =
        run({"fma.rn.f32." + type + " %d, %a, %b, %c;", "b32", "b16", "b16"}, triples);
    for (size_t i = 0; i < triples.size(); ++i)
      ASSERT_EQ(products[i],
                patternOf(compute(Op::Fma, widen(triples[i].a), widen(triples[i].b),
                                  single(triples[i].c), llvm::RoundingMode::NearestTiesToEven)));
  }
}

TEST(FloatOps, FlushingTakesSubnormalsForZero) {
  // Smallest normal minus half of it is subnormal; so is the input 1.
  std::vector<Operands> operands = {
      {0x00800000, 0x80400000}, {0x00000001, 0x3f800000}, {0x80000001, 0x80000001}};
  EXPECT_EQ(run({"add.ftz.f32 %d, %a, %b;"}, operands),
            (std::vector<uint64_t>{0x00800000, 0x3f800000, 0x80000000}));
  EXPECT_EQ(run({"add.f32 %d, %a, %b;"}, operands),
            (std::vector<uint64_t>{0x00400000, 0x3f800000, 0x80000002}));
}

TEST(FloatOps, SaturationMapsNanToZero) {
  std::vector<Operands> operands = {
      {0x7fc00000, 0}, {0x40000000, 0}, {0xbf800000, 0}, {0x3f000000, 0}};
  EXPECT_EQ(run({"add.sat.f32 %d, %a, %b;"}, operands),
            (std::vector<uint64_t>{0, 0x3f800000, 0, 0x3f000000}));
}

TEST(FloatOps, MinAndMaxLoseNanAndOrderZeros) {
  std::vector<Operands> operands = {{0x7fc00000, 0x3f800000},
                                    {0x3f800000, 0x7fc00000},
                                    {0x80000000, 0},
                                    {0, 0x80000000},
                                    {0xff800000, 0x7f800000}};
  EXPECT_EQ(run({"max.f32 %d, %a, %b;"}, operands),
            (std::vector<uint64_t>{0x3f800000, 0x3f800000, 0, 0, 0x7f800000}));
  EXPECT_EQ(run({"min.f32 %d, %a, %b;"}, operands),
            (std::vector<uint64_t>{0x3f800000, 0x3f800000, 0x80000000, 0x80000000, 0xff800000}));
  EXPECT_EQ(run({"max.NaN.f32 %d, %a, %b;"}, operands)[0], 0x7fffffffu);
  EXPECT_EQ(run({"min.ftz.f32 %d, %a, %b;"}, operands)[2], 0x80000000u);
}

TEST(FloatOps, ApproximateDivisionByHugeDivisorsGivesZero) {
  std::vector<Operands> operands = {
      {0x3f800000, 0x7e800000}, {0x3f800000, 0x3f800000}, {0x7f800000, 0x7e800000}};
  EXPECT_EQ(run({"div.approx.f32 %d, %a, %b;"}, operands),
            (std::vector<uint64_t>{0x00800000, 0x3f800000, 0x7f800000}));
  std::vector<Operands> beyond = {{0x3f800000, 0x7e800001}, {0x7f800000, 0x7e800001}};
  EXPECT_EQ(run({"div.approx.f32 %d, %a, %b;"}, beyond), (std::vector<uint64_t>{0, 0x7fffffff}));
}

} // namespace
