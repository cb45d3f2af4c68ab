//===- WgmmaTest.cpp - wgmma.mma_async on every kind of operand -------------------------------===//
//
// A model lays out A and B in an image of shared memory, element by element, as the PTX ISA's
// figures of the canonical layouts have them; the kernel loads the image with one bulk copy and
// multiplies.
//
//===-----------------------------------------------------------------------------------===//
#include "HopperHarness.h"
#include "vgpu/Exec/SmallFloat.h"
#include <gtest/gtest.h>
#include <random>

using namespace vgpu;
using namespace vgpu::test;
using ptx::Type;

namespace {

struct Row {
  const char *name;
  const char *types; ///< d.a.b as in the opcode
  Type a, b, d;
  unsigned n;
  Swizzle swizzleA, swizzleB;
  bool transA, transB;
  int signA = 1, signB = 1;
  bool registersA = false;
  bool adds = false; ///< to accumulators that hold `start`
  int32_t start = 5;
};

constexpr Swizzle none = Swizzle::None, b32 = Swizzle::B32, b64 = Swizzle::B64,
                  b128 = Swizzle::B128;
const Row rows[] = {
    {"F16", "f32.f16.f16", Type::F16, Type::F16, Type::F32, 8, none, none, false, false},
    {"F16Swizzle32", "f32.f16.f16", Type::F16, Type::F16, Type::F32, 16, b32, b32, false, false},
    {"F16Swizzle64", "f32.f16.f16", Type::F16, Type::F16, Type::F32, 40, b64, b64, false, false},
    {"F16Swizzle128", "f32.f16.f16", Type::F16, Type::F16, Type::F32, 64, b128, b128, false, false},
    {"F16Mixed", "f32.f16.f16", Type::F16, Type::F16, Type::F32, 48, none, b128, false, false},
    {"F16TransA", "f32.f16.f16", Type::F16, Type::F16, Type::F32, 16, none, none, true, false},
    {"F16TransA32", "f32.f16.f16", Type::F16, Type::F16, Type::F32, 16, b32, none, true, false},
    {"F16TransA64", "f32.f16.f16", Type::F16, Type::F16, Type::F32, 16, b64, none, true, false},
    {"F16TransA128", "f32.f16.f16", Type::F16, Type::F16, Type::F32, 16, b128, none, true, false},
    {"F16TransB", "f32.f16.f16", Type::F16, Type::F16, Type::F32, 24, none, none, false, true},
    {"F16TransB32", "f32.f16.f16", Type::F16, Type::F16, Type::F32, 32, none, b32, false, true},
    {"F16TransB64", "f32.f16.f16", Type::F16, Type::F16, Type::F32, 64, none, b64, false, true},
    {"F16TransB128", "f32.f16.f16", Type::F16, Type::F16, Type::F32, 128, none, b128, false, true},
    {"F16Wide", "f32.f16.f16", Type::F16, Type::F16, Type::F32, 256, b128, b32, false, false},
    {"F16NegatedA", "f32.f16.f16", Type::F16, Type::F16, Type::F32, 8, b32, b32, false, false, -1,
     1},
    {"F16NegatedB", "f32.f16.f16", Type::F16, Type::F16, Type::F32, 8, b32, b32, false, false, 1,
     -1},
    {"F16NegatedBoth", "f32.f16.f16", Type::F16, Type::F16, Type::F32, 8, b32, b32, false, false,
     -1, -1},
    {"F16Adds", "f32.f16.f16", Type::F16, Type::F16, Type::F32, 8, b32, b32, false, false, 1, 1,
     false, true},
    {"F16Registers", "f32.f16.f16", Type::F16, Type::F16, Type::F32, 16, none, b64, false, false, 1,
     1, true},
    {"F16RegistersTransB", "f32.f16.f16", Type::F16, Type::F16, Type::F32, 64, none, b128, false,
     true, 1, 1, true, true},
    {"F16Sums", "f16.f16.f16", Type::F16, Type::F16, Type::F16, 24, b64, b64, false, false, 1, 1,
     false, true},
    {"Bf16", "f32.bf16.bf16", Type::BF16, Type::BF16, Type::F32, 32, b64, b64, false, false},
    {"Bf16Trans", "f32.bf16.bf16", Type::BF16, Type::BF16, Type::F32, 64, b128, b128, true, true},
    {"Tf32", "f32.tf32.tf32", Type::TF32, Type::TF32, Type::F32, 16, b128, b64, false, false},
    {"Tf32Registers", "f32.tf32.tf32", Type::TF32, Type::TF32, Type::F32, 8, none, b32, false,
     false, 1, -1, true},
    {"E4m3", "f32.e4m3.e4m3", Type::E4M3, Type::E4M3, Type::F32, 16, b32, b64, false, false},
    {"E4m3E5m2", "f32.e4m3.e5m2", Type::E4M3, Type::E5M2, Type::F32, 16, b64, b128, false, false},
    {"E5m2E4m3", "f16.e5m2.e4m3", Type::E5M2, Type::E4M3, Type::F16, 32, b128, none, false, false},
    {"E5m2Registers", "f32.e5m2.e5m2", Type::E5M2, Type::E5M2, Type::F32, 8, none, none, false,
     false, 1, 1, true},
    {"S8", "s32.s8.s8", Type::S8, Type::S8, Type::S32, 24, b32, b128, false, false},
    {"S8U8", "s32.s8.u8", Type::S8, Type::U8, Type::S32, 48, none, none, false, false, 1, 1, false,
     true},
    {"U8S8Registers", "s32.u8.s8", Type::U8, Type::S8, Type::S32, 32, none, b64, false, false, 1, 1,
     true},
    {"U8", "s32.u8.u8", Type::U8, Type::U8, Type::S32, 256, b128, b32, false, false},
    {"S8Saturates", "satfinite.s32.s8.s8", Type::S8, Type::S8, Type::S32, 16, b64, b64, false,
     false, 1, 1, false, true, INT32_MAX - 1000},
    {"S8Wraps", "s32.s8.s8", Type::S8, Type::S8, Type::S32, 16, b64, b64, false, false, 1, 1, false,
     true, INT32_MIN + 1000},
    {"B1", "s32.b1.b1.and.popc", Type::B1, Type::B1, Type::S32, 16, b64, b32, false, false, 1, 1,
     false, true},
};

unsigned bitsOf(Type type) { return type == Type::B1 ? 1 : ptx::bitWidth(type); }

/// A small integer as an element; the model keeps the integer.
uint64_t encode(Type type, int value) {
  switch (type) {
  case Type::F16:
    return encodeFloat(value, formatF16, Rounding::Nearest);
  case Type::BF16:
    return encodeFloat(value, formatBF16, Rounding::Nearest);
  case Type::TF32:
    return encodeFloat(value, formatF32, Rounding::Nearest);
  case Type::E4M3:
    return encodeFloat(value, formatE4M3, Rounding::Nearest);
  case Type::E5M2:
    return encodeFloat(value, formatE5M2, Rounding::Nearest);
  default:
    return static_cast<uint64_t>(value) & 0xff;
  }
}
int draw(std::mt19937 &generator, Type type) {
  int wide = static_cast<int>(generator() >> 8);
  switch (type) {
  case Type::B1:
    return wide & 1;
  case Type::S8:
    return wide % 128 - 64 * (wide >> 20 & 1);
  case Type::U8:
    return wide % 256;
  default:
    return wide % 7 - 3;
  }
}

/// An operand: where its elements lie, and its descriptor.
struct Layout {
  Swizzle swizzle;
  bool isTrans;
  unsigned elementBits;
  unsigned span() const { return 16u << static_cast<unsigned>(swizzle); }
  /// The bit of element (i, k) behind the start of the matrix.
  size_t bit(size_t i, size_t k) const {
    size_t byte, spare = 0;
    if (isTrans) { // two-byte elements, i runs along the bytes of a row
      byte = swizzle == none ? i / 8 * 256 + k / 8 * 128 + k % 8 * 16 + i % 8 * 2
                             : i * 2 / span() * (16 * span()) + k * span() + i * 2 % span();
    } else {
      size_t kByte = k * elementBits / 8;
      spare = k * elementBits % 8;
      byte = swizzle == none ? i / 8 * 256 + kByte / 16 * 128 + i % 8 * 16 + kByte % 16
                             : i * span() + kByte;
    }
    size_t chunks = span() / 16, chunk = byte / 16;
    chunk = chunk / chunks * chunks + ((chunk % chunks) ^ (byte / 128 % chunks));
    return (chunk * 16 + byte % 16) * 8 + spare;
  }
  uint64_t descriptor(uint64_t start) const {
    uint64_t leading = swizzle == none ? 128 : isTrans ? 16 * span() : 16;
    uint64_t stride = swizzle == none ? 256 : 8 * span();
    static constexpr uint64_t modes[] = {0, 3, 2, 1};
    return start >> 4 | leading >> 4 << 16 | stride >> 4 << 32 |
           modes[static_cast<unsigned>(swizzle)] << 62;
  }
};

void put(std::vector<uint8_t> &image, size_t start, size_t bit, uint64_t value, unsigned bits) {
  for (unsigned i = 0; i < bits; ++i)
    if (value >> i & 1)
      image[start + (bit + i) / 8] |= static_cast<uint8_t>(1u << (bit + i) % 8);
}

constexpr size_t imageBytes = 16384, startB = 8192;

std::string registerList(unsigned count) {
  std::string text;
  for (unsigned i = 0; i < count; ++i)
    text += (i ? ", %r" : "%r") + std::to_string(100 + i);
  return "{" + text + "}";
}

std::string kernelOf(const Row &row, unsigned k, unsigned registers) {
  uint32_t start = row.d == Type::F32   ? 0x40a00000u
                   : row.d == Type::F16 ? 0x45004500u
                                        : static_cast<uint32_t>(row.start);
  std::string body =
      "  mov.u32 %r0, %tid.x; setp.eq.u32 %p0, %r0, 0; ld.param.u64 %rd0, [image];\n"
      "  @%p0 mbarrier.init.shared.b64 [bar], 1;\n"
      "  @%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 16384;\n"
      "  @%p0 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [tile], [%rd0], 16384, "
      "[bar];\n  bar.sync 0;\n"
      "again: mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0; @!%p1 bra again;\n"
      "  ld.param.u64 %rd1, [fragments]; mad.wide.u32 %rd1, %r0, 16, %rd1;\n"
      "  ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%rd1];\n"
      "  ld.param.u64 %rd2, [descA]; ld.param.u64 %rd3, [descB];\n";
  for (unsigned i = 0; i < registers; ++i)
    body += "  mov.b32 %r" + std::to_string(100 + i) + ", " + std::to_string(start) + ";\n";
  body += std::string("  setp.eq.u32 %p2, 0, ") + (row.adds ? "0" : "1") +
          ";\n  wgmma.fence.sync.aligned;\n  wgmma.mma_async.sync.aligned.m64n" +
          std::to_string(row.n) + "k" + std::to_string(k) + "." + row.types + " " +
          registerList(registers) + ", " + (row.registersA ? "{%r10, %r11, %r12, %r13}" : "%rd2") +
          ", %rd3, %p2";
  bool is16Bit = row.a == Type::F16 || row.a == Type::BF16;
  if (ptx::isFloat(row.a))
    body += ", " + std::to_string(row.signA) + ", " + std::to_string(row.signB);
  if (is16Bit)
    body += (row.registersA ? ""
             : row.transA   ? ", 1"
                            : ", 0") +
            std::string(row.transB ? ", 1" : ", 0");
  body += ";\n  wgmma.commit_group.sync.aligned;\n  wgmma.wait_group.sync.aligned 0;\n"
          "  ld.param.u64 %rd4, [out]; mad.wide.u32 %rd4, %r0, " +
          std::to_string(4 * registers) + ", %rd4;\n";
  for (unsigned i = 0; i < registers; ++i)
    body += "  st.global.b32 [%rd4+" + std::to_string(4 * i) + "], %r" + std::to_string(100 + i) +
            ";\n";
  return hopperKernel(".param .u64 image, .param .u64 fragments, .param .u64 descA, "
                      ".param .u64 descB, .param .u64 out",
                      body);
}

class WgmmaRows : public testing::TestWithParam<Row> {};

TEST_P(WgmmaRows, MultipliesLikeTheModel) {
  const Row &row = GetParam();
  unsigned bits = bitsOf(row.a), k = 256 / bits;
  unsigned registers = row.n / 2 / (row.d == Type::F16 ? 2 : 1);
  std::mt19937 generator(row.n * 31 + bits);
  std::vector<int> a(64 * k), b(size_t(row.n) * k);
  std::vector<uint8_t> image(imageBytes), fragments(128 * 16);
  Layout layoutA{row.swizzleA, row.transA, bits}, layoutB{row.swizzleB, row.transB, bits};
  for (unsigned i = 0; i < 64; ++i)
    for (unsigned j = 0; j < k; ++j) {
      int value = a[i * k + j] = draw(generator, row.a);
      put(image, 0, layoutA.bit(i, j), encode(row.a, value), bits);
      // Lane g * 4 + t of warp i / 16; a register holds 32 bits of a row of 256.
      unsigned bit = j * bits, part = bit / 32, lane = i % 8 * 4 + part % 4;
      unsigned reg = i % 16 / 8 + 2 * (part / 4), thread = i / 16 * 32 + lane;
      put(fragments, thread * 16 + reg * 4, bit % 32, encode(row.a, value), bits);
    }
  for (unsigned i = 0; i < row.n; ++i)
    for (unsigned j = 0; j < k; ++j) {
      int value = b[i * k + j] = draw(generator, row.b);
      put(image, startB, layoutB.bit(i, j), encode(row.b, value), bits);
    }
  std::vector<uint32_t> out(128 * registers);
  LaunchResult result = runHopper(kernelOf(row, k, registers), 128,
                                  {Argument::buffer(image.data(), image.size()),
                                   Argument::buffer(fragments.data(), fragments.size()),
                                   Argument::scalar(layoutA.descriptor(0)),
                                   Argument::scalar(layoutB.descriptor(startB)),
                                   Argument::buffer(out.data(), out.size() * 4)});
  EXPECT_TRUE(result.isClean()) << textOf(result);
  for (unsigned i = 0; i < 64; ++i)
    for (unsigned j = 0; j < row.n; ++j) {
      int64_t sum = 0;
      for (unsigned p = 0; p < k; ++p)
        sum += int64_t(a[i * k + p]) * b[j * k + p];
      sum = sum * row.signA * row.signB + (row.adds ? row.start : 0);
      if (llvm::StringRef(row.types).starts_with("satfinite"))
        sum = std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX);
      else if (row.d == Type::S32)
        sum = static_cast<int32_t>(sum);
      unsigned thread = i / 16 * 32 + i % 8 * 4 + j % 8 / 2;
      unsigned element = j / 8 * 4 + i % 16 / 8 * 2 + j % 2;
      bool isPacked = row.d == Type::F16;
      uint32_t got = out[thread * registers + (isPacked ? element / 2 : element)];
      double value = row.d == Type::F32 ? std::bit_cast<float>(got)
                     : isPacked         ? halfToFloat(uint16_t(got >> (16 * (element % 2))))
                                        : static_cast<double>(static_cast<int32_t>(got));
      ASSERT_EQ(value, static_cast<double>(sum)) << i << ", " << j;
    }
}
INSTANTIATE_TEST_SUITE_P(Wgmma, WgmmaRows, testing::ValuesIn(rows),
                         [](const auto &info) { return std::string(info.param.name); });

TEST(Wgmma, WhatDoesNotExistIsRefused) {
  auto refuses = [](const std::string &rest, const std::string &reason) {
    std::string error = loadError("  wgmma.mma_async." + rest);
    EXPECT_NE(error.find(reason), std::string::npos) << error;
  };
  const std::string d = " {%r1, %r2, %r3, %r4}, %rd1, %rd2, %p1";
  refuses("sync.aligned.m64n8k8.f32.f16.f16" + d + ", 1, 1, 0, 0;", "does not exist");
  refuses("sync.aligned.m64n8k268435472.f32.f16.f16" + d + ", 1, 1, 0, 0;", "does not exist");
  refuses("sync.aligned.m64n12k16.f32.f16.f16" + d + ", 1, 1, 0, 0;", "does not exist");
  refuses("sync.aligned.m64n40k32.s32.s8.s8" + d + ";", "does not exist");
  refuses("sync.aligned.m64n8k16.f16.bf16.bf16" + d + ", 1, 1, 0, 0;", "does not exist");
  refuses("sync.aligned.m64n16k16.f32.f16.f16" + d + ", 1, 1, 0, 0;", "expected 8 registers for D");
  refuses("sync.aligned.m64n8k16.f32.f16.f16" + d + ", 2, 1, 0, 0;", "must be 1 or -1");
  refuses("sync.aligned.m64n8k16.f32.f16.f16" + d + ", 1, 1;", "expected an immediate");
  refuses("sp.sync.aligned.m64n8k32.f32.f16.f16" + d + ", 1, 1, 0, 0;", "sparse");
  refuses("sync.m64n8k16.f32.f16.f16" + d + ", 1, 1, 0, 0;", "expected '.sync.aligned'");
}

/// 64 x 16 of A are 2048 bytes, 8 x 16 of B 256; each warp reads its own rows of A and all of B.
TEST(Wgmma, OperandsAreCountedOnceForAWarpgroup) {
  LaunchResult result = runHopper(
      hopperKernel("", "  mov.u32 %r2, tile; shr.u32 %r4, %r2, 4; cvt.u64.u32 %rd1, %r4;\n"
                       "  or.b64 %rd2, %rd1, 0x0000001000080000; add.u64 %rd3, %rd2, 0x80;\n"
                       "  wgmma.fence.sync.aligned;\n"
                       "  wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r10, %r11, %r12, "
                       "%r13}, %rd2, %rd3, 0, 1, 1, 0, 0;\n"
                       "  wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n"),
      128, {});
  EXPECT_TRUE(result.isClean()) << textOf(result);
  EXPECT_EQ(result.counters.sharedBytesRead, 2048u + 256u);
  EXPECT_EQ(result.counters.sharedWavefronts, (2048u + 256u) / 128);
  EXPECT_EQ(result.counters.tensorOperations, 2u * 64 * 8 * 16);
}

} // namespace
