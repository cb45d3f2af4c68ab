//===- ArrivalCounters.h - barriers as counters of arrivals -------------------------*- C++ -*-===//

#ifndef TILEWRIGHT_LIB_THREADS_ARRIVALCOUNTERS_H
#define TILEWRIGHT_LIB_THREADS_ARRIVALCOUNTERS_H

#include "tilewright/Tile/Tile.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tilewright::threads {

/// The counters of the barriers in a row, which begin at 0 where the row is made.
mlir::Value getCounters(mlir::Value barriers);

// Of the barrier with this index in the row that `wait` is for.

/// Whether the phase of this parity is over.
mlir::Value isParityOver(mlir::ImplicitLocOpBuilder &b, tile::BarrierWaitOp wait, mlir::Value index,
                         mlir::Value parity);
/// The number of the phase that the last arrival belongs to.
mlir::Value countPhaseOfArrival(mlir::ImplicitLocOpBuilder &b, tile::BarrierWaitOp wait,
                                mlir::Value index);
/// Whether the phase with this number is over.
mlir::Value isPhaseOver(mlir::ImplicitLocOpBuilder &b, tile::BarrierWaitOp wait, mlir::Value index,
                        mlir::Value phase);

} // namespace tilewright::threads

#endif // TILEWRIGHT_LIB_THREADS_ARRIVALCOUNTERS_H
