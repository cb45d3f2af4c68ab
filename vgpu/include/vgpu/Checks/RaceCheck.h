//===- RaceCheck.h - data races on shared and global memory -----------------------------------===//
//
// Two accesses race when they touch a common byte, at least one writes, they are not both strong
// (atomic, volatile, relaxed, ...) at scopes that include each other, and neither happens before
// the other. What a cell of memory remembers is in RaceShadow.h; what is ordered before an access
// need not be remembered, since order is transitive. Most accesses to shared memory never get as
// far as a cell (AccessJournal.h), but those of clusters, whose blocks meet there, always do.
//
//===-----------------------------------------------------------------------------------===//
#ifndef VGPU_CHECKS_RACECHECK_H
#define VGPU_CHECKS_RACECHECK_H

#include "vgpu/Checks/AccessJournal.h"
#include "vgpu/Checks/HappensBefore.h"
#include "vgpu/Checks/RaceShadow.h"

namespace vgpu {

class RaceCheck : public Observer {
public:
  RaceCheck(const HappensBefore &order, const Program &program, bool isShared, bool isGlobal)
      : order(order), checksShared(isShared), checksGlobal(isGlobal),
        global(program.canBlocksMeet()) {}

  void onBlockStart(Block &block) override;
  void onBlockEnd(Block &block) override;
  void onAccess(const MemoryAccess &access) override;
  void onBarrier(Block &block, llvm::ArrayRef<BarrierArrival> arrivals) override;
  // Who knows what changes: the journal is of before.
  void onWarpSync(Warp &warp, uint32_t) override { settleBefore(warp); }
  void onFence(Warp &warp, const Inst &, uint32_t, MemoryOrder, MemoryScope) override {
    settleBefore(warp);
  }
  void onMbarrierArrive(Warp &warp, uint32_t, Block &, uint64_t, uint32_t) override {
    settleBefore(warp);
  }
  void onMbarrierWait(Warp &warp, uint32_t, Block &, uint64_t, uint32_t) override {
    settleBefore(warp);
  }

  /// Asynchronous writes to shared memory have landed: from now on they count as writes of their
  /// lanes.
  void landWrites(Warp &warp, const Inst &inst, uint32_t mask, const uint32_t *address,
                  unsigned bytes);

  /// A bulk copy has taken over a piece of shared memory: what was done to it before is settled.
  void forget(Block &home, uint64_t address, unsigned bytes);

  /// Whether blocks have been seen to touch the same bytes, at least one writing them: among those
  /// that this check watched, or between them and those of another.
  bool haveBlocksMet() const { return hasMet; }
  bool haveBlocksMet(RaceCheck &other) { return global.overlaps(other.global); }

private:
  /// The shared memory of a block.
  struct SharedState {
    explicit SharedState(uint64_t bytes) : journal(bytes) {}
    RaceShadow shadow;
    AccessJournal journal;
  };
  /// The access at hand, with what all its lanes have in common looked up once.
  struct Current {
    const MemoryAccess &access;
    HappensBefore::View view;
    RaceShadow &shadow;
    AccessGroup group; ///< its lanes are to be filled in
    bool isWrite;
  };
  /// A part of a cell's history that an access may race with.
  struct Conflict {
    const AccessGroup &previous;
    const char *verb;
    bool isSameValue;
  };

  SharedState &stateOf(const Block &block) { return *shared.find(block.linearIndex)->second; }
  void settle(const Block &block, SharedState &state);
  void settle(const Block &block, SharedState &state, const JournalEntry &entry);
  void settleBefore(Warp &warp);
  template <class Visit>
  void forEachCell(RaceShadow &shadow, uint64_t begin, uint64_t end, unsigned shift, Visit visit);
  void visitCells(const MemoryAccess &access, bool isWrite, bool isStrong);
  uint32_t visitRun(const Current &current, uint32_t lanes);
  void visit(const Current &current, ShadowCell &cell, uint32_t lanes, uint64_t address,
             unsigned bytes);
  static void keepRead(const Current &current, ShadowCell &cell, const Accessor &by);
  void visitLane(const Current &current, ShadowCell &cell, unsigned lane, uint64_t address,
                 unsigned bytes);
  uint32_t conflictingLanes(const Current &current, const AccessGroup &previous,
                            unsigned lane) const;
  bool isSameValue(const Current &current, const ShadowCell &cell, unsigned lane, uint64_t address,
                   unsigned bytes) const;
  /// Reports `conflict` if it is one; true if it was.
  bool report(const Current &current, unsigned lane, uint64_t address, unsigned bytes,
              const Conflict &conflict);

  const HappensBefore &order;
  bool checksShared, checksGlobal;
  std::unordered_map<uint64_t, std::unique_ptr<SharedState>> shared; ///< by block
  std::vector<std::unique_ptr<SharedState>> idle;                    ///< of blocks that have ended
  RaceShadow global;
  uint32_t serial = 0; ///< of the access at hand
  bool hasMet = false;
};

} // namespace vgpu

#endif // VGPU_CHECKS_RACECHECK_H
