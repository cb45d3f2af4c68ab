//===- StaticView.h - a part of a buffer, as far as it is known before a launch -----*- C++ -*-===//
//
// What planning passes must know of a slice: whether all of it exists, and how it lies in memory.
// Element `x` of a view is element `base + steps * x` (spread over `dims`) of the surface, a shape
// laid row-major over the whole root. What is not known before a launch is `kDynamic`.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_LIB_TRANSFORMS_CPU_STATICVIEW_H
#define TILEWRIGHT_LIB_TRANSFORMS_CPU_STATICVIEW_H

#include "tilewright/Layout/IndexFacts.h"
#include "tilewright/Tile/CpuPlan.h"

namespace tilewright {

struct StaticView {
  mlir::Value root;
  mlir::Type elementType;
  bool isOnChip = false;
  bool hasLayout = false; ///< A tensor whose elements the kernel lays out otherwise.
  llvm::SmallVector<int64_t, 4> surface;
  llvm::SmallVector<IndexFacts, 4> base;
  llvm::SmallVector<unsigned, 4> dims;
  llvm::SmallVector<int64_t, 4> steps;
  llvm::SmallVector<int64_t, 4> extents;

  /// The view that `buffer` is, in the kernel around `user`.
  static StaticView get(mlir::Value buffer, mlir::Operation *user);

  unsigned getRank() const { return extents.size(); }
  /// Whether every element is known to exist.
  bool isWhole() const;
  /// Whether, in addition, neighbours along `dim` are neighbours in memory.
  bool isContiguousAlong(unsigned dim) const;
  /// Whether the elements are one stretch of memory: the view has all of each dimension after the
  /// first that it has a part of.
  bool isOneStretch() const;
  /// Whether a part of a tensor is read ahead while it is copied.
  bool isReadAhead() const;
  /// The view without all but these dimensions; the others have extent 1.
  StaticView select(llvm::ArrayRef<unsigned> kept) const;
};

/// What is copied between `other` and a tile, as a matrix of the tile's shape; nothing unless all of
/// it exists in rows and nothing is converted.
std::optional<StaticView> getDirectMatrix(mlir::Value other, mlir::Value tile,
                                          mlir::Operation *user);

/// Whether a loop is known to have exactly one iteration.
bool hasOneIteration(mlir::Operation *loop);

/// Whether the types of all operands have constant extents.
bool hasStaticShapes(tile::GemmOp op);

/// Moves what computes `value` in front of `point`, if it is computed after it in the same block.
/// False, with nothing moved, if that takes more than arithmetic.
bool hoistBefore(mlir::Value value, mlir::Operation *point);

/// Gives a matrix in a tensor a number by which other ops can name it, in front of `before`: that of
/// the slice it is, or that of a new slice without the dimensions that are not in `kept`.
int64_t nameMatrix(mlir::Value buffer, llvm::ArrayRef<unsigned> kept, mlir::Operation *before,
                   tile::PlanIds &ids);

} // namespace tilewright

#endif // TILEWRIGHT_LIB_TRANSFORMS_CPU_STATICVIEW_H
