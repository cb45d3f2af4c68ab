//===- MbarrierTest.cpp - mbarrier operations, one after the other ----------------------------===//
//
// Each row is a sequence run by one thread (or by 32) and what it must leave in %r0. Expectations
// are counted by hand from the PTX ISA: a phase ends when neither arrivals nor bytes are missing.
//
//===-----------------------------------------------------------------------------------===//
#include "HopperHarness.h"
#include <gtest/gtest.h>

using namespace vgpu;
using namespace vgpu::test;

namespace {

struct Row {
  const char *name;
  unsigned threads;
  const char *code;
  uint32_t expected; ///< %r0 of every thread
};

// init(n), result(p): p as 0 or 1 into %r0, shifted behind what is there.
std::string expand(llvm::StringRef code) {
  std::string text;
  llvm::SmallVector<llvm::StringRef, 16> statements;
  code.split(statements, ';', -1, false);
  for (llvm::StringRef statement : statements) {
    statement = statement.trim();
    if (statement.empty())
      continue;
    llvm::StringRef argument = statement;
    if (argument.consume_front("init ")) {
      text += "  mov.u32 %r1, %tid.x; setp.eq.u32 %p9, %r1, 0;\n"
              "  @%p9 mbarrier.init.shared.b64 [bar], " +
              argument.str() + ";\n  bar.sync 0;\n";
    } else if (argument.consume_front("result ")) {
      text += "  selp.u32 %r2, 1, 0, " + argument.str() + "; shl.b32 %r0, %r0, 1;\n" +
              "  or.b32 %r0, %r0, %r2;\n";
    } else {
      text += "  " + statement.str() + ";\n";
    }
  }
  return text;
}

const Row rows[] = {
    {"OneArrivalEndsThePhase", 1,
     "init 1; mbarrier.arrive.shared.b64 %rd1, [bar]; mbarrier.test_wait.shared.b64 %p1, [bar], "
     "%rd1; result %p1",
     1},
    {"OneOfTwoDoesNot", 1,
     "init 2; mbarrier.arrive.shared.b64 %rd1, [bar]; mbarrier.test_wait.shared.b64 %p1, [bar], "
     "%rd1; result %p1; mbarrier.arrive.shared.b64 _, [bar]; mbarrier.test_wait.shared.b64 %p1, "
     "[bar], %rd1; result %p1",
     0b01},
    {"ParityOfPhases", 1,
     "init 1; mbarrier.test_wait.parity.shared.b64 %p1, [bar], 1; result %p1;"
     "mbarrier.test_wait.parity.shared.b64 %p1, [bar], 0; result %p1;"
     "mbarrier.arrive.shared.b64 _, [bar];"
     "mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0; result %p1;"
     "mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 1, 100; result %p1",
     0b1010},
    {"AStateIsOfItsPhase", 1,
     "init 1; mbarrier.arrive.shared.b64 %rd1, [bar]; mbarrier.arrive.shared.b64 %rd2, [bar];"
     "mbarrier.arrive.shared.b64 %rd3, [bar];"
     "mbarrier.try_wait.acquire.cta.shared::cta.b64 %p1, [bar], %rd1; result %p1;"
     "mbarrier.try_wait.shared::cta.b64 %p1, [bar], %rd3, 10; result %p1",
     0b11},
    {"ArrivalsWithACount", 1,
     "init 5; mbarrier.arrive.release.cta.shared::cta.b64 %rd1, [bar], 3;"
     "mbarrier.test_wait.shared.b64 %p1, [bar], %rd1; result %p1;"
     "mbarrier.arrive.shared::cta.b64 _, [bar], 2;"
     "mbarrier.test_wait.shared.b64 %p1, [bar], %rd1; result %p1",
     0b01},
    {"PendingCount", 1,
     "init 7; mbarrier.arrive.noComplete.shared.b64 %rd1, [bar], 2;"
     "mbarrier.arrive.noComplete.release.cta.shared::cta.b64 %rd2, [bar], 1;"
     "mbarrier.pending_count.b64 %r3, %rd1; mbarrier.pending_count.b64 %r4, %rd2;"
     "shl.b32 %r3, %r3, 4; or.b32 %r0, %r3, %r4",
     7 << 4 | 5},
    {"BytesKeepThePhaseOpen", 1,
     "init 1; mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 48;"
     "mbarrier.arrive.shared.b64 %rd1, [bar];"
     "mbarrier.test_wait.shared.b64 %p1, [bar], %rd1; result %p1;"
     "mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [bar], 16;"
     "mbarrier.test_wait.shared.b64 %p1, [bar], %rd1; result %p1;"
     "mbarrier.complete_tx.shared::cta.b64 [bar], 32;"
     "mbarrier.test_wait.shared.b64 %p1, [bar], %rd1; result %p1",
     0b001},
    {"ArriveAndExpect", 1,
     "init 1; mbarrier.arrive.expect_tx.shared::cta.b64 %rd1, [bar], 32;"
     "mbarrier.test_wait.shared.b64 %p1, [bar], %rd1; result %p1;"
     "mbarrier.complete_tx.shared::cta.b64 [bar], 32;"
     "mbarrier.test_wait.shared.b64 %p1, [bar], %rd1; result %p1",
     0b01},
    {"BytesMayComeBeforeTheyAreExpected", 1,
     "init 1; mbarrier.complete_tx.shared::cta.b64 [bar], 32;"
     "mbarrier.arrive.expect_tx.release.cluster.shared::cta.b64 %rd1, [bar], 32;"
     "mbarrier.test_wait.shared.b64 %p1, [bar], %rd1; result %p1",
     1},
    {"DroppedArrivalsAreNotExpectedAgain", 1,
     "init 2; mbarrier.arrive_drop.shared.b64 %rd1, [bar]; mbarrier.arrive.shared.b64 _, [bar];"
     "mbarrier.test_wait.shared.b64 %p1, [bar], %rd1; result %p1;"
     "mbarrier.arrive.shared.b64 %rd1, [bar]; mbarrier.test_wait.shared.b64 %p1, [bar], %rd1;"
     "result %p1",
     0b11},
    {"LanesArriveOneByOne", 32,
     "init 32; mbarrier.arrive.shared.b64 %rd1, [bar];"
     "mbarrier.try_wait.shared::cta.b64 %p1, [bar], %rd1; result %p1",
     1},
    {"TwoPhasesInOneInstruction", 32,
     "init 16; mbarrier.arrive.shared.b64 _, [bar];"
     "mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 1; result %p1;"
     "mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0; result %p1",
     0b10},
    {"WarpsWaitForEachOther", 128,
     "init 128; mbarrier.arrive.shared.b64 %rd1, [bar];"
     "again: mbarrier.try_wait.shared::cta.b64 %p1, [bar], %rd1; @!%p1 bra again; result %p1",
     1},
    {"InvalidatedAndInitialisedAgain", 1,
     "init 3; mbarrier.inval.shared.b64 [bar]; init 1; mbarrier.arrive.shared.b64 %rd1, [bar];"
     "mbarrier.test_wait.shared.b64 %p1, [bar], %rd1; result %p1",
     1},
    {"GenericAddresses", 1,
     "init 1; mov.u64 %rd4, bar; cvta.shared.u64 %rd5, %rd4; mbarrier.arrive.b64 %rd1, [%rd5];"
     "mbarrier.test_wait.b64 %p1, [%rd5+0], %rd1; result %p1",
     1},
    {"CopiesArrive", 32,
     "init 32; ld.param.u64 %rd6, [out]; mad.wide.u32 %rd6, %r1, 4, %rd6; mov.u32 %r5, tile; "
     "mad.lo.u32 %r5, %r1, 4, %r5;"
     "cp.async.ca.shared.global [%r5], [%rd6], 4; cp.async.mbarrier.arrive.noinc.shared.b64 [bar];"
     "mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0; result %p1; ld.shared.u32 %r6, [%r5];"
     "and.b32 %r6, %r6, 1; or.b32 %r0, %r0, %r6",
     1},
    {"CountedCopiesDoNotArrive", 32,
     "init 32; cp.async.mbarrier.arrive.shared::cta.b64 [bar];"
     "mbarrier.test_wait.parity.shared::cta.b64 %p1, [bar], 0; result %p1;"
     "mbarrier.arrive.shared.b64 _, [bar];"
     "mbarrier.test_wait.parity.shared::cta.b64 %p1, [bar], 0; result %p1",
     0b01},
};

class MbarrierRows : public testing::TestWithParam<Row> {};

TEST_P(MbarrierRows, GivesWhatTheIsaSays) {
  const Row &row = GetParam();
  std::string body = "  mov.u32 %r0, 0;\n" + expand(row.code) +
                     "  mov.u32 %r1, %tid.x; ld.param.u64 %rd0, [out];\n"
                     "  mad.wide.u32 %rd0, %r1, 4, %rd0; st.global.u32 [%rd0], %r0;\n";
  std::vector<uint32_t> out(row.threads);
  LaunchResult result = runHopper(hopperKernel(".param .u64 out", body), row.threads,
                                  {Argument::buffer(out.data(), out.size() * 4)});
  EXPECT_TRUE(result.isClean()) << textOf(result);
  for (uint32_t value : out)
    EXPECT_EQ(value, row.expected);
}
INSTANTIATE_TEST_SUITE_P(Mbarrier, MbarrierRows, testing::ValuesIn(rows),
                         [](const auto &info) { return std::string(info.param.name); });

struct Misuse {
  const char *name;
  const char *code;
  std::vector<std::string> kinds;
};
const Misuse misuses[] = {
    {"NotInitialised", "mbarrier.arrive.shared.b64 _, [bar]", {"invalid_access"}},
    {"InitialisedTwice", "init 1; mbarrier.init.shared.b64 [bar], 1", {"invalid_access"}},
    {"ForNoArrivals", "init 0", {"invalid_access"}},
    {"MoreArrivalsThanExpected",
     "init 2; mbarrier.arrive.shared::cta.b64 _, [bar], 3",
     {"invalid_access"}},
    {"NoCompleteCompletes",
     "init 1; mbarrier.arrive.noComplete.shared.b64 %rd1, [bar], 1",
     {"invalid_access"}},
    {"TooManyBytes",
     "init 1; mbarrier.expect_tx.shared::cta.b64 [bar], 1048576",
     {"invalid_access"}},
    {"TouchedByALoad", "init 1; ld.shared.u32 %r9, [bar+4]", {"invalid_access"}},
    {"UsedAfterInval",
     "init 1; mbarrier.inval.shared.b64 [bar]; mbarrier.arrive.shared.b64 _, [bar]",
     {"invalid_access"}},
    {"Misaligned", "mbarrier.init.shared.b64 [bar+4], 1", {"misaligned"}},
    {"NotInSharedMemory",
     "ld.param.u64 %rd4, [out]; mbarrier.init.b64 [%rd4], 1",
     {"invalid_access"}},
    {"NeverCompleted",
     "init 2; again: mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0; @!%p1 bra again",
     {"deadlock"}},
    {"SpinsForever",
     "init 2; again: mbarrier.test_wait.parity.shared.b64 %p1, [bar], 0; @!%p1 bra again",
     {"deadlock"}},
};

class MbarrierMisuse : public testing::TestWithParam<Misuse> {};

TEST_P(MbarrierMisuse, IsReported) {
  uint64_t out = 0;
  LaunchResult result = runHopper(hopperKernel(".param .u64 out", expand(GetParam().code)), 1,
                                  {Argument::buffer(&out, 8)});
  EXPECT_EQ(kindsOf(result), GetParam().kinds) << textOf(result);
}
INSTANTIATE_TEST_SUITE_P(Mbarrier, MbarrierMisuse, testing::ValuesIn(misuses),
                         [](const auto &info) { return std::string(info.param.name); });

TEST(Mbarrier, ADeadlockNamesWhatIsMissing) {
  LaunchResult result = runHopper(
      hopperKernel("", expand("init 3; mbarrier.arrive.expect_tx.shared::cta.b64 _, "
                              "[bar], 64; again: mbarrier.try_wait.parity.shared::cta.b64 "
                              "%p1, [bar], 0; @!%p1 bra again")),
      1, {});
  ASSERT_EQ(kindsOf(result), std::vector<std::string>{"deadlock"});
  EXPECT_NE(result.findings[0].message.find("2 of 3 arrivals and 64 bytes missing"),
            std::string::npos)
      << textOf(result);
}

TEST(Mbarrier, WhatDoesNotExistIsRefused) {
  EXPECT_NE(loadError("  mbarrier.depart.shared.b64 [bar];"), "");
  EXPECT_NE(loadError("  mbarrier.arrive.shared.b64;"), "");
  EXPECT_NE(loadError("  mbarrier.arrive.global.b64 %rd1, [bar];"), "");
  EXPECT_NE(loadError("  mbarrier.test_wait.shared.b32 %p1, [bar], %rd1;"), "");
  EXPECT_NE(loadError("  mbarrier.test_wait.shared.b64 %p1, [bar], %rd1, 10;"), "");
}

} // namespace
