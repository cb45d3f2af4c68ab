//===- TileBounds.cpp - do accesses of on-chip tiles stay inside ------------------------------===//
//
// The proof is an interval first, then a polyhedron of all that branches, loops and assumptions say
// about the point. Counterexamples are in OutsideElements.cpp.
//
//===----------------------------------------------------------------------------------------===//

#include "tilewright/Analysis/TileBounds.h"
#include "TileSpans.h"
#include "tilewright/Analysis/Conditions.h"
#include "tilewright/Analysis/Polyhedron.h"
#include "tilewright/Analysis/ValueFacts.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::analysis {

//===----------------------------------------------------------------------------------------===//
// What is touched
//===----------------------------------------------------------------------------------------===//

int64_t TileAccess::getExtent(unsigned dim) const {
  return cast<MemRefType>(surface.getType()).getDimSize(dim);
}

static OpFoldResult getIndex(MLIRContext *context, int64_t value) {
  return IntegerAttr::get(IndexType::get(context), value);
}

/// The dims of a slice as dims of its source.
static SmallVector<TouchedDim, 4> throughSlice(SliceOp slice, ArrayRef<TouchedDim> inner) {
  MLIRContext *context = slice.getContext();
  SmallVector<TouchedDim, 4> outer;
  for (auto [dim, offset, step] : llvm::enumerate(slice.getMixedOffsets(), slice.getMixedSteps())) {
    bool isDropped = llvm::is_contained(slice.getDropped(), int64_t(dim));
    TouchedDim touched =
        isDropped ? TouchedDim{getIndex(context, 0), getIndex(context, 1), {}} : inner.front();
    inner = inner.drop_front(!isDropped);
    touched.slices.push_back({offset, step});
    outer.push_back(std::move(touched));
  }
  return outer;
}

/// What touching the element at `indices`, or all elements, of a buffer means for its surface.
static std::optional<TileAccess> describe(Operation *op, Value buffer, bool isRead,
                                          std::optional<ValueRange> indices) {
  MLIRContext *context = op->getContext();
  if (getSpace(buffer) == Space::Global)
    return std::nullopt;
  TileAccess access{op, buffer, isRead, {}};
  auto slice = buffer.getDefiningOp<SliceOp>();
  if (indices) {
    for (Value index : *indices)
      access.dims.push_back({getAsOpFoldResult(index), getIndex(context, 1), {}});
  } else if (slice) {
    for (auto [dim, size] : llvm::enumerate(slice.getMixedSizes()))
      if (!llvm::is_contained(slice.getDropped(), int64_t(dim)))
        access.dims.push_back({getIndex(context, 0), size, {}});
  } else {
    return std::nullopt; // all of a tile
  }
  for (; slice; slice = access.surface.getDefiningOp<SliceOp>()) {
    access.dims = throughSlice(slice, access.dims);
    access.surface = slice.getSource();
  }
  if (!cast<MemRefType>(access.surface.getType()).hasStaticShape())
    return std::nullopt;
  return access;
}

SmallVector<TileAccess, 2> getTileAccesses(Operation *op) {
  SmallVector<TileAccess, 2> accesses;
  auto add = [&](Value buffer, bool isRead, std::optional<ValueRange> indices) {
    if (std::optional<TileAccess> access = describe(op, buffer, isRead, indices))
      accesses.push_back(std::move(*access));
  };
  TypeSwitch<Operation *>(op)
      .Case([&](LoadOp load) { add(load.getBuffer(), true, load.getIndices()); })
      .Case<StoreOp, AtomicElementOp, ReducerUpdateOp>(
          [&](auto write) { add(write.getBuffer(), false, write.getIndices()); })
      .Case<BarrierArriveOp, BarrierWaitOp>(
          [&](auto use) { add(use.getBarriers(), true, ValueRange(use.getIndex())); })
      .Case([&](TileEffectsOpInterface statement) {
        SmallVector<Effect> effects;
        statement.getTileEffects(effects);
        for (Value operand : op->getOperands())
          if (isBufferType(operand.getType())) {
            bool isWritten = llvm::any_of(effects, [&](const Effect &effect) {
              return effect.root == getRoot(operand) && effect.kind != EffectKind::Read;
            });
            add(operand, !isWritten, std::nullopt);
          }
      });
  return accesses;
}

//===----------------------------------------------------------------------------------------===//
// The proof
//===----------------------------------------------------------------------------------------===//

std::optional<IndexExpr> translate(OpFoldResult value, IndexTranslator &translator) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return IndexExpr(*constant);
  return translator.translate(cast<Value>(value));
}

std::optional<Span> getSpan(const TouchedDim &dim, IndexTranslator &translator) {
  std::optional<IndexExpr> first = translate(dim.first, translator),
                           count = translate(dim.count, translator);
  if (!first || !count)
    return std::nullopt;
  Span span{*first, *first + *count - 1};
  for (const TouchedDim::Slice &slice : dim.slices) {
    std::optional<IndexExpr> offset = translate(slice.offset, translator),
                             step = translate(slice.step, translator);
    if (!offset || !step)
      return std::nullopt;
    span = {*offset + *step * span.first, *offset + *step * span.last};
  }
  if (!span.first.isWithinLimits() || !span.last.isWithinLimits())
    return std::nullopt;
  return span;
}

/// The range of a machine integer that becomes an index value.
static IndexFacts getCastFacts(CastOp cast) {
  auto from = dyn_cast<IntegerType>(cast.getFrom());
  if (!from || from.getWidth() > 32)
    return IndexFacts();
  bool isUnsigned = from.isUnsigned() || from.getWidth() == 1;
  int64_t width = from.getWidth();
  IndexFacts facts;
  facts.low = isUnsigned ? 0 : -(int64_t(1) << (width - 1));
  facts.high = (int64_t(1) << (isUnsigned ? width : width - 1)) - 1;
  Operation *op = cast.getValue().getDefiningOp();
  std::optional<int64_t> constant =
      op && op->getNumOperands() == 2 ? getConstantIntValue(op->getOperand(1)) : std::nullopt;
  if (!constant || *constant < 0)
    return facts;
  if (isa<arith::AndIOp>(op) || (isa<FloorModOp>(op) && *constant > 0)) {
    facts.low = 0;
    facts.high = std::min(facts.high, isa<arith::AndIOp>(op) ? *constant : *constant - 1);
  } else if (isa<ShrOp>(op) && isUnsigned && *constant < width) {
    facts.high >>= *constant;
  }
  return facts;
}

static SmallVector<IndexFacts, 4> getFactsOf(const SymbolNumbers &numbers) {
  SmallVector<IndexFacts, 4> facts(numbers.size());
  for (auto [value, number] : numbers) {
    auto cast = value.getDefiningOp<CastOp>();
    auto thread = value.getDefiningOp<ThreadIdOp>();
    facts[number] = cast ? getCastFacts(cast) : getFacts(value);
    if (thread)
      facts[number] =
          IndexFacts::inExtent(thread->getParentOfType<KernelOp>().getThreads()[thread.getDim()]);
  }
  return facts;
}

/// Adds what assumptions and assertions before an operation have made sure of.
static void addAssumptions(Operation *op, IndexTranslator &translator,
                           SmallVectorImpl<IndexExpr> &known) {
  for (; op && !isa<KernelOp>(op); op = op->getParentOp())
    for (Operation *earlier = op->getPrevNode(); earlier; earlier = earlier->getPrevNode())
      TypeSwitch<Operation *>(earlier).Case<AssumeOp, AssertOp>(
          [&](auto note) { collectKnown(note.getCondition(), true, translator, known); });
}

bool staysInside(const TileAccess &access, unsigned dim) {
  SymbolNumbers numbers;
  // Every value is the same while the operation runs.
  IndexTranslator translator(access.op, &numbers, OuterValues::Expand);
  std::optional<Span> span = getSpan(access.dims[dim], translator);
  if (!span)
    return false;
  int64_t extent = access.getExtent(dim);
  SmallVector<IndexFacts, 4> facts = getFactsOf(numbers);
  IndexFacts first = analyzeIndexExpr(span->first, {}, facts),
             last = analyzeIndexExpr(span->last, {}, facts);
  if (first.low >= 0 && last.high < extent)
    return true;
  SmallVector<IndexExpr, 4> known = getKnownNonNegative(access.op, translator, numbers);
  addAssumptions(access.op, translator, known);
  Polyhedron points({}, getFactsOf(numbers));
  for (const IndexExpr &expr : known)
    points.addNonNegative(expr);
  return (first.low >= 0 || points.excludes(IndexExpr(-1) - span->first)) &&
         (last.high < extent || points.excludes(span->last - extent));
}

} // namespace tilewright::analysis
