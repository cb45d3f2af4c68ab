//===- AsyncCopies.h - what a copy past the registers must satisfy ------------------*- C++ -*-===//

#ifndef TILEWRIGHT_LIB_PLANCHECK_ASYNCCOPIES_H
#define TILEWRIGHT_LIB_PLANCHECK_ASYNCCOPIES_H

#include "tilewright/Target/Arch.h"
#include "tilewright/Tile/Tile.h"

namespace tilewright::plancheck {

/// What is wrong with a loop that is to run as asynchronous copies (`tile.async_group`), besides
/// what may be wrong with the plans of its read and its write; empty if nothing.
std::string findAsyncFault(tile::ParallelOp loop, const Arch &arch);

/// Whether the bits of a read outside a tensor are zeros in this kernel.
bool isSafeValueZero(mlir::Value root, tile::KernelOp kernel);

} // namespace tilewright::plancheck

#endif // TILEWRIGHT_LIB_PLANCHECK_ASYNCCOPIES_H
