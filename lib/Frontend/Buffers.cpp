//===- Buffers.cpp - allocations, elements and regions of buffers ----------------------------===//

#include "tilewright/Frontend/Buffers.h"
#include "Contribution.h"
#include "SliceSize.h"
#include "tilewright/Tile/Scalars.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace tilewright::frontend {

//===----------------------------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------------------------===//

Buffer Buffers::allocTile(StringRef name, ArrayRef<IndexExpr> shape, Type dtype, tile::Space space,
                          std::optional<tile::ReduceKind> reducer) {
  regions.requireKernel("an allocation of a tile");
  for (const IndexExpr &extent : shape) {
    std::optional<int64_t> constant = extent.getConstant();
    if (!constant)
      emitter.fail("an on-chip tile needs constant extents, this one depends on a shape symbol");
    if (*constant < 1)
      emitter.fail("extent " + Twine(*constant) + " of a tile is not positive");
  }
  if (shape.empty())
    emitter.fail("a tile has at least one dimension; 'T.alloc_var' makes a scalar");
  auto attribute =
      reducer ? tile::ReduceKindAttr::get(emitter.getContext(), *reducer) : tile::ReduceKindAttr();
  auto op =
      emitter.createVerified<tile::AllocOp>(makeBufferType(emitter, shape, dtype, space),
                                            builder.getStringAttr(name), ValueRange(), attribute);
  return {op.getBuffer(), dtype, std::vector<Extent>(shape.begin(), shape.end()), false,
          emitter.getId()};
}

Buffer Buffers::allocGlobal(StringRef name, ArrayRef<IndexExpr> shape, Type dtype) {
  MemRefType type = makeBufferType(emitter, shape, dtype, tile::Space::Global);
  SmallVector<Value> dynamicExtents;
  // A workspace belongs to the launch: it stands before the kernel that names it.
  OpBuilder::InsertionGuard guard(builder);
  if (Operation *kernel = regions.findKernel())
    builder.setInsertionPoint(kernel);
  for (const IndexExpr &extent : shape)
    if (!extent.getConstant())
      dynamicExtents.push_back(scalars.fromIndexExpr(extent));
  auto op = emitter.createVerified<tile::AllocOp>(type, builder.getStringAttr(name), dynamicExtents,
                                                  tile::ReduceKindAttr());
  return {op.getBuffer(), dtype, std::vector<Extent>(shape.begin(), shape.end()), false,
          emitter.getId()};
}

void Buffers::rename(const Buffer &buffer, StringRef name) {
  emitter.checkOwn(buffer.traceId);
  if (auto op = buffer.value.getDefiningOp<tile::AllocOp>())
    op.setName(name);
  else if (auto barriers = buffer.value.getDefiningOp<tile::BarrierAllocOp>())
    barriers.setName(name);
}

Buffer Buffers::view(const Buffer &buffer, ArrayRef<IndexExpr> shape, Type dtype) {
  emitter.checkOwn(buffer.traceId);
  MemRefType type = makeBufferType(emitter, shape, dtype, tile::getSpace(buffer.value));
  auto op = emitter.createVerified<tile::ViewOp>(type, buffer.value);
  if (!type.hasStaticShape())
    op->setAttr(tile::kShapeAttr, signature.makeShapeAttr(shape));
  return {op.getResult(), dtype, std::vector<Extent>(shape.begin(), shape.end()), false,
          emitter.getId()};
}

//===----------------------------------------------------------------------------------------===//
// Elements and regions
//===----------------------------------------------------------------------------------------===//

static std::string nameOf(const Buffer &buffer) {
  StringRef name = tile::getName(buffer.value);
  return name.empty() ? "the buffer" : ("'" + name + "'").str();
}

Value Buffers::extentValue(const Extent &extent) {
  if (auto *expr = std::get_if<IndexExpr>(&extent))
    return scalars.fromIndexExpr(*expr);
  return std::get<Scalar>(extent).value;
}

OpFoldResult Buffers::extentOrConstant(const Extent &extent) {
  if (auto *expr = std::get_if<IndexExpr>(&extent))
    if (std::optional<int64_t> constant = expr->getConstant())
      return builder.getIndexAttr(*constant);
  return getAsOpFoldResult(extentValue(extent));
}

Buffer Buffers::slice(const Buffer &source, ArrayRef<OpFoldResult> offsets, ArrayRef<Extent> sizes,
                      ArrayRef<OpFoldResult> steps, ArrayRef<int64_t> dropped) {
  emitter.checkOwn(source.traceId);
  SmallVector<OpFoldResult> mixedSizes;
  for (const Extent &size : sizes)
    mixedSizes.push_back(extentOrConstant(size));
  auto op =
      emitter.createVerified<tile::SliceOp>(source.value, offsets, mixedSizes, steps, dropped);
  std::vector<Extent> shape;
  for (auto [dim, size] : llvm::enumerate(sizes))
    if (!llvm::is_contained(dropped, int64_t(dim)))
      shape.push_back(size);
  return {op.getResult(), source.dtype, std::move(shape), true, emitter.getId()};
}

/// A Python number as an index of a dimension, where negative ones count from the end.
static std::optional<int64_t> wrapNegative(const Operand &operand, std::optional<int64_t> extent) {
  auto *literal = std::get_if<Literal>(&operand);
  if (!literal || literal->kind == Literal::Kind::Float || literal->isUnsigned64 ||
      literal->integer >= 0 || !extent)
    return std::nullopt;
  return literal->integer + *extent;
}

std::variant<Buffer, Element> Buffers::subscript(const Buffer &buffer,
                                                 ArrayRef<Subscript> entries) {
  emitter.checkOwn(buffer.traceId);
  unsigned rank = buffer.getRank();
  if (entries.size() > rank)
    emitter.fail(nameOf(buffer) + " has " + Twine(rank) + " dimensions, got " +
                 Twine(entries.size()) + " indices");
  bool isElement = entries.size() == rank && llvm::all_of(entries, [](const Subscript &entry) {
                     return std::holds_alternative<Operand>(entry);
                   });
  SmallVector<OpFoldResult> offsets, steps;
  SmallVector<Extent> sizes;
  SmallVector<int64_t> dropped;
  for (unsigned dim = 0; dim < rank; ++dim) {
    std::optional<int64_t> extent = buffer.getStaticExtent(dim);
    auto bound = [&](const Operand &operand) -> OpFoldResult {
      if (std::optional<int64_t> wrapped = wrapNegative(operand, extent))
        return builder.getIndexAttr(*wrapped);
      return scalars.toIndexOrConstant(operand, "index of " + nameOf(buffer));
    };
    steps.push_back(builder.getIndexAttr(1));
    if (dim >= entries.size()) {
      offsets.push_back(builder.getIndexAttr(0));
      sizes.push_back(buffer.shape[dim]);
      continue;
    }
    if (auto *index = std::get_if<Operand>(&entries[dim])) {
      offsets.push_back(bound(*index));
      sizes.push_back(IndexExpr(1));
      dropped.push_back(dim);
      continue;
    }
    const Slice &range = std::get<Slice>(entries[dim]);
    OpFoldResult start = range.start ? bound(*range.start) : OpFoldResult(builder.getIndexAttr(0));
    OpFoldResult step =
        range.step ? scalars.toIndexOrConstant(*range.step, "step of a slice") : steps.back();
    std::optional<int64_t> constantStep = getConstantIntValue(step);
    if (!constantStep || *constantStep < 1)
      emitter.fail("slice of " + nameOf(buffer) + ": the step must be a positive constant");
    offsets.push_back(start);
    steps.back() = step;
    // The size is stop - start, which must be a number for on-chip tiles; sums such as
    // `k * 32 : (k + 1) * 32` are compared term by term.
    if (!range.start && !range.stop && *constantStep == 1) {
      sizes.push_back(buffer.shape[dim]);
      continue;
    }
    OpFoldResult stop = range.stop ? bound(*range.stop) : extentOrConstant(buffer.shape[dim]);
    if (std::optional<int64_t> count = getSliceSize(start, stop)) {
      if (*count < 0)
        emitter.fail("slice of " + nameOf(buffer) + " in dimension " + Twine(dim) + " has size " +
                     Twine(*count) + ": it ends before it starts");
      sizes.push_back(IndexExpr(int64_t(llvm::divideCeil(*count, *constantStep))));
      continue;
    }
    Type index = builder.getIndexType();
    auto asScalar = [&](OpFoldResult value) {
      return emitter.wrap(getValueOrCreateConstantIndexOp(builder, emitter.getLocation(), value),
                          index);
    };
    Scalar size = arithmetic.binary(BinaryKind::Sub, asScalar(stop), asScalar(start));
    if (*constantStep != 1) {
      size = arithmetic.binary(BinaryKind::Add, size, Literal::ofInt(*constantStep - 1));
      size = arithmetic.binary(BinaryKind::FloorDiv, size, Literal::ofInt(*constantStep));
    }
    sizes.push_back(arithmetic.binary(BinaryKind::Max, size, Literal::ofInt(0)));
  }
  if (!isElement)
    return slice(buffer, offsets, sizes, steps, dropped);
  Element element{buffer, {}};
  for (OpFoldResult offset : offsets)
    element.indices.push_back(
        emitter.wrap(getValueOrCreateConstantIndexOp(builder, emitter.getLocation(), offset),
                     builder.getIndexType()));
  return element;
}

Buffer Buffers::runOf(const Element &element, int64_t count) {
  unsigned rank = element.buffer.getRank();
  if (rank == 0 || count < 1)
    emitter.fail("expected an element of a buffer and a positive number of elements");
  SmallVector<OpFoldResult> offsets, steps(rank, builder.getIndexAttr(1));
  SmallVector<Extent> sizes(rank - 1, IndexExpr(1));
  sizes.push_back(IndexExpr(count));
  SmallVector<int64_t> dropped;
  for (unsigned dim = 0; dim + 1 < rank; ++dim)
    dropped.push_back(dim);
  for (const Scalar &index : element.indices)
    offsets.push_back(getAsOpFoldResult(index.value));
  return slice(element.buffer, offsets, sizes, steps, dropped);
}

Buffer Buffers::regionAt(const Element &element, const Buffer &like, StringRef what) {
  unsigned rank = element.buffer.getRank();
  SmallVector<Extent> extents(like.shape.begin(), like.shape.end());
  while (extents.size() > rank) {
    auto *leading = std::get_if<IndexExpr>(&extents.front());
    if (!leading || !leading->isConstant(1))
      emitter.fail(what + ": " + nameOf(like) + " has rank " + Twine(like.getRank()) + ", " +
                   nameOf(element.buffer) + " has only " + Twine(rank) + " dimensions");
    extents.erase(extents.begin());
  }
  SmallVector<OpFoldResult> offsets, steps(rank, builder.getIndexAttr(1));
  SmallVector<Extent> sizes(rank - extents.size(), IndexExpr(1));
  SmallVector<int64_t> dropped;
  for (unsigned dim = 0; dim < sizes.size(); ++dim)
    dropped.push_back(dim);
  llvm::append_range(sizes, extents);
  for (const Scalar &index : element.indices)
    offsets.push_back(getAsOpFoldResult(index.value));
  return slice(element.buffer, offsets, sizes, steps, dropped);
}

/// True if a region certainly ends in a dimension where its tensor does.
static bool endsAtEdge(Value region, unsigned dim) {
  auto slice = region.getDefiningOp<tile::SliceOp>();
  if (!slice)
    return !region.getDefiningOp<tile::ViewOp>();
  unsigned position = 0, left = dim;
  while (llvm::is_contained(slice.getDropped(), int64_t(position)) || left-- > 0)
    ++position;
  auto source = cast<MemRefType>(slice.getSource().getType());
  std::optional<int64_t> offset = getConstantIntValue(slice.getMixedOffsets()[position]),
                         size = getConstantIntValue(slice.getMixedSizes()[position]),
                         step = getConstantIntValue(slice.getMixedSteps()[position]);
  return offset && size && step == 1 && *offset + *size == source.getDimSize(position) &&
         endsAtEdge(slice.getSource(), position);
}

std::pair<Buffer, Buffer> Buffers::matchExtents(const TileOperand &source, const TileOperand &dest,
                                                StringRef what) {
  auto *fromElement = std::get_if<Element>(&source), *toElement = std::get_if<Element>(&dest);
  assert((!fromElement || !toElement) && "two elements are a scalar statement");
  if (fromElement) {
    const Buffer &to = std::get<Buffer>(dest);
    return {regionAt(*fromElement, to, what), to};
  }
  const Buffer &from = std::get<Buffer>(source);
  if (toElement)
    return {from, regionAt(*toElement, from, what)};
  const Buffer &to = std::get<Buffer>(dest);
  return {reachBeyondEdge(from, to), reachBeyondEdge(to, from)};
}

/// The dimensions of a buffer that are not 1.
static SmallVector<unsigned> longDimsOf(const Buffer &buffer) {
  SmallVector<unsigned> dims;
  for (unsigned dim = 0; dim < buffer.getRank(); ++dim)
    if (buffer.getStaticExtent(dim) != 1)
      dims.push_back(dim);
  return dims;
}

// `T.copy(Q[i, 0:64, :], tile)` where the rows of 'Q' have 40 elements and those of the tile 48, a
// multiple of what a gemm takes: the region ends where the tensor does, so that its 8 missing
// elements are beyond the edge. They read as the safe value, and writes there are dropped.
Buffer Buffers::reachBeyondEdge(const Buffer &region, const Buffer &tile) {
  if (tile::getSpace(region.value) != tile::Space::Global ||
      tile::getSpace(tile.value) == tile::Space::Global)
    return region;
  SmallVector<unsigned> dims = longDimsOf(region), tileDims = longDimsOf(tile);
  if (dims.size() != tileDims.size())
    return region;
  unsigned rank = region.getRank();
  SmallVector<Extent> sizes(region.shape.begin(), region.shape.end());
  bool isLonger = false;
  for (auto [dim, tileDim] : llvm::zip_equal(dims, tileDims)) {
    std::optional<int64_t> extent = region.getStaticExtent(dim),
                           wanted = tile.getStaticExtent(tileDim);
    if (!extent || !wanted || *extent >= *wanted || !endsAtEdge(region.value, dim))
      continue;
    sizes[dim] = IndexExpr(*wanted);
    isLonger = true;
  }
  if (!isLonger)
    return region;
  SmallVector<OpFoldResult> zeros(rank, builder.getIndexAttr(0)),
      ones(rank, builder.getIndexAttr(1));
  return slice(region, zeros, sizes, ones, {});
}

Buffer Buffers::asMatrix(const Buffer &buffer) {
  emitter.checkOwn(buffer.traceId);
  unsigned rank = buffer.getRank();
  if (rank <= 2)
    return buffer;
  SmallVector<int64_t> dropped;
  for (unsigned dim = 0; dim + 2 < rank; ++dim) {
    if (buffer.getStaticExtent(dim) != 1)
      return buffer;
    dropped.push_back(dim);
  }
  SmallVector<OpFoldResult> zeros(rank, builder.getIndexAttr(0)),
      ones(rank, builder.getIndexAttr(1));
  return slice(buffer, zeros, buffer.shape, ones, dropped);
}

//===----------------------------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------------------------===//

void Buffers::store(const Element &element, const Operand &value) {
  emitter.checkOwn(element.buffer.traceId);
  Scalar converted = scalars.convert(value, element.buffer.dtype);
  SmallVector<Value> indices;
  for (const Scalar &index : element.indices)
    indices.push_back(index.value);
  std::optional<Contribution> part = findContribution(emitter, converted.value, element, indices);
  if (!part) {
    emitter.createVerified<tile::StoreOp>(converted.value, element.buffer.value, indices);
    return;
  }
  Operand contributed = part->value;
  if (part->isSubtracted)
    contributed = arithmetic.unary(UnaryKind::Neg, contributed);
  emitter.createVerified<tile::ReducerUpdateOp>(
      scalars.convert(contributed, element.buffer.dtype).value, element.buffer.value, indices);
}

} // namespace tilewright::frontend
