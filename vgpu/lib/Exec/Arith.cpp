//===- Arith.cpp - opcodes shared by several types -----------------------------------------===//
//
// `add` is integer, f32, f64 or half arithmetic by its type; this file looks at the type and hands
// the instruction to the family that computes it.
//
//===-----------------------------------------------------------------------------------===//
#include "Families.h"
#include "KernelDecoder.h"

using namespace vgpu::ptx;

namespace vgpu {

namespace {

enum class Domain : uint8_t { Integer, Float, Half };

/// By the last type among the modifiers (fma.rn.f32.f16 mixes; its result type comes first).
Domain domainOf(const InstBuilder &b) {
  for (const std::string &part : b.source.parts) {
    std::optional<Type> type = parseType(part);
    if (!type)
      continue;
    switch (*type) {
    case Type::F16:
    case Type::F16x2:
    case Type::BF16:
    case Type::BF16x2:
      return Domain::Half;
    case Type::F32:
    case Type::F64:
      return Domain::Float;
    default:
      return Domain::Integer;
    }
  }
  return Domain::Integer;
}

template <FloatOp op, bool (*integer)(InstBuilder &)> bool byType(InstBuilder &b) {
  switch (domainOf(b)) {
  case Domain::Integer:
    if constexpr (integer != nullptr)
      return integer(b);
    return b.fail("needs a floating-point type");
  case Domain::Float:
    return decodeFloat(b, op);
  case Domain::Half:
    return decodeHalf(b, op);
  }
  return false;
}

} // namespace

bool emitInst(InstBuilder &builder) { return builder.decoder().emit(builder); }

bool addCarryDst(InstBuilder &builder) { return builder.decoder().addCarry(builder, true); }
bool addCarrySrc(InstBuilder &builder) { return builder.decoder().addCarry(builder, false); }

static llvm::ArrayRef<FamilyEntry> arithFamily() {
  static constexpr FamilyEntry entries[] = {
      {"add", byType<FloatOp::Add, decodeIntegerAdd>},
      {"sub", byType<FloatOp::Sub, decodeIntegerSub>},
      {"mul", byType<FloatOp::Mul, decodeIntegerMul>},
      {"mad", byType<FloatOp::Fma, decodeIntegerMad>},
      {"fma", byType<FloatOp::Fma, nullptr>},
      {"div", byType<FloatOp::Div, decodeIntegerDiv>},
      {"abs", byType<FloatOp::Abs, decodeIntegerAbs>},
      {"neg", byType<FloatOp::Neg, decodeIntegerNeg>},
      {"min", byType<FloatOp::Min, decodeIntegerMin>},
      {"max", byType<FloatOp::Max, decodeIntegerMax>},
  };
  return entries;
}

FamilyDecoder findFamily(llvm::StringRef opcode) {
  static const llvm::StringMap<FamilyDecoder> table = [] {
    llvm::StringMap<FamilyDecoder> map;
    for (llvm::ArrayRef<FamilyEntry> family :
         {arithFamily(),   integerFamily(), bitFamily(),      floatFamily(),  approximateFamily(),
          compareFamily(), convertFamily(), moveFamily(),     memoryFamily(), atomicFamily(),
          warpFamily(),    barrierFamily(), controlFamily(),  asyncFamily(),  matrixLoadFamily(),
          mmaFamily(),     wmmaFamily(),    mbarrierFamily(), wgmmaFamily(),  clusterFamily()})
      for (const FamilyEntry &entry : family)
        map[entry.opcode] = entry.decode;
    return map;
  }();
  auto it = table.find(opcode);
  return it == table.end() ? nullptr : it->second;
}

} // namespace vgpu
