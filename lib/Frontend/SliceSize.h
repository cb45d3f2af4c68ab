//===- SliceSize.h - how many elements a slice has -------------------------------------------===//

#ifndef TILEWRIGHT_LIB_FRONTEND_SLICESIZE_H
#define TILEWRIGHT_LIB_FRONTEND_SLICESIZE_H

#include "mlir/IR/OpDefinition.h"
#include <optional>

namespace tilewright::frontend {

/// `stop - start` of a slice, if it is a number: `k * 32 : (k + 1) * 32` has 32 elements, and so has
/// `rows[0] : rows[0] + 32`. Sums count as sums of numbers, also those of machine integers.
std::optional<int64_t> getSliceSize(mlir::OpFoldResult start, mlir::OpFoldResult stop);

} // namespace tilewright::frontend

#endif // TILEWRIGHT_LIB_FRONTEND_SLICESIZE_H
