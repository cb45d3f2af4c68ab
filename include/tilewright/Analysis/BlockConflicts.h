//===- BlockConflicts.h - blocks of the grid that certainly race ------------------------------===//
//
// Blocks are independent: none reads or writes an element of a global tensor that another writes,
// unless both store the same value or both update atomically. This analysis finds the conflicts
// that are certain for every launch: two neighbouring blocks, statements that both execute whatever
// the data, static extents. What depends on data, on run-time extents or on branches is left to
// `--check`.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_ANALYSIS_BLOCKCONFLICTS_H
#define TILEWRIGHT_ANALYSIS_BLOCKCONFLICTS_H

#include "tilewright/Tile/Tile.h"
#include <optional>

namespace tilewright::analysis {

/// Two blocks that touch one element of a global tensor.
struct BlockConflict {
  mlir::Operation *first, *second; ///< `first` writes; `second` reads, or is the same statement.
  bool isRead;                     ///< `second` reads.
  mlir::Value root;
  llvm::SmallVector<int64_t, 3> firstBlock, secondBlock;
  llvm::SmallVector<int64_t, 4> element;

  std::string str() const;
};

/// The first conflict in program order, if there is one that can be decided here.
std::optional<BlockConflict> findBlockConflict(tile::KernelOp kernel);

} // namespace tilewright::analysis

#endif // TILEWRIGHT_ANALYSIS_BLOCKCONFLICTS_H
