//===- Kernels.cpp - functions, storage and control flow of a thread -------------------------===//

#include "ThreadLowering.h"
#include "tilewright/Analysis/SharedTiles.h"
#include "tilewright/Layout/RuntimeExtents.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::nvptx {

static constexpr unsigned kGlobalSpace = 1, kSharedSpace = 3;
static constexpr StringLiteral kArenaName = "tilewright_shared";

Type getStorageType(Type elementType) {
  MLIRContext *context = elementType.getContext();
  if (elementType.isInteger(1))
    return IntegerType::get(context, 8);
  if (isa<FloatTF32Type>(elementType))
    return Float32Type::get(context);
  if (isa<Float8E4M3FNType, Float8E5M2Type>(elementType))
    return IntegerType::get(context, 8);
  return getScalarType(elementType);
}

Type getRegisterType(Type elementType) {
  if (isa<IndexType>(elementType))
    return IntegerType::get(elementType.getContext(), 64);
  return getStorageType(elementType);
}

ThreadLowering::ThreadLowering(ModuleOp module, KernelOp kernel, const Arch &arch, StringRef name,
                               const LaunchAssumptions &assumptions)
    : module(module), kernel(kernel), function(kernel->getParentOfType<func::FuncOp>()), arch(arch),
      name(name.str()), assumptions(assumptions), b(kernel.getLoc(), module.getContext()) {}

Value ThreadLowering::i64(Value indexValue) {
  return arith::IndexCastOp::create(b, b.getI64Type(), indexValue);
}

Value ThreadLowering::constant(TypedAttr value) {
  Value &known = constants[value];
  if (!known) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&thread.front());
    known = arith::ConstantOp::create(b, value);
  }
  return known;
}

void ThreadLowering::barrier() { NVVM::Barrier0Op::create(b); }

//===----------------------------------------------------------------------------------------===//
// Functions and storage
//===----------------------------------------------------------------------------------------===//

/// Alignment of tensors, and which of them nobody writes while the kernel runs: LLVM reads those by
/// ld.global.nc. Tensors that the kernel writes are not said to be alone, since LLVM would take
/// that for leave to move their reads across barriers.
void ThreadLowering::describeParameters() {
  llvm::DenseSet<Value> written;
  std::optional<SmallVector<Effect>> effects = getEffects(kernel);
  for (const Effect &effect : effects.value_or(SmallVector<Effect>()))
    if (effect.kind != EffectKind::Read)
      written.insert(effect.root);
  for (BlockArgument argument : function.getArguments()) {
    auto type = dyn_cast<MemRefType>(argument.getType());
    if (!type)
      continue;
    unsigned position = argument.getArgNumber();
    int64_t bytes = std::max(getStorageBytes(type.getElementType()), assumptions.argumentAlignment);
    thread.setArgAttr(position, LLVM::LLVMDialect::getAlignAttrName(), b.getI64IntegerAttr(bytes));
    if (!effects || written.contains(argument) || !assumptions.disjointArguments)
      continue;
    thread.setArgAttr(position, LLVM::LLVMDialect::getNoAliasAttrName(), b.getUnitAttr());
    thread.setArgAttr(position, LLVM::LLVMDialect::getReadonlyAttrName(), b.getUnitAttr());
  }
}

void ThreadLowering::beginFunction() {
  MLIRContext *context = b.getContext();
  auto globalPointer = LLVM::LLVMPointerType::get(context, kGlobalSpace);
  SmallVector<Type> parameters;
  for (Type type : function.getArgumentTypes())
    parameters.push_back(isa<MemRefType>(type) ? Type(globalPointer) : getRegisterType(type));
  SmallVector<AllocOp> allocations(function.getOps<AllocOp>());
  parameters.append(allocations.size(), globalPointer);
  b.setInsertionPointToEnd(module.getBody());
  thread = LLVM::LLVMFuncOp::create(
      b, name, LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), parameters));
  thread->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), b.getUnitAttr());
  thread->setAttr(NVVM::NVVMDialect::getMaxntidAttrName(),
                  b.getDenseI32ArrayAttr({int32_t(kernel.getNumThreads())}));
  Block *entry = thread.addEntryBlock(b);
  b.setInsertionPointToStart(entry);
  describeParameters();
  for (auto [old, argument] : llvm::zip_first(function.getArguments(), entry->getArguments())) {
    if (isa<IndexType>(old.getType()))
      define(old, arith::IndexCastOp::create(b, b.getIndexType(), argument));
    else if (!isa<MemRefType>(old.getType()))
      define(old, fromStorage(argument, old.getType()));
  }
  for (auto [old, argument] : llvm::zip_first(function.getArguments(), entry->getArguments()))
    if (isa<MemRefType>(old.getType()))
      addGlobal(old, argument);
  for (auto [alloc, pointer] :
       llvm::zip(allocations, entry->getArguments().take_back(allocations.size())))
    workspaces[alloc.getBuffer()] = pointer;

  auto special = [&](auto op) -> Value {
    return arith::IndexCastUIOp::create(b, b.getIndexType(), op.getResult());
  };
  auto below = [&](int64_t count) { return LLVM::ConstantRangeAttr::get(context, 32, 0, count); };
  Type i32 = b.getI32Type();
  threadId = special(NVVM::ThreadIdXOp::create(b, i32, below(kernel.getNumThreads())));
  for (auto [position, id] : llvm::enumerate(kernel.getBlockIds())) {
    std::optional<int64_t> extent = getConstantIntValue(kernel.getGrid()[position]);
    bool isKnown = extent && *extent > 0 && *extent <= kMaxGrid[position];
    LLVM::ConstantRangeAttr range = below(isKnown ? *extent : kMaxGrid[position]);
    define(id, position == 0   ? special(NVVM::BlockIdXOp::create(b, i32, range))
               : position == 1 ? special(NVVM::BlockIdYOp::create(b, i32, range))
                               : special(NVVM::BlockIdZOp::create(b, i32, range)));
  }

  auto sharedPointer = LLVM::LLVMPointerType::get(context, kSharedSpace);
  if (!module.lookupSymbol(kArenaName)) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    LLVM::GlobalOp::create(b, LLVM::LLVMArrayType::get(b.getI8Type(), 0), /*isConstant=*/false,
                           LLVM::Linkage::External, kArenaName, Attribute(), /*alignment=*/1024,
                           kSharedSpace);
  }
  arena = LLVM::AddressOfOp::create(b, sharedPointer, kArenaName);
}

Value ThreadLowering::extentOf(Value buffer, unsigned dim) {
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

void ThreadLowering::addGlobal(Value tensor, Value pointer) {
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

Value ThreadLowering::allocateStack(Type type, int64_t count) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&thread.front());
  Value size = LLVM::ConstantOp::create(b, b.getI32IntegerAttr(1));
  return LLVM::AllocaOp::create(b, LLVM::LLVMPointerType::get(b.getContext()),
                                LLVM::LLVMArrayType::get(type, count), size);
}

void ThreadLowering::addTile(AllocOp alloc) {
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
    storage->places = *analysis::PlaceTable::get(fragment.getFragment(), kernel.getNumThreads());
    storage->base = allocateStack(stored, storage->places.slots);
  } else {
    int64_t offset = alloc->getAttrOfType<IntegerAttr>(kOffsetAttr).getInt();
    storage->layout = cast<LayoutAttr>(placement).getLayout();
    storage->base = LLVM::GEPOp::create(b, arena.getType(), b.getI8Type(), arena,
                                        ArrayRef<LLVM::GEPArg>{int32_t(offset)});
  }
  (iteration ? iteration->variables : storages)[alloc.getBuffer()] = std::move(storage);
}

//===----------------------------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------------------------===//

LogicalResult ThreadLowering::lowerBlock(Block &block) {
  for (Operation &op : block.without_terminator()) {
    b.setLoc(op.getLoc());
    if (failed(lowerOp(&op)))
      return failure();
  }
  return success();
}

LogicalResult ThreadLowering::lowerOp(Operation *op) {
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](AllocOp alloc) {
        addTile(alloc);
        return success();
      })
      .Case<SliceOp, ViewOp>([](Operation *) { return success(); }) // resolved where they are used
      .Case<AnnotateLayoutOp, AnnotateSafeValueOp, UseSwizzleOp, HintOp, AssumeOp>(
          [](Operation *) { return success(); })
      .Case([&](BarrierOp) {
        barrier();
        return success();
      })
      .Case([&](AsyncGroupOp group) { return lowerAsyncGroup(group); })
      .Case([&](AsyncWaitOp wait) {
        NVVM::CpAsyncWaitGroupOp::create(b, uint32_t(wait.getPending()));
        return success();
      })
      .Case([&](memref::DimOp dim) {
        define(dim, extentOf(dim.getSource(), *dim.getConstantIndex()));
        return success();
      })
      .Case([&](LoadOp load) { return lowerLoad(load); })
      .Case([&](StoreOp store) { return lowerStore(store); })
      .Case([&](AtomicElementOp atomic) {
        return lowerAtomic(atomic, atomic.getKind(), atomic.getValue(), atomic.getBuffer(),
                           atomic.getIndices(), atomic.getOrder(), atomic.getPrevious());
      })
      .Case([&](ReducerUpdateOp update) -> LogicalResult {
        auto alloc = getRoot(update.getBuffer()).getDefiningOp<AllocOp>();
        static constexpr std::pair<ReduceKind, AtomicKind> kinds[] = {
            {ReduceKind::Sum, AtomicKind::Add}, {ReduceKind::Max, AtomicKind::Max},
            {ReduceKind::Min, AtomicKind::Min}, {ReduceKind::And, AtomicKind::And},
            {ReduceKind::Or, AtomicKind::Or},   {ReduceKind::Xor, AtomicKind::Xor}};
        for (auto [reduce, atomic] : kinds)
          if (alloc.getReducer() == reduce)
            return lowerAtomic(update, atomic, update.getValue(), update.getBuffer(),
                               update.getIndices(), MemoryOrder::Relaxed, Value());
        return unsupported(update) << "this kind of reducer";
      })
      .Case([&](ParallelOp loop) { return lowerParallel(loop); })
      .Case([&](PipelinedOp loop) { return lowerPipelined(loop); })
      .Case([&](scf::ForOp loop) { return lowerFor(loop); })
      .Case([&](scf::IfOp branch) {
        Iteration *only = iteration; // the member changes meanwhile
        return lowerIf(branch, only);
      })
      .Case([&](scf::WhileOp loop) { return lowerWhile(loop); })
      .Case([&](VersionOp version) {
        lowerVersion(version);
        return success();
      })
      .Case([&](GemmOp gemm) { return lowerGemm(gemm); })
      .Case([&](ReduceOp reduce) { return lowerReduce(reduce); })
      .Case([&](CumsumOp scan) { return lowerCumsum(scan); })
      .Case([&](PrintOp print) { return lowerPrint(print); })
      .Case([&](AssertOp assertion) {
        lowerAssert(assertion);
        return success();
      })
      .Default([&](Operation *scalar) { return lowerScalar(scalar); });
}

LogicalResult ThreadLowering::lowerLoopBody(Operation *op, Value lower, Value upper, Value step,
                                            Value variable, Block &body) {
  auto loop = scf::ForOp::create(b, lower, upper, step);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  define(variable, loop.getInductionVar());
  b.setLoc(op->getLoc());
  return lowerBlock(body);
}

LogicalResult ThreadLowering::lowerFor(scf::ForOp op) {
  if (op.getNumResults())
    return unsupported(op) << "loops that carry values";
  return lowerLoopBody(op, mapped(op.getLowerBound()), mapped(op.getUpperBound()),
                       mapped(op.getStep()), op.getInductionVar(), *op.getBody());
}

/// Copies of an iteration that does not exist are left out; the group is committed all the same, so
/// that groups can be counted.
LogicalResult ThreadLowering::lowerAsyncGroup(AsyncGroupOp op) {
  Value exists = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, mapped(op.getIteration()),
                                       mapped(op.getUpper()));
  LogicalResult result = success();
  guarded(exists, [&] { result = lowerBlock(op.getBody().front()); });
  b.setLoc(op.getLoc());
  NVVM::CpAsyncCommitGroupOp::create(b);
  return result;
}

/// Carried by the loop whose iterations it counts, or computed.
void ThreadLowering::lowerVersion(VersionOp op) {
  if (Value known = carried.lookup(op))
    return define(op, known);
  Value number =
      b.createOrFold<arith::SubIOp>(mapped(op.getIteration()), mapped(op.getFirst()));
  number = b.createOrFold<arith::AddIOp>(number, index(op.getAhead()));
  define(op, floorModConstant(number, op.getCount()));
}

/// Versions of its own iterations go round as the loop runs, so no iteration divides: each is
/// carried by the loop, in 32 bits. The next iteration's version at distance d is this one's at
/// d + 1, where there is such, else one more, or 0 after the last.
LogicalResult ThreadLowering::lowerPipelined(PipelinedOp op) {
  SmallVector<VersionOp> versions;
  for (auto version : op.getBody().front().getOps<VersionOp>())
    if (version.getIteration() == op.getInductionVar() && version.getFirst() == op.getLower())
      versions.push_back(version);
  auto distanceOf = [](VersionOp version) { return version.getAhead() % version.getCount(); };
  auto number = [&](int64_t value) { return constant(b.getI32IntegerAttr(int32_t(value))); };
  SmallVector<Value> starts, next;
  for (VersionOp version : versions)
    starts.push_back(number(distanceOf(version)));
  auto loop = scf::ForOp::create(b, mapped(op.getLower()), mapped(op.getUpper()), index(1), starts);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  b.setLoc(op.getLoc());
  define(op.getInductionVar(), loop.getInductionVar());
  for (auto [version, current] : llvm::zip(versions, loop.getRegionIterArgs())) {
    carried[version] = arith::IndexCastUIOp::create(b, b.getIndexType(), current);
    uint64_t count = version.getCount(), distance = (distanceOf(version) + 1) % count;
    auto *after = llvm::find_if(versions, [&](VersionOp other) {
      return other.getCount() == count && distanceOf(other) == distance;
    });
    if (after != versions.end()) {
      next.push_back(loop.getRegionIterArgs()[after - versions.begin()]);
      continue;
    }
    Value one = arith::AddIOp::create(b, current, number(1));
    Value isLast = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, one, number(count));
    next.push_back(arith::SelectOp::create(b, isLast, number(0), one));
  }
  if (failed(lowerBlock(op.getBody().front())))
    return failure();
  if (!versions.empty())
    scf::YieldOp::create(b, next);
  return success();
}

LogicalResult ThreadLowering::lowerIf(scf::IfOp op, ArrayRef<Iteration *> members) {
  Iteration *current = iteration;
  auto forEach = [&](llvm::function_ref<void(size_t position)> action) {
    for (auto [position, member] : llvm::enumerate(members)) {
      iteration = member;
      action(position);
    }
    iteration = current;
  };
  bool hasElse = !op.getElseRegion().empty();
  SmallVector<Type> types;
  forEach(
      [&](size_t) { llvm::append_range(types, map_range(op.getResultTypes(), getScalarType)); });
  iteration = members[0];
  Value condition = mapped(op.getCondition());
  iteration = current;
  auto branch = scf::IfOp::create(b, types, condition, hasElse || !types.empty());
  auto fill = [&](Region &from, Region &to) -> LogicalResult {
    OpBuilder::InsertionGuard guard(b);
    Block *block = &to.front();
    if (types.empty() && !block->empty())
      b.setInsertionPoint(block->getTerminator());
    else
      b.setInsertionPointToEnd(block);
    if (failed(lowerBlock(from.front(), members)))
      return failure();
    if (types.empty())
      return success();
    SmallVector<Value> yielded;
    forEach([&](size_t) {
      for (Value value : from.front().getTerminator()->getOperands())
        yielded.push_back(mapped(value));
    });
    scf::YieldOp::create(b, yielded);
    return success();
  };
  if (failed(fill(op.getThenRegion(), branch.getThenRegion())) ||
      (hasElse && failed(fill(op.getElseRegion(), branch.getElseRegion()))))
    return failure();
  forEach([&](size_t position) {
    for (auto [number, old] : llvm::enumerate(op.getResults()))
      define(old, branch.getResult(position * op.getNumResults() + number));
  });
  return success();
}

LogicalResult ThreadLowering::lowerWhile(scf::WhileOp op) {
  if (op.getNumResults() || op.getNumOperands())
    return unsupported(op) << "loops that carry values";
  auto loop = scf::WhileOp::create(b, TypeRange(), ValueRange());
  OpBuilder::InsertionGuard guard(b);
  b.createBlock(&loop.getBefore());
  if (failed(lowerBlock(op.getBefore().front())))
    return failure();
  auto condition = cast<scf::ConditionOp>(op.getBefore().front().getTerminator());
  scf::ConditionOp::create(b, mapped(condition.getCondition()), ValueRange());
  b.createBlock(&loop.getAfter());
  if (failed(lowerBlock(op.getAfter().front())))
    return failure();
  scf::YieldOp::create(b);
  return success();
}

/// `T.use_swizzle`: blocks that run at the same time read tiles near each other. The grid is walked
/// in panels of so many rows (or columns) of blocks, each panel across its short side first and
/// every second panel backwards. A renumbering of blocks: each still runs once.
void ThreadLowering::rasterise(UseSwizzleOp op) {
  Value idX = kernel.getBlockIds()[0], idY = kernel.getBlockIds()[1];
  bool byRow = op.getOrder() == RasterOrder::Row;
  Value longId = byRow ? idX : idY, shortId = byRow ? idY : idX;
  Value longExtent = mapped(kernel.getGrid()[byRow ? 0 : 1]),
        shortExtent = mapped(kernel.getGrid()[byRow ? 1 : 0]);
  Value x = mapped(idX), y = mapped(idY), extentX = mapped(kernel.getGrid()[0]);
  auto mul = [&](Value a, Value c) -> Value { return b.createOrFold<arith::MulIOp>(a, c); };
  auto add = [&](Value a, Value c) -> Value { return b.createOrFold<arith::AddIOp>(a, c); };
  auto sub = [&](Value a, Value c) -> Value { return b.createOrFold<arith::SubIOp>(a, c); };
  auto div = [&](Value a, Value c) -> Value { return b.createOrFold<arith::DivUIOp>(a, c); };
  auto rem = [&](Value a, Value c) -> Value { return b.createOrFold<arith::RemUIOp>(a, c); };
  Value panel = index(op.getPanelSize());
  Value number = add(mul(y, extentX), x);
  Value panelBlocks = mul(panel, longExtent);
  Value panelNumber = div(number, panelBlocks), inPanel = rem(number, panelBlocks);
  // The last panel may be thinner.
  Value start = mul(panelNumber, panel);
  Value thickness = b.createOrFold<arith::MinUIOp>(panel, sub(shortExtent, start));
  Value along = div(inPanel, thickness), across = rem(inPanel, thickness);
  Value isBackward =
      b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::ne, rem(panelNumber, index(2)), index(0));
  Value backward = sub(sub(longExtent, index(1)), along);
  values[longId] = b.createOrFold<arith::SelectOp>(isBackward, backward, along);
  values[shortId] = add(start, across);
}

/// Addresses are formulas of what a launch brings; refuses buffers that have none.
LogicalResult ThreadLowering::checkAddresses() {
  auto check = [&](Operation *op) {
    if (auto note = dyn_cast<AnnotateLayoutOp>(op))
      if (auto layout = dyn_cast<LayoutAttr>(note.getLayout());
          layout && getSpace(note.getBuffer()) == Space::Global &&
          !getRuntimeOffset(layout.getLayout())) {
        unsupported(op) << "the strides of the layout " << layout.getLayout().str()
                        << " do not follow from the extents that a launch brings";
        return WalkResult::interrupt();
      }
    if (auto view = dyn_cast<ViewOp>(op);
        view && !view.getResult().getType().hasStaticShape() && !op->hasAttr(kShapeAttr)) {
      unsupported(op) << "a view of run-time shape without 'tile.shape'";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  };
  return failure(function.walk(check).wasInterrupted());
}

LogicalResult ThreadLowering::run() {
  if (failed(checkAddresses()))
    return failure();
  int64_t scratch = 0;
  kernel.walk([&](TileEffectsOpInterface op) {
    scratch = std::max(scratch, analysis::getScratchBytes(op, kernel.getNumThreads()));
  });
  if (auto total = kernel->getAttrOfType<IntegerAttr>(kSharedBytesAttr))
    scratchOffset = total.getInt() - scratch;
  beginFunction();
  // Host scalars that the kernel uses are computed by each thread.
  for (Operation &op : function.front()) {
    if (&op == kernel.getOperation())
      break;
    if (auto alloc = dyn_cast<AllocOp>(op))
      addGlobal(alloc.getBuffer(), workspaces.lookup(alloc.getBuffer()));
    else if (!isa<KernelOp>(op) && failed(lowerOp(&op)))
      return failure();
  }
  auto swizzles = kernel.getBody().front().getOps<UseSwizzleOp>();
  if (!swizzles.empty() && kernel.getGrid().size() >= 2)
    rasterise(*swizzles.begin());
  clearByteAtomics();
  if (failed(lowerBlock(kernel.getBody().front())))
    return failure();
  LLVM::ReturnOp::create(b, ValueRange());
  return success();
}

} // namespace tilewright::nvptx
