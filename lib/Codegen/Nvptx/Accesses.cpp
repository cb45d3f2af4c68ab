//===- Accesses.cpp - the only place where a coordinate becomes an address -------------------===//

#include "Lowerings.h"
#include "tilewright/Layout/RuntimeExtents.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::nvptx {

//===----------------------------------------------------------------------------------------===//
// Coordinates and offsets
//===----------------------------------------------------------------------------------------===//

/// Walks from a view to its root; a coordinate of a slice is `offset + step * x` of its source, one
/// of a view with another shape is renumbered row-major.
SmallVector<Value> viewStep(Thread &t, Value buffer, SmallVector<Value> coordinates) {
  ImplicitLocOpBuilder &b = t.b;
  SmallVector<Value> source;
  if (auto slice = buffer.getDefiningOp<SliceOp>()) {
    unsigned next = 0;
    SmallVector<OpFoldResult> offsets = slice.getMixedOffsets(), steps = slice.getMixedSteps();
    auto value = [&](OpFoldResult result) -> Value {
      if (std::optional<int64_t> constant = getConstantIntValue(result))
        return t.index(*constant);
      return t.mapped(cast<Value>(result));
    };
    for (unsigned dim = 0; dim < offsets.size(); ++dim) {
      Value coordinate = value(offsets[dim]);
      if (!llvm::is_contained(slice.getDropped(), int64_t(dim))) {
        Value scaled = coordinates[next++];
        if (getConstantIntValue(steps[dim]) != 1)
          scaled = b.createOrFold<arith::MulIOp>(scaled, value(steps[dim]));
        coordinate = b.createOrFold<arith::AddIOp>(coordinate, scaled);
      }
      source.push_back(coordinate);
    }
    return source;
  }
  auto view = buffer.getDefiningOp<ViewOp>();
  auto from = cast<MemRefType>(view.getSource().getType()),
       to = cast<MemRefType>(view.getResult().getType());
  Value inside = insideView(t, view, coordinates);
  Value number = t.index(0);
  for (int64_t dim = 0; dim < to.getRank(); ++dim) {
    number = b.createOrFold<arith::MulIOp>(number, t.extentOf(buffer, dim));
    number = b.createOrFold<arith::AddIOp>(number, coordinates[dim]);
  }
  source.resize(from.getRank());
  IndexExpr quotient = floorDiv(IndexExpr::dim(0), IndexExpr::dim(1)),
            rest = IndexExpr::dim(0) % IndexExpr::dim(1);
  for (int64_t dim = from.getRank() - 1; dim >= 0; --dim) {
    if (from.isDynamicDim(dim)) {
      Value operands[] = {number, t.extentOf(view.getSource(), dim)};
      source[dim] = dim == 0 ? number : t.evaluate(rest, operands);
      number = t.evaluate(quotient, operands);
      continue;
    }
    source[dim] = dim == 0 ? number : t.floorModConstant(number, from.getDimSize(dim));
    number = t.floorDivConstant(number, from.getDimSize(dim));
  }
  if (inside && !source.empty())
    source[0] = b.createOrFold<arith::SelectOp>(inside, source[0], t.index(-1));
  return source;
}

/// A view of a tensor ends where its own extents end, although the tensor may have an element at
/// the same number: coordinates outside become ones outside of the tensor. Null if there is no
/// outside.
Value insideView(Thread &t, ViewOp view, ArrayRef<Value> coordinates) {
  ImplicitLocOpBuilder &b = t.b;
  if (getSpace(view.getSource()) != Space::Global)
    return Value();
  Value inside;
  for (auto [dim, coordinate] : llvm::enumerate(coordinates)) {
    Value extent = t.extentOf(view.getResult(), dim);
    std::optional<int64_t> constant = getConstantIntValue(coordinate),
                           bound = getConstantIntValue(extent);
    if (constant && bound && *constant >= 0 && *constant < *bound)
      continue;
    inside = t.both(inside,
                    b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::ult, coordinate, extent));
  }
  return inside;
}

SmallVector<Value> viewCoordinates(Thread &t, Value buffer, SmallVector<Value> coordinates) {
  while (Value source = getViewSource(buffer)) {
    coordinates = viewStep(t, buffer, std::move(coordinates));
    buffer = source;
  }
  return coordinates;
}

SmallVector<Value> rootCoordinates(Thread &t, Value buffer, ValueRange indices) {
  return viewCoordinates(t, buffer, t.mappedAll(indices));
}

static Value offsetOf(Emitter &e, const Storage &storage, ArrayRef<Value> coordinates) {
  ImplicitLocOpBuilder &b = e.b;
  SmallVector<Value> physical(coordinates);
  SmallVector<Value> extents = llvm::to_vector(storage.extents);
  if (storage.layout) {
    const Layout &layout = *storage.layout;
    physical.clear();
    extents.clear();
    for (const IndexExpr &output : layout.getOutputs())
      physical.push_back(e.evaluate(output, coordinates));
    for (unsigned position = 0; position < layout.getNumOutputs(); ++position) {
      // The first extent is no stride; for the others `addGlobal` made sure of a formula.
      std::optional<IndexExpr> extent = getOutputExtent(layout, position);
      extents.push_back(position ? e.evaluate(*extent, storage.extents) : Value());
    }
  }
  Value offset = e.index(0);
  for (auto [coordinate, extent] : llvm::zip(physical, extents)) {
    if (extent)
      offset = b.createOrFold<arith::MulIOp>(offset, extent);
    offset = b.createOrFold<arith::AddIOp>(offset, coordinate);
  }
  return offset;
}

Value addressOf(Emitter &e, const Storage &storage, ArrayRef<Value> coordinates) {
  ImplicitLocOpBuilder &b = e.b;
  Value offset = e.i64(offsetOf(e, storage, coordinates));
  return LLVM::GEPOp::create(b, storage.base.getType(), getStorageType(storage.elementType),
                             storage.base, ArrayRef<LLVM::GEPArg>{offset});
}

Value inBounds(Emitter &e, const Storage &storage, ArrayRef<Value> coordinates,
               std::optional<ArrayRef<int64_t>> dims) {
  ImplicitLocOpBuilder &b = e.b;
  if (!storage.isGlobal)
    return Value();
  Value condition;
  for (auto [dim, coordinate, extent] : llvm::enumerate(coordinates, storage.extents)) {
    if (dims && !llvm::is_contained(*dims, int64_t(dim)))
      continue; // proved
    std::optional<int64_t> constant = getConstantIntValue(coordinate),
                           bound = getConstantIntValue(extent);
    if (constant && bound && *constant >= 0 && *constant < *bound)
      continue;
    // One unsigned comparison tests both ends.
    condition =
        e.both(condition, arith::CmpIOp::create(b, arith::CmpIPredicate::ult, coordinate, extent));
  }
  return condition;
}

//===----------------------------------------------------------------------------------------===//
// Memory and registers
//===----------------------------------------------------------------------------------------===//

Value loadAt(Emitter &e, const Storage &storage, ArrayRef<Value> coordinates) {
  ImplicitLocOpBuilder &b = e.b;
  auto load = [&]() -> Value {
    Type stored = getStorageType(storage.elementType);
    Value value = LLVM::LoadOp::create(b, stored, addressOf(e, storage, coordinates),
                                       getStorageBytes(storage.elementType));
    return fromStorage(e, value, storage.elementType);
  };
  Value condition = inBounds(e, storage, coordinates);
  if (!condition)
    return load();
  auto branch = scf::IfOp::create(b, TypeRange(getScalarType(storage.elementType)), condition,
                                  /*withElse=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&branch.getThenRegion().front());
  scf::YieldOp::create(b, load());
  b.setInsertionPointToStart(&branch.getElseRegion().front());
  scf::YieldOp::create(b, e.constant(storage.safeValue));
  return branch.getResult(0);
}

void storeAt(Emitter &e, const Storage &storage, ArrayRef<Value> coordinates, Value value) {
  ImplicitLocOpBuilder &b = e.b;
  e.guarded(inBounds(e, storage, coordinates), [&] {
    LLVM::StoreOp::create(b, toStorage(e, value, storage.elementType),
                          addressOf(e, storage, coordinates), getStorageBytes(storage.elementType));
  });
}

/// What is only moved keeps its bits. A tfloat32 that is computed with loses the digits that memory
/// may hold beyond its own.
void defineLoaded(Thread &t, LoadOp op, Value value) {
  auto isMove = [](Operation *user) { return isa<StoreOp>(user); };
  Type type = op.getValue().getType();
  if (isa<FloatTF32Type>(type) && !llvm::all_of(op.getValue().getUsers(), isMove))
    value = widenStorageFloat(t, value, type);
  t.define(op.getValue(), value);
}

LogicalResult lowerLoad(Thread &t, LoadOp op) {
  Value root = getRoot(op.getBuffer());
  const Storage &storage = t.storageOf(root);
  if (storage.kind == Storage::Kind::Variable) {
    defineLoaded(t, op, t.loadRegister(storage, 0));
    return success();
  }
  if (storage.kind == Storage::Kind::Registers) {
    defineLoaded(t, op, t.loadRegister(storage, t.registerOf(op)));
    return success();
  }
  if (failed(checkViews(t, op)))
    return failure();
  defineLoaded(t, op, loadElement(t, op.getBuffer(), t.mappedAll(op.getIndices())));
  return success();
}

LogicalResult lowerStore(Thread &t, StoreOp op) {
  Value root = getRoot(op.getBuffer());
  const Storage &storage = t.storageOf(root);
  Value value = t.mapped(op.getValue());
  if (storage.kind == Storage::Kind::Variable) {
    t.storeRegister(storage, 0, value);
    return success();
  }
  if (storage.kind == Storage::Kind::Registers) {
    t.storeRegister(storage, t.registerOf(op), value);
    return success();
  }
  if (failed(checkViews(t, op)))
    return failure();
  t.guarded(t.writerCondition(),
            [&] { storeElement(t, op.getBuffer(), t.mappedAll(op.getIndices()), value); });
  return success();
}

} // namespace tilewright::nvptx
