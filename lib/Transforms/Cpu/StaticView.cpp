//===- StaticView.cpp - a part of a buffer, as far as it is known before a launch -------------===//

#include "StaticView.h"
#include "tilewright/Analysis/ValueFacts.h"
#include "tilewright/Tile/Statements.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include <numeric>

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

static constexpr int64_t kDynamicExtent = ShapedType::kDynamic;

static IndexFacts getFacts(OpFoldResult value) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return IndexFacts::constant(*constant);
  return analysis::getFacts(cast<Value>(value));
}

/// The constant, or kDynamic.
static int64_t getNumber(OpFoldResult value) {
  return getConstantIntValue(value).value_or(kDynamicExtent);
}

static StaticView makeWhole(Value root, MemRefType type) {
  StaticView view;
  view.root = root;
  view.elementType = type.getElementType();
  view.isOnChip = getSpace(type) != Space::Global;
  view.surface.assign(type.getShape().begin(), type.getShape().end());
  view.extents = view.surface;
  view.base.assign(type.getRank(), IndexFacts::constant(0));
  view.steps.assign(type.getRank(), 1);
  view.dims.resize(type.getRank());
  std::iota(view.dims.begin(), view.dims.end(), 0u);
  return view;
}

static StaticView makeView(Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  if (buffer.getDefiningOp<ViewOp>())
    return makeWhole(getRoot(buffer), type);
  auto slice = buffer.getDefiningOp<SliceOp>();
  if (!slice)
    return makeWhole(buffer, type);
  StaticView source = makeView(slice.getSource()), view = source;
  view.dims.clear();
  view.steps.clear();
  view.extents.clear();
  SmallVector<OpFoldResult> offsets = slice.getMixedOffsets(), sizes = slice.getMixedSizes(),
                            steps = slice.getMixedSteps();
  auto multiply = [](int64_t a, int64_t b) {
    return ShapedType::isDynamic(a) || ShapedType::isDynamic(b) ? kDynamicExtent : a * b;
  };
  for (auto [dim, surfaceDim] : llvm::enumerate(source.dims)) {
    int64_t step = source.steps[dim];
    IndexFacts stepFacts = ShapedType::isDynamic(step) ? IndexFacts() : IndexFacts::constant(step);
    IndexFacts &base = view.base[surfaceDim];
    base = combineFacts(IndexExpr::Kind::Add, base,
                        combineFacts(IndexExpr::Kind::Mul, stepFacts, ::getFacts(offsets[dim])));
    if (llvm::is_contained(slice.getDropped(), int64_t(dim)))
      continue;
    view.dims.push_back(surfaceDim);
    view.steps.push_back(multiply(step, getNumber(steps[dim])));
    int64_t size = getNumber(sizes[dim]);
    view.extents.push_back(ShapedType::isDynamic(size) ? size : std::max<int64_t>(size, 0));
  }
  return view;
}

StaticView StaticView::get(Value buffer, Operation *user) {
  StaticView view = makeView(buffer);
  auto kernel = user->getParentOfType<KernelOp>();
  view.hasLayout = !view.isOnChip && llvm::any_of(view.root.getUsers(), [&](Operation *other) {
    auto annotation = dyn_cast<AnnotateLayoutOp>(other);
    return annotation && isa<LayoutAttr>(annotation.getLayout()) && kernel &&
           kernel->isProperAncestor(other);
  });
  return view;
}

bool StaticView::isWhole() const {
  for (auto [surfaceDim, extent] : llvm::enumerate(surface)) {
    const IndexFacts &first = base[surfaceDim];
    if (ShapedType::isDynamic(extent) || !first.isBounded() || first.low < 0)
      return false;
    int64_t room = extent - 1 - first.high; // after the first element
    if (room < 0)
      return false;
    const unsigned *found = llvm::find(dims, surfaceDim);
    if (found == dims.end())
      continue;
    int64_t step = steps[found - dims.begin()], count = extents[found - dims.begin()];
    if (ShapedType::isDynamic(step) || ShapedType::isDynamic(count) || step < 0 ||
        (step > 0 && count > 0 && (count - 1) > room / step))
      return false;
  }
  return true;
}

bool StaticView::isContiguousAlong(unsigned dim) const {
  return !hasLayout && dims[dim] + 1 == surface.size() && steps[dim] == 1 && isWhole();
}

bool StaticView::isOneStretch() const {
  bool hasAll = true;
  for (unsigned dim = surface.size(); dim-- > 0;) {
    const unsigned *found = llvm::find(dims, dim);
    int64_t extent = found == dims.end() ? 1 : extents[found - dims.begin()];
    if (!hasAll && extent != 1)
      return false;
    hasAll &= !ShapedType::isDynamic(extent) && extent == surface[dim];
  }
  return true;
}

bool StaticView::isReadAhead() const {
  int64_t bytes = getStorageBytes(elementType);
  for (int64_t extent : extents)
    bytes *= ShapedType::isDynamic(extent) ? 0 : extent;
  return !isOnChip && !hasLayout && (isOneStretch() || bytes > kMaxPrefetchedBytes);
}

StaticView StaticView::select(ArrayRef<unsigned> kept) const {
  StaticView view = *this;
  view.dims.clear();
  view.steps.clear();
  view.extents.clear();
  for (unsigned dim : kept) {
    view.dims.push_back(dims[dim]);
    view.steps.push_back(steps[dim]);
    view.extents.push_back(extents[dim]);
  }
  return view;
}

std::optional<StaticView> tilewright::getDirectMatrix(Value other, Value tile, Operation *user) {
  auto otherType = cast<MemRefType>(other.getType()), tileType = cast<MemRefType>(tile.getType());
  if (otherType.getElementType() != tileType.getElementType() || tileType.getRank() != 2 ||
      !otherType.hasStaticShape() || !tileType.hasStaticShape())
    return std::nullopt;
  SmallVector<unsigned> dims = pairDimensions(otherType.getShape(), tileType.getShape()).lhs;
  if (dims.size() != 2)
    return std::nullopt;
  StaticView matrix = StaticView::get(other, user).select(dims);
  return matrix.isContiguousAlong(1) ? std::optional(matrix) : std::nullopt;
}

bool tilewright::hasOneIteration(Operation *op) {
  auto loop = dyn_cast<PipelinedOp>(op);
  if (!loop)
    return false;
  IndexFacts lower = analysis::getFacts(loop.getLower()),
             upper = analysis::getFacts(loop.getUpper());
  return lower.isBounded() && upper.isBounded() && lower.low == lower.high &&
         upper.low == upper.high && upper.low - lower.low == 1;
}

bool tilewright::hasStaticShapes(GemmOp op) {
  return op.getA().getType().hasStaticShape() && op.getB().getType().hasStaticShape() &&
         op.getC().getType().hasStaticShape();
}

/// The ops after `point`, in its block, that compute `value`, in order; nothing if one of them is
/// more than arithmetic.
static bool collectAfter(Value value, Operation *point, llvm::SetVector<Operation *> &found) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != point->getBlock() || op->isBeforeInBlock(point))
    return true;
  if (op == point || !isPure(op) || op->getNumRegions() != 0 ||
      !llvm::all_of(op->getOperands(),
                    [&](Value operand) { return collectAfter(operand, point, found); }))
    return false;
  found.insert(op);
  return true;
}

bool tilewright::hoistBefore(Value value, Operation *point) {
  llvm::SetVector<Operation *> found;
  if (!collectAfter(value, point, found))
    return false;
  for (Operation *op : found) // operands come first
    op->moveBefore(point);
  return true;
}

int64_t tilewright::nameMatrix(Value buffer, ArrayRef<unsigned> kept, Operation *before,
                               PlanIds &ids) {
  auto type = cast<MemRefType>(buffer.getType());
  auto slice = buffer.getDefiningOp<SliceOp>();
  if (!slice || int64_t(kept.size()) != type.getRank()) {
    OpBuilder b(before);
    int64_t rank = type.getRank();
    SmallVector<OpFoldResult> offsets(rank, b.getIndexAttr(0)), steps(rank, b.getIndexAttr(1));
    SmallVector<OpFoldResult> sizes = getAsIndexOpFoldResult(b.getContext(), type.getShape());
    SmallVector<int64_t> dropped;
    for (int64_t dim = 0; dim < rank; ++dim)
      if (!llvm::is_contained(kept, unsigned(dim)))
        dropped.push_back(dim);
    slice = SliceOp::create(b, before->getLoc(), buffer, offsets, sizes, steps, dropped);
  }
  if (std::optional<int64_t> id = getPlanNumber(slice, kPlanIdAttr))
    return *id;
  int64_t id = ids.take();
  setPlanNumber(slice, kPlanIdAttr, id);
  return id;
}
