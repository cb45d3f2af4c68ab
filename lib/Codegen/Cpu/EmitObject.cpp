//===- EmitObject.cpp - from lowered MLIR to object code --------------------------------------===//
//
//   the LLVM dialect ──▶ LLVM IR ──▶ O3 for the host ──▶ object
//
//===----------------------------------------------------------------------------------------===//

#include "tilewright/Codegen/Cpu/HostCode.h"
#include "tilewright/Codegen/SplitBlocks.h"
#include "tilewright/Tile/InternalError.h"

#include "Objects.h"
#include "SplitFunctions.h"
#include "SplitMaskedStores.h"
#include "UseScalef.h"
#include "tilewright/Support/Guarded.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include <mutex>

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
tilewright::cpu::makeTargetMachine(const HostTarget &target) {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
  llvm::Triple triple(llvm::sys::getProcessTriple());
  std::string error;
  const llvm::Target *found = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!found)
    return llvm::createStringError(error);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard; // only where the code permits contraction
  std::unique_ptr<llvm::TargetMachine> machine(
      found->createTargetMachine(triple, target.cpu, target.features, options, llvm::Reloc::PIC_,
                                 llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default));
  if (!machine)
    return llvm::createStringError("LLVM has no code generator for " + triple.str());
  return machine;
}

//===----------------------------------------------------------------------------------------===//
// Phases
//===----------------------------------------------------------------------------------------===//

void tilewright::cpu::loadHostDialects(MLIRContext &context) {
  DialectRegistry registry;
  registry.insert<LLVM::LLVMDialect, vector::VectorDialect, cf::ControlFlowDialect,
                  math::MathDialect, scf::SCFDialect, arith::ArithDialect, func::FuncDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
}

/// What is said of a loop travels as an attribute of its ops; only the branch's own is translated.
static void annotateBranches(ModuleOp module) {
  module.walk([](Operation *op) {
    StringRef name = "llvm.loop_annotation";
    auto annotation = op->getAttrOfType<LLVM::LoopAnnotationAttr>(name);
    if (!annotation)
      return;
    op->removeAttr(name);
    if (auto branch = dyn_cast<LLVM::BrOp>(op))
      branch.setLoopAnnotationAttr(annotation);
    else if (auto branch = dyn_cast<LLVM::CondBrOp>(op))
      branch.setLoopAnnotationAttr(annotation);
  });
}

static void optimize(llvm::Module &module, llvm::TargetMachine &machine, bool hasAvx512) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = true;
  tuning.SLPVectorization = true;
  llvm::PassInstrumentationCallbacks callbacks;
  skipIfAbandoned(callbacks);
  llvm::PassBuilder builder(&machine, tuning, std::nullopt, &callbacks);
  builder.registerPipelineStartEPCallback(
      [](llvm::ModulePassManager &passes, auto) { passes.addPass(SplitFunctionsPass()); });
  if (hasAvx512)
    builder.registerOptimizerLastEPCallback([](llvm::ModulePassManager &passes, auto, auto) {
      llvm::FunctionPassManager last;
      last.addPass(UseScalefPass());
      last.addPass(SplitMaskedStoresPass());
      passes.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(last)));
    });
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(module, modules);
}

llvm::Expected<llvm::SmallVector<char, 0>> tilewright::cpu::emit(llvm::Module &module,
                                                                 llvm::TargetMachine &machine,
                                                                 llvm::CodeGenFileType type) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream os(bytes);
  CodegenPasses passes;
  if (machine.addPassesToEmitFile(passes, os, nullptr, type))
    return llvm::createStringError("LLVM cannot emit this kind of file for the host");
  passes.run(module);
  return bytes;
}

namespace {
/// Notes how long each phase takes, and shows what it leaves.
class PhaseRecorder {
public:
  PhaseRecorder(const CompileOptions &options, std::vector<PhaseTime> *phases)
      : options(options), phases(phases) {}

  void finish(StringRef name) {
    if (phases)
      phases->push_back(clock.finish(name.str()));
  }

  /// Text for the curious is not part of the next phase.
  void restart() { clock.restart(); }

  template <typename IrT> void show(StringRef phase, const IrT &ir) {
    if (!options.dump)
      return;
    std::string text;
    llvm::raw_string_ostream os(text);
    ir->print(os, nullptr);
    options.dump(phase, text);
  }

  const CompileOptions &options;

private:
  std::vector<PhaseTime> *phases;
  PhaseClock clock;
};
} // namespace

char CompileError::ID = 0;

ErrorCollector::ErrorCollector(MLIRContext *context)
    : handler(context, [this](Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
          return success();
        auto position = dyn_cast<FileLineColLoc>(diagnostic.getLocation());
        if (!error->message.empty())
          error->message += "\n";
        else if (position)
          error->file = position.getFilename().str(), error->line = position.getLine(),
          error->column = position.getColumn();
        std::optional<std::string> internal = getInternalError(diagnostic);
        error->isInternal |= internal.has_value();
        error->message += internal ? *internal : diagnostic.str();
        return success();
      }) {}

llvm::Error ErrorCollector::takeError(StringRef fallback) {
  if (error->message.empty()) {
    error->message = fallback.str();
    error->isInternal = true;
  }
  return llvm::Error(std::move(error));
}

void CompileError::log(llvm::raw_ostream &os) const {
  if (line)
    os << file << ":" << line << ": error: ";
  os << (isInternal ? "internal error: " : "") << message;
}

llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
tilewright::cpu::emitObject(ModuleOp host, const CompileOptions &options,
                            std::vector<PhaseTime> *phases) {
  PhaseRecorder recorder(options, phases);
  ErrorCollector errors(host.getContext());
  annotateBranches(host);
  llvm::Expected<std::unique_ptr<llvm::TargetMachine>> machine = makeTargetMachine(options.target);
  if (!machine)
    return machine.takeError();
  llvm::LLVMContext context;
  context.setDiagnosticHandlerCallBack(stopGuardedOnError);
  std::unique_ptr<llvm::Module> ir = translateModuleToLLVMIR(host, context, "tilewright");
  if (!ir)
    return errors.takeError("the lowered program does not translate");
  ir->setTargetTriple((*machine)->getTargetTriple());
  ir->setDataLayout((*machine)->createDataLayout());
  recorder.finish("translate");
  optimize(*ir, **machine, options.target.vectorWidth >= 16);
  recorder.finish("optimise");
  if (isAbandoned())
    return llvm::createStringError("abandoned");
  recorder.show("llvm", ir);
  if (options.dump) {
    std::unique_ptr<llvm::Module> copy = llvm::CloneModule(*ir);
    auto text = emit(*copy, **machine, llvm::CodeGenFileType::AssemblyFile);
    if (!text)
      return text.takeError();
    options.dump("asm", StringRef(text->data(), text->size()));
    recorder.restart();
  }
  auto bytes = emit(*ir, **machine, llvm::CodeGenFileType::ObjectFile);
  if (!bytes)
    return bytes.takeError();
  recorder.finish("generate code");
  return std::make_unique<llvm::SmallVectorMemoryBuffer>(std::move(*bytes), "tilewright.o",
                                                         /*RequiresNullTerminator=*/false);
}
