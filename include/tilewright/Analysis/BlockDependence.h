//===- BlockDependence.h - on which block numbers a statement depends ---------------*- C++ -*-===//

#ifndef TILEWRIGHT_ANALYSIS_BLOCKDEPENDENCE_H
#define TILEWRIGHT_ANALYSIS_BLOCKDEPENDENCE_H

#include "tilewright/Tile/Tile.h"

#include <bitset>

namespace tilewright::analysis {

/// A bit for each dimension of the grid.
using BlockDims = std::bitset<3>;

/// The dimensions in which two blocks may differ so that `op`, or what its regions hold, uses other
/// values: indices, bounds, conditions. All of them where that is not known. Elements of a
/// tensor are the same for all blocks if nothing of the kernel writes it.
BlockDims findBlockDims(tile::KernelOp kernel, mlir::Operation *op);

/// The same of its operands alone: the bounds of a loop, the condition of a branch.
BlockDims findOperandBlockDims(tile::KernelOp kernel, mlir::Operation *op);

/// Whether a copy is the same in all blocks of a cluster of these extents whose ranks `mask` has (a bit
/// each): whether its indices are, written as functions of the cluster's number and the rank. Loops
/// around it are another question.
bool isSameInBlocks(tile::KernelOp kernel, tile::ParallelOp copy, llvm::ArrayRef<int64_t> cluster,
                    int64_t mask);

} // namespace tilewright::analysis

#endif // TILEWRIGHT_ANALYSIS_BLOCKDEPENDENCE_H
