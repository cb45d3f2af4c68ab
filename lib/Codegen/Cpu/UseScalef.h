//===- UseScalef.h - powers of two by one instruction -----------------------------------------===//

#pragma once

#include "llvm/IR/PassManager.h"

namespace tilewright::cpu {

/// VSCALEFPS (AVX-512) multiplies by a power of two whose exponent is a float. LLVM 22 knows it
/// only after `ldexp`, whose exponent is an int, and so converts to an int and back: two
/// instructions of about fifteen in the loop of a softmax. This pass puts the instruction in place
/// of
///
///   ldexp(value, fptosi.sat(n))     with n = roundeven(…)
///
/// in vectors of float32. That is how `exp` and `exp2` are written (LowerFunctions.cpp), whose
/// values are finite and whose n are bounded or NaN; nothing else writes `ldexp`.
class UseScalefPass : public llvm::PassInfoMixin<UseScalefPass> {
public:
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &);
};

} // namespace tilewright::cpu
