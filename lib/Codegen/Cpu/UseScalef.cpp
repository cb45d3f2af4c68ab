//===- UseScalef.cpp - powers of two by one instruction ---------------------------------------===//

#include "UseScalef.h"

#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace tilewright::cpu;

static constexpr unsigned kLanes = 16;

/// One instruction for a whole register.
static Value *scaleRegister(IRBuilder<> &b, Value *value, Value *exponent) {
  Value *allLanes = b.getInt16(-1), *presentRounding = b.getInt32(4);
  return b.CreateIntrinsic(Intrinsic::x86_avx512_mask_scalef_ps_512,
                           {value, exponent, value, allLanes, presentRounding});
}

PreservedAnalyses UseScalefPass::run(Function &function, FunctionAnalysisManager &) {
  using namespace PatternMatch;
  SmallVector<IntrinsicInst *> replaced;
  for (Instruction &instruction : instructions(function)) {
    Value *value, *exponent;
    auto *type = dyn_cast<FixedVectorType>(instruction.getType());
    auto isRounded = m_CombineAnd(m_Value(exponent), m_Intrinsic<Intrinsic::roundeven>());
    if (!type || !type->getElementType()->isFloatTy() || type->getNumElements() % kLanes != 0 ||
        !match(&instruction, m_Intrinsic<Intrinsic::ldexp>(
                                 m_Value(value), m_Intrinsic<Intrinsic::fptosi_sat>(isRounded))))
      continue;
    IRBuilder<> b(&instruction);
    SmallVector<Value *> parts;
    for (unsigned lane = 0; lane < type->getNumElements(); lane += kLanes) {
      SmallVector<int> lanes = createSequentialMask(lane, kLanes, /*NumUndefs=*/0);
      parts.push_back(scaleRegister(b, b.CreateShuffleVector(value, lanes),
                                    b.CreateShuffleVector(exponent, lanes)));
    }
    instruction.replaceAllUsesWith(concatenateVectors(b, parts));
    replaced.push_back(cast<IntrinsicInst>(&instruction));
  }
  for (IntrinsicInst *ldexp : replaced) {
    auto *conversion = cast<Instruction>(ldexp->getArgOperand(1));
    ldexp->eraseFromParent();
    if (conversion->use_empty())
      conversion->eraseFromParent();
  }
  return replaced.empty() ? PreservedAnalyses::all() : PreservedAnalyses::none();
}
