//===- NarrowCompares.cpp - comparisons of index values in 32 bits ----------------------------===//
//
// Index values have 64 bits, GPUs have 32-bit registers: a comparison of two such values is two
// instructions, and keeps the upper halves of all that leads to it alive. Almost always both sides
// are known to fit 32 bits: thread and block numbers have ranges, loops have bounds. Then the lower
// halves are compared, computed in 32 bits from the leaves up (the lower half of a sum is the sum
// of the lower halves), and what else needed the upper halves is all that still computes them.
//
//   %i = add i64 %x, 8                     %i = add i32 %x.low, 8
//   %c = icmp slt i64 %i, %n        ──▶    %c = icmp slt i32 %i, %n.low
//
// A mask compares many values that lie constants apart with one other (the columns of a thread with its row).
// Their distance from it is computed once, and compared with the constants, in a loop over columns too:
//
//   %c = icmp slt i32 %n, %x               %d = sub i32 %n, %x
//   %i = add i32 %x, 8                     %c = icmp slt i32 %d, 0
//   %e = icmp slt i32 %n, %i        ──▶    %e = icmp slt i32 %d, 8
//
//===----------------------------------------------------------------------------------------===//

#include "EmitSteps.h"

#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace tilewright::nvptx {

namespace {

class CompareNarrowing {
public:
  explicit CompareNarrowing(ScalarEvolution &evolution) : evolution(evolution) {}

  bool run(Function &function) {
    SmallVector<ICmpInst *> compares;
    for (Instruction &instruction : instructions(function))
      if (auto *compare = dyn_cast<ICmpInst>(&instruction);
          compare && compare->getOperand(0)->getType()->isIntegerTy(64) && fits(*compare))
        compares.push_back(compare);
    for (ICmpInst *compare : compares)
      for (Use &operand : compare->operands()) {
        Value *wide = operand;
        operand = lowHalf(wide, *compare);
        RecursivelyDeleteTriviallyDeadInstructions(wide);
      }
    return !compares.empty();
  }

  /// Compares distances with constants where several compares of a block have the same distance.
  bool compareDistances(Function &function) {
    bool isChanged = false;
    for (BasicBlock &block : function) {
      MapVector<std::pair<Value *, const SCEV *>, SmallVector<Distance>> distances;
      for (Instruction &instruction : block)
        if (auto *compare = dyn_cast<ICmpInst>(&instruction))
          for (bool isSwapped : {false, true})
            if (std::optional<Distance> distance = findDistance(*compare, isSwapped))
              distances[{distance->fixed, distance->moving}].push_back(*distance);
      DenseSet<ICmpInst *> rewritten; // each side of a compare may be the sum
      for (auto &[values, group] : distances) {
        erase_if(group, [&](Distance &each) { return rewritten.contains(each.compare); });
        if (group.size() < kLeastShared)
          continue;
        for (Distance &each : group)
          rewritten.insert(each.compare);
        rewrite(group);
        isChanged = true;
      }
    }
    return isChanged;
  }

private:
  /// A distance costs an instruction and a register, and saves one for each constant.
  static constexpr size_t kLeastShared = 4;

  /// `fixed` is compared with a sum that is `moving + constant`.
  struct Distance {
    ICmpInst *compare;
    Value *fixed;
    const SCEV *moving;
    int64_t constant;
    bool isSwapped; ///< The sum stands on the left.

    Value *getSum() const { return compare->getOperand(isSwapped ? 0 : 1); }
  };

  /// Whether a number is so small that differences of two are exact in 32 bits.
  bool isSmall(const SCEV *value) {
    constexpr int64_t kSmall = int64_t(1) << 29;
    ConstantRange range = rangeOf(value);
    return range.getSignedMin().sge(-kSmall) && range.getSignedMax().sle(kSmall);
  }

  /// What a compare says if this side of it is the sum.
  std::optional<Distance> findDistance(ICmpInst &compare, bool isSwapped) {
    if (!compare.isRelational() || !compare.getOperand(0)->getType()->isIntegerTy(32))
      return std::nullopt;
    Value *fixed = compare.getOperand(isSwapped);
    const SCEV *sum = evolution.getSCEV(compare.getOperand(!isSwapped)),
               *other = evolution.getSCEV(fixed);
    if (isa<Constant>(fixed) || !isSmall(other) || !isSmall(sum))
      return std::nullopt;
    // An unsigned compare of numbers that may be negative says something else than a signed one.
    if (!compare.isSigned() &&
        (rangeOf(other).getSignedMin().isNegative() || rangeOf(sum).getSignedMin().isNegative()))
      return std::nullopt;
    // What a loop adds to is `constant + …`; each column of a mask is such a value of its own.
    const SCEV *first = sum;
    while (auto *steps = dyn_cast<SCEVAddRecExpr>(first))
      first = steps->getStart();
    auto *terms = dyn_cast<SCEVAddExpr>(first);
    auto *constant = terms ? dyn_cast<SCEVConstant>(terms->getOperand(0)) : nullptr;
    if (!constant)
      return Distance{&compare, fixed, sum, 0, isSwapped};
    if (!isSmall(constant))
      return std::nullopt;
    return Distance{&compare, fixed, evolution.getMinusSCEV(sum, constant),
                    constant->getAPInt().getSExtValue(), isSwapped};
  }

  /// The compares stand in one block, in order. The distance is that from the first one's sum.
  void rewrite(ArrayRef<Distance> group) {
    IRBuilder<> b(group.front().compare);
    Value *distance = b.CreateSub(group.front().fixed, group.front().getSum(), "", false, true);
    for (const Distance &each : group) {
      ICmpInst *compare = each.compare;
      CmpInst::Predicate predicate =
          each.isSwapped ? compare->getSwappedPredicate() : compare->getPredicate();
      Value *sum = each.getSum();
      compare->dropPoisonGeneratingFlags(); // samesign
      compare->setPredicate(ICmpInst::getSignedPredicate(predicate));
      compare->setOperand(0, distance);
      compare->setOperand(
          1, ConstantInt::getSigned(distance->getType(), each.constant - group.front().constant));
      RecursivelyDeleteTriviallyDeadInstructions(sum);
    }
  }

  /// The values that an index takes, in so many bits that sums and products of them are exact. LLVM takes
  /// the constant maximum of iterations for a loop's variable; the formula of their number often says
  /// more: 127 - 4 * block is small though `block` is no constant.
  ConstantRange rangeOf(const SCEV *value, unsigned depth = 0) {
    constexpr unsigned kExactBits = 128, kMaxDepth = 8;
    ConstantRange known = evolution.getSignedRange(value).signExtend(kExactBits);
    auto better = [&](const ConstantRange &found) {
      return found.getMinSignedBits() < known.getMinSignedBits() ? found : known;
    };
    if (depth == kMaxDepth || known.getMinSignedBits() <= 30)
      return known;
    if (auto *sum = dyn_cast<SCEVAddExpr>(value)) {
      ConstantRange total(APInt::getZero(kExactBits));
      for (const SCEV *part : sum->operands())
        total = total.add(rangeOf(part, depth + 1));
      return better(total);
    }
    if (auto *product = dyn_cast<SCEVMulExpr>(value)) {
      ConstantRange total(APInt(kExactBits, 1));
      for (const SCEV *part : product->operands()) {
        total = total.multiply(rangeOf(part, depth + 1));
        if (total.getMinSignedBits() > 64) // the next product could be inexact
          return known;
      }
      return better(total);
    }
    if (auto *half = dyn_cast<SCEVTruncateExpr>(value)) {
      ConstantRange whole = rangeOf(half->getOperand(), depth + 1);
      bool isExact = whole.getMinSignedBits() <= evolution.getTypeSizeInBits(half->getType());
      return isExact ? better(whole) : known;
    }
    if (auto *unknown = dyn_cast<SCEVUnknown>(value))
      if (auto *choice = dyn_cast<SelectInst>(unknown->getValue()))
        return better(rangeOf(evolution.getSCEV(choice->getTrueValue()), depth + 1)
                          .unionWith(rangeOf(evolution.getSCEV(choice->getFalseValue()), depth + 1),
                                     ConstantRange::Signed));
    auto *steps = dyn_cast<SCEVAddRecExpr>(value);
    if (!steps || !steps->isAffine())
      return known;
    const SCEV *count = evolution.getBackedgeTakenCount(steps->getLoop());
    if (isa<SCEVCouldNotCompute>(count))
      return known;
    ConstantRange rounds = evolution.getSignedRange(count).signExtend(kExactBits);
    if (rounds.getSignedMin().isNegative())
      return known;
    ConstantRange all(APInt::getZero(kExactBits), rounds.getSignedMax() + 1);
    ConstantRange step = rangeOf(steps->getStepRecurrence(evolution), depth + 1);
    return better(rangeOf(steps->getStart(), depth + 1).add(all.multiply(step)));
  }

  /// Whether 32 bits decide as 64 do: both sides fit a signed number, or both an unsigned one where
  /// signs do not matter.
  bool fits(ICmpInst &compare) {
    auto bits = [&](Value *value, bool isSigned) {
      const SCEV *scev = evolution.getSCEV(value);
      ConstantRange range = rangeOf(scev);
      unsigned signedBits = range.getMinSignedBits();
      if (isSigned)
        return signedBits;
      unsigned unsignedBits = evolution.getUnsignedRange(scev).getActiveBits();
      return range.getSignedMin().isNegative() ? unsignedBits
                                               : std::min(unsignedBits, signedBits - 1);
    };
    auto bothFit = [&](bool isSigned) {
      return bits(compare.getOperand(0), isSigned) <= 32 &&
             bits(compare.getOperand(1), isSigned) <= 32;
    };
    if (compare.isSigned())
      return bothFit(true);
    return bothFit(false) || (compare.isEquality() && bothFit(true));
  }

  /// The lower half of a value, from those of its operands where that is exact; computed where the
  /// value is.
  Value *lowHalf(Value *value, Instruction &user) {
    Type *i32 = Type::getInt32Ty(value->getContext());
    if (auto *constant = dyn_cast<ConstantInt>(value))
      return ConstantInt::get(i32, constant->getValue().trunc(32));
    if (Value *known = low.lookup(value))
      return known;
    auto *instruction = dyn_cast<Instruction>(value);
    IRBuilder<> b(&user);
    if (instruction)
      b.SetInsertPoint(*instruction->getInsertionPointAfterDef());
    else
      b.SetInsertPointPastAllocas(user.getFunction());
    Value *&result = low[value];
    auto *operation = dyn_cast<BinaryOperator>(value);
    if (auto *cast = dyn_cast<CastInst>(value);
        cast && cast->isIntegerCast() && cast->getSrcTy()->isIntegerTy(32))
      return result = cast->getOperand(0);
    if (!operation || !keepsLowHalf(*operation))
      return result = b.CreateTrunc(value, i32);
    Value *lhs = lowHalf(operation->getOperand(0), *operation),
          *rhs = lowHalf(operation->getOperand(1), *operation);
    Value *half = b.CreateBinOp(operation->getOpcode(), lhs, rhs);
    if (auto *made = dyn_cast<PossiblyDisjointInst>(half))
      made->setIsDisjoint(cast<PossiblyDisjointInst>(operation)->isDisjoint());
    return low[value] = half;
  }

  static bool keepsLowHalf(BinaryOperator &operation) {
    switch (operation.getOpcode()) {
    case Instruction::Add:
    case Instruction::Sub:
    case Instruction::Mul:
    case Instruction::And:
    case Instruction::Or:
    case Instruction::Xor:
      return true;
    case Instruction::Shl: {
      auto *count = dyn_cast<ConstantInt>(operation.getOperand(1));
      return count && count->getValue().ult(32);
    }
    default:
      return false;
    }
  }

  ScalarEvolution &evolution;
  DenseMap<Value *, Value *> low;
};

} // namespace

PreservedAnalyses NarrowComparesPass::run(Function &function, FunctionAnalysisManager &analyses) {
  auto &evolution = analyses.getResult<ScalarEvolutionAnalysis>(function);
  CompareNarrowing narrowing(evolution);
  bool isChanged = narrowing.run(function);
  isChanged |= narrowing.compareDistances(function);
  if (!isChanged)
    return PreservedAnalyses::all();
  PreservedAnalyses preserved;
  preserved.preserveSet<CFGAnalyses>();
  return preserved;
}

} // namespace tilewright::nvptx
