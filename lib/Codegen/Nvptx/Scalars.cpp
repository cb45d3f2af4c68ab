//===- Scalars.cpp - arithmetic of a thread with the language's corners ----------------------===//

#include "Lowerings.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::nvptx {

namespace {

/// Integer division and shifts as DESIGN decides them: no undefined corner is left.
class Integers {
public:
  Integers(ImplicitLocOpBuilder &b, Type type, bool isUnsigned)
      : b(b), type(type), isUnsigned(isUnsigned) {}

  Value floorDiv(Value lhs, Value rhs);
  Value floorMod(Value lhs, Value rhs);
  Value truncDiv(Value lhs, Value rhs);
  Value truncMod(Value lhs, Value rhs);
  Value shiftLeft(Value lhs, Value rhs);
  Value shiftRight(Value lhs, Value rhs);

private:
  Value constant(int64_t value) {
    return arith::ConstantOp::create(b, b.getIntegerAttr(type, value));
  }
  Value compare(arith::CmpIPredicate predicate, Value lhs, Value rhs) {
    return b.createOrFold<arith::CmpIOp>(predicate, lhs, rhs);
  }
  Value select(Value condition, Value lhs, Value rhs) {
    return b.createOrFold<arith::SelectOp>(condition, lhs, rhs);
  }
  /// A divisor that is safe to divide by: 1 in place of 0, and of -1, whose quotient is a negation.
  Value safeDivisor(Value rhs);
  bool needsWideShift(Value rhs);
  Value shiftWide(StringRef opcode, Value lhs, Value rhs);
  Value widthConstant() {
    return constant(isa<IndexType>(type) ? 64 : type.getIntOrFloatBitWidth());
  }

  ImplicitLocOpBuilder &b;
  Type type;
  bool isUnsigned;
};

Value Integers::safeDivisor(Value rhs) {
  if (std::optional<int64_t> known = getConstantIntValue(rhs); known && *known != 0 && *known != -1)
    return rhs;
  Value isZero = compare(arith::CmpIPredicate::eq, rhs, constant(0));
  if (isUnsigned)
    return select(isZero, constant(1), rhs);
  Value isMinusOne = compare(arith::CmpIPredicate::eq, rhs, constant(-1));
  return select(arith::OrIOp::create(b, isZero, isMinusOne), constant(1), rhs);
}

Value Integers::truncDiv(Value lhs, Value rhs) {
  Value divisor = safeDivisor(rhs);
  Value quotient = isUnsigned ? arith::DivUIOp::create(b, lhs, divisor).getResult()
                              : arith::DivSIOp::create(b, lhs, divisor).getResult();
  if (divisor == rhs)
    return quotient;
  if (!isUnsigned) {
    Value negated = arith::SubIOp::create(b, constant(0), lhs);
    quotient = select(compare(arith::CmpIPredicate::eq, rhs, constant(-1)), negated, quotient);
  }
  return select(compare(arith::CmpIPredicate::eq, rhs, constant(0)), constant(0), quotient);
}

Value Integers::truncMod(Value lhs, Value rhs) {
  Value divisor = safeDivisor(rhs);
  Value rest = isUnsigned ? arith::RemUIOp::create(b, lhs, divisor).getResult()
                          : arith::RemSIOp::create(b, lhs, divisor).getResult();
  // By 1 and by -1 the remainder is 0, which the safe divisor gives.
  return divisor == rhs ? rest
                        : select(compare(arith::CmpIPredicate::eq, rhs, constant(0)), lhs, rest);
}

Value Integers::floorDiv(Value lhs, Value rhs) {
  std::optional<int64_t> known = getConstantIntValue(rhs);
  if (isUnsigned)
    return truncDiv(lhs, rhs);
  if (known && *known > 0 && llvm::isPowerOf2_64(*known))
    return b.createOrFold<arith::ShRSIOp>(lhs, constant(llvm::Log2_64(*known)));
  Value quotient = truncDiv(lhs, rhs), rest = truncMod(lhs, rhs);
  Value inexact = compare(arith::CmpIPredicate::ne, rest, constant(0));
  Value signsDiffer =
      arith::XOrIOp::create(b, compare(arith::CmpIPredicate::slt, rest, constant(0)),
                            compare(arith::CmpIPredicate::slt, rhs, constant(0)));
  Value isZero = compare(arith::CmpIPredicate::eq, rhs, constant(0));
  Value adjust = arith::AndIOp::create(b, inexact, signsDiffer);
  Value lower = arith::SubIOp::create(b, quotient, constant(1));
  return select(isZero, constant(0), select(adjust, lower, quotient));
}

Value Integers::floorMod(Value lhs, Value rhs) {
  std::optional<int64_t> known = getConstantIntValue(rhs);
  if (isUnsigned)
    return truncMod(lhs, rhs);
  if (known && *known > 0 && llvm::isPowerOf2_64(*known))
    return b.createOrFold<arith::AndIOp>(lhs, constant(*known - 1));
  Value rest = truncMod(lhs, rhs);
  Value inexact = compare(arith::CmpIPredicate::ne, rest, constant(0));
  Value signsDiffer =
      arith::XOrIOp::create(b, compare(arith::CmpIPredicate::slt, rest, constant(0)),
                            compare(arith::CmpIPredicate::slt, rhs, constant(0)));
  Value isZero = compare(arith::CmpIPredicate::eq, rhs, constant(0));
  Value moved = arith::AddIOp::create(b, rest, rhs);
  return select(isZero, lhs, select(arith::AndIOp::create(b, inexact, signsDiffer), moved, rest));
}

/// LLVM knows that PTX shifts by 64 and more as the language wants it, drops the comparison with
/// the width, and with it the upper half of the count: the instruction takes 32 bits. So it is
/// written out, after a minimum that LLVM has no reason to drop.
Value Integers::shiftWide(StringRef opcode, Value lhs, Value rhs) {
  Type wide = b.getI64Type();
  auto bits = [&](Value value) -> Value {
    return isa<IndexType>(type) ? arith::IndexCastOp::create(b, wide, value).getResult() : value;
  };
  Value most = arith::ConstantOp::create(b, b.getI64IntegerAttr(64));
  Value clamped = arith::MinUIOp::create(b, bits(rhs), most);
  Value count = arith::TruncIOp::create(b, b.getI32Type(), clamped);
  Value result = inlinePtx(b, (opcode + " $0, $1, $2;").str(), "=l,l,r", wide, {bits(lhs), count});
  return isa<IndexType>(type) ? arith::IndexCastOp::create(b, type, result).getResult() : result;
}

bool Integers::needsWideShift(Value rhs) {
  bool isWide = isa<IndexType>(type) || type.getIntOrFloatBitWidth() == 64;
  return isWide && !getConstantIntValue(rhs);
}

Value Integers::shiftLeft(Value lhs, Value rhs) {
  if (needsWideShift(rhs))
    return shiftWide("shl.b64", lhs, rhs);
  Value tooFar = compare(arith::CmpIPredicate::uge, rhs, widthConstant());
  Value count = select(tooFar, constant(0), rhs);
  return select(tooFar, constant(0), arith::ShLIOp::create(b, lhs, count));
}

Value Integers::shiftRight(Value lhs, Value rhs) {
  if (needsWideShift(rhs))
    return shiftWide(isUnsigned ? "shr.u64" : "shr.s64", lhs, rhs);
  Value tooFar = compare(arith::CmpIPredicate::uge, rhs, widthConstant());
  if (isUnsigned) {
    Value count = select(tooFar, constant(0), rhs);
    return select(tooFar, constant(0), arith::ShRUIOp::create(b, lhs, count));
  }
  int64_t width = isa<IndexType>(type) ? 64 : type.getIntOrFloatBitWidth();
  Value count = select(tooFar, constant(width - 1), rhs);
  return arith::ShRSIOp::create(b, lhs, count);
}

std::string suffix(Type type) {
  return (isa<FloatType>(type) ? "f" : "i") + std::to_string(type.getIntOrFloatBitWidth());
}

} // namespace

Type getStorageType(Type elementType) {
  MLIRContext *context = elementType.getContext();
  if (elementType.isInteger(1))
    return IntegerType::get(context, 8);
  if (isa<FloatTF32Type>(elementType))
    return Float32Type::get(context);
  if (isa<Float8E4M3FNType, Float8E5M2Type>(elementType))
    return IntegerType::get(context, 8);
  return getScalarType(elementType);
}

Type getRegisterType(Type elementType) {
  if (isa<IndexType>(elementType))
    return IntegerType::get(elementType.getContext(), 64);
  return getStorageType(elementType);
}

Value toStorage(Emitter &e, Value value, Type elementType) {
  ImplicitLocOpBuilder &b = e.b;
  Type stored = getRegisterType(elementType);
  if (value.getType() == stored)
    return value;
  if (isa<IndexType>(elementType))
    return e.i64(value);
  if (elementType.isInteger(1))
    return arith::ExtUIOp::create(b, stored, value);
  return LLVM::BitcastOp::create(b, stored, value);
}

Value fromStorage(Emitter &e, Value value, Type elementType) {
  ImplicitLocOpBuilder &b = e.b;
  Type scalar = getScalarType(elementType);
  if (value.getType() == scalar)
    return value;
  if (isa<IndexType>(elementType))
    return arith::IndexCastOp::create(b, scalar, value);
  if (elementType.isInteger(1)) {
    Value zero = e.constant(b.getZeroAttr(value.getType()));
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, value, zero);
  }
  return LLVM::BitcastOp::create(b, scalar, value);
}

Value magnitudeOf(Emitter &e, Value value, Type type) {
  ImplicitLocOpBuilder &b = e.b;
  if (type.isUnsignedInteger() || type.isInteger(1))
    return value;
  return isa<FloatType>(type) ? math::AbsFOp::create(b, value).getResult()
                              : math::AbsIOp::create(b, value).getResult();
}

Value convertScalar(Emitter &e, Value value, Type from, Type to, Rounding rounding, bool saturate) {
  ImplicitLocOpBuilder &b = e.b;
  if (from == to && !saturate)
    return value;
  if (isStorageFloat(from)) {
    value = widenStorageFloat(e, value, from);
    from = b.getF32Type();
    if (from == to && !saturate)
      return value;
  }
  Type result = getScalarType(to);
  bool fromFloat = isa<FloatType>(from), toFloat = isa<FloatType>(to);
  if (to.isInteger(1)) {
    if (fromFloat) {
      Value zero = arith::ConstantOp::create(b, b.getZeroAttr(value.getType()));
      return arith::CmpFOp::create(b, arith::CmpFPredicate::UNE, value, zero);
    }
    Value zero = arith::ConstantOp::create(b, b.getZeroAttr(value.getType()));
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, value, zero);
  }
  if (fromFloat && toFloat)
    return convertFloat(e, value, to, rounding, saturate);
  bool isUnsigned = from.isUnsignedInteger() || from.isInteger(1);
  if (!fromFloat && isa<IndexType>(from)) {
    value = arith::IndexCastOp::create(b, b.getI64Type(), value);
    from = b.getI64Type();
  }
  if (!fromFloat && toFloat)
    return convertIntegerToFloat(e, value, isUnsigned, to, rounding, saturate);
  Type integer = isa<IndexType>(to) ? Type(b.getI64Type()) : result;
  if (fromFloat) {
    // Truncates and saturates; NaN gives 0.
    std::string name =
        std::string(to.isUnsignedInteger() ? "llvm.fptoui.sat." : "llvm.fptosi.sat.") +
        suffix(integer) + "." + (value.getType().isBF16() ? "bf16" : suffix(value.getType()));
    value = LLVM::CallIntrinsicOp::create(b, integer, b.getStringAttr(name), value).getResult(0);
  } else {
    unsigned own = value.getType().getIntOrFloatBitWidth(),
             wanted = integer.getIntOrFloatBitWidth();
    if (own > wanted)
      value = arith::TruncIOp::create(b, integer, value);
    else if (own < wanted)
      value = isUnsigned ? arith::ExtUIOp::create(b, integer, value).getResult()
                         : arith::ExtSIOp::create(b, integer, value).getResult();
  }
  return isa<IndexType>(to) ? arith::IndexCastOp::create(b, result, value).getResult() : value;
}

Value combine(Emitter &e, AtomicKind kind, Value lhs, Value rhs, Type elementType, bool propagate) {
  ImplicitLocOpBuilder &b = e.b;
  if (!isa<FloatType>(elementType))
    return combineIntegers(b, kind, lhs, rhs, elementType.isUnsignedInteger());
  switch (kind) {
  case AtomicKind::Add:
    return arith::AddFOp::create(b, lhs, rhs);
  case AtomicKind::Max:
    return propagate ? arith::MaximumFOp::create(b, lhs, rhs).getResult()
                     : arith::MaxNumFOp::create(b, lhs, rhs).getResult();
  case AtomicKind::Min:
    return propagate ? arith::MinimumFOp::create(b, lhs, rhs).getResult()
                     : arith::MinNumFOp::create(b, lhs, rhs).getResult();
  default:
    llvm_unreachable("the verifier lets no other combination of floats pass");
  }
}

LogicalResult lowerScalar(Thread &t, Operation *op) {
  ImplicitLocOpBuilder &b = t.b;
  auto result = [&](Value value) {
    t.define(op->getResult(0), value);
    return success();
  };
  auto operand = [&](unsigned i) { return t.mapped(op->getOperand(i)); };
  if (isa<FloorDivOp, FloorModOp, TruncDivOp, TruncModOp, ShlOp, ShrOp>(op)) {
    Integers integers(b, op->getResult(0).getType(), op->hasAttr("isUnsigned"));
    return TypeSwitch<Operation *, LogicalResult>(op)
        .Case([&](FloorDivOp) { return result(integers.floorDiv(operand(0), operand(1))); })
        .Case([&](FloorModOp) { return result(integers.floorMod(operand(0), operand(1))); })
        .Case([&](TruncDivOp) { return result(integers.truncDiv(operand(0), operand(1))); })
        .Case([&](TruncModOp) { return result(integers.truncMod(operand(0), operand(1))); })
        .Case([&](ShlOp) { return result(integers.shiftLeft(operand(0), operand(1))); })
        .Default([&](Operation *) { return result(integers.shiftRight(operand(0), operand(1))); });
  }
  if (auto convert = dyn_cast<CastOp>(op)) {
    return result(convertScalar(t, operand(0), convert.getFrom(), convert.getTo(),
                                convert.getRounding(), convert.getSaturate()));
  }
  if (auto bits = dyn_cast<BitcastOp>(op)) {
    // The digits that a tfloat32 has not are none of its bits.
    auto rounded = [&](Value value, Type dtype) {
      return isa<FloatTF32Type>(dtype) ? widenStorageFloat(t, value, dtype) : value;
    };
    Value value = rounded(operand(0), bits.getValue().getType());
    Type type = getScalarType(bits.getType());
    if (value.getType() != type)
      value = LLVM::BitcastOp::create(b, type, value);
    return result(rounded(value, bits.getType()));
  }
  if (auto literal = dyn_cast<arith::ConstantOp>(op))
    return result(t.constant(getRegisterConstant(literal.getValue())));
  if (isa<func::ReturnOp>(op))
    return success();
  bool isArith = isa<arith::ArithDialect>(op->getDialect());
  bool isMath = isa<math::MathDialect>(op->getDialect());
  if (!isArith && !isMath)
    return unsupported(op) << "'" << op->getName().getStringRef() << "'";
  // Storage floats are computed with as float32, and so are functions of narrow floats; the result
  // is rounded once.
  bool isFunction = isMath || isa<arith::RemFOp>(op);
  auto isWidened = [&](Type type) {
    bool isHalf = type.isF16() || type.isBF16();
    return (isStorageFloat(type) && !isa<arith::SelectOp>(op)) || (isHalf && isFunction);
  };
  IRMapping mapping;
  for (Value old : op->getOperands())
    mapping.map(old, isWidened(old.getType())
                         ? convertScalar(t, t.mapped(old), old.getType(), b.getF32Type())
                         : t.mapped(old));
  Value value = b.clone(*op, mapping)->getResult(0);
  Type type = value.getType();
  if (!isWidened(type)) {
    value.setType(getScalarType(type)); // a select may be one of storage floats
    return result(value);
  }
  value.setType(b.getF32Type());
  return result(convertFloat(t, value, type, Rounding::NearestEven, /*saturate=*/false));
}

} // namespace tilewright::nvptx
