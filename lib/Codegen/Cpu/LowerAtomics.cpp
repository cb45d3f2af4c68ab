//===- LowerAtomics.cpp - atomic updates and reducers -----------------------------------------===//
//
// Tiles belong to one block, which runs on one thread: an update of a shared tile is a plain load,
// combination and store. Blocks run at the same time, so an update of a global tensor is one
// machine instruction where there is one, and a compare-and-exchange loop on the element's bits
// otherwise.
//
// A tensor that a kernel touches in no other way than by relaxed updates of whole tiles gets faster
// code: LowerUpdates.cpp.
//
// Under a layout the bytes of an element that a view makes of several elements of the tensor lie
// apart. No instruction reaches them at once: where a kernel makes such an update, all its updates
// of the tensor take one lock.
//
//===----------------------------------------------------------------------------------------===//

#include "Lowering.h"
#include "tilewright/Tile/Statements.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;
using LLVM::AtomicOrdering;
using tile::AtomicKind;

Value Lowering::combine(AtomicKind kind, Type elementType, Value old, Value operand) {
  if (!isa<FloatType>(elementType))
    return tile::combineIntegers(b, kind, old, operand, elementType.isUnsignedInteger());
  switch (kind) {
  case AtomicKind::Add:
    return numbers.round(arith::AddFOp::create(b, old, operand), elementType);
  case AtomicKind::Max:
    return numbers.maxFloat(old, operand, /*propagate=*/false);
  case AtomicKind::Min:
    return numbers.minFloat(old, operand, /*propagate=*/false);
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
Value Lowering::updateByExchange(const View &view, Value address, AtomicKind kind,
                                 AtomicOrdering order, Value operand) {
  int64_t bytes = tile::getStorageBytes(view.elementType);
  Type bits = b.getIntegerType(8 * bytes);
  Value first = LLVM::LoadOp::create(b, bits, address, bytes, /*isVolatile=*/false,
                                     /*isNonTemporal=*/false, /*isInvariant=*/false,
                                     /*isInvariantGroup=*/false, AtomicOrdering::monotonic);
  auto loop = scf::WhileOp::create(b, TypeRange{bits}, ValueRange{first});
  {
    OpBuilder::InsertionGuard guard(b);
    Block *before = b.createBlock(&loop.getBefore(), {}, bits, b.getLoc());
    Value old = before->getArgument(0);
    Value combined =
        combine(kind, view.elementType, numbers.fromBits(old, view.elementType), operand);
    Value exchanged =
        LLVM::AtomicCmpXchgOp::create(b, address, old, numbers.toBits(combined, view.elementType),
                                      order, getFailureOrdering(order));
    Value found = LLVM::ExtractValueOp::create(b, exchanged, ArrayRef<int64_t>{0});
    Value succeeded = LLVM::ExtractValueOp::create(b, exchanged, ArrayRef<int64_t>{1});
    Value again = arith::XOrIOp::create(b, succeeded, numbers.integer(b.getI1Type(), 1));
    scf::ConditionOp::create(b, again, found);
    Block *after = b.createBlock(&loop.getAfter(), {}, bits, b.getLoc());
    scf::YieldOp::create(b, ValueRange{after->getArgument(0)});
  }
  return numbers.fromBits(loop.getResult(0), view.elementType);
}

Value Lowering::updateElement(const View &view, ArrayRef<Value> surfaceIndex, AtomicKind kind,
                              tile::MemoryOrder order, Value operand) {
  auto updatePlainly = [&] {
    Value old = numbers.unpack(loadAt(view, surfaceIndex), view.elementType);
    Value combined = combine(kind, view.elementType, old, operand);
    storeAt(view, surfaceIndex, numbers.pack(combined, view.elementType));
    return old;
  };
  if (view.root->isOnChip())
    return updatePlainly();
  if (view.root->hasLockedUpdates) {
    Value lock[] = {view.root->pointer, numbers.integer(b.getI64Type(), 0)};
    callService(Service::LockRow, lock);
    Value old = updatePlainly();
    callService(Service::UnlockRow, lock);
    return old;
  }
  Value address = addressOf(view, surfaceIndex);
  AtomicOrdering ordering = getOrdering(order);
  std::optional<LLVM::AtomicBinOp> instruction = getInstruction(kind, view.elementType);
  if (!instruction)
    return updateByExchange(view, address, kind, ordering, operand);
  int64_t bytes = tile::getStorageBytes(view.elementType);
  if (*instruction == LLVM::AtomicBinOp::fadd) {
    Value old = LLVM::AtomicRMWOp::create(b, *instruction, address, operand, ordering,
                                          /*syncscope=*/StringRef(), bytes);
    return old;
  }
  Value old =
      LLVM::AtomicRMWOp::create(b, *instruction, address, numbers.toBits(operand, view.elementType),
                                ordering, /*syncscope=*/StringRef(), bytes);
  return numbers.fromBits(old, view.elementType);
}

//===----------------------------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------------------------===//

void Lowering::lowerAtomic(tile::AtomicOp op) {
  View dest = getView(op.getDest());
  if (isGuardedByRows(op))
    return updateRows(op);
  auto destType = cast<MemRefType>(op.getDest().getType());
  auto update = [&](ArrayRef<Value> destIndex, llvm::function_ref<Value()> getOperand) {
    SmallVector<Value> place = toSurface(dest, destIndex);
    Value inside = isInside(dest, place);
    ifTrue(inside, [&] { updateElement(dest, place, op.getKind(), op.getOrder(), getOperand()); });
    if (inside && dest.root->isOnChip())
      ifTrue(b.createOrFold<arith::XOrIOp>(inside, numbers.integer(b.getI1Type(), 1)),
             [&] { failOutside(dest, place); });
  };
  auto sourceType = dyn_cast<MemRefType>(op.getValue().getType());
  if (!sourceType) {
    Value operand = lookup(op.getValue());
    return loopNest(dest.extents, /*isParallel=*/false,
                    [&](ArrayRef<Value> variables) { update(variables, [&] { return operand; }); });
  }
  View source = separateFrom(dest, getView(op.getValue()), sourceType);
  Pairing pairing = pairDimensions(source, sourceType, dest, destType);
  loopNest(pairing.extents, /*isParallel=*/false, [&](ArrayRef<Value> variables) {
    update(spread(dest, pairing.dest, variables), [&] {
      Value element = load(source, spread(source, pairing.source, variables));
      return numbers.convert(element, source.elementType, dest.elementType);
    });
  });
}

void Lowering::lowerAtomicElement(tile::AtomicElementOp op) {
  View view = getView(op.getBuffer());
  SmallVector<Value> place = toSurface(view, lookupAll(op.getIndices()));
  Value inside = isInside(view, place), operand = lookup(op.getValue());
  if (!inside)
    return define(op.getPrevious(),
                  updateElement(view, place, op.getKind(), op.getOrder(), operand));
  auto branch = scf::IfOp::create(b, TypeRange{operand.getType()}, inside, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, updateElement(view, place, op.getKind(), op.getOrder(), operand));
  b.setInsertionPointToStart(branch.elseBlock());
  if (view.root->isOnChip())
    failOutside(view, place);
  scf::YieldOp::create(b, numbers.unpack(safeStored(view), view.elementType));
  define(op.getPrevious(), branch.getResult(0));
}

//===----------------------------------------------------------------------------------------===//
// Reducers
//===----------------------------------------------------------------------------------------===//

void Lowering::lowerReducerUpdate(tile::ReducerUpdateOp op) {
  View view = getView(op.getBuffer());
  auto alloc = tile::getRoot(op.getBuffer()).getDefiningOp<tile::AllocOp>();
  tile::ReduceKind kind = alloc.getReducer().value_or(tile::ReduceKind::Sum);
  Value operand = lookup(op.getValue());
  for (CarriedSum &sum : carriedSums) {
    if (sum.update != op)
      continue;
    sum.operand = sum.combiner.widen(operand, view.elementType);
    sum.current = sum.combiner.combine(sum.current, sum.operand);
    return;
  }
  if (kind == tile::ReduceKind::AbsSum || kind == tile::ReduceKind::AbsMax) {
    if (isa<FloatType>(view.elementType))
      operand = math::AbsFOp::create(b, operand);
    else if (!view.elementType.isUnsignedInteger() && !view.elementType.isInteger(1))
      operand = math::AbsIOp::create(b, operand);
  }
  SmallVector<Value> indices = lookupAll(op.getIndices());
  Value old = load(view, indices);
  store(view, indices, combine(tile::getAtomicKind(kind), view.elementType, old, operand));
}
