//===- MmaVolta.cpp - mma.sync.m8n8k4 of f16 --------------------------------------------------===//
//
// The first tensor-core shape (sm_70) does four multiplications at once: quad pair q is the lanes
// 4q..4q+3 and 16+4q..16+4q+3, each with its own 8x4, 4x8 and 8x8 matrices. PTX ISA, "Matrix
// fragments for mma.m8n8k4 with .f16". With t = lane % 4 and h = lane / 16, element i of a lane is
//
//     A row-major: (4h + t, i)      A column-major: (4h + i, t)      f16 C, D: (4h + t, i)
//     B row-major: (t, 4h + i)      B column-major: (i, 4h + t)
//     f32 C, D:    (4h + (t & 1) + (i & 2), (i & 4) + (t & 2) + (i & 1))
//
//===-----------------------------------------------------------------------------------===//
#include "Families.h"
#include "vgpu/Exec/MatrixMath.h"
#include "vgpu/Exec/SmallFloat.h"
#include "vgpu/Machine/Warp.h"

using namespace vgpu::ptx;

namespace vgpu {

namespace {

enum VoltaFlags : uint8_t { ColumnA = 1, RowB = 2, HalfC = 4, HalfD = 8 };

struct Cell {
  unsigned row, column;
};
Cell placeA(unsigned t, unsigned h, unsigned i, bool isColumn) {
  return isColumn ? Cell{4 * h + i, t} : Cell{4 * h + t, i};
}
Cell placeB(unsigned t, unsigned h, unsigned i, bool isRow) {
  return isRow ? Cell{t, 4 * h + i} : Cell{i, 4 * h + t};
}
Cell placeC(unsigned t, unsigned h, unsigned i, bool isHalf) {
  if (isHalf)
    return {4 * h + t, i};
  return {4 * h + (t & 1) + (i & 2), (i & 4) + (t & 2) + (i & 1)};
}

uint16_t halfOf(Warp &w, const Slot *slots, unsigned lane, unsigned i) {
  return static_cast<uint16_t>(w.row<uint32_t>(slots[i / 2])[lane] >> (16 * (i % 2)));
}

void multiply(Warp &w, const Inst &in, uint32_t mask) {
  const Slot *a = in.slots + in.numDst, *b = a + 2, *c = b + 2;
  bool halfC = in.flags & HalfC, halfD = in.flags & HalfD;
  for (unsigned q = 0; q < 4; ++q) {
    float left[8 * 4], right[4 * 8], acc[8 * 8];
    auto forEachMember = [&](auto body) {
      for (unsigned h = 0; h < 2; ++h)
        for (unsigned t = 0; t < 4; ++t)
          body(16 * h + 4 * q + t, t, h);
    };
    forEachMember([&](unsigned lane, unsigned t, unsigned h) {
      for (unsigned i = 0; i < 4; ++i) {
        Cell at = placeA(t, h, i, in.flags & ColumnA);
        left[at.row * 4 + at.column] = halfToFloat(halfOf(w, a, lane, i));
        at = placeB(t, h, i, in.flags & RowB);
        right[at.row * 8 + at.column] = halfToFloat(halfOf(w, b, lane, i));
      }
      for (unsigned i = 0; i < 8; ++i) {
        Cell at = placeC(t, h, i, halfC);
        acc[at.row * 8 + at.column] =
            halfC ? halfToFloat(halfOf(w, c, lane, i)) : w.row<float>(c[i])[lane];
      }
    });
    multiplyAccumulate(left, right, acc, 8, 8, 4);
    forEachMember([&](unsigned lane, unsigned t, unsigned h) {
      if (!(mask >> lane & 1))
        return;
      for (unsigned i = 0; i < 8; ++i) {
        Cell at = placeC(t, h, i, halfD);
        float value = acc[at.row * 8 + at.column];
        if (!halfD) {
          w.row<float>(in.slots[i])[lane] = canonical(value);
          continue;
        }
        uint32_t &pair = w.row<uint32_t>(in.slots[i / 2])[lane];
        uint32_t shift = 16 * (i % 2);
        pair = (pair & ~(0xffffu << shift)) | uint32_t(floatToHalf(value)) << shift;
      }
    });
  }
}

bool addParts(InstBuilder &b, const Operand &operand, unsigned count, bool isResult) {
  llvm::ArrayRef<Operand> parts = InstBuilder::elements(operand);
  if (parts.size() != count)
    return b.fail("expected " + llvm::Twine(count) + " registers, got " +
                  llvm::Twine(parts.size()));
  for (const Operand &part : parts)
    if (!(isResult ? b.addDst(part, Type::B32) : b.addSrc(part, Type::B32)))
      return false;
  return true;
}

} // namespace

bool decodeVoltaMma(InstBuilder &b) {
  Inst &inst = b.inst;
  int layoutA = b.acceptOneOf({"row", "col"}), layoutB = b.acceptOneOf({"row", "col"});
  if (layoutA < 0 || layoutB < 0)
    return b.fail("expected two layouts");
  Type d = b.expectType(), a = b.expectType(), right = b.expectType(), c = b.expectType();
  auto isSum = [](Type type) { return type == Type::F16 || type == Type::F32; };
  if (a != Type::F16 || right != Type::F16 || !isSum(c) || !isSum(d))
    return b.fail("this combination of shape and types does not exist");
  inst.flags = static_cast<uint8_t>((layoutA == 1 ? ColumnA : 0) | (layoutB == 0 ? RowB : 0) |
                                    (c == Type::F16 ? HalfC : 0) | (d == Type::F16 ? HalfD : 0));
  inst.execute = multiply;
  inst.flow = Flow::Collective;
  inst.isAligned = true;
  inst.instClass = InstClass::Matrix;
  inst.tensorOperations = 4 * 2 * 8 * 8 * 4;
  inst.poison = PoisonRule::Warp;
  return b.expectOperands(4) && addParts(b, b.operand(0), d == Type::F16 ? 4 : 8, true) &&
         addParts(b, b.operand(1), 2, false) && addParts(b, b.operand(2), 2, false) &&
         addParts(b, b.operand(3), c == Type::F16 ? 4 : 8, false) && emitInst(b);
}

} // namespace vgpu
