//===- WarpLevel.cpp - instructions among the lanes of a warp ---------------------------------===//
//
// shfl vote match activemask redux elect bar.warp.sync. PTX ISA, "Warp-level instructions". Those
// with a member mask wait until all members have arrived (Flow::Collective).
//
//===-----------------------------------------------------------------------------------===//
#include "Families.h"
#include "vgpu/Exec/Rows.h"
#include "vgpu/Exec/SmallFloat.h"
#include "vgpu/Machine/Launch.h"
#include "vgpu/Machine/Report.h"

using namespace vgpu::ptx;

namespace vgpu {

namespace {

enum class Shuffle : uint8_t { Up, Down, Bfly, Idx };

/// The lane a shuffle reads from; `isInside` tells whether it lies in the segment.
unsigned shuffleSource(Shuffle mode, unsigned lane, uint32_t b, uint32_t c, bool &isInside) {
  uint32_t offset = b & 31, clamp = c & 31, segment = c >> 8 & 31;
  uint32_t maxLane = (lane & segment) | (clamp & ~segment);
  uint32_t minLane = lane & segment;
  int32_t from = 0;
  switch (mode) {
  case Shuffle::Up:
    from = static_cast<int32_t>(lane) - static_cast<int32_t>(offset);
    isInside = from >= static_cast<int32_t>(maxLane);
    break;
  case Shuffle::Down:
    from = static_cast<int32_t>(lane + offset);
    isInside = from <= static_cast<int32_t>(maxLane);
    break;
  case Shuffle::Bfly:
    from = static_cast<int32_t>(lane ^ offset);
    isInside = from <= static_cast<int32_t>(maxLane);
    break;
  case Shuffle::Idx:
    from = static_cast<int32_t>(minLane | (offset & ~segment));
    isInside = from <= static_cast<int32_t>(maxLane);
    break;
  }
  return isInside ? static_cast<unsigned>(from) : lane;
}

void shuffle(Warp &w, const Inst &in, uint32_t mask) {
  Shuffle mode = static_cast<Shuffle>(in.variant);
  uint32_t source[warpSize];
  std::memcpy(source, w.row<uint32_t>(in.src(0)), sizeof(source));
  const uint32_t *b = w.row<uint32_t>(in.src(1)), *c = w.row<uint32_t>(in.src(2));
  uint32_t inside = 0, result[warpSize];
  for (unsigned lane = 0; lane < warpSize; ++lane) {
    bool isInside = false;
    result[lane] = source[shuffleSource(mode, lane, b[lane], c[lane], isInside)];
    inside |= uint32_t(isInside) << lane;
  }
  if (!in.dst(0).isSink)
    writeRow(w.row<uint32_t>(in.dst(0)), mask, [&](unsigned i) { return result[i]; });
  if (in.numDst > 1 && !w.isShadowPass)
    w.setPredicate(in.dst(1), inside, mask);
  else if (in.numDst > 1)
    w.setPredicate(in.dst(1), 0, mask); // on the shadow: the predicate is defined
}

bool finishCollective(InstBuilder &b, Handler handler, PoisonRule rule) {
  b.inst.execute = handler;
  b.inst.flow = Flow::Collective;
  b.inst.instClass = InstClass::WarpLevel;
  b.inst.poison = rule;
  return emitInst(b);
}
/// Appends the member mask as the next source and marks it.
bool addMembers(InstBuilder &b, const Operand &operand, unsigned sourceIndex) {
  b.inst.memberSlot = static_cast<int8_t>(sourceIndex);
  return b.addSrc(operand, Type::U32, Role::Control);
}

bool decodeShuffle(InstBuilder &b) {
  if (!b.accept("sync"))
    return b.fail("only shfl.sync is supported (shfl without .sync needs sm_60 or older)");
  int mode = b.acceptOneOf({"up", "down", "bfly", "idx"});
  Type type = b.expectType();
  if (mode < 0 || type != Type::B32)
    return b.fail("expected a mode and '.b32'");
  b.inst.variant = static_cast<uint8_t>(mode);
  if (!b.expectOperands(5))
    return false;
  llvm::ArrayRef<Operand> results = InstBuilder::elements(b.operand(0));
  if (!b.addDst(results[0], type) || (results.size() > 1 && !b.addDst(results[1], Type::Pred)))
    return false;
  return b.addSrc(b.operand(1), type) && b.addSrc(b.operand(2), Type::U32, Role::Control) &&
         b.addSrc(b.operand(3), Type::U32, Role::Control) && addMembers(b, b.operand(4), 3) &&
         finishCollective(b, shuffle, PoisonRule::SameMove);
}

enum class Vote : uint8_t { All, Any, Uni, Ballot };

void vote(Warp &w, const Inst &in, uint32_t mask) {
  uint32_t votes = w.predicate(in.src(0)) & mask;
  switch (static_cast<Vote>(in.variant)) {
  case Vote::All:
    return w.setPredicate(in.dst(0), votes == mask ? fullMask : 0, mask);
  case Vote::Any:
    return w.setPredicate(in.dst(0), votes ? fullMask : 0, mask);
  case Vote::Uni:
    return w.setPredicate(in.dst(0), votes == mask || votes == 0 ? fullMask : 0, mask);
  case Vote::Ballot:
    return writeRow(w.row<uint32_t>(in.dst(0)), mask, [=](unsigned) { return votes; });
  }
}
bool decodeVote(InstBuilder &b) {
  if (!b.accept("sync"))
    return b.fail("only vote.sync is supported");
  int mode = b.acceptOneOf({"all", "any", "uni", "ballot"});
  if (mode < 0)
    return b.fail("expected '.all', '.any', '.uni' or '.ballot'");
  Type type = b.expectType();
  b.inst.variant = static_cast<uint8_t>(mode);
  return b.expectOperands(3) && b.addDst(b.operand(0), type) &&
         b.addSrc(b.operand(1), Type::Pred) && addMembers(b, b.operand(2), 1) &&
         finishCollective(b, vote, PoisonRule::Warp);
}

template <bool isAll> void match(Warp &w, const Inst &in, uint32_t mask) {
  uint32_t equal[warpSize] = {};
  forEachLane(mask, [&](unsigned i) {
    forEachLane(mask, [&](unsigned k) {
      equal[i] |= uint32_t(w.lane(in.src(0), i) == w.lane(in.src(0), k)) << k;
    });
  });
  bool isUniform = equal[__builtin_ctz(mask)] == mask;
  uint32_t *d = w.row<uint32_t>(in.dst(0));
  if (!in.dst(0).isSink)
    forEachLane(mask, [&](unsigned i) { d[i] = isAll ? (isUniform ? mask : 0) : equal[i]; });
  if (isAll && in.numDst > 1)
    w.setPredicate(in.dst(1), isUniform ? fullMask : 0, mask);
}
bool decodeMatch(InstBuilder &b) {
  int mode = b.acceptOneOf({"any", "all"});
  if (mode < 0 || !b.accept("sync"))
    return b.fail("expected '.any.sync' or '.all.sync'");
  Type type = b.expectType();
  if (!b.expectOperands(3))
    return false;
  llvm::ArrayRef<Operand> results = InstBuilder::elements(b.operand(0));
  if (!b.addDst(results[0], Type::B32) || (results.size() > 1 && !b.addDst(results[1], Type::Pred)))
    return false;
  return b.addSrc(b.operand(1), type) && addMembers(b, b.operand(2), 1) &&
         finishCollective(b, mode ? match<true> : match<false>, PoisonRule::Warp);
}

enum class Reduction : uint8_t { Add, Min, Max, And, Or, Xor };
template <class T> void reduce(Warp &w, const Inst &in, uint32_t mask) {
  const T *a = w.row<T>(in.src(0));
  T result = a[__builtin_ctz(mask)];
  forEachLane(mask & (mask - 1), [&](unsigned i) {
    switch (static_cast<Reduction>(in.variant)) {
    case Reduction::Add:
      result = T(uint32_t(result) + uint32_t(a[i]));
      break;
    case Reduction::Min:
      result = std::min(result, a[i]);
      break;
    case Reduction::Max:
      result = std::max(result, a[i]);
      break;
    case Reduction::And:
      result &= a[i];
      break;
    case Reduction::Or:
      result |= a[i];
      break;
    case Reduction::Xor:
      result ^= a[i];
      break;
    }
  });
  writeRow(w.row<T>(in.dst(0)), mask, [=](unsigned) { return result; });
}
bool decodeReduce(InstBuilder &b) {
  if (!b.accept("sync"))
    return b.fail("expected '.sync'");
  int operation = b.acceptOneOf({"add", "min", "max", "and", "or", "xor"});
  Type type = b.expectType();
  if (operation < 0 || bitWidth(type) != 32 || isFloat(type))
    return b.fail("expected an operation and a 32-bit integer type");
  b.inst.variant = static_cast<uint8_t>(operation);
  return b.expectOperands(3) && b.addDst(b.operand(0), type) && b.addSrc(b.operand(1), type) &&
         addMembers(b, b.operand(2), 1) &&
         finishCollective(b, isSigned(type) ? reduce<int32_t> : reduce<uint32_t>, PoisonRule::Warp);
}

void activeMask(Warp &w, const Inst &in, uint32_t mask) {
  writeRow(w.row<uint32_t>(in.dst(0)), mask, [=](unsigned) { return mask; });
}
bool decodeActiveMask(InstBuilder &b) {
  Type type = b.expectType();
  b.inst.execute = activeMask;
  b.inst.instClass = InstClass::WarpLevel;
  b.inst.poison = PoisonRule::Defined;
  return b.expectOperands(1) && b.addDst(b.operand(0), type) && emitInst(b);
}

/// elect.sync d|p, mask: the lowest member is the leader.
void elect(Warp &w, const Inst &in, uint32_t mask) {
  uint32_t leader = static_cast<uint32_t>(__builtin_ctz(mask));
  if (!in.dst(0).isSink)
    writeRow(w.row<uint32_t>(in.dst(0)), mask, [=](unsigned) { return leader; });
  w.setPredicate(in.dst(1), 1u << leader, mask);
}
bool decodeElect(InstBuilder &b) {
  if (!b.accept("sync") || !b.expectOperands(2))
    return b.fail("expected 'elect.sync d|p, mask'");
  llvm::ArrayRef<Operand> results = InstBuilder::elements(b.operand(0));
  if (results.size() != 2)
    return b.fail("expected 'elect.sync d|p, mask'");
  return b.addDst(results[0], Type::B32) && b.addDst(results[1], Type::Pred) &&
         addMembers(b, b.operand(1), 0) && finishCollective(b, elect, PoisonRule::Defined);
}

void warpBarrier(Warp &w, const Inst &, uint32_t mask) {
  for (Observer *observer : w.launch->observers)
    observer->onWarpSync(w, mask);
}

} // namespace

bool decodeWarpBarrier(InstBuilder &b) {
  if (!b.accept("sync"))
    return b.fail("expected '.sync'");
  if (!b.expectOperands(1) || !addMembers(b, b.operand(0), 0) ||
      !finishCollective(b, warpBarrier, PoisonRule::Defined))
    return false;
  return true;
}

llvm::ArrayRef<FamilyEntry> warpFamily() {
  static constexpr FamilyEntry entries[] = {
      {"shfl", decodeShuffle}, {"vote", decodeVote},   {"match", decodeMatch},
      {"redux", decodeReduce}, {"elect", decodeElect}, {"activemask", decodeActiveMask},
  };
  return entries;
}

} // namespace vgpu
