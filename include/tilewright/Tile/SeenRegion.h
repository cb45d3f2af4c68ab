//===- SeenRegion.h - what a statement touches of a root that it sees through a view -*- C++ -*-===//
//
// An effect through a view of another shape or dtype is the whole root. Who compares two such
// accesses wants the region in the coordinates of the view.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_TILE_SEENREGION_H
#define TILEWRIGHT_TILE_SEENREGION_H

#include "tilewright/Tile/Effects.h"

namespace tilewright::tile {

/// A region in the coordinates of `buffer`: the root, or a view that begins where the root does.
struct SeenRegion {
  mlir::Value buffer;
  EffectRegion region;
};

/// The region that an effect of `op` touches. Its region is the whole buffer where it is not known:
/// with a view of a slice, for example, or where two operands see one root.
SeenRegion getSeenRegion(mlir::Operation *op, const Effect &effect);

} // namespace tilewright::tile

#endif // TILEWRIGHT_TILE_SEENREGION_H
