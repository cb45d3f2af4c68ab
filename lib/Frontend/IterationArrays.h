//===- IterationArrays.h - arrays that each iteration of T.Parallel has for itself -----------===//

#ifndef TILEWRIGHT_LIB_FRONTEND_ITERATIONARRAYS_H
#define TILEWRIGHT_LIB_FRONTEND_ITERATIONARRAYS_H

#include "tilewright/Tile/Tile.h"

namespace tilewright::frontend {

/// Gives each iteration of a `T.Parallel` a row of its own of the arrays (`T.alloc_local`) that are
/// used nowhere else.
void placeIterationArrays(tile::KernelOp kernel);

} // namespace tilewright::frontend

#endif // TILEWRIGHT_LIB_FRONTEND_ITERATIONARRAYS_H
