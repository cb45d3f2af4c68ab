//===- ScheduleModel.h - how long an iteration of a loop of products takes --------------------===//
//
// A loop whose copies a producer issues is a marked graph with times: the warpgroups run its statements
// one after another, products run on the tensor cores, which they share, copies wait for releases and take
// their time. Where warpgroups take turns, a turn is one more token, which goes round among them. The model
// plays some iterations of an order of statements and tells the cycles from one to the next, and which
// statements decide them. Times are those of an H100, as python/tilewright/report/machines.py has them:
// 2048 multiplications of float16 a cycle, 128 bytes of shared memory, 32 bytes of copies, one
// instruction of each warp scheduler, 4 lanes of functions.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_LIB_TRANSFORMS_GPU_SCHEDULEMODEL_H
#define TILEWRIGHT_LIB_TRANSFORMS_GPU_SCHEDULEMODEL_H

#include "tilewright/Tile/Turns.h"

namespace tilewright {

/// Tiles whose copies arrive together, in a loop that has no barriers yet.
struct CopiedTiles {
  llvm::SmallVector<mlir::Value> tiles;
  double bytes = 0; ///< Of one version.
  int64_t versions = 1;
  mlir::Operation *first, *last; ///< Who reads them.
};

/// A statement of a loop, and by how many iterations it is late; or a warpgroup takes or passes its turn, waits for
/// copies or releases their tiles, or the threads of the block meet (then there is no op yet).
struct OrderedStatement {
  mlir::Operation *op;
  int64_t shift = 0;
  std::optional<tile::TurnKind> turn = std::nullopt;
  const CopiedTiles *awaited = nullptr, *released = nullptr;
  bool meets = false;
};

struct SchedulePrediction {
  double cycles =
      0; ///< From one iteration to the next; of several blocks, from one's to another's.
  std::string critical; ///< The statements that these cycles pass through.
};

/// The statements of an iteration as they stand.
llvm::SmallVector<OrderedStatement> getWrittenOrder(tile::PipelinedOp loop);

/// How many blocks of its cluster a copy serves, itself included.
int64_t countMulticastBlocks(tile::ParallelOp copy);

/// What the model says of this order of a loop's statements. A copy that serves several blocks of a cluster brings
/// each of them its part, and takes longer, since they wait for each other.
SchedulePrediction predictSchedule(tile::PipelinedOp loop,
                                   llvm::ArrayRef<OrderedStatement> statements);

/// Who issues the copies of a loop: another warp, as soon as a version is free, or a thread of the block, where the
/// threads have met in the iteration after.
enum class CopiedBy { Producer, Threads };

/// What the model says of a loop that has no barriers yet, where a processor runs so many blocks at once.
SchedulePrediction predictCopies(tile::PipelinedOp loop, llvm::ArrayRef<CopiedTiles> channels,
                                 CopiedBy who, int64_t blocks);

/// The cycles of a scheduler and of the unit of functions that a statement takes, for each warp; 0 for
/// products and what only waits.
double predictWork(mlir::Operation *op, int64_t threads);

} // namespace tilewright

#endif // TILEWRIGHT_LIB_TRANSFORMS_GPU_SCHEDULEMODEL_H
