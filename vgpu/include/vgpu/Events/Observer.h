//===- Observer.h - what a check sees of a run --------------------------------------------===//
//
// The executor tells observers what happens, before data moves; observers keep shadow state and
// report findings. They never change the run. With no observer the executor makes none of these
// calls. Observers see one block after another (never two host threads at once), in the order the
// executor runs them, which is the same on each run.
//
//===-----------------------------------------------------------------------------------===//
#ifndef VGPU_EVENTS_OBSERVER_H
#define VGPU_EVENTS_OBSERVER_H

#include "vgpu/Memory/Ordering.h"
#include "vgpu/Ptx/Types.h"
#include "llvm/ADT/ArrayRef.h"

namespace vgpu {

struct Block;
struct Inst;
struct Warp;

enum class AccessKind : uint8_t {
  Read,
  Write,
  Atomic,     ///< read-modify-write
  AsyncRead,  ///< source of an asynchronous copy
  AsyncWrite, ///< destination of an asynchronous copy: lands at some time until it is waited for
};

/// Who performs an access: a lane itself, the asynchronous proxy for it (TMA, wgmma), or a lane on
/// a synchronisation object, which ordinary accesses must leave alone.
enum class AccessBy : uint8_t { Lane, AsyncProxy, Mbarrier };

/// What the lanes of one warp instruction touch; all in the same space.
struct MemoryAccess {
  Warp &warp;
  const Inst &inst;
  ptx::Space space;
  AccessKind kind;
  uint32_t mask;
  unsigned bytes;          ///< of each lane, contiguous
  const uint64_t *address; ///< by lane; offsets inside the space (global: device addresses)
  uint8_t *const *host;    ///< by lane; where the bytes are now
  const uint8_t *values;   ///< writes: lane i's bytes at values + i * bytes; null if not known
  MemoryOrder order = MemoryOrder::Weak;
  MemoryScope scope = MemoryScope::Cta;
  AccessBy by = AccessBy::Lane;
  /// Another warp has told of the same traffic: the B of a wgmma, which four warps read together.
  bool isRepeated = false;
  Block *owner = nullptr; ///< shared memory: whose, if it is another block's of the cluster
};

/// A warp's lanes that have arrived at a barrier.
struct BarrierArrival {
  uint32_t warp;
  uint32_t mask;
  uint32_t pc;
  bool waits; ///< false for bar.arrive
};

/// Operations of the asynchronous proxy that are waited for in groups: each lane's bulk copies out
/// of shared memory, each warp's wgmma.
enum class TileGroups : uint8_t { Bulk, Wgmma };

class Observer {
public:
  virtual ~Observer() = default;
  virtual void onBlockStart(Block &) {}
  virtual void onBlockEnd(Block &) {}
  virtual void onAccess(const MemoryAccess &) {}
  /// A warp has arrived at a barrier for which it does not wait (bar.arrive).
  virtual void onBarrierArrive(Warp &) {}
  /// A barrier completed: every lane of `arrivals` has arrived, those that wait go on.
  virtual void onBarrier(Block &, llvm::ArrayRef<BarrierArrival>) {}
  /// bar.warp.sync among `members`.
  virtual void onWarpSync(Warp &, uint32_t /*members*/) {}
  virtual void onFence(Warp &, const Inst &, uint32_t /*mask*/, MemoryOrder, MemoryScope) {}
  /// fence.proxy.async and relatives; `space` Generic means all spaces.
  virtual void onProxyFence(Warp &, const Inst &, uint32_t /*mask*/, ptx::Space) {}
  /// cp.async.commit_group by the lanes of `mask`.
  virtual void onAsyncCommit(Warp &, uint32_t /*mask*/) {}
  /// cp.async.wait_group: at most `pendingGroups` of each lane's groups remain in flight; wait_all
  /// (`isAll`) also waits for copies that were never committed.
  virtual void onAsyncWait(Warp &, uint32_t /*mask*/, uint32_t /*pendingGroups*/, bool /*isAll*/) {}
  /// Lanes `mask` arrive at the mbarrier at `address` of block `home`, which is of their cluster, in
  /// its phase `phase`, and release.
  virtual void onMbarrierArrive(Warp &, uint32_t /*mask*/, Block & /*home*/, uint64_t /*address*/,
                                uint32_t /*phase*/) {}
  /// Lanes `mask` have seen phase `phase` completed, and acquire.
  virtual void onMbarrierWait(Warp &, uint32_t /*mask*/, Block & /*home*/, uint64_t /*address*/,
                              uint32_t /*phase*/) {}
  /// cp.async.mbarrier.arrive: what these lanes have copied so far lands with phase `phase`.
  virtual void onCopiesArrive(Warp &, uint32_t /*mask*/, uint64_t /*address*/, uint32_t /*phase*/) {
  }
  /// A bulk copy of one lane writes shared memory of block `home`; it lands with phase `phase` of an
  /// mbarrier there.
  virtual void onBulkWrite(Warp &, const Inst &, unsigned /*lane*/, Block & /*home*/,
                           uint64_t /*address*/, uint32_t /*bytes*/, uint64_t /*mbarrier*/,
                           uint32_t /*phase*/) {}
  /// An operation of the lanes of `mask` reads shared memory, chunks of 16 bytes at the given
  /// addresses, until its group has been waited for.
  virtual void onTileRead(Warp &, const Inst &, uint32_t /*mask*/,
                          llvm::ArrayRef<uint64_t> /*chunks*/, TileGroups) {}
  /// A warp executes its part of an instruction of a whole warpgroup: setmaxnreg, or a
  /// wgmma.mma_async with the descriptors of A (0 if A is in registers) and B.
  virtual void onWarpgroupInst(Warp &, const Inst &, uint64_t /*descriptorA*/,
                               uint64_t /*descriptorB*/) {}
  virtual void onTileCommit(Warp &, uint32_t /*mask*/, TileGroups) {}
  /// At most `pendingGroups` of the lanes' groups still read. What the others write to global
  /// memory has arrived, unless the wait is for reading only.
  virtual void onTileWait(Warp &, uint32_t /*mask*/, uint32_t /*pendingGroups*/, TileGroups,
                          bool /*isReadOnly*/) {}
};

} // namespace vgpu

#endif // VGPU_EVENTS_OBSERVER_H
