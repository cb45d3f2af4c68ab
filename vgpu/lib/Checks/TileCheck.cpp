//===- TileCheck.cpp - shared memory that asynchronous operations use -------------------------===//
#include "vgpu/Checks/TileCheck.h"
#include "vgpu/Checks/RaceCheck.h"
#include "vgpu/Machine/Mbarrier.h"
#include "vgpu/Machine/Report.h"
#include "llvm/Support/FormatVariadic.h"

namespace vgpu {

uint32_t TileCheck::nowOf(const Warp &warp) const { return order.viewOf(warp).now; }

void TileCheck::onBlockStart(Block &block) {
  BlockState &state = blocks[block.linearIndex];
  state.lines.resize((block.shared.size() + lineBytes - 1) / lineBytes);
  state.bulk.resize(block.warps.size() * warpSize);
  state.wgmma.resize(block.warps.size());
  state.products.resize(block.warps.size());
}

void TileCheck::onBlockEnd(Block &block) {
  BlockState &state = stateOf(block);
  for (uint32_t thread = 0; thread < state.bulk.size() && checks.has(Check::Async); ++thread) {
    Queue &queue = state.bulk[thread];
    queue.committed.push_back(std::move(queue.open));
    for (const std::vector<Operation> &group : queue.committed)
      for (const Operation &operation : group)
        vgpu::report(block.warps[thread / warpSize], block.launch->program->code[operation.pc],
                     thread % warpSize, FindingKind::AsyncNotWaited,
                     "the block ends while this copy may still read its shared memory; its "
                     "group was not waited for");
  }
  blocks.erase(block.linearIndex);
}

void TileCheck::report(const MemoryAccess &access, unsigned lane, uint64_t address,
                       FindingKind kind, const Deed &other, const std::string &what, bool isNote) {
  Warp &warp = access.warp;
  const Inst &otherInst = warp.launch->program->code[other.pc];
  if (warp.launch->findings->countRepeat(kind, access.inst.line, otherInst.line))
    return;
  Finding finding;
  finding.kind = kind;
  finding.isNote = isNote;
  finding.site = siteOf(warp, access.inst, lane);
  const Block *otherBlock = warp.block->cluster->find(other.block);
  if (otherBlock && other.warp < otherBlock->warps.size())
    finding.other = siteOf(otherBlock->warps[other.warp], otherInst,
                           static_cast<unsigned>(__builtin_ctz(other.lanes)));
  bool isRead = access.kind == AccessKind::Read || access.kind == AccessKind::AsyncRead;
  finding.message = llvm::formatv(
      "{0}: {1} by thread {2} (ptx:{3}), {4}", describeAddress(warp, access.space, address),
      isRead ? "read" : "written", finding.site.linearThread, access.inst.line, what);
  finding.memory =
      touchedAt(warp, access.space, address, access.bytes, isRead ? "read" : "written");
  warp.launch->findings->report(std::move(finding));
}

/// What a copy brought may be touched only after its mbarrier's phase.
void TileCheck::checkLanded(const MemoryAccess &access, unsigned lane, const Line &line,
                            uint64_t address) {
  if (line.landed.lanes == 0)
    return;
  Stamp stamp = stampOf(line.landed);
  if (order.unordered(stamp, line.landed.lanes, access.warp, lane) == 0)
    return;
  const Inst &copy = access.warp.launch->program->code[line.landed.pc];
  bool isRead = access.kind == AccessKind::Read || access.kind == AccessKind::AsyncRead;
  report(access, lane, address, isRead ? FindingKind::AsyncNotWaited : FindingKind::AsyncOverwrite,
         line.issuer,
         llvm::formatv("but nothing orders that after the mbarrier's phase {0}, with which the "
                       "copy that thread {1} issued (ptx:{2}) lands",
                       line.landed.clock - 1, threadOf(line.issuer), copy.line));
}

/// What is being read may not be written, and what was only by those who know it is over.
void TileCheck::checkReaders(const MemoryAccess &access, unsigned lane, const Line &line,
                             uint64_t address) {
  for (const Reader &reader : line.readers) {
    const Deed &deed = reader.deed;
    Stamp stamp = stampOf(deed);
    // A warp waits for its products as a whole: it is over for whoever knows so from one lane.
    bool isProduct = reader.groups == TileGroups::Wgmma;
    uint32_t rest =
        isProduct && deed.warp == access.warp.index && deed.block == access.warp.block->linearIndex
            ? 0
            : order.unordered(stamp, deed.lanes, access.warp, lane);
    bool isOver = reader.pending == 0 && (isProduct ? rest != deed.lanes || rest == 0 : rest == 0);
    if (isOver)
      continue;
    const Inst &other = access.warp.launch->program->code[deed.pc];
    uint32_t thread = threadOf(deed);
    if (isProduct && isOverForAnotherWarp(access, lane, reader)) {
      report(access, lane, address, FindingKind::WarpgroupRelease, deed,
             llvm::formatv("after the wait of one warp for '{0}' (ptx:{1}), but not after that of "
                           "warp {2}, which reads it too: one arrival for a whole warpgroup",
                           other.source->opcode, other.line, deed.warp),
             /*isNote=*/true);
      continue;
    }
    report(access, lane, address, FindingKind::AsyncOverwrite, deed,
           llvm::formatv("while '{0}' (ptx:{1}) of thread {2} may still read it: {3}",
                         other.source->opcode, other.line, thread,
                         reader.pending ? "its group has not been waited for"
                                        : "nothing orders the write after the wait for its group"));
  }
}

/// Whether the product that a warp reads for was waited for by another warp of its warpgroup, and
/// the access is ordered after that.
bool TileCheck::isOverForAnotherWarp(const MemoryAccess &access, unsigned lane,
                                     const Reader &reader) {
  BlockState &state = stateOf(homeOf(access)); // products read their own block's memory
  uint32_t first = reader.deed.warp / 4 * 4;
  for (uint32_t warp = first; warp < std::min<size_t>(first + 4, state.products.size()); ++warp) {
    const auto &waits = state.products[warp].waits;
    auto it = llvm::lower_bound(waits, std::pair(reader.product + 1, uint32_t(0)));
    if (warp == reader.deed.warp || it == waits.end())
      continue;
    Stamp stamp{reader.deed.block, warp, it->second};
    if (order.unordered(stamp, fullMask, access.warp, lane) != fullMask)
      return true;
  }
  return false;
}

void TileCheck::checkFenced(const MemoryAccess &access, unsigned lane, const Line &line,
                            uint64_t address) {
  for (const Deed &write : line.writes) {
    Stamp stamp = stampOf(write);
    uint32_t rest = order.unfenced(stamp, write.lanes, access.warp, lane, ProxySpace::Shared);
    if (rest == 0)
      continue;
    const Inst &store = access.warp.launch->program->code[write.pc];
    Deed unfenced = write;
    unfenced.lanes = rest;
    report(access, lane, address, FindingKind::ProxyFence, unfenced,
           llvm::formatv("in the asynchronous proxy; it was written by '{0}' (ptx:{1}), and no "
                         "fence.proxy.async stands in between",
                         store.source->opcode, store.line));
    return;
  }
}

/// Ordinary accesses must not touch an mbarrier that is valid.
void TileCheck::checkMbarriers(const MemoryAccess &access, unsigned lane) {
  const MbarrierTable &table = mbarriersOf(homeOf(access));
  if (table.empty())
    return;
  uint64_t begin = access.address[lane], end = begin + access.bytes;
  if (end <= table.begin()->first || begin >= table.rbegin()->first + 8)
    return;
  auto it = table.lower_bound(begin < 8 ? 0 : begin - 7);
  if (it == table.end() || it->first >= end)
    return;
  if (access.warp.launch->findings->countRepeat(FindingKind::InvalidAccess, access.inst.line, 0))
    return;
  vgpu::report(access.warp, access.inst, lane, FindingKind::InvalidAccess,
               llvm::formatv("'{0}' touches the mbarrier at {1}, which has not been invalidated",
                             access.inst.source->opcode,
                             describeAddress(access.warp, access.space, it->first)));
}

/// A lane's new write takes the place of its older ones.
void TileCheck::addWrite(Line &line, const Deed &deed) {
  for (size_t i = 0; i < line.writes.size();) {
    Deed &write = line.writes[i];
    bool isSameWarp = write.block == deed.block && write.warp == deed.warp;
    if (isSameWarp && write.clock == deed.clock && write.pc == deed.pc) {
      write.lanes |= deed.lanes;
      return;
    }
    if (isSameWarp)
      write.lanes &= ~deed.lanes;
    if (write.lanes == 0) {
      line.writes[i] = line.writes.back();
      line.writes.pop_back();
    } else {
      ++i;
    }
  }
  line.writes.push_back(deed);
}

void TileCheck::visitLine(const MemoryAccess &access, unsigned lane, Line &line, uint64_t address) {
  bool isWrite = access.kind != AccessKind::Read && access.kind != AccessKind::AsyncRead;
  if (checks.has(Check::Async)) {
    checkLanded(access, lane, line, address);
    if (isWrite)
      checkReaders(access, lane, line, address);
  }
  if (access.by == AccessBy::AsyncProxy) {
    if (checks.has(Check::ProxyFence))
      checkFenced(access, lane, line, address);
  } else if (isWrite) {
    addWrite(line, {access.warp.block->linearIndex, access.warp.index, 1u << lane,
                    nowOf(access.warp), access.inst.pc});
  }
}

void TileCheck::onAccess(const MemoryAccess &access) {
  if (access.space != ptx::Space::Shared || access.by == AccessBy::Mbarrier)
    return;
  BlockState &state = stateOf(homeOf(access));
  forEachLane(access.mask, [&](unsigned lane) {
    uint64_t begin = access.address[lane], end = begin + access.bytes;
    if (checks.has(Check::Async))
      checkMbarriers(access, lane);
    for (uint64_t index = begin / lineBytes; index * lineBytes < end; ++index)
      visitLine(access, lane, state.lines[index], std::max(begin, index * lineBytes));
  });
}

void TileCheck::landCopy(Warp &warp, const Inst &inst, unsigned lane, uint64_t address,
                         uint32_t bytes) {
  BlockState &state = stateOf(*warp.block);
  for (uint64_t index = address / lineBytes; index * lineBytes < address + bytes; ++index)
    addWrite(state.lines[index],
             {warp.block->linearIndex, warp.index, 1u << lane, nowOf(warp), inst.pc});
}

void TileCheck::onBulkWrite(Warp &warp, const Inst &inst, unsigned lane, Block &home,
                            uint64_t address, uint32_t bytes, uint64_t mbarrier, uint32_t phase) {
  BlockState &state = stateOf(home);
  auto [stamp, bit] = order.mbarrierStamp(home, mbarrier, phase);
  // cp.async is of the generic proxy: whoever reads in the other one needs a fence.
  bool isGeneric = inst.source->parts[1] == "async" && inst.source->parts[2] != "bulk";
  for (uint64_t index = address / lineBytes; index * lineBytes < address + bytes; ++index) {
    Line &line = state.lines[index];
    line.writes.clear();
    line.readers.clear();
    line.landed = {stamp.block, stamp.warp, bit, stamp.clock, inst.pc};
    line.issuer = {warp.block->linearIndex, warp.index, 1u << lane, stamp.clock, inst.pc};
    if (isGeneric)
      line.writes.push_back(line.landed);
  }
  if (races)
    races->forget(home, address, bytes);
}

/// The queues that the lanes of `mask` have, with the lanes that own each.
template <class Visit>
void TileCheck::forEachQueue(Warp &warp, uint32_t mask, TileGroups groups, Visit visit) {
  BlockState &state = stateOf(*warp.block);
  if (groups == TileGroups::Wgmma)
    return visit(state, state.wgmma[warp.index], mask);
  forEachLane(mask, [&](unsigned lane) {
    visit(state, state.bulk[warp.index * warpSize + lane], 1u << lane);
  });
}

void TileCheck::onTileRead(Warp &warp, const Inst &inst, uint32_t mask,
                           llvm::ArrayRef<uint64_t> chunks, TileGroups groups) {
  forEachQueue(warp, mask, groups, [&](BlockState &state, Queue &queue, uint32_t lanes) {
    queue.open.push_back({inst.pc, chunks.vec()});
    uint64_t product = groups == TileGroups::Wgmma ? state.products[warp.index].issued++ : 0;
    for (uint64_t chunk : chunks) {
      Line &line = state.lines[chunk / lineBytes];
      auto it = llvm::find_if(line.readers, [&](const Reader &reader) {
        return reader.deed.warp == warp.index && reader.deed.lanes == lanes &&
               reader.groups == groups;
      });
      if (it == line.readers.end())
        it = line.readers.insert(
            it, {{warp.block->linearIndex, warp.index, lanes, nowOf(warp), inst.pc}, 0, groups});
      ++it->pending;
      it->product = product;
    }
  });
}

void TileCheck::onTileCommit(Warp &warp, uint32_t mask, TileGroups groups) {
  forEachQueue(warp, mask, groups, [&](BlockState &, Queue &queue, uint32_t) {
    queue.committed.push_back(std::move(queue.open));
    queue.open.clear();
  });
}

/// An operation's group has been waited for: it has read until now.
void TileCheck::endRead(BlockState &state, Warp &warp, uint32_t lanes, const Operation &operation,
                        TileGroups groups) {
  for (uint64_t chunk : operation.chunks)
    for (Reader &reader : state.lines[chunk / lineBytes].readers)
      if (reader.deed.warp == warp.index && reader.deed.lanes == lanes && reader.groups == groups) {
        reader.pending -= reader.pending > 0;
        reader.deed.clock = nowOf(warp);
      }
}

void TileCheck::onTileWait(Warp &warp, uint32_t mask, uint32_t pendingGroups, TileGroups groups,
                           bool) {
  forEachQueue(warp, mask, groups, [&](BlockState &state, Queue &queue, uint32_t lanes) {
    BlockState::Products *products =
        groups == TileGroups::Wgmma ? &state.products[warp.index] : nullptr;
    while (queue.committed.size() > pendingGroups) {
      for (const Operation &operation : queue.committed.front())
        endRead(state, warp, lanes, operation, groups);
      if (products)
        products->over += queue.committed.front().size();
      queue.committed.pop_front();
    }
    if (products && (products->waits.empty() || products->waits.back().first != products->over))
      products->waits.emplace_back(products->over, nowOf(warp));
  });
}

} // namespace vgpu
