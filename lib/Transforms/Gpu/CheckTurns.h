//===- CheckTurns.h - warpgroups take and pass turns alternately --------------------*- C++ -*-===//

#ifndef TILEWRIGHT_LIB_TRANSFORMS_GPU_CHECKTURNS_H
#define TILEWRIGHT_LIB_TRANSFORMS_GPU_CHECKTURNS_H

#include "tilewright/Tile/Tile.h"

namespace tilewright::schedule {

/// On every way through the kernel, turns are taken and passed alternately, and warpgroups do not
/// meet in between. Reports what is wrong.
mlir::LogicalResult checkTurns(tile::KernelOp kernel);

} // namespace tilewright::schedule

#endif // TILEWRIGHT_LIB_TRANSFORMS_GPU_CHECKTURNS_H
