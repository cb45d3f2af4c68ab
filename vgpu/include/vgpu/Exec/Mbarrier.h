//===- Mbarrier.h - what other families do with mbarriers ----------------------------------===//
#ifndef VGPU_EXEC_MBARRIER_H
#define VGPU_EXEC_MBARRIER_H

#include "vgpu/Machine/Mbarrier.h"

namespace vgpu {

/// The mbarrier of block `home` that one lane uses, or null after a finding: none was initialised there.
Mbarrier *findMbarrier(Warp &warp, const Inst &inst, unsigned lane, Block &home, uint64_t address);

/// A bulk copy that lane `lane` issued has brought `bytes`.
void completeTx(Warp &warp, const Inst &inst, unsigned lane, Block &home, uint64_t address,
                uint64_t bytes);

/// The state of all mbarriers as further lines of a deadlock's message.
std::string describeMbarriers(Block &block);

} // namespace vgpu

#endif // VGPU_EXEC_MBARRIER_H
