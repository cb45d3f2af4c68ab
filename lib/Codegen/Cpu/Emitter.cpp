//===- Emitter.cpp - builds a host function from tile IR --------------------------------------===//

#include "Emitter.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

Emitter::Emitter(HostProgram &program, LLVM::LLVMFuncOp function, Location loc, Value services,
                 Value arena, int64_t arenaBytes)
    : program(program), options(program.options), b(loc, program.target.getContext()), numbers(b),
      services(b, services, program.texts), buffers(*this, arena, arenaBytes),
      entry(&function.front()) {
  b.setInsertionPointToStart(entry);
}

void Emitter::refuse(Operation *op, const Twine &why) {
  op->emitError() << why.str();
  program.hasFailed = true;
}

Value Emitter::asIndex(OpFoldResult value) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return index(*constant);
  return lookup(cast<Value>(value));
}

Value Emitter::allocaAtEntry(Type type, int64_t count) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(entry);
  return LLVM::AllocaOp::create(b, LLVM::LLVMPointerType::get(b.getContext()), type,
                                numbers.integer(b.getI64Type(), count), /*alignment=*/8);
}

Value Emitter::offsetPointer(Value pointer, Type element, Value offset) {
  if (isa<IndexType>(offset.getType()))
    offset = toI64(offset);
  return LLVM::GEPOp::create(b, pointer.getType(), element, pointer, ArrayRef<LLVM::GEPArg>{offset},
                             LLVM::GEPNoWrapFlags::inbounds);
}

Value Emitter::bothTrue(Value lhs, Value rhs) {
  if (!lhs || !rhs)
    return lhs ? lhs : rhs;
  return b.createOrFold<arith::AndIOp>(lhs, rhs);
}

void Emitter::ifTrue(Value condition, llvm::function_ref<void()> body) {
  if (!condition)
    return body();
  auto branch = scf::IfOp::create(b, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  body();
}
