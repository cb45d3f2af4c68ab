//===- ParserTest.cpp - what the PTX parser accepts and refuses -------------------------------===//
#include "vgpu/Ptx/Parser.h"
#include <gtest/gtest.h>

using namespace vgpu;

namespace {

std::string errorOf(llvm::StringRef text) {
  auto module = ptx::parseModule(text, "t.ptx");
  return module ? "" : llvm::toString(module.takeError());
}

constexpr llvm::StringLiteral header = ".version 8.0\n.target sm_80\n.address_size 64\n";

TEST(PtxParser, ReportsLineOfUnknownRegister) {
  EXPECT_EQ(errorOf((header + ".entry k() {\n  add.s32 %r1, %r1, 1;\n}\n").str()),
            "t.ptx:5: error: unknown register '%r1'");
}

TEST(PtxParser, LabelsOfInnerScopesShadowOuterOnes) {
  auto module = ptx::parseModule((header + ".entry k() {\n"
                                           "L:\n  { \n bra L;\nL: ret; }\n  bra L;\n}\n")
                                     .str(),
                                 "t.ptx");
  ASSERT_TRUE(bool(module)) << llvm::toString(module.takeError());
  const ptx::Function &function = *(*module)->functions[0];
  ASSERT_EQ(function.body.size(), 3u);
  EXPECT_EQ(function.labels[function.body[0].operands[0].index].target, 1u); // inner L
  EXPECT_EQ(function.labels[function.body[2].operands[0].index].target, 0u); // outer L
}

TEST(PtxParser, ParsesInitializersAndArrays) {
  auto module = ptx::parseModule(
      (header + ".global .align 8 .b16 t[2][2] = {{1, -1}, {0x7f, 4}};\n"
                ".const .f32 c = 0f3F800000;\n.extern .shared .align 16 .b8 s[];\n")
          .str(),
      "t.ptx");
  ASSERT_TRUE(bool(module)) << llvm::toString(module.takeError());
  const ptx::Variable &t = *(*module)->variables[0];
  EXPECT_EQ(t.sizeBytes, 8u);
  EXPECT_EQ(t.alignBytes, 8u);
  EXPECT_EQ(t.initializer, (std::vector<uint8_t>{1, 0, 0xff, 0xff, 0x7f, 0, 4, 0}));
  EXPECT_TRUE((*module)->variables[2]->isUnsizedArray);
}

TEST(PtxParser, BlanksMayStandBeforeModifiers) {
  auto module = ptx::parseModule((header + ".entry k() {\n  .reg .b32 %r<2>;\n"
                                           "  add .s32 %r1, %r0, 1;\n  ret .uni;\n}\n")
                                     .str(),
                                 "t.ptx");
  ASSERT_TRUE(bool(module)) << llvm::toString(module.takeError());
  const ptx::Function &function = *(*module)->functions[0];
  EXPECT_EQ(function.body[0].opcode, "add.s32");
  EXPECT_EQ(function.body[0].operands.size(), 3u);
  EXPECT_EQ(function.body[1].opcode, "ret.uni");
}

TEST(PtxParser, OperatorsOfConstantsBindAsInC) {
  auto sizeOf = [](llvm::StringRef extent) {
    auto module = ptx::parseModule((header + ".global .b8 t[" + extent + "];\n").str(), "t.ptx");
    EXPECT_TRUE(bool(module)) << llvm::toString(module.takeError());
    return (*module)->variables[0]->sizeBytes;
  };
  EXPECT_EQ(sizeOf("2+3*4"), 14u);
  EXPECT_EQ(sizeOf("(2+3)*4"), 20u);
  EXPECT_EQ(sizeOf("100-10-1"), 89u);
  EXPECT_EQ(sizeOf("1<<2+3"), 32u);
  EXPECT_EQ(sizeOf("100/7*2"), 28u);
  EXPECT_EQ(sizeOf("8|1&3^1"), 8u);
  EXPECT_EQ(errorOf((header + ".global .b8 t[1/0];\n").str()),
            "t.ptx:4: error: division by zero in a constant");
  auto module = ptx::parseModule((header + ".entry k() {\n  .reg .b64 %r<2>;\n"
                                           "  ld.global.u64 %r1, [%r0-4+8*2];\n"
                                           "  ld.global.u64 %r1, [%r0-0x8000000000000000];\n}\n")
                                     .str(),
                                 "t.ptx");
  ASSERT_TRUE(bool(module)) << llvm::toString(module.takeError());
  const ptx::Function &function = *(*module)->functions[0];
  EXPECT_EQ(function.body[0].operands[1].integer, 12u);
  EXPECT_EQ(function.body[1].operands[1].integer, uint64_t(1) << 63);
}

TEST(PtxParser, RefusesGarbageWithoutCrashing) {
  EXPECT_NE(errorOf(""), "");
  EXPECT_NE(errorOf("{{{{{"), "");
  EXPECT_NE(errorOf((header + ".entry k() { mov.u32 {{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{").str()),
            "");
  EXPECT_NE(errorOf((header + ".entry k() { @").str()), "");
}

} // namespace
