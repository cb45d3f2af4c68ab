//===- Scalars.h - ops that compute scalars -----------------------------------------*- C++ -*-===//

#ifndef TILEWRIGHT_TILE_SCALARS_H
#define TILEWRIGHT_TILE_SCALARS_H

#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"

namespace tilewright::tile {

/// Whether an op computes a scalar or a view and touches no memory.
bool isPureScalar(mlir::Operation *op);

/// Whether two scalars are the same number, computed in the same way.
bool areEqual(mlir::Value a, mlir::Value b);

} // namespace tilewright::tile

#endif // TILEWRIGHT_TILE_SCALARS_H
