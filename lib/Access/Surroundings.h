//===- Surroundings.h - what is known where an access stands ----------------------------------===//
//
// Branches around an access say whether slots run it together: the comparisons that branches inside
// its loop depend on. Where it can lie is in Analysis/Conditions.h.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_LIB_ACCESS_SURROUNDINGS_H
#define TILEWRIGHT_LIB_ACCESS_SURROUNDINGS_H

#include "tilewright/Access/Memory.h"
#include "tilewright/Analysis/IndexValues.h"

namespace tilewright::access {

/// The comparisons that decide the branches between an access and its loop; nothing where something
/// else decides one.
std::optional<llvm::SmallVector<BranchTest, 2>>
getBranchTests(mlir::Operation *access, tile::ParallelOp loop,
               analysis::IndexTranslator &translator);

} // namespace tilewright::access

#endif // TILEWRIGHT_LIB_ACCESS_SURROUNDINGS_H
