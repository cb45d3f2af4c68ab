//===- MoveUses.h - one statement works on a copy of a fragment ---------------------*- C++ -*-===//
//
// A fragment has one register layout. A statement that needs another one, or needs memory, works on
// a copy: the copy is filled in front of the statement and, if the statement writes, brought back
// after it. The copies are plain loops; layouts and widths are inferred for them as for any other.
//
//   tile.parallel {… load %acc …}   ──▶   %copy = tile.alloc
//                                          tile.parallel { %copy[i, j] = %acc[i, j] }
//                                          tile.parallel {… load %copy …}
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_LIB_TRANSFORMS_MOVEUSES_H
#define TILEWRIGHT_LIB_TRANSFORMS_MOVEUSES_H

#include "tilewright/Tile/Tile.h"

namespace tilewright {

/// A copy of a fragment and the loops that keep both the same.
struct MovedUse {
  tile::AllocOp copy;
  tile::ParallelOp fill, bringBack; ///< Null where nothing must be copied.
};

/// Lets a statement work on a copy of `fragment` in a space.
MovedUse moveUse(mlir::Operation *statement, tile::AllocOp fragment, tile::Space space);

/// Lets a gemm accumulate in a fragment of its own, whatever its C is a part of.
MovedUse moveAccumulator(tile::GemmOp gemm);

} // namespace tilewright

#endif // TILEWRIGHT_LIB_TRANSFORMS_MOVEUSES_H
