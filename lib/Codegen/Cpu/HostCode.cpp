//===- HostCode.cpp - links object code into the process --------------------------------------===//

#include "tilewright/Codegen/Cpu/HostCode.h"
#include "Numbers.h"

#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/TargetSelect.h"

using namespace tilewright;
using namespace tilewright::cpu;

struct HostCode::Linker {
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

HostCode::HostCode(std::unique_ptr<Linker> linker) : linker(std::move(linker)) {}
HostCode::~HostCode() = default;

llvm::Expected<std::unique_ptr<HostCode>>
HostCode::link(std::unique_ptr<llvm::MemoryBuffer> object) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  llvm::Expected<std::unique_ptr<llvm::orc::LLJIT>> jit = llvm::orc::LLJITBuilder().create();
  if (!jit)
    return jit.takeError();
  // libm and the few helpers; other symbols of the process are not for compiled code.
  llvm::orc::JITDylib &library = (*jit)->getMainJITDylib();
  llvm::orc::SymbolMap helpers;
  for (const HelperFunction &helper : getHelperFunctions())
    helpers[(*jit)->mangleAndIntern(helper.name)] = {
        llvm::orc::ExecutorAddr::fromPtr(helper.address), llvm::JITSymbolFlags::Exported};
  if (llvm::Error error = library.define(llvm::orc::absoluteSymbols(std::move(helpers))))
    return error;
  if (llvm::Error error = (*jit)->addObjectFile(std::move(object)))
    return error;
  auto linker = std::make_unique<Linker>();
  linker->jit = std::move(*jit);
  return std::unique_ptr<HostCode>(new HostCode(std::move(linker)));
}

llvm::Expected<host::Entry> HostCode::lookup(llvm::StringRef name) const {
  llvm::Expected<llvm::orc::ExecutorAddr> address = linker->jit->lookup(getEntryName(name));
  if (!address)
    return address.takeError();
  return address->toPtr<host::Entry>();
}
