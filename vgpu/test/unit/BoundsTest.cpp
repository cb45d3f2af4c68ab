//===- BoundsTest.cpp - foreign PTX cannot take the host's memory or time --------------------===//
#include "vgpu/Exec/Limits.h"
#include "vgpu/LaunchFile.h"
#include "vgpu/Vgpu.h"
#include <chrono>
#include <gtest/gtest.h>

using namespace vgpu;

namespace {

constexpr llvm::StringLiteral header = ".version 8.3\n.target sm_80\n.address_size 64\n";

std::string loadError(const std::string &text) {
  auto module = parsePtx(header.str() + text, "k.ptx");
  if (!module)
    return llvm::toString(module.takeError());
  return (*module)->whyUnsupported("k");
}

/// Runs `k` of a file; arguments are one buffer. The error's text, or the findings', or nothing.
std::string outcome(const std::string &text, std::vector<uint64_t> &buffer,
                    LaunchConfig config = {}, LaunchResult *out = nullptr) {
  auto module = parsePtx(header.str() + text, "k.ptx");
  if (!module)
    return llvm::toString(module.takeError());
  config.entry = "k";
  auto result = launch(**module, config, {Argument::buffer(buffer.data(), 8 * buffer.size())});
  if (!result)
    return llvm::toString(result.takeError());
  std::string all;
  for (const Finding &finding : result->findings)
    all += finding.text() + "\n";
  if (out)
    *out = std::move(*result);
  return all;
}

const std::string mallocs = R"(.extern .func (.param .b64 r) malloc(.param .b64 n);
.extern .func free(.param .b64 p);
.visible .entry k(.param .u64 out) {
  .reg .b64 %rd<8>; .reg .b32 %r<4>; .reg .pred %p<2>;
  .param .b64 n, r;
  ld.param.u64 %rd0, [out];
  mov.u32 %r0, 0;
LOOP:
  ld.global.u64 %rd1, [%rd0];
  st.param.b64 [n], %rd1;
  call (r), malloc, (n);
  ld.param.b64 %rd2, [r];
  FREE
  add.s32 %r0, %r0, 1;
  setp.lt.u32 %p0, %r0, COUNT;
  @%p0 bra LOOP;
  st.global.u64 [%rd0+8], %rd2;
  ret;
})";

std::string mallocKernel(const std::string &count, const std::string &free = "") {
  std::string text = mallocs;
  text.replace(text.find("COUNT"), 5, count);
  text.replace(text.find("FREE"), 4, free);
  return text;
}

TEST(Bounds, MallocGivesNullBeyondTheHeap) {
  for (uint64_t bytes :
       {uint64_t(8) << 20, (uint64_t(8) << 20) + 1, uint64_t(1) << 40, ~uint64_t(0)}) {
    std::vector<uint64_t> buffer = {bytes, 1};
    EXPECT_EQ(outcome(mallocKernel("1"), buffer), "");
    EXPECT_EQ(buffer[1] != 0, bytes <= 8 << 20) << bytes;
  }
  std::vector<uint64_t> buffer = {1 << 20, 1};
  EXPECT_EQ(outcome(mallocKernel("9"), buffer), ""); // the ninth MiB
  EXPECT_EQ(buffer[1], 0u);
}

TEST(Bounds, FreedMemoryIsGivenAgain) {
  std::vector<uint64_t> buffer = {4 << 20, 1};
  const std::string free = "st.param.b64 [n], %rd2; call free, (n);";
  EXPECT_EQ(outcome(mallocKernel("3000", free), buffer), ""); // 12 GiB in all
  EXPECT_NE(buffer[1], 0u);
}

TEST(Bounds, TinyAllocationsTakeRoomToo) {
  std::vector<uint64_t> buffer = {1, 1};
  EXPECT_EQ(outcome(mallocKernel("65536"), buffer), "");
  EXPECT_NE(buffer[1], 0u);
  EXPECT_EQ(outcome(mallocKernel("65537"), buffer = {1, 1}), "");
  EXPECT_EQ(buffer[1], 0u);
}

/// A kernel whose blocks wait for memory that nobody writes.
std::string waiting(const std::string &declarations = "") {
  return ".visible .entry k(.param .u64 out) {\n" + declarations + R"(
  .reg .b64 %rd<2>; .reg .b32 %r<2>; .reg .pred %p<2>;
  ld.param.u64 %rd0, [out];
LOOP:
  ld.acquire.gpu.global.u32 %r0, [%rd0];
  setp.eq.u32 %p0, %r0, 0;
  @%p0 bra LOOP;
  ret;
})";
}

TEST(Bounds, BlocksUnderWayFitTheHostsMemory) {
  auto numResident = [](const std::string &text, LaunchConfig config) {
    auto module = llvm::cantFail(parsePtx(header.str() + text, "k.ptx"));
    return countResidentClusters(*module->findKernel("k"), config);
  };
  LaunchConfig config;
  config.block.x = 1024;
  EXPECT_EQ(numResident(waiting(), config), 256u); // as many threads as a GPU has
  const std::string large = waiting(".local .align 4 .b8 a[524288];");
  EXPECT_EQ(numResident(large, config), 1u); // a GiB, and as much again for its shadow
  config.block.x = 32;
  EXPECT_EQ(numResident(waiting(), config), 8192u);
}

TEST(Bounds, TheBlocksOfAClusterShareTheLimit) {
  std::vector<uint64_t> buffer(1);
  LaunchConfig config;
  config.block.x = 1024;
  config.grid.x = 16;
  config.cluster = {16, 1, 1};
  config.arch = "sm_90";
  EXPECT_NE(outcome(waiting(".local .align 4 .b8 a[524288];"), buffer, config)
                .find("the 16 blocks of a cluster of 1024 threads need"),
            std::string::npos);
}

TEST(Bounds, HundredsOfBlocksThatWaitForEverAreADeadlock) {
  std::vector<uint64_t> buffer(1);
  LaunchConfig config;
  config.grid.x = 300;
  auto start = std::chrono::steady_clock::now();
  EXPECT_NE(outcome(waiting(), buffer, config).find("in 299 other blocks as well"),
            std::string::npos);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60)); // it took hours
}

TEST(Bounds, ManyNamesTakeLinearTime) {
  std::string text, calls, uses, table;
  for (int i = 0; i < 30000; ++i) {
    std::string n = std::to_string(i);
    text += ".global .b32 g" + n + ";\n.func f" + n + "() { ret; }\n";
    calls += "call f" + n + ";\n";
    uses += "mov.u64 %rd0, g" + n + ";\n";
    table += (i ? ", g" : "g") + n;
  }
  std::vector<uint64_t> buffer(1);
  auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(outcome(text + ".global .b64 t[30000] = {" + table + "};\n" +
                        ".visible .entry k(.param .u64 out) {\n.reg .b64 %rd<2>;\n" + calls + uses +
                        "ret;\n}\n",
                    buffer),
            "");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
}

TEST(Bounds, AnAddressInAnInitializerIsThatOfTheDefinition) {
  std::string text = R"(.extern .global .b32 x;
.global .b32 x = 7;
.global .b64 p = generic(x);
.visible .entry k(.param .u64 out) {
  .reg .b64 %rd<3>; .reg .b32 %r<2>;
  ld.param.u64 %rd0, [out];
  ld.global.u64 %rd1, [p];
  ld.u32 %r0, [%rd1];
  st.global.u32 [%rd0], %r0;
  ret;
})";
  std::vector<uint64_t> buffer(1);
  EXPECT_EQ(outcome(text, buffer), "");
  EXPECT_EQ(buffer[0], 7u);
}

TEST(Bounds, DeclarationsThatAreTooLargeAreErrors) {
  auto local = [](const std::string &bytes) {
    return loadError(".entry k() {\n.local .align 4 .b8 a[" + bytes + "];\nret;\n}\n");
  };
  EXPECT_EQ(local("524288"), "");
  for (const char *bytes : {"524289", "4294967295", "4294967296"})
    EXPECT_NE(local(bytes).find("bytes of local memory a thread"), std::string::npos)
        << local(bytes);
  EXPECT_NE(loadError(".entry k(.param .align 4 .b8 a[32768]) {\nret;\n}\n").find("at most 32764"),
            std::string::npos);
  EXPECT_NE(loadError(".entry k() {\n.reg .b64 %r<1048577>;\nret;\n}\n").find("registers"),
            std::string::npos);
  std::vector<uint64_t> buffer(1);
  auto module = [&](const std::string &declaration) {
    return outcome(declaration + "\n.visible .entry k(.param .u64 out) {\nret;\n}\n", buffer);
  };
  EXPECT_NE(module(".global .b8 a[4294967296];").find("the .global variables"), std::string::npos);
  EXPECT_NE(module(".const .b8 a[1048576];").find("the .const variables"), std::string::npos);
  for (const char *bytes : {"200000", "4294967296", "4294967295"})
    EXPECT_NE(module(".shared .align 16 .b8 a[" + std::string(bytes) + "];").find("shared memory"),
              std::string::npos)
        << bytes;
  EXPECT_NE(module(".shared .align 1048576 .b8 a[4];\n.shared .align 1048576 .b8 b[4];")
                .find("shared memory"),
            std::string::npos);
}

TEST(Bounds, AlignmentsAreBounded) {
  for (const char *bytes : {"0", "3", "1073741824", "18446744073709551615"})
    EXPECT_NE(loadError(".global .align " + std::string(bytes) + " .b8 a[4];\n")
                  .find("is not a power of two up to 1048576"),
              std::string::npos);
}

TEST(Bounds, InstructionsWithoutTheirOperandsAreErrors) {
  // 'cvta' read an operand that was not there, and what lay in its place.
  for (const char *opcode : {"cvta.to.global.u64",
                             "mov.u32",
                             "add.u32",
                             "ld.global.u32",
                             "st.global.u32",
                             "setp.eq.u32",
                             "selp.u32",
                             "shfl.sync.idx.b32",
                             "vote.sync.any.pred",
                             "bra",
                             "cvt.u32.u64",
                             "isspacep.global",
                             "atom.global.add.u32",
                             "red.global.add.u32",
                             "mad.lo.u32",
                             "prmt.b32",
                             "bfe.u32",
                             "lop3.b32",
                             "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
                             "ldmatrix.sync.aligned.m8n8.x4.shared.b16",
                             "cp.async.ca.shared.global",
                             "mbarrier.init.shared.b64",
                             "mapa.shared::cluster.u32",
                             "match.any.sync.b32",
                             "redux.sync.add.s32",
                             "brx.idx",
                             "call",
                             "getctarank.shared::cluster.u32"})
    for (const char *operands : {"", " %r0"})
      EXPECT_NE(loadError(".entry k() {\n.reg .b32 %r<4>;\n" + std::string(opcode) + operands +
                          ";\nret;\n}\n"),
                "")
          << opcode << operands;
}

TEST(Bounds, ABlockWithoutSharedMemoryHasNoAddressesInIt) {
  std::vector<uint64_t> buffer(1);
  EXPECT_NE(outcome(".visible .entry k(.param .u64 out) {\n.reg .b32 %r<2>;\nmov.u32 %r0, 4;\n"
                    "st.shared.u32 [%r0], %r0;\nret;\n}\n",
                    buffer)
                .find("out_of_bounds"),
            std::string::npos);
}

TEST(Bounds, CallsThatInlineToTooMuchAreAnError) {
  std::string text = ".func f0() {\n.reg .b32 %r<99>;\nret;\n}\n";
  for (int i = 1; i < 40; ++i)
    text += ".func f" + std::to_string(i) + "() {\ncall f" + std::to_string(i - 1) + ";\ncall f" +
            std::to_string(i - 1) + ";\nret;\n}\n";
  EXPECT_NE(loadError(text + ".entry k() {\ncall f39;\nret;\n}\n").find("with all calls inlined"),
            std::string::npos);
}

TEST(Bounds, ManyQualifiersDoNotExhaustTheStack) {
  std::string text;
  for (int i = 0; i < 1000000; ++i)
    text += ".visible ";
  EXPECT_EQ(loadError(text + ".entry k() {\nret;\n}\n"), "");
  EXPECT_NE(loadError(text).find("expected a directive"), std::string::npos);
}

TEST(Bounds, RegistersOfAllFunctionsAreBounded) {
  std::string text;
  for (int i = 0; i < 5; ++i)
    text += ".func f" + std::to_string(i) + "() {\n.reg .b32 %r<1048576>;\nret;\n}\n";
  EXPECT_NE(loadError(text).find("registers in all functions"), std::string::npos);
}

TEST(Bounds, InstructionsOfAllKernelsAreBounded) {
  std::string text = ".func f0() {\n.reg .b32 %r<2>;\nmov.u32 %r0, 0;\nret;\n}\n";
  for (int i = 1; i < 20; ++i)
    text += ".func f" + std::to_string(i) + "() {\ncall f" + std::to_string(i - 1) + ";\ncall f" +
            std::to_string(i - 1) + ";\nret;\n}\n";
  for (int i = 0; i < 20; ++i)
    text += ".entry k" + std::to_string(i) + "() {\ncall f17;\nret;\n}\n";
  EXPECT_NE(loadError(text).find("the kernels of 'k.ptx' have more than"), std::string::npos);
}

TEST(Bounds, NumbersOfDirectivesAreNotCut) {
  for (std::string directive :
       {".reqntid 4294967297", ".maxntid 4294967295, 4294967295, 4294967295", ".maxnreg 4294967296",
        ".reqnctapercluster 4294967298"})
    EXPECT_NE(
        loadError(".entry k() " + directive + " {\nret;\n}\n").find("expected a number up to"),
        std::string::npos)
        << directive;
}

/// A kernel that calls `f(.param .b64 p)`, which calls itself with something else.
std::string recursive(const std::string &formal, const std::string &actual,
                      const std::string &inner, const std::string &declarations = "") {
  return declarations + ".func f(.param " + formal + R"() {
  .reg .b32 %r<2>; .reg .pred %p<2>;
  .param .b64 q;
  ld.param.b32 %r0, [p];
  setp.eq.u32 %p0, %r0, 1;
  @%p0 call f, ()" +
         inner + R"();
  ret;
}
.visible .entry k(.param .u64 out) {
  .param )" +
         actual + R"( a;
  .reg .b32 %r<2>;
  mov.u32 %r0, 1;
  st.param.b32 [a], %r0;
  call f, (a);
  ret;
})";
}

/// What a call saved, bound or copied of such arguments lay beyond local memory.
TEST(Bounds, ArgumentsOfCallsHaveTheSizeOfTheParameters) {
  EXPECT_EQ(loadError(recursive(".b64 p", ".b64", "q")), "");
  EXPECT_NE(loadError(recursive(".b8 p[262144]", ".b64", "q"))
                .find("'p' of 'f' has 262144 bytes, but 'a' has 8"),
            std::string::npos);
  EXPECT_NE(loadError(recursive(".b64 p", ".b64", "big", ".global .b8 big[16];\n"))
                .find("'big' must be a .param variable"),
            std::string::npos);
  EXPECT_NE(loadError(recursive(".b64 p", ".b64", "big", ".global .b64 big;\n"))
                .find("'big' must be a .param variable"),
            std::string::npos);
  EXPECT_NE(loadError(".func f(.param .b8 p[64]) {\nret;\n}\n.entry k() {\n.param .b32 a;\n"
                      "call f, (a);\nret;\n}\n")
                .find("'p' of 'f' has 64 bytes, but 'a' has 4"),
            std::string::npos);
}

TEST(Bounds, TargetsOfIndexedBranchesAreBounded) {
  std::string targets, labels, branches;
  for (int i = 0; i < 3000; ++i) {
    targets += (i ? ", L" : "L") + std::to_string(i);
    labels += "L" + std::to_string(i) + ": brx.idx %r0, T;\n";
  }
  EXPECT_NE(loadError(".entry k() {\n.reg .b32 %r<2>;\nT: .branchtargets " + targets + ";\n" +
                      labels + "ret;\n}\n")
                .find("targets with all calls inlined"),
            std::string::npos);
}

TEST(Bounds, RecursionEndsAsAStackOverflow) {
  std::string text = R"(.func f(.param .b64 n) {
  .reg .b64 %rd<200>;
  .local .align 8 .b8 frame[4096];
  .param .b64 m;
  ld.param.b64 %rd0, [n];
  add.s64 %rd0, %rd0, 1;
  st.param.b64 [m], %rd0;
  call f, (m);
  ret;
}
.visible .entry k(.param .u64 out) {
  .param .b64 m;
  .reg .b64 %rd<2>;
  mov.u64 %rd0, 0;
  st.param.b64 [m], %rd0;
  call f, (m);
  ret;
})";
  std::vector<uint64_t> buffer(1);
  LaunchConfig config;
  config.block.x = 1024;
  EXPECT_NE(outcome(text, buffer, config).find("the stack overflows"), std::string::npos);
}

/// Prints zeros by a format, so many times.
std::string printKernel(const std::string &format, const std::string &count) {
  std::string bytes;
  for (char c : format)
    bytes += std::to_string(int(c)) + ", ";
  std::string text = R"(.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
.global .align 1 .b8 fmt[] = {FORMAT 0};
.visible .entry k(.param .u64 out) {
  .reg .b64 %rd<4>; .reg .b32 %r<4>; .reg .pred %p<2>;
  .local .align 8 .b8 args[512];
  .param .b64 f, a; .param .b32 r;
  mov.u32 %r0, 0;
  mov.u64 %rd3, 0;
  mov.u64 %rd0, fmt;
  cvta.global.u64 %rd0, %rd0;
  mov.u64 %rd1, args;
  cvta.local.u64 %rd1, %rd1;
CLEAR:
  add.u64 %rd2, %rd1, %rd3;
  st.b32 [%rd2], %r0;
  add.u64 %rd3, %rd3, 4;
  setp.lt.u64 %p0, %rd3, 512;
  @%p0 bra CLEAR;
LOOP:
  st.param.b64 [f], %rd0;
  st.param.b64 [a], %rd1;
  call (r), vprintf, (f, a);
  add.s32 %r0, %r0, 1;
  setp.lt.u32 %p0, %r0, COUNT;
  @%p0 bra LOOP;
  ret;
})";
  text.replace(text.find("COUNT"), 5, count);
  text.replace(text.find("FORMAT"), 6, bytes);
  return text;
}

TEST(Bounds, PrintfTakes32Arguments) {
  std::string format;
  for (int i = 0; i < 40; ++i)
    format += "%d";
  std::vector<uint64_t> buffer(1);
  LaunchResult result;
  EXPECT_EQ(outcome(printKernel(format, "1"), buffer, {}, &result), "");
  EXPECT_EQ(result.output, std::string(32, '0') + format.substr(0, 16));
}

/// The host read a long double, and wide characters.
TEST(Bounds, SizesOfFloatsAndTextsChangeNothing) {
  std::vector<uint64_t> buffer(1);
  LaunchResult result;
  EXPECT_EQ(outcome(printKernel("%lf %llf %5.1lf %hhs %ls %lls %lc|%ld %hd %zu", "1"), buffer, {},
                    &result),
            "");
  EXPECT_EQ(result.output,
            std::string("0.000000 0.000000   0.0 (null) (null) (null) ") + '\0' + "|0 0 0");
}

TEST(Bounds, WhatIsPrintedIsBounded) {
  std::vector<uint64_t> buffer(1);
  LaunchResult result;
  EXPECT_EQ(outcome(printKernel("%999999999d", "10000"), buffer, {}, &result), "");
  EXPECT_LT(result.output.size(), size_t(17) << 20);
  EXPECT_NE(result.output.find("beyond 16 MiB"), std::string::npos);
}

TEST(Bounds, AsynchronousOperationsWithoutAWaitEndTheLaunch) {
  auto loop = [](const std::string &body) {
    return R"(.visible .entry k(.param .u64 out) {
  .reg .b64 %rd<2>; .reg .b32 %r<2>; .reg .pred %p<2>;
  .shared .align 128 .b8 s[4096];
  ld.param.u64 %rd0, [out];
  mov.u32 %r0, s;
  mov.u32 %r1, 0;
LOOP:
)" + body + "  add.u32 %r1, %r1, 1;\n  setp.ne.u32 %p0, %r1, 0;\n  @%p0 bra LOOP;\n  ret;\n}";
  };
  const std::string copy = "  cp.async.ca.shared.global [%r0], [%rd0], 16;\n",
                    commit = "  cp.async.commit_group;\n",
                    wait = "  cp.async.wait_group 1000000;\n",
                    store = "  cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r0], 16;\n",
                    close = "  cp.async.bulk.commit_group;\n";
  std::vector<uint64_t> buffer(64);
  LaunchConfig config;
  config.arch = "sm_90";
  config.block.x = 32;
  config.stepLimit = 1 << 24;
  for (AsyncTime time : {AsyncTime::Early, AsyncTime::Late})
    for (const std::string &body : {copy, commit, copy + commit + wait, store, store + close}) {
      config.asyncTime = time;
      EXPECT_NE(outcome(loop(body), buffer, config).find("asynchronous operations"),
                std::string::npos)
          << body;
    }
}

TEST(Bounds, ATimeLimitEndsALaunch) {
  std::string text = R"(.visible .entry k(.param .u64 out) {
  .reg .b64 %rd<2>; .reg .pred %p<2>;
  mov.u64 %rd0, 0;
LOOP:
  add.s64 %rd0, %rd0, 1;
  setp.ne.u64 %p0, %rd0, 0;
  @%p0 bra LOOP;
  ret;
})";
  std::vector<uint64_t> buffer(1);
  LaunchConfig config;
  config.timeLimitSeconds = 0.1;
  auto start = std::chrono::steady_clock::now();
  EXPECT_NE(outcome(text, buffer, config).find("its time limit"), std::string::npos);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

/// Two blocks hand a flag to and fro, so often; with 0, for ever.
std::string handingOn(const std::string &rounds, const std::string &inLoop = "") {
  return R"(.visible .entry k(.param .u64 out) {
  .reg .b64 %rd<4>; .reg .b32 %r<8>; .reg .pred %p<2>;
  ld.param.u64 %rd0, [out];
  mov.u32 %r1, %ctaid.x;
  xor.b32 %r2, %r1, 1;
  mov.u32 %r3, 0;
LOOP:
  ld.acquire.gpu.global.u32 %r0, [%rd0];
  setp.ne.u32 %p0, %r0, %r1;
  @%p0 bra LOOP;
)" + inLoop +
         "  add.u32 %r3, %r3, 1;\n  st.release.gpu.global.u32 [%rd0], %r2;\n" +
         (rounds == "0" ? std::string("  bra LOOP;\n")
                        : "  setp.lt.u32 %p0, %r3, " + rounds + ";\n  @%p0 bra LOOP;\n") +
         "  ret;\n}";
}

/// None of them repeats itself: memory changes all the time.
TEST(Bounds, BlocksThatKeepEachOtherBusyAreADeadlock) {
  std::vector<uint64_t> buffer(1);
  LaunchConfig config;
  config.grid.x = 2;
  config.timeLimitSeconds = 300;
  std::string text = outcome(handingOn("0"), buffer, config);
  EXPECT_NE(text.find("the same states come again and again, in 1 other blocks as well"),
            std::string::npos)
      << text;
  buffer[0] = 0;
  EXPECT_EQ(outcome(handingOn("300"), buffer, config), "");
  // Time is a state that never comes again.
  buffer[0] = 0;
  config.timeLimitSeconds = 2;
  text = outcome(handingOn("0", "  mov.u64 %rd2, %clock64;\n"), buffer, config);
  EXPECT_NE(text.find("its time limit"), std::string::npos) << text;
}

TEST(Bounds, AWaitForTheClockIsNoDeadlock) {
  std::string text = R"(.visible .entry k(.param .u64 out) {
  .reg .b64 %rd<4>; .reg .pred %p<2>;
LOOP:
  mov.u64 %rd0, %clock64;
  shr.u64 %rd0, %rd0, 18;
  setp.eq.u64 %p0, %rd0, 0;
  @%p0 bra LOOP;
  ret;
})";
  std::vector<uint64_t> buffer(1);
  EXPECT_EQ(outcome(text, buffer), "");
}

TEST(Bounds, NumbersOfALaunchFileAreChecked) {
  auto error = [](llvm::StringRef json) {
    auto file = parseLaunchFile(json, "");
    return file ? "" : llvm::toString(file.takeError());
  };
  EXPECT_NE(error(R"({"grid": -1})"), "");
  EXPECT_NE(error(R"({"grid": [1, 1, 1, 1]})"), "");
  EXPECT_NE(error(R"({"shared_bytes": -5})"), "");
  EXPECT_NE(error(R"({"step_limit": -5})"), "");
  EXPECT_NE(error(R"({"args": [{"shape": [-1], "zeros": true}]})"), "");
  EXPECT_NE(error(R"({"args": [{"shape": [4294967296, 4294967296], "zeros": true}]})"), "");
}

} // namespace
