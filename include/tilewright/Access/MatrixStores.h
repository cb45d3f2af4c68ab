//===- MatrixStores.h - how a warp writes what mma leaves in registers --------------*- C++ -*-===//
//
// stmatrix (sm_90 and later) is the mirror of ldmatrix: it writes up to four matrices of eight rows of
// 16 bytes. Lane 4 g + t brings elements 2 t and 2 t + 1 of row g of each matrix, which is how the
// accumulators of mma and wgmma lie in registers; lane 8 q + i names where row i of matrix q goes.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_ACCESS_MATRIXSTORES_H
#define TILEWRIGHT_ACCESS_MATRIXSTORES_H

#include "tilewright/Access/Requests.h"

namespace tilewright::access {

/// The slots of a thread that one stmatrix writes: two in each of four matrices.
inline constexpr int64_t kMatrixSlots = 8;

/// The owner of the first element of the row that a thread names for the instruction that writes
/// slots `8 * number` to `8 * number + 7`: a thread and a slot, of the thread's number (dim 0).
struct MatrixRow {
  IndexExpr thread, slot;

  static MatrixRow get(int64_t number);
};

/// Asks the planner whether a store to shared memory can go by stmatrix: whether the eight elements
/// that four lanes bring for each row follow each other in memory, on a boundary of 16 bytes. The slots
/// of the plan are the elements of the rows that a thread names, one instruction after the other.
/// Nothing where they do not, or where the target has no such instruction.
std::optional<Plan> planMatrixStores(const ElementAccess &access, const Request &request,
                                     const Context &context);

} // namespace tilewright::access

#endif // TILEWRIGHT_ACCESS_MATRIXSTORES_H
