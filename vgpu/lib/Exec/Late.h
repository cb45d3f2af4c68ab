//===- Late.h - asynchronous effects between their issue and their wait ---------------------===//
//
// An asynchronous operation may take effect at any time between its issue and the wait for it. The
// virtual GPU knows the two extremes (LaunchConfig::asyncTime). Early: at the issue. Late: at the
// wait; until then the effect is kept here. Checks hear of an operation at its issue in both, and
// what it brings counts as defined from then on; so the findings are the same, and a program whose
// results differ relies on what PTX does not promise.
//
//   cp.async                    cp.async.wait_group, or the mbarrier that cp.async.mbarrier.arrive
//                               names
//   bulk copy to shared memory  a wait for its mbarrier, which gets the bytes then
//   bulk copy or reduction to   its reads: cp.async.bulk.wait_group.read; all of it: wait_group, or
//     global memory             the end of the block
//   wgmma                       wgmma.wait_group (Wgmma.h)
//
// A block in which nothing else can go on lets all of them happen: they would, in the end.
//
//===-----------------------------------------------------------------------------------===//
#ifndef VGPU_LIB_EXEC_LATE_H
#define VGPU_LIB_EXEC_LATE_H

#include "vgpu/Machine/Block.h"
#include "vgpu/Machine/BulkOperation.h"
#include "vgpu/Machine/Launch.h"
#include <deque>
#include <functional>
#include <map>

namespace vgpu {

inline bool isLate(const Warp &warp) { return warp.launch->config.asyncTime == AsyncTime::Late; }

/// A cp.async of one lane: `bytes` of `width` are copied, the rest is zero.
struct LaneCopy {
  uint8_t *to;
  const uint8_t *from;
  uint8_t bytes, width;
  bool isDone = false;

  void run();
};

/// The bytes that a bulk copy moves, in pieces.
struct BulkMove {
  struct Piece {
    uint8_t *to;
    const uint8_t *from;
    uint32_t bytes;
  };
  std::vector<Piece> pieces;
  BulkReduction reduction = BulkReduction::None;
  ptx::Type type = ptx::Type::None; ///< of a reduction
  uint16_t byteMask = 0xffff;       ///< bit i: byte i of each 16

  /// Reads all sources; then writes what was read.
  void read();
  void write();
  void run() {
    read();
    write();
  }

private:
  std::vector<uint8_t> staged;
  bool isRead = false;
};

/// What one thread has issued: operations of the open group, and of those that were committed.
template <class Operation> struct PendingGroups {
  std::vector<Operation> open;
  std::deque<std::vector<Operation>> committed;

  void commit() {
    committed.push_back(std::move(open));
    open.clear();
  }
};

/// The effects of a block that have not happened.
struct LateEffects {
  /// By the mbarrier that awaits them: copies, and the arrivals that follow copies.
  std::map<uint64_t, std::deque<std::function<void()>>> landings;
  std::vector<PendingGroups<std::shared_ptr<LaneCopy>>> copies; ///< by thread
  std::vector<PendingGroups<BulkMove>> stores;                  ///< by thread
};
LateEffects &lateEffectsOf(Block &block);

/// Counts asynchronous operations of a warp's lanes, and groups that they close. A warp that never
/// waits for any would take all of the host's memory: one with more than any kernel can mean ends the
/// launch.
void countUnwaited(Warp &w, const Inst &in, uint32_t mask);
/// The warp has waited until at most so many groups of its lanes are not over.
void hasWaited(Warp &w, uint64_t pendingGroups = 0);

/// Lets what the mbarrier at an address awaits happen, in the order of issue, until `isEnough`.
void landAt(Block &block, uint64_t mbarrier, const std::function<bool()> &isEnough);
/// Lets everything happen. True if there was something.
bool landEverything(Block &block);

} // namespace vgpu

#endif // VGPU_LIB_EXEC_LATE_H
