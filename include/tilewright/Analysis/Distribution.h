//===- Distribution.h - which thread runs which iteration ---------------------------*- C++ -*-===//
//
// A distribution is a fragment over the iterations of a loop. Its table lists, for each thread and
// slot, the iteration that runs there; with it every question about a loop and the register tiles
// it touches is answered by enumeration: exactly.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_ANALYSIS_DISTRIBUTION_H
#define TILEWRIGHT_ANALYSIS_DISTRIBUTION_H

#include "tilewright/Layout/Fragment.h"
#include "tilewright/Tile/Tile.h"
#include <optional>

namespace tilewright::analysis {

/// What runs on each (thread, slot).
struct OwnerTable {
  int64_t threads = 0, slots = 0;
  std::vector<int64_t> element; ///< Row-major number of the element or iteration; -1 if none.
  std::vector<int64_t> replica; ///< Which copy of it.

  int64_t at(int64_t thread, int64_t slot) const { return element[thread * slots + slot]; }

  /// Nothing if a thread is beyond `numThreads`, two elements share a slot, or the tile is too
  /// large.
  static std::optional<OwnerTable> get(const Fragment &fragment, int64_t numThreads);
};

/// A static loop nest with its iteration numbers spread over threads.
struct LoopDistribution {
  llvm::SmallVector<int64_t> extents;
  OwnerTable table;

  int64_t getNumIterations() const;
};

/// The coordinates that a loop's accesses have in the root of a buffer, as expressions of the
/// loop's variables; nothing where they depend on anything else.
std::optional<llvm::SmallVector<IndexExpr, 4>>
getAccessIndices(tile::ParallelOp loop, mlir::Value buffer, mlir::ValueRange indices);

/// For each slot of the loop, the slot of the fragment that holds the element accessed there, the
/// same for all threads; -1 where no thread is active. Nothing if some thread does not hold its
/// element, or threads would need different slots. A write must also reach every copy of every
/// element it touches.
std::optional<std::vector<int64_t>> resolveSlots(const LoopDistribution &loop,
                                                 llvm::ArrayRef<IndexExpr> indices,
                                                 llvm::ArrayRef<int64_t> shape,
                                                 const OwnerTable &fragment, bool isWrite);

/// How a reduction over registers is done, read off the owners of source and result.
struct ReductionPlan {
  /// For each slot of the result, the slots of the source that a thread combines into it.
  std::vector<llvm::SmallVector<int64_t>> own;
  llvm::SmallVector<int64_t> laneMasks; ///< Shuffles that make the lanes of a row agree.
  int64_t warpMask = 0; ///< Bits of the warp's number in which the owners of a row differ.
};

/// Nothing if the threads that hold a row are no plain set of lanes and warps, the same for all
/// rows. `shape` is the source's; the result has its elements numbered row-major without dimension
/// `dim`.
std::optional<ReductionPlan> planReduction(const OwnerTable &source, llvm::ArrayRef<int64_t> shape,
                                           const OwnerTable &dest, int64_t dim);

/// Whether the threads of a collective statement meet in memory, and with barriers. A reduction
/// whose rows are each held by lanes of one warp needs neither; any other such statement does.
bool meetsInMemory(tile::TileEffectsOpInterface statement, int64_t numThreads);
/// The bytes of the block's scratch area that a statement uses for that.
int64_t getScratchBytes(tile::TileEffectsOpInterface statement, int64_t numThreads);

/// The distribution on a loop (`tile.distribution`) with its table; nothing for a run-time loop.
std::optional<LoopDistribution> getDistribution(tile::ParallelOp loop, int64_t numThreads);
/// The extents of a loop, if all are constants.
std::optional<llvm::SmallVector<int64_t>> getStaticExtents(tile::ParallelOp loop);

/// The fragment in which threads take `width` neighbouring elements in turn:
/// thread = n // width % threads, slot = n // (width * threads) * width + n % width.
Fragment blockedFragment(int64_t numElements, int64_t numThreads, int64_t width);

} // namespace tilewright::analysis

#endif // TILEWRIGHT_ANALYSIS_DISTRIBUTION_H
