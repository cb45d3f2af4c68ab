//===- RaceCheck.h - data races on shared and global memory
//------------------------------------------------------------===//
//
// Two accesses race when they touch a common byte, at least one writes, they are not both strong
// (atomic, volatile, relaxed, ...) at scopes that include each other, and neither happens before
// the other. Memory has a shadow of lines of 16 bytes; a line is one cell while it is accessed in
// whole, and is split into smaller cells on demand.
//
// A cell keeps the last plain write, and the reads and the strong writes that no later access of
// their kind is ordered behind; what an access is ordered behind need not be kept, since order is
// transitive.
//
//===-----------------------------------------------------------------------------------===//
#ifndef VGPU_CHECKS_RACECHECK_H
#define VGPU_CHECKS_RACECHECK_H

#include "vgpu/Checks/HappensBefore.h"
#include "llvm/ADT/DenseMap.h"

namespace vgpu {

class RaceCheck : public Observer {
public:
  RaceCheck(const HappensBefore &order, bool isShared, bool isGlobal)
      : order(order), checksShared(isShared), checksGlobal(isGlobal) {}

  void onBlockStart(Block &block) override;
  void onBlockEnd(Block &block) override;
  void onAccess(const MemoryAccess &access) override;

  /// An asynchronous write to shared memory has landed: from now on it counts as a write of this
  /// lane.
  void landWrite(Warp &warp, const Inst &inst, unsigned lane, uint64_t address, unsigned bytes);

private:
  /// Lanes of one warp that accessed a cell at the same clock.
  struct Group {
    uint64_t block;
    uint32_t warp;
    uint32_t lanes;
    uint32_t clock;
    uint32_t pc;
    bool isStrong;
    MemoryScope scope;
  };
  struct Cell {
    llvm::SmallVector<Group, 1> reads;
    llvm::SmallVector<Group, 0> strongWrites;
    Group write = {};    ///< lanes == 0: none
    uint64_t serial = 0; ///< of the instruction that made `write`
  };
  struct Line {
    uint8_t cellBytes = 16;
    Cell whole;
    std::unique_ptr<Cell[]> parts; ///< 16 / cellBytes of them, if cellBytes < 16
    void split(uint8_t bytes);
  };
  using SharedLines = std::vector<Line>;
  static constexpr uint64_t pageLines = 64;

  struct Current {
    const MemoryAccess &access;
    unsigned lane;
    uint32_t clock;
    bool isWrite, isStrong;
  };
  Line &lineAt(const Warp &warp, ptx::Space space, uint64_t index);
  void visit(const Current &current, Line &line, uint64_t lineAddress, uint64_t begin,
             uint64_t end);
  void visitCell(const Current &current, Cell &cell, uint64_t address, unsigned bytes);
  void add(llvm::SmallVectorImpl<Group> &groups, const Current &current);
  bool conflicts(const Current &current, const Group &previous, uint32_t &lane) const;
  bool isSameValue(const Current &current, const Cell &cell, uint64_t address,
                   unsigned bytes) const;
  void report(const Current &current, const Group &previous, uint32_t otherLane, uint64_t address,
              unsigned bytes, const char *previousVerb, bool isSameValue);

  const HappensBefore &order;
  bool checksShared, checksGlobal;
  std::unordered_map<uint64_t, SharedLines> shared;         ///< by block
  llvm::DenseMap<uint64_t, std::unique_ptr<Line[]>> global; ///< pages of `pageLines`
  uint64_t cachedPage = ~uint64_t(0);
  Line *cachedLines = nullptr;
  uint64_t serial = 0;
};

} // namespace vgpu

#endif // VGPU_CHECKS_RACECHECK_H
