//===- GlobalAsyncCheck.h - global memory that bulk copies use --------------------------------===//
//
// The other end of what TileCheck watches. For each byte of global memory it remembers, and reports
// when it does not fit,
//
//   - what a bulk copy writes: no thread may touch it before the group was waited for, and others
//     must be ordered after that wait. `.read` waits for the copy's reading of shared memory only,
//     so it does not count (async_not_waited, async_overwrite). Reductions may meet each other;
//   - who wrote it with ordinary stores: before a copy reads or writes it, a fence.proxy.async
//     must stand in between (proxy_fence), of anybody on the way from the one block to the other.
//
// Exists only for kernels with bulk copies.
//
//===-----------------------------------------------------------------------------------===//
#ifndef VGPU_CHECKS_GLOBALASYNCCHECK_H
#define VGPU_CHECKS_GLOBALASYNCCHECK_H

#include "vgpu/Checks/HappensBefore.h"
#include "vgpu/Events/CheckSet.h"
#include "vgpu/Events/Finding.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

namespace vgpu {

class GlobalAsyncCheck : public Observer {
public:
  GlobalAsyncCheck(const HappensBefore &order, const CheckSet &checks)
      : order(order), checks(checks) {}
  void onAccess(const MemoryAccess &access) override;
  void onTileCommit(Warp &warp, uint32_t mask, TileGroups groups) override;
  void onTileWait(Warp &warp, uint32_t mask, uint32_t pendingGroups, TileGroups groups,
                  bool isReadOnly) override;

private:
  static constexpr unsigned lineBytes = 16;

  /// A write of one lane.
  struct Deed {
    uint64_t block = 0;
    uint32_t clock = 0;
    uint32_t pc = 0;
    uint32_t group = 0; ///< of the lane's bulk groups
    uint16_t warp = 0;
    uint16_t bytes = 0; ///< of the line, which no thread has written since in this way
    uint8_t lane = 0;
    bool isReduction = false;
  };
  /// Boxes may begin anywhere, so that blocks may share 16 bytes and each write some of them.
  struct Line {
    llvm::SmallVector<Deed, 1> stores; ///< the last ordinary ones
    llvm::SmallVector<Deed, 1> copies; ///< the last of the asynchronous proxy
  };
  /// The groups of one thread: how many were committed, and when each was over.
  struct Groups {
    uint32_t committed = 0;
    std::vector<uint32_t> endClocks;
  };

  Groups &groupsOf(const Block &block, uint32_t thread) {
    return groups[{block.linearIndex, thread}];
  }
  void visitLine(const MemoryAccess &access, unsigned lane, Line &line, uint64_t start,
                 uint16_t bytes);
  bool checkCopied(const MemoryAccess &access, unsigned lane, const Deed &copy, uint64_t address);
  bool checkFenced(const MemoryAccess &access, unsigned lane, const Deed &store, uint64_t address);
  void report(const MemoryAccess &access, unsigned lane, uint64_t address, FindingKind kind,
              const Deed &other, const std::string &what);

  const HappensBefore &order;
  CheckSet checks;
  llvm::DenseMap<uint64_t, Line> lines; ///< by address / lineBytes
  std::map<std::pair<uint64_t, uint32_t>, Groups> groups;
};

} // namespace vgpu

#endif // VGPU_CHECKS_GLOBALASYNCCHECK_H
