//===- Services.cpp - calls of the runtime from compiled code ---------------------------------===//

#include "Services.h"
#include "Numbers.h"
#include "tilewright/Support/HostAbi.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

static_assert(offsetof(host::Services, launch) == 0 && offsetof(host::Services, allocate) == 8 &&
                  offsetof(host::Services, allocateInBlock) == 16 &&
                  offsetof(host::Services, fail) == 24 && offsetof(host::Services, print) == 32 &&
                  offsetof(host::Services, lockRow) == 40 &&
                  offsetof(host::Services, unlockRow) == 48 && offsetof(host::Services, poll) == 56,
              "compiled code reaches the services by their positions");

Value Texts::make(ImplicitLocOpBuilder &b, StringRef text) {
  std::string name = prefix + ".text" + std::to_string(count++);
  auto type = LLVM::LLVMArrayType::get(b.getI8Type(), text.size());
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    LLVM::GlobalOp::create(b, type, /*isConstant=*/true, LLVM::Linkage::Internal, name,
                           b.getStringAttr(text));
  }
  return LLVM::AddressOfOp::create(b, LLVM::LLVMPointerType::get(b.getContext()), name);
}

/// The function pointer at a position of the services.
static Value loadService(ImplicitLocOpBuilder &b, Value services, Service member) {
  Type pointer = services.getType();
  Value address = LLVM::GEPOp::create(b, pointer, pointer, services,
                                      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(member)});
  return LLVM::LoadOp::create(b, pointer, address, /*alignment=*/8);
}

static LLVM::CallOp callMember(ImplicitLocOpBuilder &b, Value services, Service member, Type result,
                               ArrayRef<Value> operands) {
  SmallVector<Value> all{loadService(b, services, member), services};
  all.append(operands.begin(), operands.end());
  SmallVector<Type> types;
  for (Value operand : ArrayRef(all).drop_front())
    types.push_back(operand.getType());
  return LLVM::CallOp::create(b, LLVM::LLVMFunctionType::get(result, types), all);
}

void Services::call(Service member, ArrayRef<Value> operands) {
  callMember(b, table, member, LLVM::LLVMVoidType::get(b.getContext()), operands);
}

/// Tells LLVM that the call touches nothing it knows of, so that tiles stay in registers across it.
void Services::poll() {
  LLVM::CallOp call =
      callMember(b, table, Service::Poll, LLVM::LLVMVoidType::get(b.getContext()), {});
  constexpr LLVM::ModRefInfo none = LLVM::ModRefInfo::NoModRef;
  call.setMemoryEffectsAttr(LLVM::MemoryEffectsAttr::get(
      b.getContext(), none, none, LLVM::ModRefInfo::ModRef, none, none, none));
}

Value Services::allocate(Value bytes) {
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  return callMember(b, table, Service::Allocate, pointer, {bytes}).getResult();
}

Value Services::allocateInBlock(Value bytes) {
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  Value number = Numbers(b).integer(b.getI64Type(), numAllocations++);
  return callMember(b, table, Service::AllocateInBlock, pointer, {number, bytes}).getResult();
}

void Services::fail(StringRef message, Value named) {
  auto nonEmpty = [](StringRef text) { return text.empty() ? " " : text; }; // to have an address
  auto number = [&](int64_t value) { return Numbers(b).integer(b.getI64Type(), value); };
  auto position = b.getLoc()->findInstanceOf<FileLineColLoc>();
  StringRef text = nonEmpty(message),
            file = nonEmpty(position ? position.getFilename().strref() : "");
  call(Service::Fail, {makeText(text), number(text.size()), makeText(file), number(file.size()),
                       number(position ? position.getLine() : 0),
                       number(position ? position.getColumn() : 0), named ? named : number(0)});
}
