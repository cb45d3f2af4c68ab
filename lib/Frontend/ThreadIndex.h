//===- ThreadIndex.h - the index of a thread while a function is traced ----------------------===//
//
// The index of a thread is a value of tile IR only until a trace ends: spreadThreads writes what
// depends on it as loops. Meanwhile it is a conversion of nothing to `index`, with the dimension of
// the block's thread shape as an attribute.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_LIB_FRONTEND_THREADINDEX_H
#define TILEWRIGHT_LIB_FRONTEND_THREADINDEX_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include <optional>

namespace tilewright::frontend {

inline constexpr llvm::StringLiteral kThreadDimAttr = "tile.thread_dim";

inline mlir::Value createThreadIndex(mlir::OpBuilder &b, mlir::Location loc, int64_t dim) {
  auto op = mlir::UnrealizedConversionCastOp::create(b, loc, b.getIndexType(), mlir::ValueRange());
  op->setAttr(kThreadDimAttr, b.getI64IntegerAttr(dim));
  return op.getResult(0);
}

/// The dimension that a thread index counts in; nothing for any other op.
inline std::optional<int64_t> getThreadDim(mlir::Operation *op) {
  if (op && mlir::isa<mlir::UnrealizedConversionCastOp>(op))
    if (auto dim = op->getAttrOfType<mlir::IntegerAttr>(kThreadDimAttr))
      return dim.getInt();
  return std::nullopt;
}

} // namespace tilewright::frontend

#endif // TILEWRIGHT_LIB_FRONTEND_THREADINDEX_H
