//===- LowerReduce.cpp - reductions and running sums ------------------------------------------===//
//
// Values are combined in the wider of the source's and the destination's carriers (integers in 64
// bits) and rounded once at the end. The order of a sum is open: float additions may be regrouped,
// which lets LLVM keep several partial sums in a vector. A maximum whose NaNs lose starts from a
// NaN, so that a row of NaNs stays one.
//
//===----------------------------------------------------------------------------------------===//

#include "Lowering.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;
using tile::ReduceKind;

namespace {
/// How the values of one reduction are combined.
class Combiner {
public:
  Combiner(ImplicitLocOpBuilder &b, ReduceKind kind, Type from, Type to, bool propagatesNaN)
      : b(b), numbers(b), kind(kind), from(from), to(to), propagatesNaN(propagatesNaN) {
    bool isWide = isa<Float64Type>(from) || isa<Float64Type>(to);
    type = !isa<FloatType>(from) ? Type(b.getI64Type())
           : isWide              ? Type(b.getF64Type())
                                 : Type(b.getF32Type());
  }

  Type getType() const { return type; }

  /// A carrier of `elementType` as an operand: widened, its magnitude if the kind asks for it.
  Value widen(Value carrier, Type elementType) {
    return widen(carrier, elementType, kind == ReduceKind::AbsSum || kind == ReduceKind::AbsMax);
  }
  /// The same for what the destination held: a sum of magnitudes adds to it as it is.
  Value widenOld(Value carrier, Type elementType) {
    return widen(carrier, elementType, kind == ReduceKind::AbsMax);
  }
  /// The value from which combining starts.
  Value getStart(bool isEmpty) {
    if (isa<FloatType>(type)) {
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

  Value combine(Value lhs, Value rhs) {
    if (isa<FloatType>(type)) {
      if (isSum())
        return arith::AddFOp::create(b, lhs, rhs, arith::FastMathFlags::reassoc);
      return kind == ReduceKind::Min ? numbers.minFloat(lhs, rhs, propagatesNaN)
                                     : numbers.maxFloat(lhs, rhs, propagatesNaN);
    }
    bool isUnsigned = from.isUnsignedInteger() || from.isInteger(1);
    switch (kind) {
    case ReduceKind::Sum:
    case ReduceKind::AbsSum:
      return arith::AddIOp::create(b, lhs, rhs);
    case ReduceKind::Max:
    case ReduceKind::AbsMax:
      return isUnsigned ? Value(arith::MaxUIOp::create(b, lhs, rhs))
                        : Value(arith::MaxSIOp::create(b, lhs, rhs));
    case ReduceKind::Min:
      return isUnsigned ? Value(arith::MinUIOp::create(b, lhs, rhs))
                        : Value(arith::MinSIOp::create(b, lhs, rhs));
    case ReduceKind::And:
      return arith::AndIOp::create(b, lhs, rhs);
    case ReduceKind::Or:
      return arith::OrIOp::create(b, lhs, rhs);
    case ReduceKind::Xor:
      return arith::XOrIOp::create(b, lhs, rhs);
    }
    llvm_unreachable("unknown kind");
  }

  /// The combined value as a carrier of the destination.
  Value finish(Value combined) {
    if (isa<FloatType>(type))
      return numbers.convert(combined, type, to);
    if (to.isInteger(1)) // wraps to its lowest bit
      return arith::TruncIOp::create(b, b.getI1Type(), combined);
    return numbers.convert(combined, b.getI64Type(), to);
  }

private:
  Value widen(Value carrier, Type elementType, bool isMagnitude) {
    if (isa<FloatType>(elementType)) {
      Value wide = carrier.getType() == type ? carrier : arith::ExtFOp::create(b, type, carrier);
      return isMagnitude ? math::AbsFOp::create(b, wide) : wide;
    }
    if (isMagnitude && !elementType.isUnsignedInteger() && !elementType.isInteger(1))
      carrier = math::AbsIOp::create(b, carrier); // of the most negative value wraps to itself
    return numbers.convert(carrier, elementType, b.getI64Type());
  }

  bool isSum() const { return kind == ReduceKind::Sum || kind == ReduceKind::AbsSum; }

  ImplicitLocOpBuilder &b;
  Numbers numbers;
  ReduceKind kind;
  Type from, to, type;
  bool propagatesNaN;
};
} // namespace

void Lowering::lowerReduce(tile::ReduceOp op) {
  View dest = getView(op.getDest());
  View source = separateFrom(dest, getView(op.getSource()), op.getSource().getType(), op);
  unsigned dim = op.getDim();
  Combiner combiner(b, op.getKind(), source.elementType, dest.elementType, op.getNanPropagate());
  // The loops run over the kept dimensions of the source; those of the destination follow.
  SmallVector<unsigned> kept;
  for (unsigned d = 0; d < source.getRank(); ++d)
    if (d != dim)
      kept.push_back(d);
  bool keepsDim = dest.getRank() == source.getRank();
  auto destIndex = [&](ArrayRef<Value> variables) {
    SmallVector<Value> result(variables);
    if (keepsDim)
      result.insert(result.begin() + dim, index(0));
    result.resize(dest.getRank(), index(0)); // a vector reduces to one element
    return result;
  };
  SmallVector<Value> extents;
  for (unsigned d : kept) {
    unsigned destDim = keepsDim || d < dim ? d : d - 1;
    extents.push_back(requireEqual(source.extents[d], dest.extents[destDim],
                                   "'" + source.root->name + "' and '" + dest.root->name + "'"));
  }
  Value along = source.extents[dim];
  bool isNeverEmpty = ranges.get(along).least > 0;
  auto reduceOne = [&](ArrayRef<Value> variables) {
    SmallVector<Value> position(variables);
    position.insert(position.begin() + dim, Value());
    Value start = combiner.getStart(/*isEmpty=*/false);
    Value total = loopCarrying(index(0), along, index(1), start,
                               [&](Value variable, ValueRange carried) -> SmallVector<Value> {
                                 position[dim] = variable;
                                 Value element =
                                     combiner.widen(load(source, position), source.elementType);
                                 return {combiner.combine(carried[0], element)};
                               })[0];
    if (!op.getClear()) {
      Value old = combiner.widenOld(load(dest, destIndex(variables)), dest.elementType);
      total = combiner.combine(total, old);
    } else if (!isNeverEmpty) {
      Value isEmpty = compare(arith::CmpIPredicate::sle, along, index(0));
      total = arith::SelectOp::create(b, isEmpty, combiner.getStart(/*isEmpty=*/true), total);
    }
    store(dest, destIndex(variables), combiner.finish(total));
  };
  loopNest(extents, /*isParallel=*/false, reduceOne);
}

void Lowering::lowerCumsum(tile::CumsumOp op) {
  View dest = getView(op.getDest());
  View source = separateFrom(dest, getView(op.getSource()), op.getSource().getType(), op);
  unsigned dim = op.getDim();
  Combiner combiner(b, ReduceKind::Sum, source.elementType, dest.elementType, false);
  SmallVector<Value> extents;
  for (unsigned d = 0; d < source.getRank(); ++d)
    if (d != dim)
      extents.push_back(requireEqual(source.extents[d], dest.extents[d], "'T.cumsum'"));
  Value along = requireEqual(source.extents[dim], dest.extents[dim], "'T.cumsum'");
  loopNest(extents, /*isParallel=*/false, [&](ArrayRef<Value> variables) {
    SmallVector<Value> position(variables);
    position.insert(position.begin() + dim, Value());
    loopCarrying(index(0), along, index(1), combiner.getStart(false),
                 [&](Value variable, ValueRange carried) -> SmallVector<Value> {
                   position[dim] = variable;
                   if (op.getReverse()) {
                     position[dim] = sub(sub(along, index(1)), variable);
                     ranges.set(position[dim], ranges.get(variable));
                   }
                   Value element = combiner.widen(load(source, position), source.elementType);
                   Value sum = combiner.combine(carried[0], element);
                   store(dest, position, combiner.finish(sum));
                   return {sum};
                 });
  });
}
