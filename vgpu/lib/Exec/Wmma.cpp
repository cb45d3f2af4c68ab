//===- Wmma.cpp - wmma.load, wmma.mma, wmma.store ---------------------------------------------===//
//
// PTX ISA, "Warp-level matrix instructions: wmma". Which lane holds which element of a fragment is
// not specified, so any consistent choice will do: here the elements of a matrix, row by row, are
// dealt out in runs, lane 0 first. Where a fragment has room for every element several times (f16 A
// and B), the later lanes hold the copies.
//
//===-----------------------------------------------------------------------------------===//
#include "Families.h"
#include "vgpu/Exec/LaneMemory.h"
#include "vgpu/Exec/MatrixMath.h"
#include "vgpu/Exec/SmallFloat.h"
#include <algorithm>

using namespace vgpu::ptx;

namespace vgpu {

namespace {

enum WmmaFlags : uint8_t { ColumnMajor = 1, Saturate = 2, XorPopc = 4 };
enum class Fragment : uint8_t { A, B, C, D };

struct Shape {
  unsigned m, n, k;
};
struct ShapeWord {
  llvm::StringLiteral word;
  Shape shape;
};
constexpr ShapeWord shapeWords[] = {
    {"m16n16k16", {16, 16, 16}}, {"m8n32k16", {8, 32, 16}}, {"m32n8k16", {32, 8, 16}},
    {"m16n16k8", {16, 16, 8}},   {"m8n8k4", {8, 8, 4}},     {"m8n8k32", {8, 8, 32}},
    {"m8n8k128", {8, 8, 128}},
};
const Shape &shapeOf(const Inst &in) { return shapeWords[in.secondOffset].shape; }

unsigned bitsOf(Type type) { return type == Type::TF32 ? 32 : bitWidth(type); }
unsigned perRegister(Type type) { return bitsOf(type) >= 32 ? 1 : 32 / bitsOf(type); }

unsigned rowsOf(const Shape &shape, Fragment fragment) {
  return fragment == Fragment::B ? shape.k : shape.m;
}
unsigned columnsOf(const Shape &shape, Fragment fragment) {
  return fragment == Fragment::A ? shape.k : shape.n;
}

/// The element in position `index` of a lane's fragment that has `slots` positions.
unsigned elementAt(unsigned lane, unsigned index, unsigned slots, unsigned elements) {
  return (lane * slots + index) % elements;
}

/// Calls visit(element, bits) for each element of a fragment, row-major.
template <class Visit>
void forEachElement(Warp &w, const Slot *slots, unsigned count, Type type, unsigned elements,
                    Visit visit) {
  unsigned per = perRegister(type), bits = bitsOf(type);
  uint64_t field = bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
  for (unsigned i = 0; i < count; ++i)
    for (unsigned lane = 0; lane < warpSize; ++lane) {
      uint64_t value = w.lane(slots[i], lane);
      for (unsigned e = 0; e < per; ++e)
        visit(elementAt(lane, i * per + e, count * per, elements), (value >> (e * bits)) & field);
    }
}

/// Byte offset of an element from the matrix' start; `stride` counts elements between rows or
/// columns.
uint64_t offsetOf(unsigned element, unsigned columns, uint64_t stride, bool isColumnMajor,
                  unsigned bits) {
  uint64_t row = element / columns, column = element % columns;
  return (isColumnMajor ? column * stride + row : row * stride + column) * bits / 8;
}

// --- load and store: one access per element, or per register for elements below 8 bits, which lie
// side by side
struct Layout {
  Type type;
  unsigned columns, elements, bits, step; ///< step: elements moved by one access
  bool isTransposed;
};
Layout layoutOf(const Inst &in) {
  const Shape &shape = shapeOf(in);
  Fragment fragment = static_cast<Fragment>(in.variant);
  Layout layout;
  layout.type = static_cast<Type>(in.count);
  layout.bits = bitsOf(layout.type);
  layout.columns = columnsOf(shape, fragment);
  layout.elements = rowsOf(shape, fragment) * layout.columns;
  layout.isTransposed = layout.bits < 8 && fragment == Fragment::B;
  if (layout.isTransposed) // exists by columns only; dealt out along them so that runs stay runs
    layout.columns = rowsOf(shape, fragment);
  layout.step = layout.bits < 8 ? 32 / layout.bits : 1;
  return layout;
}

/// The byte addresses of position `index` of every lane. B of 4 and 1 bits is stored by columns,
/// and so are its runs.
void elementAddresses(Warp &w, const Inst &in, const Layout &layout, unsigned slots, unsigned index,
                      const uint64_t *base, LaneAddresses &lanes) {
  bool isColumnMajor = (in.flags & ColumnMajor) && !layout.isTransposed;
  for (unsigned lane = 0; lane < warpSize; ++lane) {
    uint64_t stride = w.lane(in.src(in.numSrc - 1), lane);
    unsigned element = elementAt(lane, index, slots, layout.elements);
    lanes.address[lane] =
        base[lane] + offsetOf(element, layout.columns, stride, isColumnMajor, layout.bits);
  }
}

void loadFragment(Warp &w, const Inst &in, uint32_t mask) {
  Layout layout = layoutOf(in);
  uint64_t base[warpSize];
  computeAddresses(w, in.src(0), in.immediate, base);
  unsigned per = perRegister(layout.type), slots = in.numDst * per;
  unsigned bytes = layout.bits < 8 ? 4 : layout.bits / 8;
  for (unsigned i = 0; i < in.numDst; ++i) {
    uint64_t values[warpSize] = {};
    for (unsigned e = 0; e < per; e += layout.step) {
      LaneAddresses lanes;
      elementAddresses(w, in, layout, slots, i * per + e, base, lanes);
      resolve(w, in, in.space, bytes, AccessKind::Read, mask, lanes);
      notify(w, in, AccessKind::Read, bytes, lanes);
      forEachLane(lanes.mask, [&](unsigned lane) {
        uint64_t value = 0;
        std::memcpy(&value, lanes.host[lane], bytes);
        values[lane] |= value << (e * layout.bits);
      });
    }
    forEachLane(mask, [&](unsigned lane) { w.setLane(in.dst(i), lane, values[lane]); });
  }
}

void storeFragment(Warp &w, const Inst &in, uint32_t mask) {
  Layout layout = layoutOf(in);
  uint64_t base[warpSize];
  computeAddresses(w, in.src(0), in.immediate, base);
  unsigned registers = in.numSrc - 2u, per = perRegister(layout.type), slots = registers * per;
  unsigned bytes = layout.bits / 8;
  for (unsigned i = 0; i < registers; ++i)
    for (unsigned e = 0; e < per; ++e) {
      LaneAddresses lanes;
      elementAddresses(w, in, layout, slots, i * per + e, base, lanes);
      resolve(w, in, in.space, bytes, AccessKind::Write, mask, lanes);
      uint8_t values[warpSize * 8];
      forEachLane(lanes.mask, [&](unsigned lane) {
        uint64_t value = w.lane(in.src(1 + i), lane) >> (e * layout.bits);
        std::memcpy(values + size_t(lane) * bytes, &value, bytes);
      });
      notify(w, in, AccessKind::Write, bytes, lanes, values);
      forEachLane(lanes.mask, [&](unsigned lane) {
        std::memcpy(lanes.host[lane], values + size_t(lane) * bytes, bytes);
      });
    }
}

// --- multiply. Types and register counts are packed into the family fields.
struct Operands {
  Type a, b, c, d;
  const Slot *slotsA, *slotsB, *slotsC;
  unsigned countA, countB, countC;
};
Operands operandsOf(const Inst &in) {
  Operands ops;
  ops.a = static_cast<Type>(in.width);
  ops.b = static_cast<Type>(in.variant);
  ops.c = static_cast<Type>(in.order);
  ops.d = static_cast<Type>(in.scope);
  ops.countA = static_cast<unsigned>(in.immediate & 0xff);
  ops.countB = static_cast<unsigned>(in.immediate >> 8 & 0xff);
  ops.countC = in.numSrc - ops.countA - ops.countB;
  ops.slotsA = in.slots + in.numDst;
  ops.slotsB = ops.slotsA + ops.countA;
  ops.slotsC = ops.slotsB + ops.countB;
  return ops;
}

/// Writes D; value(element) gives its bits.
template <class Value>
void storeResult(Warp &w, const Inst &in, Type type, unsigned elements, uint32_t mask,
                 Value value) {
  unsigned per = perRegister(type), slots = in.numDst * per;
  for (unsigned i = 0; i < in.numDst; ++i)
    forEachLane(mask, [&](unsigned lane) {
      uint64_t bits = 0;
      for (unsigned e = 0; e < per; ++e)
        bits |= value(elementAt(lane, i * per + e, slots, elements)) << (e * bitsOf(type));
      w.setLane(in.dst(i), lane, bits);
    });
}

void multiplyFloats(Warp &w, const Inst &in, uint32_t mask) {
  const Shape &s = shapeOf(in);
  Operands ops = operandsOf(in);
  float a[32 * 16], b[16 * 32], acc[32 * 32];
  forEachElement(w, ops.slotsA, ops.countA, ops.a, s.m * s.k,
                 [&](unsigned at, uint64_t bits) { a[at] = matrixElementToFloat(bits, ops.a); });
  forEachElement(w, ops.slotsB, ops.countB, ops.b, s.k * s.n,
                 [&](unsigned at, uint64_t bits) { b[at] = matrixElementToFloat(bits, ops.b); });
  forEachElement(w, ops.slotsC, ops.countC, ops.c, s.m * s.n,
                 [&](unsigned at, uint64_t bits) { acc[at] = matrixElementToFloat(bits, ops.c); });
  multiplyAccumulate(a, b, acc, s.m, s.n, s.k);
  storeResult(w, in, ops.d, s.m * s.n, mask, [&](unsigned at) -> uint64_t {
    return ops.d == Type::F16 ? floatToHalf(acc[at]) : std::bit_cast<uint32_t>(canonical(acc[at]));
  });
}

void multiplyDoubles(Warp &w, const Inst &in, uint32_t mask) {
  const Shape &s = shapeOf(in);
  Operands ops = operandsOf(in);
  double a[8 * 4], b[4 * 8], acc[8 * 8];
  auto loader = [](double *to) {
    return [to](unsigned at, uint64_t bits) { to[at] = std::bit_cast<double>(bits); };
  };
  forEachElement(w, ops.slotsA, ops.countA, ops.a, s.m * s.k, loader(a));
  forEachElement(w, ops.slotsB, ops.countB, ops.b, s.k * s.n, loader(b));
  forEachElement(w, ops.slotsC, ops.countC, ops.c, s.m * s.n, loader(acc));
  multiplyAccumulate(a, b, acc, s.m, s.n, s.k);
  storeResult(w, in, ops.d, s.m * s.n, mask,
              [&](unsigned at) { return std::bit_cast<uint64_t>(acc[at]); });
}

int32_t integerOf(uint64_t bits, Type type) {
  unsigned width = bitWidth(type);
  if (!isSigned(type) || width >= 32)
    return static_cast<int32_t>(bits);
  return static_cast<int32_t>(static_cast<uint32_t>(bits) << (32 - width)) >> (32 - width);
}

void multiplyIntegers(Warp &w, const Inst &in, uint32_t mask) {
  const Shape &s = shapeOf(in);
  Operands ops = operandsOf(in);
  int32_t a[32 * 128], b[128 * 32];
  int64_t acc[32 * 32];
  // B below 8 bits exists by columns only, and was dealt out along them.
  bool isNarrow = bitsOf(ops.a) < 8;
  forEachElement(w, ops.slotsA, ops.countA, ops.a, s.m * s.k,
                 [&](unsigned at, uint64_t bits) { a[at] = integerOf(bits, ops.a); });
  forEachElement(w, ops.slotsB, ops.countB, ops.b, s.k * s.n, [&](unsigned at, uint64_t bits) {
    b[isNarrow ? (at % s.k) * s.n + at / s.k : at] = integerOf(bits, ops.b);
  });
  forEachElement(w, ops.slotsC, ops.countC, ops.c, s.m * s.n,
                 [&](unsigned at, uint64_t bits) { acc[at] = integerOf(bits, ops.c); });
  if (ops.a == Type::B1) {
    for (unsigned i = 0; i < s.m; ++i)
      for (unsigned j = 0; j < s.n; ++j)
        for (unsigned p = 0; p < s.k; ++p) {
          int32_t left = a[i * s.k + p] & 1, right = b[p * s.n + j] & 1;
          acc[i * s.n + j] += (in.flags & XorPopc) ? left ^ right : left & right;
        }
  } else {
    multiplyAccumulate(a, b, acc, s.m, s.n, s.k);
  }
  storeResult(w, in, ops.d, s.m * s.n, mask, [&](unsigned at) -> uint64_t {
    int64_t value = acc[at];
    if (in.flags & Saturate)
      value = std::clamp<int64_t>(value, INT32_MIN, INT32_MAX);
    return static_cast<uint32_t>(value);
  });
}

// --- decoding
bool acceptShape(InstBuilder &b) {
  for (size_t i = 0; i < std::size(shapeWords); ++i)
    if (b.accept(shapeWords[i].word)) {
      b.inst.secondOffset = static_cast<int64_t>(i);
      return true;
    }
  return b.fail("unknown shape '." + b.peek() + "'");
}

bool acceptAligned(InstBuilder &b) {
  return (b.accept("sync") && b.accept("aligned")) || b.fail("expected '.sync.aligned'");
}

bool finish(InstBuilder &b, Handler handler) {
  b.inst.execute = handler;
  b.inst.flow = Flow::Collective;
  b.inst.isAligned = true;
  return emitInst(b);
}

bool decodeTransfer(InstBuilder &b, bool isStore) {
  Inst &inst = b.inst;
  int fragment = isStore ? (b.accept("d") ? 3 : -1) : b.acceptOneOf({"a", "b", "c"});
  if (fragment < 0)
    return b.fail("expected the name of a fragment");
  inst.variant = static_cast<uint8_t>(fragment);
  if (!acceptAligned(b))
    return false;
  int layout = b.acceptOneOf({"row", "col"});
  if (layout < 0 || !acceptShape(b))
    return b.fail("expected a layout and a shape");
  inst.flags = layout == 1 ? ColumnMajor : 0;
  inst.space = b.acceptSpace();
  Type type = b.expectType();
  if (type == Type::None || !b.expectOperands(2, 3))
    return false;
  inst.count = static_cast<uint8_t>(type);
  Type reg = bitsOf(type) == 64 ? Type::B64 : Type::B32;
  if (!b.addAddress(b.operand(isStore ? 0 : 1)))
    return false;
  for (const Operand &part : InstBuilder::elements(b.operand(isStore ? 1 : 0)))
    if (!(isStore ? b.addSrc(part, reg) : b.addDst(part, reg)))
      return false;
  Operand packed;
  packed.kind = Operand::Kind::Integer;
  const Shape &shape = shapeOf(inst);
  Fragment which = static_cast<Fragment>(fragment);
  packed.integer = layout == 1 ? rowsOf(shape, which) : columnsOf(shape, which);
  const Operand &stride = b.numOperands() > 2 ? b.operand(2) : packed;
  if (!b.addSrc(stride, Type::U32, Role::Control))
    return false;
  inst.instClass = isStore ? InstClass::Matrix : InstClass::MatrixLoad;
  inst.poison = PoisonRule::SameMove;
  return finish(b, isStore ? storeFragment : loadFragment);
}

bool decodeMultiply(InstBuilder &b) {
  Inst &inst = b.inst;
  int bitOperation = b.acceptOneOf({"and", "xor"});
  if (bitOperation >= 0 && !b.accept("popc"))
    return b.fail("expected '.popc'");
  if (bitOperation == 1)
    inst.flags |= XorPopc;
  if (!acceptAligned(b) || b.acceptOneOf({"row", "col"}) < 0 || b.acceptOneOf({"row", "col"}) < 0)
    return b.fail("expected two layouts");
  if (!acceptShape(b))
    return false;
  Type d = b.expectType(), second = b.expectType();
  Type a = Type::F16, right = Type::F16, c = second;
  if (std::optional<Type> third = b.acceptType()) { // .d.a.b.c; f16 has only .d.c
    a = second;
    right = *third;
    c = b.expectType();
  }
  if (b.accept("satfinite"))
    inst.flags |= Saturate;
  b.accept("rn"); // f64; the other roundings are refused as unknown modifiers
  if (!b.expectOperands(4))
    return false;
  inst.width = static_cast<uint8_t>(a);
  inst.variant = static_cast<uint8_t>(right);
  inst.order = static_cast<uint8_t>(c);
  inst.scope = static_cast<uint8_t>(d);
  Type reg = a == Type::F64 ? Type::B64 : Type::B32;
  for (const Operand &part : InstBuilder::elements(b.operand(0)))
    if (!b.addDst(part, reg))
      return false;
  size_t counts[3];
  for (unsigned i = 0; i < 3; ++i) {
    llvm::ArrayRef<Operand> parts = InstBuilder::elements(b.operand(i + 1));
    counts[i] = parts.size();
    for (const Operand &part : parts)
      if (!b.addSrc(part, reg))
        return false;
  }
  const Shape &s = shapeOf(inst);
  auto holds = [](size_t registers, Type type, unsigned elements) {
    size_t room = registers * perRegister(type) * warpSize;
    return room != 0 && room % elements == 0;
  };
  if (!holds(counts[0], a, s.m * s.k) || !holds(counts[1], right, s.k * s.n) ||
      !holds(counts[2], c, s.m * s.n))
    return b.fail("the number of registers does not fit the shape");
  inst.immediate = static_cast<int64_t>(counts[0] | counts[1] << 8);
  inst.instClass = InstClass::Matrix;
  inst.tensorOperations = 2 * s.m * s.n * s.k;
  inst.poison = PoisonRule::Warp;
  return finish(b, a == Type::F64 ? multiplyDoubles
                   : isFloat(a)   ? multiplyFloats
                                  : multiplyIntegers);
}

bool decodeWmma(InstBuilder &b) {
  if (b.accept("mma"))
    return decodeMultiply(b);
  bool isStore = b.accept("store");
  if (!isStore && !b.accept("load"))
    return b.fail("expected '.load', '.store' or '.mma'");
  return decodeTransfer(b, isStore);
}

} // namespace

llvm::ArrayRef<FamilyEntry> wmmaFamily() {
  static constexpr FamilyEntry entries[] = {{"wmma", decodeWmma}};
  return entries;
}

} // namespace vgpu
