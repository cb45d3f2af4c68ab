//===- ThreadPool.cpp - runs the blocks of a grid on all cores --------------------------------===//

#include "tilewright/Rt/ThreadPool.h"
#include "tilewright/Support/Environment.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <pthread.h>
#include <sched.h>
#include <thread>
#include <vector>

using namespace tilewright;
using namespace tilewright::rt;

namespace {

/// The numbers that a worker still has to do, on a cache line of its own.
struct alignas(64) WorkRange {
  std::atomic<uint64_t> word{0};

  static uint64_t make(uint32_t begin, uint32_t end) { return uint64_t(begin) << 32 | end; }
  static uint32_t beginOf(uint64_t word) { return static_cast<uint32_t>(word >> 32); }
  static uint32_t endOf(uint64_t word) { return static_cast<uint32_t>(word); }

  /// Takes up to `most` numbers from the front.
  bool take(uint32_t most, uint32_t &begin, uint32_t &end) {
    uint64_t old = word.load(std::memory_order_acquire);
    do {
      begin = beginOf(old);
      if (begin >= endOf(old))
        return false;
      end = std::min(endOf(old), begin + most);
    } while (!word.compare_exchange_weak(old, make(end, endOf(old)), std::memory_order_acq_rel));
    return true;
  }

  /// Takes the upper half, at least one number.
  bool steal(uint32_t &begin, uint32_t &end) {
    uint64_t old = word.load(std::memory_order_acquire);
    do {
      uint32_t size = endOf(old) - std::min(beginOf(old), endOf(old));
      if (size == 0)
        return false;
      end = endOf(old);
      begin = end - (size + 1) / 2;
    } while (
        !word.compare_exchange_weak(old, make(beginOf(old), begin), std::memory_order_acq_rel));
    return true;
  }
};

} // namespace

/// How often a caller that waits looks around.
static constexpr auto kIdleInterval = std::chrono::milliseconds(50);

/// How long a thread that has nothing to do stays awake. To wake it takes some microseconds, more
/// where its core was halted; workers that end a block apart, and launches that follow each other,
/// come within this time.
static constexpr auto kPatience = std::chrono::microseconds(100);

/// Waits for `isOver` without sleeping; false if that takes too long.
template <typename PredicateT> static bool waitAwake(PredicateT isOver) {
  auto end = std::chrono::steady_clock::now() + kPatience;
  do {
    for (unsigned spin = 0; spin < 16; ++spin) {
      if (isOver())
        return true;
      __builtin_ia32_pause();
    }
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

struct ThreadPool::Impl {
  explicit Impl(unsigned numThreads) : ranges(std::max(1u, numThreads)), cores(ranges.size()) {
    if (sched_getaffinity(0, sizeof(allowedCores), &allowedCores) != 0)
      CPU_ZERO(&allowedCores);
    for (unsigned worker = 1; worker < ranges.size(); ++worker)
      threads.emplace_back([this, worker] { serve(worker); });
  }

  ~Impl() {
    {
      std::lock_guard lock(mutex);
      isClosing = true;
      generation.fetch_add(1, std::memory_order_release);
    }
    wake.notify_all();
    for (std::thread &thread : threads)
      thread.join();
  }

  void serve(unsigned worker) {
    uint64_t seen = 0;
    while (true) {
      waitForRun(seen);
      seen = generation.load(std::memory_order_acquire);
      if (isClosing)
        return;
      if (worker < numWorkers)
        work(worker);
      cores[worker].store(sched_getcpu(), std::memory_order_relaxed);
      if (running.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        std::lock_guard lock(mutex);
        done.notify_one();
      }
    }
  }

  /// A worker that sleeps is woken on the core where it went to sleep if no other is idle. That may
  /// be the caller's, which is busy from then on: the worker would wait while the caller does
  /// everything. So it is moved to another core before it is woken.
  void keepOffCallersCore() {
    int callers = sched_getcpu();
    if (callers < 0 || static_cast<unsigned>(CPU_COUNT(&allowedCores)) < ranges.size() ||
        ranges.size() < 2)
      return;
    for (unsigned worker = 1; worker < numWorkers; ++worker) {
      if (cores[worker].load(std::memory_order_relaxed) != callers)
        continue;
      cpu_set_t others = allowedCores;
      CPU_CLR(callers, &others);
      pthread_setaffinity_np(threads[worker - 1].native_handle(), sizeof(others), &others);
    }
  }

  void waitForRun(uint64_t seen) {
    auto hasRun = [&] { return generation.load(std::memory_order_acquire) != seen; };
    if (waitAwake(hasRun))
      return;
    std::unique_lock lock(mutex);
    wake.wait(lock, hasRun);
  }

  /// Runs a worker's own numbers, then those of others, until none are left.
  void work(unsigned worker) {
    uint32_t begin, end;
    while (!isStopped.load(std::memory_order_relaxed)) {
      if (ranges[worker].take(chunk, begin, end)) {
        int64_t first = int64_t(begin) * unit, last = std::min(count, int64_t(end) * unit);
        if (!(*task)(worker, first, last))
          isStopped.store(true, std::memory_order_relaxed);
      } else if (stealFor(worker, begin, end)) {
        ranges[worker].word.store(WorkRange::make(begin, end), std::memory_order_release);
      } else {
        return;
      }
    }
  }

  bool stealFor(unsigned worker, uint32_t &begin, uint32_t &end) {
    for (unsigned distance = 1; distance < numWorkers; ++distance)
      if (ranges[(worker + distance) % numWorkers].steal(begin, end))
        return true;
    return false;
  }

  void run(int64_t newCount, unsigned workers, Task newTask, Idle idle) {
    // Launches of different callers run one after another.
    std::unique_lock runLock(runMutex, std::defer_lock);
    while (!runLock.try_lock_for(kIdleInterval))
      if (!idle())
        return;
    count = newCount;
    numWorkers = std::clamp<unsigned>(workers, 1, ranges.size());
    unit = (count >> 31) + 1;
    uint32_t units = static_cast<uint32_t>((count + unit - 1) / unit);
    numWorkers = std::min<uint32_t>(numWorkers, std::max<uint32_t>(units, 1));
    chunk = std::max<uint32_t>(1, units / (numWorkers * 64));
    task = &newTask;
    isStopped = false;
    for (unsigned worker = 0; worker < numWorkers; ++worker) {
      auto bound = [&](unsigned w) {
        return static_cast<uint32_t>(uint64_t(units) * w / numWorkers);
      };
      ranges[worker].word.store(WorkRange::make(bound(worker), bound(worker + 1)),
                                std::memory_order_release);
    }
    if (numWorkers == 1) {
      work(0);
      return;
    }
    running.store(static_cast<unsigned>(threads.size()), std::memory_order_release);
    keepOffCallersCore();
    {
      std::lock_guard lock(mutex);
      generation.fetch_add(1, std::memory_order_release);
    }
    wake.notify_all();
    work(0);
    waitUntilDone(idle);
  }

  void waitUntilDone(Idle idle) {
    auto isDone = [&] { return running.load(std::memory_order_acquire) == 0; };
    if (waitAwake(isDone))
      return;
    std::unique_lock lock(mutex);
    while (!done.wait_for(lock, kIdleInterval, isDone)) {
      lock.unlock(); // a worker that ends must not wait for the caller
      if (!idle())
        isStopped.store(true, std::memory_order_relaxed);
      lock.lock();
    }
  }

  std::vector<WorkRange> ranges;       ///< One a worker.
  std::vector<std::atomic<int>> cores; ///< Where each worker ran last.
  cpu_set_t allowedCores;
  std::vector<std::thread> threads;
  std::timed_mutex runMutex;
  std::mutex mutex;
  std::condition_variable wake, done;
  std::atomic<uint64_t> generation{0};
  std::atomic<unsigned> running{0};
  std::atomic<bool> isStopped{false};
  bool isClosing = false;

  // The current run.
  int64_t count = 0, unit = 1;
  uint32_t chunk = 1;
  unsigned numWorkers = 1;
  Task *task = nullptr;
};

ThreadPool::ThreadPool(unsigned numThreads) : impl(std::make_unique<Impl>(numThreads)) {}
ThreadPool::~ThreadPool() = default;

unsigned ThreadPool::getNumThreads() const { return impl->ranges.size(); }

void ThreadPool::run(int64_t count, unsigned numWorkers, Task task, Idle idle) {
  if (count > 0)
    impl->run(count, numWorkers, task, idle);
}

static Result<uint64_t> chooseNumThreads() {
  // Asking reads files of the kernel, which takes longer than a small launch.
  static const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  return environment::readNumber(environment::Variable::Threads, cores);
}

namespace {
/// The pool of this process and the lock that guards it. Threads do not survive a fork, and the
/// lock may be held while it happens: the child forgets both without touching them.
struct SharedPool {
  std::mutex mutex;
  std::shared_ptr<ThreadPool> pool;

  static std::atomic<SharedPool *> current;
};
std::atomic<SharedPool *> SharedPool::current{new SharedPool};
} // namespace

Result<std::shared_ptr<ThreadPool>> ThreadPool::getShared() {
  static std::once_flag once;
  std::call_once(
      once, [] { pthread_atfork(nullptr, nullptr, [] { SharedPool::current = new SharedPool; }); });
  SharedPool &shared = *SharedPool::current;
  std::lock_guard lock(shared.mutex);
  Result<uint64_t> wanted = chooseNumThreads();
  if (!wanted)
    return wanted.takeFailure();
  if (!shared.pool || shared.pool->getNumThreads() != *wanted)
    shared.pool = std::make_shared<ThreadPool>(*wanted);
  return shared.pool;
}
