//===- Waits.h - where threads wait for each other -------------------------------------------===//

#ifndef TILEWRIGHT_LIB_THREADS_WAITS_H
#define TILEWRIGHT_LIB_THREADS_WAITS_H

#include "tilewright/Tile/Tile.h"

namespace tilewright::threads {

/// Whether `op` is or holds a wait at a barrier.
bool holdsWait(mlir::Operation *op);

/// Whether `op` is or holds a wait or an arrival at a barrier.
bool usesBarriers(mlir::Operation *op);

/// What is read for a wait is read when it comes to the wait: the wait that follows `op` with
/// nothing but reads and numbers between, else `op` itself.
mlir::Operation *findEndOfStatement(mlir::Operation *op);

} // namespace tilewright::threads

#endif // TILEWRIGHT_LIB_THREADS_WAITS_H
