//===- RowTeams.h - who takes which row of a tile in memory -------------------------*- C++ -*-===//
//
// A reduction or a scan of a tile in shared memory goes along rows. Warps take a row at a time,
// their lanes neighbouring elements; where there are fewer rows than warps, several warps share one
// and meet in scratch memory. Code generation, the plan of shared memory and the barriers ask here.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_ANALYSIS_ROWTEAMS_H
#define TILEWRIGHT_ANALYSIS_ROWTEAMS_H

#include "tilewright/Tile/Tile.h"

namespace tilewright::analysis {

/// The rows of a tile along one dimension.
struct TileRows {
  static TileRows get(llvm::ArrayRef<int64_t> shape, int64_t dim);

  llvm::SmallVector<int64_t> outer; ///< The extents of the other dimensions.
  int64_t count = 1;                ///< Of rows.
  int64_t extent = 1;               ///< Elements of a row.
  int64_t dim = 0;
};

/// Teams of warps; each team takes every `teams`-th row.
struct RowTeams {
  /// Nothing where it costs less if each thread goes along rows of its own.
  static std::optional<RowTeams> get(const TileRows &rows, int64_t numThreads);
  /// Those of a reduction or a scan.
  static std::optional<RowTeams> get(mlir::Operation *statement, int64_t numThreads);

  int64_t teams = 1;
  int64_t warps = 1;  ///< Of a team. More than one only if there is a team for each row.
  int64_t chunks = 1; ///< How often a warp takes as many elements of a row as it has lanes.
};

} // namespace tilewright::analysis

#endif // TILEWRIGHT_ANALYSIS_ROWTEAMS_H
