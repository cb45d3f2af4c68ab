//===- Convert.cpp - cvt ---------------------------------------------------------------------===//
//
// cvt of every pair of types. Every source value is exact in f64 or in a 64-bit integer, so one
// exact intermediate and one rounding (SmallFloat.h) give the documented result; the frequent pairs
// have row loops of their own. Float to int rounds, then saturates; NaN gives 0.
//
//===-----------------------------------------------------------------------------------===//
#include "Families.h"
#include "vgpu/Exec/Rows.h"
#include "vgpu/Exec/SmallFloat.h"
#include <cmath>

using namespace vgpu::ptx;

namespace vgpu {

namespace {

enum ConvertFlags : uint8_t { Ftz = 1, Sat = 2, Relu = 4, SatFinite = 8, Integral = 16 };

/// What `generic` needs to know; packed into the instruction's family fields.
Type sourceType(const Inst &in) { return static_cast<Type>(in.width); }
Type resultType(const Inst &in) { return static_cast<Type>(in.count); }

FloatFormat formatOf(Type type) {
  switch (type) {
  case Type::F16:
    return formatF16;
  case Type::BF16:
    return formatBF16;
  case Type::TF32:
    return formatTF32;
  case Type::F64:
    return formatF64;
  case Type::E4M3:
    return formatE4M3;
  case Type::E5M2:
    return formatE5M2;
  default:
    return formatF32;
  }
}

double roundIntegral(double value, Rounding rounding) {
  switch (rounding) {
  case Rounding::Nearest:
    return std::nearbyint(value);
  case Rounding::Zero:
    return std::trunc(value);
  case Rounding::Down:
    return std::floor(value);
  case Rounding::Up:
    return std::ceil(value);
  case Rounding::NearestAway:
    return std::round(value);
  }
  return value;
}

uint64_t integerLimit(Type type, bool isLow) {
  unsigned bits = bitWidth(type);
  if (isSigned(type))
    return isLow ? uint64_t(0) - (uint64_t(1) << (bits - 1)) : (uint64_t(1) << (bits - 1)) - 1;
  return isLow ? 0 : bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
}

uint64_t floatToInteger(double value, Type type, Rounding rounding) {
  if (value != value)
    return 0;
  value = roundIntegral(value, rounding);
  unsigned bits = bitWidth(type);
  double high = std::ldexp(1.0, static_cast<int>(isSigned(type) ? bits - 1 : bits));
  double low = isSigned(type) ? -high : 0.0;
  if (value >= high)
    return integerLimit(type, false);
  if (value <= low)
    return integerLimit(type, true);
  return value < 0 ? static_cast<uint64_t>(static_cast<int64_t>(value))
                   : static_cast<uint64_t>(value);
}

/// Sign- or zero-extends the low bits of `bits` by the type.
uint64_t extend(uint64_t bits, Type type) {
  unsigned width = bitWidth(type);
  if (width >= 64)
    return bits;
  bits &= (uint64_t(1) << width) - 1;
  if (isSigned(type) && (bits >> (width - 1)))
    bits |= ~uint64_t(0) << width;
  return bits;
}

uint64_t integerToInteger(uint64_t bits, Type from, Type to, bool isSaturating) {
  bits = extend(bits, from);
  if (!isSaturating)
    return bits;
  __int128 value = isSigned(from) ? __int128(int64_t(bits)) : __int128(bits);
  __int128 low = isSigned(to) ? __int128(int64_t(integerLimit(to, true))) : 0;
  __int128 high =
      isSigned(to) ? __int128(int64_t(integerLimit(to, false))) : __int128(integerLimit(to, false));
  return static_cast<uint64_t>(value < low ? low : value > high ? high : value);
}

uint64_t integerToFloat(uint64_t bits, Type from, Type to, Rounding rounding) {
  bits = extend(bits, from);
  bool isNegative = isSigned(from) && static_cast<int64_t>(bits) < 0;
  return encodeScaled(isNegative, isNegative ? 0 - bits : bits, 0, formatOf(to), rounding);
}

/// The value of a scalar float, or of a tf32 kept in the upper bits of 32.
double loadFloat(uint64_t bits, Type type, bool ftz) {
  if (type == Type::F32) {
    float value = std::bit_cast<float>(static_cast<uint32_t>(bits));
    return ftz ? flushSubnormal(value) : value;
  }
  if (type == Type::F64)
    return std::bit_cast<double>(bits);
  return decodeFloat(bits, formatOf(type));
}

uint64_t storeFloat(double value, Type to, Rounding rounding, unsigned flags) {
  bool isNan = value != value;
  if (flags & Sat)
    value = isNan || !(value > 0) ? 0.0 : value > 1 ? 1.0 : value;
  if ((flags & Relu) && !isNan && (value < 0 || (value == 0 && std::signbit(value))))
    value = 0.0;
  uint64_t bits = encodeFloat(value, formatOf(to), rounding, flags & SatFinite);
  if (to == Type::TF32)
    bits = isNan ? 0x7fffffff : bits << 13;
  if (to == Type::F32 && (flags & Ftz))
    bits = std::bit_cast<uint32_t>(flushSubnormal(std::bit_cast<float>(uint32_t(bits))));
  return bits;
}

uint64_t convertScalar(uint64_t bits, Type from, Type to, Rounding rounding, unsigned flags) {
  bool fromFloat = isFloat(from), toFloat = isFloat(to);
  if (!fromFloat && !toFloat)
    return integerToInteger(bits, from, to, flags & Sat);
  if (!fromFloat) {
    uint64_t result = integerToFloat(bits, from, to, rounding);
    return (flags & Sat) ? storeFloat(loadFloat(result, to, false), to, rounding, flags) : result;
  }
  double value = loadFloat(bits, from, flags & Ftz);
  if (!toFloat)
    return extend(floatToInteger(value, to, rounding), to);
  if (flags & Integral) {
    double rounded = roundIntegral(value, rounding);
    value = rounded == 0 ? std::copysign(0.0, value) : rounded;
    rounding = Rounding::Nearest;
  }
  if (from == to && from == Type::F64 && value != value && !(flags & Sat))
    return bits; // f64 keeps its payload
  return storeFloat(value, to, rounding, flags);
}

void generic(Warp &w, const Inst &in, uint32_t mask) {
  Type from = sourceType(in), to = resultType(in);
  Rounding rounding = static_cast<Rounding>(in.variant);
  forEachLane(mask, [&](unsigned lane) {
    uint64_t result = convertScalar(w.lane(in.src(0), lane), from, to, rounding, in.flags);
    // A destination wider than the type is sign- or zero-extended (PTX ISA, "Operand size
    // exceeding instruction-type size").
    w.setLane(in.dst(0), lane, isFloat(to) ? result : extend(result, to));
  });
}

/// cvt to a pair from two f32: d = {high: a, low: b}.
void toPair(Warp &w, const Inst &in, uint32_t mask) {
  Type to = resultType(in);
  Rounding rounding = static_cast<Rounding>(in.variant);
  unsigned bits = bitWidth(to);
  forEachLane(mask, [&](unsigned lane) {
    uint64_t high = convertScalar(w.lane(in.src(0), lane), Type::F32, to, rounding, in.flags);
    uint64_t low = convertScalar(w.lane(in.src(1), lane), Type::F32, to, rounding, in.flags);
    w.setLane(in.dst(0), lane, high << bits | low);
  });
}
void toHalfPair(Warp &w, const Inst &in, uint32_t mask) {
  binaryRow<uint32_t, float, float>(w, in, mask, [](float a, float b) {
    return uint32_t(floatToHalf(a)) << 16 | floatToHalf(b);
  });
}
void toBf16Pair(Warp &w, const Inst &in, uint32_t mask) {
  binaryRow<uint32_t, float, float>(w, in, mask, [](float a, float b) {
    return uint32_t(floatToBf16(a)) << 16 | floatToBf16(b);
  });
}

/// Pairs of halves to pairs of fp8 and back: element by element, low to low.
void pairToPair(Warp &w, const Inst &in, uint32_t mask) {
  Type from = sourceType(in), to = resultType(in);
  Rounding rounding = static_cast<Rounding>(in.variant);
  unsigned fromBits = bitWidth(from), toBits = bitWidth(to);
  forEachLane(mask, [&](unsigned lane) {
    uint64_t source = w.lane(in.src(0), lane);
    uint64_t low = source & ((uint64_t(1) << fromBits) - 1), high = source >> fromBits;
    uint64_t result = convertScalar(low, from, to, rounding, in.flags) |
                      convertScalar(high, from, to, rounding, in.flags) << toBits;
    w.setLane(in.dst(0), lane, result);
  });
}

// --- frequent pairs
template <class D, class S> void integerRow(Warp &w, const Inst &in, uint32_t mask) {
  unaryRow<D, S>(w, in, mask, [](S a) { return static_cast<D>(a); });
}
void floatToHalfRow(Warp &w, const Inst &in, uint32_t mask) {
  unaryRow<uint16_t, float>(w, in, mask, [](float a) { return floatToHalf(a); });
}
void floatToBf16Row(Warp &w, const Inst &in, uint32_t mask) {
  unaryRow<uint16_t, float>(w, in, mask, [](float a) { return floatToBf16(a); });
}
void halfToFloatRow(Warp &w, const Inst &in, uint32_t mask) {
  unaryRow<float, uint16_t>(w, in, mask, [](uint16_t a) { return canonical(halfToFloat(a)); });
}
void bf16ToFloatRow(Warp &w, const Inst &in, uint32_t mask) {
  unaryRow<float, uint16_t>(w, in, mask, [](uint16_t a) { return canonical(bf16ToFloat(a)); });
}
template <class S> void toFloatRow(Warp &w, const Inst &in, uint32_t mask) {
  unaryRow<float, S>(w, in, mask, [](S a) { return static_cast<float>(a); });
}

/// A row loop for plain conversions whose registers have the width of their types, or null.
Handler fastHandler(Type to, Type from, Rounding rounding, unsigned flags) {
  if (flags != 0)
    return nullptr;
  auto is = [&](Type t, Type f) { return to == t && from == f; };
  if (is(Type::U64, Type::U32) || is(Type::S64, Type::U32))
    return integerRow<uint64_t, uint32_t>;
  if (is(Type::S64, Type::S32) || is(Type::U64, Type::S32))
    return integerRow<uint64_t, int32_t>;
  if (bitWidth(to) == 32 && bitWidth(from) == 64 && !isFloat(to) && !isFloat(from))
    return integerRow<uint32_t, uint64_t>;
  if (bitWidth(to) == 16 && bitWidth(from) == 32 && !isFloat(to) && !isFloat(from))
    return integerRow<uint16_t, uint32_t>;
  if ((to == Type::U32 || to == Type::S32) && from == Type::U16)
    return integerRow<uint32_t, uint16_t>;
  if ((to == Type::U32 || to == Type::S32) && from == Type::S16)
    return integerRow<uint32_t, int16_t>;
  if (is(Type::F32, Type::F16))
    return halfToFloatRow;
  if (is(Type::F32, Type::BF16))
    return bf16ToFloatRow;
  if (rounding != Rounding::Nearest)
    return nullptr;
  if (is(Type::F16, Type::F32))
    return floatToHalfRow;
  if (is(Type::BF16, Type::F32))
    return floatToBf16Row;
  if (is(Type::F32, Type::S32))
    return toFloatRow<int32_t>;
  if (is(Type::F32, Type::U32))
    return toFloatRow<uint32_t>;
  return nullptr;
}

/// The first of two floats becomes the upper half of a pair, the second the lower one.
void propagateToHalves(Warp &w, const Inst &in, uint32_t mask) {
  const uint32_t *high = w.row<uint32_t>(in.shadowSlots[in.numDst]);
  const uint32_t *low = w.row<uint32_t>(in.shadowSlots[in.numDst + 1]);
  writeRow(w.row<uint32_t>(in.shadowSlots[0]), mask, [=](unsigned i) -> uint32_t {
    return (high[i] ? 0xffff0000u : 0) | (low[i] ? 0xffffu : 0);
  });
}

Type elementOfPair(Type type) {
  switch (type) {
  case Type::F16x2:
    return Type::F16;
  case Type::BF16x2:
    return Type::BF16;
  case Type::E4M3x2:
    return Type::E4M3;
  case Type::E5M2x2:
    return Type::E5M2;
  default:
    return Type::None;
  }
}

struct RoundingWord {
  llvm::StringLiteral word;
  Rounding rounding;
  bool isIntegral;
};
constexpr RoundingWord roundingWords[] = {
    {"rn", Rounding::Nearest, false},      {"rz", Rounding::Zero, false},
    {"rm", Rounding::Down, false},         {"rp", Rounding::Up, false},
    {"rna", Rounding::NearestAway, false}, {"rni", Rounding::Nearest, true},
    {"rzi", Rounding::Zero, true},         {"rmi", Rounding::Down, true},
    {"rpi", Rounding::Up, true},
};

bool decodeConvert(InstBuilder &b) {
  Rounding rounding = Rounding::Nearest;
  bool isIntegral = false;
  for (const RoundingWord &entry : roundingWords)
    if (b.accept(entry.word)) {
      rounding = entry.rounding;
      isIntegral = entry.isIntegral;
      break;
    }
  uint8_t flags = 0;
  auto acceptFlags = [&] {
    static constexpr std::pair<llvm::StringLiteral, uint8_t> words[] = {
        {"satfinite", SatFinite}, {"relu", Relu}, {"ftz", Ftz}, {"sat", Sat}};
    for (const auto &[word, flag] : words)
      if (b.accept(word))
        flags |= flag;
  };
  acceptFlags();
  acceptFlags();
  Type to = b.expectType(), from = b.expectType();
  if (from == Type::None)
    return false;
  Inst &inst = b.inst;
  inst.instClass = InstClass::Convert;
  inst.variant = static_cast<uint8_t>(rounding);
  Type toElement = elementOfPair(to), fromElement = elementOfPair(from);
  bool toInteger = !isFloat(to), fromInteger = !isFloat(from);
  if (toInteger && !fromInteger && !isIntegral)
    return b.fail("float to integer needs an integer rounding (.rni, .rzi, .rmi, .rpi)");
  if (isIntegral && !toInteger)
    flags |= Integral;
  if (toElement != Type::None) {
    bool fromTwo = from == Type::F32;
    if (!fromTwo && fromElement == Type::None)
      return b.fail("cannot convert from '." + typeName(from) + "'");
    inst.flags = flags;
    inst.count = static_cast<uint8_t>(toElement);
    inst.width = static_cast<uint8_t>(fromTwo ? Type::F32 : fromElement);
    bool isPlain = flags == 0 && rounding == Rounding::Nearest;
    inst.execute = !fromTwo                             ? pairToPair
                   : isPlain && toElement == Type::F16  ? toHalfPair
                   : isPlain && toElement == Type::BF16 ? toBf16Pair
                                                        : toPair;
    if (fromTwo && (toElement == Type::F16 || toElement == Type::BF16)) {
      inst.poison = PoisonRule::Custom;
      inst.shadowExecute = propagateToHalves;
    }
    if (!b.expectOperands(fromTwo ? 3 : 2) || !b.addDst(b.operand(0), to) ||
        !b.addSrc(b.operand(1), from) || (fromTwo && !b.addSrc(b.operand(2), from)))
      return false;
    return emitInst(b);
  }
  if (fromElement != Type::None)
    return b.fail("cannot convert to '." + typeName(to) + "'");
  inst.flags = flags;
  inst.count = static_cast<uint8_t>(to);
  inst.width = static_cast<uint8_t>(from);
  if (!b.expectOperands(2) || !b.addDst(b.operand(0), to == Type::TF32 ? Type::B32 : to, true) ||
      !b.addSrc(b.operand(1), from, Role::Data, true))
    return false;
  Handler fast = b.hasExactWidths(to, from) ? fastHandler(to, from, rounding, flags) : nullptr;
  inst.execute = fast ? fast : generic;
  // Integer conversions keep bits in place as far as they fit: poison follows them.
  bool keepsBits = toInteger && fromInteger && !(flags & Sat);
  inst.poison = keepsBits ? PoisonRule::SameMove : PoisonRule::AnySource;
  return emitInst(b);
}

/// cvt.pack.sat.{s8,u8,s4,u4,s16,u16}.s32[.b32]: saturate two values and shift them into c.
void packSaturated(Warp &w, const Inst &in, uint32_t mask) {
  Type to = resultType(in);
  unsigned bits = bitWidth(to);
  uint32_t field = (1u << bits) - 1;
  forEachLane(mask, [&](unsigned lane) {
    uint64_t a = integerToInteger(w.lane(in.src(0), lane), Type::S32, to, true) & field;
    uint64_t b = integerToInteger(w.lane(in.src(1), lane), Type::S32, to, true) & field;
    uint64_t c = in.numSrc > 2 ? w.lane(in.src(2), lane) << (2 * bits) : 0;
    w.setLane(in.dst(0), lane, c | a << bits | b);
  });
}
bool decodePack(InstBuilder &b) {
  if (!b.accept("sat"))
    return b.fail("expected '.sat'");
  Type to = b.expectType(), from = b.expectType();
  bool hasThird = b.accept("b32");
  if (from != Type::S32)
    return b.fail("expected '.s32' sources");
  b.inst.count = static_cast<uint8_t>(to);
  b.inst.execute = packSaturated;
  b.inst.instClass = InstClass::Convert;
  return b.expectOperands(hasThird ? 4 : 3) && b.addDst(b.operand(0), Type::B32) &&
         b.addSrc(b.operand(1), Type::S32) && b.addSrc(b.operand(2), Type::S32) &&
         (!hasThird || b.addSrc(b.operand(3), Type::B32)) && emitInst(b);
}

} // namespace

llvm::ArrayRef<FamilyEntry> convertFamily() {
  static constexpr FamilyEntry entries[] = {
      {"cvt", [](InstBuilder &b) { return b.accept("pack") ? decodePack(b) : decodeConvert(b); }},
  };
  return entries;
}

} // namespace vgpu
