//===- Atomic.cpp - atom and red --------------------------------------------------------------===//
//
// PTX ISA, "atom" and "red", with vectors and 128 bits (sm_90). Lanes of a warp update in lane
// order; blocks on other host threads are held off by a lock, so every update is atomic.
//
//===-----------------------------------------------------------------------------------===//
#include "Families.h"
#include "LocationLock.h"
#include "vgpu/Exec/SmallFloat.h"

using namespace vgpu::ptx;

namespace vgpu {

namespace {

enum class AtomicOp : uint8_t { Add, Exch, Cas, Min, Max, And, Or, Xor, Inc, Dec };

Type elementType(const Inst &in) { return static_cast<Type>(in.flags); }

template <class T> T minMax(T a, T b, bool isMin) {
  return isMin ? std::min(a, b) : std::max(a, b);
}

/// min/max of half types: a NaN loses.
uint16_t halfMinMax(uint16_t a, uint16_t b, bool isMin, bool isBf16) {
  auto decode = [&](uint16_t bits) { return isBf16 ? bf16ToFloat(bits) : halfToFloat(bits); };
  float left = decode(a), right = decode(b);
  if (left != left || right != right)
    return left != left ? (right != right ? 0x7fff : b) : a;
  bool aFirst = left < right || (left == right && (a & 0x8000));
  return aFirst == isMin ? a : b;
}

uint64_t update16(AtomicOp op, Type type, uint16_t old, uint16_t value) {
  bool isBf16 = type == Type::BF16;
  if (op == AtomicOp::Min || op == AtomicOp::Max)
    return halfMinMax(old, value, op == AtomicOp::Min, isBf16);
  return isBf16 ? floatToBf16(bf16ToFloat(old) + bf16ToFloat(value))
                : floatToHalf(halfToFloat(old) + halfToFloat(value));
}

/// The new value of a location that holds `old`.
uint64_t update(AtomicOp op, Type type, uint64_t old, uint64_t value, uint64_t swap) {
  switch (op) {
  case AtomicOp::Exch:
    return value;
  case AtomicOp::Cas:
    return old == value ? swap : old;
  case AtomicOp::And:
    return old & value;
  case AtomicOp::Or:
    return old | value;
  case AtomicOp::Xor:
    return old ^ value;
  case AtomicOp::Inc:
    return uint32_t(old) >= uint32_t(value) ? 0 : uint32_t(old) + 1;
  case AtomicOp::Dec:
    return uint32_t(old) == 0 || uint32_t(old) > uint32_t(value) ? value : uint32_t(old) - 1;
  default:
    break;
  }
  bool isMin = op == AtomicOp::Min;
  switch (type) {
  case Type::F32:
    // Global f32 atomics may flush subnormals on hardware; keeping them is allowed, too.
    return std::bit_cast<uint32_t>(
        canonical(std::bit_cast<float>(uint32_t(old)) + std::bit_cast<float>(uint32_t(value))));
  case Type::F64:
    return std::bit_cast<uint64_t>(std::bit_cast<double>(old) + std::bit_cast<double>(value));
  case Type::F16:
  case Type::BF16:
    return update16(op, type, uint16_t(old), uint16_t(value));
  case Type::F16x2:
  case Type::BF16x2: {
    Type half = type == Type::F16x2 ? Type::F16 : Type::BF16;
    return update16(op, half, uint16_t(old), uint16_t(value)) |
           update16(op, half, uint16_t(old >> 16), uint16_t(value >> 16)) << 16;
  }
  default:
    break;
  }
  if (op == AtomicOp::Add)
    return old + value;
  switch (type) {
  case Type::S32:
    return uint64_t(uint32_t(minMax(int32_t(old), int32_t(value), isMin)));
  case Type::S64:
    return uint64_t(minMax(int64_t(old), int64_t(value), isMin));
  case Type::U32:
    return minMax(uint32_t(old), uint32_t(value), isMin);
  default:
    return minMax(old, value, isMin);
  }
}

/// What the lanes get is as poisoned as the location was. An exchange, whose operand is defined or
/// reported, defines it; after all others it is what it was.
void updateShadow(Warp &w, const Inst &in, const LaneAddresses &lanes) {
  bool defines = static_cast<AtomicOp>(in.variant) == AtomicOp::Exch;
  forEachLane(lanes.mask, [&](unsigned lane) {
    bool isShared = (lanes.isMixed ? lanes.laneSpace[lane] : lanes.space) == Space::Shared;
    for (unsigned i = 0; i < in.count; ++i) {
      uint8_t *at = lanes.host[lane] + i * in.width;
      uint64_t poison = 0;
      if (isShared) // global memory is always defined
        std::memcpy(&poison, at, in.width);
      if (in.numDst)
        w.setLane(in.dst(i), lane, poison);
      if (defines)
        std::memset(at, 0, in.width);
    }
  });
}

/// Calls `updateLane(lane, host)` for each lane whose access does not fault, one after the other.
template <class Update>
void updateLanes(Warp &w, const Inst &in, uint32_t mask, Update updateLane) {
  LaneAddresses lanes;
  computeAddresses(w, in.src(0), in.immediate, lanes.address);
  unsigned bytes = in.width * in.count;
  resolve(w, in, in.space, bytes, AccessKind::Atomic, mask, lanes);
  if (w.isShadowPass)
    return updateShadow(w, in, lanes);
  notify(w, in, AccessKind::Atomic, bytes, lanes);
  forEachLane(lanes.mask, [&](unsigned lane) {
    LocationLock lock(w, lanes, lane, bytes);
    updateLane(lane, lanes.host[lane]);
  });
}

void atomic(Warp &w, const Inst &in, uint32_t mask) {
  AtomicOp op = static_cast<AtomicOp>(in.variant);
  Type type = elementType(in);
  unsigned count = in.count;
  updateLanes(w, in, mask, [&](unsigned lane, uint8_t *host) {
    for (unsigned i = 0; i < count; ++i) {
      uint8_t *at = host + i * in.width;
      uint64_t old = 0;
      std::memcpy(&old, at, in.width);
      uint64_t value = w.lane(in.src(1 + i), lane);
      uint64_t swap = op == AtomicOp::Cas ? w.lane(in.src(2), lane) : 0;
      uint64_t result = update(op, type, old, value, swap);
      std::memcpy(at, &result, in.width);
      if (in.numDst)
        w.setLane(in.dst(i), lane, old);
    }
  });
}

/// exch and cas of 128 bits. Operands are pairs of 64-bit words, the low one first.
void atomicWide(Warp &w, const Inst &in, uint32_t mask) {
  using Words = std::array<uint64_t, 2>;
  bool isCas = static_cast<AtomicOp>(in.variant) == AtomicOp::Cas;
  updateLanes(w, in, mask, [&](unsigned lane, uint8_t *host) {
    auto operand = [&](unsigned i) -> Words {
      return {w.lane(in.src(i), lane), w.lane(in.src(i + 1), lane)};
    };
    Words old, value = operand(1);
    std::memcpy(old.data(), host, sizeof(old));
    if (!isCas || old == value) {
      Words result = isCas ? operand(3) : value;
      std::memcpy(host, result.data(), sizeof(result));
    }
    for (unsigned i = 0; i < 2; ++i)
      w.setLane(in.dst(i), lane, old[i]);
  });
}

/// The operands of exch and cas of 128 bits; there is no red of them.
bool decodeWideAtomic(InstBuilder &b, AtomicOp op, bool hasResult, bool hasPolicy) {
  bool isCas = op == AtomicOp::Cas;
  if (!hasResult || (!isCas && op != AtomicOp::Exch))
    return b.fail("type '.b128' is not supported for this operation");
  size_t operands = isCas ? 4 : 3;
  if (!b.expectOperands(operands, operands + (hasPolicy && !isCas ? 1 : 0)))
    return false;
  if (!b.addWideDst(b.operand(0)) || !b.addAddress(b.operand(1)) || !b.addWideSrc(b.operand(2)) ||
      (isCas && !b.addWideSrc(b.operand(3))))
    return false;
  b.inst.width = 8;
  b.inst.count = 2;
  b.inst.execute = atomicWide;
  return emitInst(b);
}

bool decodeAtomic(InstBuilder &b, bool hasResult) {
  Inst &inst = b.inst;
  if (b.accept("async"))
    return b.fail("red.async needs a cluster of more than one block");
  inst.order = static_cast<uint8_t>(MemoryOrder::Relaxed);
  inst.scope = static_cast<uint8_t>(MemoryScope::Gpu);
  if (!b.acceptOrdering())
    return false;
  inst.space = b.acceptSpace();
  if (!b.acceptOrdering()) // `red.global.gpu...` is also written
    return false;
  int op = b.acceptOneOf({"add", "exch", "cas", "min", "max", "and", "or", "xor", "inc", "dec"});
  if (op < 0)
    return b.fail("unknown operation '." + b.peek() + "'");
  if (!b.acceptOrdering()) // nvcc writes `atom.exch.release.gpu.b128`
    return false;
  b.accept("noftz");
  bool hasPolicy = b.accept("L2::cache_hint");
  unsigned count = b.accept("v2") ? 2 : b.accept("v4") ? 4 : b.accept("v8") ? 8 : 1;
  Type type = b.expectType();
  if (type == Type::None)
    return false;
  AtomicOp operation = static_cast<AtomicOp>(op);
  inst.variant = static_cast<uint8_t>(op);
  inst.instClass = InstClass::Atomic;
  inst.poison = PoisonRule::Atomic;
  if (type == Type::B128 && count == 1)
    return decodeWideAtomic(b, operation, hasResult, hasPolicy);
  bool isFloating = isFloat(type);
  bool isHalf = isFloating && type != Type::F32 && type != Type::F64;
  bool isAllowed = !isFloating || operation == AtomicOp::Add ||
                   (isHalf && (operation == AtomicOp::Min || operation == AtomicOp::Max));
  unsigned bits = bitWidth(type);
  if (!isAllowed || bits < 16 || bits > 64 || (bits == 16 && !isHalf && operation != AtomicOp::Cas))
    return b.fail("type '." + typeName(type) + "' is not supported for this operation");
  inst.flags = static_cast<uint8_t>(type);
  inst.width = static_cast<uint8_t>(bits / 8);
  inst.count = static_cast<uint8_t>(count);
  size_t first = hasResult ? 1 : 0;
  size_t values = operation == AtomicOp::Cas ? 2 : 1;
  if (!b.expectOperands(first + 1 + values, first + 1 + values + (hasPolicy ? 1 : 0)))
    return false;
  if (hasResult) {
    for (const Operand &result : InstBuilder::elements(b.operand(0)))
      if (!b.addDst(result, type))
        return false;
  }
  if (!b.addAddress(b.operand(first)))
    return false;
  for (size_t i = 0; i < values; ++i) {
    llvm::ArrayRef<Operand> elements = InstBuilder::elements(b.operand(first + 1 + i));
    if (elements.size() != count)
      return b.fail("expected " + llvm::Twine(count) + " elements");
    for (const Operand &value : elements)
      if (!b.addSrc(value, type))
        return false;
  }
  inst.execute = atomic;
  return emitInst(b);
}

} // namespace

llvm::ArrayRef<FamilyEntry> atomicFamily() {
  static constexpr FamilyEntry entries[] = {
      {"atom", [](InstBuilder &b) { return decodeAtomic(b, true); }},
      {"red", [](InstBuilder &b) { return decodeAtomic(b, false); }},
  };
  return entries;
}

} // namespace vgpu
