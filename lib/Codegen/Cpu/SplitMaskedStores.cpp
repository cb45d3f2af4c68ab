//===- SplitMaskedStores.cpp - stores of lanes that are known ---------------------------------===//

#include "SplitMaskedStores.h"

#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;
using namespace tilewright::cpu;

/// A run of lanes that are stored.
struct LaneRun {
  unsigned first, count;
};

/// The runs of a mask; nothing for one that is not constant.
static std::optional<SmallVector<LaneRun>> findRuns(Value *mask) {
  auto *constant = dyn_cast<Constant>(mask);
  auto *type = dyn_cast<FixedVectorType>(mask->getType());
  if (!constant || !type)
    return std::nullopt;
  SmallVector<LaneRun> runs;
  for (unsigned lane = 0; lane < type->getNumElements(); ++lane) {
    auto *bit = dyn_cast_or_null<ConstantInt>(constant->getAggregateElement(lane));
    if (!bit)
      return std::nullopt;
    if (bit->isZero())
      continue;
    if (!runs.empty() && runs.back().first + runs.back().count == lane)
      ++runs.back().count;
    else
      runs.push_back({lane, 1});
  }
  return runs;
}

static void storeRun(IRBuilder<> &b, IntrinsicInst &masked, LaneRun run) {
  Value *value = masked.getArgOperand(0), *address = masked.getArgOperand(1);
  Type *element = cast<FixedVectorType>(value->getType())->getElementType();
  uint64_t offset = run.first * (element->getPrimitiveSizeInBits() / 8);
  Value *part = run.count == 1
                    ? b.CreateExtractElement(value, uint64_t(run.first))
                    : b.CreateShuffleVector(value, createSequentialMask(run.first, run.count, 0));
  Align alignment = commonAlignment(masked.getParamAlign(1).valueOrOne(), offset);
  StoreInst *store =
      b.CreateAlignedStore(part, b.CreateConstGEP1_64(b.getInt8Ty(), address, offset), alignment);
  store->copyMetadata(masked);
}

PreservedAnalyses SplitMaskedStoresPass::run(Function &function, FunctionAnalysisManager &) {
  bool hasChanged = false;
  for (Instruction &instruction : make_early_inc_range(instructions(function))) {
    auto *masked = dyn_cast<IntrinsicInst>(&instruction);
    if (!masked || masked->getIntrinsicID() != Intrinsic::masked_store)
      continue;
    std::optional<SmallVector<LaneRun>> runs = findRuns(masked->getArgOperand(2));
    unsigned bits = masked->getArgOperand(0)->getType()->getScalarSizeInBits();
    if (!runs || bits == 0 || bits % 8 != 0) // bits of a bool share bytes; a pointer has none
      continue;
    IRBuilder<> b(masked);
    for (LaneRun run : *runs)
      storeRun(b, *masked, run);
    masked->eraseFromParent();
    hasChanged = true;
  }
  return hasChanged ? PreservedAnalyses::none() : PreservedAnalyses::all();
}
