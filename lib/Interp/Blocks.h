//===- Blocks.h - the blocks of a kernel, one after another -----------------------------------===//

#ifndef TILEWRIGHT_LIB_INTERP_BLOCKS_H
#define TILEWRIGHT_LIB_INTERP_BLOCKS_H

#include "Machine.h"

namespace tilewright::interp {

/// Runs all blocks of the machine's kernel; part by part where blocks meet (`tile.grid_sync`).
void runBlocks(Machine &machine, tile::KernelOp kernel, const Body &body);

} // namespace tilewright::interp

#endif // TILEWRIGHT_LIB_INTERP_BLOCKS_H
