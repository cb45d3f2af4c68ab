//===- CpuRun.cpp - runs code that was compiled for the host ----------------------------------===//

#include "tilewright/Rt/CpuRun.h"
#include "tilewright/Rt/ThreadPool.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <pthread.h>
#include <span>
#include <string>
#include <sys/mman.h>
#include <system_error>
#include <thread>
#include <vector>

using namespace tilewright;
using namespace tilewright::rt;

namespace {

/// Memory that grows and never shrinks; each thread keeps one from launch to launch.
class Arena {
public:
  ~Arena() { std::free(memory); }

  uint8_t *reserve(size_t bytes) {
    if (bytes > size) {
      std::free(memory);
      size_t page = bytes >= kWorthHugePages ? kHugePage : kPage;
      size = (bytes + page - 1) / page * page;
      memory = static_cast<uint8_t *>(std::aligned_alloc(page, size));
      if (!memory)
        size = 0;
      else if (page == kHugePage)
        madvise(memory, size, MADV_HUGEPAGE); // only a wish
    }
    return memory;
  }

private:
  static constexpr size_t kPage = 4096;
  static constexpr size_t kHugePage = size_t(1) << 21;
  /// Tiles of that size have more pages than a core keeps translations of at hand.
  static constexpr size_t kWorthHugePages = size_t(1) << 18;
  uint8_t *memory = nullptr;
  size_t size = 0;
};

/// Too short to notice, and long enough that reading the clock costs nothing.
constexpr auto kSoon = std::chrono::milliseconds(1);

/// More than any machine has; sums of sizes below do not overflow.
constexpr int64_t kLargestAllocation = int64_t(1) << 46;

/// A lock for short work, on a cache line of its own.
class alignas(64) SpinLock {
public:
  void lock() {
    for (unsigned spins = 0; flag.exchange(true, std::memory_order_acquire); ++spins)
      if (spins % 64 == 63)
        std::this_thread::yield(); // its holder may wait for a core
      else
        __builtin_ia32_pause();
  }
  void unlock() { flag.store(false, std::memory_order_release); }

private:
  std::atomic<bool> flag{false};
};

/// Rows share a table of locks; two rows with one lock only wait for each other a little more
/// often.
constexpr size_t kNumLocks = 1024;
SpinLock rowLocks[kNumLocks];

SpinLock &lockOf(const void *tensor, int64_t row) {
  uint64_t key = reinterpret_cast<uintptr_t>(tensor) / 64 + static_cast<uint64_t>(row);
  return rowLocks[(key * 0x9e3779b97f4a7c15u) >> 54];
}

/// One call of an entry. The services come first, so that a pointer to them is one to this.
class CpuRun {
public:
  explicit CpuRun(const CpuRunOptions &options) : options(options) {
    services.launch = [](host::Services *self, host::BlockFunction block, const uint64_t *captures,
                         const host::Grid *grid, int64_t arenaBytes) {
      from(self).launch(block, captures, *grid, arenaBytes);
    };
    services.allocate = [](host::Services *self, int64_t bytes) {
      return from(self).allocate(bytes);
    };
    services.allocateInBlock = [](host::Services *self, int64_t number, int64_t bytes) {
      return from(self).allocateInBlock(number, bytes);
    };
    services.fail = [](host::Services *self, const char *message, int64_t length, const char *file,
                       int64_t fileLength, int64_t line, int64_t column, int64_t number) {
      std::string text(message, length);
      if (size_t at = text.find('\1'); at != std::string::npos)
        text.replace(at, 1, std::to_string(number));
      from(self).fail(text, std::string_view(file, fileLength), line, column);
      stopBlock();
    };
    services.lockRow = [](host::Services *, const void *tensor, int64_t row) {
      lockOf(tensor, row).lock();
    };
    services.unlockRow = [](host::Services *, const void *tensor, int64_t row) {
      lockOf(tensor, row).unlock();
    };
    services.poll = [](host::Services *self) { from(self).pollInBlock(); };
    services.print = [](host::Services *self, const host::PrintRequest *request) {
      from(self).print(*request);
    };
  }
  ~CpuRun() {
    for (void *workspace : workspaces)
      std::free(workspace);
  }

  std::optional<RunFailure> run(host::Entry entry, const uint64_t *arguments) {
    if (worker.isCalling)
      return RunFailure{
          "a kernel cannot be called while this thread's last call of one is still running"};
    worker.isCalling = true;
    entry(&services, arguments);
    worker.isCalling = false;
    return std::move(failure);
  }

private:
  static CpuRun &from(host::Services *services) { return *reinterpret_cast<CpuRun *>(services); }

  void launch(host::BlockFunction block, const uint64_t *captures, const host::Grid &grid,
              int64_t arenaBytes);
  void runTalking(int64_t count, unsigned workers, FunctionRef<bool(int64_t number)> runBlock);
  bool runBlocks(host::BlockFunction block, const uint64_t *captures, const host::Grid &grid,
                 int64_t first, int64_t last, int64_t arenaBytes);
  bool runAtOnce(host::BlockFunction block, const uint64_t *captures, const host::Grid &grid,
                 int64_t first, int64_t last, uint8_t *memory);
  void *allocate(int64_t bytes);
  void *allocateInBlock(int64_t number, int64_t bytes);
  static void stopBlock();
  void fail(std::string_view message, std::string_view file = "", int64_t line = 0,
            int64_t column = 0);
  bool isToGoOn();
  void pollInBlock();
  void print(const host::PrintRequest &request);

  host::Services services;
  const CpuRunOptions &options;
  std::mutex mutex;
  std::atomic<bool> hasFailed{false};
  std::optional<RunFailure> failure; ///< The first one.
  std::vector<void *> workspaces;
  Progress progress{0, 0, 0};
  std::atomic<int64_t> blocksDone{0};
  uint64_t launchNumber = 0; ///< No two launches of a process have the same one.
  std::chrono::steady_clock::time_point lastPoll = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point lastLook = lastPoll; ///< Of the calling thread, in a block.

  /// What a thread knows of the call it works for.
  struct Worker {
    std::jmp_buf *stopBlock = nullptr; ///< Where a failing block returns to; null outside blocks.
    bool isCalling = false;            ///< Whether the call came from this thread.
    unsigned pollsToLook = 1;          ///< Not each poll looks at the clock: those until one does,
    unsigned pollsALook = 1;           ///< and how many come between two.
    uint64_t launch = 0;               ///< The number of the launch it last ran blocks of.
    int64_t blocksAtOnce = 1;          ///< How many of them it runs before it looks up.
    bool yields = false;               ///< Whether its block may wait for one that needs the core.
  };
  static thread_local Worker worker;
};

thread_local CpuRun::Worker CpuRun::worker;

} // namespace

void CpuRun::fail(std::string_view message, std::string_view file, int64_t line, int64_t column) {
  std::lock_guard lock(mutex);
  if (!hasFailed.exchange(true))
    failure = RunFailure{std::string(message), std::string(file), line, column};
}

void *CpuRun::allocate(int64_t bytes) {
  void *memory = nullptr;
  if (bytes >= 0 && bytes < kLargestAllocation)
    memory = std::aligned_alloc(64, (static_cast<size_t>(bytes) + 127) / 64 * 64);
  if (!memory)
    fail("cannot allocate a workspace of " + std::to_string(bytes) + " bytes");
  else
    workspaces.push_back(memory);
  return memory;
}

/// Memory by the number of the statement that needs it, which requests it again each time it runs.
/// It is freed with the thread.
void *CpuRun::allocateInBlock(int64_t number, int64_t bytes) {
  static thread_local std::vector<std::unique_ptr<Arena>> arenas;
  while (arenas.size() <= static_cast<size_t>(number))
    arenas.push_back(std::make_unique<Arena>());
  bool isPossible = bytes >= 0 && bytes < kLargestAllocation;
  void *memory = isPossible ? arenas[number]->reserve(std::max<int64_t>(bytes, 1)) : nullptr;
  if (!memory) {
    fail("cannot allocate " + std::to_string(bytes) + " bytes for a copy of a tile");
    stopBlock();
  }
  return memory;
}

/// Compiled code has nothing to clean up, so that leaving it in one step is safe.
void CpuRun::stopBlock() {
  if (worker.stopBlock)
    std::longjmp(*worker.stopBlock, 1);
}

bool CpuRun::runBlocks(host::BlockFunction block, const uint64_t *captures, const host::Grid &grid,
                       int64_t first, int64_t last, int64_t arenaBytes) {
  static thread_local Arena arena;
  uint8_t *memory = arena.reserve(std::max(arenaBytes, host::kKeptBytes));
  if (!memory) {
    fail("cannot allocate " + std::to_string(arenaBytes) + " bytes for the tiles of a block");
    return false;
  }
  if (worker.launch != launchNumber) {
    worker.launch = launchNumber;
    worker.blocksAtOnce = 1;
    std::memset(memory, 0, host::kKeptBytes);
  }
  while (first < last) {
    int64_t next = std::min(last, first + worker.blocksAtOnce);
    if (!runAtOnce(block, captures, grid, first, next, memory))
      return false;
    first = next;
  }
  return true;
}

/// Runs blocks without looking up in between, and learns how many may be run like that: small ones
/// are not worth a look, and few large ones take longer than a user would wait.
bool CpuRun::runAtOnce(host::BlockFunction block, const uint64_t *captures, const host::Grid &grid,
                       int64_t first, int64_t last, uint8_t *memory) {
  auto start = std::chrono::steady_clock::now();
  std::jmp_buf here;
  if (setjmp(here) == 0) {
    worker.stopBlock = &here;
    block(captures, &grid, first, last, memory, &services);
  }
  worker.stopBlock = nullptr;
  blocksDone.fetch_add(last - first, std::memory_order_relaxed);
  auto taken = std::chrono::steady_clock::now() - start;
  if (taken < kSoon)
    worker.blocksAtOnce = std::max(worker.blocksAtOnce, 2 * (last - first));
  else if (taken > 4 * kSoon)
    worker.blocksAtOnce = std::max<int64_t>(1, worker.blocksAtOnce / 4);
  return worker.isCalling ? isToGoOn() : !hasFailed.load(std::memory_order_relaxed);
}

/// On the calling thread: asks the caller, if it is time to.
bool CpuRun::isToGoOn() {
  if (hasFailed.load(std::memory_order_relaxed))
    return false;
  auto now = std::chrono::steady_clock::now();
  if (!options.poll || now - lastPoll < std::chrono::milliseconds(50))
    return true;
  progress.blocksDone = blocksDone.load(std::memory_order_relaxed);
  if (!options.poll(progress))
    fail("the launch was interrupted");
  lastPoll = std::chrono::steady_clock::now();
  return !hasFailed;
}

/// Where polls come often, only each 32nd looks at the clock; where they are rare, each one does.
void CpuRun::pollInBlock() {
  bool isStopped = hasFailed.load(std::memory_order_relaxed);
  if (worker.yields)
    std::this_thread::yield();
  if (!isStopped && worker.isCalling && --worker.pollsToLook == 0) {
    auto now = std::chrono::steady_clock::now();
    bool isOften = now - lastLook < kSoon;
    lastLook = now;
    worker.pollsALook = isOften ? std::min(2 * worker.pollsALook, 32u) : 1;
    worker.pollsToLook = worker.pollsALook;
    isStopped = !isToGoOn();
  }
  if (isStopped)
    stopBlock();
}

/// Runs blocks that may wait for each other. Those that wait keep their threads, so where no block
/// ends for a while, one more thread takes the next block.
void CpuRun::runTalking(int64_t count, unsigned workers,
                        FunctionRef<bool(int64_t number)> runBlock) {
  std::atomic<int64_t> next{0};
  std::mutex doneMutex;
  std::condition_variable done;
  auto work = [&] {
    int64_t number = 0;
    while (!hasFailed.load(std::memory_order_relaxed) && (number = next.fetch_add(1)) < count)
      if (!runBlock(number))
        break;
    std::lock_guard lock(doneMutex);
    done.notify_one();
  };
  std::vector<std::thread> threads;
  int64_t doneBefore = -1;
  while (blocksDone < count && isToGoOn()) {
    int64_t doneNow = blocksDone;
    bool isStuck = doneNow == doneBefore;
    doneBefore = doneNow;
    if (next < count && (isStuck || threads.size() < workers)) {
      try {
        threads.emplace_back(work);
      } catch (const std::system_error &) {
        fail("blocks of this kernel wait for others, and no thread is left for block " +
             std::to_string(next.load()) + " of " + std::to_string(count));
      }
      if (threads.size() < workers)
        continue;
    }
    std::unique_lock lock(doneMutex);
    done.wait_for(lock, kSoon, [&] { return blocksDone == count; });
  }
  for (std::thread &thread : threads)
    thread.join();
}

void CpuRun::launch(host::BlockFunction block, const uint64_t *captures, const host::Grid &grid,
                    int64_t arenaBytes) {
  if (hasFailed)
    return;
  int64_t count = 1;
  for (int64_t extent : grid.extents) {
    if (extent < 0 || extent > INT32_MAX)
      return fail("grid extent " + std::to_string(extent) + " is not between 0 and 2147483647");
    if (__builtin_mul_overflow(count, extent, &count))
      return fail("the grid has more blocks than 64 bits can count");
  }
  Result<std::shared_ptr<ThreadPool>> shared = ThreadPool::getShared();
  if (!shared)
    return fail(shared.getFailure().message);
  std::shared_ptr<ThreadPool> pool = std::move(*shared);
  unsigned workers = options.isDeterministic ? 1 : pool->getNumThreads();
  static std::atomic<uint64_t> numLaunches{0};
  launchNumber = ++numLaunches;
  ++progress.launch;
  progress.blocks = count;
  blocksDone = 0;
  if (grid.blocksTalk)
    return runTalking(count, workers, [&](int64_t number) {
      worker.yields = true;
      return runBlocks(block, captures, grid, number, number + 1, arenaBytes);
    });
  pool->run(
      count, workers,
      [&](unsigned, int64_t first, int64_t last) {
        return runBlocks(block, captures, grid, first, last, arenaBytes);
      },
      [&] { return isToGoOn(); });
}

//===----------------------------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------------------------===//

static void printNumber(std::string &text, host::NumberKind kind, uint64_t bits) {
  switch (kind) {
  case host::NumberKind::None:
    return;
  case host::NumberKind::Float: {
    double value;
    std::memcpy(&value, &bits, sizeof(value));
    char digits[40];
    text.append(digits, std::snprintf(digits, sizeof(digits), "%.9g", value));
    return;
  }
  case host::NumberKind::Signed:
    text += std::to_string(static_cast<int64_t>(bits));
    return;
  case host::NumberKind::Unsigned:
    text += std::to_string(bits);
    return;
  }
}

/// `[[1, 2], [3, 4]]`; gives the elements that follow.
static const uint64_t *printElements(std::string &text, host::NumberKind kind,
                                     std::span<const int64_t> extents, const uint64_t *elements) {
  if (extents.empty()) {
    printNumber(text, kind, *elements);
    return elements + 1;
  }
  text += "[";
  for (int64_t position = 0; position < extents.front(); ++position) {
    text += position ? ", " : "";
    elements = printElements(text, kind, extents.subspan(1), elements);
  }
  text += "]";
  return elements;
}

void CpuRun::print(const host::PrintRequest &request) {
  std::string line(request.message, request.messageLength);
  if (request.kind != host::NumberKind::None) {
    line += request.messageLength ? " " : "";
    printElements(line, request.kind, std::span(request.extents, request.rank), request.elements);
  }
  line += "\n";
  std::lock_guard lock(mutex); // one line at a time
  if (options.print)
    return options.print(line);
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fflush(stdout);
}

std::optional<RunFailure> tilewright::rt::runOnCpu(host::Entry entry, const uint64_t *arguments,
                                                   const CpuRunOptions &options) {
  // A lock that another thread held when this process was forked is free now.
  static std::once_flag once;
  std::call_once(once, [] {
    pthread_atfork(nullptr, nullptr, [] {
      for (SpinLock &lock : rowLocks)
        lock.unlock();
    });
  });
  return CpuRun(options).run(entry, arguments);
}
