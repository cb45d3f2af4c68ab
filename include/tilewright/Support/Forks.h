//===- Forks.h - what a child process may inherit -----------------------------------*- C++ -*-===//
//
// A process may fork while other threads are at work. The child has none of them, but all that they
// were changing, and all locks that they held. Two remedies:
//
// - NoFork: state that is nobody's in the middle of a change (a compilation: contexts of MLIR,
//   registries of LLVM, the linker, the disk cache) lets a fork wait until it is done.
// - ForkedMutex: a lock that may be held while its thread waits for Python, and so may make nobody
//   wait, is a new lock in the child.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_SUPPORT_FORKS_H
#define TILEWRIGHT_SUPPORT_FORKS_H

#include <atomic>
#include <mutex>

namespace tilewright {

/// While one lives, a fork waits. Its thread must not wait for another that may fork: whoever forks
/// from Python holds the GIL.
class NoFork {
public:
  NoFork();
  ~NoFork();
  NoFork(const NoFork &) = delete;
};

/// A mutex that nobody holds after a fork. What it guards is then as the parent's thread left it.
class ForkedMutex {
public:
  ForkedMutex();
  ~ForkedMutex();
  ForkedMutex(const ForkedMutex &) = delete;
  void lock();
  void unlock();

private:
  struct State {
    unsigned generation; ///< How many forks lie between the first process and this one.
    std::mutex mutex;
  };
  std::atomic<State *> state;
};

} // namespace tilewright

#endif // TILEWRIGHT_SUPPORT_FORKS_H
