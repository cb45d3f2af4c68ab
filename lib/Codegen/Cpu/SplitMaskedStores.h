//===- SplitMaskedStores.h - stores of lanes that are known -----------------------------------===//

#pragma once

#include "llvm/IR/PassManager.h"

namespace tilewright::cpu {

/// Replaces masked stores whose mask is constant by a plain store for each run of lanes.
///
/// LLVM 22 miscompiles the others on AVX-512: a masked store of one lane whose value was truncated
/// (`masked.store(trunc <8 x i32> to <8 x i8>, …, <1, 0, 0, …>)`) becomes a store of the whole,
/// wide lane, which overwrites its neighbours. Longer masks are split into registers, and may leave
/// such a mask for one of them.
class SplitMaskedStoresPass : public llvm::PassInfoMixin<SplitMaskedStoresPass> {
public:
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &);
};

} // namespace tilewright::cpu
