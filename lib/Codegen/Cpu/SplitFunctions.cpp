//===- SplitFunctions.cpp - long functions become several -------------------------------------===//
//
// A *body* is a function, or a loop without what leads back to its start. The blocks that each run of
// a body passes once, in order, are its spine: those that dominate its last block and stand in no loop
// inside of it. What lies between two of them is entered and left in one place, and can be a function:
//
//     spine    loops between                        spine
//     s0 ─▶ ( ⟲ ) ─▶ s1 ─▶ ( ⟲ ) ─▶ … ─▶ s16        s0' (call .part) ─▶ s16' (call .part) ─▶ …
//
// It happens before any optimisation, while a statement is a nest of loops between two such blocks.
//
//===----------------------------------------------------------------------------------------===//

#include "SplitFunctions.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/CodeExtractor.h"

using namespace llvm;
using namespace tilewright::cpu;

/// Kernels of real programs have less than a hundred loops in a body.
static constexpr unsigned kMaxLoops = 96;
static constexpr unsigned kLoopsOfPart = 16;

/// The spine of a body from its first to its last block.
static SmallVector<BasicBlock *> findSpine(BasicBlock *first, BasicBlock *last, Loop *body,
                                           const DominatorTree &dominators, const LoopInfo &loops) {
  SmallVector<BasicBlock *> spine;
  for (DomTreeNode *node = dominators.getNode(last); node; node = node->getIDom()) {
    BasicBlock *block = node->getBlock();
    if (loops.getLoopFor(block) == body && !isa<PHINode>(block->front()))
      spine.push_back(block);
    if (block == first)
      break;
  }
  std::reverse(spine.begin(), spine.end());
  return spine;
}

/// The blocks between two of a spine, the first included; nothing if some leave the function.
static SmallVector<BasicBlock *> collectBetween(BasicBlock *from, BasicBlock *to) {
  SmallVector<BasicBlock *> blocks{from};
  SmallPtrSet<BasicBlock *, 32> known{from, to};
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (succ_empty(blocks[i]))
      return {};
    for (BasicBlock *next : successors(blocks[i]))
      if (known.insert(next).second)
        blocks.push_back(next);
  }
  return blocks;
}

/// Moves the parts of one body out; how many it moved.
static unsigned splitBody(Function &function, ArrayRef<BasicBlock *> spine, const LoopInfo &loops) {
  SmallVector<SmallVector<BasicBlock *>> parts;
  BasicBlock *start = nullptr;
  unsigned numLoops = 0;
  for (size_t i = 0; i + 1 < spine.size(); ++i) {
    if (!start)
      start = spine[i];
    for (BasicBlock *block : collectBetween(spine[i], spine[i + 1]))
      numLoops += loops.isLoopHeader(block) && block != spine[i];
    if (numLoops < kLoopsOfPart)
      continue;
    parts.push_back(collectBetween(start, spine[i + 1]));
    start = nullptr;
    numLoops = 0;
  }
  unsigned numMoved = 0;
  CodeExtractorAnalysisCache cache(function);
  for (ArrayRef<BasicBlock *> part : parts) {
    if (part.empty() || part.front() == &function.getEntryBlock())
      continue;
    CodeExtractor extractor(part, /*DT=*/nullptr, /*AggregateArgs=*/false, nullptr, nullptr,
                            nullptr,
                            /*AllowVarArgs=*/false, /*AllowAlloca=*/false, nullptr, "part");
    if (!extractor.isEligible())
      continue;
    if (Function *moved = extractor.extractCodeRegion(cache)) {
      moved->addFnAttr(Attribute::NoInline);
      ++numMoved;
    }
  }
  return numMoved;
}

/// Splits one body of the function that is too long, an inner one first; whether there was one.
static bool splitLongestBody(Function &function) {
  DominatorTree dominators(function);
  LoopInfo loops(dominators);
  SmallVector<Loop *, 4> outerFirst = loops.getLoopsInPreorder();
  for (Loop *loop : reverse(outerFirst))
    if (BasicBlock *latch = loop->getLoopLatch(); latch && loop->getSubLoops().size() > kMaxLoops)
      if (splitBody(function, findSpine(loop->getHeader(), latch, loop, dominators, loops), loops))
        return true;
  if (loops.getTopLevelLoops().size() <= kMaxLoops)
    return false;
  BasicBlock *last = nullptr;
  for (BasicBlock &block : function)
    if (isa<ReturnInst>(block.getTerminator())) {
      if (last)
        return false;
      last = &block;
    }
  return last &&
         splitBody(function, findSpine(&function.getEntryBlock(), last, nullptr, dominators, loops),
                   loops);
}

PreservedAnalyses SplitFunctionsPass::run(Module &module, ModuleAnalysisManager &) {
  SmallVector<Function *> functions;
  for (Function &function : module)
    if (!function.isDeclaration())
      functions.push_back(&function);
  bool hasChanged = false;
  for (Function *function : functions)
    while (splitLongestBody(*function))
      hasChanged = true;
  return hasChanged ? PreservedAnalyses::none() : PreservedAnalyses::all();
}
