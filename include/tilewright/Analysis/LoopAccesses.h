//===- LoopAccesses.h - which elements an iteration of a plain loop touches ---------*- C++ -*-===//
//
// What passes that move iterations of one loop past those of another must know: the element that
// each access of an iteration touches, as a sum of the loop's iterators and of values that no
// iteration changes. Taken from the effects interface (Tile/Effects.h); an element that has no such
// form is unknown, and whoever asks must expect any element.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_ANALYSIS_LOOPACCESSES_H
#define TILEWRIGHT_ANALYSIS_LOOPACCESSES_H

#include "tilewright/Tile/Tile.h"
#include <optional>

namespace tilewright::analysis {

/// One coordinate for each dimension of a root.
using ElementIndex = llvm::SmallVector<tile::IndexSum, 2>;

struct LoopAccess {
  mlir::Operation *op;
  tile::EffectKind kind;
  mlir::Value root;
  std::optional<ElementIndex> element;

  bool isRead() const { return kind == tile::EffectKind::Read; }
};

/// The accesses of a loop whose body does nothing but compute, load, store and update reducers, in
/// order; nothing for any other loop. Iterators that have one value are left out of indices.
std::optional<llvm::SmallVector<LoopAccess>> getPlainAccesses(tile::ParallelOp loop);

/// Whether the element is known to exist in all iterations.
bool isProvenInside(const LoopAccess &access);

/// Whether two loops touch the same element in corresponding iterations; `lhsIterators` and
/// `rhsIterators` correspond one to one. False where that is not known.
bool isSameElement(const ElementIndex &lhs, mlir::ValueRange lhsIterators, const ElementIndex &rhs,
                   mlir::ValueRange rhsIterators);

/// Whether no two iterations touch the same element: each iterator is alone in some coordinate.
bool isInjective(const ElementIndex &index, mlir::ValueRange iterators);

/// Whether neighbouring iterations of the innermost loop touch neighbours along the last dimension,
/// or all one element.
bool isAlongRow(const ElementIndex &index, mlir::Value innermost);

} // namespace tilewright::analysis

#endif // TILEWRIGHT_ANALYSIS_LOOPACCESSES_H
