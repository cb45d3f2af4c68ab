//===- Statements.cpp - tile statements of a trace -------------------------------------------===//

#include "TraceImpl.h"
#include "tilewright/Frontend/DTypes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tilewright::frontend {

//===----------------------------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------------------------===//

Buffer Trace::alloc(StringRef name, ArrayRef<IndexExpr> shape, Type dtype, tile::Space space,
                    std::optional<tile::ReduceKind> reducer) {
  requireKernel("an allocation of a tile");
  for (const IndexExpr &extent : shape) {
    std::optional<int64_t> constant = extent.getConstant();
    if (!constant)
      fail("an on-chip tile needs constant extents, this one depends on a shape symbol");
    if (*constant < 1)
      fail("extent " + Twine(*constant) + " of a tile is not positive");
  }
  if (shape.empty())
    fail("a tile has at least one dimension; 'T.alloc_var' makes a scalar");
  auto attribute =
      reducer ? tile::ReduceKindAttr::get(context.get(), *reducer) : tile::ReduceKindAttr();
  auto op = verified(create<tile::AllocOp>(bufferType(shape, dtype, space),
                                           builder.getStringAttr(name), ValueRange(), attribute));
  return {op.getBuffer(), dtype, std::vector<Extent>(shape.begin(), shape.end()), false, id};
}

void Trace::rename(const Buffer &buffer, StringRef name) {
  checkOwn(buffer.traceId);
  if (auto op = buffer.value.getDefiningOp<tile::AllocOp>())
    op.setName(name);
  else if (auto barriers = buffer.value.getDefiningOp<tile::BarrierAllocOp>())
    barriers.setName(name);
}

Buffer Trace::view(const Buffer &buffer, ArrayRef<IndexExpr> shape, Type dtype) {
  checkOwn(buffer.traceId);
  MemRefType type = bufferType(shape, dtype, tile::getSpace(buffer.value));
  auto op = verified(create<tile::ViewOp>(type, buffer.value));
  if (!type.hasStaticShape()) {
    for (const IndexExpr &extent : shape)
      if (!extent.getConstant())
        materializeIndexExpr(extent); // its symbols become arguments of the function
    op->setAttr(tile::kShapeAttr, makeShapeAttr(shape));
  }
  return {op.getResult(), dtype, std::vector<Extent>(shape.begin(), shape.end()), false, id};
}

//===----------------------------------------------------------------------------------------===//
// Movement
//===----------------------------------------------------------------------------------------===//

void Trace::copy(const TileOperand &source, const TileOperand &dest, std::optional<int64_t> width,
                 const Fragment *loopLayout, DictionaryAttr hints) {
  requireKernel("'T.copy'");
  auto *fromElement = std::get_if<Element>(&source), *toElement = std::get_if<Element>(&dest);
  if (fromElement && toElement)
    return store(*toElement, *fromElement);
  auto [from, to] = matchExtents(source, dest, "'T.copy'");
  checkOwn(from.traceId);
  checkOwn(to.traceId);
  auto op = create<tile::CopyOp>(from.value, to.value, IntegerAttr(), tile::FragmentAttr());
  if (width)
    op.setCoalescedWidth(*width);
  if (loopLayout)
    op.setLoopLayoutAttr(tile::FragmentAttr::get(context.get(), *loopLayout));
  op->setDiscardableAttrs(hints);
  verified(op);
}

void Trace::fill(const TileOperand &dest, const Operand &value) {
  if (auto *element = std::get_if<Element>(&dest))
    return store(*element, value);
  requireKernel("'T.fill'");
  const Buffer &buffer = std::get<Buffer>(dest);
  checkOwn(buffer.traceId);
  Scalar converted = convert(value, buffer.dtype);
  verified(create<tile::FillOp>(converted.value, buffer.value));
}

/// Drops unit dimensions in front of a matrix.
Buffer Trace::asMatrix(const Buffer &buffer) {
  checkOwn(buffer.traceId);
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

void Trace::gemm(const Buffer &a, const Buffer &b, const Buffer &c, bool transposeA,
                 bool transposeB, tile::GemmPolicy policy, std::optional<Operand> clear,
                 int64_t kPack) {
  requireKernel("'T.gemm'");
  Buffer matrixA = asMatrix(a), matrixB = asMatrix(b), matrixC = asMatrix(c);
  Value clearValue;
  if (auto *literal = clear ? std::get_if<Literal>(&*clear) : nullptr) {
    if (literal->integer != 0)
      clearValue = constant(Literal::ofBool(true), builder.getI1Type()).value;
  } else if (clear) {
    clearValue = toCondition(*clear);
  }
  verified(create<tile::GemmOp>(matrixA.value, matrixB.value, matrixC.value, clearValue, transposeA,
                                transposeB, policy, kPack));
}

//===----------------------------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------------------------===//

static int64_t wrapDim(int64_t dim, const Buffer &buffer) {
  return dim < 0 ? dim + int64_t(buffer.getRank()) : dim;
}

void Trace::reduce(tile::ReduceKind kind, const Buffer &source, const Buffer &dest, int64_t dim,
                   bool clear, bool nanPropagate) {
  requireKernel("a reduction");
  checkOwn(source.traceId);
  checkOwn(dest.traceId);
  verified(create<tile::ReduceOp>(kind, source.value, dest.value, wrapDim(dim, source), clear,
                                  nanPropagate));
}

void Trace::cumsum(const Buffer &source, const Buffer &dest, int64_t dim, bool reverse) {
  requireKernel("'T.cumsum'");
  checkOwn(source.traceId);
  checkOwn(dest.traceId);
  verified(create<tile::CumsumOp>(source.value, dest.value, wrapDim(dim, source), reverse));
}

std::optional<Scalar> Trace::atomic(tile::AtomicKind kind, const TileOperand &dest,
                                    const std::variant<Operand, Buffer> &value,
                                    tile::MemoryOrder order, bool returnPrevious) {
  std::string what = ("'T.atomic_" + tile::stringifyAtomicKind(kind) + "'").str();
  requireKernel(what);
  auto *element = std::get_if<Element>(&dest);
  auto *scalar = std::get_if<Operand>(&value);
  if (element && scalar) {
    checkOwn(element->buffer.traceId);
    Scalar converted = convert(*scalar, element->buffer.dtype);
    SmallVector<Value> indices;
    for (const Scalar &index : element->indices)
      indices.push_back(index.value);
    auto op = verified(create<tile::AtomicElementOp>(tile::getScalarType(element->buffer.dtype),
                                                     kind, converted.value, element->buffer.value,
                                                     indices, order));
    if (!returnPrevious)
      return std::nullopt;
    return wrap(op.getPrevious(), element->buffer.dtype);
  }
  if (returnPrevious)
    fail(what + " on a tile cannot return previous values; use the element form in 'T.Parallel'");
  if (scalar) {
    // An element of another buffer stands for a tile when the destination has extents.
    const Buffer &to = std::get<Buffer>(dest);
    checkOwn(to.traceId);
    if (auto *source = std::get_if<Element>(scalar))
      if (to.getRank() > 0) {
        Buffer from = regionAt(*source, to, what);
        verified(create<tile::AtomicOp>(kind, from.value, to.value, order));
        return std::nullopt;
      }
    verified(create<tile::AtomicOp>(kind, convert(*scalar, to.dtype).value, to.value, order));
    return std::nullopt;
  }
  auto [from, to] = matchExtents(std::get<Buffer>(value), dest, what);
  checkOwn(from.traceId);
  checkOwn(to.traceId);
  verified(create<tile::AtomicOp>(kind, from.value, to.value, order));
  return std::nullopt;
}

static tile::AllocOp findReducer(const Buffer &buffer) {
  return tile::getRoot(buffer.value).getDefiningOp<tile::AllocOp>();
}

void Trace::reducerInit(const Buffer &buffer) {
  requireKernel("'T.reducer_init'");
  checkOwn(buffer.traceId);
  tile::AllocOp alloc = findReducer(buffer);
  if (!alloc || !alloc.getReducer())
    fail("'T.reducer_init' needs a buffer of 'T.alloc_reducer'");
  // The neutral element of the combining operation.
  bool floats = isFloat(buffer.dtype);
  double infinity = std::numeric_limits<double>::infinity();
  unsigned width = floats ? 0 : buffer.dtype.getIntOrFloatBitWidth();
  bool isUns = buffer.dtype.isUnsignedInteger() || buffer.dtype.isInteger(1);
  Literal neutral = Literal::ofInt(0);
  switch (*alloc.getReducer()) {
  case tile::ReduceKind::Max:
    neutral = floats  ? Literal::ofFloat(-infinity)
              : isUns ? Literal::ofInt(0)
                      : Literal::ofInt(llvm::minIntN(width));
    break;
  case tile::ReduceKind::Min:
    neutral = floats  ? Literal::ofFloat(infinity)
              : isUns ? Literal::ofUnsigned(llvm::maxUIntN(width))
                      : Literal::ofInt(llvm::maxIntN(width));
    break;
  case tile::ReduceKind::And:
    neutral = Literal::ofInt(-1);
    break;
  default:
    break;
  }
  fill(buffer, neutral);
}

void Trace::reducerUpdate(const Element &element, const Operand &value) {
  requireKernel("'T.reducer_update'");
  checkOwn(element.buffer.traceId);
  Scalar converted = convert(value, element.buffer.dtype);
  SmallVector<Value> indices;
  for (const Scalar &index : element.indices)
    indices.push_back(index.value);
  verified(create<tile::ReducerUpdateOp>(converted.value, element.buffer.value, indices));
}

void Trace::finalizeReducer(const Buffer &buffer, const Buffer &dest) {
  requireKernel("'T.finalize_reducer'");
  checkOwn(buffer.traceId);
  checkOwn(dest.traceId);
  verified(create<tile::FinalizeReducerOp>(buffer.value, dest.value));
}

void Trace::im2col(const Buffer &image, const Buffer &dest, const Operand &rowTile,
                   const Operand &columnTile, int64_t kernel, int64_t stride, int64_t dilation,
                   int64_t pad) {
  requireKernel("'T.im2col'");
  checkOwn(image.traceId);
  checkOwn(dest.traceId);
  verified(create<tile::Im2colOp>(image.value, dest.value, toIndex(rowTile, "'T.im2col'"),
                                  toIndex(columnTile, "'T.im2col'"), kernel, stride, dilation,
                                  pad));
}

//===----------------------------------------------------------------------------------------===//
// Notes
//===----------------------------------------------------------------------------------------===//

void Trace::annotateLayout(const Buffer &buffer, const std::variant<Layout, Fragment> &layout) {
  requireKernel("'T.annotate_layout'");
  checkOwn(buffer.traceId);
  Attribute attribute;
  if (auto *fragment = std::get_if<Fragment>(&layout))
    attribute = tile::FragmentAttr::get(context.get(), *fragment);
  else
    attribute = tile::LayoutAttr::get(context.get(), std::get<Layout>(layout));
  verified(create<tile::AnnotateLayoutOp>(buffer.value, attribute));
}

void Trace::annotateSafeValue(const Buffer &buffer, const Literal &value) {
  requireKernel("'T.annotate_safe_value'");
  checkOwn(buffer.traceId);
  Scalar converted = convert(value, buffer.dtype);
  auto constantOp = converted.value.getDefiningOp<arith::ConstantOp>();
  if (!constantOp)
    fail("a safe value is a number");
  verified(create<tile::AnnotateSafeValueOp>(buffer.value, constantOp.getValue()));
}

void Trace::useSwizzle(int64_t panelSize, tile::RasterOrder order) {
  requireKernel("'T.use_swizzle'");
  verified(create<tile::UseSwizzleOp>(panelSize, order));
}

void Trace::hint(StringRef name, ArrayRef<Buffer> buffers, DictionaryAttr attributes) {
  SmallVector<Value> values;
  for (const Buffer &buffer : buffers) {
    checkOwn(buffer.traceId);
    values.push_back(buffer.value);
  }
  auto op = create<tile::HintOp>(name, values);
  op->setDiscardableAttrs(attributes);
  verified(op);
}

void Trace::assume(const Operand &condition) { create<tile::AssumeOp>(toCondition(condition)); }

void Trace::assertThat(const Operand &condition, StringRef message) {
  create<tile::AssertOp>(toCondition(condition), message);
}

void Trace::print(StringRef message, const std::variant<std::monostate, Operand, Buffer> &value) {
  Value printed;
  if (auto *buffer = std::get_if<Buffer>(&value)) {
    checkOwn(buffer->traceId);
    printed = buffer->value;
  } else if (auto *operand = std::get_if<Operand>(&value)) {
    printed = materialize(*operand).value;
  }
  verified(create<tile::PrintOp>(message, printed));
}

} // namespace tilewright::frontend
