//===- SinkArrays.h - arrays that each iteration of T.Parallel has for itself ------*- C++ -*-===//

#ifndef TILEWRIGHT_LIB_FRONTEND_SINKARRAYS_H
#define TILEWRIGHT_LIB_FRONTEND_SINKARRAYS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tilewright::frontend {

/// Moves each `T.alloc_local` whose elements are used in one `T.Parallel` only into that loop.
void sinkArrays(mlir::func::FuncOp function);

} // namespace tilewright::frontend

#endif // TILEWRIGHT_LIB_FRONTEND_SINKARRAYS_H
