//===- Move.cpp - mov, cvta, isspacep, counters ----------------------------------------------===//
#include "Families.h"
#include "KernelDecoder.h"
#include "vgpu/Exec/Rows.h"
#include "vgpu/Machine/Block.h"
#include "vgpu/Memory/AddressMap.h"

using namespace vgpu::ptx;

namespace vgpu {

namespace {

template <class T> void move(Warp &w, const Inst &in, uint32_t mask) {
  unaryRow<T, T>(w, in, mask, [](T a) { return a; });
}
void movePredicate(Warp &w, const Inst &in, uint32_t mask) {
  w.setPredicate(in.dst(0), w.predicate(in.src(0)), mask);
}

/// mov.b32 d, {a, b}: the first element is the least significant.
void pack(Warp &w, const Inst &in, uint32_t mask) {
  forEachLane(mask, [&](unsigned lane) {
    uint64_t value = 0;
    for (unsigned i = 0; i < in.numSrc; ++i)
      value |= w.lane(in.src(i), lane) << (i * in.width * 8);
    w.setLane(in.dst(0), lane, value);
  });
}
/// mov.b32 {a, b}, d
void unpack(Warp &w, const Inst &in, uint32_t mask) {
  forEachLane(mask, [&](unsigned lane) {
    uint64_t value = w.lane(in.src(0), lane);
    for (unsigned i = 0; i < in.numDst; ++i)
      w.setLane(in.dst(i), lane, value >> (i * in.width * 8));
  });
}
/// The same for 128 bits, which are two words; `count` parts make one.
void packWide(Warp &w, const Inst &in, uint32_t mask) {
  forEachLane(mask, [&](unsigned lane) {
    uint64_t words[2] = {0, 0};
    for (unsigned i = 0; i < in.numSrc; ++i)
      words[i / in.count] |= w.lane(in.src(i), lane) << (i % in.count * in.width * 8);
    for (unsigned i = 0; i < 2; ++i)
      w.setLane(in.dst(i), lane, words[i]);
  });
}
void unpackWide(Warp &w, const Inst &in, uint32_t mask) {
  forEachLane(mask, [&](unsigned lane) {
    for (unsigned i = 0; i < in.numDst; ++i)
      w.setLane(in.dst(i), lane,
                w.lane(in.src(i / in.count), lane) >> (i % in.count * in.width * 8));
  });
}
void pack16(Warp &w, const Inst &in, uint32_t mask) {
  binaryRow<uint32_t, uint16_t, uint16_t>(
      w, in, mask, [](uint16_t low, uint16_t high) { return uint32_t(high) << 16 | low; });
}
void pack32(Warp &w, const Inst &in, uint32_t mask) {
  binaryRow<uint64_t, uint32_t, uint32_t>(
      w, in, mask, [](uint32_t low, uint32_t high) { return uint64_t(high) << 32 | low; });
}
/// The sources may be the destination's parts, so both halves are read before one is written.
template <class Part, class Whole> void unpackRow(Warp &w, const Inst &in, uint32_t mask) {
  Whole a[warpSize]; // a copy, so that the loop below has nothing to fear from aliases
  std::memcpy(a, w.row<Whole>(in.src(0)), sizeof(a));
  Part parts[2][warpSize];
  for (unsigned i = 0; i < warpSize; ++i) {
    parts[0][i] = static_cast<Part>(a[i]);
    parts[1][i] = static_cast<Part>(a[i] >> (sizeof(Part) * 8));
  }
  for (unsigned k = 0; k < 2; ++k)
    if (!in.dst(k).isSink)
      writeRow(w.row<Part>(in.dst(k)), mask, [&](unsigned i) { return parts[k][i]; });
}

/// Reads of %clock and %globaltimer: instructions executed by the block so far.
void readClock(Warp &w, const Inst &in, uint32_t mask) {
  uint64_t now = w.block->cluster->steps + w.executedInstructions;
  if (in.flags)
    now >>= 32; // %clock_hi, %globaltimer_hi
  forEachLane(mask, [&](unsigned lane) { w.setLane(in.dst(0), lane, now); });
}

Handler moveOfWidth(unsigned bits) {
  return bits == 16   ? move<uint16_t>
         : bits == 32 ? move<uint32_t>
         : bits == 64 ? move<uint64_t>
                      : Handler(nullptr);
}

bool decodeVectorMove(InstBuilder &b, Type type) {
  bool isPack = b.operand(1).kind == Operand::Kind::Vector;
  llvm::ArrayRef<Operand> parts = InstBuilder::elements(b.operand(isPack ? 1 : 0));
  if (parts.size() < 2 || parts.size() > 4 || bitWidth(type) % parts.size() != 0)
    return b.fail("expected a vector of 2 or 4 elements");
  unsigned bits = bitWidth(type) / static_cast<unsigned>(parts.size());
  Type part = bits == 8 ? Type::B8 : bits == 16 ? Type::B16 : bits == 32 ? Type::B32 : Type::B64;
  bool isWide = type == Type::B128;
  if (isPack && !(isWide ? b.addWideDst(b.operand(0)) : b.addDst(b.operand(0), type)))
    return false;
  for (const Operand &operand : parts)
    if (!(isPack ? b.addSrc(operand, part) : b.addDst(operand, part)))
      return false;
  if (!isPack && !(isWide ? b.addWideSrc(b.operand(1)) : b.addSrc(b.operand(1), type)))
    return false;
  b.inst.width = static_cast<uint8_t>(bits / 8);
  b.inst.count = static_cast<uint8_t>(64 / bits);
  bool isPair = parts.size() == 2;
  if (isWide)
    b.inst.execute = isPack ? packWide : unpackWide;
  else if (isPack)
    b.inst.execute = isPair && bits == 16 ? pack16 : isPair && bits == 32 ? pack32 : pack;
  else
    b.inst.execute = isPair && bits == 16   ? unpackRow<uint16_t, uint32_t>
                     : isPair && bits == 32 ? unpackRow<uint32_t, uint64_t>
                                            : unpack;
  return emitInst(b);
}

bool decodeMove(InstBuilder &b) {
  Type type = b.expectType();
  if (!b.expectOperands(2))
    return false;
  b.inst.instClass = InstClass::Move;
  b.inst.poison = PoisonRule::SameMove;
  const Operand &source = b.operand(1);
  if (source.kind == Operand::Kind::Vector || b.operand(0).kind == Operand::Kind::Vector)
    return decodeVectorMove(b, type);
  if (type == Type::B128) { // both words
    b.inst.width = 8;
    b.inst.count = 1;
    b.inst.execute = packWide;
    return b.addWideDst(b.operand(0)) && b.addWideSrc(source) && emitInst(b);
  }
  if (!b.addDst(b.operand(0), type))
    return false;
  llvm::StringRef name = source.name;
  bool isClock = source.kind == Operand::Kind::Special &&
                 (name.starts_with("%clock") || name.starts_with("%globaltimer"));
  if (isClock) {
    b.inst.flags = name.ends_with("_hi");
    b.inst.execute = readClock;
    b.inst.poison = PoisonRule::Defined;
    return emitInst(b);
  }
  if (!b.addSrc(source, type))
    return false;
  b.inst.execute = type == Type::Pred ? movePredicate : moveOfWidth(bitWidth(type));
  if (!b.inst.execute)
    return b.fail("type '." + typeName(type) + "' is not allowed here");
  return emitInst(b);
}

// --- cvta
template <class T> void addBase(Warp &w, const Inst &in, uint32_t mask) {
  T base = static_cast<T>(in.immediate);
  unaryRow<T, T>(w, in, mask, [=](T a) -> T { return a + base; });
}

bool decodeAddressConversion(InstBuilder &b) {
  bool isTo = b.accept("to");
  Space space = b.acceptSpace();
  Type type = b.expectType();
  if (space == Space::Generic)
    return b.fail("expected a state space");
  if (type != Type::U64)
    return b.fail("expected '.u64' addresses");
  uint64_t base = windowBase(space);
  const Operand &source = b.operand(1);
  if (source.kind == Operand::Kind::Variable) {
    VariableAddress found;
    if (!b.decoder().addressOf(*source.variable, b.source.line, found))
      return false;
    base = windowBase(found.space); // a .param of a called function lives in local memory
  }
  b.inst.immediate = static_cast<int64_t>(isTo ? 0 - base : base);
  b.inst.execute = addBase<uint64_t>;
  b.inst.instClass = InstClass::Move;
  return b.expectOperands(2) && b.addDst(b.operand(0), type) && b.addSrc(source, type) &&
         emitInst(b);
}

void isInSpace(Warp &w, const Inst &in, uint32_t mask) {
  const uint64_t *a = w.row<uint64_t>(in.src(0));
  Space space = in.space;
  w.setPredicate(in.dst(0), collectMask([=](unsigned i) { return spaceOfGeneric(a[i]) == space; }),
                 mask);
}
bool decodeIsSpace(InstBuilder &b) {
  b.inst.space = b.acceptSpace();
  b.inst.execute = isInSpace;
  b.inst.instClass = InstClass::Compare;
  return b.expectOperands(2) && b.addDst(b.operand(0), Type::Pred) &&
         b.addSrc(b.operand(1), Type::U64) && emitInst(b);
}

} // namespace

bool isClockRead(const Program &program, const Inst &inst) {
  return inst.execute == readClock ||
         (!program.watched.empty() && program.watched[inst.pc] == readClock);
}

llvm::ArrayRef<FamilyEntry> moveFamily() {
  static constexpr FamilyEntry entries[] = {
      {"mov", decodeMove},
      {"cvta", decodeAddressConversion},
      {"isspacep", decodeIsSpace},
  };
  return entries;
}

} // namespace vgpu
