//===- SplitBlocks.cpp - long basic blocks become several -------------------------------------===//

#include "tilewright/Codegen/SplitBlocks.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Function.h"
#include "llvm/PassInfo.h"
#include "llvm/PassRegistry.h"
#include "llvm/Support/CommandLine.h"
#include <mutex>

using namespace llvm;
using namespace tilewright;

/// Blocks of real programs are shorter. The address of an access is computed next to it, so few
/// divisions come between the two.
static constexpr size_t kMaxInstructions = 2048, kPart = kMaxInstructions / 2;

namespace {
class SplitBlocks : public FunctionPass {
public:
  static char ID;
  SplitBlocks() : FunctionPass(ID) {}

  StringRef getPassName() const override { return "Split long basic blocks"; }

  bool runOnFunction(Function &function) override {
    bool hasChanged = false;
    for (BasicBlock &block : make_early_inc_range(function))
      hasChanged |= split(block);
    return hasChanged;
  }

private:
  /// From the end: a split moves all that follows, and the list does not know its length.
  static bool split(BasicBlock &block) {
    SmallVector<Instruction *> begins; // of each part but the first
    size_t numInstructions = 0;
    for (Instruction &instruction : block)
      if (numInstructions++ == (begins.size() + 1) * kPart)
        begins.push_back(&instruction);
    while (!begins.empty() && numInstructions - (begins.size() - 1) * kPart <= kMaxInstructions)
      begins.pop_back(); // the last part may be as long as a block
    for (Instruction *begin : reverse(begins))
      block.splitBasicBlock(begin);
    return !begins.empty();
  }
};
char SplitBlocks::ID = 0;
} // namespace

/// Below so many blocks, the preparation for selection looks at all of a function again after each round in
/// which something changed: where one change makes the next one possible, once for each. Above, it looks
/// at the blocks around a change. LLVM's own number is 10,000, and has no other way in than an option.
static void lookAtChangesOnly() {
  static std::once_flag once;
  std::call_once(once, [] {
    auto &options = cl::getRegisteredOptions();
    if (auto known = options.find("cgpp-huge-func"); known != options.end())
      known->second->addOccurrence(/*pos=*/0, known->first, "1024");
  });
}

CodegenPasses::CodegenPasses() { lookAtChangesOnly(); }

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
