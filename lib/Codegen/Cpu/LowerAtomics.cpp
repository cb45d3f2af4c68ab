//===- LowerAtomics.cpp - atomic updates and reducers -----------------------------------------===//
//
// Tiles belong to one block, which runs on one thread: an update of a shared tile is a plain load,
// combination and store. Blocks run at the same time, so an update of a global tensor is one
// machine instruction where there is one, and a compare-and-exchange loop on the element's bits
// otherwise.
//
// A tensor that a kernel touches in no other way than by relaxed updates of whole tiles gets faster
// code (`tile.locks_rows`, LowerUpdates.cpp).
//
// Under a layout the bytes of an element that a view makes of several elements of the tensor lie
// apart. No instruction reaches them at once: where a kernel makes such an update, all its updates
// of the tensor take one lock.
//
//===----------------------------------------------------------------------------------------===//

#include "Atomics.h"
#include "Copies.h"
#include "Lowerings.h"
#include "tilewright/Tile/CpuPlan.h"
#include "tilewright/Tile/Statements.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;
using LLVM::AtomicOrdering;
using tile::AtomicKind;

Value tilewright::cpu::combine(Emitter &e, AtomicKind kind, Type elementType, Value old,
                               Value operand) {
  if (!isa<FloatType>(elementType))
    return tile::combineIntegers(e.b, kind, old, operand, elementType.isUnsignedInteger());
  switch (kind) {
  case AtomicKind::Add:
    return e.numbers.round(arith::AddFOp::create(e.b, old, operand), elementType);
  case AtomicKind::Max:
    return e.numbers.maxFloat(old, operand, /*propagate=*/false);
  case AtomicKind::Min:
    return e.numbers.minFloat(old, operand, /*propagate=*/false);
  case AtomicKind::Exchange:
    return operand;
  default:
    llvm_unreachable("the verifier lets no other update of floats pass");
  }
}

static AtomicOrdering getOrdering(tile::MemoryOrder order) {
  switch (order) {
  case tile::MemoryOrder::Relaxed:
    return AtomicOrdering::monotonic;
  case tile::MemoryOrder::Consume:
  case tile::MemoryOrder::Acquire:
    return AtomicOrdering::acquire;
  case tile::MemoryOrder::Release:
    return AtomicOrdering::release;
  case tile::MemoryOrder::AcqRel:
    return AtomicOrdering::acq_rel;
  case tile::MemoryOrder::SeqCst:
    return AtomicOrdering::seq_cst;
  }
  llvm_unreachable("unknown order");
}

/// The order of the load that a failed exchange is.
static AtomicOrdering getFailureOrdering(AtomicOrdering order) {
  switch (order) {
  case AtomicOrdering::release:
    return AtomicOrdering::monotonic;
  case AtomicOrdering::acq_rel:
    return AtomicOrdering::acquire;
  default:
    return order;
  }
}

/// The instruction that does the whole update on the element's storage type, if there is one.
static std::optional<LLVM::AtomicBinOp> getInstruction(AtomicKind kind, Type elementType) {
  using Op = LLVM::AtomicBinOp;
  if (kind == AtomicKind::Exchange)
    return Op::xchg;
  if (isa<Float32Type, Float64Type>(elementType) && kind == AtomicKind::Add)
    return Op::fadd;
  if (!isa<IntegerType>(elementType))
    return std::nullopt;
  bool isUnsigned = elementType.isUnsignedInteger();
  switch (kind) {
  case AtomicKind::Add:
    return Op::add;
  case AtomicKind::Max:
    return isUnsigned ? Op::umax : Op::max;
  case AtomicKind::Min:
    return isUnsigned ? Op::umin : Op::min;
  case AtomicKind::And:
    return Op::_and;
  case AtomicKind::Or:
    return Op::_or;
  case AtomicKind::Xor:
    return Op::_xor;
  case AtomicKind::Exchange:
    break;
  }
  return Op::xchg;
}

/// `do new = combine(old) while (!exchange(address, old, new))`; gives the old value.
static Value updateByExchange(Emitter &e, const View &view, Value address, AtomicKind kind,
                              AtomicOrdering order, Value operand) {
  int64_t bytes = tile::getStorageBytes(view.elementType);
  Type bits = e.b.getIntegerType(8 * bytes);
  Value first = LLVM::LoadOp::create(e.b, bits, address, bytes, /*isVolatile=*/false,
                                     /*isNonTemporal=*/false, /*isInvariant=*/false,
                                     /*isInvariantGroup=*/false, AtomicOrdering::monotonic);
  auto loop = scf::WhileOp::create(e.b, TypeRange{bits}, ValueRange{first});
  {
    OpBuilder::InsertionGuard guard(e.b);
    Block *before = e.b.createBlock(&loop.getBefore(), {}, bits, e.b.getLoc());
    Value old = before->getArgument(0);
    Value combined =
        combine(e, kind, view.elementType, e.numbers.fromBits(old, view.elementType), operand);
    Value exchanged = LLVM::AtomicCmpXchgOp::create(e.b, address, old,
                                                    e.numbers.toBits(combined, view.elementType),
                                                    order, getFailureOrdering(order));
    Value found = LLVM::ExtractValueOp::create(e.b, exchanged, ArrayRef<int64_t>{0});
    Value succeeded = LLVM::ExtractValueOp::create(e.b, exchanged, ArrayRef<int64_t>{1});
    Value again = arith::XOrIOp::create(e.b, succeeded, e.numbers.integer(e.b.getI1Type(), 1));
    scf::ConditionOp::create(e.b, again, found);
    Block *after = e.b.createBlock(&loop.getAfter(), {}, bits, e.b.getLoc());
    scf::YieldOp::create(e.b, ValueRange{after->getArgument(0)});
  }
  return e.numbers.fromBits(loop.getResult(0), view.elementType);
}

static Value updateElement(Emitter &e, const View &view, ArrayRef<Value> surfaceIndex,
                           AtomicKind kind, tile::MemoryOrder order, Value operand) {
  auto updatePlainly = [&] {
    Value old = e.numbers.unpack(e.buffers.loadAt(view, surfaceIndex), view.elementType);
    Value combined = combine(e, kind, view.elementType, old, operand);
    e.buffers.storeAt(view, surfaceIndex, e.numbers.pack(combined, view.elementType));
    return old;
  };
  if (view.root->isOnChip())
    return updatePlainly();
  if (view.root->hasLockedUpdates) {
    Value lock[] = {view.root->pointer, e.numbers.integer(e.b.getI64Type(), 0)};
    e.services.call(Service::LockRow, lock);
    Value old = updatePlainly();
    e.services.call(Service::UnlockRow, lock);
    return old;
  }
  Value address = e.buffers.addressOf(view, surfaceIndex);
  AtomicOrdering ordering = getOrdering(order);
  std::optional<LLVM::AtomicBinOp> instruction = getInstruction(kind, view.elementType);
  if (!instruction)
    return updateByExchange(e, view, address, kind, ordering, operand);
  int64_t bytes = tile::getStorageBytes(view.elementType);
  if (*instruction == LLVM::AtomicBinOp::fadd) {
    Value old = LLVM::AtomicRMWOp::create(e.b, *instruction, address, operand, ordering,
                                          /*syncscope=*/StringRef(), bytes);
    return old;
  }
  Value old = LLVM::AtomicRMWOp::create(e.b, *instruction, address,
                                        e.numbers.toBits(operand, view.elementType), ordering,
                                        /*syncscope=*/StringRef(), bytes);
  return e.numbers.fromBits(old, view.elementType);
}

//===----------------------------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------------------------===//

void tilewright::cpu::lowerAtomic(tile::AtomicOp op, Emitter &e) {
  View dest = e.buffers.getView(op.getDest());
  if (op->hasAttr(tile::kLocksRowsAttr))
    return updateRows(op, e);
  auto destType = cast<MemRefType>(op.getDest().getType());
  auto update = [&](ArrayRef<Value> destIndex, llvm::function_ref<Value()> getOperand) {
    SmallVector<Value> position = e.buffers.toSurface(dest, destIndex);
    Value inside = e.buffers.isInside(dest, position);
    e.ifTrue(inside,
             [&] { updateElement(e, dest, position, op.getKind(), op.getOrder(), getOperand()); });
    if (inside && dest.root->isOnChip())
      e.ifTrue(e.b.createOrFold<arith::XOrIOp>(inside, e.numbers.integer(e.b.getI1Type(), 1)),
               [&] { e.buffers.failOutside(dest, position); });
  };
  auto sourceType = dyn_cast<MemRefType>(op.getValue().getType());
  if (!sourceType) {
    Value operand = e.lookup(op.getValue());
    return e.loopNest(dest.extents, /*isParallel=*/false, [&](ArrayRef<Value> variables) {
      update(variables, [&] { return operand; });
    });
  }
  View source = separateFrom(e, dest, e.buffers.getView(op.getValue()), sourceType);
  Pairing pairing = pairDimensions(e, source, sourceType, dest, destType);
  e.loopNest(pairing.extents, /*isParallel=*/false, [&](ArrayRef<Value> variables) {
    update(spread(e, dest, pairing.dest, variables), [&] {
      Value element = e.buffers.load(source, spread(e, source, pairing.source, variables));
      return e.numbers.convert(element, source.elementType, dest.elementType);
    });
  });
}

void tilewright::cpu::lowerAtomicElement(tile::AtomicElementOp op, Emitter &e) {
  View view = e.buffers.getView(op.getBuffer());
  SmallVector<Value> position = e.buffers.toSurface(view, e.lookupAll(op.getIndices()));
  Value inside = e.buffers.isInside(view, position), operand = e.lookup(op.getValue());
  if (!inside)
    return e.define(op.getPrevious(),
                    updateElement(e, view, position, op.getKind(), op.getOrder(), operand));
  auto branch =
      scf::IfOp::create(e.b, TypeRange{operand.getType()}, inside, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(e.b, updateElement(e, view, position, op.getKind(), op.getOrder(), operand));
  e.b.setInsertionPointToStart(branch.elseBlock());
  if (view.root->isOnChip())
    e.buffers.failOutside(view, position);
  scf::YieldOp::create(e.b, e.numbers.unpack(e.buffers.safeStored(view), view.elementType));
  e.define(op.getPrevious(), branch.getResult(0));
}

//===----------------------------------------------------------------------------------------===//
// Reducers
//===----------------------------------------------------------------------------------------===//

void tilewright::cpu::lowerReducerUpdate(tile::ReducerUpdateOp op, Emitter &e) {
  View view = e.buffers.getView(op.getBuffer());
  auto alloc = tile::getRoot(op.getBuffer()).getDefiningOp<tile::AllocOp>();
  tile::ReduceKind kind = alloc.getReducer().value_or(tile::ReduceKind::Sum);
  Value operand = e.lookup(op.getValue());
  if (kind == tile::ReduceKind::AbsSum || kind == tile::ReduceKind::AbsMax) {
    if (isa<FloatType>(view.elementType))
      operand = math::AbsFOp::create(e.b, operand);
    else if (!view.elementType.isUnsignedInteger() && !view.elementType.isInteger(1))
      operand = math::AbsIOp::create(e.b, operand);
  }
  SmallVector<Value> indices = e.lookupAll(op.getIndices());
  Value old = e.buffers.load(view, indices);
  e.buffers.store(view, indices,
                  combine(e, tile::getAtomicKind(kind), view.elementType, old, operand));
}
