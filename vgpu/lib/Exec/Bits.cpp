//===- Bits.cpp - logic, shifts and bit fields ---------------------------------------------===//
//
// and or xor not cnot lop3 shl shr shf prmt bfe bfi bfind bmsk szext fns popc clz brev. PTX ISA,
// "Logic and shift instructions" and "Integer arithmetic instructions". Shifts clamp their amount
// to the width: shl and shr.u give 0, shr.s the sign.
//
//===-----------------------------------------------------------------------------------===//
#include "Families.h"
#include "vgpu/Exec/Rows.h"
#include <bit>

using namespace vgpu::ptx;

namespace vgpu {

namespace {

enum class Logic : uint8_t { And, Or, Xor };

template <class T, Logic op> void logic(Warp &w, const Inst &in, uint32_t mask) {
  binaryRow<T, T, T>(w, in, mask, [](T a, T b) -> T {
    return op == Logic::And ? a & b : op == Logic::Or ? a | b : a ^ b;
  });
}
template <Logic op> void logicPredicate(Warp &w, const Inst &in, uint32_t mask) {
  uint32_t a = w.predicate(in.src(0)), b = w.predicate(in.src(1));
  w.setPredicate(in.dst(0), op == Logic::And ? a & b : op == Logic::Or ? a | b : a ^ b, mask);
}
template <class T> void bitNot(Warp &w, const Inst &in, uint32_t mask) {
  unaryRow<T, T>(w, in, mask, [](T a) -> T { return static_cast<T>(~a); });
}
void notPredicate(Warp &w, const Inst &in, uint32_t mask) {
  w.setPredicate(in.dst(0), ~w.predicate(in.src(0)), mask);
}
template <class T> void logicalNot(Warp &w, const Inst &in, uint32_t mask) {
  unaryRow<T, T>(w, in, mask, [](T a) -> T { return a == 0 ? 1 : 0; });
}

template <class T> void shiftLeft(Warp &w, const Inst &in, uint32_t mask) {
  binaryRow<T, T, uint32_t>(w, in, mask, [](T a, uint32_t n) -> T {
    return n >= sizeof(T) * 8 ? T(0) : static_cast<T>(a << (n & (sizeof(T) * 8 - 1)));
  });
}
template <class T> void shiftRight(Warp &w, const Inst &in, uint32_t mask) {
  binaryRow<T, T, uint32_t>(w, in, mask, [](T a, uint32_t n) -> T {
    constexpr uint32_t bits = sizeof(T) * 8;
    if (n >= bits)
      n = std::is_signed_v<T> ? bits - 1 : (a = 0, 0u);
    return static_cast<T>(a >> n);
  });
}

/// shf.{l,r}.{clamp,wrap}: flags bit 0: right, bit 1: clamp.
void funnel(Warp &w, const Inst &in, uint32_t mask) {
  bool isRight = in.flags & 1, isClamp = in.flags & 2;
  ternaryRow<uint32_t, uint32_t, uint32_t, uint32_t>(
      w, in, mask, [=](uint32_t low, uint32_t high, uint32_t amount) {
        uint32_t n = isClamp ? std::min(amount, 32u) : amount & 31;
        uint64_t both = uint64_t(high) << 32 | low;
        return static_cast<uint32_t>(isRight ? both >> n : (both << n) >> 32);
      });
}

void lop3(Warp &w, const Inst &in, uint32_t mask) {
  uint32_t table = static_cast<uint32_t>(in.immediate);
  // Each of the eight table bits selects one combination of a, b and c.
  ternaryRow<uint32_t, uint32_t, uint32_t, uint32_t>(
      w, in, mask, [=](uint32_t a, uint32_t b, uint32_t c) {
        uint32_t result = 0;
        for (unsigned i = 0; i < 8; ++i) {
          uint32_t term = ((i & 4) ? a : ~a) & ((i & 2) ? b : ~b) & ((i & 1) ? c : ~c);
          result |= (table >> i & 1) ? term : 0;
        }
        return result;
      });
}
/// lop3.BoolOp: d|p, a, b, c, table, q: p = (d != 0) BoolOp q.
void lop3Predicate(Warp &w, const Inst &in, uint32_t mask) {
  uint32_t table = static_cast<uint32_t>(in.immediate);
  const uint32_t *a = w.row<uint32_t>(in.src(0)), *b = w.row<uint32_t>(in.src(1)),
                 *c = w.row<uint32_t>(in.src(2));
  uint32_t result[warpSize], nonZero = 0;
  for (unsigned lane = 0; lane < warpSize; ++lane) {
    uint32_t value = 0;
    for (unsigned i = 0; i < 8; ++i)
      if (table >> i & 1)
        value |= ((i & 4) ? a[lane] : ~a[lane]) & ((i & 2) ? b[lane] : ~b[lane]) &
                 ((i & 1) ? c[lane] : ~c[lane]);
    result[lane] = value;
    nonZero |= uint32_t(value != 0) << lane;
  }
  uint32_t q = w.predicate(in.src(3));
  if (!in.dst(0).isSink)
    writeRow(w.row<uint32_t>(in.dst(0)), mask, [&](unsigned i) { return result[i]; });
  w.setPredicate(in.dst(1), in.variant ? (nonZero & q) : (nonZero | q), mask);
}

enum class Permute : uint8_t { Index, F4e, B4e, Rc8, Ecl, Ecr, Rc16 };

uint32_t permuteSelector(Permute mode, uint32_t control) {
  // Selectors of the special modes by the two low bits of the control, one nibble per result byte.
  static constexpr uint16_t table[7][4] = {
      {0, 0, 0, 0},
      {0x3210, 0x4321, 0x5432, 0x6543},
      {0x5670, 0x6701, 0x7012, 0x0123},
      {0x0000, 0x1111, 0x2222, 0x3333},
      {0x3210, 0x3211, 0x3222, 0x3333},
      {0x0000, 0x1110, 0x2210, 0x3210},
      {0x1010, 0x3232, 0x1010, 0x3232},
  };
  return table[static_cast<unsigned>(mode)][control & 3];
}
void permute(Warp &w, const Inst &in, uint32_t mask) {
  Permute mode = static_cast<Permute>(in.variant);
  ternaryRow<uint32_t, uint32_t, uint32_t, uint32_t>(
      w, in, mask, [=](uint32_t a, uint32_t b, uint32_t control) {
        uint64_t bytes = uint64_t(b) << 32 | a;
        uint32_t selector = mode == Permute::Index ? control : permuteSelector(mode, control);
        uint32_t result = 0;
        for (unsigned i = 0; i < 4; ++i) {
          uint32_t nibble = selector >> (4 * i) & 15;
          uint32_t byte = static_cast<uint32_t>(bytes >> (8 * (nibble & 7))) & 0xff;
          if (nibble & 8) // replicate the sign
            byte = (byte & 0x80) ? 0xff : 0;
          result |= byte << (8 * i);
        }
        return result;
      });
}

template <class T> void extractField(Warp &w, const Inst &in, uint32_t mask) {
  ternaryRow<T, T, uint32_t, uint32_t>(w, in, mask, [](T a, uint32_t position, uint32_t length) {
    constexpr unsigned bits = sizeof(T) * 8;
    unsigned pos = position & 0xff, len = length & 0xff;
    using U = std::make_unsigned_t<T>;
    U value = static_cast<U>(a);
    bool isSet =
        std::is_signed_v<T> && len != 0 && (value >> std::min(pos + len - 1, bits - 1)) & 1;
    // Bits past the field or past the operand are the sign of the field.
    unsigned valid = pos >= bits ? 0 : std::min(len, bits - pos);
    U kept = valid >= bits ? U(~U(0)) : U((U(1) << valid) - 1);
    U field = pos >= bits ? U(0) : U(value >> pos);
    return static_cast<T>((field & kept) | (isSet ? U(~kept) : U(0)));
  });
}
template <class T> void insertField(Warp &w, const Inst &in, uint32_t mask) {
  const T *a = w.row<T>(in.src(0)), *b = w.row<T>(in.src(1));
  const uint32_t *c = w.row<uint32_t>(in.src(2)), *d = w.row<uint32_t>(in.src(3));
  writeRow(w.row<T>(in.dst(0)), mask, [=](unsigned i) -> T {
    constexpr unsigned bits = sizeof(T) * 8;
    unsigned pos = c[i] & 0xff, len = d[i] & 0xff;
    if (pos >= bits || len == 0)
      return b[i];
    T field = len >= bits ? T(~T(0)) : static_cast<T>((T(1) << len) - 1);
    field = static_cast<T>(field << pos);
    return static_cast<T>((b[i] & ~field) | ((a[i] << pos) & field));
  });
}
template <class T> void findLeading(Warp &w, const Inst &in, uint32_t mask) {
  bool asShift = in.flags & 1;
  unaryRow<uint32_t, T>(w, in, mask, [=](T a) -> uint32_t {
    using U = std::make_unsigned_t<T>;
    U value = static_cast<U>(std::is_signed_v<T> && a < 0 ? ~a : a);
    if (value == 0)
      return 0xffffffffu;
    uint32_t leading = static_cast<uint32_t>(std::countl_zero(value));
    return asShift ? leading : uint32_t(sizeof(T) * 8 - 1) - leading;
  });
}
void bitMask(Warp &w, const Inst &in, uint32_t mask) {
  bool isClamp = in.flags & 1;
  binaryRow<uint32_t, uint32_t, uint32_t>(w, in, mask, [=](uint32_t a, uint32_t b) {
    uint32_t pos = isClamp ? std::min(a, 32u) : a & 31, len = isClamp ? std::min(b, 32u) : b & 31;
    if (pos >= 32)
      return 0u;
    uint32_t ones = len >= 32 ? ~0u : (1u << len) - 1;
    return ones << pos;
  });
}
template <class T> void signExtend(Warp &w, const Inst &in, uint32_t mask) {
  bool isClamp = in.flags & 1;
  binaryRow<uint32_t, uint32_t, uint32_t>(w, in, mask, [=](uint32_t a, uint32_t b) -> uint32_t {
    uint32_t n = isClamp ? std::min(b, 32u) : b & 31;
    if (n == 0)
      return 0;
    if (n >= 32)
      return a;
    uint32_t shift = 32 - n;
    return std::is_signed_v<T> ? uint32_t(int32_t(a << shift) >> shift) : (a << shift) >> shift;
  });
}
void findNthSet(Warp &w, const Inst &in, uint32_t mask) {
  ternaryRow<uint32_t, uint32_t, uint32_t, int32_t>(
      w, in, mask, [](uint32_t bits, uint32_t base, int32_t offset) -> uint32_t {
        base &= 31;
        if (offset == 0)
          return (bits >> base & 1) ? base : ~0u;
        int step = offset > 0 ? 1 : -1;
        int32_t left = offset > 0 ? offset : -offset;
        for (int at = static_cast<int>(base); at >= 0 && at < 32; at += step)
          if ((bits >> at & 1) && --left == 0)
            return static_cast<uint32_t>(at);
        return ~0u;
      });
}
template <class T> void countOnes(Warp &w, const Inst &in, uint32_t mask) {
  unaryRow<uint32_t, T>(w, in, mask, [](T a) { return uint32_t(std::popcount(a)); });
}
template <class T> void countLeading(Warp &w, const Inst &in, uint32_t mask) {
  unaryRow<uint32_t, T>(w, in, mask, [](T a) { return uint32_t(std::countl_zero(a)); });
}
void reverse32(Warp &w, const Inst &in, uint32_t mask) {
  unaryRow<uint32_t, uint32_t>(w, in, mask, [](uint32_t a) { return __builtin_bitreverse32(a); });
}
void reverse64(Warp &w, const Inst &in, uint32_t mask) {
  unaryRow<uint64_t, uint64_t>(w, in, mask, [](uint64_t a) { return __builtin_bitreverse64(a); });
}

// --- decoding
bool finish(InstBuilder &b, Handler handler, PoisonRule rule = PoisonRule::AnySource) {
  if (!handler)
    return b.fail("this type is not allowed here");
  b.inst.execute = handler;
  b.inst.poison = rule;
  b.inst.instClass = InstClass::Integer;
  return emitInst(b);
}

template <Logic op> bool decodeLogic(InstBuilder &b) {
  Type type = b.expectType();
  Handler handler = nullptr;
  switch (type) {
  case Type::Pred:
    handler = logicPredicate<op>;
    break;
  case Type::B16:
    handler = logic<uint16_t, op>;
    break;
  case Type::B32:
    handler = logic<uint32_t, op>;
    break;
  case Type::B64:
    handler = logic<uint64_t, op>;
    break;
  default:
    break;
  }
  PoisonRule rule = op == Logic::And  ? PoisonRule::And
                    : op == Logic::Or ? PoisonRule::Or
                                      : PoisonRule::Xor;
  return b.expectOperands(3) && b.addDst(b.operand(0), type) && b.addSrc(b.operand(1), type) &&
         b.addSrc(b.operand(2), type) && finish(b, handler, rule);
}

bool decodeNot(InstBuilder &b) {
  Type type = b.expectType();
  Handler handler = type == Type::Pred  ? notPredicate
                    : type == Type::B16 ? bitNot<uint16_t>
                    : type == Type::B32 ? bitNot<uint32_t>
                    : type == Type::B64 ? bitNot<uint64_t>
                                        : nullptr;
  return b.expectOperands(2) && b.addDst(b.operand(0), type) && b.addSrc(b.operand(1), type) &&
         finish(b, handler, PoisonRule::Xor);
}
bool decodeLogicalNot(InstBuilder &b) {
  Type type = b.expectType();
  Handler handler = type == Type::B16   ? logicalNot<uint16_t>
                    : type == Type::B32 ? logicalNot<uint32_t>
                    : type == Type::B64 ? logicalNot<uint64_t>
                                        : nullptr;
  return b.expectOperands(2) && b.addDst(b.operand(0), type) && b.addSrc(b.operand(1), type) &&
         finish(b, handler);
}

bool decodeShift(InstBuilder &b, bool isRight) {
  Type type = b.expectType();
  Handler handler = nullptr;
  switch (type) {
  case Type::B16:
    handler = isRight ? shiftRight<uint16_t> : shiftLeft<uint16_t>;
    break;
  case Type::B32:
    handler = isRight ? shiftRight<uint32_t> : shiftLeft<uint32_t>;
    break;
  case Type::B64:
    handler = isRight ? shiftRight<uint64_t> : shiftLeft<uint64_t>;
    break;
  case Type::U16:
    handler = isRight ? shiftRight<uint16_t> : nullptr;
    break;
  case Type::U32:
    handler = isRight ? shiftRight<uint32_t> : nullptr;
    break;
  case Type::U64:
    handler = isRight ? shiftRight<uint64_t> : nullptr;
    break;
  case Type::S16:
    handler = isRight ? shiftRight<int16_t> : nullptr;
    break;
  case Type::S32:
    handler = isRight ? shiftRight<int32_t> : nullptr;
    break;
  case Type::S64:
    handler = isRight ? shiftRight<int64_t> : nullptr;
    break;
  default:
    break;
  }
  return b.expectOperands(3) && b.addDst(b.operand(0), type) && b.addSrc(b.operand(1), type) &&
         b.addSrc(b.operand(2), Type::U32, Role::Control) &&
         finish(b, handler, PoisonRule::SameMove);
}

bool decodeFunnel(InstBuilder &b) {
  int side = b.acceptOneOf({"l", "r"});
  int mode = b.acceptOneOf({"wrap", "clamp"});
  if (side < 0 || mode < 0)
    return b.fail("expected a direction and a mode");
  b.inst.flags = static_cast<uint8_t>((side ? 1 : 0) | (mode ? 2 : 0));
  Type type = b.expectType();
  return b.expectOperands(4) && b.addDst(b.operand(0), type) && b.addSrc(b.operand(1), type) &&
         b.addSrc(b.operand(2), type) && b.addSrc(b.operand(3), Type::U32, Role::Control) &&
         finish(b, type == Type::B32 ? funnel : nullptr, PoisonRule::SameMove);
}

bool decodeLop3(InstBuilder &b) {
  int combine = b.acceptOneOf({"or", "and"});
  Type type = b.expectType();
  bool hasPredicate = combine >= 0;
  if (!b.expectOperands(hasPredicate ? 6 : 5))
    return false;
  llvm::ArrayRef<Operand> results = InstBuilder::elements(b.operand(0));
  if (results.size() != (hasPredicate ? 2u : 1u))
    return b.fail("expected a destination pair with .and or .or only");
  uint64_t table;
  if (!b.addDst(results[0], type) || (hasPredicate && !b.addDst(results[1], Type::Pred)) ||
      !b.addSrc(b.operand(1), type) || !b.addSrc(b.operand(2), type) ||
      !b.addSrc(b.operand(3), type) || !b.constantOperand(b.operand(4), 256, table) ||
      (hasPredicate && !b.addSrc(b.operand(5), Type::Pred)))
    return false;
  b.inst.immediate = static_cast<int64_t>(table);
  b.inst.variant = combine == 1;
  if (type != Type::B32)
    return finish(b, nullptr);
  return finish(b, hasPredicate ? lop3Predicate : lop3,
                hasPredicate ? PoisonRule::AnySource : PoisonRule::Lop3);
}

bool decodePermute(InstBuilder &b) {
  Type type = b.expectType();
  int mode = b.acceptOneOf({"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"});
  b.inst.variant = static_cast<uint8_t>(mode + 1);
  return b.expectOperands(4) && b.addDst(b.operand(0), type) && b.addSrc(b.operand(1), type) &&
         b.addSrc(b.operand(2), type) && b.addSrc(b.operand(3), type, Role::Control) &&
         finish(b, type == Type::B32 ? permute : nullptr, PoisonRule::SameMove);
}

bool decodeExtract(InstBuilder &b) {
  Type type = b.expectType();
  Handler handler = type == Type::U32   ? extractField<uint32_t>
                    : type == Type::S32 ? extractField<int32_t>
                    : type == Type::U64 ? extractField<uint64_t>
                    : type == Type::S64 ? extractField<int64_t>
                                        : nullptr;
  return b.expectOperands(4) && b.addDst(b.operand(0), type) && b.addSrc(b.operand(1), type) &&
         b.addSrc(b.operand(2), Type::U32, Role::Control) &&
         b.addSrc(b.operand(3), Type::U32, Role::Control) &&
         finish(b, handler, PoisonRule::SameMove);
}
bool decodeInsert(InstBuilder &b) {
  Type type = b.expectType();
  Handler handler = type == Type::B32   ? insertField<uint32_t>
                    : type == Type::B64 ? insertField<uint64_t>
                                        : nullptr;
  return b.expectOperands(5) && b.addDst(b.operand(0), type) && b.addSrc(b.operand(1), type) &&
         b.addSrc(b.operand(2), type) && b.addSrc(b.operand(3), Type::U32, Role::Control) &&
         b.addSrc(b.operand(4), Type::U32, Role::Control) &&
         finish(b, handler, PoisonRule::SameMove);
}
bool decodeFindLeading(InstBuilder &b) {
  b.inst.flags = b.accept("shiftamt");
  Type type = b.expectType();
  Handler handler = type == Type::U32   ? findLeading<uint32_t>
                    : type == Type::S32 ? findLeading<int32_t>
                    : type == Type::U64 ? findLeading<uint64_t>
                    : type == Type::S64 ? findLeading<int64_t>
                                        : nullptr;
  return b.expectOperands(2) && b.addDst(b.operand(0), Type::U32) && b.addSrc(b.operand(1), type) &&
         finish(b, handler);
}
/// bmsk and szext share their shape: mode, two 32-bit sources.
bool decodeModed(InstBuilder &b, bool isMask) {
  int mode = b.acceptOneOf({"wrap", "clamp"});
  b.inst.flags = mode == 1;
  Type type = b.expectType();
  Handler handler = isMask              ? bitMask
                    : type == Type::U32 ? signExtend<uint32_t>
                    : type == Type::S32 ? signExtend<int32_t>
                                        : nullptr;
  return b.expectOperands(3) && b.addDst(b.operand(0), type) && b.addSrc(b.operand(1), type) &&
         b.addSrc(b.operand(2), Type::U32) && finish(b, mode < 0 ? nullptr : handler);
}
bool decodeNthSet(InstBuilder &b) {
  Type type = b.expectType();
  return b.expectOperands(4) && b.addDst(b.operand(0), type) && b.addSrc(b.operand(1), type) &&
         b.addSrc(b.operand(2), Type::U32) && b.addSrc(b.operand(3), Type::S32) &&
         finish(b, type == Type::B32 ? findNthSet : nullptr);
}
bool decodeCount(InstBuilder &b, Handler narrow, Handler wide) {
  Type type = b.expectType();
  Handler handler = type == Type::B32 ? narrow : type == Type::B64 ? wide : nullptr;
  return b.expectOperands(2) && b.addDst(b.operand(0), Type::U32) && b.addSrc(b.operand(1), type) &&
         finish(b, handler);
}
bool decodeReverse(InstBuilder &b) {
  Type type = b.expectType();
  Handler handler = type == Type::B32 ? reverse32 : type == Type::B64 ? reverse64 : nullptr;
  return b.expectOperands(2) && b.addDst(b.operand(0), type) && b.addSrc(b.operand(1), type) &&
         finish(b, handler, PoisonRule::SameMove);
}

} // namespace

llvm::ArrayRef<FamilyEntry> bitFamily() {
  static constexpr FamilyEntry entries[] = {
      {"and", decodeLogic<Logic::And>},
      {"or", decodeLogic<Logic::Or>},
      {"xor", decodeLogic<Logic::Xor>},
      {"not", decodeNot},
      {"cnot", decodeLogicalNot},
      {"shl", [](InstBuilder &b) { return decodeShift(b, false); }},
      {"shr", [](InstBuilder &b) { return decodeShift(b, true); }},
      {"shf", decodeFunnel},
      {"lop3", decodeLop3},
      {"prmt", decodePermute},
      {"bfe", decodeExtract},
      {"bfi", decodeInsert},
      {"bfind", decodeFindLeading},
      {"bmsk", [](InstBuilder &b) { return decodeModed(b, true); }},
      {"szext", [](InstBuilder &b) { return decodeModed(b, false); }},
      {"fns", decodeNthSet},
      {"popc",
       [](InstBuilder &b) { return decodeCount(b, countOnes<uint32_t>, countOnes<uint64_t>); }},
      {"clz",
       [](InstBuilder &b) {
         return decodeCount(b, countLeading<uint32_t>, countLeading<uint64_t>);
       }},
      {"brev", decodeReverse},
  };
  return entries;
}

} // namespace vgpu
