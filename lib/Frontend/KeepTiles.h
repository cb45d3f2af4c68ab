//===- KeepTiles.h - tiles that keep their values when the blocks of a grid meet ---*- C++ -*-===//

#ifndef TILEWRIGHT_LIB_FRONTEND_KEEPTILES_H
#define TILEWRIGHT_LIB_FRONTEND_KEEPTILES_H

#include "tilewright/Tile/Tile.h"

namespace tilewright::frontend {

/// Whether a tile can be kept in global memory from one launch to the next.
bool canKeep(tile::AllocOp alloc);

/// Saves a tile of `kernel` to a workspace in front of `sync`, and reads it back right behind it.
void keepTile(tile::KernelOp kernel, tile::HintOp sync, tile::AllocOp alloc);

} // namespace tilewright::frontend

#endif // TILEWRIGHT_LIB_FRONTEND_KEEPTILES_H
