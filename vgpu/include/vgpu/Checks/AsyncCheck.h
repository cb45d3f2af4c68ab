//===- AsyncCheck.h - asynchronous copies looked at too early ---------------------------------===//
//
// From its issue until the issuing thread has waited for its group, the destination of a cp.async
// belongs to the copy: no thread may read it (async_not_waited) or write it (async_overwrite). When
// the wait comes, the bytes count as written by that thread at that moment, and other threads need
// a barrier after it, as for any write. Copies tracked by an mbarrier (cp.async.mbarrier.arrive)
// land with its phase instead, and TileCheck follows them from there.
//
//===-----------------------------------------------------------------------------------===//
#ifndef VGPU_CHECKS_ASYNCCHECK_H
#define VGPU_CHECKS_ASYNCCHECK_H

#include "vgpu/Events/Observer.h"
#include "vgpu/Machine/Block.h"
#include <memory>
#include <unordered_map>

namespace vgpu {

class RaceCheck;
class TileCheck;

class AsyncCheck : public Observer {
public:
  /// `races` and `tiles` may be null; they are told when a copy has landed. Without `reports` only
  /// that is done.
  AsyncCheck(RaceCheck *races, TileCheck *tiles, bool reports)
      : races(races), tiles(tiles), reports(reports) {}
  void onBlockStart(Block &block) override;
  void onBlockEnd(Block &block) override;
  void onAccess(const MemoryAccess &access) override;
  void onAsyncCommit(Warp &warp, uint32_t mask) override;
  void onAsyncWait(Warp &warp, uint32_t mask, uint32_t pendingGroups, bool isAll) override;
  void onCopiesArrive(Warp &warp, uint32_t mask, uint64_t address, uint32_t phase) override;

private:
  /// The copies that lanes of a warp issued together; all are in their lane's group of this number.
  struct Copies {
    uint32_t mask; ///< lanes that have not waited for them
    uint32_t group;
    uint32_t bytes;
    uint32_t pc;
    uint32_t address[warpSize];
  };
  struct WarpState {
    std::vector<Copies> pending;                   ///< oldest first
    std::array<uint32_t, warpSize> committed = {}; ///< groups of each lane
  };
  /// The copy that owns a word of shared memory.
  struct Owner {
    uint32_t pc;
    uint16_t thread;
    bool isPending;
    bool operator==(const Owner &) const = default;
  };
  static Owner ownerOf(uint32_t thread, uint32_t pc);
  struct BlockState {
    std::vector<WarpState> warps;
    std::vector<Owner> words;           ///< of 4 bytes
    std::vector<uint8_t> pendingInLine; ///< pending words in each 16 bytes
    uint64_t pendingWords = 0;
    bool isPending(uint64_t begin, uint64_t end) const {
      return pendingInLine[begin / 16] || pendingInLine[(end - 1) / 16] || end - begin > 32;
    }
  };
  BlockState &stateOf(const Block &block) { return *blocks.find(block.linearIndex)->second; }
  void issue(const MemoryAccess &access, BlockState &state);
  void release(Warp &warp, BlockState &state, Copies &copies, uint32_t lanes);
  void land(Warp &warp, BlockState &state, Copies &copies, uint32_t lanes);
  void reportTouch(const MemoryAccess &access, unsigned lane, const Owner &owner, uint64_t address);

  RaceCheck *races;
  TileCheck *tiles;
  bool reports;
  std::unordered_map<uint64_t, std::unique_ptr<BlockState>> blocks;
  std::vector<std::unique_ptr<BlockState>> idle; ///< of blocks that have ended
};

} // namespace vgpu

#endif // VGPU_CHECKS_ASYNCCHECK_H
