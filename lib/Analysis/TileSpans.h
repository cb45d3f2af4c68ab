//===- TileSpans.h - touched coordinates of a tile as expressions -------------------*- C++ -*-===//
//
// Private to the proof that accesses stay inside their tile, and to the search for one that does
// not.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_LIB_ANALYSIS_TILESPANS_H
#define TILEWRIGHT_LIB_ANALYSIS_TILESPANS_H

#include "tilewright/Analysis/IndexValues.h"
#include "tilewright/Analysis/TileBounds.h"

namespace tilewright::analysis {

/// First and last coordinate of a dimension.
struct Span {
  IndexExpr first, last;
};

std::optional<IndexExpr> translate(mlir::OpFoldResult value, IndexTranslator &translator);
std::optional<Span> getSpan(const TouchedDim &dim, IndexTranslator &translator);

} // namespace tilewright::analysis

#endif // TILEWRIGHT_LIB_ANALYSIS_TILESPANS_H
