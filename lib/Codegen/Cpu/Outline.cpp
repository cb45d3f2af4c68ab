//===- Outline.cpp - the host function and one block function a kernel ------------------------===//
//
//   func.func @f(%A, %n) {                  llvm.func @f.entry(services, arguments) {
//     tile.kernel (%bx) in (%g) {    ──▶      captures = {A, n}
//       body                                  services.launch(@f.kernel0, captures, grid, bytes)
//     }                                     }
//   }                                       llvm.func @f.kernel0(captures, grid, first, last, …) {
//                                             for block = first to last { bx = block % g.x; body }
//                                           }
//
// What a kernel uses from outside travels in slots of 8 bytes: a pointer for a tensor (and its
// run-time extents), the value itself for a scalar. Constants and views are made again inside.
// On-chip tiles get fixed offsets in the worker's arena; scalar variables live on the stack.
//
//===----------------------------------------------------------------------------------------===//

#include "Lowerings.h"
#include "Streams.h"
#include "tilewright/Layout/RuntimeExtents.h"
#include "tilewright/Support/HostAbi.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

/// An arena larger than this is a mistake in the program, not a tile.
static constexpr int64_t kMaxArenaBytes = int64_t(1) << 32;

std::string tilewright::cpu::getEntryName(StringRef name) { return (name + ".entry").str(); }

void tilewright::cpu::lowerAlloc(tile::AllocOp op, Emitter &e) {
  Root &root = e.buffers.addRoot(op.getBuffer());
  MemRefType type = op.getBuffer().getType();
  unsigned operand = 0;
  Value count = e.index(1);
  for (int64_t extent : type.getShape()) {
    root.extents.push_back(ShapedType::isDynamic(extent)
                               ? e.lookup(op.getDynamicExtents()[operand++])
                               : e.index(extent));
    count = e.mul(count, root.extents.back());
  }
  int64_t bytes = tile::getStorageBytes(root.elementType);
  if (root.isVariable) {
    root.pointer = e.allocaAtEntry(getStorageType(root.elementType), 1);
    return;
  }
  if (!e.buffers.getArena()) { // a workspace of the launch
    root.pointer = e.services.allocate(e.toI64(e.mul(count, e.index(bytes))));
    return;
  }
  View scratch = e.buffers.makeScratch(type.getShape(), root.elementType);
  root.pointer = scratch.root->pointer;
}

//===----------------------------------------------------------------------------------------===//
// The host function
//===----------------------------------------------------------------------------------------===//

static LLVM::LLVMFuncOp createFunction(ImplicitLocOpBuilder &b, ModuleOp module, StringRef name,
                                       ArrayRef<Type> arguments, bool isPrivate) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(module.getBody());
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()), arguments);
  auto function = LLVM::LLVMFuncOp::create(b, name, type);
  if (isPrivate)
    function.setLinkage(LLVM::Linkage::Internal);
  function.addEntryBlock(b);
  return function;
}

/// Loads the slot at `position` as a value of `type`.
static Value loadSlot(ImplicitLocOpBuilder &b, Value slots, int64_t position, Type type) {
  Value pointer = LLVM::GEPOp::create(b, slots.getType(), b.getI64Type(), slots,
                                      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(position)});
  auto load = LLVM::LoadOp::create(b, type, pointer, /*alignment=*/8);
  load.setInvariant(true);
  return load;
}

/// The machine type of a carrier in a slot.
static Type getSlotType(ImplicitLocOpBuilder &b, Type carrier) {
  if (isa<IndexType>(carrier))
    return b.getI64Type();
  return carrier.isInteger(1) ? Type(b.getI8Type()) : carrier;
}

static Value fromSlot(ImplicitLocOpBuilder &b, Value value, Type carrier) {
  if (isa<IndexType>(carrier))
    return arith::IndexCastOp::create(b, carrier, value);
  if (carrier.isInteger(1))
    return arith::TruncIOp::create(b, carrier, value);
  return value;
}

static Value toSlot(ImplicitLocOpBuilder &b, Value value) {
  if (isa<IndexType>(value.getType()))
    return arith::IndexCastOp::create(b, b.getI64Type(), value);
  if (value.getType().isInteger(1))
    return arith::ExtUIOp::create(b, b.getI8Type(), value);
  return value;
}

/// Arguments arrive as pointers, 64-bit integers and doubles.
static void bindArguments(Emitter &e, func::FuncOp function, Value slots) {
  Type pointer = LLVM::LLVMPointerType::get(e.b.getContext());
  for (BlockArgument argument : function.getArguments()) {
    Type type = argument.getType();
    unsigned position = argument.getArgNumber();
    if (isa<MemRefType>(type)) {
      e.buffers.addRoot(argument).pointer = loadSlot(e.b, slots, position, pointer);
    } else if (isa<FloatType>(type)) {
      Value real = loadSlot(e.b, slots, position, e.b.getF64Type());
      e.define(argument, e.numbers.convert(real, e.b.getF64Type(), type));
    } else {
      Value integer = loadSlot(e.b, slots, position, e.b.getI64Type());
      Value carrier = isa<IndexType>(type)
                          ? arith::IndexCastOp::create(e.b, type, integer)
                          : e.b.createOrFold<arith::TruncIOp>(getCarrierType(type), integer);
      e.define(argument, carrier);
      if (function.getArgAttr(position, tile::kSymbolAttr))
        e.ranges.set(carrier, {0, int64_t(1) << 48});
    }
  }
  // Extents are expressions of the symbols, which all have values now.
  for (BlockArgument argument : function.getArguments()) {
    auto type = dyn_cast<MemRefType>(argument.getType());
    if (!type)
      continue;
    auto shape =
        function.getArgAttrOfType<tile::ShapeAttr>(argument.getArgNumber(), tile::kShapeAttr);
    Root &root = *e.buffers.findRoot(argument);
    if (shape)
      root.extents = e.buffers.evaluateShape(shape, function);
    else if (type.hasStaticShape())
      root.extents =
          llvm::map_to_vector<4>(type.getShape(), [&](int64_t extent) { return e.index(extent); });
    else
      e.refuse(function, "a tensor argument of run-time shape has no 'tile.shape'");
  }
}

//===----------------------------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------------------------===//

namespace {
/// What a kernel uses from outside, sorted by how it gets there.
struct Captures {
  SmallVector<Value> constants;   ///< Made again inside.
  SmallVector<Operation *> views; ///< Slices and views, made again inside, in order.
  llvm::SetVector<Value> slots;   ///< Scalars and roots, which travel.

  explicit Captures(tile::KernelOp kernel) {
    llvm::SetVector<Value> used;
    getUsedValuesDefinedAbove(kernel.getBody(), used);
    for (Value value : used)
      add(value);
    kernel.walk([&](tile::ViewOp view) { addSymbols(view); });
  }

private:
  void add(Value value) {
    Operation *op = value.getDefiningOp();
    if (isa_and_nonnull<arith::ConstantOp>(op)) {
      if (!llvm::is_contained(constants, value))
        constants.push_back(value);
    } else if (isa_and_nonnull<tile::SliceOp, tile::ViewOp>(op)) {
      if (llvm::is_contained(views, op))
        return;
      for (Value operand : op->getOperands())
        add(operand);
      addSymbols(op);
      views.push_back(op);
    } else {
      slots.insert(value);
    }
  }

  /// What the shape of a view is computed from.
  void addSymbols(Operation *view) {
    if (auto shape = view->getAttrOfType<tile::ShapeAttr>(tile::kShapeAttr))
      for (Value symbol : getSymbols(shape, view->getParentOfType<func::FuncOp>()))
        add(symbol);
  }
};
} // namespace

/// Annotations hold for the whole kernel, wherever in it they stand. On chip they place, and change
/// no value.
static void bindAnnotations(Emitter &e, tile::KernelOp kernel) {
  kernel.walk([&](tile::AnnotateLayoutOp op) {
    auto layout = dyn_cast<tile::LayoutAttr>(op.getLayout());
    Root *root = e.buffers.findRoot(op.getBuffer());
    if (!layout || !root || root->isOnChip())
      return;
    const Layout &map = layout.getLayout();
    std::optional<int64_t> positions = map.getPhysicalSize(), elements = map.getNumElements();
    root->layout = getRuntimeOffset(map);
    if (!root->layout)
      return e.refuse(op, "'" + root->name + "': the strides of its layout " + map.str() +
                              " do not follow from the extents that a launch brings");
    bool isWorkspace = bool(op.getBuffer().getDefiningOp<tile::AllocOp>());
    if (isWorkspace && (!positions || !elements))
      return e.refuse(op, "'" + root->name +
                              "': a layout of a workspace needs extents that are constants");
    if (isWorkspace && *positions > *elements)
      return e.refuse(op, "'" + root->name + "': its layout needs " + Twine(*positions) +
                              " elements of memory, got " + Twine(*elements));
  });
  kernel.walk([&](tile::AnnotateSafeValueOp op) {
    if (Root *root = e.buffers.findRoot(op.getBuffer()))
      root->safeValue = cast<TypedAttr>(op.getValue());
  });
  auto noteUpdate = [&](Value buffer) {
    Root *root = e.buffers.findRoot(tile::getRoot(buffer));
    if (root && root->layout)
      root->hasLockedUpdates |=
          tile::getStorageBytes(cast<MemRefType>(buffer.getType()).getElementType()) >
          tile::getStorageBytes(root->elementType);
  };
  kernel.walk([&](tile::AtomicOp op) { noteUpdate(op.getDest()); });
  kernel.walk([&](tile::AtomicElementOp op) { noteUpdate(op.getBuffer()); });
}

/// Runs the body for each block number from `first` to `last - 1`.
static void lowerBlocks(Emitter &e, tile::KernelOp kernel, Value gridPointer, Value first,
                        Value last) {
  Type indexType = e.b.getIndexType();
  auto toIndex = [&](Value value) { return arith::IndexCastOp::create(e.b, indexType, value); };
  SmallVector<Value> extents;
  for (unsigned dim = 0; dim < kernel.getGrid().size(); ++dim) {
    Value extent = toIndex(loadSlot(e.b, gridPointer, dim, e.b.getI64Type()));
    std::optional<int64_t> constant = getConstantIntValue(kernel.getGrid()[dim]);
    extents.push_back(constant ? e.index(*constant) : extent);
  }
  auto loop = scf::ForOp::create(e.b, toIndex(first), toIndex(last), e.index(1));
  e.b.setInsertionPointToStart(loop.getBody());
  Value rest = loop.getInductionVar();
  for (auto [id, extent] : llvm::zip_equal(kernel.getBlockIds(), extents)) {
    Value coordinate = e.b.createOrFold<arith::RemUIOp>(rest, extent);
    rest = e.b.createOrFold<arith::DivUIOp>(rest, extent);
    // Constants fold to themselves and need no range.
    if (!getConstantIntValue(coordinate))
      e.ranges.set(coordinate, {0, std::min<int64_t>(e.ranges.get(extent).greatest,
                                                     std::numeric_limits<int32_t>::max()) -
                                       1});
    e.define(id, coordinate);
  }
  lowerRegion(kernel.getBody(), e);
}

/// Makes what the kernel uses from outside known inside, and gives the values of the host that
/// travel in `slots`, in order.
static SmallVector<Value> bindCaptures(Emitter &e, Emitter &host, const Captures &captures,
                                       Value slots) {
  SmallVector<Value> sent;
  auto receive = [&](Value hostValue) {
    sent.push_back(hostValue);
    Type carrier = hostValue.getType();
    Value loaded = loadSlot(e.b, slots, sent.size() - 1, getSlotType(e.b, carrier));
    Value value = fromSlot(e.b, loaded, carrier);
    if (isa<IndexType>(carrier))
      e.ranges.set(value, host.ranges.get(hostValue));
    return value;
  };
  for (Value constant : captures.constants)
    lowerOp(*constant.getDefiningOp(), e);
  for (Value old : captures.slots) {
    if (!isa<MemRefType>(old.getType())) {
      e.define(old, receive(host.lookup(old)));
      continue;
    }
    const Root &outer = *host.buffers.findRoot(old);
    Root &root = e.buffers.addRoot(old);
    root.pointer = receive(outer.pointer);
    for (Value extent : outer.extents) {
      std::optional<int64_t> constant = getConstantIntValue(extent);
      root.extents.push_back(constant ? e.index(*constant) : receive(extent));
    }
  }
  for (Operation *view : captures.views)
    lowerOp(*view, e);
  return sent;
}

/// The block function; gives what the host sends it, and the bytes of a worker's arena.
static std::pair<SmallVector<Value>, int64_t>
buildBlockFunction(tile::KernelOp kernel, Emitter &host, LLVM::LLVMFuncOp function) {
  Captures captures(kernel);
  Emitter e(host.program, function, kernel.getLoc(), /*services=*/function.getArgument(5),
            /*arena=*/function.getArgument(4), tilewright::host::kKeptBytes);
  e.buffers.createScopes(kernel, captures.slots.getArrayRef(), host.program.name);
  SmallVector<Value> sent = bindCaptures(e, host, captures, function.getArgument(0));
  bindAnnotations(e, kernel);
  kernel.walk(
      [&](Operation *op) { e.hasAtomics |= isa<tile::AtomicOp, tile::AtomicElementOp>(op); });
  if (!e.program.hasFailed)
    lowerBlocks(e, kernel, function.getArgument(1), function.getArgument(2),
                function.getArgument(3));
  e.b.setInsertionPointToEnd(e.getEntry());
  if (e.hasUnfencedStores)
    fenceStores(e.b);
  LLVM::ReturnOp::create(e.b, ValueRange());
  int64_t arenaBytes = e.buffers.getArenaBytes();
  if (arenaBytes > kMaxArenaBytes)
    e.refuse(kernel, "the tiles of a block take " + Twine(arenaBytes) + " bytes, more than " +
                         Twine(kMaxArenaBytes));
  return {sent, arenaBytes};
}

void tilewright::cpu::lowerKernel(tile::KernelOp kernel, Emitter &host) {
  ImplicitLocOpBuilder &b = host.b;
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  std::string name = host.program.name + ".kernel" + std::to_string(host.program.numKernels++);
  LLVM::LLVMFuncOp function = createFunction(
      b, host.program.target, name,
      {pointer, pointer, b.getI64Type(), b.getI64Type(), pointer, pointer}, /*isPrivate=*/true);
  auto [sent, arenaBytes] = buildBlockFunction(kernel, host, function);

  auto writeSlots = [&](ArrayRef<Value> values, int64_t count) {
    Value slots = host.allocaAtEntry(b.getI64Type(), count);
    for (auto [position, value] : llvm::enumerate(values)) {
      Value number = host.numbers.integer(b.getI64Type(), position);
      Value address = host.offsetPointer(slots, b.getI64Type(), number);
      LLVM::StoreOp::create(b, toSlot(b, value), address, /*alignment=*/8);
    }
    return slots;
  };
  SmallVector<Value> grid = host.lookupAll(kernel.getGrid());
  while (grid.size() < 3)
    grid.push_back(host.index(1));
  Value capturesPointer = writeSlots(sent, std::max<int64_t>(1, sent.size()));
  grid.push_back(host.numbers.integer(b.getI64Type(), bool(tile::getBlockOrder(kernel))));
  Value gridPointer = writeSlots(grid, grid.size());
  Value address = LLVM::AddressOfOp::create(b, function);
  host.services.call(Service::Launch, {address, capturesPointer, gridPointer,
                                       host.numbers.integer(b.getI64Type(), arenaBytes)});
}

//===----------------------------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------------------------===//

static LogicalResult lowerFunction(func::FuncOp function, ModuleOp target,
                                   const LowerOptions &options) {
  if (!function.getBody().hasOneBlock() || function.getNumResults() != 0)
    return function.emitError("the CPU runs functions of one block without results");
  HostProgram program(target, function, options);
  ImplicitLocOpBuilder b(function.getLoc(), target.getContext());
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  LLVM::LLVMFuncOp entry =
      createFunction(b, target, getEntryName(program.name), {pointer, pointer}, false);
  Emitter e(program, entry, function.getLoc(), /*services=*/entry.getArgument(0));
  bindArguments(e, function, entry.getArgument(1));
  if (!program.hasFailed)
    lowerRegion(function.getBody(), e);
  LLVM::ReturnOp::create(e.b, ValueRange());
  return failure(program.hasFailed);
}

OwningOpRef<ModuleOp> tilewright::cpu::lowerToHost(ModuleOp module, const LowerOptions &options) {
  OwningOpRef<ModuleOp> target = ModuleOp::create(module.getLoc());
  for (func::FuncOp function : module.getOps<func::FuncOp>())
    if (failed(lowerFunction(function, *target, options)))
      return {};
  return target;
}
