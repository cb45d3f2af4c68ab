//===- BulkCopy.h - what plain and tensor bulk copies share ---------------------------------===//
#ifndef VGPU_LIB_EXEC_BULKCOPY_H
#define VGPU_LIB_EXEC_BULKCOPY_H

#include "Late.h"
#include "vgpu/Exec/LaneMemory.h"

namespace vgpu {

const BulkOperation &bulkOperationOf(const Warp &warp, const Inst &inst);

/// An address in shared memory of a block of the cluster.
struct SharedAddress {
  Block *block = nullptr; ///< null: there was a finding
  uint64_t address = 0;
  uint8_t *host = nullptr;
};
/// The shared-memory side of one lane's copy; `target` is the block, if the address does not say it.
SharedAddress openShared(Warp &warp, const Inst &inst, unsigned lane, uint64_t address,
                         unsigned bytes, unsigned align, AccessKind kind, Block *target = nullptr);
/// The blocks that a copy to shared memory goes to: those of .multicast::cluster, or null for the
/// one that its address names.
llvm::SmallVector<Block *, 4> targetsOf(Warp &warp, const Inst &inst, unsigned lane);
/// Where one copy to shared memory lands, and its mbarrier.
struct Landing {
  SharedAddress to;
  uint64_t mbarrier = 0; ///< of the same block
};
/// Checks and announces a landing of `bytes` at `address`; none after a finding.
std::optional<Landing> openLanding(Warp &warp, const Inst &inst, unsigned lane, uint64_t address,
                                   unsigned bytes, unsigned align, Block *target);
/// A copy of `bytes` to shared memory, now or late; its mbarrier gets the bytes.
void landInShared(Warp &warp, const Inst &inst, unsigned lane, const Landing &landing,
                  unsigned bytes, BulkMove move);
/// A copy of the lane's current bulk group, now or late. It reads [address, address + bytes) of
/// shared memory until it has been waited for.
void leaveShared(Warp &warp, const Inst &inst, unsigned lane, uint64_t address, unsigned bytes,
                 BulkMove move);
/// Reports bytes of the source that were never written.
void checkDefined(Warp &warp, const Inst &inst, unsigned lane, uint64_t address, unsigned bytes);
/// One element of a reduction: what is in memory, and what is combined with it.
uint64_t reduceElement(BulkReduction reduction, ptx::Type type, uint64_t old, uint64_t value);
/// Combines `bytes` of elements at `to` with those at `from`.
void reduceBytes(BulkReduction reduction, ptx::Type type, uint8_t *to, const uint8_t *from,
                 size_t bytes);

} // namespace vgpu

#endif // VGPU_LIB_EXEC_BULKCOPY_H
