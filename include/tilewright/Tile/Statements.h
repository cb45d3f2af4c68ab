//===- Statements.h - what statements do to single elements -------------------------*- C++ -*-===//
//
// Rules that every engine and every pass that writes a statement as a loop must follow alike: which
// element of one tile belongs to which of another, and how two numbers become one.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_TILE_STATEMENTS_H
#define TILEWRIGHT_TILE_STATEMENTS_H

#include "tilewright/Tile/Tile.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tilewright::tile {

/// Whether a view between a buffer and its root sees other elements than its source has, so that
/// coordinates do not carry over.
bool changesElement(mlir::Value buffer);

/// Dimensions of two tiles that belong together, the first to the first.
struct PairedDims {
  llvm::SmallVector<unsigned> lhs, rhs;
};

/// Pairs the dimensions of two tiles in one statement: all of them if the shapes can be equal, else
/// in order those whose extent is not 1. The verifier lets no other shapes pass.
PairedDims pairDimensions(llvm::ArrayRef<int64_t> lhs, llvm::ArrayRef<int64_t> rhs);

/// The indices of the element of `buffer` that belongs to element `iterators` of `like`.
llvm::SmallVector<mlir::Value> makePairedIndices(mlir::ImplicitLocOpBuilder &b, mlir::Value buffer,
                                                 mlir::Value like, mlir::ValueRange iterators);

inline bool isSum(ReduceKind kind) { return kind == ReduceKind::Sum || kind == ReduceKind::AbsSum; }

/// How a reduction combines two values, once it has taken magnitudes where it is of those.
AtomicKind getAtomicKind(ReduceKind kind);

/// What the language calls an update of this kind: `atomic_add`.
std::string getLanguageName(AtomicKind kind);

/// Two integers or bools combined; the signs of integers are as the element type says.
mlir::Value combineIntegers(mlir::ImplicitLocOpBuilder &b, AtomicKind kind, mlir::Value lhs,
                            mlir::Value rhs, bool isUnsigned);

} // namespace tilewright::tile

#endif // TILEWRIGHT_TILE_STATEMENTS_H
