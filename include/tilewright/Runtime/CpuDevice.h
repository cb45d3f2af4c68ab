//===- CpuDevice.h - runs code that was compiled for the host -------------------------*- C++
//-*-===//
//
// Gives compiled code what it asks for (Support/HostAbi.h): threads for its grids, an arena for
// each worker, workspaces, printing, and a way to stop with a message.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_RUNTIME_CPUDEVICE_H
#define TILEWRIGHT_RUNTIME_CPUDEVICE_H

#include "tilewright/Support/HostAbi.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace tilewright::runtime {

struct CpuRunOptions {
  /// Blocks run one after another in the order of their numbers, so that atomic float sums come out
  /// the same in each run whatever the number of threads.
  bool isDeterministic = false;
  /// Where `T.print` goes; standard output if null.
  llvm::raw_ostream *output = nullptr;
};

/// Calls `entry` with one slot for each argument. The error is what the program itself reported: a
/// failed assertion, an access outside a tile, a grid that cannot be.
llvm::Error runOnCpu(host::Entry entry, llvm::ArrayRef<uint64_t> arguments,
                     const CpuRunOptions &options = {});

} // namespace tilewright::runtime

#endif // TILEWRIGHT_RUNTIME_CPUDEVICE_H
