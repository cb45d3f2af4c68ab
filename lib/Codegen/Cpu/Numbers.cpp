//===- Numbers.cpp - numbers of the language as machine values --------------------------------===//

#include "Numbers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

//===----------------------------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------------------------===//

bool tilewright::cpu::isNarrowFloat(Type type) {
  return isa<Float8E4M3FNType, Float8E5M2Type, Float16Type, BFloat16Type, FloatTF32Type>(type);
}

Type tilewright::cpu::getCarrierType(Type elementType) {
  if (isNarrowFloat(elementType))
    return Float32Type::get(elementType.getContext());
  return tile::getScalarType(elementType);
}

Type tilewright::cpu::getStorageType(Type elementType) {
  MLIRContext *context = elementType.getContext();
  if (isa<Float16Type, Float32Type, Float64Type>(elementType))
    return elementType;
  if (isa<FloatTF32Type>(elementType))
    return Float32Type::get(context);
  if (isa<IndexType>(elementType))
    return IntegerType::get(context, 64);
  return IntegerType::get(context, tile::getStorageBits(elementType));
}

FloatFormat tilewright::cpu::getFloatFormat(Type type) {
  return llvm::TypeSwitch<Type, FloatFormat>(type)
      .Case([](Float8E4M3FNType) { return FloatFormat::F8E4M3FN; })
      .Case([](Float8E5M2Type) { return FloatFormat::F8E5M2; })
      .Case([](Float16Type) { return FloatFormat::F16; })
      .Case([](BFloat16Type) { return FloatFormat::BF16; })
      .Case([](FloatTF32Type) { return FloatFormat::TF32; })
      .Case([](Float32Type) { return FloatFormat::F32; })
      .Default([](Type) { return FloatFormat::F64; });
}

/// The type with `element` in the shape (scalar or vector) of `shaped`.
static Type likeShape(Type shaped, Type element) {
  auto vector = dyn_cast<VectorType>(shaped);
  return vector ? Type(vector.clone(element)) : element;
}

//===----------------------------------------------------------------------------------------===//
// Constants and calls
//===----------------------------------------------------------------------------------------===//

static TypedAttr makeSplat(Type type, TypedAttr element) {
  if (auto vector = dyn_cast<VectorType>(type))
    return DenseElementsAttr::get(vector, Attribute(element));
  return element;
}

Value Numbers::integer(Type type, int64_t value) {
  Type element = getElementTypeOrSelf(type);
  TypedAttr attribute = isa<IndexType>(element)
                            ? b.getIndexAttr(value)
                            : b.getIntegerAttr(element, APInt(element.getIntOrFloatBitWidth(),
                                                              static_cast<uint64_t>(value),
                                                              /*isSigned=*/true,
                                                              /*implicitTrunc=*/true));
  return arith::ConstantOp::create(b, makeSplat(type, attribute));
}

Value Numbers::real(Type type, double value) {
  TypedAttr attribute = b.getFloatAttr(getElementTypeOrSelf(type), value);
  return arith::ConstantOp::create(b, makeSplat(type, attribute));
}

Value Numbers::constant(TypedAttr value) {
  if (auto number = dyn_cast<FloatAttr>(value))
    return real(getCarrierType(number.getType()), number.getValueAsDouble());
  auto number = cast<IntegerAttr>(value);
  Type type = number.getType();
  if (isa<IndexType>(type))
    return integer(type, number.getInt());
  return integer(getCarrierType(type), static_cast<int64_t>(number.getValue().getZExtValue()));
}

Value Numbers::intrinsic(llvm::StringRef name, Type result, ValueRange operands) {
  return LLVM::CallIntrinsicOp::create(b, result, b.getStringAttr(name), operands).getResult(0);
}

static LLVM::CallOp callByName(ImplicitLocOpBuilder &b, llvm::StringRef name, Type result,
                               ValueRange operands) {
  auto module = b.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  auto callee = module.lookupSymbol<LLVM::LLVMFuncOp>(name);
  if (!callee) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    auto type = LLVM::LLVMFunctionType::get(result, llvm::to_vector(operands.getTypes()));
    callee = LLVM::LLVMFuncOp::create(b, name, type);
  }
  return LLVM::CallOp::create(b, callee, operands);
}

Value Numbers::call(llvm::StringRef name, Type result, ValueRange operands) {
  return callByName(b, name, result, operands).getResult();
}

void Numbers::callVoid(llvm::StringRef name, ValueRange operands) {
  callByName(b, name, LLVM::LLVMVoidType::get(b.getContext()), operands);
}

Value Numbers::isNaN(Value value) {
  return arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, value, value);
}

//===----------------------------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------------------------===//

/// The upper half of a float32 as a float32; NaN and infinities stay themselves.
static Value widenBFloat(ImplicitLocOpBuilder &b, Value bits) {
  Type wide = likeShape(bits.getType(), b.getI32Type());
  Value extended = arith::ExtUIOp::create(b, wide, bits);
  Value shifted = arith::ShLIOp::create(b, extended, Numbers(b).integer(wide, 16));
  return arith::BitcastOp::create(b, likeShape(bits.getType(), b.getF32Type()), shifted);
}

Value Numbers::unpack(Value stored, Type elementType) {
  Type shape = stored.getType();
  if (elementType.isInteger(1)) // any byte but zero is true
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, stored, integer(shape, 0));
  if (isa<Float8E4M3FNType, Float8E5M2Type>(elementType))
    return decodeFloat8(stored, elementType);
  if (isa<BFloat16Type>(elementType))
    return widenBFloat(b, stored);
  if (isa<Float16Type>(elementType))
    return arith::ExtFOp::create(b, likeShape(shape, b.getF32Type()), stored);
  if (isa<FloatTF32Type>(elementType)) // takes any float32 and rounds it, as an operand is
    return round(stored, elementType);
  if (isa<IndexType>(elementType)) // a variable of the kernel
    return arith::IndexCastOp::create(b, likeShape(shape, elementType), stored);
  return stored;
}

Value Numbers::pack(Value carrier, Type elementType) {
  Type shape = carrier.getType();
  Type storage = likeShape(shape, getStorageType(elementType));
  if (elementType.isInteger(1))
    return arith::ExtUIOp::create(b, storage, carrier);
  if (isa<IndexType>(elementType))
    return arith::IndexCastOp::create(b, storage, carrier);
  if (isa<Float16Type>(elementType))
    return arith::TruncFOp::create(b, storage, carrier);
  if (isa<Float8E4M3FNType>(elementType))
    return encodeFloat8(carrier, elementType);
  Type bits32 = likeShape(shape, b.getI32Type());
  if (isa<BFloat16Type>(elementType)) {
    Value bits = arith::BitcastOp::create(b, bits32, carrier);
    Value upper = arith::ShRUIOp::create(b, bits, integer(bits32, 16));
    return arith::TruncIOp::create(b, storage, upper);
  }
  if (isa<Float8E5M2Type>(elementType)) { // the upper byte of a float16, infinities included
    Value half = arith::TruncFOp::create(b, likeShape(shape, b.getF16Type()), carrier);
    Type bits16 = likeShape(shape, b.getI16Type());
    Value bits = arith::BitcastOp::create(b, bits16, half);
    return arith::TruncIOp::create(b, storage, arith::ShRUIOp::create(b, bits, integer(bits16, 8)));
  }
  return carrier;
}

Value Numbers::toBits(Value carrier, Type elementType) {
  Value stored = pack(carrier, elementType);
  if (!isa<FloatType>(getElementTypeOrSelf(stored.getType())))
    return stored;
  return arith::BitcastOp::create(
      b, likeShape(stored.getType(), b.getIntegerType(tile::getStorageBits(elementType))), stored);
}

Value Numbers::fromBits(Value bits, Type elementType) {
  Type storage = likeShape(bits.getType(), getStorageType(elementType));
  if (storage != bits.getType())
    bits = arith::BitcastOp::create(b, storage, bits);
  return unpack(bits, elementType);
}

//===----------------------------------------------------------------------------------------===//
// Float8, by integer instructions
//===----------------------------------------------------------------------------------------===//

namespace {
/// What the conversions of a float8 need to know about it.
struct Float8Spec {
  int mantissaBits, bias;
  int64_t largest, nan; ///< Bit patterns without sign.

  static Float8Spec get(Type type) {
    return isa<Float8E4M3FNType>(type) ? Float8Spec{3, 7, 0x7e, 0x7f}
                                       : Float8Spec{2, 15, 0x7b, 0x7e};
  }
  int dropped() const { return 23 - mantissaBits; }
  /// The difference of the exponent's bias, in units of the last place of the exponent field.
  int64_t rebias() const { return int64_t(127 - bias) << mantissaBits; }
  /// The float32 pattern of the smallest normal number.
  int64_t leastNormal() const { return int64_t(128 - bias) << 23; }
  /// A power of two whose unit in the last place is the smallest subnormal.
  double magic() const { return std::ldexp(1.0, 24 - bias - mantissaBits); }
};
} // namespace

Value Numbers::encodeFloat8(Value carrier, Type elementType) {
  Float8Spec spec = Float8Spec::get(elementType);
  Type bitsType = likeShape(carrier.getType(), b.getI32Type());
  auto number = [&](int64_t value) { return integer(bitsType, value); };
  Value bits = arith::BitcastOp::create(b, bitsType, carrier);
  Value magnitude = arith::AndIOp::create(b, bits, number(0x7fffffff));
  Value sign = arith::AndIOp::create(b, arith::ShRUIOp::create(b, bits, number(24)), number(0x80));

  // Normal results: add half of the dropped part (less one unit unless the kept part is odd); a
  // carry runs into the exponent, which is right.
  Value odd = arith::AndIOp::create(b, arith::ShRUIOp::create(b, magnitude, number(spec.dropped())),
                                    number(1));
  Value half = number((int64_t(1) << (spec.dropped() - 1)) - 1);
  Value rounded = arith::AddIOp::create(b, arith::AddIOp::create(b, magnitude, half), odd);
  Value normal = arith::SubIOp::create(
      b, arith::ShRUIOp::create(b, rounded, number(spec.dropped())), number(spec.rebias()));

  // Subnormal results: the machine's own addition rounds to units of the smallest subnormal.
  Value absolute = arith::BitcastOp::create(b, carrier.getType(), magnitude);
  Value magic = real(carrier.getType(), spec.magic());
  Value shifted = arith::AddFOp::create(b, absolute, magic);
  Value subnormal = arith::SubIOp::create(b, arith::BitcastOp::create(b, bitsType, shifted),
                                          arith::BitcastOp::create(b, bitsType, magic));

  Value isSmall =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ult, magnitude, number(spec.leastNormal()));
  Value result = arith::SelectOp::create(b, isSmall, subnormal, normal);
  result = arith::MinUIOp::create(b, result, number(spec.largest));
  result = arith::SelectOp::create(b, isNaN(carrier), number(spec.nan), result);
  result = arith::OrIOp::create(b, result, sign);
  return arith::TruncIOp::create(b, likeShape(carrier.getType(), b.getI8Type()), result);
}

Value Numbers::decodeFloat8(Value bits, Type elementType) {
  Type shape = bits.getType();
  Type floats = likeShape(shape, b.getF32Type());
  if (isa<Float8E5M2Type>(elementType)) {
    Type bits16 = likeShape(shape, b.getI16Type());
    Value upper =
        arith::ShLIOp::create(b, arith::ExtUIOp::create(b, bits16, bits), integer(bits16, 8));
    Value half = arith::BitcastOp::create(b, likeShape(shape, b.getF16Type()), upper);
    return arith::ExtFOp::create(b, floats, half);
  }
  Float8Spec spec = Float8Spec::get(elementType);
  Type wide = likeShape(shape, b.getI32Type());
  auto number = [&](int64_t value) { return integer(wide, value); };
  Value extended = arith::ExtUIOp::create(b, wide, bits);
  Value magnitude = arith::AndIOp::create(b, extended, number(0x7f));
  Value sign =
      arith::ShLIOp::create(b, arith::AndIOp::create(b, extended, number(0x80)), number(24));
  Value normal = arith::ShLIOp::create(
      b, arith::AddIOp::create(b, magnitude, number(spec.rebias())), number(spec.dropped()));
  Value units = arith::UIToFPOp::create(b, floats, magnitude);
  Value subnormal = arith::BitcastOp::create(
      b, wide,
      arith::MulFOp::create(b, units,
                            real(floats, std::ldexp(1.0, 1 - spec.bias - spec.mantissaBits))));
  Value isSmall = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, magnitude,
                                        number(int64_t(1) << spec.mantissaBits));
  Value isNaNPattern =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, magnitude, number(spec.nan));
  Value result = arith::SelectOp::create(b, isSmall, subnormal, normal);
  result = arith::SelectOp::create(b, isNaNPattern, number(0x7fc00000), result);
  result = arith::OrIOp::create(b, result, sign);
  return arith::BitcastOp::create(b, floats, result);
}

//===----------------------------------------------------------------------------------------===//
// Rounding
//===----------------------------------------------------------------------------------------===//

/// Rounds a float32 to its upper bits: to nearest, ties to even or away from zero.
static Value roundUpperBits(ImplicitLocOpBuilder &b, Value carrier, unsigned dropped,
                            bool tiesToEven) {
  Numbers numbers(b);
  Type bitsType = likeShape(carrier.getType(), b.getI32Type());
  auto number = [&](int64_t value) { return numbers.integer(bitsType, value); };
  Value bits = arith::BitcastOp::create(b, bitsType, carrier);
  int64_t half = int64_t(1) << (dropped - 1);
  Value addend = number(half);
  if (tiesToEven) {
    Value odd =
        arith::AndIOp::create(b, arith::ShRUIOp::create(b, bits, number(dropped)), number(1));
    addend = arith::AddIOp::create(b, odd, number(half - 1));
  }
  Value sum = arith::AddIOp::create(b, bits, addend);
  // A NaN would lose its payload or run over; it becomes a quiet one.
  Value quiet = arith::OrIOp::create(b, bits, number(0x400000));
  Value isNaN = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, carrier, carrier);
  Value chosen = arith::SelectOp::create(b, isNaN, quiet, sum);
  Value kept = arith::AndIOp::create(b, chosen, number(-(int64_t(1) << dropped)));
  return arith::BitcastOp::create(b, carrier.getType(), kept);
}

Value Numbers::round(Value carrier, Type elementType) {
  if (isa<Float16Type>(elementType)) {
    Type half = likeShape(carrier.getType(), b.getF16Type());
    Value narrow = arith::TruncFOp::create(b, half, carrier);
    return arith::ExtFOp::create(b, carrier.getType(), narrow);
  }
  if (isa<BFloat16Type>(elementType))
    return roundUpperBits(b, carrier, 16, /*tiesToEven=*/true);
  if (isa<FloatTF32Type>(elementType)) // as cvt.rna.tf32.f32
    return roundUpperBits(b, carrier, 13, /*tiesToEven=*/false);
  if (isa<Float8E4M3FNType, Float8E5M2Type>(elementType))
    return decodeFloat8(encodeFloat8(carrier, elementType), elementType);
  return carrier;
}

//===----------------------------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------------------------===//

static bool isUnsignedElement(Type type) { return type.isInteger(1) || type.isUnsignedInteger(); }

Value Numbers::clampToFinite(Value carrier, Type elementType) {
  double largest =
      llvm::APFloat::getLargest(cast<FloatType>(elementType).getFloatSemantics()).convertToDouble();
  Value low = real(carrier.getType(), -largest), high = real(carrier.getType(), largest);
  Value isLow = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, carrier, low);
  Value isHigh = arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, carrier, high);
  Value clamped = arith::SelectOp::create(b, isLow, low, carrier);
  return arith::SelectOp::create(b, isHigh, high, clamped);
}

Value Numbers::convertFloats(Value value, Type from, Type to, tile::Rounding rounding,
                             bool saturate) {
  if (from == to && !saturate)
    return value;
  bool isNearest = rounding == tile::Rounding::NearestEven;
  bool isWidening =
      from == to || isa<Float64Type>(to) || (isa<Float32Type>(to) && isNarrowFloat(from));
  bool roundsOnce = isWidening || (isNearest && !(isa<Float64Type>(from) && isNarrowFloat(to)));
  Type carrier = likeShape(value.getType(), getCarrierType(to));
  if (!roundsOnce) {
    Type wide = b.getF64Type(), code = b.getI32Type();
    if (!isa<Float64Type>(value.getType()))
      value = arith::ExtFOp::create(b, wide, value);
    Value result = call(kNarrowReal, wide,
                        {value, integer(code, static_cast<int32_t>(getFloatFormat(to))),
                         integer(code, static_cast<int32_t>(rounding)), integer(code, saturate)});
    return isa<Float64Type>(carrier) ? result : arith::TruncFOp::create(b, carrier, result);
  }
  if (isa<Float64Type>(to) && !isa<Float64Type>(from)) { // a float32 cannot hold the bounds
    value = arith::ExtFOp::create(b, carrier, value);
    return saturate ? clampToFinite(value, to) : value;
  }
  if (saturate)
    value = clampToFinite(value, to);
  if (isa<Float64Type>(from) && !isa<Float64Type>(to))
    return arith::TruncFOp::create(b, carrier, value);
  return from == to ? value : round(value, to);
}

Value Numbers::convertToInteger(Value value, Type to) {
  Type result = likeShape(value.getType(), getCarrierType(to));
  if (to.isInteger(1)) // NaN is not zero
    return arith::CmpFOp::create(b, arith::CmpFPredicate::UNE, value, real(value.getType(), 0));
  Type bits = isa<IndexType>(to) ? likeShape(value.getType(), b.getI64Type()) : result;
  Value converted =
      intrinsic(isUnsignedElement(to) ? "llvm.fptoui.sat" : "llvm.fptosi.sat", bits, {value});
  return isa<IndexType>(to) ? arith::IndexCastOp::create(b, result, converted) : converted;
}

Value Numbers::convertToFloat(Value value, Type from, Type to, tile::Rounding rounding,
                              bool saturate) {
  if (isa<IndexType>(from)) {
    value = arith::IndexCastOp::create(b, likeShape(value.getType(), b.getI64Type()), value);
    from = b.getI64Type();
  }
  Type carrier = likeShape(value.getType(), getCarrierType(to));
  bool isUnsigned = isUnsignedElement(from);
  unsigned width = from.getIntOrFloatBitWidth();
  bool isExact = width <= (isa<Float64Type>(to) ? 32 : 16); // in the carrier
  bool isDirect = isa<Float32Type, Float64Type>(to) && rounding == tile::Rounding::NearestEven;
  if (isExact || isDirect) {
    Value result = isUnsigned ? Value(arith::UIToFPOp::create(b, carrier, value))
                              : Value(arith::SIToFPOp::create(b, carrier, value));
    return isNarrowFloat(to) ? convertFloats(result, b.getF32Type(), to, rounding, saturate)
                             : result;
  }
  Type code = b.getI32Type(), wide = b.getI64Type();
  if (width < 64)
    value = isUnsigned ? Value(arith::ExtUIOp::create(b, wide, value))
                       : Value(arith::ExtSIOp::create(b, wide, value));
  Value result = call(kNarrowInteger, b.getF64Type(),
                      {value, integer(code, isUnsigned),
                       integer(code, static_cast<int32_t>(getFloatFormat(to))),
                       integer(code, static_cast<int32_t>(rounding)), integer(code, saturate)});
  return isa<Float64Type>(carrier) ? result : arith::TruncFOp::create(b, carrier, result);
}

Value Numbers::convertIntegers(Value value, Type from, Type to) {
  if (to.isInteger(1)) {
    if (from.isInteger(1))
      return value;
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, value, integer(value.getType(), 0));
  }
  Type result = likeShape(value.getType(), getCarrierType(to));
  bool isUnsigned = isUnsignedElement(from);
  if (isa<IndexType>(from) && isa<IndexType>(to))
    return value;
  if (isa<IndexType>(to))
    return isUnsigned ? Value(arith::IndexCastUIOp::create(b, result, value))
                      : Value(arith::IndexCastOp::create(b, result, value));
  if (isa<IndexType>(from))
    return arith::IndexCastOp::create(b, result, value);
  unsigned fromWidth = from.getIntOrFloatBitWidth(), toWidth = to.getIntOrFloatBitWidth();
  if (fromWidth == toWidth)
    return value;
  if (fromWidth > toWidth)
    return arith::TruncIOp::create(b, result, value);
  return isUnsigned ? Value(arith::ExtUIOp::create(b, result, value))
                    : Value(arith::ExtSIOp::create(b, result, value));
}

Value Numbers::convert(Value value, Type from, Type to, tile::Rounding rounding, bool saturate) {
  bool fromFloat = isa<FloatType>(from), toFloat = isa<FloatType>(to);
  if (fromFloat && toFloat)
    return convertFloats(value, from, to, rounding, saturate);
  if (fromFloat)
    return convertToInteger(value, to);
  if (toFloat)
    return convertToFloat(value, from, to, rounding, saturate);
  return convertIntegers(value, from, to);
}

//===----------------------------------------------------------------------------------------===//
// Maximum and minimum
//===----------------------------------------------------------------------------------------===//

/// The greater (or lesser) number where a NaN loses. Not by llvm.maximumnum: LLVM 22 lets a NaN win
/// on x86 against an operand that it knows to be a number, `maximumnum(x, maximumnum(y, 4))`.
///   select     what x86's own instruction gives: `rhs` if they are equal or one is a NaN
///   a NaN      a number on the other side wins
///   equal      only zeros can differ: +0 is greater, and has the smaller bits
Value Numbers::pickNumber(Value lhs, Value rhs, bool isMax) {
  using arith::CmpFPredicate;
  auto compare = [&](CmpFPredicate predicate, Value left, Value right) -> Value {
    return arith::CmpFOp::create(b, predicate, left, right);
  };
  auto select = [&](Value condition, Value yes, Value no) -> Value {
    return arith::SelectOp::create(b, condition, yes, no);
  };
  Value wins = compare(isMax ? CmpFPredicate::OGT : CmpFPredicate::OLT, lhs, rhs);
  Value picked = select(isNaN(rhs), lhs, select(wins, lhs, rhs));
  Type real = lhs.getType();
  Type bits = likeShape(real, b.getIntegerType(getElementTypeOrSelf(real).getIntOrFloatBitWidth()));
  Value left = arith::BitcastOp::create(b, bits, lhs),
        right = arith::BitcastOp::create(b, bits, rhs);
  Value both = isMax ? Value(arith::AndIOp::create(b, left, right))
                     : Value(arith::OrIOp::create(b, left, right));
  return select(compare(CmpFPredicate::OEQ, lhs, rhs), arith::BitcastOp::create(b, real, both),
                picked);
}

Value Numbers::maxFloat(Value lhs, Value rhs, bool propagate) {
  if (propagate)
    return arith::MaximumFOp::create(b, lhs, rhs);
  return pickNumber(lhs, rhs, /*isMax=*/true);
}

Value Numbers::minFloat(Value lhs, Value rhs, bool propagate) {
  if (propagate)
    return arith::MinimumFOp::create(b, lhs, rhs);
  return pickNumber(lhs, rhs, /*isMax=*/false);
}
