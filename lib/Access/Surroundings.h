//===- Surroundings.h - what is known where an access stands ----------------------------------===//
//
// Branches and loops around an access say two things about it. Whether slots run it together: the
// comparisons that branches inside its loop depend on. And where it can lie: what every branch and
// every loop around it has made sure of before it runs.
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

/// Expressions that are not negative whenever the access runs: what the branches around it tested,
/// and the bounds of loops and grids whose variables are symbols. Bounds may name new symbols.
llvm::SmallVector<IndexExpr, 4> getKnownNonNegative(mlir::Operation *access,
                                                    analysis::IndexTranslator &translator,
                                                    const analysis::SymbolNumbers &numbers);

} // namespace tilewright::access

#endif // TILEWRIGHT_LIB_ACCESS_SURROUNDINGS_H
