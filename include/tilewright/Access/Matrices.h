//===- Matrices.h - how a warp reads the operands of its products --------------------*- C++
//-*-===//
//
// ldmatrix reads up to four 8 x 8 matrices of 16-bit elements. Each lane names the start of one row
// of 16 bytes: lanes 0-7 the rows of the first matrix, lanes 8-15 of the second, and so on. The
// registers it fills are those that mma wants, if the matrices are given in this order
// (Layout/MmaFragments.h):
//
//   A (16 x 16)      rows 0-7, rows 8-15 of the first 8 columns, then of the last 8
//   B (16 x 8, two)  k 0-7, k 8-15 of the first tile of n, then of the second
//
// An operand whose memory runs along the other dimension is read by the transposing form, with rows
// and columns exchanged.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_ACCESS_MATRICES_H
#define TILEWRIGHT_ACCESS_MATRICES_H

#include "tilewright/Access/Requests.h"

namespace tilewright::access {

/// One ldmatrix of every warp: the coordinates, in the operand as it is stored, of the row that a
/// thread names.
struct MatrixLoad {
  IndexExpr row, column; ///< Of the thread's number (dim 0).
  int64_t count = 4;     ///< Matrices.
};

enum class GemmOperand { A, B };

/// The loads of one operand, and which of them feeds a product.
struct MatrixLoads {
  llvm::SmallVector<MatrixLoad> loads;
  bool isTransposed = false; ///< Rows in memory run along M or N.
  int64_t depthSteps = 0;

  /// A: the load of a tile of 16 rows; B: of a pair of tiles of 8 columns.
  int64_t indexOf(int64_t tile, int64_t step) const { return tile * depthSteps + step; }
};
MatrixLoads getMatrixLoads(tile::GemmOp gemm, GemmOperand operand, llvm::ArrayRef<int64_t> warps);

/// Asks the planner whether the operand's rows of eight elements can be read so. Nothing where the
/// operand does not lie in shared memory as 16-bit elements. The slots of the plan are the eight
/// elements of each load's row, one load after the other.
std::optional<Plan> planMatrixLoads(tile::GemmOp gemm, GemmOperand operand, const Context &context);

} // namespace tilewright::access

#endif // TILEWRIGHT_ACCESS_MATRICES_H
