//===- PlaceUniformArrays.h - arrays of threads that are the block's after all ---------------===//

#ifndef TILEWRIGHT_LIB_THREADS_PLACEUNIFORMARRAYS_H
#define TILEWRIGHT_LIB_THREADS_PLACEUNIFORMARRAYS_H

#include "ThreadFacts.h"

namespace tilewright::threads {

/// Gives each `T.alloc_local` that all threads fill with the same values memory of the block:
/// variables where its indices are constants, else a shared tile. `facts` still hold for all other
/// ops afterwards.
void placeUniformArrays(tile::KernelOp kernel, const ThreadFacts &facts);

} // namespace tilewright::threads

#endif // TILEWRIGHT_LIB_THREADS_PLACEUNIFORMARRAYS_H
