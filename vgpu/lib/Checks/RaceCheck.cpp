//===- RaceCheck.cpp - data races on shared and global memory
//---------------------------------------------------------------===//
#include "vgpu/Checks/RaceCheck.h"
#include "vgpu/Exec/Launch.h"
#include "vgpu/Memory/LaneMemory.h"
#include "llvm/Support/FormatVariadic.h"

namespace vgpu {

void RaceCheck::Line::split(uint8_t bytes) {
  if (bytes >= cellBytes)
    return;
  unsigned oldCount = 16 / cellBytes, newCount = 16 / bytes, each = newCount / oldCount;
  auto cells = std::make_unique<Cell[]>(newCount);
  for (unsigned i = 0; i < newCount; ++i)
    cells[i] = parts ? parts[i / each] : whole;
  parts = std::move(cells);
  cellBytes = bytes;
}

void RaceCheck::onBlockStart(Block &block) {
  if (checksShared)
    shared[block.linearIndex].resize((block.shared.size() + 15) / 16);
}
void RaceCheck::onBlockEnd(Block &block) { shared.erase(block.linearIndex); }

RaceCheck::Line &RaceCheck::lineAt(const Warp &warp, ptx::Space space, uint64_t index) {
  if (space == ptx::Space::Shared)
    return shared.find(warp.block->linearIndex)->second[index];
  uint64_t page = index / pageLines;
  if (page != cachedPage) {
    std::unique_ptr<Line[]> &lines = global[page];
    if (!lines)
      lines = std::make_unique<Line[]>(pageLines);
    cachedPage = page;
    cachedLines = lines.get();
  }
  return cachedLines[index % pageLines];
}

/// Whether the current access and a previous group race; `lane` is then one of the group's.
bool RaceCheck::conflicts(const Current &current, const Group &previous, uint32_t &lane) const {
  Warp &warp = current.access.warp;
  if (current.isStrong && previous.isStrong) {
    bool isSameBlock = previous.block == warp.block->linearIndex;
    bool includesEachOther = isSameBlock || (previous.scope >= MemoryScope::Gpu &&
                                             current.access.scope >= MemoryScope::Gpu);
    if (includesEachOther)
      return false;
  }
  Stamp stamp{previous.block, previous.warp, 0, previous.clock};
  uint32_t rest = order.unordered(stamp, previous.lanes, warp, current.lane);
  if (rest == 0)
    return false;
  lane = static_cast<uint32_t>(__builtin_ctz(rest));
  return true;
}

/// Adds the current access to a set and drops the members it is ordered behind.
void RaceCheck::add(llvm::SmallVectorImpl<Group> &groups, const Current &current) {
  const Warp &warp = current.access.warp;
  uint32_t bit = 1u << current.lane;
  bool isAdded = false;
  for (size_t i = 0; i < groups.size();) {
    Group &group = groups[i];
    bool isSame = group.block == warp.block->linearIndex && group.warp == warp.index &&
                  group.clock == current.clock && group.isStrong == current.isStrong;
    if (isSame) {
      group.lanes |= bit;
      group.pc = current.access.inst.pc;
      isAdded = true;
      ++i;
      continue;
    }
    Stamp stamp{group.block, group.warp, 0, group.clock};
    group.lanes = order.unordered(stamp, group.lanes, warp, current.lane);
    if (group.lanes == 0) {
      groups[i] = groups.back();
      groups.pop_back();
    } else {
      ++i;
    }
  }
  if (!isAdded)
    groups.push_back({warp.block->linearIndex, warp.index, bit, current.clock,
                      current.access.inst.pc, current.isStrong, current.access.scope});
}

/// Whether a store writes the bits that are there, or that another lane of the same instruction
/// writes.
bool RaceCheck::isSameValue(const Current &current, const Cell &cell, uint64_t address,
                            unsigned bytes) const {
  const MemoryAccess &access = current.access;
  if (access.kind != AccessKind::Write || !access.values)
    return false;
  uint64_t offset = address - access.address[current.lane];
  const uint8_t *mine = access.values + size_t(current.lane) * access.bytes + offset;
  if (cell.serial != serial)
    return std::memcmp(mine, access.host[current.lane] + offset, bytes) == 0;
  // The other store is of this very instruction and has not reached memory yet.
  unsigned other = static_cast<unsigned>(__builtin_ctz(cell.write.lanes));
  uint64_t otherOffset = address - access.address[other];
  return std::memcmp(mine, access.values + size_t(other) * access.bytes + otherOffset, bytes) == 0;
}

void RaceCheck::report(const Current &current, const Group &previous, uint32_t otherLane,
                       uint64_t address, unsigned bytes, const char *previousVerb,
                       bool isSameValue) {
  Warp &warp = current.access.warp;
  const Inst &inst = current.access.inst;
  const Inst &other = warp.launch->program->code[previous.pc];
  FindingKind kind = isSameValue ? FindingKind::SameValue : FindingKind::Race;
  if (warp.launch->findings->countRepeat(kind, inst.line, other.line))
    return;
  Finding finding;
  finding.kind = kind;
  finding.isNote = isSameValue;
  finding.site = siteOf(warp, inst, current.lane);
  finding.other.isKnown = true;
  finding.other.ptxLine = other.line;
  finding.other.source = sourceOf(*warp.launch->program, other);
  const Dim3 &grid = warp.launch->config.grid;
  finding.other.block = {static_cast<uint32_t>(previous.block % grid.x),
                         static_cast<uint32_t>(previous.block / grid.x % grid.y),
                         static_cast<uint32_t>(previous.block / grid.x / grid.y)};
  finding.other.linearThread = previous.warp * warpSize + otherLane;
  finding.other.thread = warp.block->threadCoords(finding.other.linearThread);
  const char *verb = current.access.kind == AccessKind::Atomic ? "updated atomically"
                     : current.isWrite                         ? "written"
                                                               : "read";
  finding.message = llvm::formatv("{0}, {1} bytes: {2} by thread {3} (ptx:{4}), {5} by thread {6} "
                                  "(ptx:{7}), nothing orders them",
                                  describeAddress(warp, current.access.space, address), bytes, verb,
                                  finding.site.linearThread, inst.line, previousVerb,
                                  finding.other.linearThread, other.line);
  if (isSameValue)
    finding.message += "; both store the same bits";
  warp.launch->findings->report(std::move(finding));
}

void RaceCheck::visitCell(const Current &current, Cell &cell, uint64_t address, unsigned bytes) {
  uint32_t lane = 0;
  // Against the last plain write.
  if (cell.write.lanes && conflicts(current, cell.write, lane)) {
    bool isSame = current.isWrite && isSameValue(current, cell, address, bytes);
    report(current, cell.write, lane, address, bytes, "written", isSame);
  }
  for (const Group &group : cell.strongWrites)
    if (conflicts(current, group, lane)) {
      report(current, group, lane, address, bytes, "updated atomically", false);
      break;
    }
  if (!current.isWrite) {
    add(cell.reads, current);
    return;
  }
  for (const Group &group : cell.reads)
    if (conflicts(current, group, lane)) {
      report(current, group, lane, address, bytes, "read", false);
      break;
    }
  if (current.isStrong) {
    add(cell.strongWrites, current);
    return;
  }
  const Warp &warp = current.access.warp;
  cell.write = {warp.block->linearIndex, warp.index, 1u << current.lane, current.clock,
                current.access.inst.pc,  false,      MemoryScope::Cta};
  cell.serial = serial;
  // Everything ordered before this write is covered by it; what raced has been reported.
  cell.reads.clear();
  cell.strongWrites.clear();
}

void RaceCheck::visit(const Current &current, Line &line, uint64_t lineAddress, uint64_t begin,
                      uint64_t end) {
  // The largest power of two by which both ends are aligned.
  unsigned needed = 16;
  while ((begin - lineAddress) % needed != 0 || (end - lineAddress) % needed != 0)
    needed /= 2;
  line.split(static_cast<uint8_t>(needed));
  if (line.cellBytes == 16)
    return visitCell(current, line.whole, lineAddress, 16);
  for (uint64_t at = begin; at < end; at += line.cellBytes)
    visitCell(current, line.parts[(at - lineAddress) / line.cellBytes], at, line.cellBytes);
}

void RaceCheck::onAccess(const MemoryAccess &access) {
  bool isShared = access.space == ptx::Space::Shared, isGlobal = access.space == ptx::Space::Global;
  if (!(isShared && checksShared) && !(isGlobal && checksGlobal))
    return;
  ++serial;
  bool isWrite = access.kind != AccessKind::Read && access.kind != AccessKind::AsyncRead;
  bool isStrong = access.kind == AccessKind::Atomic || access.order != MemoryOrder::Weak;
  uint32_t clock = order.now(access.warp);
  forEachLane(access.mask, [&](unsigned lane) {
    uint32_t own = isWrite && isStrong ? order.strongClock(access.warp, lane) : clock;
    Current current{access, lane, own, isWrite, isStrong};
    uint64_t begin = access.address[lane], end = begin + access.bytes;
    for (uint64_t index = begin / 16; index * 16 < end; ++index) {
      uint64_t first = std::max(begin, index * 16), last = std::min(end, index * 16 + 16);
      visit(current, lineAt(access.warp, access.space, index), index * 16, first, last);
    }
  });
}

void RaceCheck::landWrite(Warp &warp, const Inst &inst, unsigned lane, uint64_t address,
                          unsigned bytes) {
  if (!checksShared)
    return;
  ++serial;
  Group group{warp.block->linearIndex, warp.index, 1u << lane, order.now(warp), inst.pc, false,
              MemoryScope::Cta};
  for (uint64_t index = address / 16; index * 16 < address + bytes; ++index) {
    Line &line = lineAt(warp, ptx::Space::Shared, index);
    auto land = [&](Cell &cell) {
      cell.write = group;
      cell.serial = serial;
    };
    if (line.cellBytes == 16 && bytes >= 16) {
      land(line.whole);
      continue;
    }
    line.split(4);
    uint64_t first = std::max(address, index * 16),
             last = std::min(address + bytes, index * 16 + 16);
    for (uint64_t at = first; at < last; at += line.cellBytes)
      land(line.parts[at % 16 / line.cellBytes]);
  }
}

} // namespace vgpu
