//===- Interrupts.cpp - who may end long work of a thread -------------------------------------===//

#include "tilewright/Support/Interrupts.h"

using namespace tilewright;

static thread_local InterruptScope *innermost = nullptr;

InterruptScope::InterruptScope(llvm::function_ref<bool()> goesOn) : ask(goesOn), outer(innermost) {
  innermost = this;
}

InterruptScope::~InterruptScope() { innermost = outer; }

bool InterruptScope::goesOn() { return !innermost || innermost->ask(); }

std::unique_lock<ForkedMutex> tilewright::lockInterruptibly(ForkedMutex &mutex) {
  std::unique_lock lock(mutex, std::defer_lock);
  while (!lock.try_lock_for(std::chrono::milliseconds(50)) && InterruptScope::goesOn())
    ;
  return lock;
}
