//===- MergeRoles.h - roles that wait for each other take turns ------------------------------===//

#ifndef TILEWRIGHT_LIB_FRONTEND_MERGEROLES_H
#define TILEWRIGHT_LIB_FRONTEND_MERGEROLES_H

#include "ThreadFacts.h"

namespace tilewright::frontend {

/// Interleaves the roles of a kernel (`if tx < 128: … else: …`, `T.ws`) that wait for each other at
/// barriers; loops in which they do become one. What cannot be interleaved is left as it is. Either
/// way, `facts` are out of date afterwards.
void mergeRoles(tile::KernelOp kernel, const ThreadFacts &facts);

} // namespace tilewright::frontend

#endif // TILEWRIGHT_LIB_FRONTEND_MERGEROLES_H
