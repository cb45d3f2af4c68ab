//===- Vectors.cpp - accesses of many slots at once ------------------------------------------===//
//
// Does what a #tile.access plan says: one instruction for each group of slots, at the address of
// its first element. Groups that lie a constant distance from an earlier one take its address, so
// that a thread computes few addresses and the rest are immediate offsets. No width is chosen here.
//
//===----------------------------------------------------------------------------------------===//

#include "Lowerings.h"
#include "tilewright/Access/MatrixStores.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::nvptx {

/// The addresses of a plan's groups inside one chunk.
struct GroupAddresses {
  llvm::DenseMap<int64_t, std::pair<Value, int64_t>> anchors; ///< With the anchor's delta.
};

/// Whether the chunk's slots are done together for this access. Registers have no address, and a
/// previous value is made element by element.
bool isPlanned(Operation *op) {
  if (!op->hasAttr(kAccessAttr))
    return false;
  auto atomic = dyn_cast<AtomicElementOp>(op);
  return isa<LoadOp, StoreOp>(op) || (atomic && atomic.getPrevious().use_empty());
}

/// Whether values, and the offsets of the views of a buffer, can be computed in front of the chunk.
static bool isAddressEarly(Thread &t, Value buffer, ValueRange indices) {
  auto areEarly = [&](ValueRange values) {
    return llvm::all_of(values, [&](Value value) { return t.isKnownEarly(value); });
  };
  bool isEarly = areEarly(indices);
  for (Value view = buffer; view && isEarly; view = getViewSource(view))
    if (auto slice = view.getDefiningOp<SliceOp>())
      isEarly = areEarly(slice->getOperands().drop_front()); // all but the source
  return isEarly;
}

static Value groupAddress(Thread &t, const Storage &storage, Value buffer, ValueRange indices,
                          AccessAttr plan, int64_t group, GroupAddresses &addresses) {
  ImplicitLocOpBuilder &b = t.b;
  bool hasAnchors = t.iteration->chunk->hasConstantSlots && !plan.getAnchors().empty();
  int64_t anchor = hasAnchors ? plan.getAnchors()[group] : -1;
  int64_t delta = hasAnchors ? plan.getDeltas()[group] : 0;
  if (hasAnchors)
    if (auto it = addresses.anchors.find(anchor); it != addresses.anchors.end()) {
      auto [base, baseDelta] = it->second;
      if (delta == baseDelta)
        return base;
      return LLVM::GEPOp::create(b, base.getType(), getStorageType(storage.elementType), base,
                                 ArrayRef<LLVM::GEPArg>{int32_t(delta - baseDelta)});
    }
  // In front of the chunk, so that later groups in other branches may use it.
  OpBuilder::InsertionGuard guard(b);
  bool isEarly = isAddressEarly(t, buffer, indices);
  if (isEarly)
    b.setInsertionPoint(t.iteration->chunk->start);
  Value address = addressOf(t, storage, rootCoordinates(t, buffer, indices));
  if (hasAnchors && isEarly)
    addresses.anchors.try_emplace(anchor, address, delta);
  return address;
}

static Value groupCondition(Thread &t, const Storage &storage, Value buffer, ValueRange indices,
                            AccessAttr plan) {
  if (!storage.isGlobal || plan.getGuarded().empty())
    return Value();
  return inBounds(t, storage, rootCoordinates(t, buffer, indices), plan.getGuarded());
}

static void loadGroup(Thread &t, LoadOp op, AccessAttr plan, int64_t group,
                      ArrayRef<Iteration *> members, GroupAddresses &addresses) {
  ImplicitLocOpBuilder &b = t.b;
  const Storage &storage = t.storageOf(getRoot(op.getBuffer()));
  t.iteration = members[0];
  Type stored = getStorageType(storage.elementType);
  int64_t width = members.size(), bytes = getStorageBytes(storage.elementType);
  Type type = width == 1 ? stored : Type(VectorType::get({width}, stored));
  Value address = groupAddress(t, storage, op.getBuffer(), op.getIndices(), plan, group, addresses);
  Value condition = groupCondition(t, storage, op.getBuffer(), op.getIndices(), plan);
  Value loaded;
  if (!condition) {
    loaded = LLVM::LoadOp::create(b, type, address, width * bytes);
  } else {
    auto branch = scf::IfOp::create(b, TypeRange(type), condition, /*withElse=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&branch.getThenRegion().front());
    scf::YieldOp::create(b, LLVM::LoadOp::create(b, type, address, width * bytes).getResult());
    b.setInsertionPointToStart(&branch.getElseRegion().front());
    Value safe = toStorage(t, t.constant(storage.safeValue), storage.elementType);
    scf::YieldOp::create(b, packVector(t, SmallVector<Value>(width, safe)));
    loaded = branch.getResult(0);
  }
  for (auto [position, member] : llvm::enumerate(members)) {
    t.iteration = member;
    Value element = loaded;
    if (width > 1)
      element = elementOf(t, loaded, position);
    defineLoaded(t, op, fromStorage(t, element, storage.elementType));
  }
}

static void storeGroup(Thread &t, Operation *op, Value buffer, ValueRange indices, AccessAttr plan,
                       int64_t group, ArrayRef<Iteration *> members, GroupAddresses &addresses,
                       llvm::function_ref<void(Value address)> write) {
  ImplicitLocOpBuilder &b = t.b;
  b.setLoc(op->getLoc());
  const Storage &storage = t.storageOf(getRoot(buffer));
  t.iteration = members[0];
  Value address = groupAddress(t, storage, buffer, indices, plan, group, addresses);
  Value condition = groupCondition(t, storage, buffer, indices, plan);
  t.guarded(t.both(t.writerCondition(), condition), [&] { write(address); });
}

/// Copies each group without passing through registers. Out of bounds nothing is read, from an
/// address that is always good, and zeros are written.
void copyAsync(Thread &t, LoadOp load, StoreOp store, ArrayRef<Iteration *> chunk) {
  ImplicitLocOpBuilder &b = t.b;
  b.setLoc(load.getLoc());
  auto read = load->getAttrOfType<AccessAttr>(kAccessAttr),
       write = store->getAttrOfType<AccessAttr>(kAccessAttr);
  const Storage &from = t.storageOf(getRoot(load.getBuffer())),
                &to = t.storageOf(getRoot(store.getBuffer()));
  int32_t bytes = read.getWidth() * getStorageBytes(from.elementType);
  auto modifier = bytes == 16 ? NVVM::LoadCacheModifierKind::CG : NVVM::LoadCacheModifierKind::CA;
  GroupAddresses sources, targets;
  for (int64_t group = 0; group < read.getNumGroups(); ++group) {
    auto *first = llvm::find_if(
        chunk, [&](const Iteration *at) { return at->slot == read.getGroup(group)[0]; });
    if (first == chunk.end())
      continue; // of another chunk
    t.iteration = *first;
    Value source = groupAddress(t, from, load.getBuffer(), load.getIndices(), read, group, sources);
    Value target =
        groupAddress(t, to, store.getBuffer(), store.getIndices(), write, group, targets);
    Value condition = groupCondition(t, from, load.getBuffer(), load.getIndices(), read);
    Value size;
    if (condition) {
      size = arith::SelectOp::create(b, condition, t.constant(b.getI32IntegerAttr(bytes)),
                                     t.constant(b.getI32IntegerAttr(0)));
      source = LLVM::SelectOp::create(b, condition, source, from.base);
    }
    t.guarded(t.writerCondition(),
              [&] { NVVM::CpAsyncOp::create(b, target, source, bytes, modifier, size); });
  }
  t.iteration = nullptr;
}

/// Where the row goes that this thread names: the address of the element that another thread brings
/// first.
static Value matrixRowAddress(Thread &t, StoreOp op, SlotChunk &chunk, int64_t number) {
  ImplicitLocOpBuilder &b = t.b;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(chunk.start);
  auto row = access::MatrixRow::get(number);
  Iteration first;
  first.chunk = &chunk;
  first.slotValue = t.evaluate(row.slot, t.threadId);
  llvm::SaveAndRestore thread(t.threadId, t.evaluate(row.thread, t.threadId));
  llvm::SaveAndRestore iteration(t.iteration, &first);
  const Storage &storage = t.storageOf(getRoot(op.getBuffer()));
  return addressOf(t, storage, rootCoordinates(t, op.getBuffer(), op.getIndices()));
}

/// Four lanes bring each row of 16 bytes; one lane says where it goes. False where that cannot be
/// known before the loop.
static bool storeMatrices(Thread &t, StoreOp op, ArrayRef<Iteration *> members,
                          const llvm::DenseMap<int64_t, Iteration *> &bySlot) {
  ImplicitLocOpBuilder &b = t.b;
  auto rows = op->getAttrOfType<AccessAttr>(kMatrixRowsAttr);
  if (!rows || !members[0]->chunk->hasConstantSlots)
    return false;
  t.iteration = members[0];
  if (!isAddressEarly(t, op.getBuffer(), op.getIndices()))
    return false;
  const Storage &storage = t.storageOf(getRoot(op.getBuffer()));
  llvm::DenseMap<int64_t, Value> anchors;
  for (int64_t number = 0; number < rows.getNumGroups(); ++number) {
    if (!bySlot.contains(number * access::kMatrixSlots))
      continue; // of another chunk
    SmallVector<Value> words;
    for (int64_t slot = 0; slot < access::kMatrixSlots; slot += 2) {
      SmallVector<Value> pair;
      for (int64_t half : {0, 1}) {
        t.iteration = bySlot.lookup(number * access::kMatrixSlots + slot + half);
        pair.push_back(toStorage(t, t.mapped(op.getValue()), storage.elementType));
      }
      words.push_back(LLVM::BitcastOp::create(b, b.getI32Type(), packVector(t, pair)));
    }
    int64_t anchor = rows.getAnchors()[number], delta = rows.getDeltas()[number];
    Value &base = anchors[anchor];
    if (!base)
      base = matrixRowAddress(t, op, *members[0]->chunk, anchor);
    Value address = base;
    if (delta)
      address = LLVM::GEPOp::create(b, base.getType(), getStorageType(storage.elementType), base,
                                    ArrayRef<LLVM::GEPArg>{int32_t(delta)});
    NVVM::StMatrixOp::create(b, address, words, NVVM::MMALayout::row,
                             NVVM::LdStMatrixShapeAttr::get(b.getContext(), 8, 8),
                             NVVM::LdStMatrixEltType::B16);
  }
  return true;
}

LogicalResult lowerPlanned(Thread &t, Operation *op, ArrayRef<Iteration *> chunk) {
  ImplicitLocOpBuilder &b = t.b;
  auto plan = op->getAttrOfType<AccessAttr>(kAccessAttr);
  llvm::DenseMap<int64_t, Iteration *> bySlot;
  for (Iteration *at : chunk)
    bySlot[at->slot] = at;
  if (auto store = dyn_cast<StoreOp>(op); store && storeMatrices(t, store, chunk, bySlot))
    return success();
  GroupAddresses addresses;
  for (int64_t group = 0; group < plan.getNumGroups(); ++group) {
    SmallVector<Iteration *> members;
    for (int64_t slot : plan.getGroup(group))
      if (Iteration *at = bySlot.lookup(slot))
        members.push_back(at);
    if (members.empty())
      continue; // of another chunk; chunks are made of whole groups
    if (auto load = dyn_cast<LoadOp>(op)) {
      loadGroup(t, load, plan, group, members, addresses);
      continue;
    }
    auto store = dyn_cast<StoreOp>(op);
    auto atomic = dyn_cast<AtomicElementOp>(op);
    Value value = store ? store.getValue() : atomic.getValue();
    Value buffer = store ? store.getBuffer() : atomic.getBuffer();
    ValueRange indices = store ? ValueRange(store.getIndices()) : ValueRange(atomic.getIndices());
    const Storage &storage = t.storageOf(getRoot(buffer));
    SmallVector<Value> elements;
    for (Iteration *member : members) {
      t.iteration = member;
      elements.push_back(toStorage(t, t.mapped(value), storage.elementType));
    }
    storeGroup(t, op, buffer, indices, plan, group, members, addresses, [&](Value address) {
      if (store)
        LLVM::StoreOp::create(b, packVector(t, elements), address,
                              elements.size() * getStorageBytes(storage.elementType));
      else if (elements.size() > 1)
        updateVector(t, storage, address, elements);
      else
        updateElement(t, atomic.getKind(), storage, address, elements[0], atomic.getOrder(),
                      /*isUsed=*/false);
    });
  }
  // Slots that share an element with another one.
  if (auto load = dyn_cast<LoadOp>(op); load && !plan.getSources().empty())
    for (Iteration *at : chunk) {
      int64_t source = plan.getSources()[at->slot];
      if (source >= 0 && plan.getSlots()[source] != at->slot)
        at->values[load.getValue()] = bySlot[plan.getSlots()[source]]->values[load.getValue()];
    }
  return success();
}

} // namespace tilewright::nvptx
