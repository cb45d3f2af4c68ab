//===- Matrices.h - how a warp reads the operands of its products -------------------*- C++ -*-===//
//
// ldmatrix reads up to four matrices of eight rows of 16 bytes (8 x 8 of 16-bit elements, 8 x 16 of
// bytes, 8 x 4 of words). Each lane names the start of one row: lanes 0-7 the rows of the first
// matrix, lanes 8-15 of the second, and so on. The registers it fills are those that mma wants, if
// the matrices are given in this order (Layout/MmaFragments.h):
//
//   A (16 x 16)      rows 0-7, rows 8-15 of the first half of the columns, then of the second
//   B (16 x 8, two)  the first and second half of k of one tile of n, then of the next tile
//
// A 16-bit operand whose memory runs along the other dimension is read by the transposing form,
// with rows and columns exchanged.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_ACCESS_MATRICES_H
#define TILEWRIGHT_ACCESS_MATRICES_H

#include "tilewright/Access/Requests.h"
#include "tilewright/Layout/MmaFragments.h"

namespace tilewright::access {

/// The mma instruction that multiplies elements of these types; nothing if the target has none.
std::optional<MmaShape> getMmaShape(tile::GemmOp gemm, const Arch &arch);

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
MatrixLoads getMatrixLoads(tile::GemmOp gemm, GemmOperand operand, const MmaShape &shape,
                           llvm::ArrayRef<int64_t> warps);

/// Asks the planner whether the operand's rows of 16 bytes can be read so. Nothing where
/// ldmatrix cannot read the operand at all: it does not lie in shared memory, or memory runs along
/// the wrong dimension for its element type. The slots of the plan are the elements of each load's
/// row, one load after the other.
std::optional<Plan> planMatrixLoads(tile::GemmOp gemm, GemmOperand operand, const Context &context);

} // namespace tilewright::access

#endif // TILEWRIGHT_ACCESS_MATRICES_H
