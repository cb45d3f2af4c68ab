//===- Scalars.cpp - scalar values: constants, reads, conversions, comparisons ---------------===//

#include "tilewright/Frontend/Scalars.h"
#include "tilewright/Frontend/DTypes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace tilewright::frontend {

//===----------------------------------------------------------------------------------------===//
// Operands become values
//===----------------------------------------------------------------------------------------===//

Value Scalars::indexConstant(int64_t value) {
  return emitter.create<arith::ConstantIndexOp>(value);
}

Value Scalars::fromIndexExpr(const IndexExpr &expr) {
  using K = IndexExpr::Kind;
  switch (expr.getKind()) {
  case K::Constant:
    return indexConstant(*expr.getConstant());
  case K::Dim:
    emitter.fail("an index of a layout is used as a value of the kernel");
  case K::Symbol:
    return signature.getSymbol(expr.getPosition());
  default:
    break;
  }
  Value lhs = fromIndexExpr(expr.getLhs()), rhs = fromIndexExpr(expr.getRhs());
  Location loc = emitter.getLocation();
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

Scalar Scalars::constant(const Literal &literal, Type dtype) {
  Type scalarType = tile::getScalarType(dtype);
  if (auto floatType = dyn_cast<FloatType>(scalarType))
    return emitter.wrap(emitter.create<arith::ConstantOp>(
                            builder.getFloatAttr(floatType, roundLiteral(literal, floatType))),
                        dtype);
  if (literal.kind == Literal::Kind::Float)
    return emitter.wrap(emitter.create<arith::ConstantOp>(truncateLiteral(literal.real, dtype)),
                        dtype);
  if (isBool(dtype))
    return emitter.wrap(
        emitter.create<arith::ConstantOp>(builder.getBoolAttr(literal.integer != 0)), dtype);
  if (isa<IndexType>(scalarType)) {
    if (literal.isUnsigned64)
      emitter.fail("the number " + llvm::Twine(uint64_t(literal.integer)) +
                   " does not fit an index");
    return emitter.wrap(indexConstant(literal.integer), dtype);
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
    emitter.fail("the number " + llvm::Twine(literal.integer) + " does not fit " +
                 getDTypeName(dtype) + "; convert the other operand with 'T.cast' first");
  llvm::APInt bits(width, uint64_t(literal.integer), /*isSigned=*/true, /*implicitTrunc=*/true);
  return emitter.wrap(emitter.create<arith::ConstantOp>(builder.getIntegerAttr(scalarType, bits)),
                      dtype);
}

Scalar Scalars::read(const Element &element) {
  emitter.checkOwn(element.buffer.traceId);
  SmallVector<Value> indices;
  for (const Scalar &index : element.indices)
    indices.push_back(index.value);
  Type scalar = tile::getScalarType(element.buffer.dtype);
  auto op = emitter.createVerified<tile::LoadOp>(scalar, element.buffer.value, indices);
  return emitter.wrap(op.getValue(), element.buffer.dtype);
}

Scalar Scalars::read(const Variable &variable) { return read(Element{variable.cell, {}}); }

Scalar Scalars::materialize(const Operand &operand) {
  if (auto *literal = std::get_if<Literal>(&operand))
    return constant(*literal, defaultType(*literal, emitter.getContext()));
  if (auto *expr = std::get_if<IndexExpr>(&operand))
    return emitter.wrap(fromIndexExpr(*expr), builder.getIndexType());
  if (auto *element = std::get_if<Element>(&operand))
    return read(*element);
  if (auto *variable = std::get_if<Variable>(&operand))
    return read(*variable);
  Scalar scalar = std::get<Scalar>(operand);
  emitter.checkOwn(scalar.traceId);
  return scalar;
}

//===----------------------------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------------------------===//

Scalar Scalars::convert(const Operand &operand, Type dtype, tile::Rounding rounding,
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
  auto shift = narrowShifts.find(from.value);
  bool isWider =
      isa<IndexType>(dtype) || (isa<IntegerType>(dtype) && shift != narrowShifts.end() &&
                                dtype.getIntOrFloatBitWidth() > from.dtype.getIntOrFloatBitWidth());
  if (shift != narrowShifts.end() && isWider) {
    auto [shifted, amount] = shift->second; // converting them may move the table
    Type wide = builder.getI32Type();
    Value value = builder.createOrFold<tile::ShlOp>(
        emitter.getLocation(), convert(shifted, wide).value, convert(amount, wide).value,
        /*isUnsigned=*/false);
    return convert(emitter.wrap(value, wide), dtype, rounding, saturate);
  }
  if (rounding != tile::Rounding::NearestEven && !isFloat(dtype))
    emitter.fail("a rounding mode is given but the result, " + getDTypeName(dtype) +
                 ", is not a float");
  Value value = builder.createOrFold<tile::CastOp>(
      emitter.getLocation(), tile::getScalarType(dtype), from.value, TypeAttr::get(from.dtype),
      TypeAttr::get(dtype), tile::RoundingAttr::get(emitter.getContext(), rounding),
      saturate ? builder.getUnitAttr() : UnitAttr());
  return emitter.wrap(value, dtype);
}

Scalar Scalars::bitcast(const Operand &operand, Type dtype) {
  Scalar from = materialize(operand);
  if (isa<IndexType>(from.dtype))
    from = convert(from, builder.getI32Type());
  Type scalar = tile::getScalarType(dtype);
  if (from.value.getType() == scalar)
    return emitter.wrap(from.value, dtype);
  return emitter.wrap(emitter.createVerified<tile::BitcastOp>(scalar, from.value).getResult(),
                      dtype);
}

Value Scalars::toIndex(const Operand &operand, StringRef what) {
  if (auto *literal = std::get_if<Literal>(&operand))
    if (literal->kind == Literal::Kind::Float)
      emitter.fail(what + ": expected an integer, got a float");
  Scalar scalar = materialize(operand);
  if (isFloat(scalar.dtype))
    emitter.fail(what + ": expected an integer, got " + getDTypeName(scalar.dtype) +
                 "; convert with 'T.cast'");
  return convert(scalar, builder.getIndexType()).value;
}

OpFoldResult Scalars::toIndexOrConstant(const Operand &operand, StringRef what) {
  if (auto *literal = std::get_if<Literal>(&operand);
      literal && literal->kind == Literal::Kind::Int && !literal->isUnsigned64)
    return builder.getIndexAttr(literal->integer);
  return getAsOpFoldResult(toIndex(operand, what));
}

Value Scalars::toCondition(const Operand &operand) {
  Scalar scalar = materialize(operand);
  if (isBool(scalar.dtype))
    return scalar.value;
  return compare(BinaryKind::Ne, scalar, constant(Literal::ofInt(0), scalar.dtype)).value;
}

//===----------------------------------------------------------------------------------------===//
// Two operands
//===----------------------------------------------------------------------------------------===//

Type getOperandDType(const Operand &operand, MLIRContext *context) {
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

Type Scalars::commonType(const Operand &lhs, const Operand &rhs) {
  Type left = getOperandDType(lhs, emitter.getContext()),
       right = getOperandDType(rhs, emitter.getContext());
  if (left && right)
    return promote(left, right);
  if (left)
    return literalType(std::get<Literal>(rhs), left);
  if (right)
    return literalType(std::get<Literal>(lhs), right);
  return promote(defaultType(std::get<Literal>(lhs), emitter.getContext()),
                 defaultType(std::get<Literal>(rhs), emitter.getContext()));
}

Scalar Scalars::compare(BinaryKind kind, Scalar lhs, Scalar rhs) {
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
    return emitter.wrap(
        builder.createOrFold<arith::CmpFOp>(emitter.getLocation(), predicate, lhs.value, rhs.value),
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
  return emitter.wrap(
      builder.createOrFold<arith::CmpIOp>(emitter.getLocation(), predicate, lhs.value, rhs.value),
      boolean);
}

} // namespace tilewright::frontend
