//===- Pipeline.cpp - which passes run in which order ----------------------------------------===//

#include "tilewright/Driver/Pipeline.h"
#include "tilewright/Codegen/Cpu/HostCode.h"
#include "tilewright/Codegen/Cpu/Passes.h"
#include "tilewright/Driver/Description.h"
#include "tilewright/Driver/Reproducer.h"
#include "tilewright/PlanCheck/PlanCheck.h"
#include "tilewright/Support/Guarded.h"
#include "tilewright/Threads/Passes.h"
#include "tilewright/Tile/InternalError.h"
#include "tilewright/Transforms/Passes.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace tilewright::driver {

/// How threads' programs become tile programs: with roles at once, or one after another.
enum class RoleForm { Warps, WarpsOverlapping, Turns };

static void addThreadPasses(OpPassManager &pm, RoleForm form) {
  pm.addPass(createPlaceIterationArrays()); // an iteration's array is a row of a tile
  pm.addPass(createKeepTiles());            // what blocks keep while they meet,
  pm.addPass(createSplitGrid());            // since each part is a launch
  if (form != RoleForm::Turns)              // roles run at once, where barriers order them
    pm.addPass(createAssignRoles(AssignRolesOptions{form == RoleForm::Warps}));
  pm.addPass(createMergeRoles());    // roles that wait for each other take turns,
  pm.addPass(createCountArrivals()); // so that no wait has to block
  pm.addPass(createSpreadThreads()); // what single threads do is a loop over the threads
}

void buildThreadsPipeline(OpPassManager &pm) { addThreadPasses(pm, RoleForm::Turns); }

void buildCheckPipeline(OpPassManager &pm) {
  pm.addPass(createCheckBounds()); // while tiles have the user's extents
  buildThreadsPipeline(pm);
  pm.addPass(createCheckFragments());
  pm.addPass(createCheckParallel());
  pm.addPass(createCheckUnwritten());
  pm.addPass(createCheckBlocks());
}

void buildGpuPipeline(OpPassManager &pm, StringRef arch, const PipelineOptions &options) {
  int64_t alignment = options.calls.argumentAlignment;
  bool disjoint = options.calls.disjointArguments;
  addThreadPasses(pm, disjoint ? RoleForm::Warps : RoleForm::WarpsOverlapping);
  pm.addPass(
      createGuardIndices(GuardIndicesOptions{/*hostPart=*/false})); // index values have 64 bits
  pm.addPass(createGuardTiles());                                   // elements lie in their tile,
  pm.addPass(createGuardBlocks());                                  // and blocks do not race
  pm.addPass(createExpandStatements());    // every element-wise statement is a loop
  pm.addPass(createFlattenLoops());        // none inside another
  pm.addPass(createUnrollFragmentLoops()); // registers have names
  pm.addPass(createShrinkLoops());         // no iteration names what does not exist
  pm.addPass(createStageStores(            // results that TMA takes from shared memory
      StageStoresOptions{arch.str(), alignment, disjoint, options.calls.tensorMaps}));
  // Who holds what, who runs what, and how wide each access is.
  pm.addPass(createInferLayouts(InferLayoutsOptions{arch.str(), alignment}));
  pm.addPass(createPlanAccesses(
      PlanAccessesOptions{arch.str(), alignment, disjoint, options.calls.tensorMaps}));
  pm.addPass(createPlanPipeline(PlanPipelineOptions{disjoint})); // what runs ahead
  pm.addPass(createStartBulk(StartBulkOptions{arch.str()}));     // and what runs on
  if (options.checkPlans)
    pm.addPass(createCheckPlans(CheckPlansOptions{arch.str(), alignment}));
  pm.addPass(createPlanSharedMemory(PlanSharedMemoryOptions{arch.str()}));
  pm.addPass(createSplitRoles()); // copies that wait for their readers get threads of their own
  pm.addPass(createPlanLaunch(PlanLaunchOptions{arch.str()})); // blocks may start together,
  pm.addPass(createShareCopies());                             // and copy for each other;
  pm.addPass(createScheduleProducts()); // products run beside the next iteration,
  pm.addPass(createPeelMasks());        // most of which needs no mask
  pm.addPass(createClearProducts());    // and no zeros to start from
  pm.addPass(createInsertOrderings(InsertOrderingsOptions{disjoint}));
  pm.addPass(createCheckSchedule()); // roles never stop
}

/// What the tiles of a step along k may take. A core that adds few products in a cycle is not slowed
/// down by the sums of short steps: it reads and writes them while it multiplies.
static int64_t getLongStepBytes(const cpu::HostTarget &host) {
  constexpr int64_t fewProducts = 16;
  return host.productsPerCycle > fewProducts ? host.secondCacheBytes / 2 : 0;
}

void buildCpuPipeline(OpPassManager &pm, const cpu::HostTarget &host, const CallFacts &calls) {
  bool disjoint = calls.disjointArguments;
  buildThreadsPipeline(pm);
  pm.addPass(createGuardIndices());       // index values have 64 bits,
  pm.addPass(createGuardBlocks());        // and blocks do not race
  if (disjoint) {                         // else what one statement writes, the next may read
    pm.addPass(createFlattenBranches());  // choices between elements of tiles,
    pm.addPass(createTransposeTiles());   // which may lie better the other way
    pm.addPass(createFuseLoops());        // one loop of statements over the same elements
    pm.addPass(createFuseRowLoops());     // and the chain of them row by row,
    pm.addPass(createForwardRowCopies()); // without a copy of the row
    pm.addPass(createCoarsenLoops(CoarsenLoopsOptions{getLongStepBytes(host)})); // long steps
  }
  // What code generation would otherwise have to find out from other statements.
  pm.addPass(createPlanCpuOperands(PlanCpuOperandsOptions{disjoint, host.vectorWidth,
                                                          host.hasBf16Dots, host.hasInt8Dots,
                                                          host.hasBf16Tiles, host.hasInt8Tiles}));
  pm.addPass(createPlanCpuPrefetches());
  pm.addPass(createPlanCpuAccumulators(PlanCpuAccumulatorsOptions{disjoint}));
  pm.addPass(createPlanCpuRows());
  pm.addPass(createPlanCpuUpdates(PlanCpuUpdatesOptions{disjoint}));
}

void buildThreadCodePipeline(OpPassManager &pm, StringRef arch, const CallFacts &calls) {
  pm.addPass(
      nvptx::createLowerToThreads({arch.str(), calls.argumentAlignment, calls.disjointArguments}));
}

void buildNvvmPipeline(OpPassManager &pm, bool fastMath) {
  pm.addPass(nvptx::createLowerMath({fastMath}));
  pm.addPass(createShareValues());
  // Modules of real programs have less than a hundred loops.
  pm.addPass(createLowerToBlocks(LowerToBlocksOptions{/*rotateFrom=*/96}));
  pm.addPass(nvptx::createConvertToLlvm());
  pm.addPass(createReconcileUnrealizedCastsPass());
  // .file and .loc lines, and no other debug information: it would change what ptxas optimises.
  pm.addPass(LLVM::createDIScopeForLLVMFuncOpPass(
      {/*emissionKind=*/LLVM::DIEmissionKind::DebugDirectivesOnly}));
}

void buildHostCodePipeline(OpPassManager &pm, const cpu::HostTarget &host, const CallFacts &calls) {
  pm.addPass(
      createLowerToHost(LowerToHostOptions{calls.disjointArguments, host.vectorWidth, host.hasRange,
                                           host.tilesInSoftware, host.readAheadBytes}));
}

void buildHostLlvmPipeline(OpPassManager &pm) {
  pm.addPass(createShareValues());
  pm.addPass(createLowerToBlocks());
  pm.addPass(createConvertVectorToLLVMPass());
  ConvertMathToLLVMPassOptions math;
  math.approximateLog1p = false; // not log(1 + x), which is 0 for small x
  pm.addPass(createConvertMathToLLVMPass(math));
  pm.addPass(createConvertMathToLibmPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createConvertFuncToLLVMPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
}

/// Whether the caller wants the IR after this pass or stage.
static bool isWanted(const PipelineOptions &options, StringRef stage) {
  return options.afterPass && !stage.empty() &&
         llvm::any_of(options.dumpAfter, [&](const std::string &pattern) {
           return pattern == "*" || pattern == stage;
         });
}

static std::string toText(const llvm::json::Value &value) {
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return text;
}

namespace {
/// Hands the IR after each pass of interest to the caller.
class DumpInstrumentation : public PassInstrumentation {
public:
  explicit DumpInstrumentation(const PipelineOptions &options) : options(options) {}

  void runAfterPass(Pass *pass, Operation *op) override {
    StringRef name = pass->getArgument();
    if (options.isDescribed && name == "tile-plan-shared-memory" && isWanted(options, "plan"))
      options.afterPass("plan", toText(describePlan(cast<ModuleOp>(op))));
    if (!isWanted(options, name))
      return;
    if (options.isDescribed)
      return options.afterPass(name, toText(describeText(op)));
    std::string text;
    llvm::raw_string_ostream os(text);
    OpPrintingFlags flags;
    flags.enableDebugInfo(/*enable=*/true, /*prettyForm=*/true);
    op->print(os, flags);
    options.afterPass(name, text);
  }

private:
  const PipelineOptions &options;
};

/// Times the stages of a compilation, and hands over those that the caller wants.
class StageRecorder {
public:
  StageRecorder(const PipelineOptions &options, std::vector<PhaseTime> &phases)
      : options(options), phases(phases) {}

  void finish(StringRef stage, llvm::function_ref<void(raw_ostream &)> print = {}) {
    phases.push_back(clock.finish(stage.str()));
    if (print && isWanted(options, stage)) {
      std::string text;
      llvm::raw_string_ostream os(text);
      print(os);
      options.afterPass(stage, text);
    }
    clock.restart(); // printing belongs to no stage
  }

private:
  const PipelineOptions &options;
  std::vector<PhaseTime> &phases;
  PhaseClock clock;
};
} // namespace

LogicalResult checkProgram(ModuleOp traced, const PipelineOptions &options) {
  LogicalResult result = failure();
  OwningOpRef<ModuleOp> copy; // of a program that the checks see in another form
  if (threads::needsRewriting(traced))
    copy = cast<ModuleOp>(traced->clone());
  ModuleOp module = copy ? *copy : traced;
  std::optional<std::string> stop = runGuarded([&] {
    PassManager pm(module.getContext());
    buildCheckPipeline(pm);
    if (options.afterPass)
      pm.addInstrumentation(std::make_unique<DumpInstrumentation>(options));
    result = pm.run(module);
  });
  if (stop) {
    (void)copy.release(); // the thread that stopped stands in it
    return emitInternalError(traced) << reportStop(traced, "cpu", options.calls, *stop);
  }
  return result;
}

/// A copy of the module after all passes on tile IR of a compilation for a GPU. Remarks are emitted.
static FailureOr<OwningOpRef<ModuleOp>> planForGpu(ModuleOp module, const Arch &arch,
                                                   const PipelineOptions &options) {
  DialectRegistry registry;
  nvptx::registerDialects(registry);
  module.getContext()->appendDialectRegistry(registry);
  module.getContext()->loadAllAvailableDialects();
  OwningOpRef<ModuleOp> planned = cast<ModuleOp>(module->clone());
  options.calls.annotate(*planned->getOps<func::FuncOp>().begin());
  PassManager pm(module.getContext());
  buildGpuPipeline(pm, arch.name, options);
  if (options.afterPass)
    pm.addInstrumentation(std::make_unique<DumpInstrumentation>(options));
  if (failed(pm.run(*planned)) || isAbandoned())
    return failure();
  return planned;
}

FailureOr<OwningOpRef<ModuleOp>> scheduleForGpu(ModuleOp module, const Arch &arch,
                                                const PipelineOptions &options) {
  FailureOr<OwningOpRef<ModuleOp>> planned = failure();
  std::optional<std::string> stop = runGuarded([&] {
    std::vector<Decision> decisions; // those of the compilation, which tells them
    DecisionCollector collector(module.getContext(), decisions);
    planned = planForGpu(module, arch, options);
  });
  if (stop)
    return emitInternalError(module) << reportStop(module, arch.name, options.calls, *stop);
  return planned;
}

/// What `compileForGpu` does, on a thread of its own.
static FailureOr<CompiledArtifact> compileGuarded(ModuleOp module, const Arch &arch,
                                                  const PipelineOptions &options) {
  CompiledArtifact artifact;
  artifact.calls = options.calls;
  DecisionCollector collector(module.getContext(), artifact.decisions);
  StageRecorder recorder(options, artifact.phases);
  FailureOr<OwningOpRef<ModuleOp>> copy = planForGpu(module, arch, options);
  if (failed(copy))
    return failure();
  OwningOpRef<ModuleOp> &planned = *copy;
  auto function = *planned->getOps<func::FuncOp>().begin();
  recorder.finish("passes");
  artifact.kernels = nvptx::describeKernels(function);
  artifact.launches = LaunchFormulas(function);
  bool fastMath = function->hasAttr("tile.fast_math");
  PassManager threads(module.getContext());
  threads.enableVerifier(false); // the next passes do, where assertions are on
  buildThreadCodePipeline(threads, arch.name, options.calls);
  if (failed(threads.run(*planned)) || isAbandoned())
    return failure();
  recorder.finish("threads", [&](raw_ostream &os) {
    if (options.isDescribed)
      os << describeText(*planned);
    else
      planned->print(os);
  });
  PassManager nvvm(module.getContext());
  nvvm.enableVerifier(nvptx::kVerifiesCode);
  buildNvvmPipeline(nvvm, fastMath);
  if (failed(nvvm.run(*planned)) || isAbandoned())
    return failure();
  recorder.finish("nvvm", [&](raw_ostream &os) { planned->print(os); });
  FailureOr<std::string> ptx = nvptx::emitPtx(
      *planned, arch, [&](StringRef stage, llvm::function_ref<void(raw_ostream &)> print) {
        recorder.finish(stage, print);
      });
  if (failed(ptx))
    return failure();
  recorder.finish("ptx");
  artifact.code = std::move(*ptx);
  for (Decision &decision : artifact.decisions) { // other targets and calls decide otherwise
    decision.data["arch"] = arch.name;
    if (!options.calls.divisibleSymbols.empty())
      decision.data["divisible"] = llvm::json::Array(options.calls.divisibleSymbols);
    if (!options.calls.tensorMaps)
      decision.data["tensor_maps"] = false;
  }
  return artifact;
}

FailureOr<CompiledArtifact> compileForGpu(ModuleOp module, const Arch &arch,
                                          const PipelineOptions &options) {
  FailureOr<CompiledArtifact> artifact = failure();
  std::optional<std::string> stop =
      runGuarded([&] { artifact = compileGuarded(module, arch, options); });
  if (stop)
    return emitInternalError(module) << reportStop(module, arch.name, options.calls, *stop);
  return artifact;
}

/// What `compileForCpu` does, on a thread of its own.
static llvm::Expected<CompiledArtifact> compileGuarded(ModuleOp module,
                                                       const PipelineOptions &options) {
  PhaseClock clock;
  CompiledArtifact artifact;
  artifact.calls = options.calls;
  auto finish = [&](StringRef phase) { artifact.phases.push_back(clock.finish(phase.str())); };
  cpu::CompileOptions code;
  if (options.host)
    code.target = *options.host;
  cpu::loadHostDialects(*module.getContext());
  OwningOpRef<ModuleOp> planned = cast<ModuleOp>(module->clone());
  if (!options.symbol.empty())
    (*planned->getOps<func::FuncOp>().begin()).setName(options.symbol);
  {
    DecisionCollector collector(module.getContext(), artifact.decisions);
    PassManager pm(module.getContext());
    buildCpuPipeline(pm, code.target, options.calls);
    if (options.afterPass)
      pm.addInstrumentation(std::make_unique<DumpInstrumentation>(options));
    if (failed(pm.run(*planned)) || isAbandoned())
      return makeInternalError("the program could not be planned");
  }
  finish("plan");
  {
    cpu::ErrorCollector errors(module.getContext());
    PassManager lowering(module.getContext());
    lowering.enableVerifier(false); // LLVM verifies the result
    buildHostCodePipeline(lowering, code.target, options.calls);
    if (failed(lowering.run(*planned)) || isAbandoned())
      return errors.takeError("the program has no lowering for the CPU");
  }
  finish("lower tiles");
  if (isWanted(options, "host")) {
    std::string text;
    llvm::raw_string_ostream os(text);
    planned->print(os);
    options.afterPass("host", text);
    clock.restart(); // printing is no phase of a compilation
  }
  {
    cpu::ErrorCollector errors(module.getContext());
    PassManager lowering(module.getContext());
    lowering.enableVerifier(false); // each pass is ours or MLIR's own; LLVM verifies the result
    buildHostLlvmPipeline(lowering);
    if (failed(lowering.run(*planned)) || isAbandoned())
      return errors.takeError("the lowered program does not reach LLVM");
  }
  finish("lower to LLVM");
  if (isWanted(options, "llvm") || isWanted(options, "asm"))
    code.dump = [&](StringRef stage, StringRef text) {
      if (isWanted(options, stage))
        options.afterPass(stage, text);
    };
  auto object = cpu::emitObject(*planned, code, &artifact.phases);
  if (!object)
    return object.takeError();
  artifact.code = (*object)->getBuffer().str();
  return artifact;
}

llvm::Expected<CompiledArtifact> compileForCpu(ModuleOp module, const PipelineOptions &options) {
  std::optional<llvm::Expected<CompiledArtifact>> artifact;
  std::optional<std::string> stop =
      runGuarded([&] { artifact.emplace(compileGuarded(module, options)); });
  if (stop)
    return makeInternalError(reportStop(module, "cpu", options.calls, *stop));
  return std::move(*artifact);
}

static std::vector<std::string> getNames(const OpPassManager &pm) {
  std::vector<std::string> names;
  for (const Pass &pass : pm.getPasses())
    names.push_back(pass.getArgument().str());
  return names;
}

PassNames PassNames::get() {
  OpPassManager check("builtin.module"), host("builtin.module"), gpu("builtin.module");
  PipelineOptions options;
  options.checkPlans = true;
  buildCheckPipeline(check);
  buildCpuPipeline(host, cpu::HostTarget::detect());
  buildGpuPipeline(gpu, "sm_80", options);
  return {getNames(check), getNames(host), getNames(gpu)};
}

} // namespace tilewright::driver
