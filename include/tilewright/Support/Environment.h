//===- Environment.h - the variables that users set ---------------------------------*- C++ -*-===//
//
// All C++ code reads TILEWRIGHT_* variables here; python/tilewright/support/environment.py is the
// twin for Python code. It needs no LLVM: the runtime of exported libraries uses it. An empty variable counts as not set. A meaningless value is an error that
// names the variable: a setting never has silently no effect.
//
//   switch     0, 1, off, on, no, yes, false, true
//   number     decimal digits, in a range
//   choice     one of a few words
//   folder     a path from the root
//   library    a name, or a path
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_SUPPORT_ENVIRONMENT_H
#define TILEWRIGHT_SUPPORT_ENVIRONMENT_H

#include "tilewright/Support/Result.h"

#include <cstdint>
#include <string_view>

namespace tilewright::environment {

enum class Variable {
  Cache,         ///< TILEWRIGHT_CACHE, a switch: whether results are kept on disk
  CacheDir,      ///< TILEWRIGHT_CACHE_DIR: where
  CacheMb,       ///< TILEWRIGHT_CACHE_MB: how many MiB at most
  Check,         ///< TILEWRIGHT_CHECK, a switch: check all that can be checked
  CheckPlans,    ///< TILEWRIGHT_CHECK_PLANS, a switch
  CompileLimit,  ///< TILEWRIGHT_COMPILE_SECONDS: how long a compilation may take
  Core,          ///< TILEWRIGHT_CORE, a choice: which type of core code is tuned for (cpu.md)
  Cpu,           ///< TILEWRIGHT_CPU, a choice: which instructions CPU code uses (cpu.md)
  Deterministic, ///< TILEWRIGHT_DETERMINISTIC, a switch
  L2Kb,          ///< TILEWRIGHT_L2_KB: the size of a core's second cache
  Libcuda,       ///< TILEWRIGHT_LIBCUDA: the driver's library, or none
  Threads,       ///< TILEWRIGHT_THREADS: how many threads run CPU code
  VgpuMode,      ///< TILEWRIGHT_VGPU_MODE, a choice: late lets asynchronous effects wait (vgpu.md)
};

/// The value as it stands there; empty if it is not set.
std::string_view getText(Variable variable);
/// The value of a switch.
Result<bool> readSwitch(Variable variable, bool fallback);
/// The value of a number.
Result<uint64_t> readNumber(Variable variable, uint64_t fallback);

/// The first variable of the list above whose value means nothing.
MaybeFailure check();

} // namespace tilewright::environment

#endif // TILEWRIGHT_SUPPORT_ENVIRONMENT_H
