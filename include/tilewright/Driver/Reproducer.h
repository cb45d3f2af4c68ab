//===- Reproducer.h - what is left of a compilation that stopped --------------------*- C++ -*-===//

#ifndef TILEWRIGHT_DRIVER_REPRODUCER_H
#define TILEWRIGHT_DRIVER_REPRODUCER_H

#include "tilewright/Tile/CallFacts.h"

#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace tilewright::driver {

/// The report of a compilation for `target` ("cpu" or an architecture) that stopped for `reason`:
/// an internal error, with a file that `tw-opt --run-reproducer` compiles in the same way.
std::string reportStop(mlir::ModuleOp module, llvm::StringRef target, const CallFacts &calls,
                       llvm::StringRef reason);

/// The pass `tile-compile`, which compiles a module to code and throws it away, and the pipeline
/// `tile-plan-gpu`, which runs the passes of a compilation for a GPU.
void registerDriverPasses();

} // namespace tilewright::driver

#endif // TILEWRIGHT_DRIVER_REPRODUCER_H
