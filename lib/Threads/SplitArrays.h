//===- SplitArrays.h - an array of threads that roles share only by name ----------------------===//

#ifndef TILEWRIGHT_LIB_THREADS_SPLITARRAYS_H
#define TILEWRIGHT_LIB_THREADS_SPLITARRAYS_H

#include "ThreadFacts.h"

namespace tilewright::threads {

/// Gives each group of threads that uses a `T.alloc_local` or `T.alloc_var` apart from all others
/// one of its own. Returns whether anything was split; `facts` do not know the new ones.
bool splitArrays(tile::KernelOp kernel, const ThreadFacts &facts);

} // namespace tilewright::threads

#endif // TILEWRIGHT_LIB_THREADS_SPLITARRAYS_H
