//===- CheckReaders.h - versions are read between the wait and the release ----------*- C++ -*-===//

#ifndef TILEWRIGHT_LIB_TRANSFORMS_GPU_CHECKREADERS_H
#define TILEWRIGHT_LIB_TRANSFORMS_GPU_CHECKREADERS_H

#include "ChannelPieces.h"

namespace tilewright::schedule {

/// What touches a version of this channel stands between the wait for it and its release, and a
/// product that reads it has ended before the release. Reports what does not.
mlir::LogicalResult checkReaders(tile::KernelOp kernel, const ChannelUse &use);

} // namespace tilewright::schedule

#endif // TILEWRIGHT_LIB_TRANSFORMS_GPU_CHECKREADERS_H
