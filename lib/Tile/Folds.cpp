//===- Folds.cpp - constant folding of the language's own scalar operations ------------------===//
//
// The corners are decided in docs/semantics.md: x // 0 is 0, x % 0 is x, INT_MIN // -1 wraps, and a
// shift by the width or more gives 0, or the sign for signed >>. Index values that would overflow
// are left alone: the interpreter reports them.
//
//===----------------------------------------------------------------------------------------===//

#include "tilewright/Tile/Tile.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilewright::tile;
using llvm::APInt;

/// Folds `lhs op rhs` over constants; `compute` gives nothing where it must stay an op.
static OpFoldResult foldInteger(Type type, Attribute lhs, Attribute rhs,
                                llvm::function_ref<std::optional<APInt>(APInt, APInt)> compute) {
  auto left = dyn_cast_if_present<IntegerAttr>(lhs), right = dyn_cast_if_present<IntegerAttr>(rhs);
  if (!left || !right)
    return {};
  std::optional<APInt> result = compute(left.getValue(), right.getValue());
  return result ? OpFoldResult(IntegerAttr::get(type, *result)) : OpFoldResult();
}

static bool isOne(Attribute value) {
  auto integer = dyn_cast_if_present<IntegerAttr>(value);
  return integer && integer.getValue().isOne() && integer.getValue().getBitWidth() > 1;
}

static bool isZero(Attribute value) {
  auto integer = dyn_cast_if_present<IntegerAttr>(value);
  return integer && integer.getValue().isZero();
}

/// Whether signed division would leave 64 bits, which only an index value may not.
static bool overflows(Type type, const APInt &lhs, const APInt &rhs) {
  return isa<IndexType>(type) && lhs.isMinSignedValue() && rhs.isAllOnes();
}

OpFoldResult FloorDivOp::fold(FoldAdaptor adaptor) {
  if (isOne(adaptor.getRhs()))
    return getLhs();
  return foldInteger(getType(), adaptor.getLhs(), adaptor.getRhs(),
                     [&](APInt l, APInt r) -> std::optional<APInt> {
                       if (r.isZero())
                         return APInt::getZero(l.getBitWidth());
                       if (getIsUnsigned())
                         return l.udiv(r);
                       if (overflows(getType(), l, r))
                         return std::nullopt;
                       return llvm::APIntOps::RoundingSDiv(l, r, APInt::Rounding::DOWN);
                     });
}

OpFoldResult FloorModOp::fold(FoldAdaptor adaptor) {
  if (isOne(adaptor.getRhs()))
    return IntegerAttr::get(getType(), 0);
  return foldInteger(getType(), adaptor.getLhs(), adaptor.getRhs(),
                     [&](APInt l, APInt r) -> std::optional<APInt> {
                       if (r.isZero())
                         return l;
                       if (getIsUnsigned())
                         return l.urem(r);
                       APInt remainder = l.srem(r);
                       if (!remainder.isZero() && remainder.isNegative() != r.isNegative())
                         remainder += r;
                       return remainder;
                     });
}

OpFoldResult TruncDivOp::fold(FoldAdaptor adaptor) {
  if (isOne(adaptor.getRhs()))
    return getLhs();
  return foldInteger(getType(), adaptor.getLhs(), adaptor.getRhs(),
                     [&](APInt l, APInt r) -> std::optional<APInt> {
                       if (r.isZero())
                         return APInt::getZero(l.getBitWidth());
                       if (getIsUnsigned())
                         return l.udiv(r);
                       if (overflows(getType(), l, r))
                         return std::nullopt;
                       return l.sdiv(r);
                     });
}

OpFoldResult TruncModOp::fold(FoldAdaptor adaptor) {
  if (isOne(adaptor.getRhs()))
    return IntegerAttr::get(getType(), 0);
  return foldInteger(getType(), adaptor.getLhs(), adaptor.getRhs(),
                     [&](APInt l, APInt r) -> std::optional<APInt> {
                       if (r.isZero())
                         return l;
                       return getIsUnsigned() ? l.urem(r) : l.srem(r);
                     });
}

OpFoldResult ShlOp::fold(FoldAdaptor adaptor) {
  if (isZero(adaptor.getRhs()))
    return getLhs();
  return foldInteger(getType(), adaptor.getLhs(), adaptor.getRhs(),
                     [&](APInt l, APInt r) -> std::optional<APInt> {
                       if (r.uge(l.getBitWidth()))
                         return APInt::getZero(l.getBitWidth());
                       bool overflow = false;
                       APInt result = l.sshl_ov(r, overflow);
                       if (overflow && isa<IndexType>(getType()))
                         return std::nullopt;
                       return l.shl(r);
                     });
}

OpFoldResult ShrOp::fold(FoldAdaptor adaptor) {
  if (isZero(adaptor.getRhs()))
    return getLhs();
  return foldInteger(getType(), adaptor.getLhs(), adaptor.getRhs(),
                     [&](APInt l, APInt r) -> std::optional<APInt> {
                       unsigned width = l.getBitWidth();
                       if (getIsUnsigned())
                         return r.uge(width) ? APInt::getZero(width) : l.lshr(r);
                       return l.ashr(r.uge(width) ? width - 1 : r.getZExtValue());
                     });
}

/// Only conversions among integers fold here; those of floats are left to the engines, which share
/// one definition of rounding with their run-time code.
OpFoldResult CastOp::fold(FoldAdaptor adaptor) {
  if (getFrom() == getTo() && !getSaturate())
    return getValue();
  auto value = dyn_cast_if_present<IntegerAttr>(adaptor.getValue());
  if (!value || !isa<IntegerType, IndexType>(getTo()))
    return {};
  APInt bits = value.getValue();
  unsigned width = isa<IndexType>(getTo()) ? 64 : getTo().getIntOrFloatBitWidth();
  if (width == 1)
    return IntegerAttr::get(getType(), bits.isZero() ? 0 : 1);
  bool isUnsigned = getFrom().isUnsignedInteger() || getFrom().isInteger(1);
  return IntegerAttr::get(getType(),
                          isUnsigned ? bits.zextOrTrunc(width) : bits.sextOrTrunc(width));
}
