//===- Thread.cpp - what one thread of a kernel holds, and where it lives --------------------===//

#include "Lowerings.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::nvptx {

bool Thread::isKnownEarly(Value old) {
  SlotChunk *chunk = iteration->chunk;
  if (!chunk)
    return false;
  if (auto argument = dyn_cast<BlockArgument>(old)) {
    Operation *owner = argument.getOwner()->getParentOp();
    return owner == chunk->loop.getOperation() || !chunk->loop->isAncestor(owner);
  }
  return !chunk->loop->isAncestor(old.getDefiningOp()) ||
         chunk->lazyOps->contains(old.getDefiningOp());
}

Value Thread::mapped(Value old) {
  if (!iteration)
    return values.lookup(old);
  if (auto it = iteration->values.find(old); it != iteration->values.end())
    return it->second;
  SlotChunk *chunk = iteration->chunk;
  if (!chunk || !isKnownEarly(old))
    return values.lookup(old);
  if (auto it = values.find(old); it != values.end())
    return it->second; // from outside the loop
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(chunk->start);
  if (isa<BlockArgument>(old))
    computeIterators(*iteration);
  else if (failed(lowerOp(*this, old.getDefiningOp())))
    llvm::report_fatal_error("arithmetic of index values is always supported");
  return iteration->values.lookup(old);
}

/// The loop's variables for this thread and slot, and whether this is the first copy.
void Thread::computeIterators(Iteration &at) {
  SlotChunk &chunk = *at.chunk;
  SmallVector<Value> owner{threadId, at.slotValue}, coordinates;
  for (const IndexExpr &output : chunk.inverse->getOutputs().drop_back())
    coordinates.push_back(evaluate(output, owner));
  ArrayRef<int64_t> extents = chunk.distribution->extents;
  if (coordinates.size() != extents.size()) { // iterations are numbered row-major
    Value number = coordinates[0];
    coordinates.assign(extents.size(), Value());
    for (int64_t dim = coordinates.size() - 1; dim >= 0; --dim) {
      IndexExpr extent(extents[dim]), n = IndexExpr::dim(0);
      coordinates[dim] = dim == 0 ? number : evaluate(n % extent, number);
      number = evaluate(floorDiv(n, extent), number);
    }
  }
  for (auto [iterator, coordinate] : llvm::zip(chunk.loop.getIterators(), coordinates))
    at.values[iterator] = coordinate;
}

SmallVector<Value> Thread::mappedAll(ValueRange indices) {
  return llvm::map_to_vector(indices, [&](Value old) { return mapped(old); });
}

Value Thread::extentOf(Value buffer, unsigned dim) {
  auto type = cast<MemRefType>(buffer.getType());
  if (!type.isDynamicDim(dim))
    return index(type.getDimSize(dim));
  if (auto alloc = buffer.getDefiningOp<AllocOp>())
    return mapped(alloc.getDynamicExtents()[type.getDynamicDimIndex(dim)]);
  auto argument = dyn_cast<BlockArgument>(buffer);
  ShapeAttr shape = argument
                        ? function.getArgAttrOfType<ShapeAttr>(argument.getArgNumber(), kShapeAttr)
                        : buffer.getDefiningOp()->getAttrOfType<ShapeAttr>(kShapeAttr);
  SmallVector<Value> symbols;
  for (StringAttr symbol : shape.getSymbols())
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (function.getArgAttr(i, kSymbolAttr) == symbol)
        symbols.push_back(mapped(function.getArgument(i)));
  // Symbols of the formula become dims of an expression without symbols.
  SmallVector<IndexExpr> asDims;
  for (unsigned i = 0; i < symbols.size(); ++i)
    asDims.push_back(IndexExpr::dim(i));
  return evaluate(shape.getExtents()[dim].substitute({}, asDims), symbols);
}

void Thread::addGlobal(Value tensor, Value pointer) {
  auto type = cast<MemRefType>(tensor.getType());
  auto storage = std::make_unique<Storage>();
  storage->elementType = type.getElementType();
  storage->base = pointer;
  storage->isGlobal = true;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    storage->extents.push_back(extentOf(tensor, dim));
    storage->staticExtents.push_back(type.getDimSize(dim));
  }
  storage->safeValue = cast<TypedAttr>(b.getZeroAttr(getScalarType(storage->elementType)));
  kernel.walk([&](Operation *op) {
    if (auto note = dyn_cast<AnnotateSafeValueOp>(op); note && note.getBuffer() == tensor)
      storage->safeValue = getRegisterConstant(cast<TypedAttr>(note.getValue()));
    if (auto note = dyn_cast<AnnotateLayoutOp>(op); note && note.getBuffer() == tensor)
      storage->layout = cast<LayoutAttr>(note.getLayout()).getLayout();
  });
  storages[tensor] = std::move(storage);
}

void Thread::addTile(AllocOp alloc) {
  MemRefType type = alloc.getBuffer().getType();
  auto storage = std::make_unique<Storage>();
  storage->elementType = type.getElementType();
  for (int64_t extent : type.getShape()) {
    storage->extents.push_back(index(extent));
    storage->staticExtents.push_back(extent);
  }
  Type stored = getRegisterType(storage->elementType);
  Attribute placement = alloc->getAttr(kPlacementAttr);
  if (getSpace(type) == Space::Local) {
    storage->kind = Storage::Kind::Variable;
    storage->base = allocateStack(stored, 1);
  } else if (auto fragment = dyn_cast_if_present<FragmentAttr>(placement)) {
    storage->kind = Storage::Kind::Registers;
    storage->owners = *analysis::OwnerTable::get(fragment.getFragment(), getNumThreads());
    storage->base = allocateStack(stored, storage->owners.slots);
  } else {
    int64_t offset = alloc->getAttrOfType<IntegerAttr>(kOffsetAttr).getInt();
    storage->layout = cast<LayoutAttr>(placement).getLayout();
    storage->base = LLVM::GEPOp::create(b, arena.getType(), b.getI8Type(), arena,
                                        ArrayRef<LLVM::GEPArg>{int32_t(offset)});
  }
  (iteration ? iteration->variables : storages)[alloc.getBuffer()] = std::move(storage);
}

const Storage *Thread::findStorage(Value root) const {
  auto it = storages.find(root);
  return it == storages.end() ? nullptr : it->second.get();
}

const Storage &Thread::storageOf(Value root) {
  if (iteration)
    if (auto it = iteration->variables.find(root); it != iteration->variables.end())
      return *it->second;
  return *findStorage(root);
}

/// Next to the array, once for all that touch the register.
Value Thread::registerAddress(const Storage &storage, int64_t slot) {
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

Value Thread::loadStored(const Storage &storage, int64_t slot) {
  auto known = knownRegisters.find({storage.base, slot});
  if (known != knownRegisters.end()) {
    LLVM::StoreOp store = known->second;
    Block *block = b.getInsertionBlock();
    bool isAtEnd = b.getInsertionPoint() == block->end();
    if (store->getBlock() == block &&
        (isAtEnd || store->isBeforeInBlock(&*b.getInsertionPoint()))) // else it is computed early
      return store.getValue();
  }
  return LLVM::LoadOp::create(b, getRegisterType(storage.elementType),
                              registerAddress(storage, slot));
}

void Thread::storeStored(const Storage &storage, int64_t slot, Value value) {
  knownRegisters[{storage.base, slot}] =
      LLVM::StoreOp::create(b, value, registerAddress(storage, slot));
}

Value Thread::loadRegister(const Storage &storage, int64_t slot) {
  return fromStorage(*this, loadStored(storage, slot), storage.elementType);
}

void Thread::storeRegister(const Storage &storage, int64_t slot, Value value) {
  storeStored(storage, slot, toStorage(*this, value, storage.elementType));
}

int64_t Thread::registerOf(Operation *op) {
  return iteration->chunk->registers->find(op)->second[iteration->slot];
}

Value Thread::writerCondition() {
  if (iteration)
    return iteration->isOwner;
  return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, threadId, index(0));
}

} // namespace tilewright::nvptx
