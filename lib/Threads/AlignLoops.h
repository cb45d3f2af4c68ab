//===- AlignLoops.h - loops that threads leave at different times ----------------------------===//

#ifndef TILEWRIGHT_LIB_THREADS_ALIGNLOOPS_H
#define TILEWRIGHT_LIB_THREADS_ALIGNLOOPS_H

#include "tilewright/Tile/Tile.h"

namespace tilewright::threads {

/// Rewrites each loop that threads leave at different times, and whose statements touch what other
/// threads write, as a loop that all threads go round together.
void alignLoops(tile::KernelOp kernel);

} // namespace tilewright::threads

#endif // TILEWRIGHT_LIB_THREADS_ALIGNLOOPS_H
