//===- Forks.h - what a child process may inherit -----------------------------------*- C++ -*-===//
//
// A process may fork while other threads are at work. The child has none of them, but all that they
// were changing, and all locks that they held. Two remedies:
//
// - NoFork delays `fork()` while global state is being modified (a compilation: MLIR contexts, LLVM
//   registries, the linker, the disk cache).
// - ForkedMutex is for a lock that may be held while its thread waits for Python, so that a fork
//   cannot wait for it: the child gets a new, free lock.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_SUPPORT_FORKS_H
#define TILEWRIGHT_SUPPORT_FORKS_H

#include <atomic>
#include <chrono>
#include <mutex>

namespace tilewright {

/// Delays forks as long as it lives. Its thread must not wait for a thread that may fork: a fork
/// from Python holds the GIL.
class NoFork {
public:
  NoFork();
  ~NoFork();
  NoFork(const NoFork &) = delete;
};

/// A mutex that is free after a fork. What it guards is then as the parent's thread left it.
class ForkedMutex {
public:
  ForkedMutex();
  ~ForkedMutex();
  ForkedMutex(const ForkedMutex &) = delete;
  void lock();
  void unlock();
  /// Whether it was free within this time.
  bool try_lock_for(std::chrono::milliseconds time); // NOLINT: the standard's name

private:
  struct State {
    unsigned generation; ///< How many forks lie between the first process and this one.
    std::timed_mutex mutex;
  };
  State &getState();
  std::atomic<State *> state;
};

} // namespace tilewright

#endif // TILEWRIGHT_SUPPORT_FORKS_H
