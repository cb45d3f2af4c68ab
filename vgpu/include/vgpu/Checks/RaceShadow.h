//===- RaceShadow.h - who touched which bytes -----------------------------------------------===//
//
// The shadow of one memory (the shared memory of a block, or all of global memory), for RaceCheck.
// It has pages of 512 bytes, which come into being when they are touched. A page is an array of
// *cells*, of 16 bytes or as narrow as its first access; an access that is narrower splits the
// page's cells, so that an access always covers whole cells.
//
// Global memory is mostly touched by lanes side by side, time and again in the same way. A page
// that knows nothing else has *runs* in place of cells: one cell stands for the bytes of several
// lanes, each lane having its own part. The first access that does not fit turns runs into cells.
//
// A cell keeps the last plain write, and the reads and strong writes since then that are not
// ordered before a later one of their kind. Nearly always the reads are of warps of one block at
// the same clock (a tile that all warps read between two barriers); those are kept in the cell: two
// of the warps with their lanes, the others as bits. Or they are of several blocks that cannot wait
// for each other; then two of the blocks are enough, since whoever races with the read of a third
// races with that of one of the two. Everything else is a *crowd*, which lies beside the pages.
//
//===-----------------------------------------------------------------------------------===//
#ifndef VGPU_CHECKS_RACESHADOW_H
#define VGPU_CHECKS_RACESHADOW_H

#include "vgpu/Memory/Ordering.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include <array>
#include <deque>
#include <memory>
#include <vector>

namespace vgpu {

/// Lanes of one warp that accessed a cell at the same clock.
struct AccessGroup {
  uint32_t block;
  uint32_t clock;
  uint32_t lanes; ///< 0: no lane
  uint32_t pc;
  uint8_t warp;
  bool isStrong;
  MemoryScope scope;
  bool isWholeWarp; ///< which lanes is not known
};

/// All zeros: no access yet. As large as a line of the host's cache.
struct ShadowCell {
  AccessGroup write; ///< the last plain write, of one lane
  uint32_t serial;   ///< of the instruction that made `write`
  uint32_t crowd;    ///< 1 + index of the cell's crowd; 0: none
  // The reads, unless there is a crowd.
  AccessGroup read;    ///< the first
  uint32_t otherWarps; ///< of the same block at the same clock; or the other block
  uint32_t lastLanes;  ///< of the latest of them
  uint32_t lastPc;
  uint8_t lastWarp;
  bool isLastOfOtherBlock; ///< there is one other reader, of block `otherWarps`

  void clearReads() {
    read.lanes = otherWarps = lastLanes = 0;
    isLastOfOtherBlock = false;
  }
};
static_assert(sizeof(ShadowCell) == 64);

/// What lanes side by side did to bytes side by side: lane `firstLane + i` touched 2^shift bytes at
/// `begin` + i * 2^shift. Wherever `cell` names lanes, each part of the run means its own.
struct ShadowRun {
  ShadowCell cell = {};
  uint16_t begin = 0; ///< in the page
  uint8_t shift = 0;
  uint8_t firstLane = 0;
  uint8_t count = 0;

  unsigned end() const { return begin + (unsigned(count) << shift); }
  uint32_t lanes() const {
    return static_cast<uint32_t>(((uint64_t(1) << count) - 1) << firstLane);
  }
};

struct Crowd {
  llvm::SmallVector<AccessGroup, 2> reads;
  llvm::SmallVector<AccessGroup, 1> strongWrites;
};

/// An access, and what is ordered before it as far as all lanes of its warp know.
struct Accessor {
  AccessGroup group;
  const uint32_t *known; ///< by warp of the block: accesses up to this clock are ordered before

  /// One of the two sides is a single lane, unless both read.
  bool isBehind(const AccessGroup &previous) const {
    if (previous.block != group.block)
      return false;
    return known[previous.warp] >= previous.clock ||
           (previous.warp == group.warp && previous.lanes == group.lanes); // program order
  }
  bool isSameTime(const AccessGroup &other) const {
    return other.lanes != 0 && other.block == group.block && other.clock == group.clock &&
           other.isStrong == group.isStrong;
  }
};

class RaceShadow {
public:
  /// `canBlocksMeet` as in Program.h; matters for global memory.
  explicit RaceShadow(bool canBlocksMeet = true) : canBlocksMeet(canBlocksMeet) {}

  static constexpr uint64_t pageBytes = 512;
  static constexpr unsigned largestShift = 4; ///< cells of 16 bytes

  struct Page {
    std::unique_ptr<ShadowCell[]> cells; ///< null: there are only runs
    llvm::SmallVector<ShadowRun, 4> runs;
    unsigned shift = largestShift; ///< log2 of the bytes of a cell
    unsigned cellCount() const { return static_cast<unsigned>(pageBytes >> shift); }
  };

  /// The page of an address, perhaps without cells.
  Page &pageAt(uint64_t address) {
    uint64_t number = address / pageBytes;
    Recent &recent = recents[number % recents.size()];
    if (recent.number != number)
      recent = {number, &findPage(number)};
    return *recent.page;
  }
  /// The same with cells of at most 2^shift bytes.
  Page &pageAt(uint64_t address, unsigned shift) {
    Page &page = pageAt(address);
    if (!page.cells)
      makeCells(page, shift);
    if (page.shift > shift)
      split(page, shift);
    return page;
  }

  /// The run of a page without cells that has just these bytes and lanes; a new one if no run
  /// touches them; null if the page needs cells.
  static ShadowRun *findRun(Page &page, const ShadowRun &wanted);

  /// The crowd of a cell, or null.
  Crowd *crowdOf(const ShadowCell &cell) { return cell.crowd ? &crowds[cell.crowd - 1] : nullptr; }
  /// Gives the cell a crowd, to which its reads move.
  Crowd &gatherCrowd(ShadowCell &cell);
  /// Forgets reads and strong writes.
  void disperse(ShadowCell &cell) {
    cell.clearReads();
    if (cell.crowd)
      freeCrowd(cell);
  }

  /// Adds a read or a strong write, and drops what is ordered before it.
  void addRead(ShadowCell &cell, const Accessor &by);
  void addStrongWrite(ShadowCell &cell, const Accessor &by) {
    addToCrowd(gatherCrowd(cell).strongWrites, by);
  }
  /// Whether the plain write of a cell, and its reads and strong writes, are ordered before.
  bool isWriteBefore(const ShadowCell &cell, const Accessor &by) const {
    return cell.write.lanes == 0 || by.isBehind(cell.write);
  }
  bool isRestBefore(const ShadowCell &cell, const Accessor &by);
  /// Whether there is room in the cell for a read, without a crowd.
  bool hasRoomForRead(const ShadowCell &cell, const Accessor &by) const {
    return !cell.crowd && (cell.isLastOfOtherBlock || by.isSameTime(cell.read) ||
                           areReadsBefore(cell, by) || mayStandBeside(cell.read, by));
  }
  /// Whether a strong write can only meet strong writes of its own block; they do not race.
  bool isAmongStrong(const ShadowCell &cell, const Accessor &by);

  /// Whether a byte was touched here and there, and written in one of them.
  bool overlaps(RaceShadow &other);

  /// Forgets everything; keeps the memory for the next block.
  void clear();

private:
  struct Recent {
    uint64_t number = ~uint64_t(0);
    Page *page = nullptr;
  };
  /// Of a larger crowd the oldest are forgotten: each of them races with an unordered write, and
  /// one finding is enough.
  static constexpr size_t crowdLimit = 16;

  enum class Use : uint8_t { None, Read, Written };
  Use useOf(const ShadowCell &cell) const;
  static bool hasWrites(const Page &page);
  Page &findPage(uint64_t number);
  void makeCells(Page &page, unsigned shift);
  /// Reads of two blocks that cannot wait for each other.
  bool mayStandBeside(const AccessGroup &read, const Accessor &by) const {
    return !canBlocksMeet && read.block != by.group.block;
  }
  void addToCrowd(llvm::SmallVectorImpl<AccessGroup> &groups, const Accessor &by);
  static bool areReadsBefore(const ShadowCell &cell, const Accessor &by);
  void split(Page &page, unsigned shift);
  uint32_t newCrowd();
  void freeCrowd(ShadowCell &cell);

  llvm::DenseMap<uint64_t, std::unique_ptr<Page>> pages;
  std::array<Recent, 256> recents; ///< by the low bits of the page's number
  std::deque<Crowd> crowds;
  std::vector<uint32_t> freeCrowds; ///< as `ShadowCell::crowd` names them
  bool canBlocksMeet;
};

inline bool RaceShadow::areReadsBefore(const ShadowCell &cell, const Accessor &by) {
  if (cell.read.lanes == 0)
    return true;
  if (!by.isBehind(cell.read) || cell.isLastOfOtherBlock)
    return false;
  for (uint32_t warps = cell.otherWarps; warps; warps &= warps - 1)
    if (by.known[__builtin_ctz(warps)] < cell.read.clock)
      return false;
  return true;
}

inline __attribute__((always_inline)) void RaceShadow::addRead(ShadowCell &cell,
                                                               const Accessor &by) {
  if (cell.crowd)
    return addToCrowd(crowdOf(cell)->reads, by);
  AccessGroup &read = cell.read;
  if (cell.isLastOfOtherBlock)
    return;
  if (by.isSameTime(read) && read.warp == by.group.warp) {
    read.lanes |= by.group.lanes;
    read.pc = by.group.pc;
  } else if (by.isSameTime(read)) {
    bool isLast = cell.lastWarp == by.group.warp;
    cell.lastLanes = isLast ? cell.lastLanes | by.group.lanes : by.group.lanes;
    cell.lastWarp = by.group.warp;
    cell.lastPc = by.group.pc;
    cell.otherWarps |= 1u << by.group.warp;
  } else if (areReadsBefore(cell, by)) {
    cell.clearReads();
    read = by.group;
  } else if (mayStandBeside(read, by)) {
    cell.isLastOfOtherBlock = true;
    cell.otherWarps = by.group.block;
    cell.lastLanes = by.group.lanes;
    cell.lastWarp = by.group.warp;
    cell.lastPc = by.group.pc;
  } else {
    addToCrowd(gatherCrowd(cell).reads, by);
  }
}

} // namespace vgpu

#endif // VGPU_CHECKS_RACESHADOW_H
