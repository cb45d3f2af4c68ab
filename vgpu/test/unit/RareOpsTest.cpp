//===- RareOpsTest.cpp - instructions that compilers seldom write, against the ISA's pseudo code --===//
#include "KernelHarness.h"
#include "vgpu/Exec/Decode.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include <bit>
#include <cmath>
#include <gtest/gtest.h>

using namespace vgpu;
using namespace vgpu::test;

namespace {

using Model = uint64_t (*)(uint64_t a, uint64_t b, uint64_t c);
struct Case {
  const char *code; ///< from %a, %b, %c to %d
  Model model;
  std::vector<uint64_t> a = corners32, b = corners32, c = {0};
};

int64_t asSigned24(uint64_t value) { return int64_t(value << 40) >> 40; }
int64_t s32(uint64_t value) { return int32_t(value); }
uint64_t byteOf(uint64_t value, unsigned i) { return value >> (8 * i) & 0xff; }
float real(uint64_t bits) { return std::bit_cast<float>(uint32_t(bits)); }

uint64_t bitMask(uint64_t a, uint64_t b, bool clamps) {
  uint32_t position = a & 31, width = b & 31, sum = position + width;
  uint32_t above = ~0u << position, behind = sum >= 32 ? 0 : ~0u << sum;
  if (clamps && a >= 32)
    above = 0;
  if (clamps && (a >= 32 || b >= 32))
    behind = 0;
  else if (width == 0)
    behind = ~0u;
  return above & ~behind;
}
uint64_t extend(uint64_t a, uint64_t b, bool clamps, bool isSigned) {
  uint32_t width = b & 31;
  bool isTooWide = clamps && b >= 32;
  uint32_t outside = isTooWide ? 0 : ~0u << width;
  bool sign = isSigned && width != 0 && !isTooWide && (a >> (width - 1) & 1);
  return (uint32_t(a) & ~outside) | (sign ? outside : 0);
}
uint64_t nthSet(uint64_t mask, uint64_t base, uint64_t offset) {
  int64_t n = s32(offset);
  if (n == 0)
    return mask >> base & 1 ? base : 0xffffffff;
  int64_t left = std::abs(n) - 1;
  for (int64_t at = int64_t(base); at >= 0 && at < 32; at += n > 0 ? 1 : -1)
    if ((mask >> at & 1) && left-- == 0)
      return uint64_t(at);
  return 0xffffffff;
}
template <bool signedA, bool signedB> uint64_t dot4(uint64_t a, uint64_t b, uint64_t c) {
  int64_t sum = s32(c);
  for (unsigned i = 0; i < 4; ++i)
    sum += (signedA ? int8_t(byteOf(a, i)) : int64_t(byteOf(a, i))) *
           (signedB ? int8_t(byteOf(b, i)) : int64_t(byteOf(b, i)));
  return uint32_t(sum);
}
template <bool signedA, bool signedB, unsigned first>
uint64_t dot2(uint64_t a, uint64_t b, uint64_t c) {
  int64_t sum = s32(c);
  for (unsigned i = 0; i < 2; ++i) {
    int64_t half = int64_t(a >> (16 * i) & 0xffff);
    sum += (signedA ? int16_t(half) : half) *
           (signedB ? int8_t(byteOf(b, first + i)) : int64_t(byteOf(b, first + i)));
  }
  return uint32_t(sum);
}

const std::vector<uint64_t> small = {0, 1, 2, 5, 15, 16, 30, 31, 32, 33, 63, 64, 255};
const std::vector<uint64_t> lanes = {0, 1, 7, 16, 30, 31};
const std::vector<uint64_t> offsets = {0, 1, 2, 3, 16, 0xffffffff, 0xfffffffe, 0xfffffff0};
const std::vector<uint64_t> sums = {0, 1, 0x7fffffff, 0x80000000, 0xdeadbeef};
const std::vector<uint64_t> signs = {0, 1, 0x7fffffff, 0x80000000, 0xffffffff};
const std::vector<uint64_t> realSigns = {0, 0x80000000, 0x3f800000, 0xbf800000, 0x7fc00000, 1};

const Case cases[] = {
    {"bmsk.clamp.b32 %d, %a, %b;", [](auto a, auto b, auto) { return bitMask(a, b, true); }, small,
     small},
    {"bmsk.wrap.b32 %d, %a, %b;", [](auto a, auto b, auto) { return bitMask(a, b, false); }, small,
     small},
    {"szext.clamp.s32 %d, %a, %b;", [](auto a, auto b, auto) { return extend(a, b, true, true); },
     corners32, small},
    {"szext.wrap.s32 %d, %a, %b;", [](auto a, auto b, auto) { return extend(a, b, false, true); },
     corners32, small},
    {"szext.clamp.u32 %d, %a, %b;", [](auto a, auto b, auto) { return extend(a, b, true, false); },
     corners32, small},
    {"fns.b32 %d, %a, %b, %c;", nthSet, corners32, lanes, offsets},
    {"mul24.lo.s32 %d, %a, %b;",
     [](auto a, auto b, auto) { return uint64_t(uint32_t(asSigned24(a) * asSigned24(b))); }},
    {"mul24.hi.s32 %d, %a, %b;",
     [](auto a, auto b, auto) {
       return uint64_t(uint32_t((asSigned24(a) * asSigned24(b)) >> 16));
     }},
    {"mul24.lo.u32 %d, %a, %b;",
     [](auto a, auto b, auto) { return uint64_t(uint32_t((a & 0xffffff) * (b & 0xffffff))); }},
    {"mul24.hi.u32 %d, %a, %b;",
     [](auto a, auto b, auto) {
       return uint64_t(uint32_t(((a & 0xffffff) * (b & 0xffffff)) >> 16));
     }},
    {"mad24.lo.s32 %d, %a, %b, %c;",
     [](auto a, auto b, auto c) {
       return uint64_t(uint32_t(asSigned24(a) * asSigned24(b) + s32(c)));
     },
     corners32, corners32, sums},
    {"mad24.hi.u32 %d, %a, %b, %c;",
     [](auto a, auto b, auto c) {
       return uint64_t(uint32_t((((a & 0xffffff) * (b & 0xffffff)) >> 16) + c));
     },
     corners32, corners32, sums},
    {"sad.s32 %d, %a, %b, %c;",
     [](auto a, auto b, auto c) { return uint64_t(uint32_t(std::abs(s32(a) - s32(b)) + s32(c))); },
     corners32, corners32, sums},
    {"sad.u32 %d, %a, %b, %c;",
     [](auto a, auto b, auto c) { return uint64_t(uint32_t((a > b ? a - b : b - a) + c)); },
     corners32, corners32, sums},
    {"dp4a.s32.s32 %d, %a, %b, %c;", dot4<true, true>, corners32, corners32, sums},
    {"dp4a.u32.u32 %d, %a, %b, %c;", dot4<false, false>, corners32, corners32, sums},
    {"dp4a.s32.u32 %d, %a, %b, %c;", dot4<true, false>, corners32, corners32, sums},
    {"dp4a.u32.s32 %d, %a, %b, %c;", dot4<false, true>, corners32, corners32, sums},
    {"dp2a.lo.s32.s32 %d, %a, %b, %c;", dot2<true, true, 0>, corners32, corners32, sums},
    {"dp2a.hi.s32.s32 %d, %a, %b, %c;", dot2<true, true, 2>, corners32, corners32, sums},
    {"dp2a.lo.u32.s32 %d, %a, %b, %c;", dot2<false, true, 0>, corners32, corners32, sums},
    {"dp2a.hi.u32.u32 %d, %a, %b, %c;", dot2<false, false, 2>, corners32, corners32, sums},
    {"slct.b32.s32 %d, %a, %b, %c;", [](auto a, auto b, auto c) { return s32(c) >= 0 ? a : b; },
     corners32, corners32, signs},
    {"slct.b32.f32 %d, %a, %b, %c;", [](auto a, auto b, auto c) { return real(c) >= 0 ? a : b; },
     corners32, corners32, realSigns},
    {"copysign.f32 %d, %a, %b;",
     [](auto a, auto b, auto) { return (a & 0x80000000) | (b & 0x7fffffff); }, floats32, floats32},
    {"testp.finite.f32 %p, %a; selp.b32 %d, 1, 0, %p;",
     [](auto a, auto, auto) { return uint64_t(std::isfinite(real(a))); },
     floats32,
     {0}},
    {"testp.infinite.f32 %p, %a; selp.b32 %d, 1, 0, %p;",
     [](auto a, auto, auto) { return uint64_t(std::isinf(real(a))); },
     floats32,
     {0}},
    {"testp.number.f32 %p, %a; selp.b32 %d, 1, 0, %p;",
     [](auto a, auto, auto) { return uint64_t(!std::isnan(real(a))); },
     floats32,
     {0}},
    {"testp.notanumber.f32 %p, %a; selp.b32 %d, 1, 0, %p;",
     [](auto a, auto, auto) { return uint64_t(std::isnan(real(a))); },
     floats32,
     {0}},
    {"testp.normal.f32 %p, %a; selp.b32 %d, 1, 0, %p;",
     [](auto a, auto, auto) { return uint64_t(std::isnormal(real(a)) || real(a) == 0); },
     floats32,
     {0}},
    {"testp.subnormal.f32 %p, %a; selp.b32 %d, 1, 0, %p;",
     [](auto a, auto, auto) { return uint64_t(std::fpclassify(real(a)) == FP_SUBNORMAL); },
     floats32,
     {0}},
    {"set.lt.u32.s32 %d, %a, %b;",
     [](auto a, auto b, auto) { return uint64_t(s32(a) < s32(b) ? 0xffffffffu : 0u); }},
    {"set.ge.f32.u32 %d, %a, %b;",
     [](auto a, auto b, auto) { return uint64_t(a >= b ? 0x3f800000u : 0u); }},
    {"set.ltu.u32.f32 %d, %a, %b;",
     [](auto a, auto b, auto) { return uint64_t(!(real(a) >= real(b)) ? 0xffffffffu : 0u); },
     floats32, floats32},
    {"sub.cc.u32 %x, %a, %b; subc.u32 %d, %b, 0;",
     [](auto a, auto b, auto) { return uint64_t(uint32_t(b - (a < b))); }},
    {"mad.lo.cc.u32 %x, %a, %b, %c; madc.hi.u32 %d, %a, %b, 0;",
     [](auto a, auto b, auto c) { return (a * b + c) >> 32; }, corners32, corners32, sums},
    {"isspacep.global %p, %to; isspacep.shared %q, %to; selp.b32 %d, 1, 0, %p; @%q add.u32 %d, %d, "
     "2;",
     [](auto, auto, auto) { return uint64_t(1); },
     {0},
     {0}},
    {"ldu.global.u32 %d, [%at];", [](auto a, auto, auto) { return a; }, corners32, {0}},
};

TEST(RareOps, FollowThePseudoCodeOfTheIsa) {
  for (const Case &test : cases) {
    std::vector<Operands> operands = cross(test.a, test.b, test.c);
    std::vector<uint64_t> results = run({test.code}, operands);
    for (size_t i = 0; i < operands.size(); ++i) {
      const Operands &o = operands[i];
      ASSERT_EQ(results[i], test.model(o.a, o.b, o.c))
          << test.code << " " << std::hex << o.a << ", " << o.b << ", " << o.c;
    }
  }
}

// --- atom and red: the location holds %a, the operand is %b

struct Atomic {
  const char *operation; ///< "add.u32"
  unsigned bits;
  Model model; ///< (old, operand, 0) -> new
  std::vector<uint64_t> values;
};

uint64_t addHalves(uint64_t a, uint64_t b, const llvm::fltSemantics &semantics) {
  llvm::APFloat sum(semantics, llvm::APInt(16, a & 0xffff));
  sum.add(llvm::APFloat(semantics, llvm::APInt(16, b & 0xffff)),
          llvm::APFloat::rmNearestTiesToEven);
  return sum.isNaN() ? 0x7fff : sum.bitcastToAPInt().getZExtValue();
}
uint64_t addF16(uint64_t a, uint64_t b) { return addHalves(a, b, llvm::APFloat::IEEEhalf()); }
uint64_t addBf16(uint64_t a, uint64_t b) { return addHalves(a, b, llvm::APFloat::BFloat()); }
uint64_t inPairs(uint64_t a, uint64_t b, uint64_t (*add)(uint64_t, uint64_t)) {
  return add(a, b) | add(a >> 16, b >> 16) << 16;
}

const std::vector<uint64_t> finite32 = {0,          0x80000000, 0x3f800000, 0xbf800000,
                                        0x3f000000, 0x4effffff, 0x7f7fffff, 0x33800000};
const std::vector<uint64_t> pairs16 = {0x3c003c00, 0xbc003c00, 0x7bff0001, 0x00007e00, 0x56401400};

const Atomic atomics[] = {
    {"add.u32", 32, [](auto a, auto b, auto) { return uint64_t(uint32_t(a + b)); }, corners32},
    {"add.u64", 64, [](auto a, auto b, auto) { return a + b; }, corners64},
    {"min.s32", 32, [](auto a, auto b, auto) { return s32(a) < s32(b) ? a : b; }, corners32},
    {"max.s32", 32, [](auto a, auto b, auto) { return s32(a) < s32(b) ? b : a; }, corners32},
    {"min.u32", 32, [](auto a, auto b, auto) { return std::min(a, b); }, corners32},
    {"max.u64", 64, [](auto a, auto b, auto) { return std::max(a, b); }, corners64},
    {"min.s64", 64, [](auto a, auto b, auto) { return int64_t(a) < int64_t(b) ? a : b; },
     corners64},
    {"and.b32", 32, [](auto a, auto b, auto) { return a & b; }, corners32},
    {"or.b64", 64, [](auto a, auto b, auto) { return a | b; }, corners64},
    {"xor.b32", 32, [](auto a, auto b, auto) { return a ^ b; }, corners32},
    {"inc.u32", 32, [](auto a, auto b, auto) { return a >= b ? 0 : a + 1; }, corners32},
    {"dec.u32", 32, [](auto a, auto b, auto) { return a == 0 || a > b ? b : a - 1; }, corners32},
    {"add.f32", 32,
     [](auto a, auto b, auto) { return uint64_t(std::bit_cast<uint32_t>(real(a) + real(b))); },
     finite32},
    {"add.noftz.f16x2", 32, [](auto a, auto b, auto) { return inPairs(a, b, addF16); }, pairs16},
    {"add.noftz.bf16x2", 32, [](auto a, auto b, auto) { return inPairs(a, b, addBf16); }, pairs16},
    {"add.noftz.f16", 16, [](auto a, auto b, auto) { return addF16(a, b); }, floats16},
};

TEST(RareOps, AtomicsLeaveTheNewValueAndGiveTheOld) {
  for (const Atomic &test : atomics) {
    std::string width = ".b" + std::to_string(test.bits), b = std::to_string(test.bits);
    std::string type = "b" + b, temporary = test.bits == 64 ? "%w" : "%x";
    std::vector<Operands> operands = cross(test.values, test.values);
    std::string place = "st.global" + width + " [%to], %a; ";
    std::string operation(test.operation);
    std::vector<uint64_t> afterRed =
        run({place + "red.global." + operation + " [%to], %b; ld.global" + width + " %d, [%to];",
             type, type, type},
            operands);
    std::vector<uint64_t> old =
        run({place + "atom.global." + operation + " %d, [%to], %b;", type, type, type}, operands);
    std::vector<uint64_t> afterAtom = run({place + "atom.relaxed.gpu.global." + operation +
                                               " %d, [%to], %b; ld.global" + width + " %d, [%to];",
                                           type, type, type},
                                          operands);
    for (size_t i = 0; i < operands.size(); ++i) {
      const Operands &o = operands[i];
      uint64_t expected = test.model(o.a, o.b, 0);
      ASSERT_EQ(afterRed[i], expected) << operation << " " << std::hex << o.a << ", " << o.b;
      ASSERT_EQ(afterAtom[i], expected) << operation << " " << std::hex << o.a << ", " << o.b;
      ASSERT_EQ(old[i], o.a) << operation;
    }
  }
}

TEST(RareOps, ExchangeAndCompare) {
  for (unsigned bits : {32u, 64u}) {
    std::string type = "b" + std::to_string(bits);
    std::vector<uint64_t> values = bits == 64 ? corners64 : corners32;
    std::vector<Operands> operands = cross(values, values, {7});
    std::string place = "st.global." + type + " [%to], %a; ",
                look = " ld.global." + type + " %d, [%to];";
    auto exchanged =
        run({place + "atom.global.exch." + type + " %d, [%to], %b;" + look, type, type, type, type},
            operands);
    auto compared = run(
        {place + "atom.global.cas." + type + " %d, [%to], %b, %c;" + look, type, type, type, type},
        operands);
    for (size_t i = 0; i < operands.size(); ++i) {
      EXPECT_EQ(exchanged[i], operands[i].b);
      EXPECT_EQ(compared[i], operands[i].a == operands[i].b ? 7 : operands[i].a);
    }
  }
}

TEST(RareOps, HintsChangeNothing) {
  std::vector<Operands> operands = cross(corners32);
  for (const char *hint : {"prefetch.global.L2 [%at];", "prefetchu.L1 [%at];",
                           "applypriority.global.L2::evict_normal "
                           "[%at], 128;",
                           "createpolicy.fractional.L2::evict_last.b64 %w, 1.0;", "brkpt;",
                           "pmevent 3;", "nanosleep.u32 20;"}) {
    std::vector<uint64_t> results = run({std::string(hint) + " mov.b32 %d, %a;"}, operands);
    for (size_t i = 0; i < operands.size(); ++i)
      ASSERT_EQ(results[i], operands[i].a) << hint;
  }
}

TEST(RareOps, TrapEndsTheLaunch) {
  auto module = parsePtx(".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() {\n"
                         ".reg .pred %p;\n.reg .b32 %r;\nmov.u32 %r, %tid.x;\n"
                         "setp.eq.u32 %p, %r, 5;\n@%p trap;\nret;\n}\n",
                         "k.ptx");
  ASSERT_TRUE(bool(module));
  LaunchConfig config;
  config.entry = "k";
  config.block.x = 32;
  for (CheckSet checks : {CheckSet::all(), CheckSet::none()}) {
    config.checks = checks;
    LaunchResult result = llvm::cantFail(launch(**module, config, {}));
    EXPECT_FALSE(result.isComplete);
    ASSERT_EQ(result.findings.size(), 1u);
    EXPECT_EQ(result.findings[0].kind, FindingKind::Trap);
    EXPECT_EQ(result.findings[0].site.thread[0], 5u);
    EXPECT_EQ(result.findings[0].site.ptxLine, 9u);
  }
}

// --- no opcode without a test

/// Whether an opcode stands anywhere in a text: as a word, with a modifier, operands or a
/// semicolon.
bool mentions(llvm::StringRef text, llvm::StringRef opcode) {
  for (size_t at = text.find(opcode); at != llvm::StringRef::npos; at = text.find(opcode, at + 1)) {
    char before = at == 0 ? ' ' : text[at - 1];
    char behind = at + opcode.size() < text.size() ? text[at + opcode.size()] : ' ';
    if (llvm::StringRef(" \t\n\";{").contains(before) && llvm::StringRef(" \t.;").contains(behind))
      return true;
  }
  return false;
}

TEST(RareOps, EveryOpcodeIsInSomeTest) {
  std::string texts;
  for (const char *folder : {"", "/../unit", "/../third_party/ptx"}) {
    std::error_code error;
    for (llvm::sys::fs::directory_iterator it(std::string(VGPU_TEST_PTX_DIR) + folder, error), end;
         it != end && !error; it.increment(error))
      if (auto buffer = llvm::MemoryBuffer::getFile(it->path()))
        texts += (*buffer)->getBuffer();
  }
  ASSERT_GT(texts.size(), 1000000u);
  unsigned count = 0;
  for (auto family : {integerFamily, bitFamily, floatFamily, approximateFamily, compareFamily,
                      convertFamily, moveFamily, memoryFamily, atomicFamily, warpFamily,
                      barrierFamily, controlFamily, asyncFamily, matrixLoadFamily, mmaFamily,
                      wmmaFamily, mbarrierFamily, wgmmaFamily, clusterFamily})
    for (const FamilyEntry &entry : family()) {
      EXPECT_TRUE(mentions(texts, entry.opcode)) << entry.opcode.str();
      ++count;
    }
  EXPECT_GT(count, 80u);
}

} // namespace
