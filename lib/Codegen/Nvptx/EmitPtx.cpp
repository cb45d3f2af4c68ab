//===- EmitPtx.cpp - the code of a thread to PTX text, in process ----------------------------===//

#include "EmitSteps.h"
#include "tilewright/Codegen/Nvptx/Ptx.h"
#include "tilewright/Support/Guarded.h"
#include "tilewright/Tile/InternalError.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
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

/// Everything that is not yet LLVM's, in one conversion: each would look at all of the code.
struct ConvertToLlvmPass : PassWrapper<ConvertToLlvmPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ConvertToLlvmPass)

  StringRef getArgument() const override { return "tw-convert-to-llvm"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<LLVM::LLVMDialect>();
  }
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    LLVMTypeConverter types(context);
    RewritePatternSet patterns(context);
    arith::populateArithToLLVMConversionPatterns(types, patterns);
    cf::populateControlFlowToLLVMConversionPatterns(types, patterns);
    populateMathToLLVMConversionPatterns(types, patterns);
    populateNVVMToLLVMConversionPatterns(patterns);
    LLVMConversionTarget target(*context);
    target.addIllegalDialect<arith::ArithDialect, cf::ControlFlowDialect, math::MathDialect>();
    if (failed(applyPartialConversion(getOperation(), target, std::move(patterns))))
      signalPassFailure();
  }
};

/// Whether each step's result is verified: a third of the lowering's time, so only in builds with
/// assertions.
#ifdef NDEBUG
constexpr bool kVerify = false;
#else
constexpr bool kVerify = true;
#endif

/// Functions and tables stand where a macro wrote them, without the lines of its callers: MLIR looks
/// for the function around whatever was inlined, and faults if there is none.
void dropCallers(ModuleOp module) {
  for (Operation &op : *module.getBody())
    while (auto inlined = dyn_cast<CallSiteLoc>(op.getLoc()))
      op.setLoc(inlined.getCallee());
}

LogicalResult lowerToLlvmDialect(ModuleOp module, bool fastMath) {
  dropCallers(module);
  PassManager pm(module.getContext());
  pm.enableVerifier(kVerify);
  pm.addPass(createLowerMathPass(fastMath));
  pm.addPass(createCSEPass());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(std::make_unique<ConvertToLlvmPass>());
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
  std::unique_ptr<llvm::Module> llvmModule =
      translateModuleToLLVMIR(module, context, "tilewright", /*disableVerification=*/!kVerify);
  if (!llvmModule)
    return failure();
  llvmModule->setTargetTriple(triple);
  llvmModule->setDataLayout(machine->createDataLayout());
  if (llvm::Error linking = linkDeviceMath(*llvmModule))
    return emitInternalError(module) << llvm::toString(std::move(linking));
  optimise(*llvmModule, *machine);
  if (failed(refuseLibraryCalls(module, *llvmModule)))
    return failure();
  if (options.observer)
    options.observer("llvm", [&](llvm::raw_ostream &os) { llvmModule->print(os, nullptr); });
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream os(text);
  if (!generateCode(*llvmModule, *machine, os))
    return emitInternalError(module) << "the target cannot emit text";
  return std::string(text);
}

} // namespace tilewright::nvptx
