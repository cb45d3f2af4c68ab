//===- GridSync.h - a kernel whose blocks meet becomes several launches ----------------------===//

#ifndef TILEWRIGHT_LIB_FRONTEND_GRIDSYNC_H
#define TILEWRIGHT_LIB_FRONTEND_GRIDSYNC_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tilewright::frontend {

/// The name of the hint that stands where all blocks of the grid meet (`T.sync_grid`).
inline constexpr llvm::StringLiteral kGridSync = "sync_grid";

/// Splits the kernels of `function` where their blocks meet. Fails, with a diagnostic there, if a
/// block would have to remember something.
mlir::LogicalResult splitAtGridSyncs(mlir::func::FuncOp function);

} // namespace tilewright::frontend

#endif // TILEWRIGHT_LIB_FRONTEND_GRIDSYNC_H
