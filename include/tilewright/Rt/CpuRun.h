//===- CpuRun.h - runs code that was compiled for the host --------------------------*- C++ -*-===//
//
// Provides the services that compiled code needs (Support/HostAbi.h): threads for its grids, an
// arena for each worker, workspaces, printing, and a way to stop with a message.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_RT_CPURUN_H
#define TILEWRIGHT_RT_CPURUN_H

#include "tilewright/Support/HostAbi.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace tilewright::rt {

/// What a program itself reported: a failed assertion, an access outside a tile, a grid that cannot
/// be. A line of 0 is no statement's fault.
struct RunFailure {
  std::string message, file = {};
  int64_t line = 0, column = 0;
};

/// How far the launches of a call have come.
struct Progress {
  unsigned launch; ///< Counts from 1.
  int64_t blocksDone, blocks;
};

struct CpuRunOptions {
  /// Blocks run one after another in the order of their numbers, so that atomic float sums come out
  /// the same in each run whatever the number of threads.
  bool isDeterministic = false;
  /// Gets each line of `T.print`, from one thread at a time; standard output if empty.
  std::function<void(std::string_view line)> print;
  /// Called on the calling thread now and then (20 times a second) while blocks run; gives false to
  /// stop. Blocks end early then: what they wrote so far stays written.
  std::function<bool(const Progress &)> poll;
};

/// Calls `entry` with one slot for each argument; gives what went wrong. Not for use from inside
/// `poll`.
std::optional<RunFailure> runOnCpu(host::Entry entry, const uint64_t *arguments,
                                   const CpuRunOptions &options = {});

} // namespace tilewright::rt

#endif // TILEWRIGHT_RT_CPURUN_H
