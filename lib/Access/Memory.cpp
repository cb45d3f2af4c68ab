//===- Memory.cpp - where a buffer's elements lie --------------------------------------------===//

#include "tilewright/Access/Memory.h"
#include "Surroundings.h"
#include "tilewright/Analysis/Conditions.h"
#include "tilewright/Analysis/ValueFacts.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::access {

/// Shared tiles start on 128 bytes (tile-plan-shared-memory).
static constexpr int64_t kSharedAlignment = 128;

Context::Context(KernelOp kernel, const Arch &arch, CallFacts calls)
    : kernel(kernel), arch(arch), calls(std::move(calls)) {
  kernel.walk([&](AnnotateLayoutOp note) {
    if (auto layout = dyn_cast<LayoutAttr>(note.getLayout()))
      layouts.insert_or_assign(note.getBuffer(), layout.getLayout());
  });
}

std::optional<Memory> getMemory(Value root, const Context &context) {
  auto type = cast<MemRefType>(root.getType());
  Memory memory;
  memory.extents.assign(type.getShape().begin(), type.getShape().end());
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    memory.extentDivisors.push_back(
        std::max<int64_t>(analysis::getExtentFacts(root, dim, context.kernel).getDivisor(), 1));
  memory.elementBytes = getStorageBytes(type.getElementType());
  if (getSpace(type) == Space::Global) {
    memory.isGlobal = true;
    memory.baseAlignment = std::max(memory.elementBytes, context.calls.argumentAlignment);
    if (auto it = context.layouts.find(root); it != context.layouts.end())
      memory.layout = it->second;
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

/// A coordinate that must lie in an extent.
using Bounded = std::pair<IndexExpr, int64_t>;

/// Walks from a view to its root, as ThreadLowering::viewCoordinates does with values. A view of a
/// tensor has bounds of its own, which the root's do not tell: `bounds` are its coordinates.
static std::optional<SmallVector<IndexExpr, 4>> throughViews(Value buffer,
                                                             SmallVector<IndexExpr, 4> coordinates,
                                                             analysis::IndexTranslator &translator,
                                                             SmallVectorImpl<Bounded> &bounds) {
  bool isGlobal = getSpace(buffer) == Space::Global;
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
      for (auto [coordinate, extent] : llvm::zip(coordinates, to.getShape())) {
        number = number * extent + coordinate;
        if (isGlobal)
          bounds.emplace_back(coordinate, extent);
      }
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

/// Whether no access leaves the views it goes through; one that may is guarded by itself.
static bool areInside(ArrayRef<Bounded> bounds, ArrayRef<int64_t> extentsOfDims,
                      ArrayRef<IndexFacts> symbols) {
  return llvm::all_of(bounds, [&](const Bounded &bounded) {
    IndexFacts facts = analyzeIndexExpr(bounded.first, factsOfShape(extentsOfDims), symbols);
    return facts.low >= 0 && facts.high < bounded.second;
  });
}

/// The roots that some statement of a loop changes.
static llvm::SmallDenseSet<Value, 4> getWrittenRoots(ParallelOp loop) {
  llvm::SmallDenseSet<Value, 4> written;
  loop.walk([&](Operation *op) {
    if (isa<StoreOp, AtomicElementOp, ReducerUpdateOp>(op))
      for (Value operand : op->getOperands())
        if (isa<MemRefType>(operand.getType()))
          written.insert(getRoot(operand));
  });
  return written;
}

std::optional<AccessCoordinates> getCoordinates(Operation *access, ParallelOp loop, Value buffer,
                                                ValueRange indices) {
  analysis::SymbolNumbers numbers;
  analysis::IndexTranslator translator(loop, &numbers, analysis::OuterValues::Expand);
  for (BlockArgument iterator : loop.getIterators())
    translator.addDim(iterator);
  // A row that a table names: the loop writes no table, so equal indices hold equal numbers. Only few
  // accesses have one, and a loop may have thousands of accesses.
  std::optional<llvm::SmallDenseSet<Value, 4>> written;
  translator.allowFunctions([&](Operation *op) {
    auto load = dyn_cast<LoadOp>(op);
    if (load && !written)
      written = getWrittenRoots(loop);
    return load && !written->contains(getRoot(load.getBuffer()));
  });
  SmallVector<IndexExpr, 4> coordinates;
  for (Value index : indices) {
    std::optional<IndexExpr> expr = translator.translate(index);
    if (!expr)
      return std::nullopt;
    coordinates.push_back(*expr);
  }
  SmallVector<Bounded> bounds;
  std::optional<SmallVector<IndexExpr, 4>> found =
      throughViews(buffer, std::move(coordinates), translator, bounds);
  if (!found)
    return std::nullopt;
  AccessCoordinates result;
  result.coordinates = std::move(*found);
  result.tests = getBranchTests(access, loop, translator);
  Value root = getRoot(buffer);
  for (unsigned dim = 0; dim < result.coordinates.size(); ++dim)
    result.extents.push_back(analysis::translateExtent(root, dim, translator));
  result.known = analysis::getKnownNonNegative(access, translator, numbers);
  result.symbols = analysis::getSymbolFacts(numbers);
  for (unsigned symbol = 0; symbol < numbers.size(); ++symbol)
    result.arguments.emplace_back(translator.getArguments(symbol));
  SmallVector<int64_t, 4> extents;
  for (OpFoldResult extent : loop.getMixedExtents())
    extents.push_back(getConstantIntValue(extent).value_or(kDynamic));
  if (!areInside(bounds, extents, result.symbols))
    return std::nullopt;
  return result;
}

std::optional<AccessCoordinates> getMatrixCoordinates(Operation *op, Value buffer) {
  analysis::SymbolNumbers numbers;
  analysis::IndexTranslator translator(op, &numbers, analysis::OuterValues::Expand);
  ArrayRef<int64_t> shape = cast<MemRefType>(buffer.getType()).getShape();
  SmallVector<IndexExpr, 4> coordinates(shape.size(), IndexExpr(0));
  coordinates[coordinates.size() - 2] = IndexExpr::dim(0);
  coordinates[coordinates.size() - 1] = IndexExpr::dim(1);
  SmallVector<Bounded> bounds;
  std::optional<SmallVector<IndexExpr, 4>> found =
      throughViews(buffer, std::move(coordinates), translator, bounds);
  if (!found)
    return std::nullopt;
  AccessCoordinates result;
  result.coordinates = std::move(*found);
  result.symbols = analysis::getSymbolFacts(numbers);
  if (!areInside(bounds, shape.take_back(2), result.symbols))
    return std::nullopt;
  return result;
}

} // namespace tilewright::access
