//===- LateTest.cpp - asynchronous effects at the wait ----------------------------------------===//
//
// Each kernel looks at memory, or changes it, between the issue of an asynchronous operation and the
// wait for it. PTX promises nothing about what it sees; early and late mode give the two extremes.
// That both agree on correct kernels is what runHopper looks at in all other tests.
//
//===-----------------------------------------------------------------------------------===//
#include "HopperHarness.h"
#include <gtest/gtest.h>

using namespace vgpu;
using namespace vgpu::test;

namespace {

/// out[0] of one thread, which copies in[0..3] and looks too early; in starts as 1, 2, 3, 4.
uint32_t seen(const std::string &body, AsyncTime time, unsigned threads = 1) {
  std::vector<uint32_t> in = {1, 2, 3, 4}, out(8);
  runUnchecked(hopperKernel(".param .u64 in, .param .u64 out",
                            "  ld.param.u64 %rd0, [in]; ld.param.u64 %rd1, [out];\n" + body),
               threads, {Argument::buffer(in.data(), 16), Argument::buffer(out.data(), 32)}, time);
  return out[0];
}
void expect(const std::string &body, uint32_t early, uint32_t late) {
  EXPECT_EQ(seen(body, AsyncTime::Early), early) << body;
  EXPECT_EQ(seen(body, AsyncTime::Late), late) << body;
}

TEST(Late, CpAsyncHappensAtTheWaitForItsGroup) {
  std::string copy = "  cp.async.ca.shared.global [tile], [%rd0], 4;\n";
  std::string look = "  ld.shared.u32 %r0, [tile]; st.global.u32 [%rd1], %r0;\n";
  std::string commit = "  cp.async.commit_group;\n";
  expect(copy + look, 1, 0);
  expect(copy + commit + look, 1, 0);
  expect(copy + commit + "  cp.async.wait_group 1;\n" + look, 1, 0);
  expect(copy + commit + "  cp.async.wait_group 0;\n" + look, 1, 1);
  expect(copy + "  cp.async.wait_all;\n" + look, 1, 1);
  // The source is read late, too.
  expect(copy + commit + "  st.global.u32 [%rd0], 7; cp.async.wait_group 0;\n" + look, 1, 7);
}

TEST(Late, CpAsyncHappensAtTheWaitForItsMbarrier) {
  std::string copy = "  mbarrier.init.shared.b64 [bar], 1;\n"
                     "  cp.async.ca.shared.global [tile], [%rd0], 4;\n"
                     "  cp.async.mbarrier.arrive.noinc.shared.b64 [bar];\n";
  std::string look = "  ld.shared.u32 %r0, [tile]; st.global.u32 [%rd1], %r0;\n";
  std::string wait = "again: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0; @!%p1 bra again;\n";
  expect(copy + look, 1, 0);
  expect(copy + wait + look, 1, 1);
}

const char *bulkLoad = "  mbarrier.init.shared.b64 [bar], 1;\n"
                       "  mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 16;\n"
                       "  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                       "[tile], [%rd0], 16, [bar];\n";

TEST(Late, BulkLoadsHappenAtTheWaitForTheirMbarrier) {
  std::string load = bulkLoad;
  std::string look = "  ld.shared.u32 %r0, [tile]; st.global.u32 [%rd1], %r0;\n";
  std::string wait = "again: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0; @!%p1 bra again;\n";
  expect(load + look, 1, 0);
  expect(load + wait + look, 1, 1);
  expect(load + "  st.global.u32 [%rd0], 7;\n" + wait + look, 1, 7);
  // A barrier that is given up lets its copies land.
  expect(load + "  mbarrier.inval.shared.b64 [bar];\n" + look, 1, 1);
}

TEST(Late, BulkStoresReadAtOneWaitAndWriteAtAnother) {
  std::string store = "  st.shared.u32 [tile], 5;\n"
                      "  cp.async.bulk.global.shared::cta.bulk_group [%rd0], [tile], 16;\n"
                      "  cp.async.bulk.commit_group;\n";
  std::string look = "  ld.global.u32 %r0, [%rd0]; st.global.u32 [%rd1], %r0;\n";
  expect(store + look, 5, 1);
  expect(store + "  cp.async.bulk.wait_group.read 0;\n" + look, 5, 1);
  expect(store + "  cp.async.bulk.wait_group 0;\n" + look, 5, 5);
  expect(store + "  st.shared.u32 [tile], 6; cp.async.bulk.wait_group 0;\n" + look, 5, 6);
  expect(store +
             "  cp.async.bulk.wait_group.read 0; st.shared.u32 [tile], 6;\n"
             "  cp.async.bulk.wait_group 0;\n" +
             look,
         5, 5);
}

TEST(Late, BulkStoresHappenAtLatestWhenTheBlockEnds) {
  std::string store = "  st.shared.u32 [tile], 5;\n"
                      "  cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], 16;\n";
  expect(store, 5, 5);
  expect(store + "  cp.async.bulk.commit_group;\n", 5, 5);
}

/// Somebody spins on what a copy brings without waiting for it: it comes in the end.
TEST(Late, NothingIsLateForEver) {
  std::string store = "  st.shared.u32 [tile], 5;\n"
                      "  cp.async.bulk.global.shared::cta.bulk_group [%rd0], [tile], 16;\n"
                      "  cp.async.bulk.commit_group;\n"
                      "spin: ld.relaxed.gpu.global.u32 %r0, [%rd0]; setp.ne.u32 %p1, %r0, 5;\n"
                      "  @%p1 bra spin;\n  st.global.u32 [%rd1], %r0;\n";
  expect(store, 5, 5);
}

/// 64 x 8 x 16 of ones: each element of D is 16.
std::string product(const std::string &after) {
  return "  mov.u32 %r1, %tid.x; mad.lo.u32 %r2, %r1, 20, 0;\n"
         "  mov.u32 %r3, tile; add.u32 %r2, %r2, %r3;\n"
         "  mov.u32 %r4, 0x3c003c00; mov.u32 %r5, 0;\n"
         "fill: st.shared.u32 [%r2], %r4; add.u32 %r2, %r2, 4; add.u32 %r5, %r5, 1;\n"
         "  setp.lt.u32 %p1, %r5, 5; @%p1 bra fill;\n"
         "  fence.proxy.async; bar.sync 0;\n"
         "  shr.u32 %r6, %r3, 4; cvt.u64.u32 %rd5, %r6;\n"
         "  or.b64 %rd6, %rd5, 0x0000001000080000; add.u64 %rd7, %rd6, 0x80;\n"
         "  mov.u32 %r10, 0; mov.u32 %r11, 0; mov.u32 %r12, 0; mov.u32 %r13, 0;\n"
         "  wgmma.fence.sync.aligned;\n"
         "  wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r10, %r11, %r12, %r13}, %rd6, "
         "%rd7, "
         "0, 1, 1, 0, 0;\n"
         "  wgmma.commit_group.sync.aligned;\n" +
         after + "  setp.eq.u32 %p2, %r1, 0; @%p2 st.global.u32 [%rd1], %r10;\n";
}

TEST(Late, ProductsHappenAtTheWaitForTheirGroup) {
  constexpr uint32_t sixteen = 0x41800000, zero = 0;
  EXPECT_EQ(seen(product(""), AsyncTime::Early, 128), sixteen);
  EXPECT_EQ(seen(product(""), AsyncTime::Late, 128), zero);
  std::string wait = "  wgmma.wait_group.sync.aligned 0;\n";
  EXPECT_EQ(seen(product("  wgmma.wait_group.sync.aligned 1;\n"), AsyncTime::Late, 128), zero);
  EXPECT_EQ(seen(product(wait), AsyncTime::Early, 128), sixteen);
  EXPECT_EQ(seen(product(wait), AsyncTime::Late, 128), sixteen);
  // The first rows of A are overwritten with zeros before the wait.
  std::string overwrite =
      "  bar.sync 0; shl.b32 %r20, %r1, 3; add.u32 %r20, %r20, %r3;\n"
      "  mov.u32 %r21, 0;\n"
      "  st.shared.u32 [%r20], %r21; st.shared.u32 [%r20+4], %r21; bar.sync 0;\n";
  EXPECT_EQ(seen(product(overwrite + wait), AsyncTime::Early, 128), sixteen);
  EXPECT_EQ(seen(product(overwrite + wait), AsyncTime::Late, 128), zero);
}

} // namespace
