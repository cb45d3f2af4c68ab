//===- Contribution.cpp - stores that contribute to a reducer --------------------------------===//

#include "Contribution.h"
#include "tilewright/Frontend/DTypes.h"
#include "tilewright/Tile/Scalars.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace tilewright::frontend {

namespace {

/// A value, and the conversion that made it, if one did.
struct Converted {
  explicit Converted(Value value) : source(value), cast(value.getDefiningOp<tile::CastOp>()) {
    if (cast)
      source = cast.getValue();
  }

  Value source;
  tile::CastOp cast;
};

} // namespace

/// Whether an op combines its two operands as reducers of this kind do.
static bool combines(Operation *op, tile::ReduceKind kind) {
  bool isOfBools = op->getResult(0).getType().isInteger(1);
  switch (kind) {
  case tile::ReduceKind::Sum:
    return isa<arith::AddFOp, arith::AddIOp, arith::SubFOp, arith::SubIOp>(op);
  case tile::ReduceKind::Max:
    return isa<arith::MaxNumFOp, arith::MaxSIOp, arith::MaxUIOp>(op) ||
           (isOfBools && isa<arith::OrIOp>(op));
  case tile::ReduceKind::Min:
    return isa<arith::MinNumFOp, arith::MinSIOp, arith::MinUIOp>(op) ||
           (isOfBools && isa<arith::AndIOp>(op));
  case tile::ReduceKind::And:
    return isa<arith::AndIOp>(op);
  case tile::ReduceKind::Or:
    return isa<arith::OrIOp>(op);
  case tile::ReduceKind::Xor:
    return isa<arith::XOrIOp>(op);
  case tile::ReduceKind::AbsSum:
  case tile::ReduceKind::AbsMax:
    return false; // no reducer is of these
  }
  llvm_unreachable("all kinds are handled");
}

/// Whether each value of an integer dtype is one of another.
static bool holdsAll(Type to, Type from) {
  if (to == from || isBool(from))
    return true;
  auto wide = dyn_cast<IntegerType>(to), narrow = dyn_cast<IntegerType>(from);
  if (!wide || !narrow || isBool(to))
    return false;
  return isUnsigned(to) == isUnsigned(from)
             ? wide.getWidth() >= narrow.getWidth()
             : isUnsigned(from) && wide.getWidth() > narrow.getWidth();
}

/// Whether a value that is combined in `combined` is a number of the reducer's dtype.
static bool isNumberOf(Type reducer, Value value, Type combined) {
  if (std::optional<int64_t> number = getConstantIntValue(value)) {
    unsigned width = reducer.getIntOrFloatBitWidth();
    return isUnsigned(reducer) || isBool(reducer)
               ? *number >= 0 && llvm::isUIntN(width, static_cast<uint64_t>(*number))
               : llvm::isIntN(width, *number);
  }
  tile::CastOp cast = Converted(value).cast;
  return holdsAll(reducer, cast && holdsAll(combined, cast.getFrom()) ? cast.getFrom() : combined);
}

/// Whether `reducer(combine(combined(r), x))` is `combine(r, reducer(x))`.
static bool keeps(tile::ReduceKind kind, Type reducer, Value x, Type combined) {
  auto narrow = dyn_cast<FloatType>(reducer), wide = dyn_cast<FloatType>(combined);
  if (narrow || wide)
    return narrow && wide &&
           llvm::APFloat::isRepresentableBy(narrow.getFloatSemantics(), wide.getFloatSemantics());
  bool isOrder = kind == tile::ReduceKind::Max || kind == tile::ReduceKind::Min;
  return isOrder || isBool(reducer) ? isNumberOf(reducer, x, combined) : true;
}

std::optional<Contribution> findContribution(Emitter &emitter, Value stored, const Element &element,
                                             ValueRange indices) {
  auto alloc = tile::getRoot(element.buffer.value).getDefiningOp<tile::AllocOp>();
  Converted result(stored);
  Operation *combined = result.source.getDefiningOp();
  if (!alloc || !alloc.getReducer() || !combined || combined->getNumResults() != 1 ||
      !combines(combined, *alloc.getReducer()))
    return std::nullopt;
  Type reducer = element.buffer.dtype, type = result.cast ? result.cast.getFrom() : reducer;
  bool isSubtracted = isa<arith::SubFOp, arith::SubIOp>(combined);
  for (unsigned side : {0, 1}) {
    auto load = Converted(combined->getOperand(side)).source.getDefiningOp<tile::LoadOp>();
    if (!load || load.getBuffer() != element.buffer.value ||
        !llvm::equal(load.getIndices(), indices, tile::areEqual) || (side == 1 && isSubtracted))
      continue;
    Value x = combined->getOperand(1 - side);
    if (!keeps(*alloc.getReducer(), reducer, x, type))
      emitter.fail("'" + tile::getName(alloc.getBuffer()) + "' is a reducer of " +
                   getDTypeName(reducer) + ", and this combines its element in " +
                   getDTypeName(type) + "; contribute T.cast(…, '" + getDTypeName(reducer) + "')");
    return Contribution{emitter.wrap(x, type), isSubtracted};
  }
  return std::nullopt;
}

} // namespace tilewright::frontend
