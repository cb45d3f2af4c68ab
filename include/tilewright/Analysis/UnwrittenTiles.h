//===- UnwrittenTiles.h - reads of tiles that nothing has written -----------------------------===//
//
// An unwritten element is poison, and a program that reads a tile before any statement writes it
// has forgotten something: most often the T.clear before a T.gemm. This analysis finds the reads
// that are certain: those for which no path from the allocation to their first execution has a
// write of any element of the tile. Tiles that may be written, or are written in part, are left to
// `--check`.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_ANALYSIS_UNWRITTENTILES_H
#define TILEWRIGHT_ANALYSIS_UNWRITTENTILES_H

#include "tilewright/Tile/Tile.h"

namespace tilewright::analysis {

/// A statement that reads, or accumulates into, a tile none of whose elements has a value.
struct UnwrittenRead {
  mlir::Operation *op;
  tile::AllocOp tile;
};

/// All such reads of a kernel, in program order. A path ends at its first read of a tile, so that
/// statements that only follow another such read of the same tile are not listed.
llvm::SmallVector<UnwrittenRead> findUnwrittenReads(tile::KernelOp kernel);

} // namespace tilewright::analysis

#endif // TILEWRIGHT_ANALYSIS_UNWRITTENTILES_H
