//===- Accesses.cpp - the only place where a coordinate becomes an address -------------------===//

#include "ThreadLowering.h"
#include "tilewright/Layout/RuntimeExtents.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::nvptx {

//===----------------------------------------------------------------------------------------===//
// Coordinates and offsets
//===----------------------------------------------------------------------------------------===//

/// `lhs // rhs` and `lhs % rhs` by a positive constant; shifts and masks for powers of two.
Value ThreadLowering::floorDivConstant(Value lhs, int64_t rhs) {
  if (llvm::isPowerOf2_64(rhs))
    return b.createOrFold<arith::ShRSIOp>(lhs, index(llvm::Log2_64(rhs)));
  return b.createOrFold<arith::FloorDivSIOp>(lhs, index(rhs));
}

Value ThreadLowering::floorModConstant(Value lhs, int64_t rhs) {
  if (llvm::isPowerOf2_64(rhs))
    return b.createOrFold<arith::AndIOp>(lhs, index(rhs - 1));
  Value product = b.createOrFold<arith::MulIOp>(floorDivConstant(lhs, rhs), index(rhs));
  return b.createOrFold<arith::SubIOp>(lhs, product);
}

Value ThreadLowering::evaluate(const IndexExpr &expr, ArrayRef<Value> dims) {
  using K = IndexExpr::Kind;
  switch (expr.getKind()) {
  case K::Constant:
    return index(*expr.getConstant());
  case K::Dim:
    return dims[expr.getPosition()];
  case K::Symbol:
    llvm_unreachable("symbols were substituted");
  default:
    break;
  }
  Value lhs = evaluate(expr.getLhs(), dims);
  std::optional<int64_t> constant = expr.getRhs().getConstant();
  if (expr.getKind() == K::FloorDiv && constant && *constant > 0)
    return floorDivConstant(lhs, *constant);
  if (expr.getKind() == K::Mod && constant && *constant > 0)
    return floorModConstant(lhs, *constant);
  Value rhs = evaluate(expr.getRhs(), dims);
  switch (expr.getKind()) {
  case K::Add:
    return b.createOrFold<arith::AddIOp>(lhs, rhs);
  case K::Sub:
    return b.createOrFold<arith::SubIOp>(lhs, rhs);
  case K::Mul:
    return b.createOrFold<arith::MulIOp>(lhs, rhs);
  case K::Xor:
    return b.createOrFold<arith::XOrIOp>(lhs, rhs);
  case K::Min:
    return b.createOrFold<arith::MinSIOp>(lhs, rhs);
  case K::Max:
    return b.createOrFold<arith::MaxSIOp>(lhs, rhs);
  case K::FloorDiv:
  case K::Mod: {
    // By a run-time divisor: x // 0 is 0 and x % 0 is x.
    Value zero = index(0), one = index(1);
    Value isZero = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, rhs, zero);
    Value divisor = arith::SelectOp::create(b, isZero, one, rhs);
    Value quotient = arith::FloorDivSIOp::create(b, lhs, divisor);
    if (expr.getKind() == K::FloorDiv)
      return arith::SelectOp::create(b, isZero, zero, quotient);
    Value rest = arith::SubIOp::create(b, lhs, arith::MulIOp::create(b, quotient, divisor));
    return arith::SelectOp::create(b, isZero, lhs, rest);
  }
  default:
    llvm_unreachable("all kinds of index expressions are handled");
  }
}

/// Walks from a view to its root; a coordinate of a slice is `offset + step * x` of its source, one
/// of a view with another shape is renumbered row-major.
SmallVector<Value> ThreadLowering::viewStep(Value buffer, SmallVector<Value> coordinates) {
  SmallVector<Value> source;
  if (auto slice = buffer.getDefiningOp<SliceOp>()) {
    unsigned next = 0;
    SmallVector<OpFoldResult> offsets = slice.getMixedOffsets(), steps = slice.getMixedSteps();
    auto value = [&](OpFoldResult result) -> Value {
      if (std::optional<int64_t> constant = getConstantIntValue(result))
        return index(*constant);
      return mapped(cast<Value>(result));
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
  Value inside = insideView(view, coordinates);
  Value number = index(0);
  for (int64_t dim = 0; dim < to.getRank(); ++dim) {
    number = b.createOrFold<arith::MulIOp>(number, extentOf(buffer, dim));
    number = b.createOrFold<arith::AddIOp>(number, coordinates[dim]);
  }
  source.resize(from.getRank());
  IndexExpr quotient = floorDiv(IndexExpr::dim(0), IndexExpr::dim(1)),
            rest = IndexExpr::dim(0) % IndexExpr::dim(1);
  for (int64_t dim = from.getRank() - 1; dim >= 0; --dim) {
    if (from.isDynamicDim(dim)) {
      Value operands[] = {number, extentOf(view.getSource(), dim)};
      source[dim] = dim == 0 ? number : evaluate(rest, operands);
      number = evaluate(quotient, operands);
      continue;
    }
    source[dim] = dim == 0 ? number : floorModConstant(number, from.getDimSize(dim));
    number = floorDivConstant(number, from.getDimSize(dim));
  }
  if (inside && !source.empty())
    source[0] = b.createOrFold<arith::SelectOp>(inside, source[0], index(-1));
  return source;
}

/// A view of a tensor ends where its own extents end, although the tensor may have an element at
/// the same number: coordinates outside become ones outside of the tensor. Null if there is no
/// outside.
Value ThreadLowering::insideView(ViewOp view, ArrayRef<Value> coordinates) {
  if (getSpace(view.getSource()) != Space::Global)
    return Value();
  Value inside;
  for (auto [dim, coordinate] : llvm::enumerate(coordinates)) {
    Value extent = extentOf(view.getResult(), dim);
    std::optional<int64_t> constant = getConstantIntValue(coordinate),
                           bound = getConstantIntValue(extent);
    if (constant && bound && *constant >= 0 && *constant < *bound)
      continue;
    inside =
        both(inside, b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::ult, coordinate, extent));
  }
  return inside;
}

SmallVector<Value> ThreadLowering::viewCoordinates(Value buffer, SmallVector<Value> coordinates) {
  while (Value source = getViewSource(buffer)) {
    coordinates = viewStep(buffer, std::move(coordinates));
    buffer = source;
  }
  return coordinates;
}

SmallVector<Value> ThreadLowering::mappedAll(ValueRange indices) {
  return llvm::map_to_vector(indices, [&](Value old) { return mapped(old); });
}

SmallVector<Value> ThreadLowering::rootCoordinates(Value buffer, ValueRange indices) {
  return viewCoordinates(buffer, mappedAll(indices));
}

Value ThreadLowering::offsetOf(const Storage &storage, ArrayRef<Value> coordinates) {
  SmallVector<Value> physical(coordinates);
  SmallVector<Value> extents = llvm::to_vector(storage.extents);
  if (storage.layout) {
    const Layout &layout = *storage.layout;
    physical.clear();
    extents.clear();
    for (const IndexExpr &output : layout.getOutputs())
      physical.push_back(evaluate(output, coordinates));
    for (unsigned position = 0; position < layout.getNumOutputs(); ++position) {
      // The first extent is no stride; for the others `addGlobal` made sure of a formula.
      std::optional<IndexExpr> extent = getOutputExtent(layout, position);
      extents.push_back(position ? evaluate(*extent, storage.extents) : Value());
    }
  }
  Value offset = index(0);
  for (auto [coordinate, extent] : llvm::zip(physical, extents)) {
    if (extent)
      offset = b.createOrFold<arith::MulIOp>(offset, extent);
    offset = b.createOrFold<arith::AddIOp>(offset, coordinate);
  }
  return offset;
}

Value ThreadLowering::addressOf(const Storage &storage, ArrayRef<Value> coordinates) {
  Value offset = i64(offsetOf(storage, coordinates));
  return LLVM::GEPOp::create(b, storage.base.getType(), getStorageType(storage.elementType),
                             storage.base, ArrayRef<LLVM::GEPArg>{offset});
}

Value ThreadLowering::both(Value lhs, Value rhs) {
  if (!lhs || !rhs)
    return lhs ? lhs : rhs;
  return b.createOrFold<arith::AndIOp>(lhs, rhs);
}

Value ThreadLowering::inBounds(const Storage &storage, ArrayRef<Value> coordinates,
                               std::optional<ArrayRef<int64_t>> dims) {
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
        both(condition, arith::CmpIOp::create(b, arith::CmpIPredicate::ult, coordinate, extent));
  }
  return condition;
}

//===----------------------------------------------------------------------------------------===//
// Memory and registers
//===----------------------------------------------------------------------------------------===//

Value ThreadLowering::toStorage(Value value, Type elementType) {
  Type stored = getRegisterType(elementType);
  if (value.getType() == stored)
    return value;
  if (isa<IndexType>(elementType))
    return i64(value);
  if (elementType.isInteger(1))
    return arith::ExtUIOp::create(b, stored, value);
  return LLVM::BitcastOp::create(b, stored, value);
}

Value ThreadLowering::fromStorage(Value value, Type elementType) {
  Type scalar = getScalarType(elementType);
  if (value.getType() == scalar)
    return value;
  if (isa<IndexType>(elementType))
    return arith::IndexCastOp::create(b, scalar, value);
  if (elementType.isInteger(1)) {
    Value zero = constant(b.getZeroAttr(value.getType()));
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, value, zero);
  }
  return LLVM::BitcastOp::create(b, scalar, value);
}

Value ThreadLowering::loadAt(const Storage &storage, ArrayRef<Value> coordinates) {
  auto load = [&]() -> Value {
    Type stored = getStorageType(storage.elementType);
    Value value = LLVM::LoadOp::create(b, stored, addressOf(storage, coordinates),
                                       getStorageBytes(storage.elementType));
    return fromStorage(value, storage.elementType);
  };
  Value condition = inBounds(storage, coordinates);
  if (!condition)
    return load();
  auto branch = scf::IfOp::create(b, TypeRange(getScalarType(storage.elementType)), condition,
                                  /*withElse=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&branch.getThenRegion().front());
  scf::YieldOp::create(b, load());
  b.setInsertionPointToStart(&branch.getElseRegion().front());
  scf::YieldOp::create(b, constant(storage.safeValue));
  return branch.getResult(0);
}

void ThreadLowering::guarded(Value condition, llvm::function_ref<void()> body) {
  if (!condition)
    return body();
  auto branch = scf::IfOp::create(b, condition, /*withElse=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&branch.getThenRegion().front());
  body();
}

void ThreadLowering::storeAt(const Storage &storage, ArrayRef<Value> coordinates, Value value) {
  guarded(inBounds(storage, coordinates), [&] {
    LLVM::StoreOp::create(b, toStorage(value, storage.elementType), addressOf(storage, coordinates),
                          getStorageBytes(storage.elementType));
  });
}

/// Next to the array, once for all that touch the register.
Value ThreadLowering::registerAddress(const Storage &storage, int64_t slot) {
  if (slot == 0)
    return storage.base;
  Value &address = registerAddresses[{storage.base, slot}];
  if (!address) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointAfterValue(storage.base);
    address = LLVM::GEPOp::create(b, storage.base.getType(), getRegisterType(storage.elementType),
                                  storage.base, ArrayRef<LLVM::GEPArg>{int32_t(slot)});
  }
  return address;
}

Value ThreadLowering::loadRegister(const Storage &storage, int64_t slot) {
  Type stored = getRegisterType(storage.elementType);
  return fromStorage(LLVM::LoadOp::create(b, stored, registerAddress(storage, slot)),
                     storage.elementType);
}

void ThreadLowering::storeRegister(const Storage &storage, int64_t slot, Value value) {
  LLVM::StoreOp::create(b, toStorage(value, storage.elementType), registerAddress(storage, slot));
}

const Storage &ThreadLowering::storageOf(Value root) {
  if (iteration)
    if (auto it = iteration->variables.find(root); it != iteration->variables.end())
      return *it->second;
  return *storages.find(root)->second;
}

int64_t ThreadLowering::registerOf(Operation *op) {
  return iteration->chunk->registers->find(op)->second[iteration->slot];
}

Value ThreadLowering::writerCondition() {
  if (iteration)
    return iteration->isOwner;
  return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, threadId, index(0));
}

/// What is only moved keeps its bits. A tfloat32 that is computed with loses the digits that memory
/// may hold beyond its own.
void ThreadLowering::defineLoaded(LoadOp op, Value value) {
  auto isMove = [](Operation *user) { return isa<StoreOp>(user); };
  Type type = op.getValue().getType();
  if (isa<FloatTF32Type>(type) && !llvm::all_of(op.getValue().getUsers(), isMove))
    value = widenStorageFloat(value, type);
  define(op.getValue(), value);
}

LogicalResult ThreadLowering::lowerLoad(LoadOp op) {
  Value root = getRoot(op.getBuffer());
  const Storage &storage = storageOf(root);
  if (storage.kind == Storage::Kind::Variable) {
    defineLoaded(op, loadRegister(storage, 0));
    return success();
  }
  if (storage.kind == Storage::Kind::Registers) {
    defineLoaded(op, loadRegister(storage, registerOf(op)));
    return success();
  }
  if (failed(checkViews(op)))
    return failure();
  defineLoaded(op, loadElement(op.getBuffer(), mappedAll(op.getIndices())));
  return success();
}

LogicalResult ThreadLowering::lowerStore(StoreOp op) {
  Value root = getRoot(op.getBuffer());
  const Storage &storage = storageOf(root);
  Value value = mapped(op.getValue());
  if (storage.kind == Storage::Kind::Variable) {
    storeRegister(storage, 0, value);
    return success();
  }
  if (storage.kind == Storage::Kind::Registers) {
    storeRegister(storage, registerOf(op), value);
    return success();
  }
  if (failed(checkViews(op)))
    return failure();
  guarded(writerCondition(),
          [&] { storeElement(op.getBuffer(), mappedAll(op.getIndices()), value); });
  return success();
}

} // namespace tilewright::nvptx
