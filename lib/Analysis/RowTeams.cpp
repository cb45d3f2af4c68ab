//===- RowTeams.cpp - who takes which row of a tile in memory ---------------------------------===//

#include "tilewright/Analysis/RowTeams.h"
#include "tilewright/Target/Arch.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::analysis {

TileRows TileRows::get(ArrayRef<int64_t> shape, int64_t dim) {
  TileRows rows;
  rows.dim = dim;
  rows.extent = shape[dim];
  for (auto [d, extent] : llvm::enumerate(shape))
    if (int64_t(d) != dim) {
      rows.outer.push_back(extent);
      rows.count *= extent;
    }
  return rows;
}

std::optional<RowTeams> RowTeams::get(const TileRows &rows, int64_t numThreads) {
  int64_t warps = numThreads / kWarpSize; // lanes of a part of a warp stay out
  if (warps == 0 || rows.count == 0)
    return std::nullopt;
  int64_t chunksOfRow = llvm::divideCeil(rows.extent, kWarpSize);
  RowTeams plan;
  plan.warps = std::clamp<int64_t>(warps / rows.count, 1, std::max<int64_t>(chunksOfRow, 1));
  plan.teams = warps / plan.warps;
  plan.chunks = llvm::divideCeil(chunksOfRow, plan.warps);

  // In instructions of a warp, roughly. Lanes that walk rows of their own meet in the banks if rows
  // are dense, as do lanes of one row if its elements lie apart.
  bool isDense = rows.dim == int64_t(rows.outer.size());
  constexpr int64_t kStep = 4, kConflict = 8, kMeeting = 16;
  int64_t alone =
      llvm::divideCeil(rows.count, numThreads) * rows.extent * (kStep + (isDense ? kConflict : 0));
  int64_t together = llvm::divideCeil(rows.count, plan.teams) *
                     (plan.chunks * (kStep + (isDense ? 0 : kConflict)) + kMeeting);
  return together < alone ? std::optional(plan) : std::nullopt;
}

std::optional<RowTeams> RowTeams::get(Operation *statement, int64_t numThreads) {
  if (auto scan = dyn_cast<CumsumOp>(statement))
    return get(TileRows::get(scan.getSource().getType().getShape(), scan.getDim()), numThreads);
  if (auto reduce = dyn_cast<ReduceOp>(statement))
    return get(TileRows::get(reduce.getSource().getType().getShape(), reduce.getDim()), numThreads);
  return std::nullopt;
}

} // namespace tilewright::analysis
