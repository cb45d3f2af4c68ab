//===- ExpandStatements.h - element-wise statements become loops --------------------*- C++ -*-===//

#ifndef TILEWRIGHT_TRANSFORMS_EXPANDSTATEMENTS_H
#define TILEWRIGHT_TRANSFORMS_EXPANDSTATEMENTS_H

#include "tilewright/Tile/Tile.h"

namespace tilewright {

/// Writes the loop that does what a copy, fill, tile atomic, im2col or end of a reducer does, in
/// front of it; the statement stays. Its source and its dest must not overlap.
tile::ParallelOp writeAsLoop(mlir::Operation *statement);

} // namespace tilewright

#endif // TILEWRIGHT_TRANSFORMS_EXPANDSTATEMENTS_H
