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
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace llvm {
class DiagnosticInfo;
class PassInstrumentationCallbacks;
} // namespace llvm

namespace tilewright {

/// Runs `work` and waits for it; what it throws is thrown here. Gives nothing where it came to its
/// end, else what stopped it: a fatal error of LLVM, or a fault of its thread. What the work has
/// made by then must not be used, nor what it may refer to be destroyed: let go of it. It must hold
/// no lock that others wait for.
std::optional<std::string> runGuarded(llvm::function_ref<void()> work);

/// Guarded work that its caller may leave before its end: because of Ctrl-C, or of a time limit. Work
/// that was left goes on alone until it notices (`isAbandoned`), so it must own all that it uses. Forks
/// wait for it.
class AbandonableWork {
public:
  enum class End { Finished, Stopped, Abandoned };

  explicit AbandonableWork(std::function<void()> work);
  ~AbandonableWork();
  AbandonableWork(const AbandonableWork &) = delete;

  /// Runs the work. `goesOn` is called on this thread about twenty times a second; the work is
  /// abandoned when it says no. What the work throws is thrown here. Call it once.
  End run(llvm::function_ref<bool()> goesOn);

  /// What stopped it.
  std::string getReason() const;
  /// Whether the work touches nothing any more. True after a fork: the child does not have its thread.
  bool isOver() const;

private:
  struct State;
  std::shared_ptr<State> state;
};

/// True on the thread of work that was abandoned. Its result goes nowhere: it should end soon.
bool isAbandoned();

/// Lets optional passes of LLVM do nothing in work that was abandoned.
void skipIfAbandoned(llvm::PassInstrumentationCallbacks &callbacks);

/// Calls `use`, which may touch what belongs to the caller of the work: not any more once the work is
/// abandoned, and the caller does not leave meanwhile. On other threads it just calls.
void useCaller(llvm::function_ref<void()> use);

/// Ends guarded work as a fatal error of LLVM does, and the process elsewhere.
[[noreturn]] void stopGuarded(const std::string &reason);

/// A diagnostic handler of an LLVMContext: an error of code generation, which ends the process
/// where no handler is set, stops guarded work.
void stopGuardedOnError(const llvm::DiagnosticInfo *diagnostic, void *);

} // namespace tilewright

#endif // TILEWRIGHT_SUPPORT_GUARDED_H
