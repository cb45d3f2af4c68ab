//===- Arithmetic.cpp - operators and functions of scalar expressions ------------------------===//

#include "tilewright/Frontend/Arithmetic.h"
#include "tilewright/Frontend/DTypes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tilewright::frontend {

Scalar Arithmetic::cast(const Operand &operand, Type dtype, tile::Rounding rounding,
                        bool saturate) {
  return scalars.convert(operand, dtype, rounding, saturate);
}

//===----------------------------------------------------------------------------------------===//
// Two operands
//===----------------------------------------------------------------------------------------===//

static bool isComparison(BinaryKind kind) {
  return kind >= BinaryKind::Lt && kind <= BinaryKind::Ne;
}
static bool isShift(BinaryKind kind) { return kind == BinaryKind::Shl || kind == BinaryKind::Shr; }
static bool isBitwise(BinaryKind kind) {
  return kind == BinaryKind::And || kind == BinaryKind::Or || kind == BinaryKind::Xor;
}
static bool isExtreme(BinaryKind kind) {
  return kind >= BinaryKind::Max && kind <= BinaryKind::MinNan;
}

/// The dtype that the operands of an operation take.
Type Arithmetic::operandType(BinaryKind kind, const Operand &lhs, const Operand &rhs) {
  Type type = scalars.commonType(lhs, rhs);
  if (isShift(kind) || isBitwise(kind)) {
    // An int literal is a bit pattern or a count: it takes the dtype of the other side.
    auto adopts = [](const Operand &operand, Type other) {
      auto *literal = std::get_if<Literal>(&operand);
      return literal && literal->kind == Literal::Kind::Int && other && !isBool(other);
    };
    Type left = getOperandDType(lhs, emitter.getContext()),
         right = getOperandDType(rhs, emitter.getContext());
    if (adopts(lhs, right))
      type = right;
    else if (adopts(rhs, left))
      type = left;
  }
  // A bool keeps its type where the result is one of its values.
  if (isComparison(kind) || isBitwise(kind) || isExtreme(kind))
    return type;
  return arithmeticType(type);
}

Scalar Arithmetic::integerPower(Scalar lhs, Scalar rhs) {
  if (!isa<IndexType>(lhs.dtype) && !lhs.dtype.isUnsignedInteger())
    return emitter.wrap(emitter.create<math::IPowIOp>(lhs.value, rhs.value), lhs.dtype);
  // `math.ipowi` is signed. The low bits of a power do not depend on the width.
  Type wide = builder.getI64Type();
  Scalar exponent = cast(rhs, wide);
  if (lhs.dtype.isUnsignedInteger(64)) {
    // Bit 63 would be a sign. x^(2^62) is 1 for odd x and 0 for even x, and so is any square of it.
    Scalar low = binary(BinaryKind::And, exponent, Literal::ofInt(INT64_MAX));
    Scalar isLarge = binary(BinaryKind::Lt, exponent, Literal::ofInt(0));
    Scalar bit = binary(BinaryKind::Shl, cast(isLarge, wide), Literal::ofInt(62));
    exponent = binary(BinaryKind::Or, low, bit);
  }
  Value power = emitter.create<math::IPowIOp>(cast(lhs, wide).value, exponent.value);
  return cast(emitter.wrap(power, wide), lhs.dtype);
}

Scalar Arithmetic::binaryInteger(BinaryKind kind, Scalar lhs, Scalar rhs) {
  Location loc = emitter.getLocation();
  Value l = lhs.value, r = rhs.value;
  bool isUns = lhs.dtype.isUnsignedInteger();
  auto result = [&](Value value) { return emitter.wrap(value, lhs.dtype); };
  using B = BinaryKind;
  switch (kind) {
  case B::Add:
    return result(builder.createOrFold<arith::AddIOp>(loc, l, r));
  case B::Sub:
    return result(builder.createOrFold<arith::SubIOp>(loc, l, r));
  case B::Mul:
    return result(builder.createOrFold<arith::MulIOp>(loc, l, r));
  case B::FloorDiv:
    return result(builder.createOrFold<tile::FloorDivOp>(loc, l, r, isUns));
  case B::FloorMod:
    return result(builder.createOrFold<tile::FloorModOp>(loc, l, r, isUns));
  case B::TruncDiv:
    return result(builder.createOrFold<tile::TruncDivOp>(loc, l, r, isUns));
  case B::TruncMod:
  case B::Fmod:
    return result(builder.createOrFold<tile::TruncModOp>(loc, l, r, isUns));
  case B::Shl:
    return result(builder.createOrFold<tile::ShlOp>(loc, l, r, isUns));
  case B::Shr:
    return result(builder.createOrFold<tile::ShrOp>(loc, l, r, isUns));
  case B::And:
    return result(builder.createOrFold<arith::AndIOp>(loc, l, r));
  case B::Or:
    return result(builder.createOrFold<arith::OrIOp>(loc, l, r));
  case B::Xor:
    return result(builder.createOrFold<arith::XOrIOp>(loc, l, r));
  case B::Max:
  case B::MaxNan:
    if (isBool(lhs.dtype))
      return result(builder.createOrFold<arith::OrIOp>(loc, l, r));
    return result(isUns ? builder.createOrFold<arith::MaxUIOp>(loc, l, r)
                        : builder.createOrFold<arith::MaxSIOp>(loc, l, r));
  case B::Min:
  case B::MinNan:
    if (isBool(lhs.dtype))
      return result(builder.createOrFold<arith::AndIOp>(loc, l, r));
    return result(isUns ? builder.createOrFold<arith::MinUIOp>(loc, l, r)
                        : builder.createOrFold<arith::MinSIOp>(loc, l, r));
  case B::Pow:
    return integerPower(lhs, rhs);
  default:
    llvm_unreachable("comparisons and float operations are handled by the caller");
  }
}

Scalar Arithmetic::binaryFloat(BinaryKind kind, Scalar lhs, Scalar rhs) {
  Location loc = emitter.getLocation();
  Value l = lhs.value, r = rhs.value;
  auto result = [&](Value value) { return emitter.wrap(value, lhs.dtype); };
  using B = BinaryKind;
  switch (kind) {
  case B::Add:
    return result(builder.createOrFold<arith::AddFOp>(loc, l, r));
  case B::Sub:
    return result(builder.createOrFold<arith::SubFOp>(loc, l, r));
  case B::Mul:
    return result(builder.createOrFold<arith::MulFOp>(loc, l, r));
  case B::Div:
    return result(builder.createOrFold<arith::DivFOp>(loc, l, r));
  case B::FloorDiv:
    return result(emitter.create<math::FloorOp>(builder.createOrFold<arith::DivFOp>(loc, l, r)));
  case B::TruncDiv:
    return result(emitter.create<math::TruncOp>(builder.createOrFold<arith::DivFOp>(loc, l, r)));
  case B::TruncMod:
  case B::Fmod:
    return result(emitter.create<arith::RemFOp>(l, r));
  case B::FloorMod: {
    // Python's %: the remainder takes the sign of the divisor.
    Value remainder = emitter.create<arith::RemFOp>(l, r);
    Scalar zero = scalars.constant(Literal::ofFloat(0), lhs.dtype);
    Value isNonzero = scalars.compare(B::Ne, emitter.wrap(remainder, lhs.dtype), zero).value;
    Value remainderNegative =
        scalars.compare(B::Lt, emitter.wrap(remainder, lhs.dtype), zero).value;
    Value divisorNegative = scalars.compare(B::Lt, rhs, zero).value;
    Value differs = emitter.create<arith::XOrIOp>(remainderNegative, divisorNegative);
    Value adjust = emitter.create<arith::AndIOp>(isNonzero, differs);
    Value moved = emitter.create<arith::AddFOp>(remainder, r);
    return result(emitter.create<arith::SelectOp>(adjust, moved, remainder));
  }
  case B::Max:
    return result(builder.createOrFold<arith::MaxNumFOp>(loc, l, r));
  case B::Min:
    return result(builder.createOrFold<arith::MinNumFOp>(loc, l, r));
  case B::MaxNan:
    return result(builder.createOrFold<arith::MaximumFOp>(loc, l, r));
  case B::MinNan:
    return result(builder.createOrFold<arith::MinimumFOp>(loc, l, r));
  case B::Pow:
    return result(emitter.create<math::PowFOp>(l, r));
  case B::Atan2: {
    // The angle of (±0, ±0) is that of (±0, ±1); MLIR's folder of `math.atan2` takes it for a NaN.
    Scalar zero = scalars.constant(Literal::ofFloat(0), lhs.dtype);
    Scalar one = scalars.constant(Literal::ofFloat(1), lhs.dtype);
    Value isZero = scalars.compare(B::Eq, lhs, zero).value,
          isOther = scalars.compare(B::Eq, rhs, zero).value;
    Value isOrigin = builder.createOrFold<arith::AndIOp>(loc, isZero, isOther);
    Value unit = builder.createOrFold<math::CopySignOp>(loc, one.value, r);
    r = builder.createOrFold<arith::SelectOp>(loc, isOrigin, unit, r);
    return result(emitter.create<math::Atan2Op>(l, r));
  }
  default:
    emitter.fail("this operation needs integers, got " + getDTypeName(lhs.dtype));
  }
}

/// Whether `/` of these operands is C's division of integers: no float, and one of them unsigned.
static bool dividesIntegers(const Operand &lhs, const Operand &rhs, MLIRContext *context) {
  bool anyUnsigned = false;
  for (const Operand &operand : {lhs, rhs}) {
    Type dtype = getOperandDType(operand, context);
    if (auto *literal = std::get_if<Literal>(&operand)) {
      if (literal->kind == Literal::Kind::Float)
        return false;
      anyUnsigned |= literal->kind == Literal::Kind::Bool || literal->isUnsigned64;
    } else if (isFloat(dtype)) {
      return false;
    } else {
      anyUnsigned |= isUnsigned(dtype);
    }
  }
  return anyUnsigned;
}

/// The dtype of the result of an operation that computed in `computed`; `first` is the dtype of the
/// left operand, none for a literal.
static Type resultType(BinaryKind kind, Type first, const Operand &rhs, Type computed) {
  using B = BinaryKind;
  bool sameKind = first && isFloat(first) == isFloat(computed);
  if (kind == B::Pow && sameKind && !isFloat(first)) {
    auto *literal = std::get_if<Literal>(&rhs);
    return literal && literal->integer >= 0 ? first : computed;
  }
  if (kind == B::Fmod && sameKind && !isa<IndexType>(first)) // never greater than the left operand
    return arithmeticType(first);
  if (kind == B::Atan2)
    return sameKind ? computeType(first) : computeType(computed);
  return computed;
}

Scalar Arithmetic::binary(BinaryKind kind, const Operand &lhs, const Operand &rhs) {
  using B = BinaryKind;
  Type type = operandType(kind, lhs, rhs);
  if (kind == B::Div && dividesIntegers(lhs, rhs, emitter.getContext()))
    kind = B::TruncDiv;
  Operand right = rhs;
  if (auto *literal = std::get_if<Literal>(&rhs); literal && isShift(kind)) {
    // All amounts from the width on, and the negative ones, do the same.
    bool isTyped = isa<IntegerType>(type);
    if (isTyped && uint64_t(literal->integer) >= type.getIntOrFloatBitWidth())
      right = Literal::ofInt(-1);
  }
  Scalar l = scalars.convert(lhs, type), r = scalars.convert(right, type);
  if (isComparison(kind))
    return scalars.compare(kind, l, r);
  Type computed = computeType(type);
  if ((kind == B::Div || kind == B::Atan2) && !isFloat(type))
    type = computed = builder.getF32Type();
  l = scalars.convert(l, computed);
  r = scalars.convert(r, computed);
  Scalar result = isFloat(computed) ? binaryFloat(kind, l, r) : binaryInteger(kind, l, r);
  result = scalars.convert(result,
                           resultType(kind, getOperandDType(lhs, emitter.getContext()), rhs, type));
  bool isNarrow = isa<IntegerType>(result.dtype) && !isBool(result.dtype) &&
                  result.dtype.getIntOrFloatBitWidth() < 32;
  if (kind == B::Shl && isNarrow)
    scalars.noteShift(result, l, rhs);
  return result;
}

//===----------------------------------------------------------------------------------------===//
// One operand
//===----------------------------------------------------------------------------------------===//

Scalar Arithmetic::unaryInteger(UnaryKind kind, Scalar x) {
  using U = UnaryKind;
  switch (kind) {
  case U::Neg:
    x = scalars.convert(x, arithmeticType(x.dtype));
    return binary(BinaryKind::Sub, scalars.constant(Literal::ofInt(0), x.dtype), x);
  case U::Abs:
    if (isUnsigned(x.dtype))
      return x;
    if (isa<IndexType>(x.dtype))
      return binary(BinaryKind::Max, x, unary(U::Neg, x));
    return emitter.wrap(emitter.create<math::AbsIOp>(x.value), x.dtype);
  case U::Floor:
  case U::Ceil:
  case U::Round:
  case U::Trunc:
    return x;
  case U::IsNan:
  case U::IsInf:
    return scalars.constant(Literal::ofBool(false), builder.getI1Type());
  case U::IsFinite:
    return scalars.constant(Literal::ofBool(true), builder.getI1Type());
  case U::Popcount:
    if (isBool(x.dtype))
      return x;
    if (isa<IndexType>(x.dtype))
      x = cast(x, builder.getI32Type());
    return emitter.wrap(emitter.create<math::CtPopOp>(x.value), x.dtype);
  default:
    return unaryFloat(kind, cast(x, builder.getF32Type()));
  }
}

Scalar Arithmetic::sigmoid(Scalar x) {
  // Narrow floats in float32: exp(-x) of a float16 overflows where the sigmoid does not vanish.
  // With e = exp(-|x|), which never overflows, it is 1 / (1 + e) above zero and e / (1 + e) below.
  Type narrow = x.dtype;
  if (mlir::cast<FloatType>(narrow).getWidth() < 32)
    x = cast(x, builder.getF32Type());
  Scalar zero = scalars.constant(Literal::ofFloat(0), x.dtype),
         one = scalars.constant(Literal::ofFloat(1), x.dtype);
  Value magnitude = emitter.create<math::AbsFOp>(x.value);
  Value negated = emitter.create<arith::NegFOp>(magnitude);
  Scalar exponential = emitter.wrap(emitter.create<math::ExpOp>(negated), x.dtype);
  Value isBelow = scalars.compare(BinaryKind::Lt, x, zero).value;
  Value numerator = emitter.create<arith::SelectOp>(isBelow, exponential.value, one.value);
  Scalar sum = binary(BinaryKind::Add, one, exponential);
  return scalars.convert(binary(BinaryKind::Div, emitter.wrap(numerator, x.dtype), sum), narrow);
}

Scalar Arithmetic::unaryFloat(UnaryKind kind, Scalar x) {
  using U = UnaryKind;
  auto result = [&](Value value) { return emitter.wrap(value, x.dtype); };
  auto number = [&](double value) { return scalars.constant(Literal::ofFloat(value), x.dtype); };
  switch (kind) {
  case U::Exp:
    return result(emitter.create<math::ExpOp>(x.value));
  case U::Exp2:
    return result(emitter.create<math::Exp2Op>(x.value));
  case U::Exp10:
    return result(emitter.create<math::PowFOp>(number(10).value, x.value));
  case U::Log:
    return result(emitter.create<math::LogOp>(x.value));
  case U::Log2:
    return result(emitter.create<math::Log2Op>(x.value));
  case U::Log10:
    return result(emitter.create<math::Log10Op>(x.value));
  case U::Log1p:
    return result(emitter.create<math::Log1pOp>(x.value));
  case U::Sqrt:
    return result(emitter.create<math::SqrtOp>(x.value));
  case U::Rsqrt:
    return result(emitter.create<math::RsqrtOp>(x.value));
  case U::Sin:
    return result(emitter.create<math::SinOp>(x.value));
  case U::Cos:
    return result(emitter.create<math::CosOp>(x.value));
  case U::Tan:
    return result(emitter.create<math::TanOp>(x.value));
  case U::Tanh:
    return result(emitter.create<math::TanhOp>(x.value));
  case U::Sinh:
    return result(emitter.create<math::SinhOp>(x.value));
  case U::Cosh:
    return result(emitter.create<math::CoshOp>(x.value));
  case U::Atan:
    return result(emitter.create<math::AtanOp>(x.value));
  case U::Erf:
    return result(emitter.create<math::ErfOp>(x.value));
  case U::Sigmoid:
    return sigmoid(x);
  case U::Floor:
    return result(emitter.create<math::FloorOp>(x.value));
  case U::Ceil:
    return result(emitter.create<math::CeilOp>(x.value));
  case U::Round: // to nearest even, as Python's round and torch.round
    return result(emitter.create<math::RoundEvenOp>(x.value));
  case U::Trunc:
    return result(emitter.create<math::TruncOp>(x.value));
  case U::Abs:
    return result(emitter.create<math::AbsFOp>(x.value));
  case U::Neg:
    return result(builder.createOrFold<arith::NegFOp>(emitter.getLocation(), x.value));
  case U::IsNan:
    return emitter.wrap(emitter.create<arith::CmpFOp>(arith::CmpFPredicate::UNO, x.value, x.value),
                        builder.getI1Type());
  case U::IsInf:
    return scalars.compare(BinaryKind::Eq, result(emitter.create<math::AbsFOp>(x.value)),
                           number(std::numeric_limits<double>::infinity()));
  case U::IsFinite:
    return scalars.compare(BinaryKind::Lt, result(emitter.create<math::AbsFOp>(x.value)),
                           number(std::numeric_limits<double>::infinity()));
  case U::Popcount:
    emitter.fail("'T.popcount' needs an integer, got " + getDTypeName(x.dtype));
  case U::Not:
  case U::BitNot:
    break;
  }
  llvm_unreachable("all unary operations are handled");
}

Scalar Arithmetic::unary(UnaryKind kind, const Operand &operand) {
  using U = UnaryKind;
  Scalar x = scalars.materialize(operand);
  if (kind == U::Not)
    return emitter.wrap(builder.createOrFold<arith::XOrIOp>(
                            emitter.getLocation(), scalars.toCondition(x),
                            scalars.constant(Literal::ofBool(true), builder.getI1Type()).value),
                        builder.getI1Type());
  if (kind == U::BitNot) {
    if (isFloat(x.dtype))
      emitter.fail("'~' needs an integer, got " + getDTypeName(x.dtype));
    if (isBool(x.dtype))
      return unary(U::Not, x);
    return binary(BinaryKind::Xor, x, scalars.constant(Literal::ofInt(-1), x.dtype));
  }
  if (!isFloat(x.dtype))
    return unaryInteger(kind, x);
  Type dtype = arithmeticType(x.dtype);
  Scalar result = unaryFloat(kind, scalars.convert(x, computeType(dtype)));
  // What gives a value of the operand's own dtype keeps it; functions of a float8 are float32.
  bool keeps = kind == U::Neg || kind == U::Abs || kind == U::Floor || kind == U::Ceil ||
               kind == U::Round || kind == U::Trunc;
  return keeps ? scalars.convert(result, dtype) : result;
}

} // namespace tilewright::frontend
