//===- LoopForm.h - a statement beside the loop that does the same ------------------*- C++ -*-===//
//
// Passes that let several statements run together look at all of them as loops over elements. A
// statement that is none is written as one in front of itself, for as long as the pass decides:
// then one of the two goes.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_LIB_TRANSFORMS_LOOPFORM_H
#define TILEWRIGHT_LIB_TRANSFORMS_LOOPFORM_H

#include "tilewright/Analysis/LoopAccesses.h"

namespace tilewright {

struct LoopForm {
  mlir::Operation *statement = nullptr; ///< Equal to `loop` for a loop of the user's.
  tile::ParallelOp loop;
  llvm::SmallVector<int64_t, 2> extents;       ///< Without those that are 1.
  llvm::SmallVector<mlir::Value, 2> iterators; ///< Of those extents.
  llvm::SmallVector<analysis::LoopAccess, 0> accesses;

  /// Takes back the loop, if it was written for us.
  void discard() {
    if (statement != loop)
      loop.erase();
  }
};

/// The form of a plain loop with constant extents that does what `statement` does. Nothing for any
/// other loop, which is then erased unless it is the statement itself.
std::optional<LoopForm> describeLoop(mlir::Operation *statement, tile::ParallelOp loop);

/// The form of a loop, copy, fill or end of a reducer with constant extents. Nothing where there is
/// none, or where a copy is better left whole: what a pipelined loop or a matrix product reads next
/// is prepared for them where it is copied.
std::optional<LoopForm> writeLoopForm(mlir::Operation *statement);

/// Shorter rows stay in the caches anyway: they are too short to pay for a loop of their own, and
/// cost nothing to copy.
inline constexpr int64_t kLongRowBytes = 2048;

/// Whether an op touches no memory, so that statements may be moved past it.
bool isTransparent(mlir::Operation &op);

/// The blocks of a function in which statements stand: of kernels, and of loops and branches in
/// them.
llvm::SmallVector<mlir::Block *> getStatementBlocks(mlir::Operation *function);

} // namespace tilewright

#endif // TILEWRIGHT_LIB_TRANSFORMS_LOOPFORM_H
