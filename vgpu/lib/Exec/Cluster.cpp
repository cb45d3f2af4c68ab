//===- Cluster.cpp - clusters of one block, and launch control --------------------------------===//
//
// mapa getctarank barrier.cluster griddepcontrol. A cluster has one block here, so the
// address of a variable in "another" block is the own one, and barrier.cluster is a barrier of the
// block whose arriving and waiting halves are apart: for the checks it works like an mbarrier.
//
//===-----------------------------------------------------------------------------------===//
#include "Families.h"
#include "vgpu/Machine/Launch.h"
#include "vgpu/Machine/Report.h"
#include "llvm/Support/FormatVariadic.h"

using namespace vgpu::ptx;

namespace vgpu {

namespace {

/// Stands for the barrier where observers expect the address of an mbarrier.
constexpr uint64_t clusterBarrierAddress = 0xffff0;

struct ClusterBarrier {
  uint32_t phase = 0;
  std::vector<uint32_t> arrived;  ///< lanes by warp, in this phase
  std::vector<uint32_t> waitsFor; ///< by thread: 1 + the phase it arrived in; 0: not arrived
};

ClusterBarrier &barrierOf(Block &block) {
  static const char key = 0;
  ClusterBarrier &barrier = block.state<ClusterBarrier>(&key);
  barrier.arrived.resize(block.warps.size());
  barrier.waitsFor.resize(block.warps.size() * warpSize);
  return barrier;
}

/// Ends the phase if every thread that has not exited has arrived.
void settle(Block &block, ClusterBarrier &barrier) {
  bool isAny = false;
  for (const Warp &warp : block.warps) {
    if (warp.liveMask() & ~barrier.arrived[warp.index])
      return;
    isAny |= barrier.arrived[warp.index] != 0;
  }
  if (!isAny)
    return;
  std::fill(barrier.arrived.begin(), barrier.arrived.end(), 0);
  ++barrier.phase;
  ++block.version;
}

void arrive(Warp &w, const Inst &in, uint32_t mask) {
  ClusterBarrier &barrier = barrierOf(*w.block);
  forEachLane(mask, [&](unsigned lane) {
    uint32_t &waitsFor = barrier.waitsFor[w.index * warpSize + lane];
    if (waitsFor != 0)
      report(w, in, lane, FindingKind::BarrierDivergence,
             "a second arrival at the cluster's barrier without a wait in between");
    waitsFor = barrier.phase + 1;
  });
  barrier.arrived[w.index] |= mask;
  if (isRelease(static_cast<MemoryOrder>(in.order)))
    for (Observer *observer : w.launch->observers)
      observer->onMbarrierArrive(w, mask, clusterBarrierAddress, barrier.phase);
  settle(*w.block, barrier);
}

Outcome wait(Warp &w, const Inst &in, uint32_t mask) {
  ClusterBarrier &barrier = barrierOf(*w.block);
  w.timedOut &= ~mask;       // it has no time limit
  settle(*w.block, barrier); // threads may have exited
  uint32_t phase = 0;
  bool isOver = true;
  forEachLane(mask, [&](unsigned lane) {
    uint32_t waitsFor = barrier.waitsFor[w.index * warpSize + lane];
    if (waitsFor == 0)
      report(w, in, lane, FindingKind::BarrierDivergence,
             "a wait at the cluster's barrier without an arrival");
    isOver &= waitsFor <= barrier.phase;
    phase = waitsFor ? waitsFor - 1 : phase;
  });
  if (!isOver)
    return Outcome::Retry;
  forEachLane(mask, [&](unsigned lane) { barrier.waitsFor[w.index * warpSize + lane] = 0; });
  for (Observer *observer : w.launch->observers)
    observer->onMbarrierWait(w, mask, clusterBarrierAddress, phase);
  return Outcome::Continue;
}

/// The address stays: there is only this block.
void mapAddress(Warp &w, const Inst &in, uint32_t mask) {
  forEachLane(mask, [&](unsigned lane) {
    uint64_t rank = w.lane(in.src(1), lane);
    if (rank != 0 && !w.isShadowPass)
      report(w, in, lane, FindingKind::InvalidAccess,
             llvm::formatv("block {0} of the cluster, which has one", rank));
    w.setLane(in.dst(0), lane, w.lane(in.src(0), lane));
  });
}
void rankOfAddress(Warp &w, const Inst &in, uint32_t mask) {
  forEachLane(mask, [&](unsigned lane) { w.setLane(in.dst(0), lane, 0); });
}
void nothing(Warp &, const Inst &, uint32_t) {}

bool finish(InstBuilder &b, Handler handler, PoisonRule rule) {
  b.inst.execute = handler;
  b.inst.poison = rule;
  b.inst.instClass = InstClass::Other;
  return emitInst(b);
}

/// The type of an address; the space only says how it is meant.
bool acceptAddressType(InstBuilder &b, Type &type) {
  Space space = b.acceptSpace();
  type = b.expectType();
  if (space != Space::Generic && space != Space::Shared)
    return b.fail("expected an address of shared memory");
  return type == Type::U32 || type == Type::U64 || b.fail("expected '.u32' or '.u64'");
}
bool decodeMapAddress(InstBuilder &b) {
  Type type;
  return acceptAddressType(b, type) && b.expectOperands(3) && b.addDst(b.operand(0), type) &&
         b.addSrc(b.operand(1), type) && b.addSrc(b.operand(2), Type::U32, Role::Control) &&
         finish(b, mapAddress, PoisonRule::SameMove);
}
bool decodeRank(InstBuilder &b) {
  Type type;
  return acceptAddressType(b, type) && b.expectOperands(2) && b.addDst(b.operand(0), Type::U32) &&
         b.addSrc(b.operand(1), type) && finish(b, rankOfAddress, PoisonRule::AnySource);
}

/// Launches do not overlap.
bool decodeGridDependency(InstBuilder &b) {
  static constexpr llvm::StringRef words[] = {"launch_dependents", "wait"};
  if (b.acceptOneOf(words) < 0)
    return b.fail("expected '.launch_dependents' or '.wait'");
  return b.expectOperands(0) && finish(b, nothing, PoisonRule::Defined);
}

} // namespace

void describeClusterBarrier(Block &block, std::vector<uint64_t> &out) {
  ClusterBarrier &barrier = barrierOf(block);
  out.insert(out.end(), barrier.arrived.begin(), barrier.arrived.end());
  for (uint32_t phase : barrier.waitsFor) // only whether it is the present one matters
    out.push_back(phase == 0 ? 0 : 1 + barrier.phase + 1 - phase);
}

bool decodeClusterBarrier(InstBuilder &b) {
  static constexpr llvm::StringRef words[] = {"arrive", "wait"};
  int kind = b.acceptOneOf(words);
  if (kind < 0)
    return b.fail("expected '.arrive' or '.wait'");
  bool isWait = kind == 1;
  MemoryOrder order = isWait ? MemoryOrder::Acquire : MemoryOrder::Release;
  if (isWait)
    b.accept("acquire");
  else if (!b.accept("release") && b.accept("relaxed"))
    order = MemoryOrder::Relaxed;
  b.inst.order = static_cast<uint8_t>(order);
  b.inst.isAligned = b.accept("aligned");
  b.inst.instClass = InstClass::Barrier;
  b.inst.poison = PoisonRule::Defined;
  b.inst.flow = isWait ? Flow::Blocking : b.inst.isAligned ? Flow::Collective : Flow::Plain;
  b.inst.execute = arrive;
  b.inst.executeBlocking = wait;
  return b.expectOperands(0) && emitInst(b);
}

llvm::ArrayRef<FamilyEntry> clusterFamily() {
  static constexpr FamilyEntry entries[] = {
      {"mapa", decodeMapAddress},
      {"getctarank", decodeRank},
      {"setmaxnreg", decodeRegisterCount},
      {"griddepcontrol", decodeGridDependency},
  };
  return entries;
}

} // namespace vgpu
