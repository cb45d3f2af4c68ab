//===- ChannelPieces.h - the iterations for which statements on a channel stand -----*- C++ -*-===//
//
// The program waits for and releases the iterations of a producer's loop in pieces: loops, single
// iterations beside them, and segments. A cover is what they stand for together.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_LIB_TRANSFORMS_GPU_CHANNELPIECES_H
#define TILEWRIGHT_LIB_TRANSFORMS_GPU_CHANNELPIECES_H

#include "tilewright/Tile/Effects.h"
#include "tilewright/Tile/Tile.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tilewright::schedule {

/// Iterations for which a statement stands: those of a loop around it, or one.
struct Piece {
  mlir::Operation *op;
  tile::IndexSum from, to;
  int64_t shift = 0;
  tile::PipelinedOp loop; ///< Null: one iteration.
  mlir::scf::IfOp branch; ///< It is done in all segments but the first.

  mlir::Operation *getStatement() const { return loop || branch ? op->getParentOp() : op; }
};

/// The statements on one channel.
struct ChannelUse {
  tile::BarrierWaitOp acquire;
  tile::AsyncGroupOp fill;
  llvm::SmallVector<mlir::Operation *> waitOps, releaseOps;
  llvm::SmallVector<Piece, 0> waits, releases; ///< In the order of the program.
  int64_t versions = 0;
};

/// Reports that the schedule of a kernel is wrong, which is our fault.
mlir::LogicalResult fail(mlir::Operation *op, const llvm::Twine &text);

/// The number that is `value` modulo `count`, from 0 on.
inline int64_t wrap(int64_t value, int64_t count) { return ((value % count) + count) % count; }

/// The first piece that is a loop, or that of this loop; null if there is none.
const Piece *findLoop(llvm::ArrayRef<Piece> pieces, tile::PipelinedOp loop = {});

/// Whether a loop goes on where another one ends, at some iteration between their bounds.
bool continues(tile::PipelinedOp loop, tile::PipelinedOp before);

/// Whether a statement on a channel comes before an op that is in no loop with it.
bool comesBefore(const Piece &piece, mlir::Operation *op);

/// `a - b` where that is a constant.
std::optional<int64_t> subtract(tile::IndexSum a, const tile::IndexSum &b);

/// The loop over segments in which a statement stands, or null.
mlir::scf::ForOp getSegments(mlir::Operation *statement);

/// The branch of a loop over segments in which a statement stands that all but the first one have;
/// or null.
mlir::scf::IfOp getLaterBranch(mlir::Operation *op);

/// The iterations that pieces stand for, each once and in order, and the statement that has them all.
struct Cover {
  tile::IndexSum from, to;
  mlir::Operation *first;         ///< The first piece, or the loop over segments,
  size_t inSegments = 0;          ///< which has so many pieces
  tile::IndexSum segmentsTo = {}; ///< and goes up to here.
};

/// Pieces that the first segment has.
llvm::ArrayRef<Piece> dropLater(llvm::ArrayRef<Piece> pieces);

/// None if a loop over segments leaves some out.
std::optional<Cover> getCover(llvm::ArrayRef<Piece> pieces);

/// Whether an iteration stands beside the loop that may not exist, so that a branch must ask.
bool needsGuard(llvm::ArrayRef<Piece> pieces);

} // namespace tilewright::schedule

#endif // TILEWRIGHT_LIB_TRANSFORMS_GPU_CHANNELPIECES_H
