//===- Mbarrier.cpp - mbarrier.* and cp.async.mbarrier.arrive -------------------------------===//
//
// PTX ISA, "Parallel synchronization: mbarrier". Lanes of an instruction act one after the other,
// in the order of their numbers. An mbarrier orders at the scope of the cluster, whatever scope an
// arrival or wait names: CUTLASS arrives at barriers of other blocks without naming one. Waits block (Outcome::Retry) rather than spin, so that a phase
// that never completes ends as a deadlock with the state of each barrier and not at the step limit;
// they give up when the runner says that time is up, as try_wait may.
//
//===-----------------------------------------------------------------------------------===//
#include "vgpu/Exec/Mbarrier.h"
#include "Families.h"
#include "KernelDecoder.h"
#include "Late.h"
#include "vgpu/Exec/LaneMemory.h"
#include "vgpu/Machine/Launch.h"
#include "llvm/Support/FormatVariadic.h"

using namespace vgpu::ptx;

namespace vgpu {

static void misuse(Warp &w, const Inst &in, unsigned lane, uint64_t address,
                   const std::string &what) {
  report(
      w, in, lane, FindingKind::InvalidAccess,
      llvm::formatv("the mbarrier at {0} {1}", describeAddress(w, Space::Shared, address), what));
}

Mbarrier *findMbarrier(Warp &w, const Inst &in, unsigned lane, Block &home, uint64_t address) {
  MbarrierTable &table = mbarriersOf(home);
  auto it = table.find(address);
  if (it != table.end())
    return &it->second;
  misuse(w, in, lane, address, "has not been initialised, or is no longer valid");
  return nullptr;
}

/// Ends the phase if nothing is missing.
static void settle(Block &block, Mbarrier &barrier) {
  if (barrier.pending != 0 || barrier.txCount != 0)
    return;
  ++barrier.phase;
  barrier.pending = barrier.expected;
  ++block.cluster->version;
}

static void addTx(Warp &w, const Inst &in, unsigned lane, uint64_t address, Mbarrier &barrier,
                  int64_t bytes) {
  barrier.txCount += bytes;
  if (std::abs(barrier.txCount) > int64_t(maxMbarrierCount))
    misuse(w, in, lane, address,
           llvm::formatv("has a transaction count of {0}, its limit is {1}", barrier.txCount,
                         maxMbarrierCount));
}

void completeTx(Warp &w, const Inst &in, unsigned lane, Block &home, uint64_t address,
                uint64_t bytes) {
  if (Mbarrier *barrier = findMbarrier(w, in, lane, home, address)) {
    addTx(w, in, lane, address, *barrier, -static_cast<int64_t>(bytes));
    settle(home, *barrier);
  }
}

std::string describeMbarriers(Block &block) {
  std::string text;
  for (const auto &[address, barrier] : mbarriersOf(block))
    text += llvm::formatv("\n  mbarrier shared+{0:x}: phase {1}, {2} of {3} arrivals and {4} bytes "
                          "missing",
                          address, barrier.phase - barrier.first, barrier.pending, barrier.expected,
                          barrier.txCount);
  return text;
}

namespace {

/// The phase at which the next barrier at an address starts: phases of one that is initialised
/// again must not be taken for those of the one before.
struct NextPhases {
  std::map<uint64_t, uint32_t> byAddress;
};
uint32_t &nextPhaseOf(Block &block, uint64_t address) {
  static const char key = 0;
  return block.state<NextPhases>(&key).byAddress[address];
}

enum class Arrival : uint8_t { Arrive, ArriveDrop, ExpectTx, CompleteTx };
enum MbarrierFlags : uint8_t {
  NoComplete = 1,
  ExpectsTx = 2, ///< arrive.expect_tx: the last operand is a number of bytes
  HasCount = 4,
  IsParity = 8,
  IsCounted = 16, ///< cp.async.mbarrier.arrive without .noinc
};

/// What an arrival returns: the phase and how many arrivals it still missed, before.
uint64_t stateToken(const Mbarrier &barrier) {
  return uint64_t(barrier.phase) << 32 | barrier.pending;
}

/// The addresses of the lanes, as offsets in shared memory; lanes that fault are dropped.
void resolveBarriers(Warp &w, const Inst &in, const Slot &base, uint32_t mask, AccessKind kind,
                     LaneAddresses &lanes) {
  computeAddresses(w, base, in.immediate, lanes.address);
  resolve(w, in, in.space, 8, kind, mask, lanes);
  if (lanes.space == Space::Shared && !lanes.isMixed)
    return;
  forEachLane(lanes.mask, [&](unsigned lane) {
    if ((lanes.isMixed ? lanes.laneSpace[lane] : lanes.space) == Space::Shared)
      return;
    report(w, in, lane, FindingKind::InvalidAccess, "an mbarrier must lie in shared memory");
    lanes.mask &= ~(1u << lane);
  });
  lanes.space = Space::Shared;
  lanes.isMixed = false;
}

/// Only arrivals, and changes of the transaction count, may be of another block's barrier.
void dropRemote(Warp &w, const Inst &in, LaneAddresses &lanes) {
  if (!lanes.isRemote)
    return;
  forEachLane(lanes.mask, [&](unsigned lane) {
    if (lanes.owner[lane] == w.block)
      return;
    misuse(w, in, lane, lanes.address[lane],
           llvm::formatv("of block {0} of the cluster is out of reach for '{1}'",
                         lanes.owner[lane]->rank, in.source->opcode));
    lanes.mask &= ~(1u << lane);
  });
  lanes.isRemote = false;
}

/// Tells the observers of the accesses to the barriers themselves; only init and inval are weak.
void notifyBarriers(Warp &w, const Inst &in, AccessKind kind, const LaneAddresses &lanes) {
  if (!w.launch->isObserved() || lanes.mask == 0)
    return;
  MemoryOrder order = kind == AccessKind::Write ? MemoryOrder::Weak : MemoryOrder::Relaxed;
  if (lanes.isRemote) {
    forEachLane(lanes.mask, [&](unsigned lane) {
      notifyOne(w, in, Space::Shared, kind, AccessBy::Mbarrier, lane, lanes.address[lane], 8, order,
                MemoryScope::Cluster, lanes.owner[lane]);
    });
    return;
  }
  MemoryAccess access{w,          in,    Space::Shared,        kind,
                      lanes.mask, 8,     lanes.address,        lanes.host,
                      nullptr,    order, MemoryScope::Cluster, AccessBy::Mbarrier};
  for (Observer *observer : w.launch->observers)
    observer->onAccess(access);
}

void initialize(Warp &w, const Inst &in, uint32_t mask) {
  LaneAddresses lanes;
  resolveBarriers(w, in, in.src(0), mask, AccessKind::Write, lanes);
  dropRemote(w, in, lanes);
  notifyBarriers(w, in, AccessKind::Write, lanes);
  MbarrierTable &table = mbarriersOf(*w.block);
  forEachLane(lanes.mask, [&](unsigned lane) {
    uint32_t count = static_cast<uint32_t>(w.lane(in.src(1), lane));
    uint64_t address = lanes.address[lane];
    if (count == 0 || count > maxMbarrierCount)
      misuse(w, in, lane, address,
             llvm::formatv("is initialised for {0} arrivals; 1 to {1} are possible", count,
                           maxMbarrierCount));
    if (table.count(address))
      misuse(w, in, lane, address, "is initialised again without being invalidated");
    uint32_t first = nextPhaseOf(*w.block, address);
    table[address] = {count, count, 0, first, first};
  });
}

void invalidate(Warp &w, const Inst &in, uint32_t mask) {
  LaneAddresses lanes;
  resolveBarriers(w, in, in.src(0), mask, AccessKind::Write, lanes);
  dropRemote(w, in, lanes);
  notifyBarriers(w, in, AccessKind::Write, lanes);
  forEachLane(lanes.mask, [&](unsigned lane) {
    uint64_t address = lanes.address[lane];
    if (isLate(w))
      landAt(*w.block, address, [] { return false; });
    if (const Mbarrier *barrier = findMbarrier(w, in, lane, *w.block, address)) {
      nextPhaseOf(*w.block, address) = (barrier->phase | 1) + 1;
      mbarriersOf(*w.block).erase(address);
    }
  });
}

/// One lane's arrival, or its change of the transaction count.
void arriveOne(Warp &w, const Inst &in, unsigned lane, Block &home, uint64_t address,
               Mbarrier &barrier) {
  Arrival kind = static_cast<Arrival>(in.variant);
  uint32_t operand = in.numSrc > 1 ? static_cast<uint32_t>(w.lane(in.src(1), lane)) : 0;
  if (in.numDst > 0 && !in.dst(0).isSink)
    w.setLane(in.dst(0), lane, stateToken(barrier));
  bool isArrival = kind == Arrival::Arrive || kind == Arrival::ArriveDrop;
  if (!isArrival || (in.flags & ExpectsTx))
    addTx(w, in, lane, address, barrier,
          kind == Arrival::CompleteTx ? -int64_t(operand) : int64_t(operand));
  if (isArrival) {
    uint32_t count = (in.flags & HasCount) ? operand : 1;
    if (count == 0 || count > barrier.pending) {
      misuse(w, in, lane, address,
             llvm::formatv("gets {0} arrivals in phase {1}, {2} of {3} are missing", count,
                           barrier.phase - barrier.first, barrier.pending, barrier.expected));
      count = std::min(count, barrier.pending);
    }
    barrier.pending -= count;
    if (kind == Arrival::ArriveDrop)
      barrier.expected -= std::min(count, barrier.expected);
    if ((in.flags & NoComplete) && barrier.pending == 0)
      misuse(w, in, lane, address, "completes its phase with an arrival that says .noComplete");
    if (isRelease(static_cast<MemoryOrder>(in.order)))
      for (Observer *observer : w.launch->observers)
        observer->onMbarrierArrive(w, 1u << lane, home, address, barrier.phase);
  }
  settle(home, barrier);
}

void arrive(Warp &w, const Inst &in, uint32_t mask) {
  LaneAddresses lanes;
  resolveBarriers(w, in, in.src(0), mask, AccessKind::Atomic, lanes);
  notifyBarriers(w, in, AccessKind::Atomic, lanes);
  forEachLane(lanes.mask, [&](unsigned lane) {
    Block &home = lanes.ownerOf(w, lane);
    if (Mbarrier *barrier = findMbarrier(w, in, lane, home, lanes.address[lane]))
      arriveOne(w, in, lane, home, lanes.address[lane], *barrier);
  });
}

/// The arrival that follows a lane's copies.
void arriveAfterCopies(Warp &w, const Inst &in, unsigned lane, uint64_t address) {
  Mbarrier *barrier = findMbarrier(w, in, lane, *w.block, address);
  if (!barrier)
    return;
  if (barrier->pending == 0)
    return misuse(w, in, lane, address, "gets an arrival, but none is missing");
  --barrier->pending;
  settle(*w.block, *barrier);
}

/// The same once the copies that the lane has issued so far are done.
void arriveLate(Warp &w, const Inst &in, unsigned lane, uint64_t address) {
  LateEffects &effects = lateEffectsOf(*w.block);
  auto &own = effects.copies[w.index * warpSize + lane];
  countUnwaited(w, in, 1u << lane);
  auto isDone = [](const std::shared_ptr<LaneCopy> &copy) { return copy->isDone; };
  llvm::erase_if(own.open, isDone); // or each arrival would take all copies since the start
  std::vector<std::shared_ptr<LaneCopy>> copies = own.open;
  for (auto &group : own.committed) {
    llvm::erase_if(group, isDone);
    copies.insert(copies.end(), group.begin(), group.end());
  }
  effects.landings[address].push_back([&w, &in, lane, address, copies = std::move(copies)] {
    for (const std::shared_ptr<LaneCopy> &copy : copies)
      copy->run();
    arriveAfterCopies(w, in, lane, address);
  });
}

/// cp.async.mbarrier.arrive: if the copies are done, the arrival comes at once. Without .noinc it
/// was added to what the phase waits for before, and the count stays as it is.
void arriveCopies(Warp &w, const Inst &in, uint32_t mask) {
  LaneAddresses lanes;
  resolveBarriers(w, in, in.src(0), mask, AccessKind::Atomic, lanes);
  dropRemote(w, in, lanes);
  notifyBarriers(w, in, AccessKind::Atomic, lanes);
  forEachLane(lanes.mask, [&](unsigned lane) {
    uint64_t address = lanes.address[lane];
    Mbarrier *barrier = findMbarrier(w, in, lane, *w.block, address);
    if (!barrier)
      return;
    for (Observer *observer : w.launch->observers)
      observer->onCopiesArrive(w, 1u << lane, address, barrier->phase);
    if (in.flags & IsCounted)
      ++barrier->pending;
    if (isLate(w))
      arriveLate(w, in, lane, address);
    else
      arriveAfterCopies(w, in, lane, address);
  });
}

/// Whether the phase a lane waits for is over, and which one that is.
bool isOver(Warp &w, const Inst &in, unsigned lane, const Mbarrier &barrier, uint32_t &phase) {
  uint64_t operand = w.lane(in.src(1), lane);
  if (in.flags & IsParity) {
    phase = barrier.phase - 1;
    return (barrier.phase & 1) != (operand & 1);
  }
  phase = static_cast<uint32_t>(operand >> 32);
  return barrier.phase != phase;
}

Outcome wait(Warp &w, const Inst &in, uint32_t mask) {
  LaneAddresses lanes;
  resolveBarriers(w, in, in.src(0), mask, AccessKind::Read, lanes);
  dropRemote(w, in, lanes);
  uint32_t over = mask & ~lanes.mask, phases[warpSize] = {};
  forEachLane(lanes.mask, [&](unsigned lane) {
    Mbarrier *barrier = findMbarrier(w, in, lane, *w.block, lanes.address[lane]);
    if (barrier && isLate(w))
      landAt(*w.block, lanes.address[lane],
             [&] { return isOver(w, in, lane, *barrier, phases[lane]); });
    if (!barrier || isOver(w, in, lane, *barrier, phases[lane]))
      over |= 1u << lane;
    if (!barrier)
      lanes.mask &= ~(1u << lane);
  });
  bool givesUp = (w.timedOut & mask) != 0;
  w.timedOut &= ~mask;
  if (over == 0 && !givesUp)
    return Outcome::Retry;
  w.setPredicate(in.dst(0), over, mask);
  if (over)
    hasWaited(w);
  lanes.mask &= over;
  notifyBarriers(w, in, AccessKind::Read, lanes);
  if (!isAcquire(static_cast<MemoryOrder>(in.order)))
    return Outcome::Continue;
  // Lanes that waited for the same phase of the same barrier learn together.
  for (uint32_t rest = lanes.mask; rest;) {
    unsigned first = static_cast<unsigned>(__builtin_ctz(rest));
    uint32_t same = 0;
    forEachLane(rest, [&](unsigned lane) {
      if (lanes.address[lane] == lanes.address[first] && phases[lane] == phases[first])
        same |= 1u << lane;
    });
    for (Observer *observer : w.launch->observers)
      observer->onMbarrierWait(w, same, *w.block, lanes.address[first], phases[first]);
    rest &= ~same;
  }
  return Outcome::Continue;
}

void pendingCount(Warp &w, const Inst &in, uint32_t mask) {
  forEachLane(mask, [&](unsigned lane) {
    w.setLane(in.dst(0), lane, w.lane(in.src(0), lane) & maxMbarrierCount);
  });
}

// --- decoding

/// .sem.scope and the space.
bool acceptOrderAndSpace(InstBuilder &b, MemoryOrder order) {
  b.inst.order = static_cast<uint8_t>(order);
  if (!b.acceptOrdering())
    return false;
  b.inst.space = b.acceptSpace();
  if (b.inst.space != Space::Generic && b.inst.space != Space::Shared)
    return b.fail("an mbarrier must lie in shared memory");
  return b.accept("b64") || b.fail("expected '.b64'");
}

bool finish(InstBuilder &b, Handler handler) {
  b.inst.execute = handler;
  b.inst.instClass = InstClass::Barrier;
  b.inst.poison = PoisonRule::AnySource;
  b.decoder().useAsyncProxy();
  return emitInst(b);
}

bool decodeArrive(InstBuilder &b, Arrival kind) {
  Inst &inst = b.inst;
  inst.variant = static_cast<uint8_t>(kind);
  bool isArrival = kind == Arrival::Arrive || kind == Arrival::ArriveDrop;
  if (isArrival) {
    inst.flags |= b.accept("expect_tx") ? ExpectsTx : 0;
    inst.flags |= b.accept("noComplete") ? NoComplete : 0;
  }
  if (!acceptOrderAndSpace(b, isArrival ? MemoryOrder::Release : MemoryOrder::Relaxed))
    return false;
  bool needsOperand = !isArrival || (inst.flags & (ExpectsTx | NoComplete));
  // Arrivals at another block's barrier return no state, and may leave the operand away.
  bool hasState = isArrival && b.numOperands() > 0 && b.operand(0).kind != Operand::Kind::Address;
  size_t first = hasState ? 1 : 0;
  if (!b.expectOperands(first + (needsOperand ? 2 : 1), first + 2) ||
      (hasState && !b.addDst(b.operand(0), Type::B64)) || !b.addAddress(b.operand(first)))
    return false;
  if (b.numOperands() > first + 1) {
    if (isArrival && !(inst.flags & ExpectsTx))
      inst.flags |= HasCount;
    if (!b.addSrc(b.operand(first + 1), Type::U32, Role::Control))
      return false;
  }
  return finish(b, arrive);
}

bool decodeWait(InstBuilder &b, bool hasTimeLimit) {
  Inst &inst = b.inst;
  inst.flags |= b.accept("parity") ? IsParity : 0;
  if (!acceptOrderAndSpace(b, MemoryOrder::Acquire) || !b.expectOperands(3, hasTimeLimit ? 4 : 3) ||
      !b.addDst(b.operand(0), Type::Pred) || !b.addAddress(b.operand(1)) ||
      !b.addSrc(b.operand(2), (inst.flags & IsParity) ? Type::U32 : Type::B64, Role::Control))
    return false;
  inst.flow = Flow::Blocking;
  inst.executeBlocking = wait;
  return finish(b, nullptr);
}

bool decodeMbarrier(InstBuilder &b) {
  static constexpr llvm::StringRef words[] = {"arrive", "arrive_drop", "expect_tx", "complete_tx"};
  int kind = b.acceptOneOf(words);
  if (kind >= 0)
    return decodeArrive(b, static_cast<Arrival>(kind));
  if (b.accept("test_wait"))
    return decodeWait(b, false);
  if (b.accept("try_wait"))
    return decodeWait(b, true);
  if (b.accept("init"))
    return acceptOrderAndSpace(b, MemoryOrder::Weak) && b.expectOperands(2) &&
           b.addAddress(b.operand(0)) && b.addSrc(b.operand(1), Type::U32, Role::Control) &&
           finish(b, initialize);
  if (b.accept("inval"))
    return acceptOrderAndSpace(b, MemoryOrder::Weak) && b.expectOperands(1) &&
           b.addAddress(b.operand(0)) && finish(b, invalidate);
  if (b.accept("pending_count"))
    return b.accept("b64") && b.expectOperands(2) && b.addDst(b.operand(0), Type::U32) &&
           b.addSrc(b.operand(1), Type::B64) && finish(b, pendingCount);
  return b.fail("unknown operation '." + b.peek() + "'");
}

} // namespace

bool decodeAsyncArrive(InstBuilder &b) {
  if (!b.accept("mbarrier") || !b.accept("arrive"))
    return b.fail("expected 'cp.async.mbarrier.arrive'");
  b.inst.flags = b.accept("noinc") ? 0 : IsCounted;
  return acceptOrderAndSpace(b, MemoryOrder::Relaxed) && b.expectOperands(1) &&
         b.addAddress(b.operand(0)) && finish(b, arriveCopies);
}

llvm::ArrayRef<FamilyEntry> mbarrierFamily() {
  static constexpr FamilyEntry entries[] = {{"mbarrier", decodeMbarrier}};
  return entries;
}

} // namespace vgpu
