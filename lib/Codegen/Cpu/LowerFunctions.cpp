//===- LowerFunctions.cpp - functions of floats and bits --------------------------------------===//
//
// Functions are evaluated in the carrier type and rounded once to the element type. Those without
// code of their own are libm's, whose float32 versions are within 1 ulp.
//
//===----------------------------------------------------------------------------------------===//

#include "Lowering.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

Value Lowering::lowerFunctionOp(Operation &op) {
  SmallVector<Value> operands = lookupAll(op.getOperands());
  Type type = op.getResult(0).getType(), carrier = getCarrierType(type);
  if (isa<math::IPowIOp>(op)) {
    Type wide = b.getI64Type();
    Value base = numbers.convert(operands[0], type, wide);
    Value exponent = numbers.convert(operands[1], type, wide);
    return numbers.convert(numbers.call(kIntegerPower, wide, {base, exponent}), wide, type);
  }
  if (isa<math::FPowIOp>(op)) {
    Value exponent = numbers.convert(operands[1], op.getOperand(1).getType(), carrier);
    return numbers.round(math::PowFOp::create(b, operands[0], exponent), type);
  }
  OperationState state(b.getLoc(), op.getName());
  state.addOperands(operands);
  state.addTypes(carrier);
  Value result = b.create(state)->getResult(0);
  return isa<FloatType>(type) ? numbers.round(result, type) : result;
}
