//===- LinkDeviceMath.cpp - bodies for the functions of the device library --------------------===//

#include "EmitSteps.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/AttributeMask.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"

using namespace llvm;

namespace tilewright::nvptx {

/// DeviceMath.cpp as LLVM bitcode.
static constexpr unsigned char kBitcode[] = {
#include "DeviceMath.inc"
};
static constexpr StringLiteral kPrefix = "__tw_";

/// The library is compiled for no architecture in particular; its functions must not say otherwise,
/// or they would not be inlined.
static void adopt(Function &function) {
  AttributeMask compilerOptions;
  for (Attribute attribute : function.getAttributes().getFnAttrs())
    if (attribute.isStringAttribute())
      compilerOptions.addAttribute(attribute.getKindAsString());
  function.removeFnAttrs(compilerOptions);
  function.setLinkage(GlobalValue::InternalLinkage);
  if (function.getName().starts_with(kPrefix))
    function.addFnAttr(Attribute::AlwaysInline);
}

Error linkDeviceMath(Module &module) {
  SmallVector<StringRef> before;
  bool isNeeded = false;
  for (Function &function : module) {
    isNeeded |= function.isDeclaration() && function.getName().starts_with(kPrefix);
    if (!function.isDeclaration())
      before.push_back(function.getName());
  }
  if (!isNeeded)
    return Error::success();
  MemoryBufferRef buffer(StringRef(reinterpret_cast<const char *>(kBitcode), std::size(kBitcode)),
                         "DeviceMath.bc");
  Expected<std::unique_ptr<Module>> library = getLazyBitcodeModule(buffer, module.getContext());
  if (!library)
    return library.takeError();
  (*library)->setTargetTriple(module.getTargetTriple());
  (*library)->setDataLayout(module.getDataLayout());
  if (Linker::linkModules(module, std::move(*library), Linker::LinkOnlyNeeded))
    return createStringError("the device library does not link");
  for (Function &function : module)
    if (!function.isDeclaration() && !is_contained(before, function.getName()))
      adopt(function);
  return Error::success();
}

} // namespace tilewright::nvptx
