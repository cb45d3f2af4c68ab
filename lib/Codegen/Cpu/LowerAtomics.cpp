//===- LowerAtomics.cpp - atomic updates and reducers -----------------------------------------===//
//
// Tiles belong to one block, which runs on one thread: an update of a shared tile is a plain load,
// combination and store. Blocks run at the same time, so an update of a global tensor is one
// machine instruction where there is one, and a compare-and-exchange loop on the element's bits
// otherwise.
//
// A tensor that a kernel touches in no other way than by relaxed updates of whole tiles gets faster
// code: a row (all of the last dimension) is updated under a lock by plain, vectorised code. That
// is right because every access to an element goes through the same lock, that of its logical row,
// wherever a layout puts it.
//
// Under a layout the bytes of an element that a view makes of several elements of the tensor lie
// apart. No instruction reaches them at once: where a kernel makes such an update, all its updates
// of the tensor take one lock.
//
//===----------------------------------------------------------------------------------------===//

#include "Lowering.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;
using LLVM::AtomicOrdering;
using tile::AtomicKind;

Value Lowering::combine(AtomicKind kind, Type elementType, Value old, Value operand) {
  bool isReal = isa<FloatType>(elementType);
  bool isUnsigned = elementType.isUnsignedInteger();
  switch (kind) {
  case AtomicKind::Add:
    return isReal ? numbers.round(arith::AddFOp::create(b, old, operand), elementType)
                  : Value(arith::AddIOp::create(b, old, operand));
  case AtomicKind::Max:
    return isReal       ? numbers.maxFloat(old, operand, /*propagate=*/false)
           : isUnsigned ? Value(arith::MaxUIOp::create(b, old, operand))
                        : Value(arith::MaxSIOp::create(b, old, operand));
  case AtomicKind::Min:
    return isReal       ? numbers.minFloat(old, operand, /*propagate=*/false)
           : isUnsigned ? Value(arith::MinUIOp::create(b, old, operand))
                        : Value(arith::MinSIOp::create(b, old, operand));
  case AtomicKind::And:
    return arith::AndIOp::create(b, old, operand);
  case AtomicKind::Or:
    return arith::OrIOp::create(b, old, operand);
  case AtomicKind::Xor:
    return arith::XOrIOp::create(b, old, operand);
  case AtomicKind::Exchange:
    return operand;
  }
  llvm_unreachable("unknown kind");
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
// Whole tiles
//===----------------------------------------------------------------------------------------===//

/// Whether a statement updates rows of `root` that a lock can guard: parts of the tensor itself
/// with the last dimension in them, from a tile of constant extents.
static bool updatesRows(tile::AtomicOp op, Value root) {
  auto slice = op.getDest().getDefiningOp<tile::SliceOp>();
  Value whole = slice ? Value(slice.getSource()) : op.getDest();
  auto type = cast<MemRefType>(op.getDest().getType());
  int64_t rootRank = cast<MemRefType>(root.getType()).getRank();
  if (whole != root || type.getRank() == 0 || type.getShape().back() == 1 ||
      op.getOrder() != tile::MemoryOrder::Relaxed)
    return false;
  auto isOne = [](OpFoldResult step) { return getConstantIntValue(step) == 1; };
  if (slice && (llvm::is_contained(slice.getDropped(), rootRank - 1) ||
                !llvm::all_of(slice.getMixedSteps(), isOne)))
    return false;
  auto source = dyn_cast<MemRefType>(op.getValue().getType());
  return !source || (source.hasStaticShape() && source.getShape().back() != 1 &&
                     tile::getRoot(op.getValue()) != root);
}

/// Whether all that a kernel does with `root` are such updates.
static bool isGuardedByRows(tile::KernelOp kernel, Value root) {
  auto isRoot = [&](Value value) {
    return isa<MemRefType>(value.getType()) && tile::getRoot(value) == root;
  };
  return !kernel
              .walk([&](Operation *op) {
                if (llvm::none_of(op->getOperands(), isRoot))
                  return WalkResult::advance();
                if (isa<tile::SliceOp, tile::AnnotateLayoutOp, tile::AnnotateSafeValueOp,
                        tile::HintOp>(op))
                  return WalkResult::advance();
                auto atomic = dyn_cast<tile::AtomicOp>(op);
                return atomic && updatesRows(atomic, root) ? WalkResult::advance()
                                                           : WalkResult::interrupt();
              })
              .wasInterrupted();
}

void Lowering::updateRows(tile::AtomicOp op) {
  View dest = getView(op.getDest());
  auto sourceType = dyn_cast<MemRefType>(op.getValue().getType());
  View source;
  Pairing pairing;
  if (sourceType) {
    // What may fail (an access outside a tile) happens before the lock is taken.
    source = getView(op.getValue());
    SmallVector<unsigned> dims = llvm::to_vector(llvm::seq<unsigned>(0, source.getRank()));
    std::optional<Window> whole = windowOf(source, dims, source.extents);
    if (!whole || !whole->isWhole)
      source = convertMatrix(source, sourceType, source.elementType);
    pairing = pairDimensions(source, sourceType, dest, cast<MemRefType>(op.getDest().getType()));
  } else {
    pairing.extents.assign(dest.extents.begin(), dest.extents.end());
    pairing.dest = llvm::to_vector(llvm::seq<unsigned>(0, dest.getRank()));
  }
  std::optional<Window> window = windowOf(dest, pairing.dest, pairing.extents);
  if (!window)
    return refuse(op, "internal error: rows of '" + dest.root->name + "' have no bounds");
  Value scalar = sourceType ? Value() : lookup(op.getValue());
  ifTrue(window->condition, [&] {
    ArrayRef<Value> lowers = window->lowers, uppers = window->uppers;
    loopNest(lowers.drop_back(), uppers.drop_back(), false, [&](ArrayRef<Value> outer) {
      SmallVector<Value> start(outer);
      start.push_back(index(0));
      SmallVector<Value> place = toSurface(dest, spread(dest, pairing.dest, start));
      Value row = index(0);
      for (size_t dim = 0; dim + 1 < place.size(); ++dim)
        row = add(mul(row, dest.surface[dim]), place[dim]);
      callService(Service::LockRow, {dest.root->pointer, toI64(row)});
      holdsLock = true;
      // Under a layout neighbours lie apart: a vector would be gathered and scattered.
      bool isParallel = !dest.root->layout;
      loopNest(lowers.take_back(), uppers.take_back(), isParallel, [&](ArrayRef<Value> inner) {
        SmallVector<Value> variables(outer);
        variables.push_back(inner[0]);
        SmallVector<Value> target = toSurface(dest, spread(dest, pairing.dest, variables));
        Value operand = scalar;
        if (sourceType)
          operand = numbers.convert(load(source, spread(source, pairing.source, variables)),
                                    source.elementType, dest.elementType);
        Value old = numbers.unpack(loadAt(dest, target), dest.elementType);
        Value combined = combine(op.getKind(), dest.elementType, old, operand);
        storeAt(dest, target, numbers.pack(combined, dest.elementType));
      });
      holdsLock = false;
      callService(Service::UnlockRow, {dest.root->pointer, toI64(row)});
    });
  });
}

void Lowering::lowerAtomic(tile::AtomicOp op) {
  View dest = getView(op.getDest());
  auto kernel = op->getParentOfType<tile::KernelOp>();
  if (options.assumeDisjoint && !dest.root->isOnChip() && kernel &&
      isGuardedByRows(kernel, tile::getRoot(op.getDest())))
    return updateRows(op);
  auto destType = cast<MemRefType>(op.getDest().getType());
  auto update = [&](ArrayRef<Value> destIndex, llvm::function_ref<Value()> getOperand) {
    SmallVector<Value> place = toSurface(dest, destIndex);
    Value inside = isInside(dest, place);
    ifTrue(inside, [&] { updateElement(dest, place, op.getKind(), op.getOrder(), getOperand()); });
    if (inside && dest.root->isOnChip())
      ifTrue(b.createOrFold<arith::XOrIOp>(inside, numbers.integer(b.getI1Type(), 1)),
             [&] { failOutside(dest); });
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
    failOutside(view);
  scf::YieldOp::create(b, numbers.unpack(safeStored(view), view.elementType));
  define(op.getPrevious(), branch.getResult(0));
}

//===----------------------------------------------------------------------------------------===//
// Reducers
//===----------------------------------------------------------------------------------------===//

static AtomicKind getAtomicKind(tile::ReduceKind kind) {
  switch (kind) {
  case tile::ReduceKind::Sum:
  case tile::ReduceKind::AbsSum:
    return AtomicKind::Add;
  case tile::ReduceKind::Max:
  case tile::ReduceKind::AbsMax:
    return AtomicKind::Max;
  case tile::ReduceKind::Min:
    return AtomicKind::Min;
  case tile::ReduceKind::And:
    return AtomicKind::And;
  case tile::ReduceKind::Or:
    return AtomicKind::Or;
  case tile::ReduceKind::Xor:
    return AtomicKind::Xor;
  }
  llvm_unreachable("unknown kind");
}

void Lowering::lowerReducerUpdate(tile::ReducerUpdateOp op) {
  View view = getView(op.getBuffer());
  auto alloc = tile::getRoot(op.getBuffer()).getDefiningOp<tile::AllocOp>();
  tile::ReduceKind kind = alloc.getReducer().value_or(tile::ReduceKind::Sum);
  Value operand = lookup(op.getValue());
  if (kind == tile::ReduceKind::AbsSum || kind == tile::ReduceKind::AbsMax) {
    if (isa<FloatType>(view.elementType))
      operand = math::AbsFOp::create(b, operand);
    else if (!view.elementType.isUnsignedInteger() && !view.elementType.isInteger(1))
      operand = math::AbsIOp::create(b, operand);
  }
  SmallVector<Value> indices = lookupAll(op.getIndices());
  Value old = load(view, indices);
  store(view, indices, combine(getAtomicKind(kind), view.elementType, old, operand));
}
