//===- ThreadPool.h - runs the blocks of a grid on all cores ------------------------*- C++ -*-===//
//
// Blocks are numbered 0 to n - 1. Each worker owns a contiguous range of numbers, takes small
// chunks from its front, and steals the upper half of another worker's range when its own is empty:
// blocks with neighbouring numbers share data, so they stay on one core as long as there is work
// for all.
//
// A range is one 64-bit word (begin and end of 32 bits each), so that taking and stealing are
// single compare-and-exchange operations. Grids of more than 2^31 blocks are counted in larger
// units.
//
// The calling thread is worker 0. The other threads sleep between runs; a short spin before that
// saves the wake-up where launches follow each other closely.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_RT_THREADPOOL_H
#define TILEWRIGHT_RT_THREADPOOL_H

#include "tilewright/Support/FunctionRef.h"
#include "tilewright/Support/Result.h"

#include <cstdint>
#include <memory>

namespace tilewright::rt {

class ThreadPool {
public:
  /// Runs `first` to `last - 1`; gives false to stop the whole run early.
  using Task = FunctionRef<bool(unsigned worker, int64_t first, int64_t last)>;

  explicit ThreadPool(unsigned numThreads);
  ~ThreadPool();

  unsigned getNumThreads() const;

  /// Called on the calling thread now and then while it waits; gives false to stop the run.
  using Idle = FunctionRef<bool()>;

  /// Calls `task` for disjoint ranges that cover 0 to `count - 1`, on all threads, and returns when
  /// all are done. `numWorkers` limits the threads taking part. Not for use from inside a task.
  void run(int64_t count, unsigned numWorkers, Task task, Idle idle = [] { return true; });

  /// The pool of this process: `TILEWRIGHT_THREADS` threads, by default one for each core. A child
  /// that was forked off gets a pool of its own.
  static Result<std::shared_ptr<ThreadPool>> getShared();

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace tilewright::rt

#endif // TILEWRIGHT_RT_THREADPOOL_H
