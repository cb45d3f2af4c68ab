//===- Combiner.cpp - how the values of a reduction are combined ------------------------------===//

#include "Combiner.h"
#include "tilewright/Tile/Statements.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;
using tile::ReduceKind;

Combiner::Combiner(ImplicitLocOpBuilder &b, ReduceKind kind, Type from, Type to, bool propagatesNaN,
                   bool hasRange)
    : b(b), numbers(b), kind(kind), from(from), to(to), propagatesNaN(propagatesNaN),
      hasRange(hasRange) {
  bool isWide = isa<Float64Type>(from) || isa<Float64Type>(to);
  type = !isa<FloatType>(from) ? Type(b.getI64Type())
         : isWide              ? Type(b.getF64Type())
                               : Type(b.getF32Type());
}

Value Combiner::getStart(bool isEmpty, Type type) {
  if (isa<FloatType>(getElementTypeOrSelf(type))) {
    if (isSum())
      return numbers.real(type, 0);
    double infinity = std::numeric_limits<double>::infinity();
    bool isMax = kind != ReduceKind::Min;
    bool isOfMagnitudes = kind == ReduceKind::AbsMax;
    if (isEmpty || propagatesNaN)
      return numbers.real(type, isOfMagnitudes ? 0 : isMax ? -infinity : infinity);
    return numbers.real(type, std::numeric_limits<double>::quiet_NaN());
  }
  bool isUnsigned = from.isUnsignedInteger() || from.isInteger(1);
  unsigned width = from.getIntOrFloatBitWidth();
  auto number = [&](const APInt &value) {
    return numbers.integer(type, isUnsigned ? value.getZExtValue() : value.getSExtValue());
  };
  switch (kind) {
  case ReduceKind::Max:
    return number(isUnsigned ? APInt::getMinValue(width) : APInt::getSignedMinValue(width));
  case ReduceKind::AbsMax: // of the most negative value is itself, so start below it
    return numbers.integer(type, isUnsigned || isEmpty ? 0 : std::numeric_limits<int64_t>::min());
  case ReduceKind::Min:
    return number(isUnsigned ? APInt::getMaxValue(width) : APInt::getSignedMaxValue(width));
  case ReduceKind::And:
    return numbers.integer(type, -1);
  default:
    return numbers.integer(type, 0);
  }
}

Value Combiner::combine(Value lhs, Value rhs) {
  if (isa<FloatType>(type)) {
    if (isSum())
      return arith::AddFOp::create(b, lhs, rhs, arith::FastMathFlags::reassoc);
    auto vector = dyn_cast<VectorType>(lhs.getType());
    if (hasRange && !propagatesNaN && type.isF32() && vector && vector.getNumElements() == 16)
      return pickByRange(lhs, rhs);
    return kind == ReduceKind::Min ? numbers.minFloat(lhs, rhs, propagatesNaN)
                                   : numbers.maxFloat(lhs, rhs, propagatesNaN);
  }
  return tile::combineIntegers(b, tile::getAtomicKind(kind), lhs, rhs,
                               from.isUnsignedInteger() || from.isInteger(1));
}

/// VRANGEPS is what the language means by a maximum, but for a signalling NaN, which wins. Adding
/// nothing (canonicalize) makes it a quiet one, which loses. Intel SDM, "VRANGEPS": bits 1:0 of the
/// control choose minimum or maximum, bits 3:2 = 01 keep the sign of what was chosen.
Value Combiner::pickByRange(Value lhs, Value rhs) {
  Type i32 = b.getI32Type();
  Value quiet = numbers.intrinsic("llvm.canonicalize", rhs.getType(), rhs);
  Value control = numbers.integer(i32, kind == ReduceKind::Min ? 4 : 5);
  Value allLanes = numbers.integer(b.getIntegerType(16), -1), rounding = numbers.integer(i32, 4);
  return numbers.intrinsic("llvm.x86.avx512.mask.range.ps.512", lhs.getType(),
                           {lhs, quiet, control, lhs, allLanes, rounding});
}

Value Combiner::foldLanes(Value lanes) {
  int64_t width = cast<VectorType>(lanes.getType()).getNumElements();
  for (int64_t half = width / 2; half > 0; half /= 2) {
    SmallVector<int64_t> upper(width);
    for (int64_t lane = 0; lane < width; ++lane)
      upper[lane] = (lane + half) % width;
    lanes = combine(lanes, vector::ShuffleOp::create(b, lanes, lanes, upper));
  }
  return vector::ExtractOp::create(b, lanes, 0);
}

Value Combiner::finish(Value combined) { return numbers.convert(combined, type, to); }

Value Combiner::finishWith(Value combined, Value old, Value isEmpty) {
  bool isMagnitude = kind == ReduceKind::AbsMax; // a sum of magnitudes adds to it as it is
  if (isSum() || isa<FloatType>(type))
    return finish(combine(combined, widen(old, to, isMagnitude)));
  if (isMagnitude)
    old = magnitudeOf(old, to);
  Value chosen = tile::combineIntegers(b, tile::getAtomicKind(kind), old, finish(combined),
                                       to.isUnsignedInteger());
  return isEmpty ? arith::SelectOp::create(b, isEmpty, old, chosen).getResult() : chosen;
}

Value Combiner::widen(Value carrier, Type elementType) {
  return widen(carrier, elementType, kind == ReduceKind::AbsSum || kind == ReduceKind::AbsMax);
}

/// Of an integer; that of the most negative value wraps to itself.
Value Combiner::magnitudeOf(Value carrier, Type elementType) {
  if (elementType.isUnsignedInteger() || elementType.isInteger(1))
    return carrier;
  return math::AbsIOp::create(b, carrier);
}

Value Combiner::widen(Value carrier, Type elementType, bool isMagnitude) {
  if (isa<FloatType>(elementType)) {
    Type target = type;
    if (auto vector = dyn_cast<VectorType>(carrier.getType()))
      target = vector.clone(type);
    Value wide = carrier.getType() == target ? carrier : arith::ExtFOp::create(b, target, carrier);
    return isMagnitude ? math::AbsFOp::create(b, wide) : wide;
  }
  if (isMagnitude)
    carrier = magnitudeOf(carrier, elementType);
  return numbers.convert(carrier, elementType, b.getI64Type());
}
