//===- Subscripts.cpp - elements and regions of buffers --------------------------------------===//
//
// `A[i, j]` is an element, `A[i, 0:n]` a region. A scalar entry drops its dimension from a region;
// missing trailing entries take all of theirs. A side of a copy that is only an element takes its
// extents from the other side, aligned at the last dimension.
//
//===----------------------------------------------------------------------------------------===//

#include "SliceSize.h"
#include "TraceImpl.h"
#include "tilewright/Frontend/DTypes.h"
#include "tilewright/Tile/Scalars.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace tilewright::frontend {

static std::string nameOf(const Buffer &buffer) {
  StringRef name = tile::getName(buffer.value);
  return name.empty() ? "the buffer" : ("'" + name + "'").str();
}

Value Trace::extentValue(const Extent &extent) {
  if (auto *expr = std::get_if<IndexExpr>(&extent))
    return materializeIndexExpr(*expr);
  return std::get<Scalar>(extent).value;
}

OpFoldResult Trace::extentOrConstant(const Extent &extent) {
  if (auto *expr = std::get_if<IndexExpr>(&extent))
    if (std::optional<int64_t> constant = expr->getConstant())
      return builder.getIndexAttr(*constant);
  return getAsOpFoldResult(extentValue(extent));
}

Buffer Trace::slice(const Buffer &source, ArrayRef<OpFoldResult> offsets, ArrayRef<Extent> sizes,
                    ArrayRef<OpFoldResult> steps, ArrayRef<int64_t> dropped) {
  checkOwn(source.traceId);
  SmallVector<OpFoldResult> mixedSizes;
  for (const Extent &size : sizes)
    mixedSizes.push_back(extentOrConstant(size));
  auto op = verified(create<tile::SliceOp>(source.value, offsets, mixedSizes, steps, dropped));
  std::vector<Extent> shape;
  for (auto [dim, size] : llvm::enumerate(sizes))
    if (!llvm::is_contained(dropped, int64_t(dim)))
      shape.push_back(size);
  return {op.getResult(), source.dtype, std::move(shape), true, id};
}

/// A Python number as an index of a dimension, where negative ones count from the end.
static std::optional<int64_t> wrapNegative(const Operand &operand, std::optional<int64_t> extent) {
  auto *literal = std::get_if<Literal>(&operand);
  if (!literal || literal->kind == Literal::Kind::Float || literal->integer >= 0 || !extent)
    return std::nullopt;
  return literal->integer + *extent;
}

std::variant<Buffer, Element> Trace::subscript(const Buffer &buffer, ArrayRef<Subscript> entries) {
  checkOwn(buffer.traceId);
  unsigned rank = buffer.getRank();
  if (entries.size() > rank)
    fail(nameOf(buffer) + " has " + Twine(rank) + " dimensions, got " + Twine(entries.size()) +
         " indices");
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
      return toIndexOrConstant(operand, "index of " + nameOf(buffer));
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
        range.step ? toIndexOrConstant(*range.step, "step of a slice") : steps.back();
    std::optional<int64_t> constantStep = getConstantIntValue(step);
    if (!constantStep || *constantStep < 1)
      fail("slice of " + nameOf(buffer) + ": the step must be a positive constant");
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
        fail("slice of " + nameOf(buffer) + " in dimension " + Twine(dim) + " has size " +
             Twine(*count) + ": it ends before it starts");
      sizes.push_back(IndexExpr(int64_t(llvm::divideCeil(*count, *constantStep))));
      continue;
    }
    Type index = builder.getIndexType();
    auto asScalar = [&](OpFoldResult value) {
      return wrap(getValueOrCreateConstantIndexOp(builder, location(), value), index);
    };
    Scalar size = binary(BinaryKind::Sub, asScalar(stop), asScalar(start));
    if (*constantStep != 1) {
      size = binary(BinaryKind::Add, size, Literal::ofInt(*constantStep - 1));
      size = binary(BinaryKind::FloorDiv, size, Literal::ofInt(*constantStep));
    }
    sizes.push_back(binary(BinaryKind::Max, size, Literal::ofInt(0)));
  }
  if (!isElement)
    return slice(buffer, offsets, sizes, steps, dropped);
  Element element{buffer, {}};
  for (OpFoldResult offset : offsets)
    element.indices.push_back(
        wrap(getValueOrCreateConstantIndexOp(builder, location(), offset), builder.getIndexType()));
  return element;
}

/// Whether an op combines its two operands as reducers of this kind do.
static bool combines(Operation *op, tile::ReduceKind kind) {
  switch (kind) {
  case tile::ReduceKind::Sum:
    return isa<arith::AddFOp, arith::AddIOp>(op);
  case tile::ReduceKind::Max:
    return isa<arith::MaxNumFOp, arith::MaxSIOp, arith::MaxUIOp>(op);
  case tile::ReduceKind::Min:
    return isa<arith::MinNumFOp, arith::MinSIOp, arith::MinUIOp>(op);
  case tile::ReduceKind::And:
    return isa<arith::AndIOp>(op);
  case tile::ReduceKind::Or:
    return isa<arith::OrIOp>(op);
  case tile::ReduceKind::Xor:
    return isa<arith::XOrIOp>(op);
  case tile::ReduceKind::AbsSum:
  case tile::ReduceKind::AbsMax:
    return false; // no reducer is of these
  }
  llvm_unreachable("all kinds are handled");
}

/// What `r[i] += x` or `r[i] = T.max(r[i], x)` contributes to a reducer: x, if the value is the
/// element itself combined with x in the reducer's way; null for any other store.
static Value findContribution(Value value, Value buffer, ValueRange indices) {
  auto alloc = tile::getRoot(buffer).getDefiningOp<tile::AllocOp>();
  Operation *combined = value.getDefiningOp();
  if (!alloc || !alloc.getReducer() || !combined || !combines(combined, *alloc.getReducer()))
    return {};
  for (unsigned side : {0, 1}) {
    auto load = combined->getOperand(side).getDefiningOp<tile::LoadOp>();
    if (load && load.getBuffer() == buffer &&
        llvm::equal(load.getIndices(), indices, tile::areEqual))
      return combined->getOperand(1 - side);
  }
  return {};
}

void Trace::store(const Element &element, const Operand &value) {
  checkOwn(element.buffer.traceId);
  Scalar converted = convert(value, element.buffer.dtype);
  SmallVector<Value> indices;
  for (const Scalar &index : element.indices)
    indices.push_back(index.value);
  if (Value part = findContribution(converted.value, element.buffer.value, indices))
    verified(create<tile::ReducerUpdateOp>(part, element.buffer.value, indices));
  else
    verified(create<tile::StoreOp>(converted.value, element.buffer.value, indices));
}

Buffer Trace::runOf(const Element &element, int64_t count) {
  unsigned rank = element.buffer.getRank();
  if (rank == 0 || count < 1)
    fail("expected an element of a buffer and a positive number of elements");
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

Buffer Trace::regionAt(const Element &element, const Buffer &like, StringRef what) {
  unsigned rank = element.buffer.getRank();
  SmallVector<Extent> extents(like.shape.begin(), like.shape.end());
  while (extents.size() > rank) {
    auto *leading = std::get_if<IndexExpr>(&extents.front());
    if (!leading || !leading->isConstant(1))
      fail(what + ": " + nameOf(like) + " has rank " + Twine(like.getRank()) + ", " +
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

std::pair<Buffer, Buffer> Trace::matchExtents(const TileOperand &source, const TileOperand &dest,
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
  return {from, std::get<Buffer>(dest)};
}

} // namespace tilewright::frontend
