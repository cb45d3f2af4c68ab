//===- LowerScalars.cpp - arithmetic with the language's corners ------------------------------===//

#include "Lowerings.h"
#include "Scalars.h"

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
static Value divideSigned(Emitter &e, Division kind, Value lhs, Value rhs) {
  Type type = lhs.getType();
  Value zero = e.numbers.integer(type, 0), one = e.numbers.integer(type, 1),
        minusOne = e.numbers.integer(type, -1);
  std::optional<int64_t> constant = getConstantIntValue(rhs);
  bool isPlain = constant && *constant != 0 && *constant != -1;
  Value divisor = rhs, isZero, isMinusOne;
  if (!isPlain) {
    isZero = e.compare(arith::CmpIPredicate::eq, rhs, zero);
    isMinusOne = e.compare(arith::CmpIPredicate::eq, rhs, minusOne);
    Value unusual = e.b.createOrFold<arith::OrIOp>(isZero, isMinusOne);
    divisor = arith::SelectOp::create(e.b, unusual, one, rhs);
  }
  Value quotient = arith::DivSIOp::create(e.b, lhs, divisor);
  Value remainder = e.sub(lhs, e.mul(quotient, divisor));
  if (!isPlain) // by 1 the remainder is 0, which is right for -1 too
    quotient = arith::SelectOp::create(e.b, isMinusOne, e.sub(zero, lhs), quotient);
  bool isFloor = kind == Division::FloorDiv || kind == Division::FloorMod;
  if (isFloor) {
    Value isInexact = e.compare(arith::CmpIPredicate::ne, remainder, zero);
    Value signsDiffer =
        e.compare(arith::CmpIPredicate::slt, e.b.createOrFold<arith::XOrIOp>(remainder, rhs), zero);
    Value adjust = e.b.createOrFold<arith::AndIOp>(isInexact, signsDiffer);
    quotient = arith::SelectOp::create(e.b, adjust, e.sub(quotient, one), quotient);
    remainder = arith::SelectOp::create(e.b, adjust, e.add(remainder, rhs), remainder);
  }
  bool isQuotient = kind == Division::FloorDiv || kind == Division::TruncDiv;
  if (isPlain)
    return isQuotient ? quotient : remainder;
  return isQuotient ? arith::SelectOp::create(e.b, isZero, zero, quotient)
                    : arith::SelectOp::create(e.b, isZero, lhs, remainder);
}

Value tilewright::cpu::divide(Emitter &e, Division kind, Value lhs, Value rhs, bool isUnsigned) {
  Type type = lhs.getType();
  std::optional<int64_t> constant = getConstantIntValue(rhs);
  bool isQuotient = kind == Division::FloorDiv || kind == Division::TruncDiv;
  bool isFloor = kind == Division::FloorDiv || kind == Division::FloorMod;
  Interval range = isa<IndexType>(type) ? e.ranges.get(lhs) : Interval();
  bool isPositive = constant && *constant > 0;
  auto record = [&](Value result) {
    if (isa<IndexType>(type) && isPositive && (isFloor || range.isNonNegative()) && result != lhs &&
        !getConstantIntValue(result)) // what folded to an operand is not new
      e.ranges.set(result,
                   isQuotient ? floorDivide(range, *constant) : floorModulo(range, *constant));
    return result;
  };
  if (isUnsigned || (isPositive && range.isNonNegative())) {
    Value zero = e.numbers.integer(type, 0), one = e.numbers.integer(type, 1);
    Value isZero =
        constant && *constant != 0 ? Value() : e.compare(arith::CmpIPredicate::eq, rhs, zero);
    Value divisor = isZero ? Value(arith::SelectOp::create(e.b, isZero, one, rhs)) : rhs;
    Value result = isQuotient ? e.b.createOrFold<arith::DivUIOp>(lhs, divisor)
                              : e.b.createOrFold<arith::RemUIOp>(lhs, divisor);
    if (isZero)
      result = arith::SelectOp::create(e.b, isZero, isQuotient ? zero : lhs, result);
    return record(result);
  }
  return record(divideSigned(e, kind, lhs, rhs));
}

Value tilewright::cpu::evaluate(Emitter &e, const IndexExpr &expr, ArrayRef<Value> dims,
                                ArrayRef<Value> symbols) {
  using Kind = IndexExpr::Kind;
  switch (expr.getKind()) {
  case Kind::Constant:
    return e.index(*expr.getConstant());
  case Kind::Dim:
    return dims[expr.getPosition()];
  case Kind::Symbol:
    return symbols[expr.getPosition()];
  default:
    break;
  }
  Value lhs = evaluate(e, expr.getLhs(), dims, symbols),
        rhs = evaluate(e, expr.getRhs(), dims, symbols);
  switch (expr.getKind()) {
  case Kind::Add:
    return e.add(lhs, rhs);
  case Kind::Sub:
    return e.sub(lhs, rhs);
  case Kind::Mul:
    return e.mul(lhs, rhs);
  case Kind::FloorDiv:
    return divide(e, Division::FloorDiv, lhs, rhs, /*isUnsigned=*/false);
  case Kind::Mod:
    return divide(e, Division::FloorMod, lhs, rhs, /*isUnsigned=*/false);
  case Kind::Xor:
    return e.b.createOrFold<arith::XOrIOp>(lhs, rhs);
  case Kind::Min:
    return e.b.createOrFold<arith::MinSIOp>(lhs, rhs);
  case Kind::Max:
    return e.b.createOrFold<arith::MaxSIOp>(lhs, rhs);
  default:
    llvm_unreachable("all kinds of index expressions are handled");
  }
}

/// A shift by the width or more, or by a negative count, gives 0, or the sign for a signed >>.
static Value shift(Emitter &e, Value lhs, Value rhs, bool isLeft, bool isUnsigned) {
  Type type = lhs.getType();
  int64_t width = isa<IndexType>(type) ? 64 : type.getIntOrFloatBitWidth();
  std::optional<int64_t> constant = getConstantIntValue(rhs);
  bool isSmall = constant && *constant >= 0 && *constant < width;
  Value most = e.numbers.integer(type, width - 1);
  Value count = isSmall ? rhs : e.b.createOrFold<arith::MinUIOp>(rhs, most);
  if (!isLeft && !isUnsigned)
    return e.b.createOrFold<arith::ShRSIOp>(lhs, count);
  Value result = isLeft ? e.b.createOrFold<arith::ShLIOp>(lhs, count)
                        : e.b.createOrFold<arith::ShRUIOp>(lhs, count);
  if (isSmall)
    return result;
  Value isLarge = e.compare(arith::CmpIPredicate::ugt, rhs, most);
  return arith::SelectOp::create(e.b, isLarge, e.numbers.integer(type, 0), result);
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

/// Of elements, indices that are known to fit are compared as 32-bit integers, the size of a float32:
/// a vector of them is then one register, and not two.
static Value compareIntegers(arith::CmpIOp op, Value lhs, Value rhs, Emitter &e) {
  Type narrow = e.b.getI32Type();
  auto fits = [&](Value value) {
    constexpr std::numeric_limits<int32_t> limits;
    return value.getType().isIndex() && e.ranges.get(value).isWithin(limits.min(), limits.max());
  };
  if (op->getParentOfType<tile::ParallelOp>() && fits(lhs) && fits(rhs)) {
    lhs = e.b.createOrFold<arith::IndexCastOp>(narrow, lhs);
    rhs = e.b.createOrFold<arith::IndexCastOp>(narrow, rhs);
  }
  return e.compare(op.getPredicate(), lhs, rhs);
}

static Value lowerInteger(Operation &op, Emitter &e) {
  SmallVector<Value> operands = e.lookupAll(op.getOperands());
  if (operands.size() == 1)
    return resizeInteger(e.b, op, operands[0]);
  if (operands.size() != 2)
    return {};
  Value lhs = operands[0], rhs = operands[1];
  return llvm::TypeSwitch<Operation *, Value>(&op)
      .Case([&](arith::AddIOp) { return e.add(lhs, rhs); })
      .Case([&](arith::SubIOp) { return e.sub(lhs, rhs); })
      .Case([&](arith::MulIOp) { return e.mul(lhs, rhs); })
      .Case([&](arith::AndIOp) { return e.b.createOrFold<arith::AndIOp>(lhs, rhs); })
      .Case([&](arith::OrIOp) { return e.b.createOrFold<arith::OrIOp>(lhs, rhs); })
      .Case([&](arith::XOrIOp) { return e.b.createOrFold<arith::XOrIOp>(lhs, rhs); })
      .Case([&](arith::MaxSIOp) { return e.b.createOrFold<arith::MaxSIOp>(lhs, rhs); })
      .Case([&](arith::MaxUIOp) { return e.b.createOrFold<arith::MaxUIOp>(lhs, rhs); })
      .Case([&](arith::MinSIOp) { return e.b.createOrFold<arith::MinSIOp>(lhs, rhs); })
      .Case([&](arith::MinUIOp) { return e.b.createOrFold<arith::MinUIOp>(lhs, rhs); })
      .Case([&](arith::CmpIOp c) { return compareIntegers(c, lhs, rhs, e); })
      .Case([&](tile::FloorDivOp d) {
        return divide(e, Division::FloorDiv, lhs, rhs, d.getIsUnsigned());
      })
      .Case([&](tile::FloorModOp d) {
        return divide(e, Division::FloorMod, lhs, rhs, d.getIsUnsigned());
      })
      .Case([&](tile::TruncDivOp d) {
        return divide(e, Division::TruncDiv, lhs, rhs, d.getIsUnsigned());
      })
      .Case([&](tile::TruncModOp d) {
        return divide(e, Division::TruncMod, lhs, rhs, d.getIsUnsigned());
      })
      .Case([&](tile::ShlOp s) { return shift(e, lhs, rhs, /*isLeft=*/true, s.getIsUnsigned()); })
      .Case([&](tile::ShrOp s) { return shift(e, lhs, rhs, /*isLeft=*/false, s.getIsUnsigned()); })
      .Default([](Operation *) { return Value(); });
}

//===----------------------------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------------------------===//

static Value lowerFloat(Operation &op, Emitter &e) {
  SmallVector<Value> operands = e.lookupAll(op.getOperands());
  // Fast math permits contraction and approximation, never assumptions about NaN or infinities.
  auto flags = e.program.isFastMath ? arith::FastMathFlags::contract | arith::FastMathFlags::afn |
                                          arith::FastMathFlags::arcp
                                    : arith::FastMathFlags::none;
  Value result =
      llvm::TypeSwitch<Operation *, Value>(&op)
          .Case([&](arith::AddFOp) {
            return arith::AddFOp::create(e.b, operands[0], operands[1], flags);
          })
          .Case([&](arith::SubFOp) {
            return arith::SubFOp::create(e.b, operands[0], operands[1], flags);
          })
          .Case([&](arith::MulFOp) {
            return arith::MulFOp::create(e.b, operands[0], operands[1], flags);
          })
          .Case([&](arith::DivFOp) {
            return arith::DivFOp::create(e.b, operands[0], operands[1], flags);
          })
          .Case([&](arith::RemFOp) { return arith::RemFOp::create(e.b, operands[0], operands[1]); })
          .Default([](Operation *) { return Value(); });
  if (result)
    return e.numbers.round(result, op.getResult(0).getType());
  // These give one of their operands or its negative: nothing to round.
  return llvm::TypeSwitch<Operation *, Value>(&op)
      .Case([&](arith::NegFOp) { return arith::NegFOp::create(e.b, operands[0]); })
      .Case([&](arith::MaxNumFOp) { return e.numbers.maxFloat(operands[0], operands[1], false); })
      .Case([&](arith::MinNumFOp) { return e.numbers.minFloat(operands[0], operands[1], false); })
      .Case([&](arith::MaximumFOp) { return e.numbers.maxFloat(operands[0], operands[1], true); })
      .Case([&](arith::MinimumFOp) { return e.numbers.minFloat(operands[0], operands[1], true); })
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

bool tilewright::cpu::lowerScalar(Operation &op, Emitter &e) {
  if (op.getNumResults() != 1)
    return false;
  Type type = op.getResult(0).getType();
  Value result;
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    result = e.numbers.constant(cast<TypedAttr>(constant.getValue()));
  } else if (auto select = dyn_cast<arith::SelectOp>(op)) {
    result = e.b.createOrFold<arith::SelectOp>(e.lookup(select.getCondition()),
                                               e.lookup(select.getTrueValue()),
                                               e.lookup(select.getFalseValue()));
  } else if (auto compare = dyn_cast<arith::CmpFOp>(op)) {
    result = arith::CmpFOp::create(e.b, compare.getPredicate(), e.lookup(compare.getLhs()),
                                   e.lookup(compare.getRhs()));
  } else if (auto cast = dyn_cast<tile::CastOp>(op)) {
    result = e.numbers.convert(e.lookup(cast.getValue()), cast.getFrom(), cast.getTo(),
                               cast.getRounding(), cast.getSaturate());
  } else if (auto types = getArithCast(op)) {
    result = e.numbers.convert(e.lookup(op.getOperand(0)), types->first, types->second);
  } else if (isa<tile::BitcastOp, arith::BitcastOp>(op)) {
    Value bits = e.numbers.toBits(e.lookup(op.getOperand(0)), op.getOperand(0).getType());
    result = e.numbers.fromBits(bits, type);
  } else if (op.getName().getDialectNamespace() == math::MathDialect::getDialectNamespace()) {
    result = emitFunction(op, e);
  } else if (isa<FloatType>(type)) {
    result = lowerFloat(op, e);
  } else {
    result = lowerInteger(op, e);
  }
  if (!result)
    return false;
  e.define(op.getResult(0), result);
  return true;
}
