//===- Roles.h - what a producer warp can compute by itself -----------------------------------===//
//
// A producer runs the control flow around its copies again, beside the threads of the program. It
// shares no registers with them and sees none of their writes before it is told: all it may use is
// arithmetic of block numbers, arguments, loop variables and variables that it can set by itself, and
// memory that the kernel does not write.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_LIB_TRANSFORMS_GPU_ROLES_H
#define TILEWRIGHT_LIB_TRANSFORMS_GPU_ROLES_H

#include "tilewright/Tile/Schedule.h"
#include "tilewright/Tile/Tile.h"

namespace tilewright {

/// The most threads of a program that leave room for a producer warpgroup.
inline constexpr int64_t kMaxConsumers = 1024 - 128;

/// Whether an op is arithmetic, or names a part of a buffer: every role can do it for itself.
bool isPlain(mlir::Operation *op);

/// Why a producer cannot run these copies of a loop on its own; empty if it can.
std::string findProducerObstacle(tile::PipelinedOp loop, llvm::ArrayRef<mlir::Operation *> copies,
                                 bool disjoint);

/// The tiles whose copies arrive at this row of barriers; none if no copies do.
llvm::SmallVector<mlir::Value> findFilledTiles(mlir::Value full);
/// The tiles whose copies wait for arrivals at this row of barriers.
llvm::SmallVector<mlir::Value> findReleasedTiles(mlir::Value empty);

/// The registers that a thread of the program takes at most: those of all fragments, and some for the rest.
int64_t estimateRegisters(tile::KernelOp kernel);
/// What a thread of the program has beside its fragments: addresses, counters, temporaries.
inline constexpr int64_t kOtherRegisters = 40;
/// The registers that each thread of a block with a producer of one warp is given at launch.
int64_t getGrantedRegisters(tile::KernelOp kernel);

} // namespace tilewright

#endif // TILEWRIGHT_LIB_TRANSFORMS_GPU_ROLES_H
