//===- ClusterTest.cpp - clusters, launch control, recursion ----------------------------------===//
#include "HopperHarness.h"
#include <gtest/gtest.h>

using namespace vgpu;
using namespace vgpu::test;

namespace {

/// %r0 of each thread after `code`.
std::vector<uint32_t> run(const std::string &code, unsigned threads,
                          std::vector<std::string> kinds = {}) {
  std::vector<uint32_t> out(threads);
  LaunchResult result = runHopper(
      hopperKernel(".param .u64 out", code + "\n  mov.u32 %r99, %tid.x; ld.param.u64 %rd31, "
                                             "[out]; mad.wide.u32 %rd31, %r99, 4, %rd31;\n"
                                             "  st.global.u32 [%rd31], %r0;\n"),
      threads, {Argument::buffer(out.data(), out.size() * 4)});
  EXPECT_EQ(kindsOf(result), kinds) << textOf(result);
  return out;
}

TEST(Cluster, SpecialRegistersOfAClusterOfOne) {
  struct {
    const char *name;
    uint32_t value;
  } registers[] = {{"%cluster_nctarank", 1}, {"%cluster_ctarank", 0}, {"%cluster_nctaid.x", 1},
                   {"%cluster_ctaid.y", 0},  {"%nclusterid.x", 1},    {"%clusterid.x", 0}};
  for (const auto &[name, value] : registers)
    EXPECT_EQ(run(std::string("  mov.u32 %r0, ") + name + ";", 1)[0], value) << name;
}

TEST(Cluster, AddressesStay) {
  EXPECT_EQ(run("  mov.u32 %r1, bar; mapa.shared::cluster.u32 %r2, %r1, 0;\n"
                "  sub.u32 %r0, %r2, %r1;",
                1)[0],
            0u);
  EXPECT_EQ(run("  mov.u64 %rd1, tile; cvta.shared.u64 %rd1, %rd1; mapa.u64 %rd2, %rd1, 0;\n"
                "  st.u32 [%rd2], 77; ld.shared.u32 %r0, [tile];",
                1)[0],
            77u);
  EXPECT_EQ(run("  mov.u32 %r1, bar; getctarank.shared::cluster.u32 %r0, %r1;", 1)[0], 0u);
  run("  mov.u32 %r1, bar; mapa.shared::cluster.u32 %r2, %r1, 1; mov.u32 %r0, 0;", 1,
      {"invalid_access"});
}

/// Thread t writes word t and reads word (t + 32) % 64.
std::string exchange(const std::string &between) {
  return "  mov.u32 %r1, %tid.x; mov.u32 %r2, tile; mad.lo.u32 %r3, %r1, 4, %r2;\n"
         "  st.shared.u32 [%r3], %r1;\n" +
         between +
         "  xor.b32 %r4, %r1, 32; mad.lo.u32 %r5, %r4, 4, %r2; ld.shared.u32 %r0, [%r5];\n";
}

TEST(Cluster, TheBarrierOrders) {
  std::vector<uint32_t> out = run(exchange("  barrier.cluster.arrive.aligned;\n"
                                           "  barrier.cluster.wait.acquire.aligned;\n"),
                                  64);
  for (uint32_t i = 0; i < 64; ++i)
    EXPECT_EQ(out[i], i ^ 32);
  run(exchange("  barrier.cluster.arrive.relaxed;\n  barrier.cluster.wait;\n"), 64, {"race"});
  run(exchange("  barrier.cluster.arrive.release;\n"), 64, {"race", "uninitialized"});
}

TEST(Cluster, TheBarrierIsUsedInPairs) {
  run("  mov.u32 %r0, 0; barrier.cluster.wait;", 1, {"barrier_divergence"});
  run("  mov.u32 %r0, 0; barrier.cluster.arrive; barrier.cluster.arrive; barrier.cluster.wait;", 1,
      {"barrier_divergence"});
}

TEST(Cluster, ThreadsThatHaveExitedAreNotWaitedFor) {
  run("  mov.u32 %r0, %tid.x; setp.lt.u32 %p1, %r0, 32; @%p1 exit;\n"
      "  barrier.cluster.arrive; barrier.cluster.wait;",
      64);
}

/// The error of launching `k` with these directives.
std::string launchError(const std::string &directives, Dim3 grid, std::optional<Dim3> cluster,
                        const std::string &arch = "sm_90") {
  auto module = parsePtx(".version 8.0\n.target sm_80\n.address_size 64\n"
                         ".visible .entry k() " +
                             directives + " { ret; }\n",
                         "k.ptx");
  EXPECT_TRUE(bool(module)) << llvm::toString(module.takeError());
  LaunchConfig config;
  config.entry = "k";
  config.arch = arch;
  config.grid = grid;
  config.cluster = cluster;
  auto result = launch(**module, config, {});
  return result ? "" : llvm::toString(result.takeError());
}

TEST(Cluster, LaunchesThatDoNotFitAreRefused) {
  EXPECT_EQ(launchError("", {4, 2, 1}, Dim3{2, 2, 1}), "");
  EXPECT_EQ(launchError(".reqnctapercluster 2, 1, 1", {4, 1, 1}, {}), "");
  auto expect = [](const std::string &error, const char *part) {
    EXPECT_NE(error.find(part), std::string::npos) << error;
  };
  expect(launchError(".reqnctapercluster 2, 1, 1", {3, 1, 1}, {}), "is not a multiple");
  expect(launchError(".reqnctapercluster 2, 1, 1", {4, 1, 1}, Dim3{4, 1, 1}),
         "it requires clusters of 2x1x1 blocks");
  expect(launchError("", {32, 1, 1}, Dim3{32, 1, 1}), "1 to 16 are possible");
  expect(launchError(".maxclusterrank 4", {8, 1, 1}, Dim3{8, 1, 1}), "1 to 4 are possible");
  expect(launchError("", {4, 1, 1}, Dim3{2, 1, 1}, "sm_80"), "clusters need sm_90");
  expect(launchError(".explicitcluster", {4, 1, 1}, {}), "must be launched with clusters");
}

/// out[8 * block + i] is %r<i> of thread 0 of each block of a grid of 4 x 2 in clusters of 2 x 2.
std::vector<uint32_t> runGrid(const std::string &code, std::vector<std::string> kinds = {},
                              unsigned threads = 1) {
  std::vector<uint32_t> out(64);
  std::string store = "  mov.u32 %r90, %ctaid.x; mov.u32 %r91, %ctaid.y; mad.lo.u32 %r90, %r91, 4, "
                      "%r90;\n  ld.param.u64 %rd31, [out]; mad.wide.u32 %rd31, %r90, 32, %rd31;\n"
                      "  mov.u32 %r92, %tid.x; setp.eq.u32 %p15, %r92, 0;\n";
  for (unsigned i = 0; i < 8; ++i)
    store += "  @%p15 st.global.u32 [%rd31+" + std::to_string(4 * i) + "], %r" + std::to_string(i) +
             ";\n";
  std::string clear;
  for (unsigned i = 0; i < 8; ++i)
    clear += "  mov.u32 %r" + std::to_string(i) + ", 0;\n";
  LaunchResult result =
      runHopper(hopperKernel(".param .u64 out", clear + code + store), threads,
                {Argument::buffer(out.data(), out.size() * 4)}, {4, 2, 1}, Dim3{2, 2, 1});
  EXPECT_EQ(kindsOf(result), kinds) << textOf(result);
  return out;
}

const char *both = "  barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n";

TEST(Cluster, SpecialRegisters) {
  std::vector<uint32_t> out = runGrid(
      "  mov.u32 %r0, %clusterid.x; mov.u32 %r1, %nclusterid.x; mov.u32 %r2, %cluster_ctaid.x;\n"
      "  mov.u32 %r3, %cluster_ctaid.y; mov.u32 %r4, %cluster_nctaid.y;\n"
      "  mov.u32 %r5, %cluster_ctarank; mov.u32 %r6, %cluster_nctarank; mov.u32 %r7, "
      "%nclusterid.y;\n");
  for (uint32_t y = 0; y < 2; ++y)
    for (uint32_t x = 0; x < 4; ++x) {
      std::vector<uint32_t> expected = {x / 2, 2, x % 2, y, 2, x % 2 + 2 * y, 4, 1};
      const uint32_t *got = &out[8 * (4 * y + x)];
      EXPECT_EQ(std::vector<uint32_t>(got, got + 8), expected) << x << ", " << y;
    }
}

/// Each block writes its rank to its own memory, and to that of the next rank.
TEST(Cluster, SharedMemoryOfOtherBlocks) {
  std::string body =
      std::string("  mov.u32 %r10, %cluster_ctarank; add.u32 %r11, %r10, 1;\n"
                  "  and.b32 %r11, %r11, 3; mov.u32 %r12, tile;\n"
                  "  mapa.shared::cluster.u32 %r13, %r12, %r11;\n"
                  "  getctarank.shared::cluster.u32 %r7, %r13;\n"
                  "  getctarank.shared::cluster.u32 %r6, %r12;\n"
                  "  add.u32 %r14, %r10, 100; st.shared.u32 [tile], %r14;\n") +
      both +
      "  ld.shared::cluster.u32 %r0, [%r13]; add.u32 %r15, %r10, 200;\n"
      "  st.shared::cluster.u32 [%r13+4], %r15;\n"
      "  atom.relaxed.cluster.shared::cluster.add.u32 %r16, [%r13+8], 1;\n" +
      both +
      "  ld.shared.u32 %r1, [tile+4];\n"
      "  cvta.shared.u64 %rd1, %rd2; mov.u64 %rd2, tile; cvta.shared.u64 %rd2, %rd2;\n"
      "  mapa.u64 %rd3, %rd2, %r11; ld.u32 %r2, [%rd3];\n" +
      both;
  // Word 2 of the tile is counted in; it must be written before.
  body = "  mov.u32 %r20, 0; st.shared.u32 [tile+8], %r20; mov.u64 %rd2, 0;\n" + body;
  std::vector<uint32_t> out = runGrid(body);
  for (uint32_t y = 0; y < 2; ++y)
    for (uint32_t x = 0; x < 4; ++x) {
      uint32_t rank = x % 2 + 2 * y, next = (rank + 1) % 4, previous = (rank + 3) % 4;
      const uint32_t *got = &out[8 * (4 * y + x)];
      EXPECT_EQ(got[0], 100 + next);
      EXPECT_EQ(got[1], 200 + previous);
      EXPECT_EQ(got[2], 100 + next);
      EXPECT_EQ(got[6], rank);
      EXPECT_EQ(got[7], next);
    }
}

TEST(Cluster, BlocksThatMeetNeedTheirBarrier) {
  std::string start = "  mov.u32 %r10, %cluster_ctarank; xor.b32 %r11, %r10, 1; mov.u32 %r12, "
                      "tile;\n  mapa.shared::cluster.u32 %r13, %r12, %r11;\n"
                      "  st.shared.u32 [tile], %r10;\n";
  std::string look = "  ld.shared::cluster.u32 %r0, [%r13];\n";
  runGrid(start + both + look + both);
  runGrid(start + "  bar.sync 0;\n" + look + both, {"uninitialized", "race"});
  // The second barrier keeps a block alive while others look at its memory.
  runGrid(start + both + "  setp.eq.u32 %p1, %r10, 0; @%p1 nanosleep.u32 100;\n" + look + both);
}

TEST(Cluster, MemoryOfABlockThatHasEnded) {
  runGrid(std::string("  mov.u32 %r10, %cluster_ctarank; setp.eq.u32 %p1, %r10, 1;\n"
                      "  mov.u32 %r12, tile; mapa.shared::cluster.u32 %r13, %r12, 1;\n"
                      "  st.shared.u32 [tile], %r10;\n") +
              both +
              "  mov.u32 %r14, 0; @%p1 bra done; mov.u32 %r15, 0;\n"
              "wait: add.u32 %r15, %r15, 1; setp.lt.u32 %p2, %r15, 3000; @%p2 bra wait;\n"
              "  ld.shared::cluster.u32 %r0, [%r13];\ndone:\n",
          {"invalid_access"});
}

/// Block 0 of each cluster counts arrivals of all four, who wait for data it then sends back.
TEST(Cluster, ArrivalsAtTheMbarrierOfAnotherBlock) {
  std::string body =
      std::string("  mov.u32 %r10, %cluster_ctarank; setp.eq.u32 %p0, %r10, 0;\n"
                  "  @%p0 mbarrier.init.shared.b64 [bar], 4;\n"
                  "  fence.mbarrier_init.release.cluster;\n") +
      both +
      "  mov.u32 %r11, tile; mapa.shared::cluster.u32 %r12, %r11, 0;\n"
      "  mad.lo.u32 %r13, %r10, 4, %r12; add.u32 %r14, %r10, 5;\n"
      "  st.shared::cluster.u32 [%r13], %r14;\n"
      "  mov.u32 %r15, bar; mapa.shared::cluster.u32 %r16, %r15, 0;\n"
      "  mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r16];\n"
      "  @!%p0 bra done;\n"
      "again: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [bar], 0;\n"
      "  @!%p1 bra again;\n"
      "  ld.shared.u32 %r0, [tile]; ld.shared.u32 %r1, [tile+4]; ld.shared.u32 %r2, [tile+8];\n"
      "  ld.shared.u32 %r3, [tile+12];\ndone:\n" +
      both;
  std::vector<uint32_t> out = runGrid(body);
  EXPECT_EQ(std::vector<uint32_t>(out.begin(), out.begin() + 4),
            (std::vector<uint32_t>{5, 6, 7, 8}));
  // A wait for the barrier of another block does not exist.
  runGrid(std::string(
              "  mbarrier.init.shared.b64 [bar], 1; mov.u32 %r15, bar; mapa.shared::cluster.u32 "
              "%r16, %r15, 0;\n") +
              both +
              "  cvt.u64.u32 %rd5, %r16; cvta.shared.u64 %rd5, %rd5;\n"
              "  mbarrier.test_wait.parity.b64 %p1, [%rd5], 0;\n" +
              both,
          {"invalid_access"});
}

/// Rank 0 loads 16 bytes into the blocks of `mask`; each of them waits for its own mbarrier.
TEST(Cluster, MulticastLoads) {
  std::vector<uint32_t> in = {11, 12, 13, 14}, out(16);
  std::string body =
      std::string("  mov.u32 %r10, %cluster_ctarank; setp.eq.u32 %p0, %r10, 0;\n"
                  "  mbarrier.init.shared.b64 [bar], 1; fence.mbarrier_init.release.cluster;\n"
                  "  mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 16;\n") +
      both +
      "  ld.param.u64 %rd0, [in]; ld.param.u64 %rd1, [out]; mov.u16 %h0, 0xf;\n"
      "  @%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
      "[tile], [%rd0], 16, [bar], %h0;\n"
      "again: mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0; @!%p1 bra again;\n"
      "  mad.wide.u32 %rd2, %r10, 16, %rd1;\n"
      "  ld.shared.v4.u32 {%r0, %r1, %r2, %r3}, [tile]; st.global.v4.u32 [%rd2], {%r0, %r1, %r2, "
      "%r3};\n" +
      both;
  std::string text = hopperKernel(".param .u64 in, .param .u64 out", body);
  LaunchResult result =
      runHopper(text, 1, {Argument::buffer(in.data(), 16), Argument::buffer(out.data(), 64)},
                {4, 1, 1}, Dim3{4, 1, 1});
  EXPECT_TRUE(result.isClean()) << textOf(result);
  for (unsigned i = 0; i < 16; ++i)
    EXPECT_EQ(out[i], 11 + i % 4);
  // In a cluster of two the blocks 2 and 3 do not exist.
  result = runHopper(text, 1, {Argument::buffer(in.data(), 16), Argument::buffer(out.data(), 64)},
                     {2, 1, 1}, Dim3{2, 1, 1});
  EXPECT_EQ(kindsOf(result), std::vector<std::string>{"invalid_access"}) << textOf(result);
}

TEST(Cluster, ABarrierThatABlockNeverReaches) {
  std::vector<uint32_t> out(8);
  LaunchResult result =
      runHopper(hopperKernel(".param .u64 out",
                             "  mov.u32 %r10, %cluster_ctarank; setp.eq.u32 %p0, %r10, 0;\n"
                             "  @!%p0 barrier.cluster.arrive;\n"
                             "  @!%p0 barrier.cluster.wait;\n"
                             "  @%p0 bar.sync 1, 64;\n"),
                32, {Argument::buffer(out.data(), 32)}, {2, 1, 1}, Dim3{2, 1, 1});
  ASSERT_EQ(kindsOf(result), std::vector<std::string>{"deadlock"}) << textOf(result);
  EXPECT_NE(textOf(result).find("block 1, warp 0"), std::string::npos) << textOf(result);
}

/// A kernel of two warpgroups: 0 does `first`, 1 does `second`, with these directives.
LaunchResult runRoles(const std::string &directives, const std::string &first,
                      const std::string &second) {
  std::string text =
      hopperKernel(".param .u64 out", "  mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, "
                                      "128; @%p1 bra first;\n" +
                                          second + "  bra done;\nfirst:\n" + first + "done:\n");
  text.insert(text.find(") {") + 1, " " + directives);
  std::vector<uint32_t> out(8);
  return runHopper(text, 256, {Argument::buffer(out.data(), 32)});
}

TEST(RegisterPool, WhatOneGivesAnotherTakes) {
  using Kinds = std::vector<std::string>;
  std::string dec = "  setmaxnreg.dec.sync.aligned.u32 40;\n",
              inc = "  setmaxnreg.inc.sync.aligned.u32 ";
  // 65536 registers for 256 threads are 256 each; 128 with two blocks.
  std::string two = ".reqntid 256, 1, 1 .minnctapersm 2";
  EXPECT_EQ(kindsOf(runRoles(two, dec, inc + "216;\n")), Kinds{});
  LaunchResult result = runRoles(two, dec, inc + "224;\n");
  ASSERT_EQ(kindsOf(result), Kinds{"deadlock"}) << textOf(result);
  EXPECT_NE(textOf(result).find("register pool: "), std::string::npos) << textOf(result);
  EXPECT_EQ(kindsOf(runRoles(".maxnreg 128", dec, inc + "216;\n")), Kinds{});
  EXPECT_EQ(kindsOf(runRoles(".maxnreg 64", dec, inc + "216;\n")), Kinds{"deadlock"});
  // Nobody gives.
  EXPECT_EQ(kindsOf(runRoles(two, "", inc + "136;\n")), Kinds{"deadlock"});
  // The wrong direction.
  EXPECT_EQ(kindsOf(runRoles(two, "  setmaxnreg.dec.sync.aligned.u32 136;\n", "")),
            Kinds{"register_pool"});
  EXPECT_EQ(kindsOf(runRoles(two, "  setmaxnreg.inc.sync.aligned.u32 40;\n", "")),
            Kinds{"register_pool"});
}

TEST(RegisterPool, IsOfWholeWarpgroups) {
  std::string two = ".reqntid 256, 1, 1 .minnctapersm 2";
  LaunchResult result = runRoles(two,
                                 "  setp.lt.u32 %p2, %r1, 64; @!%p2 bra done;\n"
                                 "  setmaxnreg.dec.sync.aligned.u32 40;\n",
                                 "");
  EXPECT_EQ(kindsOf(result), std::vector<std::string>{"divergent_collective"}) << textOf(result);
}

TEST(RegisterPool, IsIgnoredWithoutDirectives) {
  for (const char *directives : {"", ".reqntid 256, 1, 1", ".minnctapersm 1"}) {
    LaunchResult result = runRoles(directives, "  setmaxnreg.inc.sync.aligned.u32 232;\n", "");
    EXPECT_TRUE(result.isClean()) << textOf(result);
    EXPECT_NE(textOf(result).find("ptxas ignores this setmaxnreg"), std::string::npos);
  }
}

TEST(Cluster, LaunchControlChangesNothing) {
  EXPECT_EQ(run("  griddepcontrol.wait; setmaxnreg.inc.sync.aligned.u32 232;\n"
                "  griddepcontrol.launch_dependents; setmaxnreg.dec.sync.aligned.u32 24;\n"
                "  mov.u32 %r0, 3;",
                128)[127],
            3u);
  EXPECT_NE(loadError("  setmaxnreg.inc.sync.aligned.u32 20;"), "");
  EXPECT_NE(loadError("  setmaxnreg.inc.sync.aligned.u32 100;"), "");
  EXPECT_NE(loadError("  setmaxnreg.swap.sync.aligned.u32 24;"), "");
  EXPECT_NE(loadError("  griddepcontrol.go;"), "");
}

TEST(ProxyFence, FormsOfTheIsa) {
  EXPECT_EQ(
      loadError("  fence.proxy.async; fence.proxy.async.shared::cta; fence.proxy.async.global;"
                "  fence.proxy.alias; fence.mbarrier_init.release.cluster;"
                "  fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;"
                "  fence.proxy.tensormap::generic.release.gpu;"
                "  fence.proxy.tensormap::generic.acquire.gpu [%rd1], 128;"),
      "");
  EXPECT_NE(loadError("  fence.proxy.texture;"), "");
}

// Two functions that call each other: is_even and is_odd, with a depth that differs by lane.
const char *mutual = R"(.version 8.0
.target sm_80
.address_size 64
.func (.param .b32 even) is_even(.param .b32 n);
.func (.param .b32 odd) is_odd(.param .b32 n) {
  .reg .pred %p<2>; .reg .b32 %r<4>;
  ld.param.u32 %r0, [n];
  setp.eq.u32 %p0, %r0, 0;
  mov.u32 %r2, 0;
  @%p0 bra done;
  sub.u32 %r1, %r0, 1;
  { .param .b32 x; .param .b32 y;
    st.param.b32 [x], %r1;
    call (y), is_even, (x);
    ld.param.b32 %r2, [y]; }
done:
  st.param.b32 [odd], %r2;
  ret;
}
.func (.param .b32 even) is_even(.param .b32 n) {
  .reg .pred %p<2>; .reg .b32 %r<4>;
  ld.param.u32 %r0, [n];
  setp.eq.u32 %p0, %r0, 0;
  mov.u32 %r2, 1;
  @%p0 bra done;
  sub.u32 %r1, %r0, 1;
  { .param .b32 x; .param .b32 y;
    st.param.b32 [x], %r1;
    call (y), is_odd, (x);
    ld.param.b32 %r2, [y]; }
done:
  st.param.b32 [even], %r2;
  ret;
}
.func (.param .b32 sum) endless(.param .b32 n) {
  .reg .b32 %r<4>;
  ld.param.u32 %r0, [n];
  { .param .b32 x; .param .b32 y;
    st.param.b32 [x], %r0;
    call (y), endless, (x);
    ld.param.b32 %r1, [y]; }
  st.param.b32 [sum], %r1;
  ret;
}
.visible .entry parity(.param .u64 out) {
  .reg .b32 %r<4>; .reg .b64 %rd<4>;
  mov.u32 %r0, %tid.x;
  { .param .b32 x; .param .b32 y;
    st.param.b32 [x], %r0;
    call (y), is_even, (x);
    ld.param.b32 %r1, [y]; }
  { .param .b32 x; .param .b32 y;
    st.param.b32 [x], %r0;
    call (y), is_odd, (x);
    ld.param.b32 %r2, [y]; }
  shl.b32 %r2, %r2, 1;
  or.b32 %r1, %r1, %r2;
  ld.param.u64 %rd0, [out];
  mad.wide.u32 %rd1, %r0, 4, %rd0;
  st.global.u32 [%rd1], %r1;
  ret;
}
.visible .entry overflow(.param .u64 out) {
  .reg .b32 %r<4>; .reg .b64 %rd<4>;
  { .param .b32 x; .param .b32 y;
    st.param.b32 [x], 1;
    call (y), endless, (x);
    ld.param.b32 %r1, [y]; }
  ld.param.u64 %rd0, [out];
  st.global.u32 [%rd0], %r1;
  ret;
})";

TEST(Recursion, FunctionsThatCallEachOther) {
  auto module = parsePtx(mutual, "mutual.ptx");
  ASSERT_TRUE(bool(module)) << llvm::toString(module.takeError());
  std::vector<uint32_t> out(40);
  LaunchConfig config;
  config.entry = "parity";
  config.block.x = 40;
  auto result = launch(**module, config, {Argument::buffer(out.data(), out.size() * 4)});
  ASSERT_TRUE(bool(result)) << llvm::toString(result.takeError());
  EXPECT_TRUE(result->isClean()) << textOf(*result);
  for (uint32_t i = 0; i < 40; ++i)
    EXPECT_EQ(out[i], i % 2 ? 2u : 1u) << i;
}

TEST(Recursion, WithoutEndIsAFinding) {
  auto module = parsePtx(mutual, "mutual.ptx");
  ASSERT_TRUE(bool(module)) << llvm::toString(module.takeError());
  uint32_t out = 0;
  LaunchConfig config;
  config.entry = "overflow";
  auto result = launch(**module, config, {Argument::buffer(&out, 4)});
  ASSERT_TRUE(bool(result)) << llvm::toString(result.takeError());
  ASSERT_EQ(kindsOf(*result), std::vector<std::string>{"out_of_bounds"});
  EXPECT_NE(result->findings[0].message.find("the stack overflows"), std::string::npos);
}

} // namespace
