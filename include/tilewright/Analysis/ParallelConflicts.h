//===- ParallelConflicts.h - iterations of T.Parallel that are not independent ------*- C++ -*-===//
//
// Iterations of a T.Parallel are independent: none reads or writes what another writes. Updates
// that commute (atomics, reducers) may meet, and so may stores of the same bits. This analysis
// decides exactly, over static extents, all accesses whose indices and conditions are integer
// expressions of the iterators plus a uniform part; the rest (data-dependent indices, run-time
// extents) is checked when it runs.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_ANALYSIS_PARALLELCONFLICTS_H
#define TILEWRIGHT_ANALYSIS_PARALLELCONFLICTS_H

#include "tilewright/Tile/Tile.h"
#include <optional>

namespace tilewright::analysis {

/// Two iterations that touch one element.
struct ParallelConflict {
  mlir::Operation *first, *second; ///< `first` writes; `second` reads or writes.
  tile::EffectKind firstKind, secondKind;
  mlir::Value root;
  llvm::SmallVector<int64_t, 4> firstIteration, secondIteration;
  /// The element, or nothing where a uniform run-time value takes part in its index.
  std::optional<llvm::SmallVector<int64_t, 4>> element;
  bool isVariable = false; ///< `root` is a scalar variable that carries a value between iterations.

  std::string str() const;
};

/// The first conflict in program order, if there is one that can be decided here.
std::optional<ParallelConflict> findParallelConflict(tile::ParallelOp loop);

} // namespace tilewright::analysis

#endif // TILEWRIGHT_ANALYSIS_PARALLELCONFLICTS_H
