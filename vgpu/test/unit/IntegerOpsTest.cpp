//===- IntegerOpsTest.cpp - integer and bit instructions against 128-bit models ---------------===//
#include "KernelHarness.h"
#include "llvm/ADT/APInt.h"
#include <gtest/gtest.h>

using namespace vgpu::test;
using llvm::APInt;

namespace {

/// The model works on APInt, which shares nothing with the executor's loops.
using Model = APInt (*)(const APInt &a, const APInt &b, const APInt &c);
struct Case {
  const char *opcode;
  unsigned bits; ///< of a and of d, unless resultBits
  unsigned sources;
  Model model;
  unsigned resultBits = 0;
  unsigned bitsB = 0, bitsC = 0; ///< if different
};

APInt low(const APInt &value, unsigned bits) { return value.trunc(bits); }

const Case cases[] = {
    {"add.s32", 32, 2, [](auto &a, auto &b, auto &) { return a + b; }},
    {"add.u64", 64, 2, [](auto &a, auto &b, auto &) { return a + b; }},
    {"add.sat.s32", 32, 2, [](auto &a, auto &b, auto &) { return a.sadd_sat(b); }},
    {"sub.sat.s32", 32, 2, [](auto &a, auto &b, auto &) { return a.ssub_sat(b); }},
    {"sub.s16", 16, 2, [](auto &a, auto &b, auto &) { return a - b; }},
    {"mul.lo.s32", 32, 2, [](auto &a, auto &b, auto &) { return a * b; }},
    {"mul.hi.s32", 32, 2,
     [](auto &a, auto &b, auto &) { return (a.sext(64) * b.sext(64)).lshr(32).trunc(32); }},
    {"mul.hi.u32", 32, 2,
     [](auto &a, auto &b, auto &) { return (a.zext(64) * b.zext(64)).lshr(32).trunc(32); }},
    {"mul.hi.s64", 64, 2,
     [](auto &a, auto &b, auto &) { return (a.sext(128) * b.sext(128)).lshr(64).trunc(64); }},
    {"mul.hi.u64", 64, 2,
     [](auto &a, auto &b, auto &) { return (a.zext(128) * b.zext(128)).lshr(64).trunc(64); }},
    {"mul.wide.s32", 32, 2, [](auto &a, auto &b, auto &) { return a.sext(64) * b.sext(64); }, 64},
    {"mul.wide.u16", 16, 2, [](auto &a, auto &b, auto &) { return a.zext(32) * b.zext(32); }, 32},
    {"mad.lo.s32", 32, 3, [](auto &a, auto &b, auto &c) { return a * b + c; }},
    {"mad.hi.u32", 32, 3,
     [](auto &a, auto &b, auto &c) { return (a.zext(64) * b.zext(64)).lshr(32).trunc(32) + c; }},
    {"mad.wide.s32", 32, 3, [](auto &a, auto &b, auto &c) { return a.sext(64) * b.sext(64) + c; },
     64, 0, 64},
    {"min.s32", 32, 2, [](auto &a, auto &b, auto &) { return a.slt(b) ? a : b; }},
    {"max.u32", 32, 2, [](auto &a, auto &b, auto &) { return a.ult(b) ? b : a; }},
    {"max.s64", 64, 2, [](auto &a, auto &b, auto &) { return a.slt(b) ? b : a; }},
    {"min.relu.s32", 32, 2,
     [](auto &a, auto &b, auto &) {
       return llvm::APIntOps::smax(llvm::APIntOps::smin(a, b), APInt(32, 0));
     }},
    {"max.relu.s32", 32, 2,
     [](auto &a, auto &b, auto &) {
       return llvm::APIntOps::smax(llvm::APIntOps::smax(a, b), APInt(32, 0));
     }},
    {"abs.s32", 32, 1, [](auto &a, auto &, auto &) { return a.abs(); }},
    {"neg.s64", 64, 1, [](auto &a, auto &, auto &) { return -a; }},
    {"and.b32", 32, 2, [](auto &a, auto &b, auto &) { return a & b; }},
    {"or.b64", 64, 2, [](auto &a, auto &b, auto &) { return a | b; }},
    {"xor.b16", 16, 2, [](auto &a, auto &b, auto &) { return a ^ b; }},
    {"not.b32", 32, 1, [](auto &a, auto &, auto &) { return ~a; }},
    {"cnot.b32", 32, 1, [](auto &a, auto &, auto &) { return APInt(32, a == 0); }},
    {"shl.b32", 32, 2, [](auto &a, auto &b, auto &) { return a.shl(b.getLimitedValue(32)); }},
    {"shr.u32", 32, 2, [](auto &a, auto &b, auto &) { return a.lshr(b.getLimitedValue(32)); }},
    {"shr.s32", 32, 2, [](auto &a, auto &b, auto &) { return a.ashr(b.getLimitedValue(31)); }},
    {"shr.s64", 64, 2, [](auto &a, auto &b, auto &) { return a.ashr(b.getLimitedValue(63)); }, 0,
     32},
    {"shl.b16", 16, 2, [](auto &a, auto &b, auto &) { return a.shl(b.getLimitedValue(16)); }, 0,
     32},
    {"popc.b64", 64, 1, [](auto &a, auto &, auto &) { return APInt(32, a.popcount()); }, 32},
    {"clz.b32", 32, 1, [](auto &a, auto &, auto &) { return APInt(32, a.countl_zero()); }},
    {"brev.b32", 32, 1, [](auto &a, auto &, auto &) { return a.reverseBits(); }},
    {"bfind.u32", 32, 1,
     [](auto &a, auto &, auto &) { return APInt(32, uint32_t(31 - int(a.countl_zero()))); }},
    {"shf.l.wrap.b32", 32, 3,
     [](auto &a, auto &b, auto &c) {
       return b.concat(a).shl(c.getZExtValue() & 31).lshr(32).trunc(32);
     }},
    {"shf.r.clamp.b32", 32, 3,
     [](auto &a, auto &b, auto &c) { return b.concat(a).lshr(c.getLimitedValue(32)).trunc(32); }},
};

TEST(IntegerOps, AgreeWithApInt) {
  for (const Case &test : cases) {
    auto bitsType = [](unsigned bits) { return "b" + std::to_string(bits); };
    unsigned bitsB = test.bitsB ? test.bitsB : test.bits,
             bitsC = test.bitsC ? test.bitsC : test.bits;
    unsigned resultBits = test.resultBits ? test.resultBits : test.bits;
    const char *registers[] = {"", "%a", "%a, %b", "%a, %b, %c"};
    Snippet snippet{std::string(test.opcode) + " %d, " + registers[test.sources] + ";",
                    bitsType(resultBits), bitsType(test.bits), bitsType(bitsB), bitsType(bitsC)};
    auto corners = [](unsigned bits) { return bits == 64 ? corners64 : corners32; };
    std::vector<Operands> operands =
        cross(corners(test.bits), test.sources > 1 ? corners(bitsB) : std::vector<uint64_t>{0},
              test.sources > 2 ? corners(bitsC) : std::vector<uint64_t>{0});
    std::vector<uint64_t> results = run(snippet, operands);
    for (size_t i = 0; i < operands.size(); ++i) {
      const Operands &o = operands[i];
      APInt expected = test.model(low(APInt(64, o.a), test.bits), low(APInt(64, o.b), bitsB),
                                  low(APInt(64, o.c), bitsC));
      ASSERT_EQ(results[i], expected.getZExtValue())
          << test.opcode << " " << std::hex << o.a << ", " << o.b << ", " << o.c;
    }
  }
}

TEST(IntegerOps, DivisionTruncatesAndWraps) {
  std::vector<uint64_t> divisors;
  for (uint64_t value : corners32)
    if (value != 0)
      divisors.push_back(value);
  std::vector<Operands> operands = cross(corners32, divisors);
  std::vector<uint64_t> quotients = run({"div.s32 %d, %a, %b;"}, operands);
  std::vector<uint64_t> remainders = run({"rem.s32 %d, %a, %b;"}, operands);
  for (size_t i = 0; i < operands.size(); ++i) {
    APInt a(32, operands[i].a), b(32, operands[i].b);
    EXPECT_EQ(quotients[i], a.sdiv(b).getZExtValue()) << operands[i].a << "/" << operands[i].b;
    EXPECT_EQ(remainders[i], a.srem(b).getZExtValue()) << operands[i].a << "%" << operands[i].b;
  }
}

/// bfe and bfi bit by bit, as the pseudo code of the PTX ISA has it.
TEST(IntegerOps, BitFieldsFollowThePseudoCode) {
  std::vector<uint64_t> positions = {0, 1, 7, 8, 30, 31, 32, 33, 100, 255, 256};
  std::vector<Operands> operands = cross(corners32, positions, positions);
  std::vector<uint64_t> extracted = run({"bfe.s32 %d, %a, %b, %c;"}, operands);
  std::vector<uint64_t> plain = run({"bfe.u32 %d, %a, %b, %c;"}, operands);
  std::vector<uint64_t> inserted =
      run({"mov.b32 %x, 0x5a5a5a5a; bfi.b32 %d, %a, %x, %b, %c;"}, operands);
  for (size_t i = 0; i < operands.size(); ++i) {
    uint32_t a = uint32_t(operands[i].a), pos = operands[i].b & 0xff, len = operands[i].c & 0xff;
    auto bit = [](uint32_t value, uint32_t at) { return value >> at & 1; };
    uint32_t sign = len == 0 ? 0 : bit(a, std::min(pos + len - 1, 31u));
    uint32_t expectedSigned = 0, expectedPlain = 0, expectedInserted = 0x5a5a5a5a;
    for (uint32_t k = 0; k < 32; ++k) {
      bool isInside = k < len && pos + k <= 31;
      expectedSigned |= (isInside ? bit(a, pos + k) : sign) << k;
      expectedPlain |= (isInside ? bit(a, pos + k) : 0u) << k;
      if (k < len && pos + k <= 31)
        expectedInserted = (expectedInserted & ~(1u << (pos + k))) | bit(a, k) << (pos + k);
    }
    ASSERT_EQ(extracted[i], expectedSigned) << std::hex << a << " pos " << pos << " len " << len;
    ASSERT_EQ(plain[i], expectedPlain) << std::hex << a << " pos " << pos << " len " << len;
    ASSERT_EQ(inserted[i], expectedInserted) << std::hex << a << " pos " << pos << " len " << len;
  }
}

TEST(IntegerOps, Lop3IsItsTruthTable) {
  for (unsigned table : {0x00u, 0xffu, 0xc0u, 0xfcu, 0x3cu, 0x96u, 0xe8u, 0x1du}) {
    std::vector<Operands> operands = {{0xf0f0f0f0, 0xcccccccc, 0xaaaaaaaa}};
    uint64_t result = run({"lop3.b32 %d, %a, %b, %c, " + std::to_string(table) + ";"}, operands)[0];
    EXPECT_EQ(result, table * 0x01010101ull) << table;
  }
}

TEST(IntegerOps, PermuteSelectsBytesAndSigns) {
  std::vector<Operands> operands = {{0x84030201, 0x08070685, 0x7531},
                                    {0x84030201, 0x08070685, 0x00bc}};
  std::vector<uint64_t> results = run({"prmt.b32 %d, %a, %b, %c;"}, operands);
  EXPECT_EQ(results[0], 0x08068402u); // bytes 7, 5, 3, 1
  EXPECT_EQ(results[1], 0x0101ffffu); // signs of bytes 3 (0x84) and 4 (0x85); bytes 0, 0
}

TEST(IntegerOps, CarriesGoThroughTheChain) {
  std::vector<Operands> operands = cross({0xffffffff, 1, 0}, {0xffffffff, 1, 0});
  Snippet snippet{"add.cc.u32 %x, %a, %b; addc.u32 %t, %a, 0; mov.b64 %d, {%x, %t};", "b64"};
  std::vector<uint64_t> results = run(snippet, operands);
  for (size_t i = 0; i < operands.size(); ++i)
    EXPECT_EQ(results[i], operands[i].a + operands[i].b + ((operands[i].a) << 32));
}

} // namespace
