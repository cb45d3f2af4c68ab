//===- SplitBranches.h - branches with waits inside, wait by wait ----------------------------===//

#ifndef TILEWRIGHT_LIB_THREADS_SPLITBRANCHES_H
#define TILEWRIGHT_LIB_THREADS_SPLITBRANCHES_H

#include "ThreadFacts.h"

namespace tilewright::threads {

/// Splits the branches in `role` in which threads wait, so that other roles can go on in the middle
/// of them. `role` means what it meant.
void splitBranches(mlir::Block &role, const ThreadFacts &facts);

} // namespace tilewright::threads

#endif // TILEWRIGHT_LIB_THREADS_SPLITBRANCHES_H
