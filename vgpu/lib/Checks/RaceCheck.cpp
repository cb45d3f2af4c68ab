//===- RaceCheck.cpp - data races on shared and global memory ---------------------------------===//
#include "vgpu/Checks/RaceCheck.h"
#include "vgpu/Machine/Report.h"
#include "llvm/Support/FormatVariadic.h"
#include <bit>

namespace vgpu {

void RaceCheck::onBlockStart(Block &block) {
  if (!checksShared || block.shared.empty())
    return;
  std::unique_ptr<SharedState> &state = shared[block.linearIndex];
  if (idle.empty()) {
    state = std::make_unique<SharedState>(block.shared.size());
    return;
  }
  state = std::move(idle.back());
  idle.pop_back();
}

void RaceCheck::onBlockEnd(Block &block) {
  auto it = shared.find(block.linearIndex);
  if (it == shared.end())
    return;
  it->second->shadow.clear();
  it->second->journal.reset();
  idle.push_back(std::move(it->second));
  shared.erase(it);
}

/// Calls visit(cell, address, bytes) for the cells of [begin, end), both multiples of 2^shift.
template <class Visit>
inline void RaceCheck::forEachCell(RaceShadow &shadow, uint64_t begin, uint64_t end, unsigned shift,
                                   Visit visit) {
  while (begin < end) {
    RaceShadow::Page &page = shadow.pageAt(begin, shift);
    uint64_t stop = std::min(end, (begin | (RaceShadow::pageBytes - 1)) + 1);
    unsigned bytes = 1u << page.shift;
    ShadowCell *cell = &page.cells[(begin % RaceShadow::pageBytes) >> page.shift];
    for (; begin < stop; begin += bytes, ++cell)
      visit(*cell, begin, bytes);
  }
}

/// log2 of the largest cells that these accesses cover in whole.
static unsigned cellShift(const uint64_t *address, uint32_t mask, unsigned bytes) {
  uint64_t bits = bytes | uint64_t(1) << RaceShadow::largestShift;
  forEachLane(mask, [&](unsigned lane) { bits |= address[lane]; });
  return static_cast<unsigned>(std::countr_zero(bits));
}

/// The first lane of `mask` and the neighbours with its address.
static uint32_t lanesAtSameAddress(const uint64_t *address, uint32_t mask) {
  uint64_t first = address[__builtin_ctz(mask)];
  uint32_t lanes = 0;
  for (; mask && address[__builtin_ctz(mask)] == first; mask &= mask - 1)
    lanes |= mask & -mask;
  return lanes;
}

/// The lanes of `previous` with which an access of `lane` races.
uint32_t RaceCheck::conflictingLanes(const Current &current, const AccessGroup &previous,
                                     unsigned lane) const {
  if (current.group.isStrong && previous.isStrong) {
    const LaunchState &launch = *current.access.warp.launch;
    MemoryScope needed = previous.block == current.group.block ? MemoryScope::Cta
                         : launch.areInOneCluster(previous.block, current.group.block)
                             ? MemoryScope::Cluster
                             : MemoryScope::Gpu;
    if (previous.scope >= needed && current.access.scope >= needed)
      return 0;
  }
  if (previous.block != current.group.block && !current.view.knowsOtherBlocks)
    return previous.lanes;
  if (previous.isWholeWarp && previous.block == current.group.block &&
      previous.warp == current.group.warp)
    return 0; // perhaps this very lane
  Stamp stamp{previous.block, previous.warp, previous.clock};
  return order.unordered(stamp, previous.lanes, current.access.warp, lane);
}

/// Whether a store writes the bits that are there, or that another lane of the same instruction
/// writes.
bool RaceCheck::isSameValue(const Current &current, const ShadowCell &cell, unsigned lane,
                            uint64_t address, unsigned bytes) const {
  const MemoryAccess &access = current.access;
  if (access.kind != AccessKind::Write || !access.values)
    return false;
  uint64_t offset = address - access.address[lane];
  const uint8_t *mine = access.values + size_t(lane) * access.bytes + offset;
  if (cell.serial != serial)
    return std::memcmp(mine, access.host[lane] + offset, bytes) == 0;
  // The other store is of this very instruction and has not reached memory yet.
  unsigned other = static_cast<unsigned>(__builtin_ctz(cell.write.lanes));
  uint64_t otherOffset = address - access.address[other];
  return std::memcmp(mine, access.values + size_t(other) * access.bytes + otherOffset, bytes) == 0;
}

bool RaceCheck::report(const Current &current, unsigned lane, uint64_t address, unsigned bytes,
                       const Conflict &conflict) {
  const AccessGroup &previous = conflict.previous;
  uint32_t others = previous.lanes ? conflictingLanes(current, previous, lane) : 0;
  if (others == 0)
    return false;
  hasMet |= previous.block != current.group.block;
  bool isSameValue = conflict.isSameValue;
  Warp &warp = current.access.warp;
  const Inst &inst = current.access.inst;
  const Inst &other = warp.launch->program->code[previous.pc];
  FindingKind kind = isSameValue ? FindingKind::SameValue : FindingKind::Race;
  if (warp.launch->findings->countRepeat(kind, inst.line, other.line))
    return true;
  Finding finding;
  finding.kind = kind;
  finding.isNote = isSameValue;
  finding.site = siteOf(warp, inst, lane);
  finding.other.isKnown = true;
  finding.other.ptxLine = other.line;
  finding.other.source = sourceOf(*warp.launch->program, other);
  finding.other.block = warp.launch->blockCoords(previous.block);
  finding.other.linearThread =
      previous.warp * warpSize + static_cast<uint32_t>(__builtin_ctz(others));
  finding.other.thread = warp.block->threadCoords(finding.other.linearThread);
  const char *verb = current.access.kind == AccessKind::Atomic ? "updated atomically"
                     : current.isWrite                         ? "written"
                                                               : "read";
  finding.message = llvm::formatv("{0}, {1} bytes: {2} by thread {3} (ptx:{4}), {5} by thread {6} "
                                  "(ptx:{7}), nothing orders them",
                                  describeAddress(warp, current.access.space, address), bytes, verb,
                                  finding.site.linearThread, inst.line, conflict.verb,
                                  finding.other.linearThread, other.line);
  finding.memory = touchedAt(warp, current.access.space, address, bytes, verb);
  finding.memory.otherAccess = conflict.verb;
  if (isSameValue)
    finding.message += "; both store the same bits";
  warp.launch->findings->report(std::move(finding));
  return true;
}

/// Reads of the asynchronous proxy last until they are waited for: TileCheck keeps those.
inline void RaceCheck::keepRead(const Current &current, ShadowCell &cell, const Accessor &by) {
  if (current.access.by != AccessBy::AsyncProxy)
    current.shadow.addRead(cell, by);
}

/// Whatever cannot be settled for the warp: one lane against the whole history of a cell.
void RaceCheck::visitLane(const Current &current, ShadowCell &cell, unsigned lane, uint64_t address,
                          unsigned bytes) {
  RaceShadow &shadow = current.shadow;
  Accessor by{current.group, current.view.warps.data()};
  by.group.lanes = 1u << lane;
  bool isSame =
      current.isWrite && cell.write.lanes && isSameValue(current, cell, lane, address, bytes);
  report(current, lane, address, bytes, {cell.write, "written", isSame});
  if (Crowd *crowd = shadow.crowdOf(cell))
    for (const AccessGroup &group : crowd->strongWrites)
      if (report(current, lane, address, bytes, {group, "updated atomically", false}))
        break;
  if (!current.isWrite)
    return keepRead(current, cell, by);
  if (cell.read.lanes)
    shadow.gatherCrowd(cell); // all reads, one by one
  if (Crowd *crowd = shadow.crowdOf(cell))
    for (const AccessGroup &group : crowd->reads)
      if (report(current, lane, address, bytes, {group, "read", false}))
        break;
  if (current.group.isStrong)
    return shadow.addStrongWrite(cell, by);
  // Everything ordered before this write is covered by it; what raced has been reported.
  cell.write = by.group;
  cell.serial = serial;
  shadow.disperse(cell);
}

/// `lanes` access a whole cell together; a write is of one lane.
inline __attribute__((always_inline)) void RaceCheck::visit(const Current &current,
                                                            ShadowCell &cell, uint32_t lanes,
                                                            uint64_t address, unsigned bytes) {
  RaceShadow &shadow = current.shadow;
  Accessor by{current.group, current.view.warps.data()};
  by.group.lanes = lanes;
  if (shadow.isWriteBefore(cell, by)) {
    if (!current.isWrite) {
      Crowd *crowd = shadow.crowdOf(cell);
      if (!crowd || crowd->strongWrites.empty())
        return keepRead(current, cell, by);
    } else if (current.group.isStrong) {
      if (shadow.isAmongStrong(cell, by))
        return shadow.addStrongWrite(cell, by);
    } else if (shadow.isRestBefore(cell, by)) {
      cell.write = by.group;
      cell.serial = serial;
      return shadow.disperse(cell);
    }
  }
  forEachLane(lanes, [&](unsigned lane) { visitLane(current, cell, lane, address, bytes); });
}

/// Plain accesses to global memory, of lanes side by side to bytes side by side: the first of
/// `lanes`, as many as fit into the page. Returns those that are done with, 0 if they need cells.
uint32_t RaceCheck::visitRun(const Current &current, uint32_t lanes) {
  constexpr unsigned fewest = 4; // fewer are not worth the search
  const MemoryAccess &access = current.access;
  unsigned first = static_cast<unsigned>(__builtin_ctz(lanes));
  uint64_t begin = access.address[first], bytes = access.bytes;
  RaceShadow::Page &page = current.shadow.pageAt(begin);
  uint64_t room = (RaceShadow::pageBytes - begin % RaceShadow::pageBytes) / bytes;
  unsigned most = static_cast<unsigned>(std::min<uint64_t>(
      room, static_cast<unsigned>(std::countr_one(lanes >> first)))); // neighbours in the mask
  if (page.cells || most < fewest || begin % bytes != 0)
    return 0;
  unsigned count = 1;
  while (count < most && access.address[first + count] == begin + count * bytes)
    ++count;
  if (count < fewest)
    return 0;
  ShadowRun wanted;
  wanted.begin = static_cast<uint16_t>(begin % RaceShadow::pageBytes);
  wanted.shift = static_cast<uint8_t>(std::countr_zero(bytes));
  wanted.firstLane = static_cast<uint8_t>(first);
  wanted.count = static_cast<uint8_t>(count);
  ShadowRun *run = RaceShadow::findRun(page, wanted);
  Accessor by{current.group, current.view.warps.data()};
  by.group.lanes = wanted.lanes();
  if (!run || !current.shadow.isWriteBefore(run->cell, by))
    return 0;
  if (!current.isWrite) {
    if (!current.shadow.hasRoomForRead(run->cell, by))
      return 0;
    current.shadow.addRead(run->cell, by);
    return by.group.lanes;
  }
  if (!current.shadow.isRestBefore(run->cell, by))
    return 0;
  run->cell.write = by.group;
  run->cell.serial = serial;
  run->cell.clearReads();
  return by.group.lanes;
}

/// All lanes of an access, run by run or cell by cell.
void RaceCheck::visitCells(const MemoryAccess &access, bool isWrite, bool isStrong) {
  ++serial;
  const Block &block = *access.warp.block;
  HappensBefore::View view = order.viewOf(access.warp);
  AccessGroup group{static_cast<uint32_t>(block.linearIndex),
                    view.now,
                    0,
                    access.inst.pc,
                    static_cast<uint8_t>(access.warp.index),
                    isStrong,
                    access.scope,
                    false};
  bool isShared = access.space == ptx::Space::Shared;
  Current current{access, view, isShared ? stateOf(homeOf(access)).shadow : global, group, isWrite};
  unsigned shift = cellShift(access.address, access.mask, access.bytes);
  bool mayUseRuns = !isShared && !isStrong && access.by == AccessBy::Lane &&
                    access.bytes <= 1u << RaceShadow::largestShift &&
                    std::has_single_bit(access.bytes);
  for (uint32_t rest = access.mask; rest;) {
    if (uint32_t done = mayUseRuns ? visitRun(current, rest) : 0) {
      rest &= ~done;
      continue;
    }
    unsigned lane = static_cast<unsigned>(__builtin_ctz(rest));
    uint64_t begin = access.address[lane];
    uint32_t lanes = isWrite ? 1u << lane : lanesAtSameAddress(access.address, rest);
    rest &= ~lanes;
    if (isWrite && isStrong)
      current.group.clock = order.strongClock(access.warp, lane);
    forEachCell(current.shadow, begin, begin + access.bytes, shift,
                [&](ShadowCell &cell, uint64_t address, unsigned bytes) {
                  visit(current, cell, lanes, address, bytes);
                });
  }
}

void RaceCheck::onAccess(const MemoryAccess &access) {
  bool isWrite = access.kind != AccessKind::Read && access.kind != AccessKind::AsyncRead;
  bool isStrong = access.kind == AccessKind::Atomic || access.order != MemoryOrder::Weak;
  if (access.space == ptx::Space::Global && checksGlobal)
    return visitCells(access, isWrite, isStrong);
  if (access.space != ptx::Space::Shared || !checksShared)
    return;
  Block &home = homeOf(access);
  SharedState &state = stateOf(home);
  if (access.by == AccessBy::AsyncProxy || home.cluster->blocks.size() > 1) {
    settle(home, state);
    return visitCells(access, isWrite, isStrong);
  }
  HappensBefore::View view = order.viewOf(access.warp);
  AccessJournal::Pages pages = AccessJournal::pagesOf(access.address, access.mask, access.bytes);
  bool isQuiet = state.journal.isOrdered(pages, view.warps, isWrite) && !isStrong &&
                 (!isWrite || areDisjoint(access.address, access.mask, access.bytes));
  state.journal.touch(pages, access.warp.index, view.now, isWrite);
  if (isQuiet) {
    JournalEntry &entry = state.journal.add();
    entry.clock = view.now;
    entry.pc = access.inst.pc;
    entry.mask = access.mask;
    entry.bytes = access.bytes;
    entry.warp = static_cast<uint8_t>(access.warp.index);
    entry.kind = isWrite ? JournalEntry::Kind::Write : JournalEntry::Kind::Read;
    for (unsigned lane = 0; lane < warpSize; ++lane)
      entry.address[lane] = static_cast<uint32_t>(access.address[lane]);
    if (state.journal.isFull())
      settle(*access.warp.block, state);
    return;
  }
  settle(*access.warp.block, state);
  visitCells(access, isWrite, isStrong);
}

/// Brings the cells up to date with the journal.
void RaceCheck::settle(const Block &block, SharedState &state) {
  for (const JournalEntry &entry : state.journal.entries())
    settle(block, state, entry);
  state.journal.clear();
}

/// No conflict is possible: the journal only has accesses that were ordered after what they found.
void RaceCheck::settle(const Block &block, SharedState &state, const JournalEntry &entry) {
  uint64_t address[warpSize];
  std::copy(entry.address, entry.address + warpSize, address);
  Accessor by{{static_cast<uint32_t>(block.linearIndex), entry.clock, 0, entry.pc, entry.warp,
               false, MemoryScope::Cta, false},
              order.viewOf(block.warps[entry.warp]).warps.data()};
  unsigned shift = cellShift(address, entry.mask, entry.bytes);
  bool isRead = entry.kind == JournalEntry::Kind::Read;
  for (uint32_t rest = entry.mask; rest;) {
    uint64_t begin = address[__builtin_ctz(rest)];
    by.group.lanes = isRead ? lanesAtSameAddress(address, rest) : rest & -rest;
    rest &= ~by.group.lanes;
    forEachCell(state.shadow, begin, begin + entry.bytes, shift,
                [&](ShadowCell &cell, uint64_t, unsigned) {
                  if (isRead)
                    return state.shadow.addRead(cell, by);
                  cell.write = by.group;
                  cell.serial = 0;
                  if (entry.kind == JournalEntry::Kind::Write)
                    state.shadow.disperse(cell);
                });
  }
}

void RaceCheck::landWrites(Warp &warp, const Inst &inst, uint32_t mask, const uint32_t *address,
                           unsigned bytes) {
  if (!checksShared)
    return;
  SharedState &state = stateOf(*warp.block);
  uint32_t now = order.viewOf(warp).now;
  JournalEntry &entry = state.journal.add();
  entry.clock = now;
  entry.pc = inst.pc;
  entry.mask = mask;
  entry.bytes = bytes;
  entry.warp = static_cast<uint8_t>(warp.index);
  entry.kind = JournalEntry::Kind::Landing;
  std::copy(address, address + warpSize, entry.address);
  uint64_t wide[warpSize];
  std::copy(address, address + warpSize, wide);
  state.journal.touch(AccessJournal::pagesOf(wide, mask, bytes), warp.index, now, true);
  if (state.journal.isFull())
    settle(*warp.block, state);
}

void RaceCheck::forget(Block &home, uint64_t address, unsigned bytes) {
  if (!checksShared)
    return;
  SharedState &state = stateOf(home);
  settle(home, state);
  forEachCell(state.shadow, address, address + bytes, cellShift(&address, 1, bytes),
              [&](ShadowCell &cell, uint64_t, unsigned) {
                cell.write = {};
                state.shadow.disperse(cell);
              });
}

void RaceCheck::onBarrier(Block &block, llvm::ArrayRef<BarrierArrival> arrivals) {
  auto it = shared.find(block.linearIndex);
  if (it == shared.end())
    return;
  SharedState &state = *it->second;
  unsigned live = 0, waiting = 0;
  uint32_t arrived = 0;
  for (const Warp &warp : block.warps)
    live += static_cast<unsigned>(__builtin_popcount(warp.liveMask()));
  for (const BarrierArrival &arrival : arrivals) {
    waiting += arrival.waits ? static_cast<unsigned>(__builtin_popcount(arrival.mask)) : 0;
    arrived |= 1u << arrival.warp;
  }
  if (waiting < live)
    return settle(block, state);
  // What those did who arrive is ordered before whatever comes now; nothing else needs an entry.
  for (const JournalEntry &entry : state.journal.entries())
    if (!(arrived >> entry.warp & 1))
      settle(block, state, entry);
  state.journal.clear();
}

void RaceCheck::settleBefore(Warp &warp) {
  auto it = shared.find(warp.block->linearIndex);
  if (it != shared.end())
    settle(*warp.block, *it->second);
}

} // namespace vgpu
