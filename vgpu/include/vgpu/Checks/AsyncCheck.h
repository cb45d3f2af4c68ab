//===- AsyncCheck.h - asynchronous copies looked at too early
//------------------------------------------------------------------===//
//
// From its issue until the issuing thread has waited for its group, the destination of a cp.async
// belongs to the copy: no thread may read it (async_not_waited) or write it (async_overwrite). When
// the wait comes, the bytes count as written by that thread at that moment, and other threads need
// a barrier behind it, like for any write.
//
//===-----------------------------------------------------------------------------------===//
#ifndef VGPU_CHECKS_ASYNCCHECK_H
#define VGPU_CHECKS_ASYNCCHECK_H

#include "vgpu/Checks/Observer.h"
#include <deque>
#include <unordered_map>

namespace vgpu {

class RaceCheck;

class AsyncCheck : public Observer {
public:
  /// `races` may be null; it is told when a copy has landed. Without `reports` only that is done.
  AsyncCheck(RaceCheck *races, bool reports) : races(races), reports(reports) {}
  void onBlockStart(Block &block) override;
  void onBlockEnd(Block &block) override;
  void onAccess(const MemoryAccess &access) override;
  void onAsyncCommit(Warp &warp, uint32_t mask) override;
  void onAsyncWait(Warp &warp, uint32_t mask, uint32_t pendingGroups, bool isAll) override;

private:
  struct Copy {
    uint64_t address;
    uint32_t bytes;
    uint32_t pc;
  };
  struct Thread {
    std::vector<Copy> open;               ///< issued, not committed
    std::deque<std::vector<Copy>> groups; ///< committed, oldest first
  };
  /// The copy that owns a word of shared memory.
  struct Owner {
    uint32_t thread;
    uint32_t pc;
    bool isPending;
  };
  struct BlockState {
    std::vector<Thread> threads;
    std::vector<Owner> words; ///< of 4 bytes
    uint64_t pendingWords = 0;
  };
  void land(Warp &warp, unsigned lane, BlockState &state, const std::vector<Copy> &copies);
  void reportTouch(const MemoryAccess &access, unsigned lane, const Owner &owner, uint64_t address);

  RaceCheck *races;
  bool reports;
  std::unordered_map<uint64_t, BlockState> blocks;
};

} // namespace vgpu

#endif // VGPU_CHECKS_ASYNCCHECK_H
