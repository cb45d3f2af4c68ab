//===- Interrupts.h - who may end long work of a thread ------------------------------*- C++ -*-===//
//
// A compilation may take long, and what wants to end it (Python, on Ctrl-C) is several rooms above. It
// opens a scope on its thread; work that takes long asks whether to go on.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_SUPPORT_INTERRUPTS_H
#define TILEWRIGHT_SUPPORT_INTERRUPTS_H

#include "tilewright/Support/Forks.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace tilewright {

/// While it lives, long work of this thread calls `goesOn` now and then, and ends if it says no.
class InterruptScope {
public:
  explicit InterruptScope(llvm::function_ref<bool()> goesOn);
  ~InterruptScope();
  InterruptScope(const InterruptScope &) = delete;

  /// What the innermost scope of this thread says; true without one.
  static bool goesOn();

private:
  llvm::function_ref<bool()> ask;
  InterruptScope *outer;
};

/// Waits for a lock that another thread may hold for the time of a compilation. The lock is not
/// owned where the scope of this thread said no meanwhile.
std::unique_lock<ForkedMutex> lockInterruptibly(ForkedMutex &mutex);

} // namespace tilewright

#endif // TILEWRIGHT_SUPPORT_INTERRUPTS_H
