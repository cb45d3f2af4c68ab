//===- AsyncCheck.cpp - asynchronous copies looked at too early -------------------------------===//
#include "vgpu/Checks/AsyncCheck.h"
#include "vgpu/Checks/RaceCheck.h"
#include "vgpu/Checks/TileCheck.h"
#include "vgpu/Machine/Report.h"
#include "llvm/Support/FormatVariadic.h"

namespace vgpu {

void AsyncCheck::onBlockStart(Block &block) {
  std::unique_ptr<BlockState> &state = blocks[block.linearIndex];
  if (idle.empty()) {
    state = std::make_unique<BlockState>();
    state->warps.resize(block.warps.size());
    state->words.resize((block.shared.size() + 3) / 4);
    state->pendingInLine.resize((block.shared.size() + 15) / 16);
    return;
  }
  state = std::move(idle.back());
  idle.pop_back();
}

void AsyncCheck::onBlockEnd(Block &block) {
  auto it = blocks.find(block.linearIndex);
  BlockState &state = *it->second;
  for (WarpState &warp : state.warps) {
    warp.pending.clear();
    warp.committed.fill(0);
  }
  if (state.pendingWords) { // copies without a wait
    std::fill(state.words.begin(), state.words.end(), Owner{});
    std::fill(state.pendingInLine.begin(), state.pendingInLine.end(), 0);
    state.pendingWords = 0;
  }
  idle.push_back(std::move(it->second));
  blocks.erase(it);
}

AsyncCheck::Owner AsyncCheck::ownerOf(uint32_t thread, uint32_t pc) {
  return {pc, static_cast<uint16_t>(thread), true};
}

void AsyncCheck::reportTouch(const MemoryAccess &access, unsigned lane, const Owner &owner,
                             uint64_t address) {
  Warp &warp = access.warp;
  const Inst &copy = warp.launch->program->code[owner.pc];
  bool isRead = access.kind != AccessKind::Write && access.kind != AccessKind::AsyncWrite;
  FindingKind kind = isRead ? FindingKind::AsyncNotWaited : FindingKind::AsyncOverwrite;
  if (warp.launch->findings->countRepeat(kind, access.inst.line, copy.line))
    return;
  Finding finding;
  finding.kind = kind;
  finding.site = siteOf(warp, access.inst, lane);
  finding.other =
      siteOf(homeOf(access).warps[owner.thread / warpSize], copy, owner.thread % warpSize);
  finding.message =
      llvm::formatv("{0}: {1} by thread {2} (ptx:{3}) while the copy that thread {4} issued "
                    "(ptx:{5}) has not been "
                    "waited for",
                    describeAddress(warp, access.space, address), isRead ? "read" : "written",
                    finding.site.linearThread, access.inst.line, owner.thread, copy.line);
  finding.memory =
      touchedAt(warp, access.space, address, access.bytes, isRead ? "read" : "written");
  warp.launch->findings->report(std::move(finding));
}

void AsyncCheck::onAccess(const MemoryAccess &access) {
  if (access.space != ptx::Space::Shared)
    return;
  BlockState &state = stateOf(homeOf(access));
  bool isCopy = access.kind == AccessKind::AsyncWrite && access.by == AccessBy::Lane;
  if (state.pendingWords == 0 && !isCopy)
    return;
  forEachLane(access.mask, [&](unsigned lane) {
    uint64_t begin = access.address[lane], end = begin + access.bytes;
    if (!isCopy && !state.isPending(begin, end))
      return;
    uint32_t thread = access.warp.index * warpSize + lane;
    if (isCopy && access.bytes == 16 && !state.pendingInLine[begin / 16]) {
      std::fill_n(&state.words[begin / 4], 4, ownerOf(thread, access.inst.pc));
      state.pendingInLine[begin / 16] = 4;
      state.pendingWords += 4;
      return;
    }
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
        state.pendingInLine[word / 4] += !owner.isPending;
        owner = ownerOf(thread, access.inst.pc);
      }
    }
  });
  if (isCopy)
    issue(access, state);
}

/// Remembers copies; lanes whose open groups have different numbers are kept apart.
void AsyncCheck::issue(const MemoryAccess &access, BlockState &state) {
  WarpState &warp = state.warps[access.warp.index];
  for (uint32_t rest = access.mask; rest;) {
    Copies copies;
    copies.group = warp.committed[__builtin_ctz(rest)];
    copies.mask = 0;
    copies.bytes = access.bytes;
    copies.pc = access.inst.pc;
    forEachLane(rest, [&](unsigned lane) {
      copies.mask |= uint32_t(warp.committed[lane] == copies.group) << lane;
    });
    for (unsigned lane = 0; lane < warpSize; ++lane)
      copies.address[lane] = static_cast<uint32_t>(access.address[lane]);
    rest &= ~copies.mask;
    warp.pending.push_back(copies);
  }
}

void AsyncCheck::onAsyncCommit(Warp &warp, uint32_t mask) {
  WarpState &state = stateOf(*warp.block).warps[warp.index];
  forEachLane(mask, [&](unsigned lane) { ++state.committed[lane]; });
}

/// The words of the copies of `lanes` are no longer their own.
void AsyncCheck::release(Warp &warp, BlockState &state, Copies &copies, uint32_t lanes) {
  copies.mask &= ~lanes;
  forEachLane(lanes, [&](unsigned lane) {
    uint32_t thread = warp.index * warpSize + lane, end = copies.address[lane] + copies.bytes;
    Owner *first = &state.words[copies.address[lane] / 4];
    Owner own = ownerOf(thread, copies.pc);
    if (copies.bytes == 16 &&
        std::all_of(first, first + 4, [&](const Owner &o) { return o == own; })) {
      std::fill_n(first, 4, Owner{});
      state.pendingInLine[copies.address[lane] / 16] = 0;
      state.pendingWords -= 4;
      return;
    }
    for (uint32_t word = copies.address[lane] / 4; word * 4 < end; ++word) {
      Owner &owner = state.words[word];
      if (owner.isPending && owner.thread == thread) {
        owner.isPending = false;
        --state.pendingWords;
        --state.pendingInLine[word / 4];
      }
    }
  });
}

/// The copies of `lanes` have arrived.
void AsyncCheck::land(Warp &warp, BlockState &state, Copies &copies, uint32_t lanes) {
  release(warp, state, copies, lanes);
  if (tiles)
    forEachLane(lanes, [&](unsigned lane) {
      tiles->landCopy(warp, warp.launch->program->code[copies.pc], lane, copies.address[lane],
                      copies.bytes);
    });
  if (races)
    races->landWrites(warp, warp.launch->program->code[copies.pc], lanes, copies.address,
                      copies.bytes);
}

void AsyncCheck::onCopiesArrive(Warp &warp, uint32_t mask, uint64_t address, uint32_t phase) {
  BlockState &state = stateOf(*warp.block);
  WarpState &own = state.warps[warp.index];
  for (Copies &copies : own.pending) {
    uint32_t lanes = copies.mask & mask;
    release(warp, state, copies, lanes);
    if (tiles)
      forEachLane(lanes, [&](unsigned lane) {
        tiles->onBulkWrite(warp, warp.launch->program->code[copies.pc], lane, *warp.block,
                           copies.address[lane], copies.bytes, address, phase);
      });
  }
  llvm::erase_if(own.pending, [](const Copies &copies) { return copies.mask == 0; });
}

void AsyncCheck::onAsyncWait(Warp &warp, uint32_t mask, uint32_t pendingGroups, bool isAll) {
  BlockState &state = stateOf(*warp.block);
  WarpState &own = state.warps[warp.index];
  // A lane waits for its groups before this one.
  std::array<uint32_t, warpSize> end;
  uint32_t least = ~0u, most = 0;
  forEachLane(mask, [&](unsigned lane) {
    uint32_t committed = own.committed[lane];
    end[lane] = isAll ? committed + 1 : committed - std::min(committed, pendingGroups);
    least = std::min(least, end[lane]);
    most = std::max(most, end[lane]);
  });
  for (Copies &copies : own.pending) {
    uint32_t lanes = copies.group < most ? copies.mask & mask : 0;
    if (copies.group >= least)
      forEachLane(lanes,
                  [&](unsigned lane) { lanes &= ~(uint32_t(copies.group >= end[lane]) << lane); });
    if (lanes)
      land(warp, state, copies, lanes);
  }
  llvm::erase_if(own.pending, [](const Copies &copies) { return copies.mask == 0; });
}

} // namespace vgpu
