//===- ParallelAccess.h - what an iteration of T.Parallel touches, in closed form ---*- C++ -*-===//
//
// Private to the analysis of conflicts. An access is a list of coordinate expressions over the
// iterators of the loop, the variables of loops inside its body and, for statements on whole tiles,
// the position inside the tile, with the conditions under which it happens.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_LIB_ANALYSIS_PARALLELACCESS_H
#define TILEWRIGHT_LIB_ANALYSIS_PARALLELACCESS_H

#include "tilewright/Analysis/IndexValues.h"
#include "tilewright/Tile/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tilewright::analysis {

/// A condition that must hold between two expressions of the dims.
struct Constraint {
  mlir::arith::CmpIPredicate predicate;
  IndexExpr lhs, rhs;
};

/// One access with all it depends on.
struct Access {
  mlir::Operation *op;
  tile::EffectKind kind;
  llvm::SmallVector<int64_t, 6> space;          ///< Extents of the iterators, then of its own dims.
  llvm::SmallVector<IndexExpr, 4> coordinates;  ///< Of the dims only.
  llvm::SmallVector<IndexExpr, 4> uniform;      ///< Added to each coordinate, the same for all.
  llvm::SmallVector<Constraint, 2> constraints; ///< All must hold.
};

/// The access that `effect` of `op` makes inside `loop`; nothing if it depends on memory, on
/// run-time extents, or on conditions that are no comparisons of index values.
std::optional<Access> describeAccess(tile::ParallelOp loop, llvm::ArrayRef<int64_t> extents,
                                     mlir::Operation *op, const tile::Effect &effect,
                                     SymbolNumbers &symbols);

/// Whether the op writes the same bits in both iterations to an element that it touches in both.
bool writesSameValue(tile::ParallelOp loop, mlir::Operation *first, mlir::Operation *second,
                     llvm::ArrayRef<int64_t> firstIteration,
                     llvm::ArrayRef<int64_t> secondIteration);

/// Whether the scalar that an op of the loop writes depends on memory.
bool isValueOfData(tile::ParallelOp loop, mlir::Operation *write);

/// A variable of outside the loop that an iteration reads without having assigned it, while some
/// iteration assigns it: the assignment and the read.
struct CarriedVariable {
  mlir::Value variable;
  mlir::Operation *assignment, *read;
};
std::optional<CarriedVariable> findCarriedVariable(tile::ParallelOp loop);

} // namespace tilewright::analysis

#endif // TILEWRIGHT_LIB_ANALYSIS_PARALLELACCESS_H
