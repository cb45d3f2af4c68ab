//===- SharedTiles.h - tiles in the block's shared memory ---------------------------*- C++ -*-===//

#ifndef TILEWRIGHT_ANALYSIS_SHAREDTILES_H
#define TILEWRIGHT_ANALYSIS_SHAREDTILES_H

#include "tilewright/Tile/Tile.h"

namespace tilewright::analysis {

/// Whether a tile lies in shared memory: a shared tile, or a fragment whose uses no register layout
/// satisfies.
bool livesInShared(tile::AllocOp alloc);

/// All ops that use a tile, through slices and views too, which are among them; notes are not.
llvm::SmallVector<mlir::Operation *> getUsersThroughViews(tile::AllocOp alloc);

/// Bytes of a tile in its placement, padding included.
int64_t getPlacedBytes(tile::AllocOp alloc);

/// Whether two roots are one buffer, or shared tiles that have bytes of the arena in common. A null root
/// is any buffer.
bool shareBytes(mlir::Value a, mlir::Value b);

/// Whether all threads of a block see this memory; registers and variables are a thread's own.
bool isSharedByThreads(mlir::Value root);

/// Whether the order of two statements matters: one of them writes what the other one touches, or orders
/// blocks while the other one touches a tensor, or its effects are not known.
bool haveConflict(mlir::Operation *a, mlir::Operation *b);

/// Whether a statement touches one of these tiles, or its effects are not known.
bool touchesAny(mlir::Operation *op, llvm::ArrayRef<mlir::Value> tiles);

/// Whether no statement in front of this one, in the kernel's body, touches bytes that the tile has in the arena:
/// until it runs, they are free.
bool isFirstUse(mlir::Operation *statement, mlir::Value tile);

/// How many blocks the program wants on one processor at least (`T.annotate_min_blocks_per_sm`); 1 if it
/// does not say.
int64_t getWantedBlocks(tile::KernelOp kernel);

/// The part of a kernel in which a tile holds values that may be read: op numbers, both ends
/// included. A tile from outside a loop that uses it is live in all of the loop.
struct LiveRange {
  int64_t first = 0, last = -1;
  mlir::Operation *role = nullptr; ///< The role whose tile it is, where roles run at once.

  bool overlaps(const LiveRange &other) const {
    bool areApart = first > other.last || other.first > last;
    return !areApart || (role && other.role && role != other.role);
  }
};

/// The live ranges of all shared tiles of a kernel. Empty for tiles that nothing uses.
llvm::DenseMap<mlir::Operation *, LiveRange> getLiveRanges(tile::KernelOp kernel);

} // namespace tilewright::analysis

#endif // TILEWRIGHT_ANALYSIS_SHAREDTILES_H
