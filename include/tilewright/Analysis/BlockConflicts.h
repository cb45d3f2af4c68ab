//===- BlockConflicts.h - blocks of the grid that certainly race ------------------------------===//
//
// Blocks are independent: none reads or writes an element of a global tensor that another writes,
// unless both store the same value or both update atomically. This analysis finds the conflicts
// that are certain for every launch that has the two blocks and whose tensors have elements:
// statements that both execute whatever the data. What depends on data or on run-time numbers is
// left to `--check`.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_ANALYSIS_BLOCKCONFLICTS_H
#define TILEWRIGHT_ANALYSIS_BLOCKCONFLICTS_H

#include "tilewright/Tile/Tile.h"
#include <optional>

namespace tilewright::analysis {

/// Two blocks that touch one element of a global tensor. `first` writes it, and `second` is the same
/// statement, reads or updates it; or `first` updates it, and `second` reads.
struct BlockConflict {
  mlir::Operation *first, *second;
  tile::EffectKind firstKind, secondKind;
  mlir::Value root;
  unsigned dim; ///< Of the grid: along it, the blocks differ.
  llvm::SmallVector<int64_t, 3> firstBlock, secondBlock;
  llvm::SmallVector<int64_t, 4> element;

  std::string str() const;
};

/// Along which dimensions of the grid blocks are compared: those whose extent is a constant, or
/// those where only a launch knows whether the blocks exist.
enum class GridExtents { Constant, RunTime };

/// The first conflict that can be decided here.
std::optional<BlockConflict> findBlockConflict(tile::KernelOp kernel, GridExtents extents);

} // namespace tilewright::analysis

#endif // TILEWRIGHT_ANALYSIS_BLOCKCONFLICTS_H
