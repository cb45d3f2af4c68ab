//===- Interruptible.h - compilations that end when their caller wants ---------------*- C++ -*-===//

#ifndef TILEWRIGHT_DRIVER_INTERRUPTIBLE_H
#define TILEWRIGHT_DRIVER_INTERRUPTIBLE_H

#include "tilewright/Driver/Engine.h"

namespace tilewright::driver {

/// What takes the time. A program is checked for all devices at once.
enum class Work { Check, Compilation };

/// Checks a program, or compiles it for `target`, by `work` on a thread of its own. The caller gets an error within a second
/// of Ctrl-C, after TILEWRIGHT_COMPILE_SECONDS, and if LLVM stops; the program stays locked only
/// until then. So `work` must own what it uses, and reach its caller through useCaller alone.
llvm::Error runInterruptibly(const ProgramRef &program, const frontend::Program::Lock &lock,
                             Work kind, llvm::StringRef target, const CallFacts &calls,
                             std::function<void()> work);

/// The options with a listener that is not called any more once the caller has left.
PipelineOptions detachListener(PipelineOptions options);

} // namespace tilewright::driver

#endif // TILEWRIGHT_DRIVER_INTERRUPTIBLE_H
