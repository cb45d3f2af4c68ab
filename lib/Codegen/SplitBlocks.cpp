//===- SplitBlocks.cpp - long basic blocks become several -------------------------------------===//

#include "tilewright/Codegen/SplitBlocks.h"

#include "llvm/IR/Function.h"
#include "llvm/PassInfo.h"
#include "llvm/PassRegistry.h"

using namespace llvm;
using namespace tilewright;

/// Blocks of real programs are shorter. The address of an access is computed next to it, so few
/// divisions come between the two.
static constexpr size_t kMaxInstructions = 2048;

namespace {
class SplitBlocks : public FunctionPass {
public:
  static char ID;
  SplitBlocks() : FunctionPass(ID) {}

  StringRef getPassName() const override { return "Split long basic blocks"; }

  bool runOnFunction(Function &function) override {
    bool hasChanged = false;
    for (BasicBlock &first : make_early_inc_range(function))
      for (BasicBlock *block = &first; block->size() > kMaxInstructions; hasChanged = true)
        block = block->splitBasicBlock(std::next(block->begin(), kMaxInstructions / 2));
    return hasChanged;
  }
};
char SplitBlocks::ID = 0;
} // namespace

void CodegenPasses::add(Pass *pass) {
  const PassInfo *info = PassRegistry::getPassRegistry()->getPassInfo(pass->getPassID());
  StringRef name = info ? info->getPassArgument() : "";
  bool isAgain = pass->getPassID() == last; // nothing changed since
  if (isAgain || isLeftOut(name)) {
    delete pass;
    return;
  }
  last = pass->getPassID();
  legacy::PassManager::add(pass);
  if (name == "codegenprepare")
    legacy::PassManager::add(new SplitBlocks);
}
