//===- Cluster.cpp - blocks of a cluster, and launch control ----------------------------------===//
//
// mapa getctarank barrier.cluster griddepcontrol. Shared memory of another block has addresses of
// its own (Memory/AddressMap.h). barrier.cluster is a barrier of all threads of the cluster whose
// arriving and waiting halves are apart: for the checks it works like an mbarrier of the block of
// rank 0.
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
  /// By block: lanes by warp that have arrived in this phase.
  std::vector<std::vector<uint32_t>> arrived;
  /// By block and thread: 1 + the phase it arrived in; 0: not arrived.
  std::vector<std::vector<uint32_t>> waitsFor;
};

ClusterBarrier &barrierOf(Cluster &cluster) {
  static const char key = 0;
  ClusterBarrier &barrier = cluster.blocks[0]->state<ClusterBarrier>(&key);
  if (barrier.arrived.empty()) {
    size_t warps = cluster.blocks[0]->warps.size();
    barrier.arrived.assign(cluster.blocks.size(), std::vector<uint32_t>(warps));
    barrier.waitsFor.assign(cluster.blocks.size(), std::vector<uint32_t>(warps * warpSize));
  }
  return barrier;
}

/// Ends the phase if every thread that has not exited has arrived.
void settle(Cluster &cluster, ClusterBarrier &barrier) {
  bool isAny = false;
  for (const std::unique_ptr<Block> &block : cluster.blocks)
    for (const Warp &warp : block->warps) {
      uint32_t arrived = barrier.arrived[block->rank][warp.index];
      if (warp.liveMask() & ~arrived)
        return;
      isAny |= arrived != 0;
    }
  if (!isAny)
    return;
  for (std::vector<uint32_t> &lanes : barrier.arrived)
    std::fill(lanes.begin(), lanes.end(), 0);
  ++barrier.phase;
  ++cluster.version;
}

void arrive(Warp &w, const Inst &in, uint32_t mask) {
  Cluster &cluster = *w.block->cluster;
  ClusterBarrier &barrier = barrierOf(cluster);
  forEachLane(mask, [&](unsigned lane) {
    uint32_t &waitsFor = barrier.waitsFor[w.block->rank][w.index * warpSize + lane];
    if (waitsFor != 0)
      report(w, in, lane, FindingKind::BarrierDivergence,
             "a second arrival at the cluster's barrier without a wait in between");
    waitsFor = barrier.phase + 1;
  });
  barrier.arrived[w.block->rank][w.index] |= mask;
  if (isRelease(static_cast<MemoryOrder>(in.order)))
    for (Observer *observer : w.launch->observers)
      observer->onMbarrierArrive(w, mask, *cluster.blocks[0], clusterBarrierAddress, barrier.phase);
  settle(cluster, barrier);
}

Outcome wait(Warp &w, const Inst &in, uint32_t mask) {
  Cluster &cluster = *w.block->cluster;
  ClusterBarrier &barrier = barrierOf(cluster);
  w.timedOut &= ~mask;      // it has no time limit
  settle(cluster, barrier); // threads may have exited
  uint32_t phase = 0;
  bool isOver = true;
  forEachLane(mask, [&](unsigned lane) {
    uint32_t waitsFor = barrier.waitsFor[w.block->rank][w.index * warpSize + lane];
    if (waitsFor == 0)
      report(w, in, lane, FindingKind::BarrierDivergence,
             "a wait at the cluster's barrier without an arrival");
    isOver &= waitsFor <= barrier.phase;
    phase = waitsFor ? waitsFor - 1 : phase;
  });
  if (!isOver)
    return Outcome::Retry;
  forEachLane(
      mask, [&](unsigned lane) { barrier.waitsFor[w.block->rank][w.index * warpSize + lane] = 0; });
  for (Observer *observer : w.launch->observers)
    observer->onMbarrierWait(w, mask, *cluster.blocks[0], clusterBarrierAddress, phase);
  return Outcome::Continue;
}

/// The window of shared memory, where an address is generic.
uint64_t windowOf(const Inst &in) {
  return in.space == Space::Generic ? windowBase(Space::Shared) : 0;
}

/// In a cluster of one block addresses stay as they are.
void mapAddress(Warp &w, const Inst &in, uint32_t mask) {
  size_t blocks = w.block->cluster->blocks.size();
  forEachLane(mask, [&](unsigned lane) {
    uint64_t rank = w.lane(in.src(1), lane), address = w.lane(in.src(0), lane);
    if (rank >= blocks && !w.isShadowPass)
      report(w, in, lane, FindingKind::InvalidAccess,
             llvm::formatv("block {0} of the cluster, which has {1}", rank, blocks));
    if (rank < blocks && blocks > 1 && !w.isShadowPass)
      address = windowOf(in) + inBlockOfRank(address - windowOf(in), rank);
    w.setLane(in.dst(0), lane, address);
  });
}
void rankOfAddress(Warp &w, const Inst &in, uint32_t mask) {
  forEachLane(mask, [&](unsigned lane) {
    uint64_t field = rankField(w.lane(in.src(0), lane) - windowOf(in));
    w.setLane(in.dst(0), lane, field ? field - 1 : w.block->rank);
  });
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
  Space space = b.inst.space = b.acceptSpace();
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
  if (block.rank != 0)
    return;
  ClusterBarrier &barrier = barrierOf(*block.cluster);
  for (const std::vector<uint32_t> &lanes : barrier.arrived)
    out.insert(out.end(), lanes.begin(), lanes.end());
  for (const std::vector<uint32_t> &threads : barrier.waitsFor)
    for (uint32_t phase : threads) // only whether it is the present one matters
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
