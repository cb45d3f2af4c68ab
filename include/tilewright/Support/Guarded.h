//===- Guarded.h - work that may stop in the middle, and leaves the process alone ---*- C++ -*-===//
//
// LLVM ends the process where it meets what it cannot do ("Cannot select"), and a compiler that
// recurses over a program may run out of stack. Neither may happen to the user's process. LLVM is
// built without exceptions, so that nothing may be thrown or jumped out of it: its locks, tables
// and half-made code would stay as they are. So it is not left at all. The work has a thread of its
// own, with a deep stack; where it stops, the thread stays there for ever, and its caller goes on.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_SUPPORT_GUARDED_H
#define TILEWRIGHT_SUPPORT_GUARDED_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include <optional>
#include <string>

namespace llvm {
class DiagnosticInfo;
} // namespace llvm

namespace tilewright {

/// Runs `work` and waits for it; what it throws is thrown here. Gives nothing where it came to its
/// end, else what stopped it: a fatal error of LLVM, or a fault of its thread. What the work has
/// made by then must not be used, nor what it may refer to be destroyed: let go of it. It must hold
/// no lock that others wait for.
std::optional<std::string> runGuarded(llvm::function_ref<void()> work);

/// Ends guarded work as a fatal error of LLVM does, and the process elsewhere.
[[noreturn]] void stopGuarded(const std::string &reason);

/// A diagnostic handler of an LLVMContext: an error of code generation, which ends the process
/// where no handler is set, stops guarded work.
void stopGuardedOnError(const llvm::DiagnosticInfo *diagnostic, void *);

} // namespace tilewright

#endif // TILEWRIGHT_SUPPORT_GUARDED_H
