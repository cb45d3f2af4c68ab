//===- PrintEffectsPass.cpp - the effects interface as remarks --------------------------------===//
//
// `tw-opt -test-print-effects` says of each op what it declares, one remark an effect:
//
//   read 'A'[%bx * 64 + 3 : 64 step 2, 0 : 32]    offset : size of each dimension of the root
//   write 'B' whole
//   scratch 512 bytes                             only with scratch=1
//   synchronises
//   unknown effects
//
// Ops without an effect say nothing. Values are named as they are printed.
//
//===----------------------------------------------------------------------------------------===//

#include "tilewright/Tile/Tile.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AsmState.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace tilewright::tile;

namespace {
class EffectPrinter {
public:
  explicit EffectPrinter(Operation *root) : names(root, OpPrintingFlags()) {}

  std::string describe(const Effect &effect);

private:
  void print(const IndexSum &sum);
  void print(const DimRange &range);

  AsmState names;
  std::string text;
  llvm::raw_string_ostream os{text};
};

struct PrintEffectsPass : PassWrapper<PrintEffectsPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PrintEffectsPass)
  StringRef getArgument() const override { return "test-print-effects"; }
  StringRef getDescription() const override { return "print declared effects as remarks"; }

  PrintEffectsPass() = default;
  PrintEffectsPass(const PrintEffectsPass &other) : PassWrapper(other) {}
  Option<bool> scratch{*this, "scratch", llvm::cl::init(false),
                       llvm::cl::desc("say how many bytes of shared memory an op needs besides")};

  void runOnOperation() override;
};
} // namespace

void EffectPrinter::print(const IndexSum &sum) {
  bool isFirst = true;
  for (auto [value, factor] : sum.terms) {
    os << (isFirst ? "" : " + ");
    value.printAsOperand(os, names);
    if (factor != 1)
      os << " * " << factor;
    isFirst = false;
  }
  if (isFirst || sum.constant != 0)
    os << (isFirst ? "" : " + ") << sum.constant;
}

void EffectPrinter::print(const DimRange &range) {
  print(range.offset);
  os << " : ";
  print(range.size);
  if (range.step != 1)
    os << " step " << range.step;
}

std::string EffectPrinter::describe(const Effect &effect) {
  static constexpr StringLiteral kinds[] = {"read", "write", "accumulate"};
  text.clear();
  os << kinds[unsigned(effect.kind)] << " '" << getName(effect.root) << "'";
  if (effect.region.isWhole()) {
    os << " whole";
  } else {
    os << "[";
    llvm::interleaveComma(*effect.region.ranges, os, [&](const DimRange &range) { print(range); });
    os << "]";
  }
  return text;
}

static void printStatement(TileEffectsOpInterface op, EffectPrinter &printer, bool withScratch) {
  SmallVector<Effect> effects;
  op.getTileEffects(effects);
  for (const Effect &effect : effects)
    op->emitRemark() << printer.describe(effect);
  auto kernel = op->getParentOfType<KernelOp>();
  int64_t scratchBytes = op.getScratchSharedBytes(kernel ? kernel.getNumThreads() : 1);
  if (withScratch)
    op->emitRemark() << "scratch " << scratchBytes << " bytes";
  if (op.synchronisesInside())
    op->emitRemark() << "synchronises";
}

void PrintEffectsPass::runOnOperation() {
  EffectPrinter printer(getOperation());
  getOperation().walk([&](Operation *op) {
    if (auto declared = dyn_cast<TileEffectsOpInterface>(op))
      printStatement(declared, printer, scratch);
    bool isLeaf = op->getNumRegions() == 0 && !op->hasTrait<OpTrait::IsTerminator>();
    if (isLeaf && !getEffects(op))
      op->emitRemark() << "unknown effects";
  });
}

namespace tilewright::test {
void registerPrintEffectsPass() { PassRegistration<PrintEffectsPass>(); }
} // namespace tilewright::test
