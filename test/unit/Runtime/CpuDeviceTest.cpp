//===- CpuDeviceTest.cpp - what compiled code gets from the runtime ---------------------------===//

#include "tilewright/Runtime/CpuDevice.h"
#include "tilewright/Rt/ThreadPool.h"

#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <atomic>
#include <chrono>
#include <cstring>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace tilewright;
using namespace tilewright::runtime;

static std::atomic<int64_t> blocksRun;

static void countBlocks(const uint64_t *, const host::Grid *, int64_t first, int64_t last,
                        uint8_t *arena, host::Services *) {
  std::memset(arena, 0xff, 4096); // as large as the launch asked for
  EXPECT_EQ(reinterpret_cast<uintptr_t>(arena) % 64, 0u);
  blocksRun += last - first;
}

TEST(CpuDeviceTest, LaunchesAllBlocksOfAGrid) {
  blocksRun = 0;
  host::Entry entry = [](host::Services *services, const uint64_t *arguments) {
    host::Grid grid{{static_cast<int64_t>(arguments[0]), 5, 7}};
    services->launch(services, countBlocks, nullptr, &grid, 4096);
  };
  uint64_t arguments[] = {3};
  EXPECT_FALSE(bool(runOnCpu(entry, arguments)));
  EXPECT_EQ(blocksRun, 3 * 5 * 7);
}

static std::atomic<int64_t> workersBegun;

static void leaveAMark(const uint64_t *, const host::Grid *, int64_t, int64_t, uint8_t *arena,
                       host::Services *) {
  for (int64_t byte = 0; byte < host::kKeptBytes; ++byte)
    EXPECT_EQ(arena[byte], arena[0]);
  workersBegun += arena[0] == 0;
  std::memset(arena, 1, host::kKeptBytes);
}

TEST(CpuDeviceTest, BlocksFindWhatTheLastOneOfTheirLaunchHasLeft) {
  host::Entry entry = [](host::Services *services, const uint64_t *) {
    host::Grid grid{{1000, 1, 1}};
    for (int64_t launch = 0; launch < 3; ++launch) {
      workersBegun = 0;
      services->launch(services, leaveAMark, nullptr, &grid, 0);
      EXPECT_GE(workersBegun, 1);
      EXPECT_LE(workersBegun, (*rt::ThreadPool::getShared())->getNumThreads());
    }
  };
  EXPECT_FALSE(bool(runOnCpu(entry, {})));
}

TEST(CpuDeviceTest, RefusesAGridThatCannotBe) {
  host::Entry entry = [](host::Services *services, const uint64_t *) {
    host::Grid grid{{-1, 1, 1}};
    services->launch(services, countBlocks, nullptr, &grid, 0);
  };
  EXPECT_EQ(llvm::toString(runOnCpu(entry, {})), "grid extent -1 is not between 0 and 2147483647");
  host::Entry huge = [](host::Services *services, const uint64_t *) {
    host::Grid grid{{INT32_MAX, INT32_MAX, INT32_MAX}};
    services->launch(services, countBlocks, nullptr, &grid, 0);
  };
  EXPECT_EQ(llvm::toString(runOnCpu(huge, {})), "the grid has more blocks than 64 bits can count");
}

static void failInBlock7(const uint64_t *, const host::Grid *, int64_t first, int64_t last,
                         uint8_t *, host::Services *services) {
  for (int64_t block = first; block < last; ++block)
    if (block == 7) {
      services->fail(services, "block \1", 7, "a.py", 4, 3, 5, block);
      ADD_FAILURE() << "a failing block went on";
    }
}

TEST(CpuDeviceTest, AFailureEndsTheBlockAndLaterLaunches) {
  blocksRun = 0;
  host::Entry entry = [](host::Services *services, const uint64_t *) {
    host::Grid grid{{100, 1, 1}};
    services->launch(services, failInBlock7, nullptr, &grid, 0);
    services->launch(services, countBlocks, nullptr, &grid, 4096);
  };
  EXPECT_EQ(llvm::toString(runOnCpu(entry, {})), "a.py:3:5: error: block 7");
  EXPECT_EQ(blocksRun, 0);
}

TEST(CpuDeviceTest, TheFirstFailureIsTold) {
  host::Entry entry = [](host::Services *services, const uint64_t *) {
    for (uint64_t number : {1, 2})
      services->fail(services, "number \1", 8, "a.py", 4, 3, 5, number);
  };
  EXPECT_EQ(llvm::toString(runOnCpu(entry, {})), "a.py:3:5: error: number 1");
}

TEST(CpuDeviceTest, PrintsATileAsALine) {
  host::Entry entry = [](host::Services *services, const uint64_t *) {
    int64_t extents[] = {2, 2};
    double numbers[] = {1, 2.5, -3, 4};
    uint64_t elements[4];
    std::memcpy(elements, numbers, sizeof(numbers));
    host::PrintRequest request{"tile", 4, host::NumberKind::Float, 2, extents, elements};
    services->print(services, &request);
    uint64_t whole[] = {5, uint64_t(-3)};
    host::PrintRequest signedRequest{"n", 1, host::NumberKind::Signed, 1, extents, whole};
    services->print(services, &signedRequest);
  };
  std::string text;
  llvm::raw_string_ostream os(text);
  CpuRunOptions options;
  options.output = &os;
  EXPECT_FALSE(bool(runOnCpu(entry, {}, options)));
  EXPECT_EQ(text, "tile [[1, 2.5], [-3, 4]]\nn [5, -3]\n");
}

static void turnForEver(const uint64_t *, const host::Grid *, int64_t, int64_t, uint8_t *,
                        host::Services *services) {
  while (true)
    services->poll(services);
}

TEST(CpuDeviceTest, ACallerThatSaysNoEndsBlocksThatNeverWould) {
  host::Entry entry = [](host::Services *services, const uint64_t *) {
    host::Grid grid{{64, 1, 1}};
    services->launch(services, turnForEver, nullptr, &grid, 0);
  };
  CpuRunOptions options;
  unsigned asked = 0;
  options.poll = [&](const Progress &progress) {
    EXPECT_EQ(progress.launch, 1u);
    EXPECT_EQ(progress.blocks, 64);
    return ++asked < 2;
  };
  EXPECT_EQ(llvm::toString(runOnCpu(entry, {}, options)), "the launch was interrupted");
  EXPECT_EQ(asked, 2u);
  blocksRun = 0; // and the next call is as any other
  entry = [](host::Services *services, const uint64_t *) {
    host::Grid grid{{5, 1, 1}};
    services->launch(services, countBlocks, nullptr, &grid, 4096);
  };
  EXPECT_FALSE(bool(runOnCpu(entry, {})));
  EXPECT_EQ(blocksRun, 5);
}

static void sleepInBlocks(const uint64_t *, const host::Grid *, int64_t first, int64_t last,
                          uint8_t *, host::Services *) {
  std::this_thread::sleep_for(std::chrono::milliseconds(last - first));
  blocksRun += last - first;
}

TEST(CpuDeviceTest, ACallerIsAskedBetweenBlocksThatNeverAsk) {
  blocksRun = 0;
  host::Entry entry = [](host::Services *services, const uint64_t *) {
    host::Grid grid{{400, 1, 1}};
    services->launch(services, sleepInBlocks, nullptr, &grid, 0);
  };
  CpuRunOptions options;
  options.isDeterministic = true; // the caller's thread runs them all
  options.poll = [](const Progress &) { return false; };
  EXPECT_EQ(llvm::toString(runOnCpu(entry, {}, options)), "the launch was interrupted");
  EXPECT_LT(blocksRun, 400);
}

TEST(CpuDeviceTest, ACallFromInsideACallIsRefused) {
  static std::string inner;
  host::Entry entry = [](host::Services *, const uint64_t *) {
    inner = llvm::toString(runOnCpu([](host::Services *, const uint64_t *) {}, {}));
  };
  EXPECT_FALSE(bool(runOnCpu(entry, {})));
  EXPECT_NE(inner.find("still running"), std::string::npos);
}

TEST(CpuDeviceTest, AChildForkedWhileBlocksHoldLocksCanLaunch) {
  static std::atomic<bool> isHeld, mayEnd;
  isHeld = mayEnd = false;
  static int tensor;
  std::thread holder([] {
    host::Entry entry = [](host::Services *services, const uint64_t *) {
      host::Grid grid{{8, 1, 1}};
      auto block = [](const uint64_t *, const host::Grid *, int64_t, int64_t, uint8_t *,
                      host::Services *services) {
        services->lockRow(services, &tensor, 3);
        isHeld = true;
        while (!mayEnd)
          std::this_thread::yield();
        services->unlockRow(services, &tensor, 3);
      };
      services->launch(services, block, nullptr, &grid, 0);
    };
    EXPECT_FALSE(bool(runOnCpu(entry, {})));
  });
  while (!isHeld)
    std::this_thread::yield();
  pid_t pid = fork();
  if (pid == 0) {
    alarm(20); // rather than wait for ever
    mayEnd = true;
    host::Entry entry = [](host::Services *services, const uint64_t *) {
      host::Grid grid{{8, 1, 1}};
      auto block = [](const uint64_t *, const host::Grid *, int64_t first, int64_t last, uint8_t *,
                      host::Services *services) {
        services->lockRow(services, &tensor, 3);
        blocksRun += last - first;
        services->unlockRow(services, &tensor, 3);
      };
      services->launch(services, block, nullptr, &grid, 0);
    };
    blocksRun = 0;
    bool isGood = !bool(runOnCpu(entry, {})) && blocksRun == 8;
    _exit(isGood ? 0 : 1);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  EXPECT_EQ(status, 0);
  mayEnd = true;
  holder.join();
}
