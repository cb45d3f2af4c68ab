//===- BulkCopyTest.cpp - cp.async.bulk and its tensor form -----------------------------------===//
//
// Tensor copies are compared with a model that looks up every element of the box by its
// coordinates; it shares no code with the executor, and the swizzle is written out from the PTX
// ISA's figures.
//
//===-----------------------------------------------------------------------------------===//
#include "HopperHarness.h"
#include "vgpu/Exec/SmallFloat.h"
#include <gtest/gtest.h>
#include <numeric>

using namespace vgpu;
using namespace vgpu::test;

namespace {

/// One thread loads `bytes` from `in` to the tile, waits, and does `code`.
std::string afterLoad(unsigned bytes, const std::string &code) {
  std::string size = std::to_string(bytes);
  return "  mbarrier.init.shared.b64 [bar], 1;\n"
         "  mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], " +
         size +
         ";\n"
         "  ld.param.u64 %rd0, [in]; ld.param.u64 %rd1, [out];\n"
         "  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd0], " +
         size +
         ", [bar];\n"
         "again: mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0; @!%p1 bra again;\n" +
         code + "\n  cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;\n";
}

LaunchResult runCopy(const std::string &body, std::vector<uint8_t> &in, std::vector<uint8_t> &out) {
  return runHopper(
      hopperKernel(".param .u64 in, .param .u64 out", body), 1,
      {Argument::buffer(in.data(), in.size()), Argument::buffer(out.data(), out.size())});
}

std::vector<uint8_t> counting(size_t bytes) {
  std::vector<uint8_t> values(bytes);
  for (size_t i = 0; i < bytes; ++i)
    values[i] = static_cast<uint8_t>(i * 7 + i / 256);
  return values;
}

TEST(BulkCopy, InAndOut) {
  std::vector<uint8_t> in = counting(256), out(256);
  LaunchResult result = runCopy(
      afterLoad(256, "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], 256;"), in, out);
  EXPECT_TRUE(result.isClean()) << textOf(result);
  EXPECT_EQ(in, out);
}

TEST(BulkCopy, FromSharedToShared) {
  std::vector<uint8_t> in = counting(64), out(64);
  LaunchResult result = runCopy(
      afterLoad(64, "mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 64;"
                    "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes "
                    "[tile+1024], [tile], 64, [bar];"
                    "next: mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 1; @!%p1 bra next;"
                    "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile+1024], 64;"),
      in, out);
  EXPECT_TRUE(result.isClean()) << textOf(result);
  EXPECT_EQ(in, out);
}

TEST(BulkCopy, ByteMask) {
  std::vector<uint8_t> in = counting(32), out(32, 0xee);
  LaunchResult result =
      runCopy(afterLoad(32, "mov.u16 %h0, 0x8005;"
                            "cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%rd1], [tile], "
                            "32, %h0;"),
              in, out);
  EXPECT_TRUE(result.isClean()) << textOf(result);
  for (unsigned i = 0; i < 32; ++i)
    EXPECT_EQ(out[i], (0x8005 >> (i % 16) & 1) ? in[i] : 0xee) << i;
}

/// Two blocks write 8 bytes of each 16: the first ones, and those from `step` on.
LaunchResult interleaveBlocks(unsigned step, std::vector<uint8_t> &in, std::vector<uint8_t> &out) {
  std::string body =
      afterLoad(32, "mov.u32 %r0, %ctaid.x; mul.lo.u32 %r0, %r0, " + std::to_string(step) +
                        "; mov.u32 %r1, 0xff; shl.b32 %r1, %r1, %r0; cvt.u16.u32 %h0, %r1;"
                        "cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%rd1], [tile], "
                        "32, %h0;");
  return runHopper(
      hopperKernel(".param .u64 in, .param .u64 out", body), 1,
      {Argument::buffer(in.data(), in.size()), Argument::buffer(out.data(), out.size())}, {2});
}

TEST(BulkCopy, MaskedBytesAreNotWritten) {
  std::vector<uint8_t> in = counting(32), out(32, 0xee);
  LaunchResult result = interleaveBlocks(8, in, out);
  EXPECT_TRUE(result.isClean()) << textOf(result);
  EXPECT_EQ(in, out);
  EXPECT_EQ(kindsOf(interleaveBlocks(7, in, out)),
            (std::vector<std::string>{"race", "async_overwrite"}));
}

TEST(BulkCopy, MaskedBytesAreNotRead) {
  auto store = [](const char *mask) {
    std::vector<uint8_t> in = counting(32), out(32);
    return kindsOf(runCopy(afterLoad(32, "mov.u64 %rd2, 1; st.shared.b64 [tile+1024], %rd2;"
                                         "fence.proxy.async.shared::cta; mov.u16 %h0, " +
                                             std::string(mask) +
                                             ";cp.async.bulk.global.shared::cta.bulk_group.cp_mask "
                                             "[%rd1], [tile+1024], 16, %h0;"),
                           in, out));
  };
  EXPECT_EQ(store("0x00ff"), std::vector<std::string>{});
  EXPECT_EQ(store("0x01ff"), std::vector<std::string>{"uninitialized"});
}

TEST(BulkCopy, MaskNeedsPlainBytes) {
  std::string error = loadError("mov.u16 %h0, 1; cp.async.bulk.shared::cluster.global.mbarrier::"
                                "complete_tx::bytes.cp_mask [tile], [%rd0], 16, [bar], %h0;");
  EXPECT_NE(error.find("'.cp_mask' goes with copies of plain bytes"), std::string::npos) << error;
}

struct Reduction {
  const char *name, *modifiers;
  unsigned width;
  uint64_t old, value, expected;
};
uint64_t bitsOf(float value) { return std::bit_cast<uint32_t>(value); }
const Reduction reductions[] = {
    {"AddU32", "add.u32", 4, 0xffffffff, 3, 2},
    {"AddS64", "add.s64", 8, 5, uint64_t(-7), uint64_t(-2)},
    {"AddF32", "add.f32", 4, bitsOf(1.5f), bitsOf(2.25f), bitsOf(3.75f)},
    {"AddF64", "add.f64", 8, std::bit_cast<uint64_t>(1.5), std::bit_cast<uint64_t>(2.0),
     std::bit_cast<uint64_t>(3.5)},
    {"AddF16", "add.noftz.f16", 2, 0x3c00, 0x4000, 0x4200},
    {"AddBf16", "add.noftz.bf16", 2, 0x3f80, 0x4000, 0x4040},
    {"MinF16", "min.f16", 2, 0x3c00, 0xc000, 0xc000},
    {"MaxBf16", "max.bf16", 2, 0x3f80, 0x4000, 0x4000},
    {"MinS32", "min.s32", 4, 5, 0xfffffffe, 0xfffffffe},
    {"MinU32", "min.u32", 4, 5, 0xfffffffe, 5},
    {"MaxS64", "max.s64", 8, uint64_t(-3), uint64_t(-9), uint64_t(-3)},
    {"MaxU64", "max.u64", 8, 3, uint64_t(-9), uint64_t(-9)},
    {"IncBelow", "inc.u32", 4, 4, 5, 5},
    {"IncWraps", "inc.u32", 4, 5, 5, 0},
    {"DecAbove", "dec.u32", 4, 9, 5, 5},
    {"DecDown", "dec.u32", 4, 4, 5, 3},
    {"And", "and.b32", 4, 0xff00ff00, 0x0ff00ff0, 0x0f000f00},
    {"Or", "or.b64", 8, 0xff00, 0x00ff, 0xffff},
    {"Xor", "xor.b32", 4, 0xffff0000, 0x00ffff00, 0xff00ff00},
};

class BulkReductions : public testing::TestWithParam<Reduction> {};
TEST_P(BulkReductions, CombinesEachElement) {
  const Reduction &row = GetParam();
  std::vector<uint8_t> in(32), out(32);
  for (unsigned at = 0; at < 32; at += row.width) {
    std::memcpy(in.data() + at, &row.value, row.width);
    std::memcpy(out.data() + at, &row.old, row.width);
  }
  LaunchResult result =
      runCopy(afterLoad(32, std::string("cp.reduce.async.bulk.global.shared::cta.bulk_group.") +
                                row.modifiers + " [%rd1], [tile], 32;"),
              in, out);
  EXPECT_TRUE(result.isClean()) << textOf(result);
  for (unsigned at = 0; at < 32; at += row.width) {
    uint64_t got = 0;
    std::memcpy(&got, out.data() + at, row.width);
    EXPECT_EQ(got, row.expected) << at;
  }
}
INSTANTIATE_TEST_SUITE_P(BulkCopy, BulkReductions, testing::ValuesIn(reductions),
                         [](const auto &info) { return std::string(info.param.name); });

TEST(BulkCopy, FaultsAreReported) {
  std::vector<uint8_t> in = counting(256), out(256);
  auto kinds = [&](const std::string &code) {
    LaunchResult result = runCopy(afterLoad(256, code), in, out);
    return kindsOf(result);
  };
  using Kinds = std::vector<std::string>;
  EXPECT_EQ(kinds("cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], 24;"),
            Kinds{"misaligned"});
  EXPECT_EQ(kinds("cp.async.bulk.global.shared::cta.bulk_group [%rd1+8], [tile], 16;"),
            Kinds{"misaligned"});
  EXPECT_EQ(kinds("cp.async.bulk.global.shared::cta.bulk_group [%rd1+16], [tile], 256;"),
            Kinds{"out_of_bounds"});
  EXPECT_EQ(kinds("cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile+512], 16;"),
            Kinds{"uninitialized"});
}

// --- tensors

struct TensorRow {
  const char *name;
  ptx::Type type;
  Swizzle swizzle;
  bool fillsNan;
  std::vector<uint32_t> extents, box; ///< the innermost first
  std::vector<int32_t> at;
  std::vector<uint32_t> steps; ///< element strides; empty: 1
};
const TensorRow tensors[] = {
    {"OneDimension", ptx::Type::F32, Swizzle::None, false, {100}, {32}, {8}, {}},
    {"PastTheEnd", ptx::Type::F32, Swizzle::None, false, {100}, {32}, {84}, {}},
    {"BeforeTheBegin", ptx::Type::F32, Swizzle::None, true, {100}, {32}, {-5}, {}},
    {"Bytes", ptx::Type::U8, Swizzle::None, false, {48, 5}, {16, 3}, {40, 1}, {}},
    {"Swizzle32", ptx::Type::F16, Swizzle::B32, false, {64, 20}, {16, 16}, {16, 2}, {}},
    {"Swizzle64", ptx::Type::F16, Swizzle::B64, false, {64, 20}, {32, 16}, {24, -3}, {}},
    {"Swizzle128", ptx::Type::F16, Swizzle::B128, false, {128, 20}, {64, 16}, {96, 10}, {}},
    {"Swizzle128F64", ptx::Type::F64, Swizzle::B128, true, {30, 9}, {16, 8}, {18, 4}, {}},
    {"ThreeDimensions",
     ptx::Type::S32,
     Swizzle::None,
     false,
     {20, 6, 5},
     {8, 3, 2},
     {16, 4, 3},
     {}},
    {"FourDimensions",
     ptx::Type::BF16,
     Swizzle::B32,
     true,
     {32, 4, 3, 3},
     {16, 2, 2, 2},
     {24, -1, 2, 0},
     {}},
    {"FiveDimensions",
     ptx::Type::U16,
     Swizzle::None,
     false,
     {16, 3, 2, 3, 2},
     {8, 2, 1, 2, 2},
     {4, 2, 1, -1, 1},
     {}},
    {"ElementStrides", ptx::Type::F32, Swizzle::None, false, {64, 12}, {16, 6}, {3, 1}, {2, 3}},
};

TensorMap mapOf(const TensorRow &row) {
  TensorMap map;
  map.type = row.type;
  map.swizzle = row.swizzle;
  map.fillsNan = row.fillsNan;
  map.extents = row.extents;
  map.box = row.box;
  map.elementStrides = row.steps;
  uint64_t stride = row.extents[0] * ptx::byteWidth(row.type);
  for (size_t i = 1; i < row.extents.size(); ++i) {
    stride = (stride + 15) / 16 * 16;
    map.strideBytes.push_back(stride);
    stride *= row.extents[i];
  }
  return map;
}
size_t bytesOf(const TensorMap &map) {
  return map.rank() == 1 ? map.extents[0] * map.elementBytes()
                         : map.strideBytes.back() * map.extents.back();
}
uint64_t nanOf(ptx::Type type) {
  return type == ptx::Type::F64 ? 0x7fffffffffffffff : type == ptx::Type::F32 ? 0x7fffffff : 0x7fff;
}

/// Calls visit(byte in the box, byte in the tensor or -1) for each element of the box.
template <class Visit>
void forEachElement(const TensorRow &row, const TensorMap &map, Visit visit) {
  std::vector<uint32_t> counts;
  for (size_t i = 0; i < row.box.size(); ++i) {
    uint32_t step = row.steps.empty() ? 1 : row.steps[i];
    counts.push_back((row.box[i] + step - 1) / step);
  }
  size_t total = std::accumulate(counts.begin(), counts.end(), size_t(1), std::multiplies<>());
  for (size_t element = 0; element < total; ++element) {
    size_t rest = element;
    int64_t byte = 0;
    bool isInside = true;
    for (size_t i = 0; i < counts.size(); ++i) {
      int64_t step = row.steps.empty() ? 1 : row.steps[i];
      int64_t at = row.at[i] + int64_t(rest % counts[i]) * step;
      rest /= counts[i];
      isInside &= at >= 0 && at < int64_t(row.extents[i]);
      byte += at * int64_t(i == 0 ? map.elementBytes() : map.strideBytes[i - 1]);
    }
    // The ISA's figures: chunk c of row r of 8 is found at c xor r, with r counted in 128 bytes.
    size_t linear = element * map.elementBytes();
    size_t chunks = size_t(1) << static_cast<unsigned>(row.swizzle);
    size_t chunk = linear / 16, line = linear / 128;
    chunk = chunk / chunks * chunks + ((chunk % chunks) ^ (line % chunks));
    visit(chunk * 16 + linear % 16, isInside ? byte : -1);
  }
}

class TensorCopies : public testing::TestWithParam<TensorRow> {
protected:
  std::string coordinates() const {
    std::string text;
    for (int32_t at : GetParam().at)
      text += (text.empty() ? "" : ", ") + std::to_string(at);
    return "{" + text + "}";
  }
  std::string rank() const { return std::to_string(GetParam().at.size()) + "d"; }
  std::string mapParam() const { return ".param .align 64 .b8 map[128], .param .u64 image"; }
};

TEST_P(TensorCopies, Load) {
  const TensorRow &row = GetParam();
  TensorMap map = mapOf(row);
  std::vector<uint8_t> in = counting(bytesOf(map)), image(map.boxBytes(), 0xcc);
  std::string bytes = std::to_string(map.boxBytes());
  LaunchResult result = runHopper(
      hopperKernel(mapParam(),
                   "  mbarrier.init.shared.b64 [bar], 1; mov.u64 %rd2, map; cvta.param.u64 %rd2, "
                   "%rd2;\n  mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], " +
                       bytes + ";\n  cp.async.bulk.tensor." + rank() +
                       ".shared::cluster.global.tile.mbarrier::complete_tx::bytes [tile], [%rd2, " +
                       coordinates() +
                       "], [bar];\n"
                       "again: mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;\n"
                       "  @!%p1 bra again;\n  ld.param.u64 %rd1, [image];\n"
                       "  cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], " +
                       bytes + ";\n  cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n"),
      1,
      {Argument::tensorMap(map, in.data(), in.size()),
       Argument::buffer(image.data(), image.size())});
  EXPECT_TRUE(result.isClean()) << textOf(result);
  forEachElement(row, map, [&](size_t place, int64_t byte) {
    uint64_t want = row.fillsNan ? nanOf(row.type) : 0, got = 0;
    if (byte >= 0)
      std::memcpy(&want, in.data() + byte, map.elementBytes());
    std::memcpy(&got, image.data() + place, map.elementBytes());
    EXPECT_EQ(got & ((~uint64_t(0)) >> (64 - 8 * map.elementBytes())), want) << place;
  });
}

TEST_P(TensorCopies, Store) {
  const TensorRow &row = GetParam();
  TensorMap map = mapOf(row);
  std::vector<uint8_t> image = counting(map.boxBytes()), out(bytesOf(map), 0xcc);
  std::vector<uint8_t> expected = out;
  forEachElement(row, map, [&](size_t place, int64_t byte) {
    if (byte >= 0)
      std::memcpy(expected.data() + byte, image.data() + place, map.elementBytes());
  });
  std::string bytes = std::to_string(map.boxBytes());
  LaunchResult result = runHopper(
      hopperKernel(mapParam(),
                   "  mbarrier.init.shared.b64 [bar], 1; mov.u64 %rd2, map; cvta.param.u64 %rd2, "
                   "%rd2;\n  mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], " +
                       bytes +
                       ";\n  ld.param.u64 %rd1, [image];\n"
                       "  cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [tile], "
                       "[%rd1], " +
                       bytes +
                       ", [bar];\n"
                       "again: mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;\n"
                       "  @!%p1 bra again;\n  cp.async.bulk.tensor." +
                       rank() + ".global.shared::cta.bulk_group [%rd2, " + coordinates() +
                       "], [tile];\n  cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n"),
      1,
      {Argument::tensorMap(map, out.data(), out.size()),
       Argument::buffer(image.data(), image.size())});
  EXPECT_TRUE(result.isClean()) << textOf(result);
  EXPECT_EQ(out, expected);
}
INSTANTIATE_TEST_SUITE_P(BulkCopy, TensorCopies, testing::ValuesIn(tensors),
                         [](const auto &info) { return std::string(info.param.name); });

TEST(BulkCopy, HintsAndPrefetchesAreAccepted) {
  EXPECT_EQ(loadError("  cp.async.bulk.prefetch.L2.global [%rd1], 64;\n"
                      "  cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%rd1, {%r1, %r2}];\n"
                      "  cp.async.bulk.prefetch.tensor.4d.L2.global.im2col "
                      "[%rd1, {%r1, %r2, %r3, %r4}], {%h0, %h1};\n"
                      "  prefetch.tensormap [%rd1];\n"
                      "  cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes"
                      ".L2::cache_hint [tile], [%rd1, {%r1, %r2}], [bar], %rd2;\n"
                      "  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                      ".multicast::cluster [tile], [%rd1], %r3, [bar], %h0;\n"
                      "  cp.reduce.async.bulk.tensor.3d.global.shared::cta.min.tile.bulk_group "
                      "[%rd1, {%r1, %r2, %r3}], [tile];"),
            "");
}

TEST(BulkCopy, WhatIsNotSupportedIsRefused) {
  auto refuses = [](const std::string &body, const std::string &reason) {
    EXPECT_NE(loadError("  " + body).find(reason), std::string::npos) << loadError("  " + body);
  };
  refuses("cp.async.bulk.tensor.3d.shared::cluster.global.im2col::w.mbarrier::complete_tx::bytes "
          "[tile], [%rd1, {%r1, %r2, %r3}], [bar], {%h0};",
          "mode '.im2col::w' is not supported");
  refuses("cp.async.bulk.tensor.2d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
          "[tile], [%rd1, {%r1, %r2}], [bar], {%h0};",
          "im2col mode needs '.3d' to '.5d'");
  refuses("cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
          "[tile], [%rd1, {%r1, %r2, %r3, %r4}], [bar], {%h0};",
          "expected 2 offsets, got 1");
  refuses("cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes "
          "[tile], [%rd1, {%r1, %r2, %r3, %r4, %r5}], [bar];",
          "four rows at once need the target sm_100");
  refuses("cp.async.bulk.global.global.bulk_group [%rd1], [%rd2], 16;", "expected two of");
  refuses(
      "cp.async.bulk.global.shared::cta.mbarrier::complete_tx::bytes [%rd1], [tile], 16, [bar];",
      "completes at an mbarrier");
  refuses("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd1, {%r1}], [tile];",
          "expected 2 coordinates");
  refuses("cp.reduce.async.bulk.global.shared::cta.bulk_group.mul.u32 [%rd1], [tile], 16;",
          "expected the operation");
}

TEST(TensorMap, RefusesWhatTheDriverRefuses) {
  TensorMap good = mapOf(tensors[4]); // 64 x 20 of f16, box 16 x 16, swizzle 32B
  EXPECT_EQ(llvm::toString(good.check()), "");
  auto refuses = [&](auto change, const std::string &reason) {
    TensorMap bad = good;
    change(bad);
    std::string error = llvm::toString(bad.check());
    EXPECT_NE(error.find(reason), std::string::npos) << error;
  };
  refuses([](TensorMap &map) { map.box[1] = 257; }, "1 to 256");
  refuses([](TensorMap &map) { map.box[0] = 12; }, "not a multiple of 16");
  refuses([](TensorMap &map) { map.box[0] = 32; }, "more than the swizzle's 32");
  refuses([](TensorMap &map) { map.box[0] = 8; }, "narrower than the swizzle's 32");
  refuses([](TensorMap &map) { map.strideBytes[0] = 120; }, "multiple of 16");
  refuses([](TensorMap &map) { map.extents[1] = 0; }, "no elements");
  refuses([](TensorMap &map) { map.address = 8; }, "multiple of 16");
  refuses([](TensorMap &map) { map.type = ptx::Type::U16, map.fillsNan = true; }, "NaN");
  refuses([](TensorMap &map) { map.box.pop_back(); }, "different numbers");
  refuses(
      [](TensorMap &map) {
        map = mapOf(tensors[8]);
        map.box = {256, 256, 256};
      },
      "more than shared memory");
  TensorMap decoded;
  EXPECT_TRUE(TensorMap::decode(good.encode().data(), decoded));
  EXPECT_EQ(decoded.encode(), good.encode());
  std::array<uint8_t, tensorMapBytes> nothing = {};
  EXPECT_FALSE(TensorMap::decode(nothing.data(), decoded));
}

} // namespace
