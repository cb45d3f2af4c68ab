//===- HappensBefore.h - which accesses are ordered -------------------------------------------===//
//
// Logical clocks. Each warp has a clock that ticks whenever one of its lanes publishes something (a
// barrier, a fence, a releasing atomic); an access is stamped with its lane and the warp's clock.
// What a lane knows of others is the clock up to which their accesses are ordered before its next
// one:
//
//   - a barrier joins what all who arrive know, and who waits learns it (bar.arrive only
//   contributes);
//   - bar.warp.sync does so among its members;
//   - an arrival at an mbarrier releases to its phase, who has seen the phase completed acquires
//     from it, and with it what bulk copies brought in that phase;
//   - a fence followed by a strong write or atomic releases to that location; a strong read or
//   atomic followed by a
//     fence acquires from it. .release and .acquire do it in one. Both sides' scopes must include
//     each other: that of the block, the cluster, or the GPU. An mbarrier's is the cluster.
//
// Knowledge is kept per warp while all its lanes know the same, and per lane only where they
// differ. Of a lane's release after a fence, its own accesses count up to the fence; what it had
// learnt from others counts up to the release itself (a small over-approximation of order).
//
// An mbarrier is an *actor*: a thread numbered after the real ones. Its clock is the barrier's phase, and
// it "does" the writes that land with it. Beside what is ordered before its next access, a
// thread knows which of these a proxy fence follows (`fenced`), so that a fence may be
// any thread's on the way from a write to the asynchronous operation that reads it.
//
//===-----------------------------------------------------------------------------------===//
#ifndef VGPU_CHECKS_HAPPENSBEFORE_H
#define VGPU_CHECKS_HAPPENSBEFORE_H

#include "vgpu/Events/Observer.h"
#include "vgpu/Machine/Block.h"
#include <map>
#include <unordered_map>

namespace vgpu {

/// When and by whom something was done.
struct Stamp {
  uint64_t block = 0;
  uint32_t warp = 0;
  uint32_t clock = 0;
};

/// A fence between proxies may be for one memory only.
enum class ProxySpace : uint8_t { Shared, Global };

class HappensBefore : public Observer {
public:
  void onBlockStart(Block &block) override;
  void onBlockEnd(Block &block) override;
  void onAccess(const MemoryAccess &access) override;
  void onBarrier(Block &block, llvm::ArrayRef<BarrierArrival> arrivals) override;
  void onWarpSync(Warp &warp, uint32_t members) override;
  void onFence(Warp &warp, const Inst &inst, uint32_t mask, MemoryOrder order,
               MemoryScope scope) override;
  void onProxyFence(Warp &warp, const Inst &inst, uint32_t mask, ptx::Space space) override;
  void onMbarrierArrive(Warp &warp, uint32_t mask, Block &home, uint64_t address,
                        uint32_t phase) override;
  void onMbarrierWait(Warp &warp, uint32_t mask, Block &home, uint64_t address,
                      uint32_t phase) override;

  /// What holds for all lanes of a warp. Valid until the next event.
  struct View {
    /// By warp of its block: accesses up to this clock are ordered before.
    llvm::ArrayRef<uint32_t> warps;
    uint32_t now;          ///< the warp's clock
    bool knowsOtherBlocks; ///< false: nothing that other blocks did is ordered before
  };
  View viewOf(const Warp &warp) const;
  /// The clock a strong write of this lane is stamped with: right after a fence it belongs to the
  /// release that it completes, and is ordered with what it publishes.
  uint32_t strongClock(const Warp &warp, unsigned lane) const;
  /// The lanes of `lanes` of the stamp's warp whose doings at that time are not ordered before the
  /// next access of this lane.
  uint32_t unordered(const Stamp &stamp, uint32_t lanes, const Warp &warp, unsigned lane) const;
  /// The lanes of `lanes` whose write no proxy fence separates from this lane's next operation.
  uint32_t unfenced(const Stamp &stamp, uint32_t lanes, const Warp &warp, unsigned lane,
                    ProxySpace space) const;
  /// The stamp of writes that land with a phase of an mbarrier of a block, and the bit that stands
  /// for the barrier where lanes are expected.
  std::pair<Stamp, uint32_t> mbarrierStamp(const Block &home, uint64_t address, uint32_t phase);

private:
  /// Clocks that a proxy fence follows, by thread and actor, for each ProxySpace.
  using FencedClocks = std::array<std::vector<uint32_t>, 2>;

  using BlockClocks = std::map<uint64_t, std::vector<uint32_t>>; ///< by block and thread

  /// Clocks of other threads that are ordered before one's next access.
  struct Knowledge {
    std::vector<uint32_t> warps;   ///< by warp of the own block: all its lanes
    std::vector<uint32_t> threads; ///< by thread of the own block, then actors; may be short
    FencedClocks fenced;
    /// Other blocks: clocks by thread, and those of them that a proxy fence follows. (Shared
    /// memory is where blocks of a cluster meet.)
    BlockClocks remote;
    std::map<uint64_t, FencedClocks> remoteFenced;
    void join(const Knowledge &other);
    uint32_t clockOf(uint32_t warp, uint32_t lane) const;
    /// Everything known becomes fenced; `numThreads` is that of the block.
    void fence(const Knowledge &known, uint32_t numThreads, ProxySpace space);
  };
  struct LaneState {
    std::unique_ptr<Knowledge> extra; ///< beyond what the warp knows
    uint32_t fenceClock = 0;          ///< own accesses up to here were fenced
    MemoryScope fenceScope = MemoryScope::Cta;
    bool isFenced = false;
    std::vector<uint64_t> observed; ///< locations read by strong reads since the last fence
  };
  struct WarpState {
    uint32_t now = 1;
    bool knowsOtherBlocks = false; ///< some lane has learnt from another block
    Knowledge common;
    std::array<LaneState, warpSize> lanes;
  };
  struct BlockState {
    std::vector<WarpState> warps;
    uint32_t numThreads = 0;
    std::map<uint64_t, uint32_t> actors; ///< mbarriers by address; numbered after the threads
  };
  /// What was published at a location.
  struct Published {
    MemoryScope scope = MemoryScope::Cta;
    BlockClocks blocks;
    std::map<uint64_t, FencedClocks> fenced; ///< by block
  };

  void fenceProxy(Warp &warp, uint32_t mask, ProxySpace space);
  WarpState &stateOf(const Warp &warp);
  const WarpState &stateOf(const Warp &warp) const;
  Knowledge gather(Block &block, llvm::ArrayRef<BarrierArrival> arrivals);
  void publish(Warp &warp, unsigned lane, uint64_t key, uint32_t ownClock, MemoryScope scope,
               bool isReplaced);
  void learn(Warp &warp, unsigned lane, uint64_t key, MemoryScope scope);
  static void learn(const Warp &warp, Knowledge &knowledge, const Published &entry,
                    MemoryScope scope);
  Knowledge &extraOf(WarpState &warp, unsigned lane);
  static uint64_t keyOf(const Block &home, ptx::Space space, uint64_t address);

  BlockState &blockState(uint64_t block) const;

  mutable std::unordered_map<uint64_t, BlockState> blocks;
  mutable uint64_t cachedIndex = ~uint64_t(0); ///< the block looked up last
  mutable BlockState *cachedBlock = nullptr;
  std::unordered_map<uint64_t, Published> published;
};

} // namespace vgpu

#endif // VGPU_CHECKS_HAPPENSBEFORE_H
