//===- MaskBounds.h - up to which iteration a mask lets all elements through ---------------------===//

#ifndef TILEWRIGHT_LIB_TRANSFORMS_GPU_MASKBOUNDS_H
#define TILEWRIGHT_LIB_TRANSFORMS_GPU_MASKBOUNDS_H

#include "tilewright/Tile/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tilewright {

/// A test of each element of a tile that holds for all of them while `step * k <= sum`, where k is the
/// variable of a loop.
struct Mask {
  mlir::arith::CmpIOp test;
  tile::IndexSum sum;
  int64_t step;
};

/// The masks of the element-wise statements that stand directly in a loop.
llvm::SmallVector<Mask, 0> findMasks(tile::PipelinedOp loop);

/// Computes the first iteration in which a test may fail.
mlir::Value makeBound(mlir::ImplicitLocOpBuilder &b, const Mask &mask);

/// At most so many of the last iterations before `upper` have a test that may fail; none if that is not
/// known.
std::optional<int64_t> countMasked(llvm::ArrayRef<Mask> masks, mlir::Value upper);

/// Writes that a test holds.
void dropTest(mlir::arith::CmpIOp test);

} // namespace tilewright

#endif // TILEWRIGHT_LIB_TRANSFORMS_GPU_MASKBOUNDS_H
