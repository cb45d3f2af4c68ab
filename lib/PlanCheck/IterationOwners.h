//===- IterationOwners.h - who runs which iteration, point by point ----------------*- C++ -*-===//

#ifndef TILEWRIGHT_LIB_PLANCHECK_ITERATIONOWNERS_H
#define TILEWRIGHT_LIB_PLANCHECK_ITERATIONOWNERS_H

#include "tilewright/Tile/Tile.h"

#include "llvm/Support/Error.h"

namespace tilewright::plancheck {

/// The iterations of a static loop on the threads and slots of its distribution.
struct IterationOwners {
  llvm::SmallVector<int64_t> extents; ///< Of the loop.
  int64_t numIterations = 0, numThreads = 0, numSlots = 0;
  std::vector<int64_t> iterations; ///< Row-major number at each (thread, slot); -1 if none.
  std::vector<char> owned;         ///< Whether that is the iteration's first copy.

  int64_t iterationAt(int64_t thread, int64_t slot) const {
    return iterations[thread * numSlots + slot];
  }
  bool ownsAt(int64_t thread, int64_t slot) const { return owned[thread * numSlots + slot]; }
  /// The loop's variables in the iteration of this number.
  llvm::SmallVector<int64_t, 4> unravel(int64_t iteration) const;

  /// Fails where the loop has no distribution, or one that is no legal placement.
  static llvm::Expected<IterationOwners> get(tile::ParallelOp loop, int64_t numThreads);
};

} // namespace tilewright::plancheck

#endif // TILEWRIGHT_LIB_PLANCHECK_ITERATIONOWNERS_H
