//===- SharedArena.h - what a block keeps in shared memory -------------------------------------===//

#ifndef TILEWRIGHT_LIB_TRANSFORMS_GPU_SHAREDARENA_H
#define TILEWRIGHT_LIB_TRANSFORMS_GPU_SHAREDARENA_H

#include "tilewright/Tile/Tile.h"

namespace tilewright {

/// The shared memory of a block: tiles, then barriers, then an area in which threads exchange values.
struct SharedArena {
  llvm::SmallVector<tile::AllocOp> tiles;
  int64_t bytes = 0; ///< Of all of it.
  int64_t scratchBytes = 0;
  tile::TileEffectsOpInterface exchange; ///< The statement that needs most of the scratch area.
};

/// Gives each tile and each row of barriers its offset (`tile.offset`). A pass before
/// plan-shared-memory may ask too: the last answer holds.
SharedArena planSharedArena(tile::KernelOp kernel);

} // namespace tilewright

#endif // TILEWRIGHT_LIB_TRANSFORMS_GPU_SHAREDARENA_H
