//===- Late.cpp - asynchronous effects between their issue and their wait -------------------===//
#include "Late.h"
#include "BulkCopy.h"
#include "vgpu/Machine/Report.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>

namespace vgpu {

llvm::Expected<AsyncTime> parseAsyncTime(llvm::StringRef name) {
  if (name == "early" || name == "late")
    return name == "late" ? AsyncTime::Late : AsyncTime::Early;
  return llvm::createStringError("unknown mode '" + name.str() + "': expected early or late");
}

void LaneCopy::run() {
  if (isDone)
    return;
  isDone = true;
  uint8_t data[16] = {};
  if (bytes)
    std::memcpy(data, from, bytes);
  std::memcpy(to, data, width);
}

void BulkMove::read() {
  if (isRead)
    return;
  isRead = true;
  size_t total = 0;
  for (const Piece &piece : pieces)
    total += piece.bytes;
  staged.resize(total);
  uint8_t *at = staged.data();
  for (const Piece &piece : pieces) {
    std::memcpy(at, piece.from, piece.bytes);
    at += piece.bytes;
  }
}

void BulkMove::write() {
  const uint8_t *at = staged.data();
  for (const Piece &piece : pieces) {
    if (reduction != BulkReduction::None)
      reduceBytes(reduction, type, piece.to, at, piece.bytes);
    else if (byteMask == 0xffff)
      std::memcpy(piece.to, at, piece.bytes);
    else
      for (unsigned i = 0; i < piece.bytes; ++i)
        if (byteMask >> (i % 16) & 1)
          piece.to[i] = at[i];
    at += piece.bytes;
  }
}

LateEffects &lateEffectsOf(Block &block) {
  static const char key = 0;
  LateEffects &effects = block.state<LateEffects>(&key);
  effects.copies.resize(block.warps.size() * warpSize);
  effects.stores.resize(block.warps.size() * warpSize);
  return effects;
}

/// Twice as many as there are words of shared memory: copies without a wait would overwrite each other.
static constexpr uint64_t maxUnwaited = 1 << 17;

static uint64_t &unwaitedOf(Warp &w) {
  static const char key = 0;
  auto &counts = w.block->state<std::vector<uint64_t>>(&key);
  counts.resize(w.block->warps.size());
  return counts[w.index];
}

void countUnwaited(Warp &w, const Inst &in, uint32_t mask) {
  uint64_t &count = unwaitedOf(w);
  count += static_cast<unsigned>(__builtin_popcount(mask));
  if (count < maxUnwaited || w.launch->stop)
    return;
  report(
      w, in, static_cast<unsigned>(__builtin_ctz(mask)), FindingKind::StepLimit,
      llvm::formatv("warp {0} has issued {1} asynchronous operations and groups of them without a "
                    "wait; more are not kept",
                    w.index, count));
  w.launch->stop = true;
}

void hasWaited(Warp &w, uint64_t pendingGroups) {
  constexpr uint64_t fewGroups = 64;
  if (pendingGroups <= fewGroups)
    unwaitedOf(w) = 0;
}

void landAt(Block &block, uint64_t mbarrier, const std::function<bool()> &isEnough) {
  LateEffects &effects = lateEffectsOf(block);
  auto it = effects.landings.find(mbarrier);
  if (it == effects.landings.end())
    return;
  while (!it->second.empty() && !isEnough()) {
    std::function<void()> land = std::move(it->second.front());
    it->second.pop_front();
    land();
  }
}

bool landEverything(Block &block) {
  if (block.launch->config.asyncTime == AsyncTime::Early)
    return false;
  LateEffects &effects = lateEffectsOf(block);
  bool isAny = false;
  for (auto &[mbarrier, queue] : effects.landings) {
    isAny |= !queue.empty();
    landAt(block, mbarrier, [] { return false; });
  }
  for (auto &copies : effects.copies) {
    copies.commit();
    for (auto &group : copies.committed)
      for (std::shared_ptr<LaneCopy> &copy : group) {
        isAny |= !copy->isDone;
        copy->run();
      }
    copies.committed.clear();
  }
  for (auto &stores : effects.stores) {
    stores.commit();
    for (auto &group : stores.committed)
      for (BulkMove &move : group) {
        isAny = true;
        move.run();
      }
    stores.committed.clear();
  }
  return isAny;
}

} // namespace vgpu
