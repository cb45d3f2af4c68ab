//===- LaneMemory.h - from the addresses of a warp to host memory ----------------------------===//
//
// Every access of every family goes through `resolve`: it checks alignment and bounds, finds the
// space of generic addresses, and gives each lane a host pointer. Lanes whose access faults are
// reported and dropped: their loads give 0, their stores do nothing. `notify` tells the observers.
//
//===-----------------------------------------------------------------------------------===//
#ifndef VGPU_EXEC_LANEMEMORY_H
#define VGPU_EXEC_LANEMEMORY_H

#include "vgpu/Events/Observer.h"
#include "vgpu/Machine/Block.h"
#include "vgpu/Machine/Report.h"

namespace vgpu {

struct LaneAddresses {
  uint64_t address[warpSize]; ///< before resolve: as the program computed it; after: in its space
  uint8_t *host[warpSize];
  ptx::Space space = ptx::Space::Global; ///< of all lanes, unless `isMixed`
  bool isMixed = false;                  ///< a generic access whose lanes are in different spaces
  ptx::Space laneSpace[warpSize];        ///< valid if isMixed
  uint32_t mask = 0;                     ///< lanes that resolved
  bool isRemote = false;                 ///< shared memory of other blocks of the cluster, too
  Block *owner[warpSize];                ///< valid if isRemote

  /// The block whose shared memory a lane accesses.
  Block &ownerOf(Warp &warp, unsigned lane) const { return isRemote ? *owner[lane] : *warp.block; }
};

/// base row + offset; 32-bit bases wrap at 32 bits.
void computeAddresses(Warp &warp, const Slot &base, int64_t offset, uint64_t *address);

/// Checks and translates `lanes.address` of the lanes in `mask`; sets the rest of `lanes`.
void resolve(Warp &warp, const Inst &inst, ptx::Space space, unsigned bytes, AccessKind kind,
             uint32_t mask, LaneAddresses &lanes, unsigned alignBytes = 0);

/// Tells the observers; `values` as in MemoryAccess.
void notify(Warp &warp, const Inst &inst, AccessKind kind, unsigned bytes,
            const LaneAddresses &lanes, const uint8_t *values = nullptr);

/// One access of one lane on behalf of somebody (MemoryAccess::by), with an order of its own.
void notifyOne(Warp &warp, const Inst &inst, ptx::Space space, AccessKind kind, AccessBy by,
               unsigned lane, uint64_t address, unsigned bytes,
               MemoryOrder order = MemoryOrder::Weak, MemoryScope scope = MemoryScope::Cta,
               Block *owner = nullptr);

} // namespace vgpu

#endif // VGPU_EXEC_LANEMEMORY_H
