//===- RegisterPool.h - the registers that warps of a block give and take ---------------------===//
#ifndef VGPU_LIB_EXEC_REGISTERPOOL_H
#define VGPU_LIB_EXEC_REGISTERPOOL_H

#include "vgpu/Machine/Block.h"
#include <string>

namespace vgpu {

/// The pool as a further line of a deadlock's message; empty if the block has none.
std::string describeRegisterPool(Block &block);
/// What of it decides what the block does next (SpinWatch.h).
void describeRegisterPool(Block &block, std::vector<uint64_t> &out);

} // namespace vgpu

#endif // VGPU_LIB_EXEC_REGISTERPOOL_H
