//===- Interrupts.cpp - who may end long work of a thread -------------------------------------===//

#include "tilewright/Support/Interrupts.h"

using namespace tilewright;

static thread_local InterruptScope *innermost = nullptr;

InterruptScope::InterruptScope(llvm::function_ref<bool()> goesOn) : ask(goesOn), outer(innermost) {
  innermost = this;
}

InterruptScope::~InterruptScope() { innermost = outer; }

bool InterruptScope::goesOn() { return !innermost || innermost->ask(); }
