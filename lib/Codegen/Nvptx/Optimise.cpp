//===- Optimise.cpp - LLVM's passes over the code of a thread ---------------------------------===//
//
// LLVM's O3 for functions, without what has nothing to do here, since all code comes from this
// compiler:
//
//   dead stores              a thread's own arrays are registers by then, and a store into shared
//                            or global memory is for other threads (it took a quarter of the time)
//   memcpy, library calls,   there are none
//   tail calls, coroutines
//   vectors                  widths are the access planner's: vectors are neither made (by loop,
//                            SLP and load-store vectorisers) nor taken apart (by vector-combine)
//   InstCombine              twice, not four times: after what makes work for it
//
// NVPTX's code generator adds passes of its own; two of them are left out. The load-store
// vectoriser compares all accesses of a basic block with each other, and all element-wise
// statements in a row are one block: compile time would not grow linearly with a kernel.
// N-ary reassociation looks for sums of index values that reassociation and the access plans'
// constant distances have already made.
//
// Kernels of hundreds of blocks go without two passes, for an addition or a comparison in a loop.
// Simplification of induction variables walks, for what a loop knows on entry, over the loops before
// it. The questions of straight-line strength reduction to scalar evolution take time that grows
// faster than with the square of the loops (500 of them: 1.6 of 3.9 s). And where blocks are divided
// for instruction selection, instructions are not sunk from one part into a later one: the search looks
// at all parts, and ptxas schedules anyway.
//
//===----------------------------------------------------------------------------------------===//

#include "EmitSteps.h"
#include "tilewright/Codegen/SplitBlocks.h"
#include "tilewright/Support/Guarded.h"

#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/IPO/SCCP.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/ADCE.h"
#include "llvm/Transforms/Scalar/ConstraintElimination.h"
#include "llvm/Transforms/Scalar/CorrelatedValuePropagation.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/GVN.h"
#include "llvm/Transforms/Scalar/IndVarSimplify.h"
#include "llvm/Transforms/Scalar/JumpThreading.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopDeletion.h"
#include "llvm/Transforms/Scalar/LoopIdiomRecognize.h"
#include "llvm/Transforms/Scalar/LoopInstSimplify.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Scalar/LoopSimplifyCFG.h"
#include "llvm/Transforms/Scalar/LoopUnrollPass.h"
#include "llvm/Transforms/Scalar/MergedLoadStoreMotion.h"
#include "llvm/Transforms/Scalar/Reassociate.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimpleLoopUnswitch.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Scalar/SpeculativeExecution.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;

namespace tilewright::nvptx {

/// Kernels of real programs have fewer than a hundred blocks.
static bool hasManyBlocks(const Module &module) {
  constexpr size_t many = 384;
  return llvm::any_of(module, [](const Function &function) { return function.size() > many; });
}

/// Whether some block is so long that it becomes many in front of instruction selection (SplitBlocks.h).
static bool hasLongBlocks(const Module &module) {
  constexpr size_t many = 8192;
  return llvm::any_of(module, [](const Function &function) {
    return llvm::any_of(function, [](const BasicBlock &block) { return block.size() > many; });
  });
}

/// Registers get names, and what is obvious is folded.
static void addFirstCleanup(FunctionPassManager &passes, const SimplifyCFGOptions &flow) {
  passes.addPass(SROAPass(SROAOptions::ModifyCFG));
  passes.addPass(EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(SpeculativeExecutionPass(/*OnlyIfDivergentTarget=*/true));
  passes.addPass(JumpThreadingPass());
  passes.addPass(CorrelatedValuePropagationPass());
  passes.addPass(SimplifyCFGPass(flow));
  passes.addPass(InstCombinePass());
  passes.addPass(SimplifyCFGPass(flow));
  passes.addPass(ReassociatePass());
  passes.addPass(ConstraintEliminationPass());
}

/// The PTX that an instruction inserts; empty if it inserts none.
static StringRef getInlinePtx(const Instruction &instruction) {
  auto *call = dyn_cast<CallBase>(&instruction);
  auto *code = call ? dyn_cast<InlineAsm>(call->getCalledOperand()) : nullptr;
  return code ? StringRef(code->getAsmString()) : StringRef();
}

static bool isProduct(const Instruction &instruction) {
  return getInlinePtx(instruction).contains("wgmma.mma_async");
}

/// A loop may leave products open. Iterations in front of it, each with an exit of its own, would bring the sums
/// into the registers of the loop before the wait that stands where the ways meet.
struct KeepProductLoopsPass : PassInfoMixin<KeepProductLoopsPass> {
  PreservedAnalyses run(Loop &loop, LoopAnalysisManager &, LoopStandardAnalysisResults &,
                        LPMUpdater &) {
    constexpr unsigned kEnough = 1 << 10; // as if so many had been peeled
    bool hasProduct =
        any_of(loop.blocks(), [](BasicBlock *block) { return any_of(*block, isProduct); });
    if (hasProduct)
      addStringMetadataToLoop(&loop, "llvm.loop.peeled.count", kEnough);
    return PreservedAnalyses::all();
  }
};

/// Loops get their usual form; what does not change in them is computed in front of them, and short
/// ones are written out.
static void addLoopPasses(FunctionPassManager &passes, const SimplifyCFGOptions &flow,
                          bool hasManyBlocks) {
  LICMOptions onlySafe;
  onlySafe.AllowSpeculation = false; // rotation would undo it
  LoopPassManager form;
  form.addPass(LoopInstSimplifyPass());
  form.addPass(LoopSimplifyCFGPass());
  form.addPass(LICMPass(onlySafe));
  form.addPass(LoopRotatePass());
  form.addPass(LICMPass(LICMOptions()));
  form.addPass(SimpleLoopUnswitchPass(/*NonTrivial=*/true));
  passes.addPass(createFunctionToLoopPassAdaptor(std::move(form), /*UseMemorySSA=*/true));
  passes.addPass(SimplifyCFGPass(flow));
  LoopPassManager count;
  count.addPass(LoopIdiomRecognizePass());
  if (!hasManyBlocks)
    count.addPass(IndVarSimplifyPass());
  count.addPass(LoopDeletionPass());
  count.addPass(KeepProductLoopsPass());
  count.addPass(LoopFullUnrollPass(/*OptLevel=*/3));
  passes.addPass(createFunctionToLoopPassAdaptor(std::move(count)));
  passes.addPass(SROAPass(SROAOptions::ModifyCFG)); // arrays that unrolled loops index
}

/// What is computed twice or not needed goes.
static void addLastCleanup(FunctionPassManager &passes, SimplifyCFGOptions flow) {
  passes.addPass(MergedLoadStoreMotionPass());
  passes.addPass(GVNPass());
  passes.addPass(InstCombinePass());
  passes.addPass(JumpThreadingPass());
  passes.addPass(CorrelatedValuePropagationPass());
  passes.addPass(ADCEPass());
  passes.addPass(createFunctionToLoopPassAdaptor(LICMPass(LICMOptions()), /*UseMemorySSA=*/true));
  passes.addPass(SimplifyCFGPass(
      flow.hoistCommonInsts(true).sinkCommonInsts(true).convertSwitchToArithmetic(true)));
}

/// What the threads of a warp or a warpgroup execute together is one instruction for all of them. Jump
/// threading would write it twice, after a branch on the number of the thread that stands before and after it.
///
/// Besides, the fence, the instructions and the wait of a product stay in their branch: where two branches
/// begin with a fence, ptxas does not see one in front of both as theirs, and serialises the products
/// (C7519, C7511).
static void keepCollectives(Module &module) {
  for (Function &function : module)
    for (Instruction &instruction : instructions(function)) {
      StringRef text = getInlinePtx(instruction);
      if (text.empty())
        continue;
      auto *call = cast<CallBase>(&instruction);
      if (text.contains(".sync") || text.contains(".aligned") || text.starts_with("barrier."))
        call->addFnAttr(Attribute::Convergent);
      if (text.starts_with("wgmma."))
        call->addFnAttr(Attribute::NoMerge);
    }
}

void optimise(Module &module, TargetMachine &machine) {
  keepCollectives(module);
  LoopAnalysisManager lam;
  FunctionAnalysisManager fam;
  CGSCCAnalysisManager cgam;
  ModuleAnalysisManager mam;
  PassInstrumentationCallbacks callbacks;
  skipIfAbandoned(callbacks);
  PassBuilder builder(&machine, PipelineTuningOptions(), std::nullopt, &callbacks);
  builder.registerModuleAnalyses(mam);
  builder.registerCGSCCAnalyses(cgam);
  builder.registerFunctionAnalyses(fam);
  builder.registerLoopAnalyses(lam);
  builder.crossRegisterProxies(lam, fam, cgam, mam);
  auto flow = SimplifyCFGOptions().convertSwitchRangeToICmp(true);
  FunctionPassManager functions;
  addFirstCleanup(functions, flow);
  addLoopPasses(functions, flow, hasManyBlocks(module));
  addLastCleanup(functions, flow);
  functions.addPass(NarrowComparesPass());
  // A module is one kernel and what it calls: all is inlined.
  ModulePassManager passes;
  passes.addPass(AlwaysInlinerPass(/*InsertLifetime=*/false));
  passes.addPass(GlobalDCEPass());
  passes.addPass(IPSCCPPass());
  passes.addPass(createModuleToFunctionPassAdaptor(std::move(functions)));
  passes.run(module, mam);
}

namespace {
/// What the target adds, except for the passes above.
class NvptxPasses : public CodegenPasses {
public:
  explicit NvptxPasses(const Module &module)
      : isLong(hasManyBlocks(module)), isWide(hasLongBlocks(module)) {}

private:
  bool isLeftOut(StringRef name) const override {
    return name == "load-store-vectorizer" || name == "nary-reassociate" ||
           (isLong && name == "slsr") || (isWide && name == "machine-sink");
  }

  bool isLong, isWide;
};
} // namespace

bool generateCode(Module &module, TargetMachine &machine, raw_pwrite_stream &os) {
  NvptxPasses passes(module);
  if (machine.addPassesToEmitFile(passes, os, nullptr, CodeGenFileType::AssemblyFile))
    return false;
  passes.run(module);
  return true;
}

} // namespace tilewright::nvptx
