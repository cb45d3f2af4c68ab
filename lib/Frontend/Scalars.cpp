//===- Scalars.cpp - typing and building of scalar expressions -------------------------------===//

#include "TraceImpl.h"
#include "tilewright/Frontend/DTypes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace tilewright::frontend {

std::optional<BinaryKind> symbolizeBinary(StringRef name) {
  using B = BinaryKind;
  return llvm::StringSwitch<std::optional<B>>(name)
      .Case("add", B::Add)
      .Case("sub", B::Sub)
      .Case("mul", B::Mul)
      .Case("div", B::Div)
      .Case("floordiv", B::FloorDiv)
      .Case("floormod", B::FloorMod)
      .Case("truncdiv", B::TruncDiv)
      .Case("truncmod", B::TruncMod)
      .Case("pow", B::Pow)
      .Case("max", B::Max)
      .Case("min", B::Min)
      .Case("maxnan", B::MaxNan)
      .Case("minnan", B::MinNan)
      .Case("and", B::And)
      .Case("or", B::Or)
      .Case("xor", B::Xor)
      .Case("shl", B::Shl)
      .Case("shr", B::Shr)
      .Case("lt", B::Lt)
      .Case("le", B::Le)
      .Case("gt", B::Gt)
      .Case("ge", B::Ge)
      .Case("eq", B::Eq)
      .Case("ne", B::Ne)
      .Case("atan2", B::Atan2)
      .Case("fmod", B::Fmod)
      .Default(std::nullopt);
}

std::optional<UnaryKind> symbolizeUnary(StringRef name) {
  using U = UnaryKind;
  return llvm::StringSwitch<std::optional<U>>(name)
      .Case("exp", U::Exp)
      .Case("exp2", U::Exp2)
      .Case("exp10", U::Exp10)
      .Case("log", U::Log)
      .Case("log2", U::Log2)
      .Case("log10", U::Log10)
      .Case("log1p", U::Log1p)
      .Case("sqrt", U::Sqrt)
      .Case("rsqrt", U::Rsqrt)
      .Case("sin", U::Sin)
      .Case("cos", U::Cos)
      .Case("tan", U::Tan)
      .Case("tanh", U::Tanh)
      .Case("sinh", U::Sinh)
      .Case("cosh", U::Cosh)
      .Case("atan", U::Atan)
      .Case("erf", U::Erf)
      .Case("sigmoid", U::Sigmoid)
      .Case("floor", U::Floor)
      .Case("ceil", U::Ceil)
      .Case("round", U::Round)
      .Case("trunc", U::Trunc)
      .Case("abs", U::Abs)
      .Case("neg", U::Neg)
      .Case("not", U::Not)
      .Case("bitnot", U::BitNot)
      .Case("isnan", U::IsNan)
      .Case("isinf", U::IsInf)
      .Case("isfinite", U::IsFinite)
      .Case("popcount", U::Popcount)
      .Default(std::nullopt);
}

//===----------------------------------------------------------------------------------------===//
// Operands become values
//===----------------------------------------------------------------------------------------===//

Value Trace::indexConstant(int64_t value) { return create<arith::ConstantIndexOp>(value); }

Value Trace::materializeIndexExpr(const IndexExpr &expr) {
  using K = IndexExpr::Kind;
  switch (expr.getKind()) {
  case K::Constant:
    return indexConstant(*expr.getConstant());
  case K::Dim:
    fail("an index of a layout is used as a value of the kernel");
  case K::Symbol:
    return symbolValue(expr.getPosition());
  default:
    break;
  }
  Value lhs = materializeIndexExpr(expr.getLhs()), rhs = materializeIndexExpr(expr.getRhs());
  Location loc = location();
  switch (expr.getKind()) {
  case K::Add:
    return builder.createOrFold<arith::AddIOp>(loc, lhs, rhs);
  case K::Sub:
    return builder.createOrFold<arith::SubIOp>(loc, lhs, rhs);
  case K::Mul:
    return builder.createOrFold<arith::MulIOp>(loc, lhs, rhs);
  case K::FloorDiv:
    return builder.createOrFold<tile::FloorDivOp>(loc, lhs, rhs, /*isUnsigned=*/false);
  case K::Mod:
    return builder.createOrFold<tile::FloorModOp>(loc, lhs, rhs, /*isUnsigned=*/false);
  case K::Xor:
    return builder.createOrFold<arith::XOrIOp>(loc, lhs, rhs);
  case K::Min:
    return builder.createOrFold<arith::MinSIOp>(loc, lhs, rhs);
  case K::Max:
    return builder.createOrFold<arith::MaxSIOp>(loc, lhs, rhs);
  default:
    llvm_unreachable("all kinds of index expressions are handled");
  }
}

/// A number as a float of the program, rounded as `tile.cast` rounds at run time: ties to even, in
/// tfloat32 away from zero; float8 saturates.
static llvm::APFloat roundLiteral(const Literal &literal, FloatType type) {
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  auto rounding = isa<FloatTF32Type>(type) ? llvm::APFloat::rmNearestTiesToAway
                                           : llvm::APFloat::rmNearestTiesToEven;
  llvm::APFloat value(semantics);
  if (literal.kind == Literal::Kind::Int) {
    value.convertFromAPInt(llvm::APInt(64, uint64_t(literal.integer)), !literal.isUnsigned64,
                           rounding);
  } else {
    bool losesInfo = false;
    value = llvm::APFloat(literal.real);
    value.convert(semantics, rounding, &losesInfo);
  }
  bool isFloat8 = isa<Float8E4M3FNType, Float8E5M2Type>(type);
  if (isFloat8 && !value.isFinite() && !std::isnan(literal.real))
    return llvm::APFloat::getLargest(semantics, std::signbit(literal.real));
  return value;
}

/// A float as an integer of the program, as `tile.cast` converts at run time: truncated, saturated,
/// 0 for a NaN; as a bool whether it is not zero.
static TypedAttr truncateLiteral(double real, Type dtype) {
  if (isBool(dtype))
    return BoolAttr::get(dtype.getContext(), real != 0);
  bool isIndex = isa<IndexType>(dtype);
  llvm::APSInt bits(isIndex ? 64 : dtype.getIntOrFloatBitWidth(), dtype.isUnsignedInteger());
  bool isExact = false;
  llvm::APFloat(real).convertToInteger(bits, llvm::APFloat::rmTowardZero, &isExact);
  if (std::isnan(real))
    bits = 0;
  return IntegerAttr::get(tile::getScalarType(dtype), bits);
}

Scalar Trace::constant(const Literal &literal, Type dtype) {
  Type scalarType = tile::getScalarType(dtype);
  if (auto floatType = dyn_cast<FloatType>(scalarType))
    return wrap(create<arith::ConstantOp>(
                    builder.getFloatAttr(floatType, roundLiteral(literal, floatType))),
                dtype);
  if (literal.kind == Literal::Kind::Float)
    return wrap(create<arith::ConstantOp>(truncateLiteral(literal.real, dtype)), dtype);
  if (isBool(dtype))
    return wrap(create<arith::ConstantOp>(builder.getBoolAttr(literal.integer != 0)), dtype);
  if (isa<IndexType>(scalarType)) {
    if (literal.isUnsigned64)
      fail("the number " + llvm::Twine(uint64_t(literal.integer)) + " does not fit an index");
    return wrap(indexConstant(literal.integer), dtype);
  }
  unsigned width = scalarType.getIntOrFloatBitWidth();
  // Bit patterns such as 0xFF for an int8 are accepted; numbers that fit neither way are not.
  bool fits = literal.isUnsigned64
                  ? width == 64
                  : (llvm::isIntN(width, literal.integer) ||
                     (literal.integer >= 0 && llvm::isUIntN(width, uint64_t(literal.integer)))) &&
                        !(dtype.isUnsignedInteger() && literal.integer < 0 && width < 64 &&
                          !llvm::isIntN(width, literal.integer));
  if (!fits)
    fail("the number " + llvm::Twine(literal.integer) + " does not fit " + getDTypeName(dtype) +
         "; convert the other operand with 'T.cast' first");
  llvm::APInt bits(width, uint64_t(literal.integer), /*isSigned=*/true, /*implicitTrunc=*/true);
  return wrap(create<arith::ConstantOp>(builder.getIntegerAttr(scalarType, bits)), dtype);
}

Scalar Trace::read(const Element &element) {
  checkOwn(element.buffer.traceId);
  SmallVector<Value> indices;
  for (const Scalar &index : element.indices)
    indices.push_back(index.value);
  Type scalar = tile::getScalarType(element.buffer.dtype);
  auto op = verified(create<tile::LoadOp>(scalar, element.buffer.value, indices));
  return wrap(op.getValue(), element.buffer.dtype);
}

Scalar Trace::read(const Variable &variable) { return read(Element{variable.cell, {}}); }

Scalar Trace::materialize(const Operand &operand) {
  if (auto *literal = std::get_if<Literal>(&operand))
    return constant(*literal, defaultType(*literal, context.get()));
  if (auto *expr = std::get_if<IndexExpr>(&operand))
    return wrap(materializeIndexExpr(*expr), builder.getIndexType());
  if (auto *element = std::get_if<Element>(&operand))
    return read(*element);
  if (auto *variable = std::get_if<Variable>(&operand))
    return read(*variable);
  Scalar scalar = std::get<Scalar>(operand);
  checkOwn(scalar.traceId);
  return scalar;
}

Scalar Trace::convert(const Operand &operand, Type dtype) {
  if (auto *literal = std::get_if<Literal>(&operand))
    return constant(*literal, dtype);
  return changeType(materialize(operand), dtype, tile::Rounding::NearestEven, /*saturate=*/false);
}

/// An explicit conversion. C shifts narrow integers in 32 bits, so that a program that widens the
/// result of a shift may count on bits that its type does not have.
Scalar Trace::cast(const Operand &operand, Type dtype, tile::Rounding rounding, bool saturate) {
  if (auto *scalar = std::get_if<Scalar>(&operand)) {
    auto shift = emptyingShifts.find(scalar->value);
    bool isWider = shift != emptyingShifts.end() && isa<IntegerType>(dtype) &&
                   dtype.getIntOrFloatBitWidth() > scalar->dtype.getIntOrFloatBitWidth();
    if (isWider) {
      std::string from = getDTypeName(scalar->dtype), to = getDTypeName(dtype);
      fail("'T.cast' of a " + from + " shifted left by " + Twine(shift->second) + " bits to " + to +
           ": the shift is computed in " + from +
           " and leaves 0 (CUDA's C++ computes it in 32 "
           "bits); convert first: T.cast(x, \"" +
           to + "\") << " + Twine(shift->second));
    }
  }
  return changeType(operand, dtype, rounding, saturate);
}

Scalar Trace::changeType(const Operand &operand, Type dtype, tile::Rounding rounding,
                         bool saturate) {
  auto *literal = std::get_if<Literal>(&operand);
  if (literal && rounding == tile::Rounding::NearestEven && !saturate)
    return constant(*literal, dtype);
  // A literal keeps its value as a double, so that it is rounded once.
  bool isReal = literal && literal->kind == Literal::Kind::Float;
  Scalar from = isReal ? constant(*literal, builder.getF64Type()) : materialize(operand);
  saturate &= isFloat(dtype); // integers always do
  if (from.dtype == dtype && !saturate)
    return from;
  if (rounding != tile::Rounding::NearestEven && !isFloat(dtype))
    fail("a rounding mode is given but the result, " + getDTypeName(dtype) + ", is not a float");
  Value value = builder.createOrFold<tile::CastOp>(
      location(), tile::getScalarType(dtype), from.value, TypeAttr::get(from.dtype),
      TypeAttr::get(dtype), tile::RoundingAttr::get(context.get(), rounding),
      saturate ? builder.getUnitAttr() : UnitAttr());
  return wrap(value, dtype);
}

Scalar Trace::bitcast(const Operand &operand, Type dtype) {
  Scalar from = materialize(operand);
  if (isa<IndexType>(from.dtype))
    from = cast(from, builder.getI32Type());
  Type scalar = tile::getScalarType(dtype);
  if (from.value.getType() == scalar)
    return wrap(from.value, dtype);
  return wrap(verified(create<tile::BitcastOp>(scalar, from.value)).getResult(), dtype);
}

Value Trace::toIndex(const Operand &operand, StringRef what) {
  if (auto *literal = std::get_if<Literal>(&operand))
    if (literal->kind == Literal::Kind::Float)
      fail(what + ": expected an integer, got a float");
  Scalar scalar = materialize(operand);
  if (isFloat(scalar.dtype))
    fail(what + ": expected an integer, got " + getDTypeName(scalar.dtype) +
         "; convert with 'T.cast'");
  return cast(scalar, builder.getIndexType()).value;
}

OpFoldResult Trace::toIndexOrConstant(const Operand &operand, StringRef what) {
  if (auto *literal = std::get_if<Literal>(&operand);
      literal && literal->kind == Literal::Kind::Int)
    return builder.getIndexAttr(literal->integer);
  return getAsOpFoldResult(toIndex(operand, what));
}

Value Trace::toCondition(const Operand &operand) {
  Scalar scalar = materialize(operand);
  if (isBool(scalar.dtype))
    return scalar.value;
  return compare(BinaryKind::Ne, scalar, constant(Literal::ofInt(0), scalar.dtype)).value;
}

/// The dtype of an operand; none for a literal.
static Type dtypeOf(const Operand &operand, MLIRContext *context) {
  if (std::holds_alternative<Literal>(operand))
    return {};
  if (std::holds_alternative<IndexExpr>(operand))
    return IndexType::get(context);
  if (auto *element = std::get_if<Element>(&operand))
    return element->buffer.dtype;
  if (auto *variable = std::get_if<Variable>(&operand))
    return variable->cell.dtype;
  return std::get<Scalar>(operand).dtype;
}

Type Trace::commonType(const Operand &lhs, const Operand &rhs) {
  Type left = dtypeOf(lhs, context.get()), right = dtypeOf(rhs, context.get());
  if (left && right)
    return promote(left, right);
  if (left)
    return literalType(std::get<Literal>(rhs), left);
  if (right)
    return literalType(std::get<Literal>(lhs), right);
  return promote(defaultType(std::get<Literal>(lhs), context.get()),
                 defaultType(std::get<Literal>(rhs), context.get()));
}

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
Type Trace::operandType(BinaryKind kind, const Operand &lhs, const Operand &rhs) {
  Type type = commonType(lhs, rhs);
  if (isShift(kind) || isBitwise(kind)) {
    // An int literal is a bit pattern or a count: it takes the dtype of the other side.
    auto adopts = [](const Operand &operand, Type other) {
      auto *literal = std::get_if<Literal>(&operand);
      return literal && literal->kind == Literal::Kind::Int && other && !isBool(other);
    };
    Type left = dtypeOf(lhs, context.get()), right = dtypeOf(rhs, context.get());
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

//===----------------------------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------------------------===//

Scalar Trace::compare(BinaryKind kind, Scalar lhs, Scalar rhs) {
  Type boolean = builder.getI1Type();
  lhs = convert(lhs, computeType(lhs.dtype));
  rhs = convert(rhs, computeType(rhs.dtype));
  if (isFloat(lhs.dtype)) {
    using P = arith::CmpFPredicate;
    P predicate = kind == BinaryKind::Lt   ? P::OLT
                  : kind == BinaryKind::Le ? P::OLE
                  : kind == BinaryKind::Gt ? P::OGT
                  : kind == BinaryKind::Ge ? P::OGE
                  : kind == BinaryKind::Eq ? P::OEQ
                                           : P::UNE;
    return wrap(builder.createOrFold<arith::CmpFOp>(location(), predicate, lhs.value, rhs.value),
                boolean);
  }
  using P = arith::CmpIPredicate;
  bool isUnsignedCompare = isUnsigned(lhs.dtype);
  P predicate = kind == BinaryKind::Lt   ? (isUnsignedCompare ? P::ult : P::slt)
                : kind == BinaryKind::Le ? (isUnsignedCompare ? P::ule : P::sle)
                : kind == BinaryKind::Gt ? (isUnsignedCompare ? P::ugt : P::sgt)
                : kind == BinaryKind::Ge ? (isUnsignedCompare ? P::uge : P::sge)
                : kind == BinaryKind::Eq ? P::eq
                                         : P::ne;
  return wrap(builder.createOrFold<arith::CmpIOp>(location(), predicate, lhs.value, rhs.value),
              boolean);
}

Scalar Trace::integerPower(Scalar lhs, Scalar rhs) {
  if (!isa<IndexType>(lhs.dtype) && !lhs.dtype.isUnsignedInteger())
    return wrap(create<math::IPowIOp>(lhs.value, rhs.value), lhs.dtype);
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
  Value power = create<math::IPowIOp>(cast(lhs, wide).value, exponent.value);
  return cast(wrap(power, wide), lhs.dtype);
}

Scalar Trace::binaryInteger(BinaryKind kind, Scalar lhs, Scalar rhs) {
  Location loc = location();
  Value l = lhs.value, r = rhs.value;
  bool isUns = lhs.dtype.isUnsignedInteger();
  auto result = [&](Value value) { return wrap(value, lhs.dtype); };
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

Scalar Trace::binaryFloat(BinaryKind kind, Scalar lhs, Scalar rhs) {
  Location loc = location();
  Value l = lhs.value, r = rhs.value;
  auto result = [&](Value value) { return wrap(value, lhs.dtype); };
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
    return result(create<math::FloorOp>(builder.createOrFold<arith::DivFOp>(loc, l, r)));
  case B::TruncDiv:
    return result(create<math::TruncOp>(builder.createOrFold<arith::DivFOp>(loc, l, r)));
  case B::TruncMod:
  case B::Fmod:
    return result(create<arith::RemFOp>(l, r));
  case B::FloorMod: {
    // Python's %: the remainder takes the sign of the divisor.
    Value remainder = create<arith::RemFOp>(l, r);
    Scalar zero = constant(Literal::ofFloat(0), lhs.dtype);
    Value isNonzero = compare(B::Ne, wrap(remainder, lhs.dtype), zero).value;
    Value remainderNegative = compare(B::Lt, wrap(remainder, lhs.dtype), zero).value;
    Value divisorNegative = compare(B::Lt, rhs, zero).value;
    Value differs = create<arith::XOrIOp>(remainderNegative, divisorNegative);
    Value adjust = create<arith::AndIOp>(isNonzero, differs);
    Value moved = create<arith::AddFOp>(remainder, r);
    return result(create<arith::SelectOp>(adjust, moved, remainder));
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
    return result(create<math::PowFOp>(l, r));
  case B::Atan2: {
    // The angle of (±0, ±0) is that of (±0, ±1); MLIR's folder of `math.atan2` takes it for a NaN.
    Scalar zero = constant(Literal::ofFloat(0), lhs.dtype);
    Scalar one = constant(Literal::ofFloat(1), lhs.dtype);
    Value isZero = compare(B::Eq, lhs, zero).value, isOther = compare(B::Eq, rhs, zero).value;
    Value isOrigin = builder.createOrFold<arith::AndIOp>(loc, isZero, isOther);
    Value unit = builder.createOrFold<math::CopySignOp>(loc, one.value, r);
    r = builder.createOrFold<arith::SelectOp>(loc, isOrigin, unit, r);
    return result(create<math::Atan2Op>(l, r));
  }
  default:
    fail("this operation needs integers, got " + getDTypeName(lhs.dtype));
  }
}

/// Whether `/` of these operands is C's division of integers: no float, and one of them unsigned.
static bool dividesIntegers(const Operand &lhs, const Operand &rhs, MLIRContext *context) {
  bool anyUnsigned = false;
  for (const Operand &operand : {lhs, rhs}) {
    Type dtype = dtypeOf(operand, context);
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

Scalar Trace::binary(BinaryKind kind, const Operand &lhs, const Operand &rhs) {
  using B = BinaryKind;
  Type type = operandType(kind, lhs, rhs);
  if (kind == B::Div && dividesIntegers(lhs, rhs, context.get()))
    kind = B::TruncDiv;
  Operand right = rhs;
  if (auto *literal = std::get_if<Literal>(&rhs); literal && isShift(kind)) {
    // All amounts from the width on, and the negative ones, do the same.
    bool isTyped = isa<IntegerType>(type);
    if (isTyped && uint64_t(literal->integer) >= type.getIntOrFloatBitWidth())
      right = Literal::ofInt(-1);
  }
  Scalar l = convert(lhs, type), r = convert(right, type);
  if (isComparison(kind))
    return compare(kind, l, r);
  Type computed = computeType(type);
  if ((kind == B::Div || kind == B::Atan2) && !isFloat(type))
    type = computed = builder.getF32Type();
  l = convert(l, computed);
  r = convert(r, computed);
  Scalar result = isFloat(computed) ? binaryFloat(kind, l, r) : binaryInteger(kind, l, r);
  result = convert(result, resultType(kind, dtypeOf(lhs, context.get()), rhs, type));
  if (auto *literal = std::get_if<Literal>(&rhs);
      literal && kind == B::Shl && isa<IntegerType>(result.dtype) && literal->integer < 32 &&
      literal->integer >= int64_t(result.dtype.getIntOrFloatBitWidth()))
    emptyingShifts[result.value] = literal->integer;
  return result;
}

Scalar Trace::unaryInteger(UnaryKind kind, Scalar x) {
  using U = UnaryKind;
  switch (kind) {
  case U::Neg:
    x = convert(x, arithmeticType(x.dtype));
    return binary(BinaryKind::Sub, constant(Literal::ofInt(0), x.dtype), x);
  case U::Abs:
    if (isUnsigned(x.dtype))
      return x;
    if (isa<IndexType>(x.dtype))
      return binary(BinaryKind::Max, x, unary(U::Neg, x));
    return wrap(create<math::AbsIOp>(x.value), x.dtype);
  case U::Floor:
  case U::Ceil:
  case U::Round:
  case U::Trunc:
    return x;
  case U::IsNan:
  case U::IsInf:
    return constant(Literal::ofBool(false), builder.getI1Type());
  case U::IsFinite:
    return constant(Literal::ofBool(true), builder.getI1Type());
  case U::Popcount:
    if (isBool(x.dtype))
      return x;
    if (isa<IndexType>(x.dtype))
      x = cast(x, builder.getI32Type());
    return wrap(create<math::CtPopOp>(x.value), x.dtype);
  default:
    return unaryFloat(kind, cast(x, builder.getF32Type()));
  }
}

Scalar Trace::sigmoid(Scalar x) {
  // Narrow floats in float32: exp(-x) of a float16 overflows where the sigmoid does not vanish.
  // With e = exp(-|x|), which never overflows, it is 1 / (1 + e) above zero and e / (1 + e) below.
  Type narrow = x.dtype;
  if (mlir::cast<FloatType>(narrow).getWidth() < 32)
    x = cast(x, builder.getF32Type());
  Scalar zero = constant(Literal::ofFloat(0), x.dtype),
         one = constant(Literal::ofFloat(1), x.dtype);
  Value magnitude = create<math::AbsFOp>(x.value);
  Value negated = create<arith::NegFOp>(magnitude);
  Scalar exponential = wrap(create<math::ExpOp>(negated), x.dtype);
  Value isBelow = compare(BinaryKind::Lt, x, zero).value;
  Value numerator = create<arith::SelectOp>(isBelow, exponential.value, one.value);
  Scalar sum = binary(BinaryKind::Add, one, exponential);
  return convert(binary(BinaryKind::Div, wrap(numerator, x.dtype), sum), narrow);
}

Scalar Trace::unaryFloat(UnaryKind kind, Scalar x) {
  using U = UnaryKind;
  auto result = [&](Value value) { return wrap(value, x.dtype); };
  auto number = [&](double value) { return constant(Literal::ofFloat(value), x.dtype); };
  switch (kind) {
  case U::Exp:
    return result(create<math::ExpOp>(x.value));
  case U::Exp2:
    return result(create<math::Exp2Op>(x.value));
  case U::Exp10:
    return result(create<math::PowFOp>(number(10).value, x.value));
  case U::Log:
    return result(create<math::LogOp>(x.value));
  case U::Log2:
    return result(create<math::Log2Op>(x.value));
  case U::Log10:
    return result(create<math::Log10Op>(x.value));
  case U::Log1p:
    return result(create<math::Log1pOp>(x.value));
  case U::Sqrt:
    return result(create<math::SqrtOp>(x.value));
  case U::Rsqrt:
    return result(create<math::RsqrtOp>(x.value));
  case U::Sin:
    return result(create<math::SinOp>(x.value));
  case U::Cos:
    return result(create<math::CosOp>(x.value));
  case U::Tan:
    return result(create<math::TanOp>(x.value));
  case U::Tanh:
    return result(create<math::TanhOp>(x.value));
  case U::Sinh:
    return result(create<math::SinhOp>(x.value));
  case U::Cosh:
    return result(create<math::CoshOp>(x.value));
  case U::Atan:
    return result(create<math::AtanOp>(x.value));
  case U::Erf:
    return result(create<math::ErfOp>(x.value));
  case U::Sigmoid:
    return sigmoid(x);
  case U::Floor:
    return result(create<math::FloorOp>(x.value));
  case U::Ceil:
    return result(create<math::CeilOp>(x.value));
  case U::Round: // to nearest even, as Python's round and torch.round
    return result(create<math::RoundEvenOp>(x.value));
  case U::Trunc:
    return result(create<math::TruncOp>(x.value));
  case U::Abs:
    return result(create<math::AbsFOp>(x.value));
  case U::Neg:
    return result(builder.createOrFold<arith::NegFOp>(location(), x.value));
  case U::IsNan:
    return wrap(create<arith::CmpFOp>(arith::CmpFPredicate::UNO, x.value, x.value),
                builder.getI1Type());
  case U::IsInf:
    return compare(BinaryKind::Eq, result(create<math::AbsFOp>(x.value)),
                   number(std::numeric_limits<double>::infinity()));
  case U::IsFinite:
    return compare(BinaryKind::Lt, result(create<math::AbsFOp>(x.value)),
                   number(std::numeric_limits<double>::infinity()));
  case U::Popcount:
    fail("'T.popcount' needs an integer, got " + getDTypeName(x.dtype));
  case U::Not:
  case U::BitNot:
    break;
  }
  llvm_unreachable("all unary operations are handled");
}

Scalar Trace::unary(UnaryKind kind, const Operand &operand) {
  using U = UnaryKind;
  Scalar x = materialize(operand);
  if (kind == U::Not)
    return wrap(
        builder.createOrFold<arith::XOrIOp>(
            location(), toCondition(x), constant(Literal::ofBool(true), builder.getI1Type()).value),
        builder.getI1Type());
  if (kind == U::BitNot) {
    if (isFloat(x.dtype))
      fail("'~' needs an integer, got " + getDTypeName(x.dtype));
    if (isBool(x.dtype))
      return unary(U::Not, x);
    return binary(BinaryKind::Xor, x, constant(Literal::ofInt(-1), x.dtype));
  }
  if (!isFloat(x.dtype))
    return unaryInteger(kind, x);
  Type dtype = arithmeticType(x.dtype);
  Scalar result = unaryFloat(kind, convert(x, computeType(dtype)));
  // What gives a value of the operand's own dtype keeps it; functions of a float8 are float32.
  bool keeps = kind == U::Neg || kind == U::Abs || kind == U::Floor || kind == U::Ceil ||
               kind == U::Round || kind == U::Trunc;
  return keeps ? convert(result, dtype) : result;
}

} // namespace tilewright::frontend
