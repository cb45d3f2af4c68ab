//===- ParallelAccess.h - what iterations and blocks touch, in closed form ----------*- C++ -*-===//
//
// Private to the analyses of conflicts. An access is a list of coordinate expressions over the
// iterators of a T.Parallel, or the indices of a block, the variables of loops inside and, for
// statements on whole tiles, the position inside the tile, with the conditions under which it
// happens.
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

  /// Whether it holds for these values of the two.
  bool holds(int64_t left, int64_t right) const {
    return mlir::arith::applyCmpPredicate(predicate, llvm::APInt(64, left, true),
                                          llvm::APInt(64, right, true));
  }
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

/// What runs independently: the iterations of a T.Parallel, or the blocks of a kernel.
struct IndependentParts {
  mlir::Operation *op;
  mlir::ValueRange iterators;
  llvm::ArrayRef<int64_t> extents;
};

/// How the accesses of one root are compared: by its coordinates, or, where a view of another shape
/// or dtype touches it as well, by one coordinate that counts units of memory, the smallest element
/// of all views.
class Numbering {
public:
  Numbering(mlir::Value root, llvm::ArrayRef<std::pair<mlir::Operation *, tile::Effect>> effects);

  bool isOfMemory() const { return unitBytes != 0; }
  int64_t getUnitBytes() const { return unitBytes; }
  /// How many units an element of the root has.
  int64_t getUnitsOfElement() const;
  /// The coordinates in the root of what an access touches.
  llvm::SmallVector<int64_t, 4> getElement(llvm::ArrayRef<int64_t> coordinates) const;

private:
  mlir::MemRefType type;
  int64_t unitBytes = 0;
};

/// The access that `effect` of `op` makes inside `parts`; nothing if it depends on memory, on
/// run-time extents, or on conditions that are no comparisons of index values.
std::optional<Access> describeAccess(const IndependentParts &parts, mlir::Operation *op,
                                     const tile::Effect &effect, const Numbering &numbering,
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
