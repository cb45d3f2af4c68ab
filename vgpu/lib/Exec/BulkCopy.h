//===- BulkCopy.h - what plain and tensor bulk copies share ---------------------------------===//
#ifndef VGPU_LIB_EXEC_BULKCOPY_H
#define VGPU_LIB_EXEC_BULKCOPY_H

#include "Late.h"
#include "vgpu/Exec/LaneMemory.h"

namespace vgpu {

const BulkOperation &bulkOperationOf(const Warp &warp, const Inst &inst);

/// The shared-memory side of one lane's copy: host memory, or null after a finding.
uint8_t *openShared(Warp &warp, const Inst &inst, unsigned lane, uint64_t &address, unsigned bytes,
                    unsigned align, AccessKind kind);
/// The address of the lane's mbarrier, or none if there is no valid one.
std::optional<uint64_t> mbarrierOf(Warp &warp, const Inst &inst, unsigned lane);
/// A copy to [address, address + bytes) of shared memory, now or late; its mbarrier gets the bytes.
void landInShared(Warp &warp, const Inst &inst, unsigned lane, uint64_t address, unsigned bytes,
                  uint64_t mbarrier, BulkMove move);
/// A copy of the lane's current bulk group, now or late. It reads [address, address + bytes) of
/// shared memory until it has been waited for.
void leaveShared(Warp &warp, const Inst &inst, unsigned lane, uint64_t address, unsigned bytes,
                 BulkMove move);
/// Reports bytes of the source that were never written.
void checkDefined(Warp &warp, const Inst &inst, unsigned lane, uint64_t address, unsigned bytes);
/// Whether .multicast::cluster names this block and no other: clusters are of one block.
bool isCastHere(Warp &warp, const Inst &inst, unsigned lane);

/// One element of a reduction: what is in memory, and what is combined with it.
uint64_t reduceElement(BulkReduction reduction, ptx::Type type, uint64_t old, uint64_t value);
/// Combines `bytes` of elements at `to` with those at `from`.
void reduceBytes(BulkReduction reduction, ptx::Type type, uint8_t *to, const uint8_t *from,
                 size_t bytes);

} // namespace vgpu

#endif // VGPU_LIB_EXEC_BULKCOPY_H
