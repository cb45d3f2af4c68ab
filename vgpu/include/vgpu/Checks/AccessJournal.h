//===- AccessJournal.h - accesses to shared memory that need no look at its cells ------------===//
//
// Between two barriers the warps of a block mostly read what was written before the first, or write
// what no warp reads before the second. For each page of 512 bytes the journal knows when each warp
// last read and last wrote in it. An access that is ordered after all of that can race with
// nothing, so it is only written down; a barrier for all threads strikes everything out. Only when
// an access finds something in its page that is not ordered before it are the entries brought to
// the cells of RaceShadow, and it is looked at there.
//
//===-----------------------------------------------------------------------------------===//
#ifndef VGPU_CHECKS_ACCESSJOURNAL_H
#define VGPU_CHECKS_ACCESSJOURNAL_H

#include "vgpu/Machine/Warp.h"
#include "llvm/ADT/ArrayRef.h"

namespace vgpu {

/// One warp instruction.
struct JournalEntry {
  enum class Kind : uint8_t {
    Read,
    Write,
    Landing, ///< an asynchronous copy has arrived
  };
  uint32_t clock;
  uint32_t pc;
  uint32_t mask;
  uint32_t bytes; ///< of each lane
  uint8_t warp;
  Kind kind;
  uint32_t address[warpSize];
};

class AccessJournal {
public:
  explicit AccessJournal(uint64_t sharedBytes)
      : pages((sharedBytes + pageBytes - 1) / pageBytes),
        list(std::make_unique_for_overwrite<JournalEntry[]>(limit)) {}

  /// Pages by number, in words of 64.
  using Pages = std::array<uint64_t, 8>;
  static Pages pagesOf(const uint64_t *address, uint32_t mask, unsigned bytes);

  /// Whether everything that an access to these pages could race with happened, warp by warp, at a
  /// clock that is known to it.
  bool isOrdered(const Pages &pages, llvm::ArrayRef<uint32_t> known, bool isWrite) const;
  /// Notes that a warp accesses these pages now.
  void touch(const Pages &pages, uint32_t warp, uint32_t clock, bool isWrite);

  /// A new entry, to be filled in.
  JournalEntry &add() { return list[count++]; }
  llvm::ArrayRef<JournalEntry> entries() const { return {list.get(), count}; }
  bool isFull() const { return count == limit; }
  /// Forgets the entries; the clocks of the pages stay.
  void clear() { count = 0; }
  /// For the next block.
  void reset();

private:
  static constexpr uint64_t pageBytes = 512;
  static constexpr size_t limit = 4096;
  /// By warp; 0: never.
  struct Page {
    std::array<uint32_t, 32> reads = {}, writes = {};
  };
  std::vector<Page> pages;
  std::unique_ptr<JournalEntry[]> list; ///< `limit` of them
  size_t count = 0;
};

/// Whether no two lanes touch a common byte; false if that is not easily seen.
bool areDisjoint(const uint64_t *address, uint32_t mask, unsigned bytes);

} // namespace vgpu

#endif // VGPU_CHECKS_ACCESSJOURNAL_H
