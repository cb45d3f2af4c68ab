//===- CpuDevice.h - runs code that was compiled for the host -----------------------*- C++ -*-===//
//
// Rt/CpuRun.h with LLVM's errors and streams.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_RUNTIME_CPUDEVICE_H
#define TILEWRIGHT_RUNTIME_CPUDEVICE_H

#include "tilewright/Rt/CpuRun.h"

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

using rt::Progress;

/// As rt::CpuRunOptions has it.
struct CpuRunOptions {
  bool isDeterministic = false;
  /// Where `T.print` goes; standard output if null.
  llvm::raw_ostream *output = nullptr;
  std::function<bool(const Progress &)> poll;
};

/// Calls `entry` with one slot for each argument. Its error is a LaunchError. Not for use from
/// inside `poll`.
llvm::Error runOnCpu(host::Entry entry, llvm::ArrayRef<uint64_t> arguments,
                     const CpuRunOptions &options = {});

} // namespace tilewright::runtime

#endif // TILEWRIGHT_RUNTIME_CPUDEVICE_H
