//===- OldValues.h - who reads what a tile held before a point ----------------------*- C++ -*-===//

#ifndef TILEWRIGHT_TILE_OLDVALUES_H
#define TILEWRIGHT_TILE_OLDVALUES_H

#include "tilewright/Tile/Tile.h"

namespace tilewright::tile {

/// Whether statements after `point`, in its block, may read elements of the tile `root` that
/// statements before it wrote.
bool mayReadAcross(mlir::Operation *point, mlir::Value root);

} // namespace tilewright::tile

#endif // TILEWRIGHT_TILE_OLDVALUES_H
