//===- Memory.cpp - ld, st and prefetches -----------------------------------------------------===//
//
// PTX ISA, "Data movement": ld, ld.global.nc, ldu, st with vectors. Cache operators, eviction
// priorities and prefetch sizes are hints and change nothing here; orders and scopes reach the
// observers.
//
//===-----------------------------------------------------------------------------------===//
#include "Families.h"
#include "LocationLock.h"

using namespace vgpu::ptx;

namespace vgpu {

namespace {

enum MemoryFlags : uint8_t {
  SignExtend = 1,
  Whole = 2, ///< .b128: no thread may see one half of it
};

/// Calls `move()` for all lanes at once, or under each lane's lock if the access is whole.
template <class Move>
void moveWhole(const Warp &w, const Inst &in, LaneAddresses &lanes, unsigned bytes, Move move) {
  if (!(in.flags & Whole))
    return move();
  uint32_t all = lanes.mask;
  forEachLane(all, [&](unsigned lane) {
    LocationLock lock(w, lanes, lane, bytes);
    lanes.mask = 1u << lane;
    move();
  });
  lanes.mask = all;
}

/// Copies one element of each lane from memory to a row of the same width.
template <class T> void gatherRow(T *dst, uint8_t *const *host, size_t offset, uint32_t mask) {
  if (mask == fullMask) {
    for (unsigned i = 0; i < warpSize; ++i)
      std::memcpy(dst + i, host[i] + offset, sizeof(T));
    return;
  }
  forEachLane(mask, [&](unsigned i) { std::memcpy(dst + i, host[i] + offset, sizeof(T)); });
}
template <class T>
void scatterRow(const T *src, uint8_t *const *host, size_t offset, uint32_t mask) {
  forEachLane(mask, [&](unsigned i) { std::memcpy(host[i] + offset, src + i, sizeof(T)); });
}

void loadElement(Warp &w, const Inst &in, const Slot &slot, const LaneAddresses &lanes,
                 unsigned element) {
  size_t offset = size_t(element) * in.width;
  if (slot.bytes == in.width) {
    switch (in.width) {
    case 1:
      return gatherRow(w.row<uint8_t>(slot), lanes.host, offset, lanes.mask);
    case 2:
      return gatherRow(w.row<uint16_t>(slot), lanes.host, offset, lanes.mask);
    case 4:
      return gatherRow(w.row<uint32_t>(slot), lanes.host, offset, lanes.mask);
    default:
      return gatherRow(w.row<uint64_t>(slot), lanes.host, offset, lanes.mask);
    }
  }
  unsigned bits = in.width * 8;
  forEachLane(lanes.mask, [&](unsigned lane) {
    uint64_t value = 0;
    std::memcpy(&value, lanes.host[lane] + offset, in.width);
    if ((in.flags & SignExtend) && bits < 64 && (value >> (bits - 1) & 1))
      value |= ~uint64_t(0) << bits;
    w.setLane(slot, lane, value);
  });
}

void load(Warp &w, const Inst &in, uint32_t mask) {
  LaneAddresses lanes;
  computeAddresses(w, in.src(0), in.immediate, lanes.address);
  unsigned bytes = in.width * in.count;
  resolve(w, in, in.space, bytes, AccessKind::Read, mask, lanes);
  notify(w, in, AccessKind::Read, bytes, lanes);
  if (lanes.mask != mask) // faulting lanes read zero
    for (unsigned i = 0; i < in.numDst; ++i)
      forEachLane(mask & ~lanes.mask, [&](unsigned lane) { w.setLane(in.dst(i), lane, 0); });
  moveWhole(w, in, lanes, bytes, [&] {
    for (unsigned i = 0; i < in.numDst; ++i)
      if (!in.dst(i).isSink)
        loadElement(w, in, in.dst(i), lanes, i);
  });
}

void storeElement(Warp &w, const Inst &in, const Slot &slot, const LaneAddresses &lanes,
                  unsigned element) {
  size_t offset = size_t(element) * in.width;
  if (slot.bytes == in.width) {
    switch (in.width) {
    case 1:
      return scatterRow(w.row<uint8_t>(slot), lanes.host, offset, lanes.mask);
    case 2:
      return scatterRow(w.row<uint16_t>(slot), lanes.host, offset, lanes.mask);
    case 4:
      return scatterRow(w.row<uint32_t>(slot), lanes.host, offset, lanes.mask);
    default:
      return scatterRow(w.row<uint64_t>(slot), lanes.host, offset, lanes.mask);
    }
  }
  forEachLane(lanes.mask, [&](unsigned lane) {
    uint64_t value = w.lane(slot, lane);
    std::memcpy(lanes.host[lane] + offset, &value, in.width);
  });
}

void store(Warp &w, const Inst &in, uint32_t mask) {
  LaneAddresses lanes;
  computeAddresses(w, in.src(0), in.immediate, lanes.address);
  unsigned bytes = in.width * in.count;
  resolve(w, in, in.space, bytes, AccessKind::Write, mask, lanes);
  if (w.launch->isObserved() && !w.isShadowPass) {
    uint8_t values[warpSize * 32];
    LaneAddresses packed; // the observers see what will be stored, lane by lane
    packed.mask = lanes.mask;
    for (unsigned lane = 0; lane < warpSize; ++lane)
      packed.host[lane] = values + lane * bytes;
    for (unsigned i = 0; i + 1 < in.numSrc; ++i)
      storeElement(w, in, in.src(i + 1), packed, i);
    notify(w, in, AccessKind::Write, bytes, lanes, values);
  }
  moveWhole(w, in, lanes, bytes, [&] {
    for (unsigned i = 0; i + 1 < in.numSrc; ++i)
      storeElement(w, in, in.src(i + 1), lanes, i);
  });
}

void nothing(Warp &, const Inst &, uint32_t) {}

/// Cache operators and other hints, in any order.
bool acceptHints(InstBuilder &b) {
  static constexpr llvm::StringLiteral hints[] = {"ca",
                                                  "cg",
                                                  "cs",
                                                  "lu",
                                                  "cv",
                                                  "wb",
                                                  "wt",
                                                  "nc",
                                                  "L1::evict_normal",
                                                  "L1::evict_unchanged",
                                                  "L1::evict_first",
                                                  "L1::evict_last",
                                                  "L1::no_allocate",
                                                  "L2::evict_normal",
                                                  "L2::evict_first",
                                                  "L2::evict_last",
                                                  "L2::64B",
                                                  "L2::128B",
                                                  "L2::256B"};
  bool hasPolicy = false;
  for (bool isAny = true; isAny;) {
    isAny = false;
    for (llvm::StringRef hint : hints)
      isAny |= b.accept(hint);
    if (b.accept("L2::cache_hint"))
      isAny = hasPolicy = true;
  }
  return hasPolicy;
}

InstClass classOf(Space space, bool isStore) {
  switch (space) {
  case Space::Shared:
    return isStore ? InstClass::SharedStore : InstClass::SharedLoad;
  case Space::Local:
    return InstClass::LocalMemory;
  case Space::Const:
  case Space::Param:
    return InstClass::ConstantLoad;
  default:
    return isStore ? InstClass::GlobalStore : InstClass::GlobalLoad;
  }
}

bool decodeAccess(InstBuilder &b, bool isStore) {
  Inst &inst = b.inst;
  if (!b.acceptOrdering())
    return false;
  inst.space = b.acceptSpace();
  bool hasPolicy = acceptHints(b);
  unsigned count = b.accept("v2") ? 2 : b.accept("v4") ? 4 : b.accept("v8") ? 8 : 1;
  hasPolicy |= acceptHints(b);
  Type type = b.expectType();
  if (type == Type::None)
    return false;
  bool isWide = type == Type::B128;
  if (type == Type::Pred || bitWidth(type) < 8 || (isWide && count > 1))
    return b.fail("type '." + typeName(type) + "' is not supported here");
  // 128 bits are moved as a vector of two words is.
  inst.width = static_cast<uint8_t>(isWide ? 8 : byteWidth(type));
  inst.count = static_cast<uint8_t>(isWide ? 2 : count);
  inst.flags = isWide ? Whole : isSigned(type) && !isFloat(type) ? SignExtend : 0;
  if (count * inst.width > 32)
    return b.fail("vectors have at most 256 bits");
  if (!b.expectOperands(2, hasPolicy ? 3 : 2))
    return false;
  llvm::ArrayRef<Operand> values = InstBuilder::elements(b.operand(isStore ? 1 : 0));
  if (values.size() != count)
    return b.fail("expected " + llvm::Twine(count) + " elements, got " +
                  llvm::Twine(values.size()));
  if (!b.addAddress(b.operand(isStore ? 0 : 1)))
    return false;
  for (const Operand &value : values) {
    bool isGood = isWide    ? (isStore ? b.addWideSrc(value) : b.addWideDst(value))
                  : isStore ? b.addSrc(value, type, Role::Data, true)
                            : b.addDst(value, type, true);
    if (!isGood)
      return false;
  }
  inst.execute = isStore ? store : load;
  inst.poison = PoisonRule::SameMove;
  inst.instClass = classOf(inst.space, isStore);
  return emitInst(b);
}

bool decodeUniformLoad(InstBuilder &b) { return decodeAccess(b, false); }

/// prefetch, prefetchu, applypriority: hints without results.
bool decodePrefetch(InstBuilder &b) {
  while (!b.atEnd())
    b.accept(b.peek());
  b.inst.execute = nothing;
  b.inst.poison = PoisonRule::Defined;
  b.inst.instClass = InstClass::Other;
  return b.expectOperands(1, 2) && emitInst(b);
}
/// createpolicy makes an opaque cache policy; any value will do.
void makePolicy(Warp &w, const Inst &in, uint32_t mask) {
  forEachLane(mask, [&](unsigned lane) { w.setLane(in.dst(0), lane, 0); });
}
bool decodePolicy(InstBuilder &b) {
  while (!b.atEnd())
    b.accept(b.peek());
  b.inst.execute = makePolicy;
  b.inst.poison = PoisonRule::Defined;
  b.inst.instClass = InstClass::Other;
  return b.expectOperands(1, 4) && b.addDst(b.operand(0), Type::B64) && emitInst(b);
}

} // namespace

llvm::ArrayRef<FamilyEntry> memoryFamily() {
  static constexpr FamilyEntry entries[] = {
      {"ld", [](InstBuilder &b) { return decodeAccess(b, false); }},
      {"ldu", decodeUniformLoad},
      {"st", [](InstBuilder &b) { return decodeAccess(b, true); }},
      {"prefetch", decodePrefetch},
      {"prefetchu", decodePrefetch},
      {"applypriority", decodePrefetch},
      {"createpolicy", decodePolicy},
  };
  return entries;
}

} // namespace vgpu
