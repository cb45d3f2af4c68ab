//===- AsyncCheck.cpp - asynchronous copies looked at too early
//-------------------------------------------------------------------===//
#include "vgpu/Checks/AsyncCheck.h"
#include "vgpu/Checks/RaceCheck.h"
#include "vgpu/Exec/Launch.h"
#include "vgpu/Memory/LaneMemory.h"
#include "llvm/Support/FormatVariadic.h"

namespace vgpu {

void AsyncCheck::onBlockStart(Block &block) {
  BlockState &state = blocks[block.linearIndex];
  state.threads.resize(block.warps.size() * warpSize);
  state.words.resize((block.shared.size() + 3) / 4);
}
void AsyncCheck::onBlockEnd(Block &block) { blocks.erase(block.linearIndex); }

void AsyncCheck::reportTouch(const MemoryAccess &access, unsigned lane, const Owner &owner,
                             uint64_t address) {
  Warp &warp = access.warp;
  const Inst &copy = warp.launch->program->code[owner.pc];
  bool isRead = access.kind == AccessKind::Read || access.kind == AccessKind::Atomic;
  FindingKind kind = isRead ? FindingKind::AsyncNotWaited : FindingKind::AsyncOverwrite;
  if (warp.launch->findings->countRepeat(kind, access.inst.line, copy.line))
    return;
  Finding finding;
  finding.kind = kind;
  finding.site = siteOf(warp, access.inst, lane);
  finding.other = siteOf(warp.block->warps[owner.thread / warpSize], copy, owner.thread % warpSize);
  finding.message =
      llvm::formatv("{0}: {1} by thread {2} (ptx:{3}) while the copy that thread {4} issued "
                    "(ptx:{5}) has not been "
                    "waited for",
                    describeAddress(warp, access.space, address), isRead ? "read" : "written",
                    finding.site.linearThread, access.inst.line, owner.thread, copy.line);
  warp.launch->findings->report(std::move(finding));
}

void AsyncCheck::onAccess(const MemoryAccess &access) {
  if (access.space != ptx::Space::Shared)
    return;
  BlockState &state = blocks.find(access.warp.block->linearIndex)->second;
  bool isCopy = access.kind == AccessKind::AsyncWrite;
  if (state.pendingWords == 0 && !isCopy)
    return;
  forEachLane(access.mask, [&](unsigned lane) {
    uint64_t begin = access.address[lane], end = begin + access.bytes;
    uint32_t thread = access.warp.index * warpSize + lane;
    for (uint64_t word = begin / 4; word * 4 < end; ++word) {
      Owner &owner = state.words[word];
      if (owner.isPending) {
        if (reports)
          reportTouch(access, lane, owner, word * 4);
        if (!isCopy)
          break;
      }
      if (isCopy) {
        state.pendingWords += !owner.isPending;
        owner = {thread, access.inst.pc, true};
      }
    }
    if (isCopy)
      state.threads[thread].open.push_back({begin, access.bytes, access.inst.pc});
  });
}

void AsyncCheck::onAsyncCommit(Warp &warp, uint32_t mask) {
  BlockState &state = blocks.find(warp.block->linearIndex)->second;
  forEachLane(mask, [&](unsigned lane) {
    Thread &thread = state.threads[warp.index * warpSize + lane];
    thread.groups.push_back(std::move(thread.open));
    thread.open.clear();
  });
}

void AsyncCheck::land(Warp &warp, unsigned lane, BlockState &state,
                      const std::vector<Copy> &copies) {
  uint32_t thread = warp.index * warpSize + lane;
  for (const Copy &copy : copies) {
    for (uint64_t word = copy.address / 4; word * 4 < copy.address + copy.bytes; ++word) {
      Owner &owner = state.words[word];
      if (owner.isPending && owner.thread == thread) {
        owner.isPending = false;
        --state.pendingWords;
      }
    }
    if (races)
      races->landWrite(warp, warp.launch->program->code[copy.pc], lane, copy.address, copy.bytes);
  }
}

void AsyncCheck::onAsyncWait(Warp &warp, uint32_t mask, uint32_t pendingGroups, bool isAll) {
  BlockState &state = blocks.find(warp.block->linearIndex)->second;
  forEachLane(mask, [&](unsigned lane) {
    Thread &thread = state.threads[warp.index * warpSize + lane];
    while (thread.groups.size() > pendingGroups) {
      land(warp, lane, state, thread.groups.front());
      thread.groups.pop_front();
    }
    if (isAll) {
      land(warp, lane, state, thread.open);
      thread.open.clear();
    }
  });
}

} // namespace vgpu
