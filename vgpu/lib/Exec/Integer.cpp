//===- Integer.cpp - integer arithmetic ---------------------------------------------------===//
//
// add sub mul mad mul24 mad24 div rem abs neg min max addc subc madc sad dp4a dp2a. PTX ISA,
// "Integer arithmetic instructions". Signed overflow wraps; so everything is computed on unsigned
// rows and reinterpreted where the sign matters.
//
//===-----------------------------------------------------------------------------------===//
#include "Families.h"
#include "vgpu/Exec/Rows.h"
#include "vgpu/Machine/Report.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/FormatVariadic.h"

using namespace vgpu::ptx;

namespace vgpu {

namespace {

template <class T> using Unsigned = std::make_unsigned_t<T>;
template <class T> struct WideOf;
template <> struct WideOf<int16_t> {
  using type = int32_t;
};
template <> struct WideOf<uint16_t> {
  using type = uint32_t;
};
template <> struct WideOf<int32_t> {
  using type = int64_t;
};
template <> struct WideOf<uint32_t> {
  using type = uint64_t;
};
template <> struct WideOf<int64_t> {
  using type = __int128;
};
template <> struct WideOf<uint64_t> {
  using type = unsigned __int128;
};
template <class T> using Wide = typename WideOf<T>::type;

template <class T> T wrap(Unsigned<T> value) { return static_cast<T>(value); }

/// Arithmetic on uint16_t would promote to int; keep it unsigned and of the type's width.
template <class T> struct Ops {
  using U = Unsigned<T>;
  static T add(T a, T b) { return wrap<T>(static_cast<U>(U(a) + U(b))); }
  static T sub(T a, T b) { return wrap<T>(static_cast<U>(U(a) - U(b))); }
  static T mulLo(T a, T b) {
    return static_cast<T>(
        static_cast<U>(static_cast<uint64_t>(U(a)) * static_cast<uint64_t>(U(b))));
  }
  static T mulHi(T a, T b) { return static_cast<T>((Wide<T>(a) * Wide<T>(b)) >> (sizeof(T) * 8)); }
  static T div(T a, T b) {
    if (b == 0)
      return static_cast<T>(~U(0)); // unspecified by PTX; what the hardware gives
    if (std::is_signed_v<T> && b == T(-1))
      return sub(0, a);
    return static_cast<T>(a / b);
  }
  static T rem(T a, T b) {
    if (b == 0)
      return a;
    if (std::is_signed_v<T> && b == T(-1))
      return 0;
    return static_cast<T>(a % b);
  }
  static T addSat(T a, T b) {
    T result;
    if (!__builtin_add_overflow(a, b, &result))
      return result;
    return a < 0 ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
  }
  static T subSat(T a, T b) {
    T result;
    if (!__builtin_sub_overflow(a, b, &result))
      return result;
    return a < 0 ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
  }
};

// --- handlers: one struct per operation with a static `run<T>`, so that `pick` can instantiate
// them
#define VGPU_BINARY(Name, expression)                                                              \
  struct Name {                                                                                    \
    template <class T> static void run(Warp &w, const Inst &in, uint32_t mask) {                   \
      binaryRow<T, T, T>(w, in, mask, [](T a, T b) -> T { return expression; });                   \
    }                                                                                              \
  };
VGPU_BINARY(Add, Ops<T>::add(a, b))
VGPU_BINARY(Sub, Ops<T>::sub(a, b))
VGPU_BINARY(AddSat, Ops<T>::addSat(a, b))
VGPU_BINARY(SubSat, Ops<T>::subSat(a, b))
VGPU_BINARY(MulLo, Ops<T>::mulLo(a, b))
VGPU_BINARY(MulHi, Ops<T>::mulHi(a, b))
VGPU_BINARY(Min, a < b ? a : b)
VGPU_BINARY(Max, a < b ? b : a)
VGPU_BINARY(MinRelu, std::max<T>(std::min(a, b), 0))
VGPU_BINARY(MaxRelu, std::max<T>(std::max(a, b), 0))
#undef VGPU_BINARY

/// PTX leaves the result of a division by zero unspecified; here it is what Ops gives.
void noteZeroDivisors(Warp &w, const Inst &in, uint32_t zeros) {
  FindingSink &findings = *w.launch->findings;
  if (findings.countRepeat(FindingKind::DivisionByZero, in.line, 0))
    return;
  bool isRemainder = in.source->parts[0] == "rem";
  report(w, in, static_cast<unsigned>(__builtin_ctz(zeros)), FindingKind::DivisionByZero,
         llvm::formatv("'{0}' divides by zero, PTX leaves the result unspecified; {1}",
                       in.source->opcode,
                       isRemainder ? "here it is the dividend" : "here it is all ones"),
         /*isNote=*/true);
}

template <class T, class Op> void divideRow(Warp &w, const Inst &in, uint32_t mask, Op op) {
  const T *b = w.row<T>(in.src(1));
  if (w.launch->config.checks.has(Check::Arithmetic))
    if (uint32_t zeros = mask & collectMask([=](unsigned i) { return b[i] == 0; }))
      noteZeroDivisors(w, in, zeros);
  binaryRow<T, T, T>(w, in, mask, op);
}
struct Div {
  template <class T> static void run(Warp &w, const Inst &in, uint32_t mask) {
    divideRow<T>(w, in, mask, [](T a, T b) { return Ops<T>::div(a, b); });
  }
};
struct Rem {
  template <class T> static void run(Warp &w, const Inst &in, uint32_t mask) {
    divideRow<T>(w, in, mask, [](T a, T b) { return Ops<T>::rem(a, b); });
  }
};

struct Abs {
  template <class T> static void run(Warp &w, const Inst &in, uint32_t mask) {
    unaryRow<T, T>(w, in, mask, [](T a) -> T { return a < 0 ? Ops<T>::sub(0, a) : a; });
  }
};
struct Neg {
  template <class T> static void run(Warp &w, const Inst &in, uint32_t mask) {
    unaryRow<T, T>(w, in, mask, [](T a) -> T { return Ops<T>::sub(0, a); });
  }
};
struct MulWide {
  template <class T> static void run(Warp &w, const Inst &in, uint32_t mask) {
    binaryRow<Wide<T>, T, T>(w, in, mask,
                             [](T a, T b) { return Wide<T>(Wide<T>(a) * Wide<T>(b)); });
  }
};
struct MadLo {
  template <class T> static void run(Warp &w, const Inst &in, uint32_t mask) {
    ternaryRow<T, T, T, T>(w, in, mask,
                           [](T a, T b, T c) { return Ops<T>::add(Ops<T>::mulLo(a, b), c); });
  }
};
struct MadHi {
  template <class T> static void run(Warp &w, const Inst &in, uint32_t mask) {
    ternaryRow<T, T, T, T>(w, in, mask,
                           [](T a, T b, T c) { return Ops<T>::add(Ops<T>::mulHi(a, b), c); });
  }
};
struct MadHiSat {
  template <class T> static void run(Warp &w, const Inst &in, uint32_t mask) {
    ternaryRow<T, T, T, T>(w, in, mask,
                           [](T a, T b, T c) { return Ops<T>::addSat(Ops<T>::mulHi(a, b), c); });
  }
};
struct MadWide {
  template <class T> static void run(Warp &w, const Inst &in, uint32_t mask) {
    using W = Wide<T>;
    ternaryRow<W, T, T, W>(w, in, mask, [](T a, T b, W c) { return Ops<W>::add(W(a) * W(b), c); });
  }
};
struct Sad {
  template <class T> static void run(Warp &w, const Inst &in, uint32_t mask) {
    ternaryRow<T, T, T, T>(w, in, mask, [](T a, T b, T c) {
      return Ops<T>::add(c, a < b ? Ops<T>::sub(b, a) : Ops<T>::sub(a, b));
    });
  }
};

/// mul24/mad24: the low 24 bits of 32-bit operands; `hi` keeps bits 16..47 of the product.
template <class T> int64_t low24(T value) {
  return std::is_signed_v<T> ? int64_t(int32_t(uint32_t(value) << 8) >> 8)
                             : int64_t(uint32_t(value) & 0xffffff);
}
struct Mul24 {
  template <class T> static void run(Warp &w, const Inst &in, uint32_t mask) {
    unsigned shift = in.variant ? 16 : 0;
    binaryRow<T, T, T>(w, in, mask, [=](T a, T b) { return T((low24(a) * low24(b)) >> shift); });
  }
};
struct Mad24 {
  template <class T> static void run(Warp &w, const Inst &in, uint32_t mask) {
    unsigned shift = in.variant ? 16 : 0;
    ternaryRow<T, T, T, T>(w, in, mask, [=](T a, T b, T c) {
      return Ops<T>::add(T((low24(a) * low24(b)) >> shift), c);
    });
  }
};

// --- 16-bit pairs: add/min/max.{u16x2,s16x2}
template <class Half, class Op> void pairRow(Warp &w, const Inst &in, uint32_t mask, Op op) {
  binaryRow<uint32_t, uint32_t, uint32_t>(w, in, mask, [=](uint32_t a, uint32_t b) {
    uint16_t low = static_cast<uint16_t>(op(Half(uint16_t(a)), Half(uint16_t(b))));
    uint16_t high = static_cast<uint16_t>(op(Half(uint16_t(a >> 16)), Half(uint16_t(b >> 16))));
    return uint32_t(low) | uint32_t(high) << 16;
  });
}
template <class Half> void addPair(Warp &w, const Inst &in, uint32_t mask) {
  pairRow<Half>(w, in, mask, [](Half a, Half b) { return Ops<Half>::add(a, b); });
}
template <class Half> void minPair(Warp &w, const Inst &in, uint32_t mask) {
  pairRow<Half>(w, in, mask, [](Half a, Half b) { return std::min(a, b); });
}
template <class Half> void maxPair(Warp &w, const Inst &in, uint32_t mask) {
  pairRow<Half>(w, in, mask, [](Half a, Half b) { return std::max(a, b); });
}
void minReluPair(Warp &w, const Inst &in, uint32_t mask) {
  pairRow<int16_t>(w, in, mask,
                   [](int16_t a, int16_t b) { return std::max<int16_t>(std::min(a, b), 0); });
}
void maxReluPair(Warp &w, const Inst &in, uint32_t mask) {
  pairRow<int16_t>(w, in, mask,
                   [](int16_t a, int16_t b) { return std::max<int16_t>(std::max(a, b), 0); });
}

// --- extended precision. The carry flag CC.CF is a mask in a hidden predicate register that the
// kernel decoder provides as the last source and last destination.
struct Carry {
  template <class T>
  static void add(Warp &w, const Inst &in, uint32_t mask, unsigned carrySource, bool usesCarry,
                  bool isSubtraction) {
    const T *a = w.row<T>(in.src(0));
    const T *b = w.row<T>(in.src(1));
    uint32_t carryIn = usesCarry ? w.predicate(in.src(carrySource)) : 0;
    uint32_t carryOut = 0;
    T *d = w.row<T>(in.dst(0));
    forEachLane(mask, [&](unsigned i) {
      unsigned __int128 left = a[i], right = b[i], flag = carryIn >> i & 1;
      unsigned __int128 sum = isSubtraction ? left - right - flag : left + right + flag;
      d[i] = static_cast<T>(sum);
      carryOut |= uint32_t((sum >> (sizeof(T) * 8)) & 1) << i;
    });
    if (in.numDst > 1)
      w.setPredicate(in.dst(1), carryOut, mask);
  }
};
struct AddCarry {
  template <class T> static void run(Warp &w, const Inst &in, uint32_t mask) {
    Carry::add<T>(w, in, mask, 2, in.flags & 1, false);
  }
};
struct SubCarry {
  template <class T> static void run(Warp &w, const Inst &in, uint32_t mask) {
    Carry::add<T>(w, in, mask, 2, in.flags & 1, true);
  }
};
/// mad.{lo,hi}.cc and madc.{lo,hi}{.cc}
struct MadCarry {
  template <class T> static void run(Warp &w, const Inst &in, uint32_t mask) {
    const T *a = w.row<T>(in.src(0));
    const T *b = w.row<T>(in.src(1));
    const T *c = w.row<T>(in.src(2));
    uint32_t carryIn = (in.flags & 1) ? w.predicate(in.src(3)) : 0;
    uint32_t carryOut = 0;
    T *d = w.row<T>(in.dst(0));
    forEachLane(mask, [&](unsigned i) {
      using U = Unsigned<T>;
      U product = U(in.variant ? Ops<T>::mulHi(a[i], b[i]) : Ops<T>::mulLo(a[i], b[i]));
      unsigned __int128 sum = (unsigned __int128)product + U(c[i]) + (carryIn >> i & 1);
      d[i] = static_cast<T>(sum);
      carryOut |= uint32_t((sum >> (sizeof(T) * 8)) & 1) << i;
    });
    if (in.numDst > 1)
      w.setPredicate(in.dst(1), carryOut, mask);
  }
};

// --- dp4a, dp2a: flags bit 0: a signed, bit 1: b signed; variant: dp2a.hi
int32_t byteOf(uint32_t value, unsigned i, bool isSigned) {
  uint8_t byte = static_cast<uint8_t>(value >> (8 * i));
  return isSigned ? static_cast<int8_t>(byte) : byte;
}
void dp4a(Warp &w, const Inst &in, uint32_t mask) {
  bool aSigned = in.flags & 1, bSigned = in.flags & 2;
  ternaryRow<uint32_t, uint32_t, uint32_t, uint32_t>(
      w, in, mask, [=](uint32_t a, uint32_t b, uint32_t c) {
        for (unsigned i = 0; i < 4; ++i)
          c += static_cast<uint32_t>(byteOf(a, i, aSigned) * byteOf(b, i, bSigned));
        return c;
      });
}
void dp2a(Warp &w, const Inst &in, uint32_t mask) {
  bool aSigned = in.flags & 1, bSigned = in.flags & 2;
  unsigned first = in.variant ? 2 : 0;
  ternaryRow<uint32_t, uint32_t, uint32_t, uint32_t>(
      w, in, mask, [=](uint32_t a, uint32_t b, uint32_t c) {
        for (unsigned i = 0; i < 2; ++i) {
          uint16_t half = static_cast<uint16_t>(a >> (16 * i));
          int32_t left = aSigned ? int32_t(int16_t(half)) : int32_t(half);
          c += static_cast<uint32_t>(left * byteOf(b, first + i, bSigned));
        }
        return c;
      });
}

// --- decoding
/// The handler of `Op` for an integer type of 16 or 32 bits, or null.
template <class Op> Handler pickNarrow(Type type) {
  switch (type) {
  case Type::U16:
    return Op::template run<uint16_t>;
  case Type::S16:
    return Op::template run<int16_t>;
  case Type::U32:
    return Op::template run<uint32_t>;
  case Type::S32:
    return Op::template run<int32_t>;
  default:
    return nullptr;
  }
}
/// The same, or of 64 bits.
template <class Op> Handler pick(Type type) {
  switch (type) {
  case Type::U64:
    return Op::template run<uint64_t>;
  case Type::S64:
    return Op::template run<int64_t>;
  default:
    return pickNarrow<Op>(type);
  }
}
Type wideType(Type type) {
  switch (type) {
  case Type::U16:
    return Type::U32;
  case Type::S16:
    return Type::S32;
  case Type::U32:
    return Type::U64;
  default:
    return Type::S64;
  }
}

bool finish(InstBuilder &b, Handler handler, Type type) {
  if (!handler)
    return b.fail("type '." + typeName(type) + "' is not allowed here");
  b.inst.execute = handler;
  b.inst.instClass = InstClass::Integer;
  return emitInst(b);
}

template <class Op> bool decodeBinary(InstBuilder &b, Type type, Handler handler) {
  return b.expectOperands(3) && b.addDst(b.operand(0), type) && b.addSrc(b.operand(1), type) &&
         b.addSrc(b.operand(2), type) && finish(b, handler, type);
}

bool decodeAddSub(InstBuilder &b, bool isSubtraction) {
  bool hasCarryOut = b.accept("cc");
  bool isSaturating = b.accept("sat");
  Type type = b.expectType();
  if (hasCarryOut) {
    Type bits = bitWidth(type) == 64 ? Type::U64 : Type::U32;
    if (!b.expectOperands(3) || !b.addDst(b.operand(0), bits) || !addCarryDst(b) ||
        !b.addSrc(b.operand(1), bits) || !b.addSrc(b.operand(2), bits))
      return false;
    return finish(b, isSubtraction ? pick<SubCarry>(bits) : pick<AddCarry>(bits), type);
  }
  Handler handler;
  if (type == Type::U16x2 || type == Type::S16x2)
    handler = isSubtraction ? nullptr : type == Type::U16x2 ? addPair<uint16_t> : addPair<int16_t>;
  else if (isSaturating)
    handler = type != Type::S32 ? nullptr
              : isSubtraction   ? SubSat::run<int32_t>
                                : AddSat::run<int32_t>;
  else
    handler = isSubtraction ? pick<Sub>(type) : pick<Add>(type);
  if (!isSaturating)
    b.inst.poison = PoisonRule::Carry;
  return decodeBinary<Add>(b, type, handler);
}

bool decodeCarryChain(InstBuilder &b, bool isSubtraction) {
  bool hasCarryOut = b.accept("cc");
  Type type = b.expectType();
  Type bits = bitWidth(type) == 64 ? Type::U64 : Type::U32;
  b.inst.flags = 1;
  if (!b.expectOperands(3) || !b.addDst(b.operand(0), bits) || (hasCarryOut && !addCarryDst(b)) ||
      !b.addSrc(b.operand(1), bits) || !b.addSrc(b.operand(2), bits) || !addCarrySrc(b))
    return false;
  return finish(b, isSubtraction ? pick<SubCarry>(bits) : pick<AddCarry>(bits), type);
}

bool decodeMul(InstBuilder &b) {
  int half = b.acceptOneOf({"lo", "hi", "wide"});
  Type type = b.expectType();
  if (half == 2)
    return b.expectOperands(3) && b.addDst(b.operand(0), wideType(type)) &&
           b.addSrc(b.operand(1), type) && b.addSrc(b.operand(2), type) &&
           finish(b, pickNarrow<MulWide>(type), type);
  if (half == 0)
    b.inst.poison = PoisonRule::Carry;
  return decodeBinary<MulLo>(b, type, half == 1 ? pick<MulHi>(type) : pick<MulLo>(type));
}

bool decodeMad(InstBuilder &b, bool usesCarry) {
  int half = b.acceptOneOf({"lo", "hi", "wide"});
  bool hasCarryOut = b.accept("cc");
  bool isSaturating = b.accept("sat");
  Type type = b.expectType();
  Type result = half == 2 ? wideType(type) : type;
  b.inst.variant = half == 1;
  b.inst.flags = usesCarry;
  if (!b.expectOperands(4) || !b.addDst(b.operand(0), result) || (hasCarryOut && !addCarryDst(b)) ||
      !b.addSrc(b.operand(1), type) || !b.addSrc(b.operand(2), type) ||
      !b.addSrc(b.operand(3), result) || (usesCarry && !addCarrySrc(b)))
    return false;
  Handler handler;
  if (usesCarry || hasCarryOut)
    handler = half == 2 ? nullptr : pick<MadCarry>(type);
  else if (isSaturating)
    handler = half == 1 && type == Type::S32 ? MadHiSat::run<int32_t> : nullptr;
  else
    handler = half == 2   ? pickNarrow<MadWide>(type)
              : half == 1 ? pick<MadHi>(type)
                          : pick<MadLo>(type);
  return finish(b, handler, type);
}

template <class Op> bool decode24(InstBuilder &b, unsigned sources) {
  b.inst.variant = b.acceptOneOf({"lo", "hi"}) == 1;
  Type type = b.expectType();
  Handler handler = type == Type::S32   ? Op::template run<int32_t>
                    : type == Type::U32 ? Op::template run<uint32_t>
                                        : nullptr;
  if (!b.expectOperands(sources + 1) || !b.addDst(b.operand(0), type))
    return false;
  for (unsigned i = 1; i <= sources; ++i)
    if (!b.addSrc(b.operand(i), type))
      return false;
  return finish(b, handler, type);
}

template <class Op> bool decodeSimple(InstBuilder &b) {
  Type type = b.expectType();
  return decodeBinary<Op>(b, type, pick<Op>(type));
}
template <class Op> bool decodeUnary(InstBuilder &b) {
  Type type = b.expectType();
  Handler handler = isSigned(type) ? pick<Op>(type) : nullptr;
  return b.expectOperands(2) && b.addDst(b.operand(0), type) && b.addSrc(b.operand(1), type) &&
         finish(b, handler, type);
}

bool decodeMinMax(InstBuilder &b, bool isMax) {
  bool hasRelu = b.accept("relu");
  Type type = b.expectType();
  Handler handler;
  if (type == Type::U16x2)
    handler = isMax ? maxPair<uint16_t> : minPair<uint16_t>;
  else if (type == Type::S16x2)
    handler = isMax ? maxPair<int16_t> : minPair<int16_t>;
  else
    handler = isMax ? pick<Max>(type) : pick<Min>(type);
  if (hasRelu) // clamps negative results to 0; only of these two types
    handler = type == Type::S32     ? (isMax ? MaxRelu::run<int32_t> : MinRelu::run<int32_t>)
              : type == Type::S16x2 ? (isMax ? maxReluPair : minReluPair)
                                    : nullptr;
  return decodeBinary<Min>(b, type, handler);
}

bool decodeSad(InstBuilder &b) {
  Type type = b.expectType();
  return b.expectOperands(4) && b.addDst(b.operand(0), type) && b.addSrc(b.operand(1), type) &&
         b.addSrc(b.operand(2), type) && b.addSrc(b.operand(3), type) &&
         finish(b, pick<Sad>(type), type);
}

bool decodeDotProduct(InstBuilder &b, Handler handler, bool hasHalf) {
  if (hasHalf)
    b.inst.variant = b.acceptOneOf({"lo", "hi"}) == 1;
  Type left = b.expectType(), right = b.expectType();
  for (Type type : {left, right})
    if (type != Type::U32 && type != Type::S32)
      return b.fail("type '." + typeName(type) + "' is not allowed here");
  b.inst.flags = (left == Type::S32 ? 1 : 0) | (right == Type::S32 ? 2 : 0);
  return b.expectOperands(4) && b.addDst(b.operand(0), Type::B32) &&
         b.addSrc(b.operand(1), Type::B32) && b.addSrc(b.operand(2), Type::B32) &&
         b.addSrc(b.operand(3), Type::B32) && finish(b, handler, left);
}

} // namespace

bool decodeIntegerAdd(InstBuilder &b) { return decodeAddSub(b, false); }
bool decodeIntegerSub(InstBuilder &b) { return decodeAddSub(b, true); }
bool decodeIntegerMul(InstBuilder &b) { return decodeMul(b); }
bool decodeIntegerMad(InstBuilder &b) { return decodeMad(b, false); }
bool decodeIntegerDiv(InstBuilder &b) { return decodeSimple<Div>(b); }
bool decodeIntegerAbs(InstBuilder &b) { return decodeUnary<Abs>(b); }
bool decodeIntegerNeg(InstBuilder &b) { return decodeUnary<Neg>(b); }
bool decodeIntegerMin(InstBuilder &b) { return decodeMinMax(b, false); }
bool decodeIntegerMax(InstBuilder &b) { return decodeMinMax(b, true); }

llvm::ArrayRef<FamilyEntry> integerFamily() {
  static constexpr FamilyEntry entries[] = {
      {"rem", [](InstBuilder &b) { return decodeSimple<Rem>(b); }},
      {"addc", [](InstBuilder &b) { return decodeCarryChain(b, false); }},
      {"subc", [](InstBuilder &b) { return decodeCarryChain(b, true); }},
      {"madc", [](InstBuilder &b) { return decodeMad(b, true); }},
      {"mul24", [](InstBuilder &b) { return decode24<Mul24>(b, 2); }},
      {"mad24", [](InstBuilder &b) { return decode24<Mad24>(b, 3); }},
      {"sad", decodeSad},
      {"dp4a", [](InstBuilder &b) { return decodeDotProduct(b, dp4a, false); }},
      {"dp2a", [](InstBuilder &b) { return decodeDotProduct(b, dp2a, true); }},
  };
  return entries;
}

} // namespace vgpu
