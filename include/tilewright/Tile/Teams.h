//===- Teams.h - the threads that run a statement together --------------------------*- C++ -*-===//
//
// A statement of a kernel is run by all threads of the program, or by those of the role that it
// stands in. Whoever spreads a statement over threads asks here how many there are.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_TILE_TEAMS_H
#define TILEWRIGHT_TILE_TEAMS_H

#include "tilewright/Tile/Tile.h"

namespace tilewright::tile {

/// Of tile.role: the number of its first thread, where its threads are some of the program's
/// (`tile-assign-roles`); a role without it has threads of its own.
inline constexpr llvm::StringLiteral kFirstThreadAttr = "tile.first_thread";

/// Of such a role: the number of the barrier at which its threads meet.
inline constexpr llvm::StringLiteral kMeetingAttr = "tile.meeting";

/// Of tile.copy and the tile.parallel it becomes: its role needs it only at the next arrival of the
/// same block, so that a bulk copy may complete there. Of the tile.async_group that holds such copies: the
/// barrier expects their bytes, and the arrival is the program's.
inline constexpr llvm::StringLiteral kAtArrivalAttr = "tile.at_arrival";

/// The threads `first` to `first + count - 1` of a block.
struct Team {
  int64_t first = 0;
  int64_t count = 0;
};

/// The threads that run `op`. A fragment is spread over the threads of its allocation.
Team getTeam(mlir::Operation *op);
inline int64_t getNumThreads(mlir::Operation *op) { return getTeam(op).count; }

/// The role of the user's that `op` stands in, or null.
RoleOp getTeamRole(mlir::Operation *op);
/// The roles of a kernel that share the program's threads, in order.
llvm::SmallVector<RoleOp> getTeamRoles(KernelOp kernel);

} // namespace tilewright::tile

#endif // TILEWRIGHT_TILE_TEAMS_H
