//===- WideTest.cpp - 128-bit registers and atomics against values computed by hand -----------===//
#include "vgpu/Vgpu.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <gtest/gtest.h>

using namespace vgpu;

namespace {

using Words = std::vector<uint64_t>;

/// A kernel around `body`, in which %m is the address of the memory, %t and %b are the thread and
/// block, %w is %t and %a is %m + 16 %t. Code after `ret` may hold functions.
std::string kernelOf(llvm::StringRef body, llvm::StringRef functions = "") {
  return llvm::formatv(R"(.version 9.0
.target sm_90
.address_size 64
{1}
.visible .entry k(.param .u64 memory) {{
  .reg .pred %p<8>; .reg .b32 %t, %b, %r<8>; .reg .b64 %m, %a, %w, %x<16>; .reg .b128 %q<8>;
  .shared .align 16 .b8 s[64];
  .local .align 16 .b8 l[64];
  ld.param.u64 %m, [memory];
  mov.u32 %t, %tid.x;
  mov.u32 %b, %ctaid.x;
  cvt.u64.u32 %w, %t;
  mad.wide.u32 %a, %t, 16, %m;
{0}
  ret;
})",
                       body, functions);
}

LaunchResult run(llvm::StringRef text, uint64_t *memory, size_t count, LaunchConfig config) {
  config.entry = "k";
  config.arch = "sm_90";
  auto module = parsePtx(text, "k.ptx");
  if (!module) {
    ADD_FAILURE() << llvm::toString(module.takeError());
    return {};
  }
  auto result = launch(**module, config, {Argument::buffer(memory, count * 8, "memory")});
  if (!result) {
    ADD_FAILURE() << llvm::toString(result.takeError());
    return {};
  }
  for (const Finding &finding : result->findings)
    ADD_FAILURE() << finding.text();
  return std::move(*result);
}

/// The memory after one block of `threads` has run with all checks.
Words after(llvm::StringRef body, Words memory, unsigned threads, llvm::StringRef functions = "") {
  LaunchConfig config;
  config.block.x = threads;
  run(kernelOf(body, functions), memory.data(), memory.size(), config);
  return memory;
}

TEST(Wide, MovesPackAndUnpackTheLowPartFirst) {
  EXPECT_EQ(after(R"(
  mov.b128 %q0, {0x1122334455667788, 0x99aabbccddeeff00};
  mov.b128 %q1, %q0;
  mov.b128 {%x0, _}, %q1;
  mov.b128 {_, %x1}, %q1;
  mov.b128 {%r0, %r1, %r2, %r3}, %q1;
  mov.b128 %q2, {%r3, %r2, %r1, %r0};
  mov.b128 {%x2, %x3}, %q2;
  mov.b128 %q3, 5;
  mov.b128 {%x4, %x5}, %q3;
  mov.b128 {%x1, %x0}, %q1;
  st.global.v2.b64 [%m], {%x0, %x1};
  st.global.v2.b64 [%m+16], {%x2, %x3};
  st.global.v2.b64 [%m+32], {%x4, %x5};)",
                  Words(6), 1),
            (Words{0x99aabbccddeeff00, 0x1122334455667788, 0xddeeff0099aabbcc, 0x5566778811223344,
                   5, 0}));
}

TEST(Wide, LoadsAndStoresInEverySpace) {
  // Through shared, then local, then generic memory; each hop exchanges the words.
  EXPECT_EQ(after(R"(
  ld.global.b128 %q0, [%m];
  st.shared.b128 [s+16], %q0;
  ld.shared.v2.b64 {%x1, %x0}, [s+16];
  st.local.v2.b64 [l+32], {%x0, %x1};
  ld.local.b128 %q1, [l+32];
  st.relaxed.gpu.global.b128 [%m+16], %q1;
  cvta.shared.u64 %x2, s;
  ld.b128 %q2, [%x2+16];
  st.release.sys.b128 [%m+32], %q2;
  ld.acquire.gpu.L1::no_allocate.b128 %q3, [%m+16];
  ld.volatile.global.b128 %q4, [%m+32];
  mov.b128 {%x3, _}, %q3;
  mov.b128 {_, %x4}, %q4;
  st.global.v2.b64 [%m+48], {%x3, %x4};)",
                  {11, 22, 0, 0, 0, 0, 0, 0}, 1),
            (Words{11, 22, 22, 11, 11, 22, 22, 22}));
}

TEST(Wide, ExchangesInTheOrderOfTheLanes) {
  // Lane t puts in {t, ~t}; the even ones only. Each sees what the one before it put in.
  EXPECT_EQ(after(R"(
  and.b32 %r0, %t, 1;
  setp.eq.u32 %p0, %r0, 0;
  not.b64 %x0, %w;
  mov.b128 %q0, {%w, %x0};
  mov.b128 %q1, {77, 88};
  @%p0 atom.relaxed.gpu.global.exch.b128 %q1, [%m], %q0;
  st.global.b128 [%a+16], %q1;)",
                  {5, 6, 0, 0, 0, 0, 0, 0, 0, 0}, 4),
            (Words{2, ~2ull, 5, 6, 77, 88, 0, ~0ull, 77, 88}));
}

TEST(Wide, ComparesBothWords) {
  // Thread 0 finds both words equal, 1 only the low, 2 only the high one, 3 none.
  const Words before = {1, 2, 1, 3, 4, 2, 5, 6};
  Words expected = before, seen = before;
  expected[0] = 100, expected[1] = 200;
  for (llvm::StringRef op :
       {"atom.global.cas.b128", "atom.cas.acq_rel.gpu.b128", "atom.acquire.sys.cas.b128"}) {
    std::string cas = (op + " %q2, [%a], %q0, %q1;\n").str();
    std::string operands = "mov.b128 %q0, {1, 2};\nmov.b128 %q1, {100, 200};\n";
    EXPECT_EQ(after(operands + cas, before, 4), expected);
    EXPECT_EQ(after(operands + cas + "st.global.b128 [%a], %q2;\n", before, 4), seen);
  }
}

TEST(Wide, AtomicsInSharedMemoryByBothKindsOfAddress) {
  // Threads 0 and 1 count both words of s up, one by a shared, one by a generic address.
  EXPECT_EQ(after(R"(
  mov.b128 %q0, {7, 0xffffffffffffffff};
  setp.eq.u32 %p0, %t, 0;
  @%p0 st.shared.b128 [s+32], %q0;
  bar.sync 0;
  mov.b128 %q1, {8, 1};
  mov.b128 %q2, {9, 2};
  cvta.shared.u64 %x0, s;
  @%p0 atom.shared.cas.b128 _, [s+32], %q0, %q1;
  bar.sync 0;
  @!%p0 atom.cas.b128 %q3, [%x0+32], %q1, %q2;
  @!%p0 st.global.b128 [%m+16], %q3;
  bar.sync 0;
  ld.shared.b128 %q4, [s+32];
  @%p0 st.global.b128 [%m], %q4;)",
                  Words(4), 2),
            (Words{9, 2, 8, 1}));
}

TEST(Wide, RegistersSurviveRecursion) {
  // f(n) = {n, -n} + f(n - 1) word by word, with {n, -n} in a 128-bit register over the call.
  EXPECT_EQ(after(R"(
  .param .b32 n;
  .param .align 16 .b8 sum[16];
  st.param.b32 [n], 4;
  call (sum), f, (n);
  ld.param.b128 %q0, [sum];
  st.global.b128 [%m], %q0;)",
                  Words(2), 1, R"(
.func (.param .align 16 .b8 sum[16]) f(.param .b32 n) {
  .reg .pred %p; .reg .b32 %n, %less; .reg .b64 %low, %high, %x, %y; .reg .b128 %own, %rest;
  .param .b32 next;
  .param .align 16 .b8 from[16];
  ld.param.b32 %n, [n];
  cvt.u64.u32 %low, %n;
  neg.s64 %high, %low;
  mov.b128 %own, {%low, %high};
  mov.b128 %rest, 0;
  setp.eq.u32 %p, %n, 0;
  @%p bra DONE;
  sub.u32 %less, %n, 1;
  st.param.b32 [next], %less;
  call (from), f, (next);
  ld.param.b128 %rest, [from];
DONE:
  mov.b128 {%low, %high}, %own;
  mov.b128 {%x, %y}, %rest;
  add.s64 %low, %low, %x;
  add.s64 %high, %high, %y;
  mov.b128 %own, {%low, %high};
  st.param.b128 [sum], %own;
  ret;
})"),
            (Words{10, uint64_t(-10)}));
}

TEST(Wide, NobodySeesHalfOfIt) {
  // Blocks on several host threads count both words of a pair up, and load it in between. The
  // host's array straddles two lines of the host.
  std::string text = kernelOf(R"(
  mov.u64 %x8, 0;
  mov.u64 %x9, 0;
  mov.u32 %r0, 0;
AGAIN:
  mov.b128 %q0, {%x8, %x9};
  add.u64 %x0, %x8, 1;
  add.u64 %x1, %x9, 1;
  mov.b128 %q1, {%x0, %x1};
  atom.global.cas.b128 %q2, [%m], %q0, %q1;
  mov.b128 {%x2, %x3}, %q2;
  ld.relaxed.gpu.global.b128 %q3, [%m];
  mov.b128 {%x4, %x5}, %q3;
  setp.ne.u64 %p0, %x2, %x3;
  setp.ne.or.u64 %p0, %x4, %x5, %p0;
  @%p0 atom.global.add.u64 %x6, [%m+16], 1;
  setp.ne.u64 %p1, %x2, %x8;
  mov.u64 %x8, %x2;
  mov.u64 %x9, %x3;
  @%p1 bra AGAIN;
  add.u32 %r0, %r0, 1;
  setp.lt.u32 %p2, %r0, 20;
  @%p2 bra AGAIN;)");
  alignas(64) uint64_t memory[16] = {};
  LaunchConfig config;
  config.grid.x = 32;
  config.block.x = 8;
  config.numThreads = 4;
  config.checks = CheckSet::none();
  run(text, memory + 7, 4, config);
  EXPECT_EQ(memory[7], 32u * 8 * 20);
  EXPECT_EQ(memory[8], 32u * 8 * 20);
  EXPECT_EQ(memory[9], 0u) << "torn";
}

TEST(Wide, CountsSixteenBytesALane) {
  LaunchConfig config;
  config.block.x = 32;
  Words memory(64);
  Counters counters = run(kernelOf("  mov.b128 %q0, 1;\n  atom.global.exch.b128 %q1, [%a], %q0;\n"
                                   "  st.global.b128 [%a], %q1;"),
                          memory.data(), memory.size(), config)
                          .counters;
  std::string lines;
  for (const LineCounters &line : counters.lines)
    if (line.globalRequests)
      lines += llvm::formatv("{0}: {1} sectors in {2} requests, {3} bytes\n", line.opcode,
                             line.globalSectors, line.globalRequests, line.bytes);
  EXPECT_EQ(lines, "atom.global.exch.b128: 16 sectors in 1 requests, 1024 bytes\n" // read and write
                   "st.global.b128: 16 sectors in 1 requests, 512 bytes\n");
}

TEST(Wide, RefusesWhatThereIsNot) {
  auto errorOf = [](llvm::StringRef line) {
    auto module = parsePtx(kernelOf(line), "k.ptx");
    return module ? std::string("accepted") : llvm::toString(module.takeError());
  };
  const std::string only = "128 bits are only moved, loaded, stored, exchanged and "
                           "compared-and-swapped";
  const std::string type = "type '.b128' is not supported for this operation";
  const std::pair<const char *, std::string> cases[] = {
      {"and.b128 %q0, %q1, %q2;", only},
      {"setp.eq.b128 %p0, 1, 2;", only},
      {"selp.b128 %q0, %q1, %q2, %p0;", "type '.b128' is not allowed here"},
      {"ld.global.b64 %q0, [%m];", only},
      {"st.global.b64 [%m], %q0;", only},
      {"atom.global.add.b128 %q0, [%m], %q1;", type},
      {"red.global.exch.b128 [%m], %q1;", type},
      {"atom.global.exch.v2.b128 {%q0, %q1}, [%m], {%q2, %q3};", type},
      {"ld.global.v2.b128 {%q0, %q1}, [%m];", "type '.b128' is not supported here"},
      {"atom.global.exch.b128 %q0, [%m], %x0;", "operand '%x0' has 64 bits, expected 128"},
      {"mov.b128 %x0, {%x1, %x2};", "operand '%x0' has 64 bits, expected 128"},
      {"mov.b128 %q0, {%r0, %r1};", "operand '%r0' has 32 bits, expected 64"},
      {"atom.global.exch.b128 %q0, [%m], -1;", "expected a 128-bit register"},
      {"atom.global.cas.b128 %q0, [%m], %q1;", "expected 4 operands, got 3"},
  };
  for (const auto &[line, message] : cases)
    EXPECT_TRUE(llvm::StringRef(errorOf(line)).ends_with(": " + message)) << line << "\n"
                                                                          << errorOf(line);
}

} // namespace
