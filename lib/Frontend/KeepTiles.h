//===- KeepTiles.h - tiles that keep their values when the blocks of a grid meet ---*- C++ -*-===//

#ifndef TILEWRIGHT_LIB_FRONTEND_KEEPTILES_H
#define TILEWRIGHT_LIB_FRONTEND_KEEPTILES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tilewright::frontend {

/// Saves each tile that may be read after a `T.sync_grid` with values from before to a workspace
/// before the sync, and reads it back right after it.
void keepTiles(mlir::func::FuncOp function);

} // namespace tilewright::frontend

#endif // TILEWRIGHT_LIB_FRONTEND_KEEPTILES_H
