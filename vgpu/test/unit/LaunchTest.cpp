//===- LaunchTest.cpp - launches that are refused, and how ------------------------------------===//
#include "vgpu/Vgpu.h"
#include <gtest/gtest.h>

using namespace vgpu;

namespace {

constexpr llvm::StringLiteral kernel = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 x, .param .u32 n) .maxntid 128 {
  .shared .align 4 .b8 s[1024];
  ret;
})";

std::string errorOf(const LaunchConfig &config, llvm::ArrayRef<Argument> arguments) {
  auto module = parsePtx(kernel, "k.ptx");
  if (!module)
    return llvm::toString(module.takeError());
  auto result = launch(**module, config, arguments);
  return result ? "" : llvm::toString(result.takeError());
}

LaunchConfig config() {
  LaunchConfig config;
  config.entry = "k";
  config.block.x = 64;
  return config;
}

TEST(Launch, RefusesWithTheNumbersThatDoNotFit) {
  float x[4];
  std::vector<Argument> good = {Argument::buffer(x, sizeof(x)), Argument::scalar(uint32_t(4))};
  EXPECT_EQ(errorOf(config(), good), "");
  EXPECT_EQ(errorOf(config(), {good[0]}), "kernel 'k' takes 2 arguments, got 1");
  EXPECT_EQ(errorOf(config(), {good[0], Argument::scalar(uint64_t(4))}),
            "argument 1 ('n') of kernel 'k': expected 4 bytes, got 8");

  LaunchConfig bad = config();
  bad.entry = "other";
  EXPECT_EQ(errorOf(bad, good), "no kernel 'other' in 'k.ptx'; it has 'k'");
  bad = config();
  bad.block.x = 0;
  EXPECT_EQ(errorOf(bad, good),
            "cannot launch 'k': block 0x1x1, grid 1x1x1: every extent must be at least 1");
  bad.block.x = 256;
  EXPECT_EQ(errorOf(bad, good), "cannot launch 'k': it allows 128 threads (.maxntid), got 256");
  bad = config();
  bad.dynamicSharedBytes = 200000;
  EXPECT_EQ(errorOf(bad, good), "cannot launch 'k': 201024 bytes of shared memory (1024 static, "
                                "200000 dynamic); sm_80 allows 166912");
  bad = config();
  bad.arch = "sm_75";
  EXPECT_EQ(errorOf(bad, good), "cannot launch 'k': the PTX is for sm_80, the device is sm_75");
}

TEST(Launch, UnknownInstructionsAndModifiersAreNamedBeforeAnythingRuns) {
  auto load = [](llvm::StringRef line) {
    std::string text = (".version 8.0\n.target sm_80\n.address_size 64\n.entry k() {\n"
                        ".reg .b32 %r<4>;\n" +
                        line + "\nret;\n}\n")
                           .str();
    auto module = parsePtx(text, "k.ptx");
    return module ? "" : llvm::toString(module.takeError());
  };
  EXPECT_EQ(load("frobnicate.b32 %r1, %r2;"),
            "k.ptx:6: error: unknown instruction 'frobnicate.b32'");
  EXPECT_EQ(load("add.odd.s32 %r1, %r2, 1;"),
            "k.ptx:6: error: 'add.odd.s32': expected a type, got 'odd'");
  EXPECT_EQ(load("mov.b64 %r1, 1;"),
            "k.ptx:6: error: 'mov.b64': operand '%r1' has 32 bits, expected 64");
}

TEST(Launch, CallsOfTheRuntimeMustFit) {
  auto load = [](llvm::StringRef call) {
    std::string text = (".version 8.0\n.target sm_80\n.address_size 64\n"
                        ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
                        ".extern .func other(.param .b64 a);\n"
                        ".entry k() {\n.param .b64 x, y; .param .b32 z;\n" +
                        call + "\nret;\n}\n")
                           .str();
    auto module = parsePtx(text, "k.ptx");
    return module ? "" : llvm::toString(module.takeError());
  };
  EXPECT_EQ(load("call (z), vprintf, (x, y);"), "");
  EXPECT_EQ(load("call (z), vprintf, (x);"),
            "k.ptx:8: error: 'call': 'vprintf' takes 2 parameters and gives 1, got 1 and 1");
  EXPECT_EQ(load("call (z), vprintf, (x, z);"),
            "k.ptx:8: error: 'call': 'z' of 'vprintf' must have 8 bytes");
  EXPECT_EQ(load("call other, (x);"),
            "k.ptx:8: error: 'call': calls 'other', which has no body in this module");
}

} // namespace
