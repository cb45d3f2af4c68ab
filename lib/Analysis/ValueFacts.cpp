//===- ValueFacts.cpp - bounds and divisibility of SSA index values --------------------------===//

#include "tilewright/Analysis/ValueFacts.h"
#include "tilewright/Analysis/IndexValues.h"
#include "tilewright/Tile/Tile.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::analysis {

/// A variable that starts at `lower` and stays below `upper`, in steps of `step`.
static IndexFacts factsOfLoop(const IndexFacts &lower, const IndexFacts &upper,
                              std::optional<int64_t> step) {
  IndexFacts facts;
  facts.low = lower.low;
  if (upper.high != IndexFacts::kNoHigh && upper.high > IndexFacts::kNoLow)
    facts.high = upper.high - 1;
  if (step && *step > 0 && lower.modulus == 0) {
    facts.modulus = *step;
    facts.remainder = ((lower.remainder % *step) + *step) % *step;
  }
  if (facts.low != IndexFacts::kNoLow && facts.high < facts.low) // runs zero times
    facts.high = facts.low;
  return facts;
}

/// An argument that shapes bind is an extent; of other integers nothing is known.
static IndexFacts factsOfSymbol(func::FuncOp function, unsigned position) {
  if (!function.getArgAttr(position, kSymbolAttr))
    return IndexFacts();
  auto divisor = function.getArgAttrOfType<IntegerAttr>(position, kDivisorAttr);
  return IndexFacts::multipleOf(divisor ? divisor.getInt() : 1);
}

static IndexFacts factsOfArgument(BlockArgument argument, unsigned depth);

static IndexFacts getFacts(Value value, unsigned depth) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return IndexFacts::constant(*constant);
  if (!isa<IndexType>(value.getType()) || depth == 0)
    return IndexFacts();
  if (auto argument = dyn_cast<BlockArgument>(value))
    return factsOfArgument(argument, depth);
  Operation *op = value.getDefiningOp();
  std::optional<IndexExpr::Kind> kind = getIndexKind(op);
  if (!kind)
    return IndexFacts();
  return combineFacts(*kind, getFacts(op->getOperand(0), depth - 1),
                      getFacts(op->getOperand(1), depth - 1));
}

static IndexFacts factsOfArgument(BlockArgument argument, unsigned depth) {
  Operation *owner = argument.getOwner()->getParentOp();
  if (auto kernel = dyn_cast<KernelOp>(owner)) {
    unsigned position = argument.getArgNumber();
    std::optional<int64_t> extent = position < kernel.getGrid().size()
                                        ? getConstantIntValue(kernel.getGrid()[position])
                                        : std::nullopt;
    return IndexFacts::inExtent(extent && *extent > 0 ? *extent : kDynamic);
  }
  if (auto loop = dyn_cast<PipelinedOp>(owner))
    return factsOfLoop(getFacts(loop.getLower(), depth - 1), getFacts(loop.getUpper(), depth - 1),
                       1);
  if (auto loop = dyn_cast<scf::ForOp>(owner); loop && argument == loop.getInductionVar())
    return factsOfLoop(getFacts(loop.getLowerBound(), depth - 1),
                       getFacts(loop.getUpperBound(), depth - 1),
                       getConstantIntValue(loop.getStep()));
  if (auto loop = dyn_cast<ParallelOp>(owner)) {
    std::optional<int64_t> extent =
        getConstantIntValue(loop.getMixedExtents()[argument.getArgNumber()]);
    return IndexFacts::inExtent(extent.value_or(kDynamic));
  }
  if (auto function = dyn_cast<func::FuncOp>(owner))
    return factsOfSymbol(function, argument.getArgNumber());
  return IndexFacts();
}

IndexFacts getFacts(Value value) { return getFacts(value, 16); }

std::optional<IndexExpr> translateExtent(Value root, unsigned dim, IndexTranslator &translator) {
  auto type = cast<MemRefType>(root.getType());
  if (!type.isDynamicDim(dim))
    return IndexExpr(type.getDimSize(dim));
  if (auto alloc = root.getDefiningOp<AllocOp>())
    return translator.translate(alloc.getDynamicExtents()[type.getDynamicDimIndex(dim)]);
  auto argument = dyn_cast<BlockArgument>(root);
  auto function =
      argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
  auto shape = function ? function.getArgAttrOfType<ShapeAttr>(argument.getArgNumber(), kShapeAttr)
                        : ShapeAttr();
  if (!shape)
    return std::nullopt;
  SmallVector<IndexExpr> symbols;
  for (StringAttr name : shape.getSymbols())
    for (BlockArgument other : function.getArguments())
      if (function.getArgAttr(other.getArgNumber(), kSymbolAttr) == name)
        if (std::optional<IndexExpr> symbol = translator.translate(other))
          symbols.push_back(*symbol);
  if (symbols.size() != shape.getSymbols().size())
    return std::nullopt;
  return shape.getExtents()[dim].substitute({}, symbols);
}

SmallVector<IndexFacts, 4> getSymbolFacts(const SymbolNumbers &numbers) {
  SmallVector<IndexFacts, 4> symbols(numbers.size());
  for (auto [value, number] : numbers)
    symbols[number] = getFacts(value);
  return symbols;
}

IndexFacts getExtentFacts(Value root, unsigned dim, Operation *scope) {
  SymbolNumbers numbers;
  IndexTranslator translator(scope, &numbers, OuterValues::Expand);
  std::optional<IndexExpr> extent = translateExtent(root, dim, translator);
  return extent ? analyzeIndexExpr(*extent, {}, getSymbolFacts(numbers))
                : IndexFacts::multipleOf(1);
}

} // namespace tilewright::analysis
