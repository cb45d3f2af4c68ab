//===- TakeTurns.h - warpgroups issue their products in turn -----------------------------------===//

#ifndef TILEWRIGHT_LIB_TRANSFORMS_GPU_TAKETURNS_H
#define TILEWRIGHT_LIB_TRANSFORMS_GPU_TAKETURNS_H

#include "ScheduleModel.h"

namespace tilewright {

/// The part of an iteration in which a warpgroup has the turn.
struct TurnPlan {
  mlir::Operation *first; ///< It takes the turn in front of this product,
  mlir::Operation *last;  ///< and passes it on after that one.
  bool wraps = false; ///< It goes on over the end of an iteration: `last` stands before `first`.
};

/// Where the warpgroups of a loop could take turns: from the end of the longest work between two products on
/// to its start. Nothing if there is one warpgroup, no work, or threads that meet during a turn.
std::optional<TurnPlan> planTurns(tile::PipelinedOp loop,
                                  llvm::ArrayRef<OrderedStatement> statements);

/// The same order with turns, for the model.
llvm::SmallVector<OrderedStatement> addTurns(llvm::ArrayRef<OrderedStatement> statements,
                                             const TurnPlan &plan);

/// Writes the turns of a plan, whose products stand in the loop.
void takeTurns(tile::PipelinedOp loop, const TurnPlan &plan);

} // namespace tilewright

#endif // TILEWRIGHT_LIB_TRANSFORMS_GPU_TAKETURNS_H
