//===- Verifiers.h - what the verifiers have in common ---------------------------------===//
//
// Each message says in the user's terms what was asked, what stands in its way, and where there is
// one, the fix. The position is the op's location: the user's Python line.
//
//   VerifyStructure.cpp    kernels, loops, buffers and their parts
//   VerifyStatements.cpp   statements on whole tiles
//   VerifyThreads.cpp      thread indices and barriers
//   VerifyNotes.cpp        annotations, hints and scalars
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_LIB_TILE_VERIFIERS_H
#define TILEWRIGHT_LIB_TILE_VERIFIERS_H

#include "tilewright/Tile/Tile.h"

namespace tilewright::tile {

inline bool isOnChip(mlir::Value buffer) { return getSpace(buffer) != Space::Global; }

/// Points at the allocation of a buffer, so that the user sees both lines.
mlir::InFlightDiagnostic &noteAllocation(mlir::InFlightDiagnostic &diag, mlir::Value buffer);

/// Refuses a constant index that leaves an on-chip buffer.
mlir::LogicalResult verifyIndices(mlir::Operation *op, mlir::Value buffer,
                                  mlir::ValueRange indices);

/// Refuses a statement of the whole block where each iteration of a loop goes its own way: threads
/// would have to meet at a barrier that some of them never reach.
mlir::LogicalResult verifyUniformFlow(mlir::Operation *op, const llvm::Twine &what);

mlir::LogicalResult verifyCoalescedWidth(mlir::Operation *op, std::optional<int64_t> width);

} // namespace tilewright::tile

#endif // TILEWRIGHT_LIB_TILE_VERIFIERS_H
