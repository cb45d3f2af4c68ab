//===- Emitter.cpp - constants, index arithmetic and guards of a thread's code ---------------===//

#include "Emitter.h"

using namespace mlir;

namespace tilewright::nvptx {

Value Emitter::i64(Value indexValue) {
  return arith::IndexCastOp::create(b, b.getI64Type(), indexValue);
}

Value Emitter::constant(TypedAttr value) {
  Value &known = constants[value];
  if (!known) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&thread.front());
    known = arith::ConstantOp::create(b, value);
  }
  return known;
}

Value Emitter::floorDivConstant(Value lhs, int64_t rhs) {
  if (llvm::isPowerOf2_64(rhs))
    return b.createOrFold<arith::ShRSIOp>(lhs, index(llvm::Log2_64(rhs)));
  return b.createOrFold<arith::FloorDivSIOp>(lhs, index(rhs));
}

Value Emitter::floorModConstant(Value lhs, int64_t rhs) {
  if (llvm::isPowerOf2_64(rhs))
    return b.createOrFold<arith::AndIOp>(lhs, index(rhs - 1));
  Value product = b.createOrFold<arith::MulIOp>(floorDivConstant(lhs, rhs), index(rhs));
  return b.createOrFold<arith::SubIOp>(lhs, product);
}

Value Emitter::evaluate(const IndexExpr &expr, ArrayRef<Value> dims) {
  using K = IndexExpr::Kind;
  switch (expr.getKind()) {
  case K::Constant:
    return index(*expr.getConstant());
  case K::Dim:
    return dims[expr.getPosition()];
  case K::Symbol:
    llvm_unreachable("symbols were substituted");
  default:
    break;
  }
  Value lhs = evaluate(expr.getLhs(), dims);
  std::optional<int64_t> constant = expr.getRhs().getConstant();
  if (expr.getKind() == K::FloorDiv && constant && *constant > 0)
    return floorDivConstant(lhs, *constant);
  if (expr.getKind() == K::Mod && constant && *constant > 0)
    return floorModConstant(lhs, *constant);
  Value rhs = evaluate(expr.getRhs(), dims);
  switch (expr.getKind()) {
  case K::Add:
    return b.createOrFold<arith::AddIOp>(lhs, rhs);
  case K::Sub:
    return b.createOrFold<arith::SubIOp>(lhs, rhs);
  case K::Mul:
    return b.createOrFold<arith::MulIOp>(lhs, rhs);
  case K::Xor:
    return b.createOrFold<arith::XOrIOp>(lhs, rhs);
  case K::Min:
    return b.createOrFold<arith::MinSIOp>(lhs, rhs);
  case K::Max:
    return b.createOrFold<arith::MaxSIOp>(lhs, rhs);
  case K::FloorDiv:
  case K::Mod: {
    // By a run-time divisor: x // 0 is 0 and x % 0 is x.
    Value zero = index(0), one = index(1);
    Value isZero = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, rhs, zero);
    Value divisor = arith::SelectOp::create(b, isZero, one, rhs);
    Value quotient = arith::FloorDivSIOp::create(b, lhs, divisor);
    if (expr.getKind() == K::FloorDiv)
      return arith::SelectOp::create(b, isZero, zero, quotient);
    Value rest = arith::SubIOp::create(b, lhs, arith::MulIOp::create(b, quotient, divisor));
    return arith::SelectOp::create(b, isZero, lhs, rest);
  }
  default:
    llvm_unreachable("all kinds of index expressions are handled");
  }
}

Value Emitter::both(Value lhs, Value rhs) {
  if (!lhs || !rhs)
    return lhs ? lhs : rhs;
  return b.createOrFold<arith::AndIOp>(lhs, rhs);
}

void Emitter::guarded(Value condition, llvm::function_ref<void()> body) {
  if (!condition)
    return body();
  auto branch = scf::IfOp::create(b, condition, /*withElse=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&branch.getThenRegion().front());
  body();
}

void Emitter::barrier() {
  if (!meeting) {
    NVVM::Barrier0Op::create(b);
    return;
  }
  // Barrier 0 is that of all threads.
  NVVM::BarrierOp::create(b, TypeRange(), constant(b.getI32IntegerAttr(int32_t(meetingNumber))),
                          constant(b.getI32IntegerAttr(int32_t(meeting))),
                          NVVM::BarrierReductionAttr(), Value());
}

Value Emitter::allocateStack(Type type, int64_t count) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&thread.front());
  Value size = LLVM::ConstantOp::create(b, b.getI32IntegerAttr(1));
  return LLVM::AllocaOp::create(b, LLVM::LLVMPointerType::get(b.getContext()),
                                LLVM::LLVMArrayType::get(type, count), size);
}

} // namespace tilewright::nvptx
