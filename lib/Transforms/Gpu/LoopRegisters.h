//===- LoopRegisters.h - the registers that the iterations of a loop keep ----------------------===//

#ifndef TILEWRIGHT_LIB_TRANSFORMS_GPU_LOOPREGISTERS_H
#define TILEWRIGHT_LIB_TRANSFORMS_GPU_LOOPREGISTERS_H

#include "ScheduleModel.h"

namespace tilewright {

/// The registers of a thread that fragments hold at once at most, in this order of a loop's statements:
/// those that live on from iteration to iteration, and the others from their first use to their last.
/// What a product reads and writes is held until a statement waits for it.
int64_t countLoopRegisters(tile::PipelinedOp loop, llvm::ArrayRef<OrderedStatement> statements);

} // namespace tilewright

#endif // TILEWRIGHT_LIB_TRANSFORMS_GPU_LOOPREGISTERS_H
