//===- EmitInterface.cpp - the functions of an exported library's header ----------------------===//
//
//   int32_t gemm(const DLTensor *A, …, float scale, void *stream, tw_error *error) {
//     tw_value values[] = {{TW_TENSOR, A}, …, {TW_REAL, scale}};
//     return tw_call(&gemm_library, 0, values, 4, stream, error);
//   }
//
// It could be a file in C; written as IR, an export needs no compiler of C.
//
//===----------------------------------------------------------------------------------------===//

#include "Objects.h"
#include "tilewright/runtime.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"

using namespace llvm;
using namespace tilewright;
using namespace tilewright::cpu;

namespace {

using Parameter = LibraryFunction::Parameter;

class InterfaceBuilder {
public:
  InterfaceBuilder(Module &module, const LibraryInterface &library)
      : module(module), library(library), b(module.getContext()), pointer(b.getPtrTy()) {}
  void run();

private:
  void defineLibrary();
  void defineFunction(unsigned number, const LibraryFunction &function);
  Type *getType(Parameter parameter);
  /// The kind of a value and its 8 bytes.
  std::pair<tw_kind, Value *> pack(Parameter parameter, Value *value);
  Constant *addText(StringRef text, const Twine &name);

  Module &module;
  const LibraryInterface &library;
  IRBuilder<> b;
  PointerType *pointer;
  GlobalVariable *object = nullptr;
};

} // namespace

Constant *InterfaceBuilder::addText(StringRef text, const Twine &name) {
  Constant *data = ConstantDataArray::getString(module.getContext(), text);
  return new GlobalVariable(module, data->getType(), /*isConstant=*/true,
                            GlobalValue::PrivateLinkage, data, name);
}

/// The order of the fields is tw_library's.
void InterfaceBuilder::defineLibrary() {
  SmallVector<Constant *> entries;
  auto *entryType = FunctionType::get(b.getVoidTy(), {pointer, pointer}, false);
  for (const std::string &name : library.entries)
    entries.push_back(Function::Create(entryType, GlobalValue::ExternalLinkage, name, module));
  auto *tableType = ArrayType::get(pointer, entries.size());
  auto *table = new GlobalVariable(module, tableType, true, GlobalValue::PrivateLinkage,
                                   ConstantArray::get(tableType, entries), "entries");
  auto *image = cast<GlobalVariable>(addText(library.image, "image"));
  image->setAlignment(Align(8));
  Constant *fields[] = {b.getInt32(TW_ABI_VERSION),       b.getInt32(entries.size()),
                        addText(library.name, "name"),    image,
                        b.getInt64(library.image.size()), table,
                        ConstantPointerNull::get(pointer)};
  Constant *value = ConstantStruct::getAnon(fields);
  object = new GlobalVariable(module, value->getType(), /*isConstant=*/false,
                              GlobalValue::ExternalLinkage, value, library.name + "_library");
}

Type *InterfaceBuilder::getType(Parameter parameter) {
  switch (parameter) {
  case Parameter::Tensor:
    return pointer;
  case Parameter::Bool:
  case Parameter::Int8:
  case Parameter::UInt8:
    return b.getInt8Ty();
  case Parameter::Int16:
  case Parameter::UInt16:
    return b.getInt16Ty();
  case Parameter::Int32:
  case Parameter::UInt32:
    return b.getInt32Ty();
  case Parameter::Int64:
  case Parameter::UInt64:
    return b.getInt64Ty();
  case Parameter::Float:
    return b.getFloatTy();
  case Parameter::Double:
    return b.getDoubleTy();
  }
  llvm_unreachable("unknown kind of parameter");
}

std::pair<tw_kind, Value *> InterfaceBuilder::pack(Parameter parameter, Value *value) {
  Type *word = b.getInt64Ty();
  switch (parameter) {
  case Parameter::Tensor:
    return {TW_TENSOR, value};
  case Parameter::Bool:
    return {TW_BOOL, b.CreateZExt(b.CreateICmpNE(value, b.getInt8(0)), word)};
  case Parameter::Int8:
  case Parameter::Int16:
  case Parameter::Int32:
  case Parameter::Int64:
    return {TW_INT, b.CreateSExtOrTrunc(value, word)};
  case Parameter::UInt8:
  case Parameter::UInt16:
  case Parameter::UInt32:
  case Parameter::UInt64:
    return {TW_UINT, b.CreateZExtOrTrunc(value, word)};
  case Parameter::Float:
  case Parameter::Double:
    return {TW_REAL, b.CreateFPExt(value, b.getDoubleTy())};
  }
  llvm_unreachable("unknown kind of parameter");
}

void InterfaceBuilder::defineFunction(unsigned number, const LibraryFunction &function) {
  SmallVector<Type *> types;
  for (Parameter parameter : function.parameters)
    types.push_back(getType(parameter));
  types.append({pointer, pointer}); // the stream and the error
  auto *made = Function::Create(FunctionType::get(b.getInt32Ty(), types, false),
                                GlobalValue::ExternalLinkage, function.name, module);
  made->addFnAttr(Attribute::NoUnwind);
  made->setUWTableKind(UWTableKind::Default);
  b.SetInsertPoint(BasicBlock::Create(module.getContext(), "", made));
  unsigned count = function.parameters.size();
  auto *valueType = StructType::get(b.getInt64Ty(), b.getInt64Ty()); // tw_value
  Value *values = b.CreateAlloca(ArrayType::get(valueType, std::max(count, 1u)));
  for (auto [position, parameter] : enumerate(function.parameters)) {
    auto [kind, bits] = pack(parameter, made->getArg(position));
    Value *slot = b.CreateConstInBoundsGEP1_64(valueType, values, position);
    b.CreateStore(b.getInt64(kind), slot);
    b.CreateStore(bits, b.CreateConstInBoundsGEP1_64(b.getInt64Ty(), slot, 1));
  }
  FunctionCallee call = module.getOrInsertFunction(
      "tw_call", FunctionType::get(
                     b.getInt32Ty(),
                     {pointer, b.getInt32Ty(), pointer, b.getInt32Ty(), pointer, pointer}, false));
  b.CreateRet(b.CreateCall(call, {object, b.getInt32(number), values, b.getInt32(count),
                                  made->getArg(count), made->getArg(count + 1)}));
}

void InterfaceBuilder::run() {
  defineLibrary();
  for (auto [number, function] : enumerate(library.functions))
    defineFunction(number, function);
}

Expected<std::unique_ptr<MemoryBuffer>>
tilewright::cpu::emitInterface(const LibraryInterface &library) {
  HostTarget target;
  target.cpu = "x86-64"; // any: it tells the caller if there is no code for it
  Expected<std::unique_ptr<TargetMachine>> machine = makeTargetMachine(target);
  if (!machine)
    return machine.takeError();
  LLVMContext context;
  Module module(library.name, context);
  module.setTargetTriple((*machine)->getTargetTriple());
  module.setDataLayout((*machine)->createDataLayout());
  InterfaceBuilder(module, library).run();
  auto bytes = emit(module, **machine, CodeGenFileType::ObjectFile);
  if (!bytes)
    return bytes.takeError();
  return std::make_unique<SmallVectorMemoryBuffer>(std::move(*bytes), library.name + ".o",
                                                   /*RequiresNullTerminator=*/false);
}
