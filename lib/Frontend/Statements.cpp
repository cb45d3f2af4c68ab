//===- Statements.cpp - tile statements of a trace -------------------------------------------===//

#include "tilewright/Frontend/Statements.h"
#include "tilewright/Frontend/DTypes.h"
#include "tilewright/Tile/Scalars.h"
#include "tilewright/Tile/Statements.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tilewright::frontend {

//===----------------------------------------------------------------------------------------===//
// Movement and products
//===----------------------------------------------------------------------------------------===//

void Statements::copy(const TileOperand &source, const TileOperand &dest,
                      std::optional<int64_t> width, const Fragment *loopLayout,
                      DictionaryAttr hints) {
  regions.requireKernel("'T.copy'");
  auto *fromElement = std::get_if<Element>(&source), *toElement = std::get_if<Element>(&dest);
  if (fromElement && toElement)
    return buffers.store(*toElement, *fromElement);
  auto [from, to] = buffers.matchExtents(source, dest, "'T.copy'");
  emitter.checkOwn(from.traceId);
  emitter.checkOwn(to.traceId);
  auto op = emitter.create<tile::CopyOp>(from.value, to.value, IntegerAttr(), tile::FragmentAttr());
  if (width)
    op.setCoalescedWidth(*width);
  if (loopLayout)
    op.setLoopLayoutAttr(tile::FragmentAttr::get(emitter.getContext(), *loopLayout));
  op->setDiscardableAttrs(hints);
  emitter.verified(op);
}

void Statements::fill(const TileOperand &dest, const Operand &value) {
  if (auto *element = std::get_if<Element>(&dest))
    return buffers.store(*element, value);
  regions.requireKernel("'T.fill'");
  const Buffer &buffer = std::get<Buffer>(dest);
  emitter.checkOwn(buffer.traceId);
  Scalar converted = scalars.convert(value, buffer.dtype);
  emitter.createVerified<tile::FillOp>(converted.value, buffer.value);
}

void Statements::gemm(const Buffer &a, const Buffer &b, const Buffer &c, bool transposeA,
                      bool transposeB, tile::GemmPolicy policy, std::optional<Operand> clear,
                      int64_t kPack) {
  regions.requireKernel("'T.gemm'");
  Buffer matrixA = buffers.asMatrix(a), matrixB = buffers.asMatrix(b),
         matrixC = buffers.asMatrix(c);
  Value clearValue;
  if (auto *literal = clear ? std::get_if<Literal>(&*clear) : nullptr) {
    if (literal->integer != 0)
      clearValue = scalars.constant(Literal::ofBool(true), builder.getI1Type()).value;
  } else if (clear) {
    clearValue = scalars.toCondition(*clear);
  }
  emitter.createVerified<tile::GemmOp>(matrixA.value, matrixB.value, matrixC.value, clearValue,
                                       transposeA, transposeB, policy, kPack);
}

void Statements::im2col(const Buffer &image, const Buffer &dest, const Operand &rowTile,
                        const Operand &columnTile, int64_t kernel, int64_t stride, int64_t dilation,
                        int64_t pad) {
  regions.requireKernel("'T.im2col'");
  emitter.checkOwn(image.traceId);
  emitter.checkOwn(dest.traceId);
  emitter.createVerified<tile::Im2colOp>(
      image.value, dest.value, scalars.toIndex(rowTile, "'T.im2col'"),
      scalars.toIndex(columnTile, "'T.im2col'"), kernel, stride, dilation, pad);
}

//===----------------------------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------------------------===//

static int64_t wrapDim(int64_t dim, const Buffer &buffer) {
  return dim < 0 ? dim + int64_t(buffer.getRank()) : dim;
}

void Statements::reduce(tile::ReduceKind kind, const Buffer &source, const Buffer &dest,
                        int64_t dim, bool clear, bool nanPropagate) {
  regions.requireKernel("a reduction");
  emitter.checkOwn(source.traceId);
  emitter.checkOwn(dest.traceId);
  emitter.createVerified<tile::ReduceOp>(kind, source.value, dest.value, wrapDim(dim, source),
                                         clear, nanPropagate);
}

void Statements::cumsum(const Buffer &source, const Buffer &dest, int64_t dim, bool reverse) {
  regions.requireKernel("'T.cumsum'");
  emitter.checkOwn(source.traceId);
  emitter.checkOwn(dest.traceId);
  emitter.createVerified<tile::CumsumOp>(source.value, dest.value, wrapDim(dim, source), reverse);
}

std::optional<Scalar> Statements::atomic(tile::AtomicKind kind, const TileOperand &dest,
                                         const std::variant<Operand, Buffer> &value,
                                         tile::MemoryOrder order, bool returnPrevious) {
  std::string what = "'T." + tile::getLanguageName(kind) + "'";
  regions.requireKernel(what);
  auto *element = std::get_if<Element>(&dest);
  auto *scalar = std::get_if<Operand>(&value);
  if (element && scalar) {
    emitter.checkOwn(element->buffer.traceId);
    Scalar converted = scalars.convert(*scalar, element->buffer.dtype);
    SmallVector<Value> indices;
    for (const Scalar &index : element->indices)
      indices.push_back(index.value);
    auto op = emitter.createVerified<tile::AtomicElementOp>(
        tile::getScalarType(element->buffer.dtype), kind, converted.value, element->buffer.value,
        indices, order);
    if (!returnPrevious)
      return std::nullopt;
    return emitter.wrap(op.getPrevious(), element->buffer.dtype);
  }
  if (returnPrevious)
    emitter.fail(what +
                 " on a tile cannot return previous values; use the element form in 'T.Parallel'");
  if (scalar) {
    // An element of another buffer stands for a tile when the destination has extents.
    const Buffer &to = std::get<Buffer>(dest);
    emitter.checkOwn(to.traceId);
    if (auto *source = std::get_if<Element>(scalar))
      if (to.getRank() > 0) {
        Buffer from = buffers.regionAt(*source, to, what);
        emitter.createVerified<tile::AtomicOp>(kind, from.value, to.value, order);
        return std::nullopt;
      }
    emitter.createVerified<tile::AtomicOp>(kind, scalars.convert(*scalar, to.dtype).value, to.value,
                                           order);
    return std::nullopt;
  }
  auto [from, to] = buffers.matchExtents(std::get<Buffer>(value), dest, what);
  emitter.checkOwn(from.traceId);
  emitter.checkOwn(to.traceId);
  emitter.createVerified<tile::AtomicOp>(kind, from.value, to.value, order);
  return std::nullopt;
}

static tile::AllocOp findReducer(const Buffer &buffer) {
  return tile::getRoot(buffer.value).getDefiningOp<tile::AllocOp>();
}

void Statements::reducerInit(const Buffer &buffer) {
  regions.requireKernel("'T.reducer_init'");
  emitter.checkOwn(buffer.traceId);
  tile::AllocOp alloc = findReducer(buffer);
  if (!alloc || !alloc.getReducer())
    emitter.fail("'T.reducer_init' needs a buffer of 'T.alloc_reducer'");
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

void Statements::reducerUpdate(const Element &element, const Operand &value) {
  regions.requireKernel("'T.reducer_update'");
  emitter.checkOwn(element.buffer.traceId);
  Scalar converted = scalars.convert(value, element.buffer.dtype);
  SmallVector<Value> indices;
  for (const Scalar &index : element.indices)
    indices.push_back(index.value);
  emitter.createVerified<tile::ReducerUpdateOp>(converted.value, element.buffer.value, indices);
}

void Statements::finalizeReducer(const Buffer &buffer, const Buffer &dest) {
  regions.requireKernel("'T.finalize_reducer'");
  emitter.checkOwn(buffer.traceId);
  emitter.checkOwn(dest.traceId);
  emitter.createVerified<tile::FinalizeReducerOp>(buffer.value, dest.value);
}

//===----------------------------------------------------------------------------------------===//
// Notes
//===----------------------------------------------------------------------------------------===//

void Statements::annotateLayout(const Buffer &buffer,
                                const std::variant<Layout, Fragment> &layout) {
  regions.requireKernel("'T.annotate_layout'");
  emitter.checkOwn(buffer.traceId);
  Attribute attribute;
  if (auto *fragment = std::get_if<Fragment>(&layout))
    attribute = tile::FragmentAttr::get(emitter.getContext(), *fragment);
  else
    attribute = tile::LayoutAttr::get(emitter.getContext(), std::get<Layout>(layout));
  emitter.createVerified<tile::AnnotateLayoutOp>(buffer.value, attribute);
}

void Statements::annotateSafeValue(const Buffer &buffer, const Literal &value) {
  regions.requireKernel("'T.annotate_safe_value'");
  emitter.checkOwn(buffer.traceId);
  Scalar converted = scalars.convert(value, buffer.dtype);
  auto constantOp = converted.value.getDefiningOp<arith::ConstantOp>();
  if (!constantOp)
    emitter.fail("a safe value is a number");
  emitter.createVerified<tile::AnnotateSafeValueOp>(buffer.value, constantOp.getValue());
}

void Statements::useSwizzle(int64_t panelSize, tile::RasterOrder order) {
  regions.requireKernel("'T.use_swizzle'");
  emitter.createVerified<tile::UseSwizzleOp>(panelSize, order);
}

void Statements::hint(StringRef name, ArrayRef<Buffer> hinted, DictionaryAttr attributes) {
  SmallVector<Value> values;
  for (const Buffer &buffer : hinted) {
    emitter.checkOwn(buffer.traceId);
    values.push_back(buffer.value);
  }
  auto op = emitter.create<tile::HintOp>(name, values);
  op->setDiscardableAttrs(attributes);
  emitter.verified(op);
}

void Statements::assume(const Operand &condition) {
  emitter.create<tile::AssumeOp>(scalars.toCondition(condition));
}

void Statements::assertThat(const Operand &condition, StringRef message) {
  emitter.create<tile::AssertOp>(scalars.toCondition(condition), message);
}

void Statements::print(StringRef message,
                       const std::variant<std::monostate, Operand, Buffer> &value) {
  Value printed;
  if (auto *buffer = std::get_if<Buffer>(&value)) {
    emitter.checkOwn(buffer->traceId);
    printed = buffer->value;
  } else if (auto *operand = std::get_if<Operand>(&value)) {
    Scalar number = scalars.materialize(*operand);
    printed = number.value;
    // Values of scalars have no sign in the IR; elements have one, that of a variable too.
    if (number.dtype.isUnsignedInteger())
      printed = variables.alloc("printed", number.dtype, number).cell.value;
  }
  emitter.createVerified<tile::PrintOp>(message, printed);
}

} // namespace tilewright::frontend
