//===- Observer.h - what a check sees of a run --------------------------------------------===//
//
// The executor tells observers what happens, before data moves; observers keep shadow state and
// report findings. They never change the run. With no observer the executor makes none of these
// calls. Observers see one block after another (never two host threads at once), in the order the
// executor runs them, which is the same on each run.
//
//===-----------------------------------------------------------------------------------===//
#ifndef VGPU_CHECKS_OBSERVER_H
#define VGPU_CHECKS_OBSERVER_H

#include "vgpu/Exec/Block.h"
#include "vgpu/Memory/Ordering.h"
#include "llvm/ADT/ArrayRef.h"

namespace vgpu {

enum class AccessKind : uint8_t {
  Read,
  Write,
  Atomic,     ///< read-modify-write
  AsyncRead,  ///< source of an asynchronous copy
  AsyncWrite, ///< destination of an asynchronous copy: lands at some time until it is waited for
};

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
};

class Observer {
public:
  virtual ~Observer() = default;
  virtual void onBlockStart(Block &) {}
  virtual void onBlockEnd(Block &) {}
  virtual void onAccess(const MemoryAccess &) {}
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
  /// Lanes `mask` of `warp` release (publish what they did) to / acquire from an object of shared
  /// memory that is not an ordinary location: an mbarrier at `address`.
  virtual void onRelease(Warp &, uint32_t /*mask*/, uint64_t /*address*/) {}
  virtual void onAcquire(Warp &, uint32_t /*mask*/, uint64_t /*address*/) {}
};

} // namespace vgpu

#endif // VGPU_CHECKS_OBSERVER_H
