//===- ThreadPoolTest.cpp - every block runs once, on some thread -----------------------------===//

#include "tilewright/Rt/ThreadPool.h"

#include "gtest/gtest.h"
#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

using namespace tilewright::rt;

TEST(ThreadPoolTest, RunsEveryNumberOnce) {
  ThreadPool pool(4);
  for (int64_t count : {0, 1, 3, 4, 5, 1000, 100003}) {
    std::vector<std::atomic<int>> runs(count);
    pool.run(count, 4, [&](unsigned, int64_t first, int64_t last) {
      for (int64_t number = first; number < last; ++number)
        ++runs[number];
      return true;
    });
    for (int64_t number = 0; number < count; ++number)
      EXPECT_EQ(runs[number], 1) << number << " of " << count;
  }
}

TEST(ThreadPoolTest, OtherWorkersTakeOverFromASlowOne) {
  ThreadPool pool(2);
  // The first block ends only when all others are done: they must not wait in its worker's range.
  std::atomic<int64_t> done{0};
  pool.run(64, 2, [&](unsigned, int64_t first, int64_t last) {
    for (int64_t number = first; number < last; ++number) {
      while (number == 0 && done < 63)
        std::this_thread::yield();
      ++done;
    }
    return true;
  });
  EXPECT_EQ(done, 64);
}

TEST(ThreadPoolTest, OneWorkerKeepsTheOrder) {
  ThreadPool pool(3);
  std::vector<int64_t> order;
  pool.run(500, 1, [&](unsigned worker, int64_t first, int64_t last) {
    EXPECT_EQ(worker, 0u);
    for (int64_t number = first; number < last; ++number)
      order.push_back(number);
    return true;
  });
  ASSERT_EQ(order.size(), 500u);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST(ThreadPoolTest, StopsEarlyWhenATaskSaysSo) {
  ThreadPool pool(2);
  std::atomic<int64_t> runs{0};
  pool.run(int64_t(1) << 40, 2, [&](unsigned, int64_t, int64_t) { return ++runs < 10; });
  EXPECT_LT(runs, 20);
}

TEST(ThreadPoolTest, CallersTakeTurns) {
  ThreadPool pool(2);
  std::atomic<int64_t> total{0};
  auto use = [&] {
    for (int round = 0; round < 50; ++round)
      pool.run(100, 2, [&](unsigned, int64_t first, int64_t last) {
        total += last - first;
        return true;
      });
  };
  std::thread other(use);
  use();
  other.join();
  EXPECT_EQ(total, 2 * 50 * 100);
}
