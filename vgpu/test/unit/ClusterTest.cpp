//===- ClusterTest.cpp - clusters of one block, launch control, recursion ---------------------===//
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

TEST(Cluster, MoreThanOneBlockIsRefused) {
  auto module = parsePtx(".version 8.0\n.target sm_90\n.address_size 64\n"
                         ".visible .entry k() .reqnctapercluster 2, 1, 1 { ret; }\n",
                         "k.ptx");
  ASSERT_TRUE(bool(module)) << llvm::toString(module.takeError());
  LaunchConfig config;
  config.entry = "k";
  config.arch = "sm_90";
  auto result = launch(**module, config, {});
  ASSERT_FALSE(bool(result));
  EXPECT_NE(llvm::toString(result.takeError()).find("clusters of several blocks"),
            std::string::npos);
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
