//===- Schedule.h - what a schedule leaves on a kernel and its roles ----------------*- C++ -*-===//

#ifndef TILEWRIGHT_TILE_SCHEDULE_H
#define TILEWRIGHT_TILE_SCHEDULE_H

#include "llvm/ADT/StringRef.h"

namespace tilewright::tile {

/// Of tile.kernel and tile.role: the registers that each of its threads gets (setmaxnreg).
inline constexpr llvm::StringLiteral kRegistersAttr = "tile.registers";
/// Of tile.alloc: the variable that counts the iterations of a loop over all its executions; each
/// role has its own.
inline constexpr llvm::StringLiteral kIterationCountAttr = "tile.iteration_count";
/// Of tile.barrier_arrive: products alone have read what it releases. The wait for them has ended them
/// for all lanes of a warp, so that these need not meet.
inline constexpr llvm::StringLiteral kProductsReadAttr = "tile.products_read";
/// Of tile.barrier_arrive at a barrier by number: the threads that arrive wait at once. The wait after
/// it is then all that they do.
inline constexpr llvm::StringLiteral kAtWaitAttr = "tile.at_wait";
/// Of tile.alloc: a shared tile that holds zeros when the kernel begins.
inline constexpr llvm::StringLiteral kClearedAttr = "tile.cleared";
/// Of tile.kernel: the extents of the cluster in which its blocks start (x, y, z).
inline constexpr llvm::StringLiteral kClusterAttr = "tile.cluster";
/// Of tile.kernel: it may start while the launch before it still runs, for whose end its threads wait
/// before they touch global memory.
inline constexpr llvm::StringLiteral kOverlapsLaunchAttr = "tile.overlaps_launch";
/// The dimensions of the cluster along which blocks share something. Of a bulk copy: the first of these blocks
/// copies for all. Of tile.barrier_arrive: it arrives at the barrier of each. Of tile.barrier_wait: all of
/// them arrive.
inline constexpr llvm::StringLiteral kMulticastAttr = "tile.multicast";

/// Of a copy: the ranks of the blocks of the cluster that copy the same (a bit each), as the program says. With
/// `tile.multicast`, the first of them copies for all.
inline constexpr llvm::StringLiteral kClusterMaskAttr = "tile.cluster_mask";
/// Of scf.for: it runs over parts of the iterations of a loop inside it. Its variable is where a part ends.
inline constexpr llvm::StringLiteral kSegmentsAttr = "tile.segments";
/// Of scf.if: a product that its first branch issues runs on after it. Those before it end on both ways.
inline constexpr llvm::StringLiteral kLeavesOpenAttr = "tile.leaves_open";

} // namespace tilewright::tile

#endif // TILEWRIGHT_TILE_SCHEDULE_H
