//===- GlobalAsyncCheck.cpp - global memory that bulk copies use ------------------------------===//
#include "vgpu/Checks/GlobalAsyncCheck.h"
#include "vgpu/Machine/Report.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/FormatVariadic.h"

namespace vgpu {

static bool isWrite(const MemoryAccess &access) {
  return access.kind != AccessKind::Read && access.kind != AccessKind::AsyncRead;
}

void GlobalAsyncCheck::report(const MemoryAccess &access, unsigned lane, uint64_t address,
                              FindingKind kind, const Deed &other, const std::string &what) {
  Warp &warp = access.warp;
  const Inst &otherInst = warp.launch->program->code[other.pc];
  if (warp.launch->findings->countRepeat(kind, access.inst.line, otherInst.line))
    return;
  Finding finding;
  finding.kind = kind;
  finding.site = siteOf(warp, access.inst, lane);
  if (other.block == warp.block->linearIndex) {
    finding.other = siteOf(warp.block->warps[other.warp], otherInst, other.lane);
  } else {
    finding.other.isKnown = true;
    finding.other.ptxLine = otherInst.line;
    finding.other.source = sourceOf(*warp.launch->program, otherInst);
    finding.other.block = warp.launch->blockCoords(other.block);
    finding.other.linearThread = other.warp * warpSize + other.lane;
    finding.other.thread = warp.block->threadCoords(finding.other.linearThread);
  }
  finding.message = llvm::formatv(
      "{0}: {1} by thread {2} (ptx:{3}), {4}", describeAddress(warp, access.space, address),
      isWrite(access) ? "written" : "read", finding.site.linearThread, access.inst.line, what);
  finding.memory =
      touchedAt(warp, access.space, address, access.bytes, isWrite(access) ? "written" : "read");
  warp.launch->findings->report(std::move(finding));
}

/// What a copy wrote may be touched only after the wait for its group. Whether this is not so.
bool GlobalAsyncCheck::checkCopied(const MemoryAccess &access, unsigned lane, const Deed &copy,
                                   uint64_t address) {
  if (copy.isReduction && access.kind == AccessKind::Atomic)
    return false;
  auto it = groups.find({copy.block, copy.warp * warpSize + copy.lane});
  bool isOver = it != groups.end() && copy.group < it->second.endClocks.size();
  if (isOver && copy.block != access.warp.block->linearIndex)
    return false; // the race check's business
  if (isOver) {
    Stamp end{copy.block, copy.warp, it->second.endClocks[copy.group]};
    if (order.unordered(end, 1u << copy.lane, access.warp, lane) == 0)
      return false;
  }
  const Inst &inst = access.warp.launch->program->code[copy.pc];
  report(access, lane, address,
         isWrite(access) ? FindingKind::AsyncOverwrite : FindingKind::AsyncNotWaited, copy,
         llvm::formatv("where '{0}' (ptx:{1}) of thread {2} may still write: {3}",
                       inst.source->opcode, inst.line, copy.warp * warpSize + copy.lane,
                       isOver ? "nothing orders that after the wait for its group"
                              : "its group has not been waited for (.read waits only until shared "
                                "memory has been read)"));
  return true;
}

/// What the asynchronous proxy touches was fenced after ordinary stores. Whether this is not so.
bool GlobalAsyncCheck::checkFenced(const MemoryAccess &access, unsigned lane, const Deed &store,
                                   uint64_t address) {
  Stamp stamp{store.block, store.warp, store.clock};
  bool isRemote = store.block != access.warp.block->linearIndex;
  if (isRemote && order.unordered(stamp, 1u << store.lane, access.warp, lane))
    return false; // the race check's business
  if (order.unfenced(stamp, 1u << store.lane, access.warp, lane, ProxySpace::Global) == 0)
    return false;
  const Inst &inst = access.warp.launch->program->code[store.pc];
  report(access, lane, address, FindingKind::ProxyFence, store,
         llvm::formatv("in the asynchronous proxy; it was written by '{0}' (ptx:{1}), and no "
                       "fence.proxy.async stands in between",
                       inst.source->opcode, inst.line));
  return true;
}

void GlobalAsyncCheck::visitLine(const MemoryAccess &access, unsigned lane, Line &line,
                                 uint64_t start, uint16_t bytes) {
  // One report for the bytes of a line, at the first that a deed shares with the access.
  auto firstCommon = [&](const Deed &deed) {
    return start + llvm::countr_zero(uint16_t(deed.bytes & bytes));
  };
  const Warp &warp = access.warp;
  if (checks.has(Check::Async))
    for (const Deed &copy : line.copies)
      if ((copy.bytes & bytes) && checkCopied(access, lane, copy, firstCommon(copy)))
        break;
  bool isCopy = access.by == AccessBy::AsyncProxy;
  if (isCopy && checks.has(Check::ProxyFence))
    for (const Deed &store : line.stores)
      if ((store.bytes & bytes) && checkFenced(access, lane, store, firstCommon(store)))
        break;
  if (!isWrite(access))
    return;
  auto &deeds = isCopy ? line.copies : line.stores;
  for (Deed &older : deeds)
    older.bytes &= ~bytes;
  llvm::erase_if(deeds, [](const Deed &older) { return older.bytes == 0; });
  Deed deed;
  deed.block = warp.block->linearIndex;
  deed.clock = order.viewOf(warp).now;
  deed.pc = access.inst.pc;
  deed.group = isCopy ? groupsOf(*warp.block, warp.index * warpSize + lane).committed : 0;
  deed.warp = static_cast<uint16_t>(warp.index);
  deed.bytes = bytes;
  deed.lane = static_cast<uint8_t>(lane);
  deed.isReduction = isCopy && access.kind == AccessKind::Atomic;
  deeds.push_back(deed);
}

void GlobalAsyncCheck::onAccess(const MemoryAccess &access) {
  if (access.space != ptx::Space::Global)
    return;
  bool isKept = isWrite(access);
  forEachLane(access.mask, [&](unsigned lane) {
    uint64_t begin = access.address[lane], end = begin + access.bytes;
    for (uint64_t index = begin / lineBytes; index * lineBytes < end; ++index) {
      uint64_t start = index * lineBytes;
      unsigned first = std::max(begin, start) - start;
      unsigned last = std::min(end, start + lineBytes) - start;
      uint16_t bytes = ((1u << last) - 1) & ~((1u << first) - 1);
      if (auto it = lines.find(index); it != lines.end())
        visitLine(access, lane, it->second, start, bytes);
      else if (isKept)
        visitLine(access, lane, lines[index], start, bytes);
    }
  });
}

void GlobalAsyncCheck::onTileCommit(Warp &warp, uint32_t mask, TileGroups kind) {
  if (kind == TileGroups::Bulk)
    forEachLane(mask, [&](unsigned lane) {
      ++groupsOf(*warp.block, warp.index * warpSize + lane).committed;
    });
}

void GlobalAsyncCheck::onTileWait(Warp &warp, uint32_t mask, uint32_t pendingGroups,
                                  TileGroups kind, bool isReadOnly) {
  if (kind != TileGroups::Bulk || isReadOnly)
    return;
  uint32_t now = order.viewOf(warp).now;
  forEachLane(mask, [&](unsigned lane) {
    Groups &own = groupsOf(*warp.block, warp.index * warpSize + lane);
    uint32_t over = own.committed > pendingGroups ? own.committed - pendingGroups : 0;
    if (over > own.endClocks.size())
      own.endClocks.resize(over, now);
  });
}

} // namespace vgpu
