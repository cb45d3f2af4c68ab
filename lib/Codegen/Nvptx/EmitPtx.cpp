//===- EmitPtx.cpp - the code of a thread to PTX text, in process ----------------------------===//

#include "EmitSteps.h"
#include "tilewright/Codegen/Nvptx/Ptx.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/IPO/SCCP.h"
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

LogicalResult lowerToLlvmDialect(ModuleOp module, bool fastMath) {
  PassManager pm(module.getContext());
#ifdef NDEBUG
  pm.enableVerifier(false); // a third of this step; builds with assertions verify
#endif
  pm.addPass(createLowerMathPass(fastMath));
  pm.addPass(createCSEPass());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createConvertNVVMToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  // .file and .loc lines, and no other debug information: it would change what ptxas optimises.
  pm.addPass(LLVM::createDIScopeForLLVMFuncOpPass(
      {/*emissionKind=*/LLVM::DIEmissionKind::DebugDirectivesOnly}));
  return pm.run(module);
}

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

/// O3 for functions. A module is one kernel and what it calls, so all is inlined and the passes
/// over modules are left out; vectors are left out because the access planner alone picks widths.
void optimise(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager lam;
  llvm::FunctionAnalysisManager fam;
  llvm::CGSCCAnalysisManager cgam;
  llvm::ModuleAnalysisManager mam;
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = tuning.LoopInterleaving = tuning.SLPVectorization = false;
  llvm::PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(mam);
  builder.registerCGSCCAnalyses(cgam);
  builder.registerFunctionAnalyses(fam);
  builder.registerLoopAnalyses(lam);
  builder.crossRegisterProxies(lam, fam, cgam, mam);
  llvm::FunctionPassManager functions = builder.buildFunctionSimplificationPipeline(
      llvm::OptimizationLevel::O3, llvm::ThinOrFullLTOPhase::None);
  functions.addPass(NarrowComparesPass());
  llvm::ModulePassManager passes;
  passes.addPass(llvm::AlwaysInlinerPass(/*InsertLifetime=*/false));
  passes.addPass(llvm::GlobalDCEPass());
  passes.addPass(llvm::IPSCCPPass());
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(functions)));
  passes.run(module, mam);
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

FailureOr<std::string> emitPtx(ModuleOp module, const Arch &arch, const EmitOptions &options) {
  if (failed(lowerToLlvmDialect(module, options.fastMath)))
    return failure();
  if (options.observer)
    options.observer("nvvm", [&](llvm::raw_ostream &os) { module.print(os); });
  std::string error;
  const llvm::Target *target = findTarget(error);
  if (!target)
    return module.emitError() << "internal error: " << error;
  llvm::TargetOptions targetOptions;
  // Strict: mul and add carry .rn, so that ptxas cannot fuse them. What may be contracted says so
  // itself.
  targetOptions.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  llvm::Triple triple("nvptx64-nvidia-cuda");
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      triple, arch.name, arch.ptxFeatures, targetOptions, llvm::Reloc::PIC_, std::nullopt,
      llvm::CodeGenOptLevel::Default)); // ptxas schedules and allocates again
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> llvmModule = translateModuleToLLVMIR(module, context, "tilewright");
  if (!llvmModule)
    return failure();
  llvmModule->setTargetTriple(triple);
  llvmModule->setDataLayout(machine->createDataLayout());
  if (llvm::Error linking = linkDeviceMath(*llvmModule))
    return module.emitError() << "internal error: " << llvm::toString(std::move(linking));
  optimise(*llvmModule, *machine);
  if (failed(refuseLibraryCalls(module, *llvmModule)))
    return failure();
  if (options.observer)
    options.observer("llvm", [&](llvm::raw_ostream &os) { llvmModule->print(os, nullptr); });
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream os(text);
  llvm::legacy::PassManager codegen;
  if (machine->addPassesToEmitFile(codegen, os, nullptr, llvm::CodeGenFileType::AssemblyFile))
    return module.emitError() << "internal error: the target cannot emit text";
  codegen.run(*llvmModule);
  return std::string(text);
}

} // namespace tilewright::nvptx
