//===- SplitFunctions.h - long functions become several ---------------------------------------===//

#pragma once

#include "llvm/IR/PassManager.h"

namespace tilewright::cpu {

/// Moves runs of loops that follow each other in one body into functions of their own, where a body has
/// hundreds of them. LLVM's analyses of loops and of memory look at all loops of a function for each
/// one that they change: the time grows with the square of their number.
class SplitFunctionsPass : public llvm::PassInfoMixin<SplitFunctionsPass> {
public:
  llvm::PreservedAnalyses run(llvm::Module &module, llvm::ModuleAnalysisManager &);
};

} // namespace tilewright::cpu
