//===- Async.cpp - cp.async and its groups ----------------------------------------------------===//
//
// PTX ISA, "Data movement: asynchronous copy". The bytes move when the copy is issued, or when it is
// waited for (Late.h); when a program may look at them is the business of the Async check, which
// hears of every issue, commit and wait. A source size below the copy size fills with zeros.
//
//===-----------------------------------------------------------------------------------===//
#include "Families.h"
#include "Late.h"
#include "vgpu/Exec/LaneMemory.h"
#include "vgpu/Exec/Rows.h"
#include "vgpu/Machine/Launch.h"

using namespace vgpu::ptx;

namespace vgpu {

namespace {

enum AsyncFlags : uint8_t { HasSourceSize = 1, HasIgnore = 2 };

/// Bytes each lane reads from global memory; the rest of the copy is zeros.
uint32_t sourceBytes(Warp &w, const Inst &in, unsigned lane) {
  uint32_t bytes = in.width;
  if (in.flags & HasSourceSize)
    bytes = std::min<uint32_t>(bytes, static_cast<uint32_t>(w.lane(in.src(2), lane)));
  if ((in.flags & HasIgnore) && (w.predicate(in.src(in.numSrc - 1)) >> lane & 1))
    bytes = 0;
  return bytes;
}

/// The lanes of `mask` by how many bytes they read; nearly always all of the copy or none of it.
void groupBySize(Warp &w, const Inst &in, uint32_t mask, uint32_t (&bySize)[17]) {
  if (in.flags == 0) {
    bySize[in.width] = mask;
    return;
  }
  if (in.flags == HasSourceSize) {
    const uint32_t *sizes = w.row<uint32_t>(in.src(2));
    uint32_t width = in.width;
    bySize[width] = mask & collectMask([=](unsigned i) { return sizes[i] >= width; });
    bySize[0] = mask & collectMask([=](unsigned i) { return sizes[i] == 0; });
    mask &= ~(bySize[width] | bySize[0]);
  }
  forEachLane(mask, [&](unsigned lane) { bySize[sourceBytes(w, in, lane)] |= 1u << lane; });
}

/// Keeps the copies of these lanes until they are waited for; lanes outside of `done` get zeros.
void keepCopies(Warp &w, const Inst &in, uint32_t mask, uint32_t done, unsigned bytes,
                const LaneAddresses &to, const LaneAddresses &from) {
  LateEffects &effects = lateEffectsOf(*w.block);
  forEachLane(mask, [&](unsigned lane) {
    bool isRead = bytes > 0 && (done >> lane & 1);
    LaneCopy copy{to.host[lane], isRead ? from.host[lane] : nullptr,
                  static_cast<uint8_t>(isRead ? bytes : 0), in.width};
    effects.copies[w.index * warpSize + lane].open.push_back(std::make_shared<LaneCopy>(copy));
  });
}

void copyAsync(Warp &w, const Inst &in, uint32_t mask) {
  countUnwaited(w, in, mask);
  LaneAddresses to, from;
  computeAddresses(w, in.src(0), in.immediate, to.address);
  computeAddresses(w, in.src(1), in.secondOffset, from.address);
  resolve(w, in, Space::Shared, in.width, AccessKind::AsyncWrite, mask, to);
  // Lanes that read nothing may hold any source address; short reads are few and go by size.
  uint32_t bySize[17] = {};
  groupBySize(w, in, to.mask, bySize);
  for (unsigned bytes = 0; bytes <= 16; ++bytes) {
    if (!bySize[bytes])
      continue;
    uint32_t done = bySize[bytes];
    if (bytes > 0) {
      resolve(w, in, Space::Global, bytes, AccessKind::AsyncRead, bySize[bytes], from, in.width);
      notify(w, in, AccessKind::AsyncRead, bytes, from);
      done = from.mask;
    }
    if (isLate(w)) {
      keepCopies(w, in, bySize[bytes], done, bytes, to, from);
      continue;
    }
    if (bytes == 16 && done == bySize[bytes]) {
      forEachLane(done, [&](unsigned lane) { std::memcpy(to.host[lane], from.host[lane], 16); });
      continue;
    }
    forEachLane(bySize[bytes], [&](unsigned lane) {
      uint8_t data[16] = {};
      if (done >> lane & 1)
        std::memcpy(data, from.host[lane], bytes);
      std::memcpy(to.host[lane], data, in.width);
    });
  }
  notify(w, in, AccessKind::AsyncWrite, in.width, to);
}

/// The destination becomes defined: its source is global memory.
void defineDestination(Warp &w, const Inst &in, uint32_t mask) {
  LaneAddresses to;
  computeAddresses(w, in.src(0), in.immediate, to.address);
  w.isShadowPass = true;
  resolve(w, in, Space::Shared, in.width, AccessKind::AsyncWrite, mask, to);
  w.isShadowPass = false;
  forEachLane(to.mask, [&](unsigned lane) { std::memset(to.host[lane], 0, in.width); });
}

/// Lets the copies of a lane happen, but those of its last groups.
void runCopies(PendingGroups<std::shared_ptr<LaneCopy>> &copies, size_t pendingGroups, bool isAll) {
  if (isAll)
    copies.commit();
  for (; copies.committed.size() > pendingGroups; copies.committed.pop_front())
    for (std::shared_ptr<LaneCopy> &copy : copies.committed.front())
      copy->run();
}

void commit(Warp &w, const Inst &in, uint32_t mask) {
  countUnwaited(w, in, mask);
  if (isLate(w))
    forEachLane(mask, [&](unsigned lane) {
      lateEffectsOf(*w.block).copies[w.index * warpSize + lane].commit();
    });
  for (Observer *observer : w.launch->observers)
    observer->onAsyncCommit(w, mask);
}
void wait(Warp &w, const Inst &in, uint32_t mask) {
  hasWaited(w, in.variant ? 0 : static_cast<uint64_t>(in.immediate));
  if (isLate(w))
    forEachLane(mask, [&](unsigned lane) {
      runCopies(lateEffectsOf(*w.block).copies[w.index * warpSize + lane],
                static_cast<size_t>(in.immediate), in.variant);
    });
  for (Observer *observer : w.launch->observers)
    observer->onAsyncWait(w, mask, static_cast<uint32_t>(in.immediate), in.variant);
}

bool finish(InstBuilder &b, Handler handler) {
  b.inst.execute = handler;
  b.inst.instClass = InstClass::AsyncCopy;
  b.inst.poison = PoisonRule::Defined;
  return emitInst(b);
}

bool decodeCopy(InstBuilder &b) {
  Inst &inst = b.inst;
  bool isGlobalOnly = b.accept("cg");
  if (!isGlobalOnly && !b.accept("ca"))
    return b.fail("expected '.ca' or '.cg'");
  if (b.acceptSpace() != Space::Shared || b.acceptSpace() != Space::Global)
    return b.fail("copies go from .global to .shared");
  bool hasPolicy = b.accept("L2::cache_hint");
  b.acceptOneOf({"L2::64B", "L2::128B", "L2::256B"});
  if (!b.expectOperands(3, 5))
    return false;
  uint64_t bytes;
  if (!b.constantOperand(b.operand(2), 17, bytes))
    return false;
  if (isGlobalOnly ? bytes != 16 : bytes != 4 && bytes != 8 && bytes != 16)
    return b.fail("a copy of " + llvm::Twine(bytes) + " bytes is not allowed");
  inst.width = static_cast<uint8_t>(bytes);
  inst.space = Space::Shared;
  if (!b.addAddress(b.operand(0)) || !b.addAddress(b.operand(1), inst.secondOffset))
    return false;
  size_t last = b.numOperands() - (hasPolicy ? 1 : 0);
  for (size_t i = 3; i < last; ++i) {
    bool isPredicate = b.isPredicate(b.operand(i));
    inst.flags |= isPredicate ? HasIgnore : HasSourceSize;
    if (!b.addSrc(b.operand(i), isPredicate ? Type::Pred : Type::U32, Role::Control))
      return false;
  }
  inst.execute = copyAsync;
  inst.instClass = InstClass::AsyncCopy;
  inst.poison = PoisonRule::Custom;
  inst.shadowExecute = defineDestination;
  return emitInst(b);
}

bool decodeAsync(InstBuilder &b) {
  if (b.peek() == "reduce")
    return decodeBulkReduction(b);
  if (!b.accept("async"))
    return b.fail("expected 'cp.async'");
  if (b.accept("commit_group"))
    return b.expectOperands(0) && finish(b, commit);
  if (b.accept("wait_all")) {
    b.inst.variant = 1; // uncommitted copies, too
    return b.expectOperands(0) && finish(b, wait);
  }
  if (b.accept("wait_group")) {
    uint64_t groups;
    if (!b.expectOperands(1) || !b.constantOperand(b.operand(0), 1u << 30, groups))
      return false;
    b.inst.immediate = static_cast<int64_t>(groups);
    return finish(b, wait);
  }
  if (b.peek() == "bulk")
    return decodeBulkCopy(b);
  if (b.peek() == "mbarrier")
    return decodeAsyncArrive(b);
  return decodeCopy(b);
}

} // namespace

llvm::ArrayRef<FamilyEntry> asyncFamily() {
  static constexpr FamilyEntry entries[] = {{"cp", decodeAsync}};
  return entries;
}

} // namespace vgpu
