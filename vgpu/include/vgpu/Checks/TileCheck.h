//===- TileCheck.h - shared memory that asynchronous operations use ---------------------------===//
//
// Bulk copies and wgmma work on shared memory beside the threads (in the asynchronous proxy). For
// each 16 bytes this check remembers, and reports when it does not fit,
//
//   - what a copy wrote that lands with a phase of an mbarrier: who touches it must have seen that
//     phase completed, or be ordered after a thread that has (async_not_waited, async_overwrite);
//   - which operations read it: from their issue until the wait for their group, and for others
//     until they are ordered after that wait, no thread may write (async_overwrite). The group of a
//     product is of the whole warpgroup: after the wait of one of its warps the product is
//     complete, but PTX does not say that in so many words, so it is a note (warpgroup_release);
//   - who wrote it with ordinary stores: before an asynchronous operation uses it, a
//     fence.proxy.async must stand in between (proxy_fence).
//
// A block must not end while its shared memory is read, and ordinary accesses must leave mbarriers
// alone. Exists only for kernels that have such instructions.
//
//===-----------------------------------------------------------------------------------===//
#ifndef VGPU_CHECKS_TILECHECK_H
#define VGPU_CHECKS_TILECHECK_H

#include "vgpu/Checks/HappensBefore.h"
#include "vgpu/Events/CheckSet.h"
#include "vgpu/Events/Finding.h"
#include <deque>

namespace vgpu {

class RaceCheck;

class TileCheck : public Observer {
public:
  /// `races` may be null; it forgets about memory that a copy has taken over.
  TileCheck(HappensBefore &order, RaceCheck *races, const CheckSet &checks)
      : order(order), races(races), checks(checks) {}
  void onBlockStart(Block &block) override;
  void onBlockEnd(Block &block) override;
  void onAccess(const MemoryAccess &access) override;
  void onBulkWrite(Warp &warp, const Inst &inst, unsigned lane, Block &home, uint64_t address,
                   uint32_t bytes, uint64_t mbarrier, uint32_t phase) override;
  void onTileRead(Warp &warp, const Inst &inst, uint32_t mask, llvm::ArrayRef<uint64_t> chunks,
                  TileGroups groups) override;
  void onTileCommit(Warp &warp, uint32_t mask, TileGroups groups) override;
  void onTileWait(Warp &warp, uint32_t mask, uint32_t pendingGroups, TileGroups groups,
                  bool isReadOnly) override;

  /// A cp.async of this lane has landed: an ordinary write, now.
  void landCopy(Warp &warp, const Inst &inst, unsigned lane, uint64_t address, uint32_t bytes);

private:
  static constexpr unsigned lineBytes = 16;

  /// Lanes of a warp that did something at a time.
  struct Deed {
    uint64_t block; ///< of the cluster
    uint32_t warp;
    uint32_t lanes;
    uint32_t clock;
    uint32_t pc;
  };
  /// An operation that reads, or has read.
  struct Reader {
    Deed deed;        ///< the clock is that of the wait
    uint32_t pending; ///< how many such operations have not been waited for
    TileGroups groups;
    uint64_t product = 0; ///< Wgmma: the number of the last one that reads
  };
  struct Line {
    llvm::SmallVector<Deed, 1> writes; ///< ordinary ones
    llvm::SmallVector<Reader, 1> readers;
    Deed landed = {}; ///< by an mbarrier; lanes == 0: nothing
    Deed issuer = {}; ///< lane that issued the copy which landed
  };
  struct Operation {
    uint32_t pc;
    std::vector<uint64_t> chunks;
  };
  /// The operations of one thread (bulk) or warp (wgmma).
  struct Queue {
    std::vector<Operation> open;
    std::deque<std::vector<Operation>> committed;
  };
  struct BlockState {
    std::vector<Line> lines;
    std::vector<Queue> bulk, wgmma;
    /// Products of a warp: how many it has issued, and how many were over after each of its waits.
    /// The warps of a warpgroup issue the same ones, so a number means the same in all four.
    struct Products {
      uint64_t issued = 0, over = 0;
      std::vector<std::pair<uint64_t, uint32_t>> waits; ///< how many are over, the clock
    };
    std::vector<Products> products; ///< by warp
  };

  uint32_t nowOf(const Warp &warp) const;
  static Stamp stampOf(const Deed &deed) { return {deed.block, deed.warp, deed.clock}; }
  static uint32_t threadOf(const Deed &deed) {
    return deed.warp * warpSize + static_cast<uint32_t>(__builtin_ctz(deed.lanes));
  }
  BlockState &stateOf(const Block &block) { return blocks.find(block.linearIndex)->second; }
  template <class Visit>
  void forEachQueue(Warp &warp, uint32_t mask, TileGroups groups, Visit visit);
  void visitLine(const MemoryAccess &access, unsigned lane, Line &line, uint64_t address);
  void checkLanded(const MemoryAccess &access, unsigned lane, const Line &line, uint64_t address);
  void checkReaders(const MemoryAccess &access, unsigned lane, const Line &line, uint64_t address);
  bool isOverForAnotherWarp(const MemoryAccess &access, unsigned lane, const Reader &reader);
  void checkFenced(const MemoryAccess &access, unsigned lane, const Line &line, uint64_t address);
  void checkMbarriers(const MemoryAccess &access, unsigned lane);
  static void addWrite(Line &line, const Deed &deed);
  void endRead(BlockState &state, Warp &warp, uint32_t lanes, const Operation &operation,
               TileGroups groups);
  void report(const MemoryAccess &access, unsigned lane, uint64_t address, FindingKind kind,
              const Deed &other, const std::string &what, bool isNote = false);

  HappensBefore &order;
  RaceCheck *races;
  CheckSet checks;
  std::unordered_map<uint64_t, BlockState> blocks;
};

} // namespace vgpu

#endif // VGPU_CHECKS_TILECHECK_H
