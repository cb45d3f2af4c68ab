//===- CpuDevice.h - runs code that was compiled for the host -----------------------*- C++ -*-===//
//
// Provides the services that compiled code needs (Support/HostAbi.h): threads for its grids, an
// arena for each worker, workspaces, printing, and a way to stop with a message.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_RUNTIME_CPUDEVICE_H
#define TILEWRIGHT_RUNTIME_CPUDEVICE_H

#include "tilewright/Support/HostAbi.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <functional>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace tilewright::runtime {

/// What a program itself reported: a failed assertion, an access outside a tile, a grid that cannot
/// be. A line of 0 is no statement's fault.
class LaunchError : public llvm::ErrorInfo<LaunchError> {
public:
  LaunchError(std::string message, std::string file = "", int64_t line = 0, int64_t column = 0)
      : message(std::move(message)), file(std::move(file)), line(line), column(column) {}

  void log(llvm::raw_ostream &os) const override;
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }

  static char ID;
  const std::string message, file;
  const int64_t line, column;
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
  /// Where `T.print` goes; standard output if null.
  llvm::raw_ostream *output = nullptr;
  /// Called on the calling thread now and then (20 times a second) while blocks run; gives false to
  /// stop. Blocks end early then: what they wrote so far stays written.
  std::function<bool(const Progress &)> poll;
};

/// Calls `entry` with one slot for each argument. Its error is a LaunchError. Not for use from
/// inside `poll`.
llvm::Error runOnCpu(host::Entry entry, llvm::ArrayRef<uint64_t> arguments,
                     const CpuRunOptions &options = {});

} // namespace tilewright::runtime

#endif // TILEWRIGHT_RUNTIME_CPUDEVICE_H
