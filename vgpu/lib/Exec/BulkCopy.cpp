//===- BulkCopy.cpp - cp.async.bulk, its groups, and the decoding of all bulk copies ----------===//
//
// PTX ISA, "Data movement: cp.async.bulk". The bytes move when the copy is issued and its mbarrier
// gets them at once, or both happen when somebody waits (Late.h): two of the orders that hardware
// may choose. What a program may rely on is the business of the checks, which hear of every issue,
// commit and wait. A copy to shared memory may go to another block of the cluster, or to several.
//
//===-----------------------------------------------------------------------------------===//
#include "BulkCopy.h"
#include "Families.h"
#include "KernelDecoder.h"
#include "vgpu/Exec/Mbarrier.h"
#include "vgpu/Machine/Launch.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace vgpu::ptx;

namespace vgpu {

const BulkOperation &bulkOperationOf(const Warp &w, const Inst &in) {
  return w.launch->program->bulkOperations[static_cast<size_t>(in.immediate)];
}

/// Which bytes of each 16 a copy moves.
static uint16_t byteMaskOf(Warp &w, const Inst &in, unsigned lane) {
  int slot = bulkOperationOf(w, in).byteMaskSlot;
  return slot < 0 ? 0xffff : static_cast<uint16_t>(w.lane(in.src(slot), lane));
}

/// Calls `visit` with the offset and the number of bytes that a copy moves in one piece.
template <class Visit> static void forEachMoved(unsigned bytes, uint16_t mask, Visit visit) {
  if (mask == 0xffff)
    return visit(0u, bytes);
  auto isMoved = [&](unsigned at) { return mask >> (at % 16) & 1; };
  for (unsigned at = 0, end; at < bytes; at = end) {
    for (end = at + 1; end < bytes && isMoved(end) == isMoved(at);)
      ++end;
    if (isMoved(at))
      visit(at, end - at);
  }
}

SharedAddress openShared(Warp &w, const Inst &in, unsigned lane, uint64_t address, unsigned bytes,
                         unsigned align, AccessKind kind, Block *target) {
  LaneAddresses lanes;
  bool namesBlock = target && w.block->cluster->blocks.size() > 1;
  lanes.address[lane] = namesBlock ? inBlockOfRank(address, target->rank) : address;
  resolve(w, in, Space::Shared, bytes, kind, 1u << lane, lanes, align);
  if (lanes.mask == 0)
    return {};
  Block &home = lanes.ownerOf(w, lane);
  if (kind == AccessKind::AsyncRead && &home != w.block) {
    report(
        w, in, lane, FindingKind::InvalidAccess,
        llvm::formatv("a copy from shared memory of block {0} of the cluster; it must be the own",
                      home.rank));
    return {};
  }
  forEachMoved(bytes, byteMaskOf(w, in, lane), [&](unsigned offset, unsigned count) {
    notifyOne(w, in, Space::Shared, kind, AccessBy::AsyncProxy, lane, lanes.address[lane] + offset,
              count, MemoryOrder::Weak, MemoryScope::Cta, &home);
  });
  return {&home, lanes.address[lane], lanes.host[lane]};
}

llvm::SmallVector<Block *, 4> targetsOf(Warp &w, const Inst &in, unsigned lane) {
  const BulkOperation &operation = bulkOperationOf(w, in);
  if (operation.castMaskSlot < 0)
    return {nullptr};
  const auto &blocks = w.block->cluster->blocks;
  uint64_t chosen = w.lane(in.src(operation.castMaskSlot), lane);
  if (chosen >> blocks.size())
    report(w, in, lane, FindingKind::InvalidAccess,
           llvm::formatv("a copy to the blocks {0:x} of the cluster, which has {1}", chosen,
                         blocks.size()));
  llvm::SmallVector<Block *, 4> targets;
  for (const std::unique_ptr<Block> &block : blocks)
    if (chosen >> block->rank & 1)
      targets.push_back(block.get());
  return targets;
}

std::optional<Landing> openLanding(Warp &w, const Inst &in, unsigned lane, uint64_t address,
                                   unsigned bytes, unsigned align, Block *target) {
  const BulkOperation &operation = bulkOperationOf(w, in);
  LaneAddresses lanes;
  computeAddresses(w, in.src(operation.barrierSlot), operation.barrierOffset, lanes.address);
  if (target && w.block->cluster->blocks.size() > 1)
    lanes.address[lane] = inBlockOfRank(lanes.address[lane], target->rank);
  resolve(w, in, Space::Shared, 8, AccessKind::Atomic, 1u << lane, lanes);
  if (lanes.mask == 0)
    return std::nullopt;
  Block &home = lanes.ownerOf(w, lane);
  if (!findMbarrier(w, in, lane, home, lanes.address[lane]))
    return std::nullopt;
  notifyOne(w, in, Space::Shared, AccessKind::Atomic, AccessBy::Mbarrier, lane, lanes.address[lane],
            8, MemoryOrder::Relaxed, MemoryScope::Cluster, &home);
  Landing landing{openShared(w, in, lane, address, bytes, align, AccessKind::AsyncWrite, target),
                  lanes.address[lane]};
  if (!landing.to.block)
    return std::nullopt;
  if (landing.to.block != &home) {
    report(w, in, lane, FindingKind::InvalidAccess,
           llvm::formatv("the copy goes to block {0} of the cluster, its mbarrier is of block {1}",
                         landing.to.block->rank, home.rank));
    return std::nullopt;
  }
  return landing;
}

void landInShared(Warp &w, const Inst &in, unsigned lane, const Landing &landing, unsigned bytes,
                  BulkMove move) {
  countUnwaited(w, in, 1u << lane);
  Block &home = *landing.to.block;
  uint32_t phase = mbarriersOf(home)[landing.mbarrier].phase;
  for (Observer *observer : w.launch->observers)
    observer->onBulkWrite(w, in, lane, home, landing.to.address, bytes, landing.mbarrier, phase);
  if (w.launch->poison)
    std::memset(home.sharedShadow.data() + landing.to.address, 0, bytes);
  auto land = [&w, &in, &home, lane, mbarrier = landing.mbarrier, bytes,
               move = std::move(move)]() mutable {
    move.run();
    completeTx(w, in, lane, home, mbarrier, bytes);
  };
  if (isLate(w))
    lateEffectsOf(home).landings[landing.mbarrier].push_back(std::move(land));
  else
    land();
}

void leaveShared(Warp &w, const Inst &in, unsigned lane, uint64_t address, unsigned bytes,
                 BulkMove move) {
  countUnwaited(w, in, 1u << lane);
  std::vector<uint64_t> chunks;
  for (uint64_t at = address; at < address + bytes; at += 16)
    chunks.push_back(at);
  for (Observer *observer : w.launch->observers)
    observer->onTileRead(w, in, 1u << lane, chunks, TileGroups::Bulk);
  if (isLate(w))
    lateEffectsOf(*w.block).stores[w.index * warpSize + lane].open.push_back(std::move(move));
  else
    move.run();
}

void checkDefined(Warp &w, const Inst &in, unsigned lane, uint64_t address, unsigned bytes) {
  if (!w.launch->poison)
    return;
  const uint8_t *shadow = w.block->sharedShadow.data() + address;
  bool isDefined = true;
  forEachMoved(bytes, byteMaskOf(w, in, lane), [&](unsigned offset, unsigned count) {
    isDefined &= std::all_of(shadow + offset, shadow + offset + count,
                             [](uint8_t bits) { return bits == 0; });
  });
  if (isDefined)
    return;
  if (!w.launch->findings->countRepeat(FindingKind::Uninitialized, in.line, 0))
    report(
        w, in, lane, FindingKind::Uninitialized,
        llvm::formatv("the copy '{0}' to global memory reads bits of {1} that were never written",
                      in.source->opcode, describeAddress(w, Space::Shared, address)));
}

namespace {

/// The global side: host memory, or null after a finding.
uint8_t *openGlobal(Warp &w, const Inst &in, unsigned lane, uint64_t &address, unsigned bytes,
                    AccessKind kind) {
  LaneAddresses lanes;
  lanes.address[lane] = address;
  resolve(w, in, Space::Global, bytes, kind, 1u << lane, lanes, 16);
  if (lanes.mask == 0)
    return nullptr;
  bool isAtomic = kind == AccessKind::Atomic;
  forEachMoved(bytes, byteMaskOf(w, in, lane), [&](unsigned offset, unsigned count) {
    notifyOne(w, in, Space::Global, kind, AccessBy::AsyncProxy, lane, address + offset, count,
              isAtomic ? MemoryOrder::Relaxed : MemoryOrder::Weak, MemoryScope::Gpu);
  });
  return lanes.host[lane];
}

/// What moves from one end to the other.
BulkMove moveOf(Warp &w, const Inst &in, unsigned lane, uint8_t *to, const uint8_t *from,
                unsigned bytes) {
  const BulkOperation &operation = bulkOperationOf(w, in);
  BulkMove move;
  move.pieces.push_back({to, from, bytes});
  move.reduction = operation.reduction;
  move.type = operation.type;
  move.byteMask = byteMaskOf(w, in, lane);
  return move;
}

/// From shared to global memory.
void storeLane(Warp &w, const Inst &in, unsigned lane, uint64_t shared, uint64_t global,
               unsigned bytes) {
  bool isReduction = bulkOperationOf(w, in).reduction != BulkReduction::None;
  SharedAddress from = openShared(w, in, lane, shared, bytes, 16, AccessKind::AsyncRead);
  uint8_t *to = openGlobal(w, in, lane, global, bytes,
                           isReduction ? AccessKind::Atomic : AccessKind::AsyncWrite);
  if (from.block)
    checkDefined(w, in, lane, from.address, bytes);
  if (from.block && to)
    leaveShared(w, in, lane, from.address, bytes, moveOf(w, in, lane, to, from.host, bytes));
}

/// To shared memory, from global memory or from the own block's shared memory.
void loadLane(Warp &w, const Inst &in, unsigned lane, uint64_t to, uint64_t from, unsigned bytes) {
  const uint8_t *source;
  if (bulkOperationOf(w, in).kind == BulkOperation::Kind::Load) {
    source = openGlobal(w, in, lane, from, bytes, AccessKind::AsyncRead);
  } else {
    SharedAddress opened = openShared(w, in, lane, from, bytes, 16, AccessKind::AsyncRead);
    source = opened.host;
    if (source)
      checkDefined(w, in, lane, opened.address, bytes);
  }
  for (Block *target : targetsOf(w, in, lane)) {
    std::optional<Landing> landing = openLanding(w, in, lane, to, bytes, 16, target);
    if (landing && source)
      landInShared(w, in, lane, *landing, bytes,
                   moveOf(w, in, lane, landing->to.host, source, bytes));
  }
}

void copyLane(Warp &w, const Inst &in, unsigned lane) {
  using Kind = BulkOperation::Kind;
  const BulkOperation &operation = bulkOperationOf(w, in);
  uint64_t shared[warpSize], other[warpSize];
  computeAddresses(w, in.src(operation.sharedSlot), operation.sharedOffset, shared);
  computeAddresses(w, in.src(operation.otherSlot), operation.otherOffset, other);
  uint64_t size = w.lane(in.src(operation.sizeSlot), lane);
  if (size % 16 != 0) {
    report(w, in, lane, FindingKind::Misaligned,
           llvm::formatv("a bulk copy of {0} bytes; the size must be a multiple of 16", size));
    return;
  }
  if (size == 0)
    return;
  unsigned bytes = static_cast<unsigned>(size);
  if (operation.kind == Kind::Store)
    storeLane(w, in, lane, shared[lane], other[lane], bytes);
  else if (operation.kind == Kind::Load)
    loadLane(w, in, lane, shared[lane], other[lane], bytes);
  else
    loadLane(w, in, lane, other[lane], shared[lane], bytes);
}

void copyBulk(Warp &w, const Inst &in, uint32_t mask) {
  forEachLane(mask, [&](unsigned lane) { copyLane(w, in, lane); });
}
void nothing(Warp &, const Inst &, uint32_t) {}

/// Lets the copies of a lane happen, or only their reads, but those of its last groups.
void runStores(PendingGroups<BulkMove> &stores, size_t pendingGroups, bool isReadOnly) {
  if (stores.committed.size() <= pendingGroups)
    return;
  auto end = stores.committed.end() - static_cast<ptrdiff_t>(pendingGroups);
  for (auto group = stores.committed.begin(); group != end; ++group)
    for (BulkMove &move : *group)
      isReadOnly ? move.read() : move.run();
  if (!isReadOnly)
    stores.committed.erase(stores.committed.begin(), end);
}

void commitGroup(Warp &w, const Inst &in, uint32_t mask) {
  countUnwaited(w, in, mask);
  if (isLate(w))
    forEachLane(mask, [&](unsigned lane) {
      lateEffectsOf(*w.block).stores[w.index * warpSize + lane].commit();
    });
  for (Observer *observer : w.launch->observers)
    observer->onTileCommit(w, mask, TileGroups::Bulk);
}
void waitGroup(Warp &w, const Inst &in, uint32_t mask) {
  hasWaited(w, static_cast<uint64_t>(in.immediate));
  if (isLate(w))
    forEachLane(mask, [&](unsigned lane) {
      runStores(lateEffectsOf(*w.block).stores[w.index * warpSize + lane],
                static_cast<size_t>(in.immediate), in.variant != 0);
    });
  for (Observer *observer : w.launch->observers)
    observer->onTileWait(w, mask, static_cast<uint32_t>(in.immediate), TileGroups::Bulk,
                         /*isReadOnly=*/in.variant != 0);
}

// --- decoding

bool finish(InstBuilder &b, Handler handler) {
  b.inst.execute = handler;
  b.inst.instClass = InstClass::AsyncCopy;
  b.inst.poison = PoisonRule::AnySource;
  return emitInst(b);
}

/// Reads modifiers and operands of the copies; what comes first differs, the rest is common.
struct BulkDecoder {
  InstBuilder &b;
  BulkOperation operation;
  bool hasPolicy = false, hasByteMask = false, isCast = false;
  size_t next = 0; ///< operand
  unsigned sources = 0;

  /// An address in `space`: variables named there stand for their address in it.
  bool address(int8_t &slot, int64_t &offset, Space space) {
    if (next >= b.numOperands())
      return b.fail("too few operands");
    b.inst.space = space;
    if (b.inst.addressSlot == 0xff) // makes poison in any of the addresses a finding
      b.inst.addressSlot = 0;
    slot = static_cast<int8_t>(sources++);
    return b.addAddress(b.operand(next++), offset);
  }
  bool value(int8_t &slot, Type type) {
    if (next >= b.numOperands())
      return b.fail("too few operands");
    slot = static_cast<int8_t>(sources++);
    return b.addSrc(b.operand(next++), type, Role::Control);
  }
  /// [map, {c0, c1, ...}]
  bool tensor() {
    if (next >= b.numOperands() || b.operand(next).kind != Operand::Kind::Address ||
        b.operand(next).elements.size() != 2)
      return b.fail("expected '[tensorMap, {coordinates}]'");
    const Operand &coordinates = b.operand(next).elements[1];
    if (!address(operation.otherSlot, operation.otherOffset, Space::Generic))
      return false;
    unsigned wanted = operation.mode == BulkOperation::Mode::Gather4 ? 5 : operation.rank;
    return vector(coordinates, wanted, "coordinates", Type::S32, operation.coordinateSlot);
  }
  /// {v0, v1, ...}
  bool vector(const Operand &operand, unsigned wanted, llvm::StringRef what, Type type,
              int8_t &slot) {
    llvm::ArrayRef<Operand> parts = InstBuilder::elements(operand);
    if (parts.size() != wanted)
      return b.fail("expected " + llvm::Twine(wanted) + " " + what + ", got " +
                    llvm::Twine(parts.size()));
    slot = static_cast<int8_t>(sources);
    for (const Operand &part : parts) {
      ++sources;
      if (!b.addSrc(part, type, Role::Control))
        return false;
    }
    return true;
  }
  /// Offsets of im2col mode, for the dimensions between channels and images.
  bool offsets() {
    if (next >= b.numOperands())
      return b.fail("too few operands");
    return vector(b.operand(next++), operation.rank - 2u, "offsets", Type::U16,
                  operation.offsetSlot);
  }

  /// .tile and the modes beside it; false after a message.
  bool mode(bool &isAny) {
    using Mode = BulkOperation::Mode;
    isAny = true;
    if (b.accept("tile::gather4") || b.accept("tile::scatter4")) {
      unsigned version = 0;
      llvm::StringRef target = b.decoder().module().target;
      target.drop_front(3)
          .take_while([](char c) { return llvm::isDigit(c); })
          .getAsInteger(10, version);
      if (version < 100)
        return b.fail("four rows at once need the target sm_100, the PTX is for " +
                      llvm::Twine(target));
      operation.mode = Mode::Gather4;
      return operation.rank == 2 || b.fail("four rows at once need a tensor of '.2d'");
    }
    if (b.accept("im2col") || b.accept("im2col_no_offs")) {
      operation.mode = Mode::Im2col;
      return operation.rank >= 3 || b.fail("im2col mode needs '.3d' to '.5d'");
    }
    if (b.peek().starts_with("im2col") || b.peek().starts_with("tile::"))
      return b.fail("mode '." + b.peek() + "' is not supported");
    isAny = b.accept("tile");
    return true;
  }

  bool dimension() {
    static constexpr llvm::StringRef words[] = {"1d", "2d", "3d", "4d", "5d"};
    int rank = b.acceptOneOf(words);
    operation.rank = static_cast<uint8_t>(rank + 1);
    return rank >= 0 || b.fail("expected '.1d' to '.5d'");
  }
  /// Modifiers that may follow the spaces, in the orders compilers print them.
  bool rest(bool &hasBarrier) {
    bool hasCompletion = false;
    for (bool isAny = true; isAny;) {
      if (!mode(isAny))
        return false;
      if (b.accept("mbarrier::complete_tx::bytes"))
        isAny = hasCompletion = hasBarrier = true;
      if (b.accept("bulk_group"))
        isAny = hasCompletion = true;
      if (b.accept("multicast::cluster"))
        isAny = isCast = true;
      if (b.accept("L2::cache_hint"))
        isAny = hasPolicy = true;
      if (b.accept("cp_mask"))
        isAny = hasByteMask = true;
    }
    return hasCompletion || b.fail("expected '.mbarrier::complete_tx::bytes' or '.bulk_group'");
  }
  bool reduction() {
    static constexpr llvm::StringRef words[] = {"add", "min", "max", "inc",
                                                "dec", "and", "or",  "xor"};
    int which = b.acceptOneOf(words);
    operation.reduction = static_cast<BulkReduction>(which + 1);
    return which >= 0 || b.fail("expected the operation of the reduction");
  }
  bool spaces() {
    Space to = b.acceptSpace(), from = b.acceptSpace();
    using Kind = BulkOperation::Kind;
    if (to == Space::Shared && from == Space::Global)
      operation.kind = Kind::Load;
    else if (to == Space::Global && from == Space::Shared)
      operation.kind = Kind::Store;
    else if (to == Space::Shared && from == Space::Shared)
      operation.kind = Kind::Local;
    else
      return b.fail("expected two of .global and .shared");
    return true;
  }
  bool operands(bool hasBarrier) {
    using Kind = BulkOperation::Kind;
    bool isLoad = operation.kind == Kind::Load;
    if (hasBarrier == (operation.kind == Kind::Store))
      return b.fail("a copy to shared memory completes at an mbarrier, one to global memory in a "
                    "bulk group");
    Space otherSpace = operation.kind == Kind::Local ? Space::Shared : Space::Global;
    auto shared = [&] {
      return address(operation.sharedSlot, operation.sharedOffset, Space::Shared);
    };
    auto other = [&] {
      return operation.rank ? tensor()
                            : address(operation.otherSlot, operation.otherOffset, otherSpace);
    };
    if (!(isLoad ? shared() && other() : other() && shared()) ||
        (!operation.rank && !value(operation.sizeSlot, Type::U32)) ||
        (hasBarrier && !address(operation.barrierSlot, operation.barrierOffset, Space::Shared)) ||
        (isLoad && operation.mode == BulkOperation::Mode::Im2col && !offsets()) ||
        (isCast && !value(operation.castMaskSlot, Type::U16)))
      return false;
    next += hasPolicy;
    bool canMask = operation.kind == Kind::Store && !operation.rank &&
                   operation.reduction == BulkReduction::None;
    if (hasByteMask && !canMask)
      return b.fail("'.cp_mask' goes with copies of plain bytes to global memory");
    if (hasByteMask && !value(operation.byteMaskSlot, Type::U16))
      return false;
    if (next != b.numOperands())
      return b.fail("too many operands");
    b.inst.space = Space::Shared;
    b.inst.immediate = b.decoder().addBulkOperation(operation);
    return true;
  }
};

/// cp.async.bulk.prefetch: checked like a load, does nothing.
bool decodePrefetch(InstBuilder &b) {
  BulkDecoder decoder{b, {}};
  decoder.operation.kind = BulkOperation::Kind::Prefetch;
  bool isTensor = b.accept("tensor");
  if (isTensor && !decoder.dimension())
    return false;
  if (!b.accept("L2") || b.acceptSpace() != Space::Global)
    return b.fail("expected '.L2.global'");
  bool isAny = false;
  if (isTensor && !decoder.mode(isAny))
    return false;
  BulkOperation &operation = decoder.operation;
  bool isIm2col = operation.mode == BulkOperation::Mode::Im2col;
  bool hasPolicy = b.accept("L2::cache_hint");
  if (!b.expectOperands((isTensor && !isIm2col ? 1 : 2) + (hasPolicy ? 1 : 0)))
    return false;
  bool isRead = isTensor
                    ? decoder.tensor() && (!isIm2col || decoder.offsets())
                    : decoder.address(operation.otherSlot, operation.otherOffset, Space::Global) &&
                          decoder.value(operation.sizeSlot, Type::U32);
  return isRead && finish(b, nothing);
}

} // namespace

bool decodeBulkCopy(InstBuilder &b) {
  b.accept("bulk");
  if (b.accept("commit_group"))
    return b.expectOperands(0) && finish(b, commitGroup);
  if (b.accept("wait_group")) {
    b.inst.variant = b.accept("read"); // waits for the reads of shared memory only
    uint64_t groups;
    if (!b.expectOperands(1) || !b.constantOperand(b.operand(0), 1u << 30, groups))
      return false;
    b.inst.immediate = static_cast<int64_t>(groups);
    return finish(b, waitGroup);
  }
  if (b.accept("prefetch"))
    return decodePrefetch(b);
  BulkDecoder decoder{b, {}};
  bool hasBarrier = false;
  if (b.accept("tensor") && !decoder.dimension())
    return false;
  if (!decoder.spaces() || !decoder.rest(hasBarrier) || !decoder.operands(hasBarrier))
    return false;
  return finish(b, decoder.operation.rank ? copyTensor : copyBulk);
}

bool decodeBulkReduction(InstBuilder &b) {
  if (!b.accept("reduce") || !b.accept("async") || !b.accept("bulk"))
    return b.fail("expected 'cp.reduce.async.bulk'");
  BulkDecoder decoder{b, {}};
  BulkOperation &operation = decoder.operation;
  bool hasBarrier = false;
  if (b.accept("tensor")) {
    if (!decoder.dimension() || !decoder.spaces() || !decoder.reduction() ||
        !decoder.rest(hasBarrier) || !decoder.operands(hasBarrier))
      return false;
    return finish(b, copyTensor);
  }
  if (!decoder.spaces() || !decoder.rest(hasBarrier) || !decoder.reduction())
    return false;
  b.accept("noftz");
  operation.type = b.expectType();
  return operation.type != Type::None && decoder.operands(hasBarrier) && finish(b, copyBulk);
}

} // namespace vgpu
