//===- TileBounds.h - do accesses of on-chip tiles stay inside ----------------------*- C++ -*-===//
//
// An on-chip tile has no safe value: an element outside its extents is an error (docs/semantics.md).
// A tile is seen through slices, whose coordinates add up, down to the tile itself or a view of it
// under another shape. Each dimension of that surface gets one answer: yes, it stays inside; no, a
// point of the program certainly leaves it; or unknown, which code must test when it runs.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_ANALYSIS_TILEBOUNDS_H
#define TILEWRIGHT_ANALYSIS_TILEBOUNDS_H

#include "tilewright/Tile/Tile.h"

namespace tilewright::analysis {

/// The coordinates that an operation touches in one dimension of a tile: `count` elements from
/// `first` on, seen through slices. Coordinate x of a slice is `offset + step * x` of its source.
struct TouchedDim {
  struct Slice {
    mlir::OpFoldResult offset, step;
  };
  mlir::OpFoldResult first, count;
  llvm::SmallVector<Slice, 1> slices; ///< From the innermost to the one of the surface.
};

/// What an operation touches of one on-chip tile.
struct TileAccess {
  mlir::Operation *op;
  mlir::Value surface; ///< The tile, or a view of all of it under another shape.
  bool isRead;
  llvm::SmallVector<TouchedDim, 4> dims;

  int64_t getExtent(unsigned dim) const;
};

/// The on-chip tiles with constant extents that an operation touches.
llvm::SmallVector<TileAccess, 2> getTileAccesses(mlir::Operation *op);

/// Whether `0 <= coordinate < extent` is proved for all that the access touches in a dimension.
bool staysInside(const TileAccess &access, unsigned dim);

/// An element outside its tile that the program certainly touches, if it runs at all.
struct OutsideElement {
  llvm::SmallVector<int64_t, 4> element;
  /// The variables that lead there, as "i = 0, j = 14"; empty where there are none.
  std::string point;
};
std::optional<OutsideElement> findOutside(const TileAccess &access);

} // namespace tilewright::analysis

#endif // TILEWRIGHT_ANALYSIS_TILEBOUNDS_H
