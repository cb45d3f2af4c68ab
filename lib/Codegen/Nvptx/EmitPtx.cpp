//===- EmitPtx.cpp - the code of a thread to PTX text, in process ----------------------------===//

#include "EmitSteps.h"
#include "tilewright/Codegen/Nvptx/Ptx.h"
#include "tilewright/Support/Guarded.h"
#include "tilewright/Tile/InternalError.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include <mutex>

using namespace mlir;

namespace tilewright::nvptx {

void registerDialects(DialectRegistry &registry) {
  registry.insert<LLVM::LLVMDialect, NVVM::NVVMDialect, cf::ControlFlowDialect, scf::SCFDialect,
                  math::MathDialect, arith::ArithDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
}

namespace {

const llvm::Target *findTarget(std::string &error) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  return llvm::TargetRegistry::lookupTarget(llvm::Triple("nvptx64-nvidia-cuda"), error);
}

/// NVPTX has no library to call: code generation would end the process on these.
LogicalResult refuseLibraryCalls(ModuleOp module, llvm::Module &llvmModule) {
  for (llvm::Function &function : llvmModule)
    switch (function.getIntrinsicID()) {
    case llvm::Intrinsic::exp:
    case llvm::Intrinsic::exp10:
    case llvm::Intrinsic::log:
    case llvm::Intrinsic::log2:
    case llvm::Intrinsic::log10:
    case llvm::Intrinsic::pow:
    case llvm::Intrinsic::powi:
    case llvm::Intrinsic::tan:
    case llvm::Intrinsic::atan:
    case llvm::Intrinsic::atan2:
    case llvm::Intrinsic::sinh:
    case llvm::Intrinsic::cosh:
      return module.emitError() << "'" << function.getName() << "' is not supported on the GPU yet";
    default:
      break;
    }
  return success();
}

} // namespace

FailureOr<std::string> emitPtx(ModuleOp module, const Arch &arch, const StageObserver &observer) {
  std::string error;
  const llvm::Target *target = findTarget(error);
  if (!target)
    return emitInternalError(module) << error;
  llvm::TargetOptions targetOptions;
  // Strict: mul and add carry .rn, so that ptxas cannot fuse them. What may be contracted says so
  // itself.
  targetOptions.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  llvm::Triple triple("nvptx64-nvidia-cuda");
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      triple, arch.name, arch.ptxFeatures, targetOptions, llvm::Reloc::PIC_, std::nullopt,
      llvm::CodeGenOptLevel::Default)); // ptxas schedules and allocates again
  llvm::LLVMContext context;
  context.setDiagnosticHandlerCallBack(stopGuardedOnError);
  std::unique_ptr<llvm::Module> llvmModule = translateModuleToLLVMIR(
      module, context, "tilewright", /*disableVerification=*/!kVerifiesCode);
  if (!llvmModule)
    return failure();
  llvmModule->setTargetTriple(triple);
  llvmModule->setDataLayout(machine->createDataLayout());
  if (llvm::Error linking = linkDeviceMath(*llvmModule))
    return emitInternalError(module) << llvm::toString(std::move(linking));
  optimise(*llvmModule, *machine);
  if (failed(refuseLibraryCalls(module, *llvmModule)))
    return failure();
  if (observer)
    observer("llvm", [&](llvm::raw_ostream &os) { llvmModule->print(os, nullptr); });
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream os(text);
  if (!generateCode(*llvmModule, *machine, os))
    return emitInternalError(module) << "the target cannot emit text";
  return std::string(text);
}

} // namespace tilewright::nvptx
