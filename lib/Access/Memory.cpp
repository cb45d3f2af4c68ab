//===- Memory.cpp - where a buffer's elements lie --------------------------------------------===//

#include "tilewright/Access/Memory.h"
#include "tilewright/Analysis/IndexValues.h"
#include "tilewright/Analysis/ValueFacts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::access {

/// Shared tiles start on 128 bytes (tile-plan-shared-memory).
static constexpr int64_t kSharedAlignment = 128;

std::optional<Memory> getMemory(Value root, KernelOp kernel, const Assumptions &assumptions) {
  auto type = cast<MemRefType>(root.getType());
  Memory memory;
  memory.extents.assign(type.getShape().begin(), type.getShape().end());
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    memory.extentDivisors.push_back(
        std::max<int64_t>(analysis::getExtentFacts(root, dim).getDivisor(), 1));
  memory.elementBytes = getStorageBytes(type.getElementType());
  if (getSpace(type) == Space::Global) {
    memory.isGlobal = true;
    memory.baseAlignment = std::max(memory.elementBytes, assumptions.argumentAlignment);
    kernel.walk([&](AnnotateLayoutOp note) {
      if (note.getBuffer() == root)
        memory.layout = cast<LayoutAttr>(note.getLayout()).getLayout();
    });
    return memory;
  }
  auto alloc = root.getDefiningOp<AllocOp>();
  auto placement = alloc ? alloc->getAttrOfType<LayoutAttr>(kPlacementAttr) : LayoutAttr();
  if (!placement)
    return std::nullopt;
  memory.layout = placement.getLayout();
  memory.baseAlignment = kSharedAlignment;
  return memory;
}

/// Walks from a view to its root, as ThreadLowering::viewCoordinates does with values.
static std::optional<SmallVector<IndexExpr, 4>>
throughViews(Value buffer, SmallVector<IndexExpr, 4> coordinates,
             analysis::IndexTranslator &translator) {
  while (Operation *op = buffer.getDefiningOp()) {
    SmallVector<IndexExpr, 4> source;
    if (auto slice = dyn_cast<SliceOp>(op)) {
      auto translate = [&](OpFoldResult result) -> std::optional<IndexExpr> {
        if (std::optional<int64_t> constant = getConstantIntValue(result))
          return IndexExpr(*constant);
        return translator.translate(cast<Value>(result));
      };
      SmallVector<OpFoldResult> offsets = slice.getMixedOffsets(), steps = slice.getMixedSteps();
      unsigned next = 0;
      for (unsigned dim = 0; dim < offsets.size(); ++dim) {
        std::optional<IndexExpr> offset = translate(offsets[dim]), step = translate(steps[dim]);
        if (!offset || !step)
          return std::nullopt;
        bool isDropped = llvm::is_contained(slice.getDropped(), int64_t(dim));
        source.push_back(isDropped ? *offset : coordinates[next++] * *step + *offset);
      }
      buffer = slice.getSource();
    } else if (auto view = dyn_cast<ViewOp>(op)) {
      auto from = cast<MemRefType>(view.getSource().getType()),
           to = cast<MemRefType>(view.getResult().getType());
      if (from.getElementType() != to.getElementType() || !from.hasStaticShape() ||
          !to.hasStaticShape())
        return std::nullopt;
      IndexExpr number(0);
      for (auto [coordinate, extent] : llvm::zip(coordinates, to.getShape()))
        number = number * extent + coordinate;
      source.resize(from.getRank());
      for (int64_t dim = from.getRank() - 1; dim >= 0; --dim) {
        source[dim] = dim == 0 ? number : number % from.getDimSize(dim);
        number = floorDiv(number, from.getDimSize(dim));
      }
      buffer = view.getSource();
    } else {
      break;
    }
    coordinates = std::move(source);
  }
  return coordinates;
}

static std::optional<AccessCoordinates> inRoot(Value buffer, SmallVector<IndexExpr, 4> coordinates,
                                               analysis::IndexTranslator &translator,
                                               analysis::SymbolNumbers &numbers) {
  auto found = throughViews(buffer, std::move(coordinates), translator);
  if (!found)
    return std::nullopt;
  AccessCoordinates result;
  result.coordinates = std::move(*found);
  result.symbols.resize(numbers.size());
  for (auto [value, number] : numbers)
    result.symbols[number] = analysis::getFacts(value);
  return result;
}

/// Whether a value is the same for all iterations of a loop.
static bool isUniform(Value value, ParallelOp loop, unsigned depth = 16) {
  if (!loop->isAncestor(value.getParentBlock()->getParentOp()))
    return true;
  Operation *op = value.getDefiningOp();
  return op && isPure(op) && op->getNumRegions() == 0 && depth > 0 &&
         llvm::all_of(op->getOperands(),
                      [&](Value operand) { return isUniform(operand, loop, depth - 1); });
}

/// Adds the comparisons that decide a condition; false where something else does.
static bool collectTests(Value condition, ParallelOp loop, analysis::IndexTranslator &translator,
                         SmallVectorImpl<BranchTest> &tests) {
  if (isUniform(condition, loop))
    return true;
  Operation *op = condition.getDefiningOp();
  if (isa_and_present<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op))
    return collectTests(op->getOperand(0), loop, translator, tests) &&
           collectTests(op->getOperand(1), loop, translator, tests);
  auto compare = dyn_cast_or_null<arith::CmpIOp>(op);
  if (!compare || !isa<IndexType>(compare.getLhs().getType()))
    return false;
  std::optional<IndexExpr> lhs = translator.translate(compare.getLhs()),
                           rhs = translator.translate(compare.getRhs());
  if (!lhs || !rhs)
    return false;
  using P = arith::CmpIPredicate;
  switch (compare.getPredicate()) {
  case P::eq:
  case P::ne:
    tests.push_back({*lhs - *rhs, /*isEquality=*/true});
    return true;
  case P::slt:
  case P::sge:
    tests.push_back({*lhs - *rhs});
    return true;
  case P::sgt:
  case P::sle:
    tests.push_back({*rhs - *lhs});
    return true;
  default:
    return false;
  }
}

std::optional<AccessCoordinates> getCoordinates(ParallelOp loop, Value buffer, ValueRange indices,
                                                ArrayRef<Value> conditions) {
  analysis::SymbolNumbers numbers;
  analysis::IndexTranslator translator(loop, &numbers, analysis::OuterValues::Expand);
  for (BlockArgument iterator : loop.getIterators())
    translator.addDim(iterator);
  SmallVector<IndexExpr, 4> coordinates;
  for (Value index : indices) {
    std::optional<IndexExpr> expr = translator.translate(index);
    if (!expr)
      return std::nullopt;
    coordinates.push_back(*expr);
  }
  SmallVector<BranchTest, 2> tests;
  bool areKnown = llvm::all_of(conditions, [&](Value condition) {
    return collectTests(condition, loop, translator, tests);
  });
  auto result = inRoot(buffer, std::move(coordinates), translator, numbers);
  if (result && areKnown)
    result->tests = std::move(tests);
  return result;
}

std::optional<AccessCoordinates> getMatrixCoordinates(Operation *op, Value buffer) {
  analysis::SymbolNumbers numbers;
  analysis::IndexTranslator translator(op, &numbers, analysis::OuterValues::Expand);
  SmallVector<IndexExpr, 4> coordinates(cast<MemRefType>(buffer.getType()).getRank(), IndexExpr(0));
  coordinates[coordinates.size() - 2] = IndexExpr::dim(0);
  coordinates[coordinates.size() - 1] = IndexExpr::dim(1);
  return inRoot(buffer, std::move(coordinates), translator, numbers);
}

} // namespace tilewright::access
