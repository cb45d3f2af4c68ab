//===- Gil.h - who holds Python's lock, also while Python ends ----------------------*- C++ -*-===//
//
// A kernel may run in a daemon thread while Python ends. Before Python 3.14 a thread that requests
// the GIL from then on is ended by pthread_exit: an unwinding that no destructor, no compiled
// kernel and no `noexcept` function on its stack survives. To look first whether Python is ending
// is no help: it may begin to end while the thread waits. So all code that can be unwound like
// this stays where it is until the process is gone, as later versions of Python have it.
//
// The thread that ends Python runs code as well, `__del__` of what modules hold. Who has the GIL
// while Python ends is that thread: it keeps the GIL, and requests nothing in between.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_PYTHON_BINDINGS_GIL_H
#define TILEWRIGHT_PYTHON_BINDINGS_GIL_H

#include "LimitedApi.h"

#include <atomic>
#include <cxxabi.h>
#include <nanobind/nanobind.h>
#include <unistd.h>

namespace tilewright::bindings {
namespace nb = nanobind;

/// Whether no thread may request the GIL any more.
inline bool isPythonEnding() { return isInterpreterFinalizing(); }

[[noreturn]] inline void stayUntilProcessEnds() {
  while (true)
    pause();
}

/// Calls `function`, which may run Python code, in a thread with the GIL. Where Python ends the thread
/// in the middle of it, the call does not return.
template <typename FunctionT> auto runPython(FunctionT function) {
  try {
    return function();
  } catch (abi::__forced_unwind &) {
    stayUntilProcessEnds();
  }
}

/// The same for a function that takes the GIL.
template <typename FunctionT> auto askPython(FunctionT function) {
  if (isPythonEnding())
    stayUntilProcessEnds();
  return runPython(function);
}

/// Lets other Python threads go on while it lives; where Python ends there are none.
class WithoutGil {
public:
  WithoutGil() : state(isPythonEnding() ? nullptr : PyEval_SaveThread()) { ++numRunning; }
  ~WithoutGil() {
    --numRunning;
    if (state)
      askPython([&] { PyEval_RestoreThread(state); });
  }
  WithoutGil(const WithoutGil &) = delete;

  /// How many threads compile or run kernels, and let Python go on.
  static unsigned countRunning() { return numRunning; }

private:
  static inline std::atomic<unsigned> numRunning{0};
  PyThreadState *state;
};

/// Holds the GIL while it lives, in a thread that is without it.
class WithGil {
public:
  WithGil() : state(askPython(PyGILState_Ensure)) {}
  ~WithGil() { PyGILState_Release(state); }
  WithGil(const WithGil &) = delete;

private:
  PyGILState_STATE state;
};

/// Lets the process end while other threads compile or run kernels. `exit` destroys what the
/// libraries under them use; a process with such threads ends without that.
void watchProcessEnd();

} // namespace tilewright::bindings

#endif // TILEWRIGHT_PYTHON_BINDINGS_GIL_H
