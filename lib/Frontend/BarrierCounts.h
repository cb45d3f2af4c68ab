//===- BarrierCounts.h - how barriers stand in the IR ----------------------------------------===//
//
// A barrier is an element of a shared tile that counts arrivals. A wait is an assertion about what
// is read from it (python/tilewright/language/barriers.py).
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_LIB_FRONTEND_BARRIERCOUNTS_H
#define TILEWRIGHT_LIB_FRONTEND_BARRIERCOUNTS_H

#include "tilewright/Tile/Tile.h"

#include <optional>

namespace tilewright::frontend {

/// Whether a tile counts arrivals: it is set to 0, read, and added to.
bool isCounter(mlir::Value tile);

/// An arrival at a barrier.
struct Arrival {
  mlir::Value counter, element;
  bool isOnce; ///< one arrival, whoever comes; else one for each thread that does
};

/// What `op` arrives at, if it does.
std::optional<Arrival> findArrival(mlir::Operation *op);

/// The counter that a wait reads, or null.
mlir::Value waitedFor(mlir::Operation *op);

/// Whether `op` is or holds a wait.
bool holdsWait(mlir::Operation *op);

/// Whether `op` is or holds a wait or an arrival.
bool usesCounters(mlir::Operation *op);

/// What is read for a wait is read when it comes to the wait: the wait that follows `op` with
/// nothing but reads and numbers between, else `op` itself.
mlir::Operation *findEndOfStatement(mlir::Operation *op);

} // namespace tilewright::frontend

#endif // TILEWRIGHT_LIB_FRONTEND_BARRIERCOUNTS_H
