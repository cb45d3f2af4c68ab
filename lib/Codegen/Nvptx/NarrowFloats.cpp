//===- NarrowFloats.cpp - float8, tfloat32, rounding modes, saturation ------------------------===//
//
// A register holds a float8 as its 8 bits and a tfloat32 as a float32; they become numbers by a
// conversion, in which a tfloat32 loses the digits it does not have. sm_89 and later convert
// float8 by an instruction; everything else that PTX lacks is a function of the device library.
//
//===----------------------------------------------------------------------------------------===//

#include "EmitSteps.h"
#include "ThreadLowering.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::nvptx {

static bool isFloat8(Type type) { return isa<Float8E4M3FNType, Float8E5M2Type>(type); }

bool isStorageFloat(Type type) { return isFloat8(type) || isa<FloatTF32Type>(type); }

Type getScalarType(Type elementType) {
  if (isFloat8(elementType))
    return IntegerType::get(elementType.getContext(), 8);
  if (isa<FloatTF32Type>(elementType))
    return Float32Type::get(elementType.getContext());
  return tile::getScalarType(elementType);
}

TypedAttr getRegisterConstant(TypedAttr constant) {
  auto number = dyn_cast<FloatAttr>(constant);
  if (!number || !isStorageFloat(number.getType()))
    return constant;
  Type type = getScalarType(number.getType());
  if (auto bits = dyn_cast<IntegerType>(type))
    return IntegerAttr::get(bits, number.getValue().bitcastToAPInt());
  return FloatAttr::get(type, number.getValueAsDouble());
}

/// The fields of a format as operands of the device library.
static SmallVector<Value, 4> makeFields(ImplicitLocOpBuilder &b, Type type) {
  auto [exponent, fraction] = llvm::TypeSwitch<Type, std::pair<int, int>>(type)
                                  .Case([](Float8E4M3FNType) { return std::pair(4, 3); })
                                  .Case([](Float8E5M2Type) { return std::pair(5, 2); })
                                  .Case([](Float16Type) { return std::pair(5, 10); })
                                  .Case([](BFloat16Type) { return std::pair(8, 7); })
                                  .Case([](FloatTF32Type) { return std::pair(8, 10); })
                                  .Default([](Type) { return std::pair(8, 23); });
  auto constant = [&](int value) -> Value {
    return arith::ConstantOp::create(b, b.getI32IntegerAttr(value));
  };
  return {constant(exponent), constant(fraction)};
}

Value inlinePtx(ImplicitLocOpBuilder &b, StringRef text, StringRef constraints, Type type,
                ValueRange operands) {
  auto code = LLVM::InlineAsmOp::create(
      b, type, operands, text, constraints, /*has_side_effects=*/false, /*is_align_stack=*/false,
      LLVM::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr());
  return code.getResult(0);
}

Value roundToTf32(ImplicitLocOpBuilder &b, Value value) {
  return inlinePtx(b, "cvt.rna.tf32.f32 $0, $1;", "=r,f", b.getI32Type(), value);
}

/// The float32 that a register of a storage type stands for.
Value ThreadLowering::widenStorageFloat(Value value, Type from) {
  if (isa<FloatTF32Type>(from))
    return LLVM::BitcastOp::create(b, b.getF32Type(), roundToTf32(b, value));
  if (arch.version >= 89) { // two at a time; the upper one is zero
    Value pair = arith::ExtUIOp::create(b, b.getI16Type(), value);
    StringRef format = isa<Float8E4M3FNType>(from) ? "e4m3x2" : "e5m2x2";
    Value halves =
        inlinePtx(b, ("cvt.rn.f16x2." + format + " $0, $1;").str(), "=r,h", b.getI32Type(), pair);
    Value low = arith::TruncIOp::create(b, b.getI16Type(), halves);
    Value half = LLVM::BitcastOp::create(b, b.getF16Type(), low);
    return arith::ExtFOp::create(b, b.getF32Type(), half);
  }
  SmallVector<Value, 4> operands = makeFields(b, from);
  Value bits = arith::ExtUIOp::create(b, b.getI32Type(), value);
  operands.insert(operands.begin(), bits);
  return callDeviceLibrary(b, module, "__tw_widen_f32", b.getF32Type(), operands);
}

/// Rounds a float32 or float64 by the device library.
Value ThreadLowering::narrowByLibrary(Value value, Type to, Rounding rounding, bool saturate) {
  SmallVector<Value, 4> operands = makeFields(b, to);
  operands.insert(operands.begin(), value);
  auto constant = [&](int number) {
    operands.push_back(arith::ConstantOp::create(b, b.getI32IntegerAttr(number)));
  };
  constant(int(rounding));
  constant(saturate);
  StringRef function = value.getType().isF64() ? "__tw_narrow_f64" : "__tw_narrow_f32";
  Value bits = callDeviceLibrary(b, module, function, b.getI32Type(), operands);
  if (isa<FloatTF32Type>(to)) { // the upper digits of a float32
    Value unused = arith::ConstantOp::create(b, b.getI32IntegerAttr(13));
    bits = arith::ShLIOp::create(b, bits, unused);
  }
  Type result = getScalarType(to);
  Type integer = b.getIntegerType(result.getIntOrFloatBitWidth());
  if (integer != bits.getType())
    bits = arith::TruncIOp::create(b, integer, bits);
  return integer == result ? bits : LLVM::BitcastOp::create(b, result, bits).getResult();
}

/// Infinities become the greatest number.
Value ThreadLowering::saturateFloat(Value value) {
  auto type = cast<FloatType>(value.getType());
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  auto constant = [&](const APFloat &number) -> Value {
    return arith::ConstantOp::create(b, b.getFloatAttr(type, number));
  };
  for (bool negative : {false, true}) {
    Value isInfinite = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, value,
                                             constant(APFloat::getInf(semantics, negative)));
    value = arith::SelectOp::create(b, isInfinite,
                                    constant(APFloat::getLargest(semantics, negative)), value);
  }
  return value;
}

/// A float16 or bfloat16 as a float32. A bfloat16 is widened by its bits: LLVM 22 takes an operation
/// on bfloat16 that were extended and whose result becomes a float16 for one on float16, which has
/// more digits but overflows at 65520 (InstCombine looks at digits alone).
static Value widenHalf(ImplicitLocOpBuilder &b, Value value) {
  if (!value.getType().isBF16())
    return arith::ExtFOp::create(b, b.getF32Type(), value);
  Value bits = LLVM::BitcastOp::create(b, b.getI16Type(), value);
  Value wide = arith::ExtUIOp::create(b, b.getI32Type(), bits);
  Value distance = arith::ConstantOp::create(b, b.getI32IntegerAttr(16));
  return LLVM::BitcastOp::create(b, b.getF32Type(), arith::ShLIOp::create(b, wide, distance));
}

Value ThreadLowering::convertFloat(Value value, Type to, Rounding rounding, bool saturate) {
  Type from = value.getType(), f32 = b.getF32Type();
  bool isDefault = rounding == Rounding::NearestEven && !saturate;
  auto widened = [&]() -> Value { // at least float32
    return from.getIntOrFloatBitWidth() < 32 ? widenHalf(b, value) : value;
  };
  if (isa<FloatTF32Type>(to)) {
    bool isNearest = rounding == Rounding::NearestEven || rounding == Rounding::NearestAway;
    bool isInstruction = !saturate && isNearest && !from.isF64();
    if (isInstruction)
      return LLVM::BitcastOp::create(b, f32, roundToTf32(b, widened()));
    return narrowByLibrary(widened(), to,
                           rounding == Rounding::NearestEven ? Rounding::NearestAway : rounding,
                           saturate);
  }
  if (isFloat8(to)) { // always saturates
    if (rounding != Rounding::NearestEven || from.isF64() || arch.version < 89)
      return narrowByLibrary(widened(), to, rounding, /*saturate=*/true);
    Value zero = arith::ConstantOp::create(b, b.getZeroAttr(f32));
    StringRef format = isa<Float8E4M3FNType>(to) ? "e4m3x2" : "e5m2x2";
    Value pair = inlinePtx(b, ("cvt.rn.satfinite." + format + ".f32 $0, $1, $2;").str(), "=h,f,f",
                           b.getI16Type(), {zero, widened()});
    return arith::TruncIOp::create(b, b.getI8Type(), pair);
  }
  if (from == to)
    return saturate ? saturateFloat(value) : value;
  unsigned own = from.getIntOrFloatBitWidth(), wanted = to.getIntOrFloatBitWidth();
  if (own < wanted) {
    value = widened();
    if (value.getType() != to)
      value = arith::ExtFOp::create(b, to, value);
    return saturate ? saturateFloat(value) : value;
  }
  // LLVM would see where a float64 came from, and convert an integer as below.
  bool roundsOnce = !to.isBF16() || !from.isF64() || arch.version >= 90;
  return isDefault && roundsOnce ? arith::TruncFOp::create(b, to, widened()).getResult()
                                 : narrowByLibrary(widened(), to, rounding, saturate);
}

Value ThreadLowering::convertIntegerToFloat(Value value, bool isUnsigned, Type to,
                                            Rounding rounding, bool saturate) {
  Type f64 = b.getF64Type(), i64 = b.getI64Type();
  bool isDefault = rounding == Rounding::NearestEven && !saturate;
  // Before sm_90 LLVM forms a bfloat16 by way of float32, which holds 24 digits.
  bool isExactIn32 = value.getType().getIntOrFloatBitWidth() <= 16;
  bool roundsOnce = !to.isBF16() || isExactIn32 || arch.version >= 90;
  if (isDefault && !isStorageFloat(to) && roundsOnce)
    return isUnsigned ? arith::UIToFPOp::create(b, to, value).getResult()
                      : arith::SIToFPOp::create(b, to, value).getResult();
  // Exactly, or such that the rounding to the wanted format is the only one that counts.
  if (value.getType() != i64)
    value = isUnsigned ? arith::ExtUIOp::create(b, i64, value).getResult()
                       : arith::ExtSIOp::create(b, i64, value).getResult();
  static constexpr int kToOdd = 5; // DeviceMath/NarrowFloats.h
  auto constant = [&](int number) -> Value {
    return arith::ConstantOp::create(b, b.getI32IntegerAttr(number));
  };
  Value exact = callDeviceLibrary(
      b, module, "__tw_from_integer_f64", f64,
      {value, constant(isUnsigned), constant(to.isF64() ? int(rounding) : kToOdd)});
  return convertFloat(exact, to, rounding, saturate);
}

} // namespace tilewright::nvptx
