//===- LowerReduce.cpp - reductions and running sums ------------------------------------------===//
//
// Values are combined in the wider of the source's and the destination's carriers (integers in 64
// bits) and rounded once at the end. A maximum whose NaNs lose starts from a NaN, so that a row of
// NaNs stays one. The order of a sum is open. That is what the vectors of partial results below
// rest on:
//
//   along the contiguous dimension     four vectors walk a row, are combined, then folded to one
//   along another dimension            vectors of neighbouring columns walk down together
//   anything else                      element by element
//
//===----------------------------------------------------------------------------------------===//

#include "Lowering.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

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

  /// The type in which values are combined, or vectors of it.
  Type getType() const { return type; }
  Type getType(int64_t width) const { return VectorType::get({width}, type); }

  /// A carrier of `elementType` as an operand: widened, its magnitude if the kind asks for it.
  Value widen(Value carrier, Type elementType) {
    return widen(carrier, elementType, kind == ReduceKind::AbsSum || kind == ReduceKind::AbsMax);
  }
  /// The same for what the destination held: a sum of magnitudes adds to it as it is.
  Value widenOld(Value carrier, Type elementType) {
    return widen(carrier, elementType, kind == ReduceKind::AbsMax);
  }
  /// The value from which combining starts, as a value or a vector of getType.
  Value getStart(bool isEmpty) { return getStart(isEmpty, type); }
  Value getStart(bool isEmpty, Type type) {
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
      Type target = type;
      if (auto vector = dyn_cast<VectorType>(carrier.getType()))
        target = vector.clone(type);
      Value wide =
          carrier.getType() == target ? carrier : arith::ExtFOp::create(b, target, carrier);
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

namespace {
/// The statement of one reduction: where its operands are and how far the loops run.
struct Reduction {
  View source, dest;
  unsigned dim;               ///< Of the source; the others are kept.
  bool keepsDim;              ///< The destination has it too, with extent 1.
  SmallVector<Value> extents; ///< Of the kept dimensions.
  Value along;                ///< The extent of `dim`.

  SmallVector<Value> sourceIndex(ArrayRef<Value> kept, Value position) const {
    SmallVector<Value> result(kept);
    result.insert(result.begin() + dim, position);
    return result;
  }
  SmallVector<Value> destIndex(ArrayRef<Value> kept, Value zero) const {
    SmallVector<Value> result(kept);
    if (keepsDim)
      result.insert(result.begin() + dim, zero);
    result.resize(dest.getRank(), zero); // a vector reduces to one element
    return result;
  }
};
} // namespace

/// Combines the lanes of a vector, halves with halves.
static Value foldLanes(ImplicitLocOpBuilder &b, Combiner &combiner, Value lanes) {
  int64_t width = cast<VectorType>(lanes.getType()).getNumElements();
  for (int64_t half = width / 2; half > 0; half /= 2) {
    SmallVector<int64_t> upper(width);
    for (int64_t lane = 0; lane < width; ++lane)
      upper[lane] = (lane + half) % width;
    lanes = combiner.combine(lanes, vector::ShuffleOp::create(b, lanes, lanes, upper));
  }
  return vector::ExtractOp::create(b, lanes, 0);
}

/// Partial results in this many vectors at once hide the latency of combining.
static constexpr int64_t kReduceChains = 4;

void Lowering::lowerReduce(tile::ReduceOp op) {
  Reduction reduction;
  View &dest = reduction.dest = getView(op.getDest());
  View &source = reduction.source =
      separateFrom(dest, getView(op.getSource()), op.getSource().getType());
  unsigned dim = reduction.dim = op.getDim();
  reduction.keepsDim = dest.getRank() == source.getRank();
  for (unsigned d = 0; d < source.getRank(); ++d) {
    if (d == dim)
      continue;
    unsigned destDim = reduction.keepsDim || d < dim ? d : d - 1;
    reduction.extents.push_back(
        requireEqual(source.extents[d], dest.extents[destDim],
                     "'" + source.root->name + "' and '" + dest.root->name + "'"));
  }
  Value along = reduction.along = source.extents[dim];
  Combiner combiner(b, op.getKind(), source.elementType, dest.elementType, op.getNanPropagate());
  int64_t width = options.vectorWidth * 32 / combiner.getType().getIntOrFloatBitWidth();

  // The rows at `position`, as a value or a vector; `old` is what the destination holds there.
  auto widened = [&](Value stored) {
    return combiner.widen(numbers.unpack(stored, source.elementType), source.elementType);
  };
  bool isNeverEmpty = ranges.get(along).least > 0;
  auto finish = [&](Value total, llvm::function_ref<Value()> loadOld) {
    if (!op.getClear()) {
      Value old = numbers.unpack(loadOld(), dest.elementType);
      total = combiner.combine(total, combiner.widenOld(old, dest.elementType));
    } else if (!isNeverEmpty) {
      Value isEmpty = compare(arith::CmpIPredicate::sle, along, index(0));
      Value start = combiner.getStart(/*isEmpty=*/true, total.getType());
      total = arith::SelectOp::create(b, isEmpty, start, total);
    }
    return numbers.pack(combiner.finish(total), dest.elementType);
  };
  // Combines `count` vectors (or, for a width of 0, single elements) in each step from `first` on;
  // gives where it stopped.
  auto walkRow = [&](ArrayRef<Value> kept, Value first, int64_t count, int64_t lanes,
                     SmallVector<Value> &totals) {
    int64_t stride = count * std::max<int64_t>(lanes, 1);
    Value room = sub(along, first);
    Value left = b.createOrFold<arith::RemUIOp>(room, index(stride));
    Value past = sub(along, left);
    if (getConstantIntValue(past) && getConstantIntValue(past) == getConstantIntValue(first))
      return first;
    totals =
        loopCarrying(first, past, index(stride), totals, [&](Value position, ValueRange carried) {
          SmallVector<Value> next;
          for (int64_t chain = 0; chain < count; ++chain) {
            Value place = add(position, index(chain * lanes));
            SmallVector<Value> element = reduction.sourceIndex(kept, place);
            Value stored = lanes ? loadVector(source, element, lanes) : loadStored(source, element);
            next.push_back(combiner.combine(carried[chain], widened(stored)));
          }
          return next;
        });
    return past;
  };
  auto reduceOne = [&](ArrayRef<Value> kept) {
    Value total = combiner.getStart(/*isEmpty=*/false), first = index(0);
    if (isContiguousAlong(source, dim)) {
      Value start = combiner.getStart(/*isEmpty=*/false, combiner.getType(width));
      SmallVector<Value> chains(kReduceChains, start);
      first = walkRow(kept, first, kReduceChains, width, chains);
      SmallVector<Value> lanes = {chains[0]};
      if (!matchPattern(first, m_Zero()))
        for (Value chain : ArrayRef(chains).drop_front())
          lanes[0] = combiner.combine(lanes[0], chain);
      first = walkRow(kept, first, 1, width, lanes);
      if (!matchPattern(first, m_Zero()))
        total = foldLanes(b, combiner, lanes[0]);
    }
    SmallVector<Value> rest = {total};
    walkRow(kept, first, 1, 0, rest);
    SmallVector<Value> place = reduction.destIndex(kept, index(0));
    storeStored(dest, place, finish(rest[0], [&] { return loadStored(dest, place); }));
  };
  unsigned lastKept = reduction.extents.size() - 1;
  bool hasColumns = dim + 1 != source.getRank() &&
                    isContiguousAlong(source, source.getRank() - 1) &&
                    isContiguousAlong(dest, dest.getRank() - 1);
  if (!hasColumns)
    return loopNest(reduction.extents, /*isParallel=*/false, reduceOne);
  // Neighbouring columns, `lanes` at a time, from `first` on.
  SmallVector<Value> outer(ArrayRef(reduction.extents).drop_back());
  loopNest(outer, /*isParallel=*/false, [&](ArrayRef<Value> variables) {
    Value columns = reduction.extents[lastKept];
    Value left = b.createOrFold<arith::RemUIOp>(columns, index(width));
    Value past = sub(columns, left);
    loopCarrying(index(0), past, index(width), {}, [&](Value column, ValueRange) {
      SmallVector<Value> kept(variables);
      kept.push_back(column);
      Value start = combiner.getStart(/*isEmpty=*/false, combiner.getType(width));
      Value total = loopCarrying(
          index(0), along, index(1), start,
          [&](Value row, ValueRange carried) -> SmallVector<Value> {
            SmallVector<Value> place = reduction.sourceIndex(kept, row);
            return {combiner.combine(carried[0], widened(loadVector(source, place, width)))};
          })[0];
      SmallVector<Value> place = reduction.destIndex(kept, index(0));
      storeVector(dest, place, finish(total, [&] { return loadVector(dest, place, width); }));
      return SmallVector<Value>();
    });
    loopNest({past}, {columns}, /*isParallel=*/false, [&](ArrayRef<Value> column) {
      SmallVector<Value> kept(variables);
      kept.push_back(column[0]);
      reduceOne(kept);
    });
  });
}

void Lowering::lowerCumsum(tile::CumsumOp op) {
  View dest = getView(op.getDest());
  View source = separateFrom(dest, getView(op.getSource()), op.getSource().getType());
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
