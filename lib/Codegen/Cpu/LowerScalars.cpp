//===- LowerScalars.cpp - arithmetic with the language's corners ------------------------------===//
//
// Narrow floats are computed in float32 and rounded after each operation. Division by zero, shifts
// by too much and INT_MIN // -1 have defined results where the machine's instructions have none.
// Index values are mathematical integers: their overflow may be assumed absent.
//
//===----------------------------------------------------------------------------------------===//

#include "Lowering.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

//===----------------------------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------------------------===//

/// x // 0 is 0 and x % 0 is x; the machine's division traps there and at INT_MIN / -1, so it gets 1
/// as divisor and the result is chosen afterwards.
Value Lowering::divideSigned(Division kind, Value lhs, Value rhs) {
  Type type = lhs.getType();
  Value zero = numbers.integer(type, 0), one = numbers.integer(type, 1),
        minusOne = numbers.integer(type, -1);
  std::optional<int64_t> constant = getConstantIntValue(rhs);
  bool isPlain = constant && *constant != 0 && *constant != -1;
  Value divisor = rhs, isZero, isMinusOne;
  if (!isPlain) {
    isZero = compare(arith::CmpIPredicate::eq, rhs, zero);
    isMinusOne = compare(arith::CmpIPredicate::eq, rhs, minusOne);
    Value unusual = b.createOrFold<arith::OrIOp>(isZero, isMinusOne);
    divisor = arith::SelectOp::create(b, unusual, one, rhs);
  }
  Value quotient = arith::DivSIOp::create(b, lhs, divisor);
  Value remainder = sub(lhs, mul(quotient, divisor));
  if (!isPlain) // by 1 the remainder is 0, which is right for -1 too
    quotient = arith::SelectOp::create(b, isMinusOne, sub(zero, lhs), quotient);
  bool isFloor = kind == Division::FloorDiv || kind == Division::FloorMod;
  if (isFloor) {
    Value isInexact = compare(arith::CmpIPredicate::ne, remainder, zero);
    Value signsDiffer =
        compare(arith::CmpIPredicate::slt, b.createOrFold<arith::XOrIOp>(remainder, rhs), zero);
    Value adjust = b.createOrFold<arith::AndIOp>(isInexact, signsDiffer);
    quotient = arith::SelectOp::create(b, adjust, sub(quotient, one), quotient);
    remainder = arith::SelectOp::create(b, adjust, add(remainder, rhs), remainder);
  }
  bool isQuotient = kind == Division::FloorDiv || kind == Division::TruncDiv;
  if (isPlain)
    return isQuotient ? quotient : remainder;
  return isQuotient ? arith::SelectOp::create(b, isZero, zero, quotient)
                    : arith::SelectOp::create(b, isZero, lhs, remainder);
}

Value Lowering::divide(Division kind, Value lhs, Value rhs, bool isUnsigned) {
  Type type = lhs.getType();
  std::optional<int64_t> constant = getConstantIntValue(rhs);
  bool isQuotient = kind == Division::FloorDiv || kind == Division::TruncDiv;
  bool isFloor = kind == Division::FloorDiv || kind == Division::FloorMod;
  Interval range = isa<IndexType>(type) ? ranges.get(lhs) : Interval();
  bool isPositive = constant && *constant > 0;
  auto record = [&](Value result) {
    if (isa<IndexType>(type) && isPositive && (isFloor || range.isNonNegative()) && result != lhs &&
        !getConstantIntValue(result)) // what folded to an operand is not new
      ranges.set(result,
                 isQuotient ? floorDivide(range, *constant) : floorModulo(range, *constant));
    return result;
  };
  if (isUnsigned || (isPositive && range.isNonNegative())) {
    Value zero = numbers.integer(type, 0), one = numbers.integer(type, 1);
    Value isZero =
        constant && *constant != 0 ? Value() : compare(arith::CmpIPredicate::eq, rhs, zero);
    Value divisor = isZero ? Value(arith::SelectOp::create(b, isZero, one, rhs)) : rhs;
    Value result = isQuotient ? b.createOrFold<arith::DivUIOp>(lhs, divisor)
                              : b.createOrFold<arith::RemUIOp>(lhs, divisor);
    if (isZero)
      result = arith::SelectOp::create(b, isZero, isQuotient ? zero : lhs, result);
    return record(result);
  }
  return record(divideSigned(kind, lhs, rhs));
}

/// A shift by the width or more, or by a negative count, gives 0, or the sign for a signed >>.
Value Lowering::shift(Value lhs, Value rhs, bool isLeft, bool isUnsigned) {
  Type type = lhs.getType();
  int64_t width = isa<IndexType>(type) ? 64 : type.getIntOrFloatBitWidth();
  std::optional<int64_t> constant = getConstantIntValue(rhs);
  bool isSmall = constant && *constant >= 0 && *constant < width;
  Value most = numbers.integer(type, width - 1);
  Value count = isSmall ? rhs : b.createOrFold<arith::MinUIOp>(rhs, most);
  if (!isLeft && !isUnsigned)
    return b.createOrFold<arith::ShRSIOp>(lhs, count);
  Value result = isLeft ? b.createOrFold<arith::ShLIOp>(lhs, count)
                        : b.createOrFold<arith::ShRUIOp>(lhs, count);
  if (isSmall)
    return result;
  Value isLarge = compare(arith::CmpIPredicate::ugt, rhs, most);
  return arith::SelectOp::create(b, isLarge, numbers.integer(type, 0), result);
}

/// arith's conversions among integers carry their signedness in the op.
static Value resizeInteger(ImplicitLocOpBuilder &b, Operation &op, Value value) {
  Type type = op.getResult(0).getType();
  return llvm::TypeSwitch<Operation *, Value>(&op)
      .Case([&](arith::ExtSIOp) { return arith::ExtSIOp::create(b, type, value); })
      .Case([&](arith::ExtUIOp) { return arith::ExtUIOp::create(b, type, value); })
      .Case([&](arith::TruncIOp) { return arith::TruncIOp::create(b, type, value); })
      .Case([&](arith::IndexCastOp) { return arith::IndexCastOp::create(b, type, value); })
      .Case([&](arith::IndexCastUIOp) { return arith::IndexCastUIOp::create(b, type, value); })
      .Default([](Operation *) { return Value(); });
}

Value Lowering::lowerInteger(Operation &op) {
  SmallVector<Value> operands = lookupAll(op.getOperands());
  if (operands.size() == 1)
    return resizeInteger(b, op, operands[0]);
  if (operands.size() != 2)
    return {};
  Value lhs = operands[0], rhs = operands[1];
  return llvm::TypeSwitch<Operation *, Value>(&op)
      .Case([&](arith::AddIOp) { return add(lhs, rhs); })
      .Case([&](arith::SubIOp) { return sub(lhs, rhs); })
      .Case([&](arith::MulIOp) { return mul(lhs, rhs); })
      .Case([&](arith::AndIOp) { return b.createOrFold<arith::AndIOp>(lhs, rhs); })
      .Case([&](arith::OrIOp) { return b.createOrFold<arith::OrIOp>(lhs, rhs); })
      .Case([&](arith::XOrIOp) { return b.createOrFold<arith::XOrIOp>(lhs, rhs); })
      .Case([&](arith::MaxSIOp) { return b.createOrFold<arith::MaxSIOp>(lhs, rhs); })
      .Case([&](arith::MaxUIOp) { return b.createOrFold<arith::MaxUIOp>(lhs, rhs); })
      .Case([&](arith::MinSIOp) { return b.createOrFold<arith::MinSIOp>(lhs, rhs); })
      .Case([&](arith::MinUIOp) { return b.createOrFold<arith::MinUIOp>(lhs, rhs); })
      .Case([&](arith::CmpIOp c) { return compare(c.getPredicate(), lhs, rhs); })
      .Case([&](tile::FloorDivOp d) {
        return divide(Division::FloorDiv, lhs, rhs, d.getIsUnsigned());
      })
      .Case([&](tile::FloorModOp d) {
        return divide(Division::FloorMod, lhs, rhs, d.getIsUnsigned());
      })
      .Case([&](tile::TruncDivOp d) {
        return divide(Division::TruncDiv, lhs, rhs, d.getIsUnsigned());
      })
      .Case([&](tile::TruncModOp d) {
        return divide(Division::TruncMod, lhs, rhs, d.getIsUnsigned());
      })
      .Case([&](tile::ShlOp s) { return shift(lhs, rhs, /*isLeft=*/true, s.getIsUnsigned()); })
      .Case([&](tile::ShrOp s) { return shift(lhs, rhs, /*isLeft=*/false, s.getIsUnsigned()); })
      .Default([](Operation *) { return Value(); });
}

//===----------------------------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------------------------===//

Value Lowering::lowerFloat(Operation &op) {
  SmallVector<Value> operands = lookupAll(op.getOperands());
  // Fast math permits contraction and approximation, never assumptions about NaN or infinities.
  auto flags = isFastMath ? arith::FastMathFlags::contract | arith::FastMathFlags::afn |
                                arith::FastMathFlags::arcp
                          : arith::FastMathFlags::none;
  Value result =
      llvm::TypeSwitch<Operation *, Value>(&op)
          .Case([&](arith::AddFOp) {
            return arith::AddFOp::create(b, operands[0], operands[1], flags);
          })
          .Case([&](arith::SubFOp) {
            return arith::SubFOp::create(b, operands[0], operands[1], flags);
          })
          .Case([&](arith::MulFOp) {
            return arith::MulFOp::create(b, operands[0], operands[1], flags);
          })
          .Case([&](arith::DivFOp) {
            return arith::DivFOp::create(b, operands[0], operands[1], flags);
          })
          .Case([&](arith::RemFOp) { return arith::RemFOp::create(b, operands[0], operands[1]); })
          .Default([](Operation *) { return Value(); });
  if (result)
    return numbers.round(result, op.getResult(0).getType());
  // These give one of their operands or its negative: nothing to round.
  return llvm::TypeSwitch<Operation *, Value>(&op)
      .Case([&](arith::NegFOp) { return arith::NegFOp::create(b, operands[0]); })
      .Case([&](arith::MaxNumFOp) { return numbers.maxFloat(operands[0], operands[1], false); })
      .Case([&](arith::MinNumFOp) { return numbers.minFloat(operands[0], operands[1], false); })
      .Case([&](arith::MaximumFOp) { return numbers.maxFloat(operands[0], operands[1], true); })
      .Case([&](arith::MinimumFOp) { return numbers.minFloat(operands[0], operands[1], true); })
      .Default([](Operation *) { return Value(); });
}

/// Conversions that a front end may state in arith's terms.
static std::optional<std::pair<Type, Type>> getArithCast(Operation &op) {
  if (!isa<arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::UIToFPOp, arith::FPToSIOp,
           arith::FPToUIOp>(op))
    return std::nullopt;
  Type from = op.getOperand(0).getType(), to = op.getResult(0).getType();
  auto asUnsigned = [](Type type) -> Type {
    return type.isInteger(1) ? type
                             : IntegerType::get(type.getContext(), type.getIntOrFloatBitWidth(),
                                                IntegerType::Unsigned);
  };
  if (isa<arith::UIToFPOp>(op))
    from = asUnsigned(from);
  if (isa<arith::FPToUIOp>(op))
    to = asUnsigned(to);
  return std::pair(from, to);
}

bool Lowering::lowerScalar(Operation &op) {
  if (op.getNumResults() != 1)
    return false;
  Type type = op.getResult(0).getType();
  Value result;
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    result = numbers.constant(cast<TypedAttr>(constant.getValue()));
  } else if (auto select = dyn_cast<arith::SelectOp>(op)) {
    result = b.createOrFold<arith::SelectOp>(lookup(select.getCondition()),
                                             lookup(select.getTrueValue()),
                                             lookup(select.getFalseValue()));
  } else if (auto compare = dyn_cast<arith::CmpFOp>(op)) {
    result = arith::CmpFOp::create(b, compare.getPredicate(), lookup(compare.getLhs()),
                                   lookup(compare.getRhs()));
  } else if (auto cast = dyn_cast<tile::CastOp>(op)) {
    result = numbers.convert(lookup(cast.getValue()), cast.getFrom(), cast.getTo(),
                             cast.getRounding(), cast.getSaturate());
  } else if (auto types = getArithCast(op)) {
    result = numbers.convert(lookup(op.getOperand(0)), types->first, types->second);
  } else if (isa<tile::BitcastOp, arith::BitcastOp>(op)) {
    Value bits = numbers.toBits(lookup(op.getOperand(0)), op.getOperand(0).getType());
    result = numbers.fromBits(bits, type);
  } else if (op.getName().getDialectNamespace() == math::MathDialect::getDialectNamespace()) {
    result = lowerFunctionOp(op);
  } else if (isa<FloatType>(type)) {
    result = lowerFloat(op);
  } else {
    result = lowerInteger(op);
  }
  if (!result)
    return false;
  define(op.getResult(0), result);
  return true;
}
