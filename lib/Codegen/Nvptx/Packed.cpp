//===- Packed.cpp - two narrow floats in one instruction -------------------------------------===//
//
// Element-wise operations on float16 and bfloat16 work on two slots of a thread at once: each half
// of `add.f16x2` is rounded as `add.f16` rounds it, so values stay what they are. So does rounding
// two float32 to a pair. Where an architecture lacks the packed form, LLVM takes pairs apart again.
//
//===----------------------------------------------------------------------------------------===//

#include "Lowerings.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::nvptx {

static bool isHalf(Type type) { return type.isF16() || type.isBF16(); }

/// A conversion that rounds a float32 to the nearest narrow float.
static bool isRounding(CastOp cast) {
  return cast.getFrom().isF32() && isHalf(cast.getTo()) &&
         cast.getRounding() == Rounding::NearestEven && !cast.getSaturate();
}

bool isPackable(Operation *op) {
  if (auto cast = dyn_cast<CastOp>(op))
    return isRounding(cast);
  return isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::NegFOp, arith::MaxNumFOp,
             arith::MinNumFOp, arith::MaximumFOp, arith::MinimumFOp, math::FmaOp, math::AbsFOp>(
             op) &&
         isHalf(op->getResult(0).getType());
}

/// `cvt.rn.f16x2.f32`: the second operand is the lower half.
static Value roundPair(ImplicitLocOpBuilder &b, Value low, Value high, Type to) {
  StringRef name = to.isF16() ? "llvm.nvvm.ff2f16x2.rn" : "llvm.nvvm.ff2bf16x2.rn";
  return LLVM::CallIntrinsicOp::create(b, VectorType::get({2}, to), b.getStringAttr(name),
                                       ValueRange{high, low})
      .getResult(0);
}

LogicalResult lowerPacked(Thread &t, Operation *op, ArrayRef<Iteration *> members) {
  ImplicitLocOpBuilder &b = t.b;
  Type type = getScalarType(op->getResult(0).getType());
  auto operandOf = [&](Iteration *member, Value old) {
    t.iteration = member;
    return t.mapped(old);
  };
  for (; members.size() >= 2; members = members.drop_front(2)) {
    SmallVector<Value> operands;
    for (Value old : op->getOperands()) {
      Value low = operandOf(members[0], old), high = operandOf(members[1], old);
      if (isa<CastOp>(op))
        operands.append({low, high});
      else
        operands.push_back(packVector(t, {low, high}));
    }
    Value pair;
    if (auto cast = dyn_cast<CastOp>(op)) {
      pair = roundPair(b, operands[0], operands[1], cast.getTo());
    } else {
      OperationState state(op->getLoc(), op->getName());
      state.addOperands(operands);
      state.addTypes(VectorType::get({2}, type));
      Operation *packed = b.create(state);
      auto contractable = dyn_cast<arith::ArithFastMathInterface>(packed);
      if (contractable && t.function->hasAttr("tile.fast_math"))
        packed->setAttr(
            contractable.getFastMathAttrName(),
            arith::FastMathFlagsAttr::get(op->getContext(), arith::FastMathFlags::contract));
      pair = packed->getResult(0);
    }
    for (int64_t half : {0, 1}) {
      t.iteration = members[half];
      t.define(op->getResult(0), elementOf(t, pair, half));
    }
  }
  if (members.empty())
    return success();
  t.iteration = members[0];
  return lowerOp(t, op);
}

} // namespace tilewright::nvptx
