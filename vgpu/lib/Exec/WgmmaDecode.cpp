//===- WgmmaDecode.cpp - wgmma: decoding, its fence and its groups ----------------------------===//
#include "Families.h"
#include "KernelDecoder.h"
#include "Late.h"
#include "Wgmma.h"
#include "vgpu/Machine/Launch.h"
#include "vgpu/Machine/Report.h"

using namespace vgpu::ptx;

namespace vgpu {

WgmmaShape wgmmaShapeOf(const Inst &in) {
  return {in.count * 8u, static_cast<unsigned>(in.immediate), static_cast<Type>(in.width),
          static_cast<Type>(in.variant), static_cast<Type>(in.scope)};
}
void setWgmmaShape(Inst &in, const WgmmaShape &shape) {
  in.count = static_cast<uint8_t>(shape.n / 8);
  in.immediate = shape.k;
  in.width = static_cast<uint8_t>(shape.a);
  in.variant = static_cast<uint8_t>(shape.b);
  in.scope = static_cast<uint8_t>(shape.d);
}

namespace {

void fence(Warp &w, const Inst &, uint32_t) {
  WgmmaState &state = wgmmaStateOf(w);
  state.isFenced = true;
  std::fill(state.touched.begin(), state.touched.end(), noPc);
}
void commitGroup(Warp &w, const Inst &in, uint32_t mask) {
  countUnwaited(w, in, /*mask=*/1);
  WgmmaState &state = wgmmaStateOf(w);
  state.groups.push_back({std::move(state.open), state.issued});
  state.open.clear();
  state.committed = state.issued;
  ++w.block->cluster->version; // another warp of the warpgroup may wait for this
  for (Observer *observer : w.launch->observers)
    observer->onTileCommit(w, mask, TileGroups::Wgmma);
}

/// Calls body(warp) for the warps of a warp's warpgroup.
template <class Body> void forEachWarpOfGroup(Warp &w, Body body) {
  std::vector<Warp> &warps = w.block->warps;
  for (size_t i = w.index / 4 * 4; i < std::min<size_t>(w.index / 4 * 4 + 4, warps.size()); ++i)
    body(warps[i]);
}

/// A group is of the whole warpgroup (PTX ISA, wgmma.commit_group): it is complete when the products
/// of all four warps are.
Outcome waitGroup(Warp &w, const Inst &in, uint32_t mask) {
  WgmmaState &state = wgmmaStateOf(w);
  size_t pending = static_cast<size_t>(in.immediate);
  // If the others never come, WarpgroupCheck says so.
  const Cluster &cluster = *w.block->cluster;
  bool givesUp =
      (w.timedOut & mask) && cluster.timeOuts > 8 && cluster.version == cluster.timeOutVersion;
  w.timedOut &= ~mask;
  if (state.groups.size() > pending) {
    uint64_t end = state.groups[state.groups.size() - pending - 1].end;
    bool isComplete = true;
    forEachWarpOfGroup(w, [&](Warp &other) {
      isComplete &= other.isDone() || wgmmaStateOf(other).committed >= end;
    });
    if (!isComplete && !givesUp)
      return Outcome::Retry;
    forEachWarpOfGroup(w, [&](Warp &other) {
      std::deque<WgmmaProduct> &late = wgmmaStateOf(other).late;
      for (; !late.empty() && late.front().number < end; late.pop_front())
        runProduct(other, late.front());
    });
    state.groups.erase(state.groups.begin(), state.groups.end() - static_cast<ptrdiff_t>(pending));
  }
  for (Observer *observer : w.launch->observers)
    observer->onTileWait(w, mask, static_cast<uint32_t>(in.immediate), TileGroups::Wgmma,
                         /*isReadOnly=*/false);
  hasWaited(w, pending);
  return Outcome::Continue;
}

// --- decoding

bool finish(InstBuilder &b, Handler handler, Flow flow = Flow::Collective) {
  b.inst.execute = handler;
  b.inst.flow = flow;
  b.inst.isAligned = true;
  b.inst.instClass = InstClass::Matrix;
  b.decoder().useAsyncProxy();
  return emitInst(b);
}

/// mNNnNNNkNN: only n varies freely.
bool acceptShape(InstBuilder &b, WgmmaShape &shape) {
  llvm::StringRef word = b.peek();
  if (!word.consume_front("m64n") || word.consumeInteger(10, shape.n) || !word.consume_front("k") ||
      word.consumeInteger(10, shape.k) || !word.empty())
    return b.fail("expected a shape m64nNkK, got '." + b.peek() + "'");
  b.accept(b.peek());
  return true;
}

bool isAllowed(const WgmmaShape &shape) {
  bool is8Bit = shape.a == Type::S8 || shape.a == Type::U8;
  bool isFp8 = shape.a == Type::E4M3 || shape.a == Type::E5M2;
  if (shape.n < 8 || shape.n > maxWgmmaN || shape.n % 8 != 0 || shape.k > maxWgmmaK ||
      shape.k * shape.elementBits() != maxWgmmaK)
    return false;
  switch (shape.a) {
  case Type::F16:
    return shape.b == shape.a && (shape.d == Type::F16 || shape.d == Type::F32);
  case Type::BF16:
  case Type::TF32:
    return shape.b == shape.a && shape.d == Type::F32;
  default:
    break;
  }
  if (isFp8)
    return (shape.b == Type::E4M3 || shape.b == Type::E5M2) &&
           (shape.d == Type::F16 || shape.d == Type::F32);
  // Integers: n is 8, 24 or a multiple of 16.
  bool isSize = shape.n == 8 || shape.n == 24 || shape.n % 16 == 0;
  bool isBit = shape.a == Type::B1 && shape.b == Type::B1;
  bool isByte = is8Bit && (shape.b == Type::S8 || shape.b == Type::U8);
  return isSize && (isBit || isByte) && shape.d == Type::S32;
}

/// The immediates at the end: signs for floating point, transpositions for 16-bit types.
bool readImmediates(InstBuilder &b, const WgmmaShape &shape, size_t next) {
  auto constant = [&](uint64_t &value) {
    if (next >= b.numOperands() || b.operand(next).kind != Operand::Kind::Integer)
      return b.fail("expected an immediate as operand " + llvm::Twine(next));
    value = b.operand(next++).integer;
    return true;
  };
  if (isFloat(shape.a)) {
    for (WgmmaFlags flag : {NegateA, NegateB}) {
      uint64_t sign;
      if (!constant(sign))
        return false;
      if (sign != 1 && sign != ~uint64_t(0))
        return b.fail("the scale of an operand must be 1 or -1");
      b.inst.flags |= sign == 1 ? 0 : flag;
    }
  }
  if (shape.a == Type::F16 || shape.a == Type::BF16) {
    for (WgmmaFlags flag : {TransA, TransB}) {
      if (flag == TransA && (b.inst.flags & RegistersA))
        continue;
      uint64_t isTrans;
      if (!constant(isTrans))
        return false;
      b.inst.flags |= isTrans ? flag : 0;
    }
  }
  return next == b.numOperands() || b.fail("too many operands");
}

bool decodeProduct(InstBuilder &b) {
  WgmmaShape shape = {};
  if (!acceptShape(b, shape))
    return false;
  Inst &inst = b.inst;
  inst.flags |= b.accept("satfinite") ? Saturate : 0;
  shape.d = b.expectType();
  shape.a = b.expectType();
  shape.b = b.expectType();
  if (shape.a == Type::B1 && (!b.accept("and") || !b.accept("popc")))
    return b.fail("expected '.and.popc'");
  if (!isAllowed(shape))
    return b.fail("this combination of shape and types does not exist");
  setWgmmaShape(inst, shape);
  if (!b.expectOperands(4, 8))
    return false;
  llvm::ArrayRef<Operand> results = InstBuilder::elements(b.operand(0));
  size_t count = shape.n / 2 / (shape.d == Type::F16 ? 2 : 1);
  if (results.size() != count)
    return b.fail("expected " + llvm::Twine(count) + " registers for D, got " +
                  llvm::Twine(results.size()));
  for (const Operand &result : results)
    if (!b.addDst(result, Type::B32))
      return false;
  llvm::ArrayRef<Operand> partsOfA = InstBuilder::elements(b.operand(1));
  if (b.operand(1).kind == Operand::Kind::Vector) {
    inst.flags |= RegistersA;
    if (partsOfA.size() != 4)
      return b.fail("expected 4 registers for A, got " + llvm::Twine(partsOfA.size()));
    for (const Operand &part : partsOfA)
      if (!b.addSrc(part, Type::B32))
        return false;
  } else if (!b.addSrc(b.operand(1), Type::B64, Role::Control)) {
    return false;
  }
  inst.addressSlot = static_cast<uint8_t>(wgmmaSourcesOfA(inst)); // of B: poison in it is a finding
  if (!b.addSrc(b.operand(2), Type::B64, Role::Control) ||
      !b.addSrc(b.operand(3), Type::Pred, Role::Control) || !readImmediates(b, shape, 4))
    return false;
  for (const Operand &result : results)
    if (!b.addSrc(result, Type::B32))
      return false;
  inst.space = Space::Shared;
  inst.tensorOperations = 2 * wgmmaWarpRows * shape.n * shape.k;
  inst.poison = PoisonRule::Custom;
  inst.shadowExecute = propagateWgmmaPoison;
  return finish(b, issueWgmma);
}

bool decodeWgmma(InstBuilder &b) {
  if (b.decoder().module().target != "sm_90a")
    return b.fail("wgmma needs the target sm_90a, the PTX is for " +
                  llvm::Twine(b.decoder().module().target));
  static constexpr llvm::StringRef words[] = {"mma_async", "fence", "commit_group", "wait_group"};
  int kind = b.acceptOneOf(words);
  if (kind < 0)
    return b.fail("unknown operation '." + b.peek() + "'");
  if (kind == 0 && b.peek() == "sp")
    return b.fail("sparse operands are not supported");
  if (!b.accept("sync") || !b.accept("aligned"))
    return b.fail("expected '.sync.aligned'");
  if (kind == 0)
    return decodeProduct(b);
  b.inst.poison = PoisonRule::Defined;
  if (kind == 3) {
    uint64_t groups;
    if (!b.expectOperands(1) || !b.constantOperand(b.operand(0), 8, groups))
      return false;
    b.inst.immediate = static_cast<int64_t>(groups);
    b.inst.executeBlocking = waitGroup;
    return finish(b, nullptr, Flow::Blocking);
  }
  return b.expectOperands(0) && finish(b, kind == 1 ? fence : commitGroup);
}

} // namespace

llvm::ArrayRef<Slot> wgmmaAccumulators(const Inst &in) { return {in.slots, in.numDst}; }
llvm::ArrayRef<Slot> wgmmaRegistersOfA(const Inst &in) {
  return in.flags & RegistersA ? llvm::ArrayRef<Slot>(&in.src(0), 4) : llvm::ArrayRef<Slot>();
}

llvm::ArrayRef<FamilyEntry> wgmmaFamily() {
  static constexpr FamilyEntry entries[] = {{"wgmma", decodeWgmma}};
  return entries;
}

} // namespace vgpu
