//===- Compare.cpp - setp, set, selp, slct --------------------------------------------------===//
//
// PTX ISA, "Comparison and selection instructions". Ordered comparisons are false with a NaN, the
// unordered ones (equ, ltu, ...) true.
//
//===-----------------------------------------------------------------------------------===//
#include "Families.h"
#include "vgpu/Exec/Rows.h"
#include "vgpu/Exec/SmallFloat.h"

using namespace vgpu::ptx;

namespace vgpu {

namespace {

enum class Relation : uint8_t { Eq, Ne, Lt, Le, Gt, Ge, Equ, Neu, Ltu, Leu, Gtu, Geu, Num, Nan };
enum class Combine : uint8_t { None, And, Or, Xor };

/// Half types are compared as floats.
struct F16Value {
  uint16_t bits;
  operator float() const { return halfToFloat(bits); }
};
struct BF16Value {
  uint16_t bits;
  operator float() const { return bf16ToFloat(bits); }
};
struct FtzFloat {
  float value;
  operator float() const { return flushSubnormal(value); }
};

template <Relation relation, class V> bool holds(V a, V b) {
  constexpr bool isFloating = std::is_floating_point_v<V>;
  bool isUnordered = false;
  if constexpr (isFloating)
    isUnordered = (a != a) | (b != b);
  switch (relation) {
  case Relation::Eq:
    return a == b;
  case Relation::Ne:
    return !isUnordered & (a != b);
  case Relation::Lt:
    return a < b;
  case Relation::Le:
    return a <= b;
  case Relation::Gt:
    return a > b;
  case Relation::Ge:
    return a >= b;
  case Relation::Equ:
    return isUnordered | (a == b);
  case Relation::Neu:
    return isUnordered | (a != b);
  case Relation::Ltu:
    return isUnordered | (a < b);
  case Relation::Leu:
    return isUnordered | (a <= b);
  case Relation::Gtu:
    return isUnordered | (a > b);
  case Relation::Geu:
    return isUnordered | (a >= b);
  case Relation::Num:
    return !isUnordered;
  case Relation::Nan:
    return isUnordered;
  }
  return false;
}

template <class T> struct ValueOf {
  using type = T;
};
template <> struct ValueOf<F16Value> {
  using type = float;
};
template <> struct ValueOf<BF16Value> {
  using type = float;
};
template <> struct ValueOf<FtzFloat> {
  using type = float;
};

template <class T, Relation relation> uint32_t compareRows(Warp &w, const Inst &in) {
  using V = typename ValueOf<T>::type;
  const T *a = w.row<T>(in.src(0)), *b = w.row<T>(in.src(1));
  return collectMask([=](unsigned i) { return holds<relation, V>(V(a[i]), V(b[i])); });
}

uint32_t combine(Warp &w, const Inst &in, uint32_t result) {
  Combine how = static_cast<Combine>(in.variant);
  if (how == Combine::None)
    return result;
  uint32_t c = w.predicate(in.src(2));
  return how == Combine::And ? result & c : how == Combine::Or ? result | c : result ^ c;
}

template <class T, Relation relation> void setPredicate(Warp &w, const Inst &in, uint32_t mask) {
  uint32_t result = compareRows<T, relation>(w, in);
  uint32_t first = combine(w, in, result);
  uint32_t second = in.numDst > 1 ? combine(w, in, ~result) : 0;
  w.setPredicate(in.dst(0), first, mask);
  if (in.numDst > 1)
    w.setPredicate(in.dst(1), second, mask);
}

/// set.cmp.dtype: all ones / 1.0 where the relation holds. flags: 1 for a float result.
template <class T, Relation relation> void setValue(Warp &w, const Inst &in, uint32_t mask) {
  uint32_t result = combine(w, in, compareRows<T, relation>(w, in));
  uint64_t yes = static_cast<uint64_t>(in.immediate);
  forEachLane(mask, [&](unsigned i) { w.setLane(in.dst(0), i, (result >> i & 1) ? yes : 0); });
}

/// setp/set of pairs: low half and high half compared apart. `immediate` holds the result of set.
template <class Half, Relation relation> uint64_t comparePair(Warp &w, const Inst &in) {
  const uint32_t *a = w.row<uint32_t>(in.src(0)), *b = w.row<uint32_t>(in.src(1));
  auto at = [](uint32_t value, unsigned half) {
    return float(Half{static_cast<uint16_t>(value >> (16 * half))});
  };
  uint32_t low = collectMask([=](unsigned i) { return holds<relation>(at(a[i], 0), at(b[i], 0)); });
  uint32_t high =
      collectMask([=](unsigned i) { return holds<relation>(at(a[i], 1), at(b[i], 1)); });
  return uint64_t(high) << 32 | low;
}
template <class Half, Relation relation> void setPair(Warp &w, const Inst &in, uint32_t mask) {
  uint64_t both = comparePair<Half, relation>(w, in);
  w.setPredicate(in.dst(0), combine(w, in, static_cast<uint32_t>(both)), mask);
  if (in.numDst > 1)
    w.setPredicate(in.dst(1), combine(w, in, static_cast<uint32_t>(both >> 32)), mask);
}
template <class Half, Relation relation> void setPairValue(Warp &w, const Inst &in, uint32_t mask) {
  uint64_t both = comparePair<Half, relation>(w, in);
  uint32_t low = combine(w, in, static_cast<uint32_t>(both));
  uint32_t high = combine(w, in, static_cast<uint32_t>(both >> 32));
  uint32_t yes = static_cast<uint32_t>(in.immediate);
  uint32_t *d = w.row<uint32_t>(in.dst(0));
  forEachLane(mask, [&](unsigned i) {
    d[i] = ((low >> i & 1) ? yes & 0xffff : 0) | ((high >> i & 1) ? yes << 16 : 0);
  });
}

struct Handlers {
  Handler predicate, value;
};
template <class T, Relation relation> Handlers handlersOf() {
  return {setPredicate<T, relation>, setValue<T, relation>};
}
template <class Half, Relation relation> Handlers pairHandlersOf() {
  return {setPair<Half, relation>, setPairValue<Half, relation>};
}

template <Relation relation> Handlers pickType(Type type, bool ftz) {
  switch (type) {
  case Type::B16:
  case Type::U16:
    return handlersOf<uint16_t, relation>();
  case Type::B32:
  case Type::U32:
    return handlersOf<uint32_t, relation>();
  case Type::B64:
  case Type::U64:
    return handlersOf<uint64_t, relation>();
  case Type::S16:
    return handlersOf<int16_t, relation>();
  case Type::S32:
    return handlersOf<int32_t, relation>();
  case Type::S64:
    return handlersOf<int64_t, relation>();
  case Type::F32:
    return ftz ? handlersOf<FtzFloat, relation>() : handlersOf<float, relation>();
  case Type::F64:
    return handlersOf<double, relation>();
  case Type::F16:
    return handlersOf<F16Value, relation>();
  case Type::BF16:
    return handlersOf<BF16Value, relation>();
  case Type::F16x2:
    return pairHandlersOf<F16Value, relation>();
  case Type::BF16x2:
    return pairHandlersOf<BF16Value, relation>();
  default:
    return {nullptr, nullptr};
  }
}

Handlers pickRelation(Relation relation, Type type, bool ftz) {
  switch (relation) {
  case Relation::Eq:
    return pickType<Relation::Eq>(type, ftz);
  case Relation::Ne:
    return pickType<Relation::Ne>(type, ftz);
  case Relation::Lt:
    return pickType<Relation::Lt>(type, ftz);
  case Relation::Le:
    return pickType<Relation::Le>(type, ftz);
  case Relation::Gt:
    return pickType<Relation::Gt>(type, ftz);
  case Relation::Ge:
    return pickType<Relation::Ge>(type, ftz);
  case Relation::Equ:
    return pickType<Relation::Equ>(type, ftz);
  case Relation::Neu:
    return pickType<Relation::Neu>(type, ftz);
  case Relation::Ltu:
    return pickType<Relation::Ltu>(type, ftz);
  case Relation::Leu:
    return pickType<Relation::Leu>(type, ftz);
  case Relation::Gtu:
    return pickType<Relation::Gtu>(type, ftz);
  case Relation::Geu:
    return pickType<Relation::Geu>(type, ftz);
  case Relation::Num:
    return pickType<Relation::Num>(type, ftz);
  case Relation::Nan:
    return pickType<Relation::Nan>(type, ftz);
  }
  return {nullptr, nullptr};
}

std::optional<Relation> acceptRelation(InstBuilder &b) {
  int index = b.acceptOneOf(
      {"eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"});
  if (index >= 0)
    return static_cast<Relation>(index);
  // lo, ls, hi, hs: unsigned spellings of lt, le, gt, ge
  index = b.acceptOneOf({"lo", "ls", "hi", "hs"});
  if (index >= 0)
    return static_cast<Relation>(static_cast<int>(Relation::Lt) + index);
  b.fail("expected a comparison, got '." + b.peek() + "'");
  return std::nullopt;
}

bool decodeComparison(InstBuilder &b, bool isSet) {
  std::optional<Relation> relation = acceptRelation(b);
  if (!relation)
    return false;
  int how = b.acceptOneOf({"and", "or", "xor"});
  b.inst.variant = static_cast<uint8_t>(how + 1);
  bool ftz = b.accept("ftz");
  Type result = isSet ? b.expectType() : Type::Pred;
  Type type = b.expectType();
  // set.*.f16x2-typed sources may come second; `.ftz` may also follow the combine operation.
  bool isFloating = isFloat(type);
  if (!isFloating && *relation > Relation::Ge)
    return b.fail("unordered comparisons need a floating-point type");
  if (!b.expectOperands(how >= 0 ? 4 : 3))
    return false;
  llvm::ArrayRef<Operand> results = InstBuilder::elements(b.operand(0));
  if (isSet) {
    if (!b.addDst(b.operand(0), result))
      return false;
  } else {
    for (const Operand &operand : results)
      if (!b.addDst(operand, Type::Pred))
        return false;
  }
  if (!b.addSrc(b.operand(1), type) || !b.addSrc(b.operand(2), type) ||
      (how >= 0 && !b.addSrc(b.operand(3), Type::Pred)))
    return false;
  Handlers handlers = pickRelation(*relation, type, ftz);
  if (!handlers.predicate)
    return b.fail("type '." + typeName(type) + "' is not allowed here");
  b.inst.execute = isSet ? handlers.value : handlers.predicate;
  b.inst.instClass = InstClass::Compare;
  b.inst.immediate = result == Type::F32      ? 0x3f800000
                     : result == Type::F16    ? 0x3c00
                     : result == Type::F16x2  ? 0x3c003c00
                     : result == Type::BF16   ? 0x3f80
                     : result == Type::BF16x2 ? 0x3f803f80
                                              : -1;
  return emitInst(b);
}

template <class T> void select(Warp &w, const Inst &in, uint32_t mask) {
  const T *a = w.row<T>(in.src(0)), *b = w.row<T>(in.src(1));
  uint32_t p = w.predicate(in.src(2));
  writeRow(w.row<T>(in.dst(0)), mask, [=](unsigned i) { return (p >> i & 1) ? a[i] : b[i]; });
}
bool decodeSelect(InstBuilder &b) {
  Type type = b.expectType();
  unsigned bits = bitWidth(type);
  b.inst.execute = bits == 16   ? select<uint16_t>
                   : bits == 32 ? select<uint32_t>
                   : bits == 64 ? select<uint64_t>
                                : Handler(nullptr);
  if (!b.inst.execute)
    return b.fail("type '." + typeName(type) + "' is not allowed here");
  b.inst.instClass = InstClass::Compare;
  b.inst.poison = PoisonRule::Select;
  return b.expectOperands(4) && b.addDst(b.operand(0), type) && b.addSrc(b.operand(1), type) &&
         b.addSrc(b.operand(2), type) && b.addSrc(b.operand(3), Type::Pred, Role::Control) &&
         emitInst(b);
}

/// slct: a where c >= 0, else b; a NaN counts as negative.
template <class T, class C> void selectBySign(Warp &w, const Inst &in, uint32_t mask) {
  ternaryRow<T, T, T, C>(w, in, mask, [](T a, T b, C c) { return c >= 0 ? a : b; });
}
bool decodeSelectBySign(InstBuilder &b) {
  bool ftz = b.accept("ftz");
  Type type = b.expectType(), sign = b.expectType();
  bool isFloating = sign == Type::F32; // flushing does not change the sign test: -0 >= 0
  (void)ftz;
  unsigned bits = bitWidth(type);
  b.inst.execute =
      bits == 16   ? (isFloating ? selectBySign<uint16_t, float> : selectBySign<uint16_t, int32_t>)
      : bits == 32 ? (isFloating ? selectBySign<uint32_t, float> : selectBySign<uint32_t, int32_t>)
                   : (isFloating ? selectBySign<uint64_t, float> : selectBySign<uint64_t, int32_t>);
  b.inst.instClass = InstClass::Compare;
  return b.expectOperands(4) && b.addDst(b.operand(0), type) && b.addSrc(b.operand(1), type) &&
         b.addSrc(b.operand(2), type) && b.addSrc(b.operand(3), sign) && emitInst(b);
}

} // namespace

llvm::ArrayRef<FamilyEntry> compareFamily() {
  static constexpr FamilyEntry entries[] = {
      {"setp", [](InstBuilder &b) { return decodeComparison(b, false); }},
      {"set", [](InstBuilder &b) { return decodeComparison(b, true); }},
      {"selp", decodeSelect},
      {"slct", decodeSelectBySign},
  };
  return entries;
}

} // namespace vgpu
