//===- KernelHarness.cpp - run one instruction on many operands -------------------------------===//
#include "KernelHarness.h"
#include "llvm/Support/FormatVariadic.h"
#include <gtest/gtest.h>

namespace vgpu::test {

static unsigned bytesOf(llvm::StringRef type) { return ptx::byteWidth(*ptx::parseType(type)); }

/// A load of the operand's own width, so that register and type widths agree.
static std::string load(llvm::StringRef name, llvm::StringRef type, unsigned offset) {
  return llvm::formatv("  ld.global.b{0} %{1}, [%at+{2}];\n", bytesOf(type) * 8, name, offset);
}

std::vector<uint64_t> run(const Snippet &s, const std::vector<Operands> &operands) {
  std::string text = ".version 8.8\n.target sm_90a\n.address_size 64\n"
                     ".visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n) {\n"
                     "  .reg .pred %p, %q, %stop;\n  .reg .b32 %i, %lim, %t, %x;\n"
                     "  .reg .b64 %at, %to, %base, %off, %w;\n";
  for (auto [name, type] : {std::pair{"d", s.d}, {"a", s.a}, {"b", s.b}, {"c", s.c}})
    text += llvm::formatv("  .reg .b{0} %{1};\n", bytesOf(type) * 8, name);
  text += "  mov.u32 %i, %ctaid.x;\n  mov.u32 %t, %tid.x;\n  mad.lo.s32 %i, %i, 64, %t;\n"
          "  ld.param.u32 %lim, [n];\n  setp.ge.u32 %stop, %i, %lim;\n  @%stop ret;\n"
          "  ld.param.u64 %base, [in];\n  mad.wide.u32 %at, %i, 24, %base;\n"
          "  ld.param.u64 %base, [out];\n  mad.wide.u32 %to, %i, 8, %base;\n";
  text += load("a", s.a, 0) + load("b", s.b, 8) + load("c", s.c, 16) + "  " + s.code + "\n";
  text += llvm::formatv("  st.global.b{0} [%to], %d;\n  ret;\n}\n", bytesOf(s.d) * 8);

  std::vector<uint64_t> results(operands.size());
  auto module = parsePtx(text, "snippet.ptx");
  if (!module) {
    ADD_FAILURE() << llvm::toString(module.takeError()) << "\n" << text;
    return results;
  }
  LaunchConfig config;
  config.entry = "k";
  config.arch = "sm_90a";
  config.block.x = 64;
  config.grid.x = static_cast<uint32_t>((operands.size() + 63) / 64);
  config.checks = CheckSet::none().set(Check::MemoryFault);
  config.countMemory = false;
  std::vector<Operands> input = operands;
  auto result = launch(**module, config,
                       {Argument::buffer(input.data(), input.size() * sizeof(Operands)),
                        Argument::buffer(results.data(), results.size() * 8),
                        Argument::scalar(static_cast<uint32_t>(operands.size()))});
  if (!result)
    ADD_FAILURE() << llvm::toString(result.takeError());
  else
    for (const Finding &finding : result->findings)
      ADD_FAILURE() << finding.text();
  return results;
}

std::vector<Operands> cross(const std::vector<uint64_t> &a, const std::vector<uint64_t> &b,
                            const std::vector<uint64_t> &c) {
  std::vector<Operands> triples;
  for (uint64_t x : a)
    for (uint64_t y : b)
      for (uint64_t z : c)
        triples.push_back({x, y, z});
  return triples;
}

const std::vector<uint64_t> corners32 = {
    0,          1,          2,          3,          31,         32,        33,
    0x7f,       0x80,       0xff,       0x7fff,     0x8000,     0xffff,    0x12345678,
    0x7fffffff, 0x80000000, 0x80000001, 0xdeadbeef, 0xfffffffe, 0xffffffff};
const std::vector<uint64_t> corners64 = {0,
                                         1,
                                         63,
                                         64,
                                         0xffffffff,
                                         0x100000000,
                                         0x123456789abcdef0,
                                         0x7fffffffffffffff,
                                         0x8000000000000000,
                                         0xffffffffffffffff};
const std::vector<uint64_t> floats32 = {
    0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007fffff, 0x00800000, 0x3f800000,
    0xbf800000, 0x3f000000, 0x3fc00000, 0x40200000, 0x3effffff, 0x33800000, 0x477fe000,
    0x477fefff, 0x477ff000, 0x4f000000, 0x4effffff, 0xcf000000, 0x5f000000, 0x7f7fffff,
    0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x3eaaaaab, 0x40490fdb, 0xc2f6e979};
const std::vector<uint64_t> floats16 = {0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x0400,
                                        0x3c00, 0xbc00, 0x3555, 0x3800, 0x4200, 0x7bff,
                                        0xfbff, 0x7c00, 0xfc00, 0x7e00, 0x5640, 0x1400};

} // namespace vgpu::test
