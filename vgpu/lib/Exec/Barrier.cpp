//===- Barrier.cpp - bar, barrier and fences --------------------------------------------------===//
//
// PTX ISA, "Parallel synchronization". A barrier completes when the expected number of threads has
// arrived. Without a count that is every thread of the block that has not exited; with one, warps
// count as 32 threads whatever their exited lanes, as on hardware.
//
//===-----------------------------------------------------------------------------------===//
#include "Families.h"
#include "vgpu/Exec/Runner.h"
#include "vgpu/Machine/Launch.h"
#include "vgpu/Machine/Report.h"
#include "llvm/Support/FormatVariadic.h"

using namespace vgpu::ptx;

namespace vgpu {

namespace {

enum class BarrierKind : uint8_t { Sync, Arrive, Popc, And, Or };
enum BarrierFlags : uint8_t { HasCount = 1 };

/// With a count, a warp stands for 32 threads once one of its lanes has arrived and all of its live
/// lanes have; without, every live lane must have arrived.
bool isComplete(const Block &block, const NamedBarrier &barrier) {
  llvm::SmallVector<uint32_t, 32> arrived(block.warps.size());
  for (const BarrierArrival &arrival : barrier.arrivals)
    arrived[arrival.warp] |= arrival.mask;
  uint32_t threads = 0;
  bool isAllHere = true;
  for (const Warp &warp : block.warps) {
    uint32_t missing = warp.liveMask() & ~arrived[warp.index];
    isAllHere &= missing == 0;
    if (arrived[warp.index])
      threads += warpSize - static_cast<uint32_t>(__builtin_popcount(missing));
  }
  return barrier.expectedThreads ? threads >= barrier.expectedThreads : isAllHere;
}

void setReduction(Block &block, const NamedBarrier &barrier) {
  const Program &program = *block.launch->program;
  for (const BarrierArrival &arrival : barrier.arrivals) {
    const Inst &inst = program.code[arrival.pc];
    BarrierKind kind = static_cast<BarrierKind>(inst.variant);
    if (kind < BarrierKind::Popc)
      continue;
    Warp &warp = block.warps[arrival.warp];
    if (kind == BarrierKind::Popc)
      forEachLane(arrival.mask,
                  [&](unsigned lane) { warp.setLane(inst.dst(0), lane, barrier.reduction); });
    else
      warp.setPredicate(inst.dst(0), barrier.reduction ? fullMask : 0, arrival.mask);
  }
}

/// Wakes everyone and resets the barrier.
void complete(Block &block, NamedBarrier &barrier) {
  setReduction(block, barrier);
  for (Observer *observer : block.launch->observers)
    observer->onBarrier(block, barrier.arrivals);
  for (const BarrierArrival &arrival : barrier.arrivals)
    if (arrival.waits)
      wakeParked(block.warps[arrival.warp], arrival.mask, arrival.pc);
  barrier = NamedBarrier();
  ++block.cluster->version;
}

Outcome arrive(Warp &w, const Inst &in, uint32_t mask) {
  Block &block = *w.block;
  BarrierKind kind = static_cast<BarrierKind>(in.variant);
  unsigned lane = static_cast<unsigned>(__builtin_ctz(mask));
  uint64_t id = w.lane(in.src(0), lane);
  if (id >= block.barriers.size()) {
    report(w, in, lane, FindingKind::NoSuchTarget,
           llvm::formatv("barrier {0} does not exist, a block has 16", id));
    block.launch->stop = true;
    return Outcome::Park;
  }
  NamedBarrier &barrier = block.barriers[id];
  uint32_t count = (in.flags & HasCount) ? static_cast<uint32_t>(w.lane(in.src(1), lane)) : 0;
  if (count % warpSize != 0)
    report(w, in, lane, FindingKind::BarrierDivergence,
           llvm::formatv("barrier {0} expects {1} threads, not a multiple of 32", id, count));
  if (!barrier.arrivals.empty() && barrier.expectedThreads != count)
    report(w, in, lane, FindingKind::BarrierDivergence,
           llvm::formatv("barrier {0} expects {1} threads here, {2} where another warp arrived "
                         "(ptx:{3}); 0 means all",
                         id, count, barrier.expectedThreads,
                         block.launch->program->code[barrier.arrivals[0].pc].line));
  barrier.expectedThreads = count;
  if (kind >= BarrierKind::Popc) {
    uint32_t votes = w.predicate(in.src(in.numSrc - 1)) & mask;
    bool isFirst = barrier.arrivals.empty();
    if (kind == BarrierKind::Popc)
      barrier.reduction += static_cast<uint32_t>(__builtin_popcount(votes));
    else if (kind == BarrierKind::And)
      barrier.reduction = (isFirst || barrier.reduction) && votes == mask;
    else
      barrier.reduction = barrier.reduction || votes != 0;
  }
  bool waits = kind != BarrierKind::Arrive;
  barrier.arrivals.push_back({w.index, mask, in.pc, waits});
  if (!waits)
    for (Observer *observer : block.launch->observers)
      observer->onBarrierArrive(w);
  if (!isComplete(block, barrier))
    return waits ? Outcome::Park : Outcome::Continue;
  complete(block, barrier);
  return Outcome::Continue;
}

bool decodeBarrier(InstBuilder &b, bool isBar) {
  Inst &inst = b.inst;
  if (b.accept("warp")) {
    // bar.warp.sync: handled with the warp-level instructions
    return decodeWarpBarrier(b);
  }
  if (b.accept("cluster"))
    return decodeClusterBarrier(b);
  b.accept("cta");
  int kind = b.acceptOneOf({"sync", "arrive", "red"});
  if (kind < 0)
    return b.fail("expected '.sync', '.arrive' or '.red'");
  inst.variant = static_cast<uint8_t>(kind);
  if (kind == 2) {
    int operation = b.acceptOneOf({"popc", "and", "or"});
    if (operation < 0)
      return b.fail("expected '.popc', '.and' or '.or'");
    inst.variant = static_cast<uint8_t>(static_cast<int>(BarrierKind::Popc) + operation);
  }
  inst.isAligned = b.accept("aligned") || isBar;
  if (kind == 2 &&
      !b.accept(inst.variant == static_cast<uint8_t>(BarrierKind::Popc) ? "u32" : "pred"))
    return b.fail("expected the type of the reduction");
  size_t first = 0;
  bool isReduction = kind == 2;
  if (isReduction) {
    Type result = inst.variant == static_cast<uint8_t>(BarrierKind::Popc) ? Type::U32 : Type::Pred;
    if (!b.expectOperands(3, 4) || !b.addDst(b.operand(0), result))
      return false;
    first = 1;
  } else if (!b.expectOperands(1, 2)) {
    return false;
  }
  size_t last = b.numOperands() - (isReduction ? 1 : 0);
  for (size_t i = first; i < last; ++i)
    if (!b.addSrc(b.operand(i), Type::U32, Role::Control))
      return false;
  if (last - first > 1)
    inst.flags |= HasCount;
  if (isReduction && !b.addSrc(b.operand(last), Type::Pred))
    return false;
  inst.flow = Flow::Blocking;
  inst.executeBlocking = arrive;
  inst.instClass = InstClass::Barrier;
  inst.poison = PoisonRule::Defined;
  return emitInst(b);
}

void fence(Warp &w, const Inst &in, uint32_t mask) {
  for (Observer *observer : w.launch->observers)
    observer->onFence(w, in, mask, static_cast<MemoryOrder>(in.order),
                      static_cast<MemoryScope>(in.scope));
}

bool finishFence(InstBuilder &b) {
  b.inst.execute = fence;
  b.inst.instClass = InstClass::Fence;
  b.inst.poison = PoisonRule::Defined;
  return b.expectOperands(0) && emitInst(b);
}

bool decodeMembar(InstBuilder &b) {
  int level = b.acceptOneOf({"cta", "gl", "sys"});
  if (level < 0)
    return b.peek() == "proxy" ? decodeProxyFence(b) : b.fail("expected a level");
  static constexpr MemoryScope scopes[] = {MemoryScope::Cta, MemoryScope::Gpu, MemoryScope::Sys};
  b.inst.scope = static_cast<uint8_t>(scopes[level]);
  b.inst.order = static_cast<uint8_t>(MemoryOrder::SeqCst);
  return finishFence(b);
}

bool decodeFence(InstBuilder &b) {
  if (b.peek() == "proxy" || b.peek() == "mbarrier_init")
    return decodeProxyFence(b);
  b.inst.order = static_cast<uint8_t>(MemoryOrder::AcqRel);
  if (!b.acceptOrdering())
    return false;
  return finishFence(b);
}

} // namespace

void recheckBarriers(Block &block) {
  for (NamedBarrier &barrier : block.barriers)
    if (!barrier.arrivals.empty() && isComplete(block, barrier))
      complete(block, barrier);
}

llvm::ArrayRef<FamilyEntry> barrierFamily() {
  static constexpr FamilyEntry entries[] = {
      {"bar", [](InstBuilder &b) { return decodeBarrier(b, true); }},
      {"barrier", [](InstBuilder &b) { return decodeBarrier(b, false); }},
      {"membar", decodeMembar},
      {"fence", decodeFence},
  };
  return entries;
}

} // namespace vgpu
