//===- CountersTest.cpp - counters against values computed by hand ----------------------------===//
//
// Two blocks of two warps, so every instruction below is executed four times.
//
//===-----------------------------------------------------------------------------------===//
#include "vgpu/Counters/MemoryCounter.h"
#include "vgpu/Vgpu.h"
#include "llvm/Support/FormatVariadic.h"
#include <gtest/gtest.h>
#include <numeric>

using namespace vgpu;

namespace {

constexpr llvm::StringLiteral kernel = R"(.version 8.0
.target sm_80
.address_size 64
.file 1 "k.py"
.visible .entry k(.param .u64 x, .param .u64 y) {
  .shared .align 16 .b8 s[1024];
  .reg .pred %p; .reg .b32 %r<16>; .reg .f32 %f<12>; .reg .b64 %rd<8>;
  mov.u32 %r1, %tid.x;
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [y];
  mad.wide.u32 %rd3, %r1, 4, %rd1;
  mad.wide.u32 %rd4, %r1, 128, %rd1;
  mad.wide.u32 %rd5, %r1, 4, %rd2;
  shl.b32 %r2, %r1, 3;
  shl.b32 %r3, %r1, 4;
  mov.u32 %r4, 0;
  setp.lt.u32 %p, %r1, 16;
  .loc 1 10 0
  ld.global.f32 %f1, [%rd3];
  .loc 1 11 0
  ld.global.f32 %f2, [%rd4];
  .loc 1 12 0
  @%p ld.global.f32 %f3, [%rd3];
  .loc 1 13 0
  st.shared.f32 [%r2], %f1;
  .loc 1 14 0
  bar.sync 0;
  .loc 1 15 0
  ld.shared.f32 %f4, [%r4];
  .loc 1 16 0
  ld.shared.v4.f32 {%f5, %f6, %f7, %f8}, [%r3];
  .loc 1 17 0
  mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f5, %f6, %f7, %f8}, {%r4, %r4, %r4, %r4}, {%r4, %r4}, {%f5, %f6, %f7, %f8};
  .loc 1 18 0
  st.global.f32 [%rd5], %f4;
  ret;
})";

Counters countersOf(bool countMemory) {
  std::vector<float> x(64 * 32), y(64);
  auto module = parsePtx(kernel, "k.ptx");
  if (!module) {
    ADD_FAILURE() << llvm::toString(module.takeError());
    return {};
  }
  LaunchConfig config;
  config.entry = "k";
  config.grid.x = 2;
  config.block.x = 64;
  config.checks = CheckSet::none().set(Check::MemoryFault);
  config.countMemory = countMemory;
  auto result =
      launch(**module, config,
             {Argument::buffer(x.data(), x.size() * 4, "x"), Argument::buffer(y.data(), 256, "y")});
  if (!result) {
    ADD_FAILURE() << llvm::toString(result.takeError());
    return {};
  }
  EXPECT_TRUE(result->findings.empty());
  return result->counters;
}

TEST(Counters, CountInstructionsByClass) {
  Counters counters = countersOf(/*countMemory=*/false);
  EXPECT_EQ(counters.text(), "warp instructions        80\n"
                             "  integer                20\n" // three mad.wide, two shl
                             "  move                   8\n"
                             "  compare                4\n"
                             "  control                4\n" // ret
                             "  global_load            12\n"
                             "  global_store           4\n"
                             "  shared_load            8\n"
                             "  shared_store           4\n"
                             "  constant_load          8\n" // parameters
                             "  matrix                 4\n"
                             "  barrier                4\n"
                             "tensor-core operations   16384\n" // 4 x 2 x 16 x 8 x 16
                             "barrier waits            4\n");
}

TEST(Counters, CountTrafficByLine) {
  Counters counters = countersOf(/*countMemory=*/true);
  std::string lines;
  for (const LineCounters &line : counters.lines)
    lines += llvm::formatv("{0} {1}: {2} times, {3}/{4} wavefronts, {5}/{6} sectors in {7} "
                           "requests, {8} bytes\n",
                           line.source, line.opcode, line.executions, line.sharedWavefronts,
                           line.sharedWavefrontsIdeal, line.globalSectors, line.globalSectorsIdeal,
                           line.globalRequests, line.bytes);
  EXPECT_EQ(lines,
            // 32 neighbours of 4 bytes are 4 sectors
            "k.py:10 ld.global.f32: 4 times, 0/0 wavefronts, 16/16 sectors in 4 requests, 512 "
            "bytes\n"
            // a row apart each is in a sector of its own
            "k.py:11 ld.global.f32: 4 times, 0/0 wavefronts, 128/16 sectors in 4 requests, 512 "
            "bytes\n"
            // half of the first warp of each block, nobody in the second
            "k.py:12 ld.global.f32: 4 times, 0/0 wavefronts, 4/4 sectors in 2 requests, 128 "
            "bytes\n"
            // every second word: 16 banks, two words each
            "k.py:13 st.shared.f32: 4 times, 8/4 wavefronts, 0/0 sectors in 0 requests, 512 "
            "bytes\n"
            // one word for all
            "k.py:15 ld.shared.f32: 4 times, 4/4 wavefronts, 0/0 sectors in 0 requests, 512 "
            "bytes\n"
            // 512 bytes in a row are four wavefronts
            "k.py:16 ld.shared.v4.f32: 4 times, 16/16 wavefronts, 0/0 sectors in 0 requests, 2048 "
            "bytes\n"
            "k.py:18 st.global.f32: 4 times, 0/0 wavefronts, 16/16 sectors in 4 requests, 512 "
            "bytes\n");
  llvm::json::Value json = counters.toJson();
  const llvm::json::Object &object = *json.getAsObject();
  auto number = [&](llvm::StringRef key) { return object.getInteger(key).value_or(-1); };
  EXPECT_EQ(number("warp_instructions"), 80);
  EXPECT_EQ(object.getObject("by_class")->getInteger("integer"), 20);
  EXPECT_EQ(number("tensor_operations"), 16384);
  EXPECT_EQ(number("barrier_waits"), 4);
  EXPECT_EQ(number("global_bytes_read"), 512 + 512 + 128);
  EXPECT_EQ(number("global_bytes_written"), 512);
  EXPECT_EQ(number("global_requests"), 14);
  EXPECT_EQ(number("global_sectors"), 16 + 128 + 4 + 16);
  EXPECT_EQ(number("global_sectors_ideal"), 16 + 16 + 4 + 16);
  EXPECT_EQ(number("shared_bytes_read"), 512 + 2048);
  EXPECT_EQ(number("shared_bytes_written"), 512);
  EXPECT_EQ(number("shared_wavefronts"), 28);
  EXPECT_EQ(number("shared_wavefronts_ideal"), 24);
  EXPECT_EQ(object.getArray("lines")->size(), 7u);
  const llvm::json::Object &store = *(*object.getArray("lines"))[3].getAsObject();
  EXPECT_EQ(store.getString("source"), "k.py:13");
  EXPECT_EQ(store.getInteger("shared_wavefronts"), 8);
  EXPECT_EQ(store.getInteger("shared_wavefronts_ideal"), 4);
  std::string text = counters.text();
  EXPECT_NE(text.find("shared wavefronts        28 (ideal 24)"), std::string::npos) << text;
  EXPECT_NE(text.find("  k.py:13: 8 shared wavefronts, ideal 4\n"), std::string::npos) << text;
  EXPECT_NE(text.find("  k.py:11: 128 global sectors in 4 requests, ideal 16\n"), std::string::npos)
      << text;
  const llvm::json::Array &sources = *object.getArray("source_lines");
  auto line = [&](llvm::StringRef source) -> const llvm::json::Object & {
    for (const llvm::json::Value &entry : sources)
      if (entry.getAsObject()->getString("source") == source)
        return *entry.getAsObject();
    ADD_FAILURE() << source.str();
    return *sources.front().getAsObject();
  };
  EXPECT_EQ(line("k.py:13").getInteger("shared_wavefronts"), 8);
  EXPECT_EQ(line("k.py:13").getInteger("shared_wavefronts_ideal"), 4);
  EXPECT_EQ(line("k.py:11").getInteger("global_sectors"), 128);
  EXPECT_EQ(line("k.py:11").getInteger("global_requests"), 4);
  int64_t total = 0, operations = 0;
  for (const llvm::json::Value &entry : sources) {
    total += *entry.getAsObject()->getInteger("warp_instructions");
    operations += *entry.getAsObject()->getInteger("tensor_operations");
  }
  EXPECT_EQ(total, 80);
  EXPECT_EQ(operations, 16384);
}

/// Addresses stride * lane, in the first `lanes` lanes.
Wavefronts wavefronts(uint64_t stride, unsigned bytes, unsigned lanes = 32) {
  uint64_t address[32];
  for (unsigned i = 0; i < 32; ++i)
    address[i] = stride * i;
  return countWavefronts(address, lanes == 32 ? fullMask : (1u << lanes) - 1, bytes);
}

/// The trace of block 1 of a launch of four warps in two blocks.
std::optional<llvm::json::Value> traceOf(bool isAlone, Counters &counters) {
  std::vector<float> x(64 * 32), y(64);
  auto module = parsePtx(kernel, "k.ptx");
  if (!module) {
    ADD_FAILURE() << llvm::toString(module.takeError());
    return std::nullopt;
  }
  LaunchConfig config;
  config.entry = "k";
  config.grid.x = 2;
  config.block.x = 64;
  config.checks = CheckSet::none();
  config.trace = TracedBlock{1, isAlone};
  auto result = launch(**module, config,
                       {Argument::buffer(x.data(), x.size() * 4, "x"),
                        Argument::buffer(y.data(), y.size() * 4, "y")});
  if (!result) {
    ADD_FAILURE() << llvm::toString(result.takeError());
    return std::nullopt;
  }
  counters = result->counters;
  return result->trace;
}

TEST(EventTrace, TellsWhatTheWarpsOfABlockDid) {
  Counters counters;
  std::optional<llvm::json::Value> trace = traceOf(false, counters);
  ASSERT_TRUE(trace);
  const llvm::json::Object &object = *trace->getAsObject();
  EXPECT_EQ(*object.get("block"), llvm::json::Value(llvm::json::Array{1, 0, 0}));
  EXPECT_EQ(*object.get("warps"), llvm::json::Value(2));
  int64_t instructions = 0, operations = 0, barriers = 0;
  for (const llvm::json::Value &event : *object.getArray("events")) {
    const llvm::json::Array &list = *event.getAsArray();
    if (*list[0].getAsString() == "barrier") {
      ++barriers;
      EXPECT_EQ(list[2], llvm::json::Value(llvm::json::Array{llvm::json::Array{0, true},
                                                             llvm::json::Array{1, true}}));
    } else if (*list[0].getAsString() == "run") {
      instructions += *list[3].getAsInteger();
      operations += *list[4].getAsInteger();
    }
  }
  // One of two blocks did half of all.
  EXPECT_EQ(barriers, 1);
  EXPECT_EQ(instructions * 2, static_cast<int64_t>(counters.totalWarpInstructions));
  EXPECT_EQ(operations * 2, static_cast<int64_t>(counters.tensorOperations));
}

TEST(EventTrace, SaysWhatStretchesCostAndTouch) {
  Counters counters;
  std::optional<llvm::json::Value> trace = traceOf(true, counters);
  ASSERT_TRUE(trace);
  const llvm::json::Object &object = *trace->getAsObject();
  int64_t classified = 0, wavefronts = 0, sectors = 0;
  for (const llvm::json::Value &event : *object.getArray("events")) {
    const llvm::json::Array &list = *event.getAsArray();
    if (*list[0].getAsString() != "run")
      continue;
    for (const auto &entry : *list[7].getAsObject())
      classified += *entry.second.getAsInteger();
    wavefronts += *list[8].getAsInteger();
    sectors += *list[9].getAsInteger();
    EXPECT_TRUE(object.getObject("lines")->get(std::to_string(*list[2].getAsInteger())));
  }
  EXPECT_EQ(classified, static_cast<int64_t>(counters.totalWarpInstructions));
  EXPECT_EQ(wavefronts, static_cast<int64_t>(counters.sharedWavefronts));
  EXPECT_EQ(sectors, static_cast<int64_t>(counters.globalSectors));
  bool isWritten = false;
  for (const llvm::json::Value &value : *object.getArray("touched")) {
    const llvm::json::Object &tensor = *value.getAsObject();
    if (*tensor.getString("name") != "y")
      continue;
    isWritten = true; // the second block's 64 floats
    EXPECT_EQ(*tensor.get("written"),
              llvm::json::Value(llvm::json::Array{llvm::json::Array{0, 256}}));
    EXPECT_TRUE(tensor.getArray("read")->empty());
  }
  EXPECT_TRUE(isWritten);
}

TEST(EventTrace, KeepsTheAddressesOfLanes) {
  Counters counters;
  std::optional<llvm::json::Value> trace = traceOf(false, counters);
  ASSERT_TRUE(trace);
  unsigned numFound = 0;
  for (const llvm::json::Value &value : *trace->getAsObject()->getArray("accesses")) {
    const llvm::json::Object &access = *value.getAsObject();
    if (*access.getInteger("warp") != 1)
      continue;
    const llvm::json::Array &addresses = *access.getArray("addresses");
    ASSERT_EQ(addresses.size(), 32u);
    if (*access.getString("opcode") == "st.shared.f32") {
      ++numFound;
      EXPECT_EQ(*access.getString("space"), "shared");
      EXPECT_EQ(addresses[3], llvm::json::Value((32 + 3) * 8));
    } else if (*access.getString("opcode") == "st.global.f32") {
      ++numFound;
      EXPECT_EQ(*access.getString("name"), "y");
      EXPECT_EQ(addresses[3], llvm::json::Value((32 + 3) * 4));
    }
  }
  EXPECT_EQ(numFound, 2u);
}

TEST(EventTrace, RunsABlockAlone) {
  Counters whole, alone;
  ASSERT_TRUE(traceOf(false, whole));
  ASSERT_TRUE(traceOf(true, alone));
  EXPECT_EQ(alone.totalWarpInstructions * 2, whole.totalWarpInstructions);
}

TEST(Counters, WavefrontsOfStrides) {
  for (auto [stride, expected] :
       {std::pair{0, 1}, {4, 1}, {8, 2}, {16, 4}, {64, 16}, {128, 32}, {132, 1}, {12, 1}, {24, 2}})
    EXPECT_EQ(wavefronts(static_cast<uint64_t>(stride), 4).actual, unsigned(expected)) << stride;
  EXPECT_EQ(wavefronts(2, 2).actual, 1u);     // two lanes share a word
  EXPECT_EQ(wavefronts(8, 8).actual, 2u);     // two phases of 16 lanes
  EXPECT_EQ(wavefronts(8, 8).ideal, 2u);      //
  EXPECT_EQ(wavefronts(128, 16).actual, 32u); // ldmatrix on rows of 128 bytes without a swizzle
  EXPECT_EQ(wavefronts(128, 16).ideal, 4u);   //
  EXPECT_EQ(wavefronts(144, 16).actual, 4u);  // and with padding
  EXPECT_EQ(wavefronts(16, 16, 8).actual, 1u);
}

TEST(Counters, SectorsOfScatteredLanes) {
  uint64_t address[32];
  std::iota(address, address + 32, 0);
  auto sectors = [&](auto place, unsigned bytes) {
    for (unsigned i = 0; i < 32; ++i)
      address[i] = place(i);
    Sectors result = countSectors(address, fullMask, bytes);
    return std::pair(result.actual, result.ideal);
  };
  using Pair = std::pair<unsigned, unsigned>;
  EXPECT_EQ(sectors([](uint64_t i) { return 4 * i; }, 4), Pair(4, 4));
  EXPECT_EQ(sectors([](uint64_t i) { return 4 * (31 - i); }, 4), Pair(4, 4)); // descending
  EXPECT_EQ(sectors([](uint64_t i) { return 4 * i + 16; }, 4), Pair(5, 4));   // misaligned
  EXPECT_EQ(sectors([](uint64_t) { return 40; }, 4), Pair(1, 1));             // all the same
  EXPECT_EQ(sectors([](uint64_t i) { return 32 * i; }, 4), Pair(32, 4));
  EXPECT_EQ(sectors([](uint64_t i) { return 16 * i; }, 16), Pair(16, 16));
  EXPECT_EQ(sectors([](uint64_t i) { return 1024 * (i % 2) + 4 * (i / 2); }, 4), Pair(4, 4));
}

} // namespace
