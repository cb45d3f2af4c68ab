//===- CheckSharedCopies.h - blocks of a cluster copy for each other ----------------*- C++ -*-===//

#ifndef TILEWRIGHT_LIB_TRANSFORMS_GPU_CHECKSHAREDCOPIES_H
#define TILEWRIGHT_LIB_TRANSFORMS_GPU_CHECKSHAREDCOPIES_H

#include "ChannelPieces.h"

namespace tilewright::schedule {

/// How many blocks of the cluster copy for each other, and so release the versions of this channel.
/// Reports copies that not all of them need alike.
mlir::FailureOr<int64_t> countSharingBlocks(tile::KernelOp kernel, const ChannelUse &use);

/// Copies outside of channels that several blocks share: once, into memory that no block has used
/// before.
mlir::LogicalResult checkSharedOnce(tile::KernelOp kernel);

} // namespace tilewright::schedule

#endif // TILEWRIGHT_LIB_TRANSFORMS_GPU_CHECKSHAREDCOPIES_H
