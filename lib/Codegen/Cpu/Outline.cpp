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
// On-chip tiles get fixed places in the worker's arena; scalar variables live on the stack.
//
//===----------------------------------------------------------------------------------------===//

#include "Lowering.h"
#include "tilewright/Layout/RuntimeExtents.h"
#include "tilewright/Support/HostAbi.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

/// Tiles start at multiples of this, a cache line and the widest vector.
static constexpr int64_t kTileAlignment = 64;
/// An arena larger than this is a mistake in the program, not a tile.
static constexpr int64_t kMaxArenaBytes = int64_t(1) << 32;

std::string tilewright::cpu::getEntryName(StringRef name) { return (name + ".entry").str(); }

Lowering::Lowering(ModuleOp target, const LowerOptions &options)
    : target(target), options(options), b(target.getLoc(), target.getContext()), numbers(b) {}

//===----------------------------------------------------------------------------------------===//
// Buffers of a function
//===----------------------------------------------------------------------------------------===//

Root &Lowering::addRoot(Value old) {
  auto type = cast<MemRefType>(old.getType());
  std::unique_ptr<Root> &root = scope->roots[old];
  root = std::make_unique<Root>();
  root->elementType = type.getElementType();
  root->space = tile::getSpace(type);
  root->name = tile::getName(old).str();
  root->isVariable = root->space == tile::Space::Local && type.getRank() == 0;
  auto own = scope->scopes.find(old);
  if (own == scope->scopes.end())
    return *root;
  SmallVector<Attribute> others;
  for (auto [other, aliasScope] : scope->scopes)
    if (other != old)
      others.push_back(aliasScope);
  root->ownScope = b.getArrayAttr({own->second});
  root->otherScopes = b.getArrayAttr(others);
  return *root;
}

/// One alias scope for each buffer that overlaps no other one, and one for scratch memory.
void Lowering::createScopes(tile::KernelOp kernel, ArrayRef<Value> captured) {
  auto domain = LLVM::AliasScopeDomainAttr::get(b.getContext(), b.getStringAttr(functionName));
  auto add = [&](Value buffer) {
    StringRef name = buffer ? tile::getName(buffer) : "scratch";
    scope->scopes[buffer] = LLVM::AliasScopeAttr::get(domain, b.getStringAttr(name));
  };
  add(Value());
  for (Value value : captured)
    if (isa<MemRefType>(value.getType()))
      if (options.calls.disjointArguments || value.getDefiningOp<tile::AllocOp>())
        add(value);
  kernel.walk([&](tile::AllocOp alloc) { add(alloc.getBuffer()); });
}

void Lowering::lowerAlloc(tile::AllocOp op) {
  Root &root = addRoot(op.getBuffer());
  MemRefType type = op.getBuffer().getType();
  unsigned operand = 0;
  Value count = index(1);
  for (int64_t extent : type.getShape()) {
    root.extents.push_back(ShapedType::isDynamic(extent) ? lookup(op.getDynamicExtents()[operand++])
                                                         : index(extent));
    count = mul(count, root.extents.back());
  }
  int64_t bytes = tile::getStorageBytes(root.elementType);
  if (root.isVariable) {
    root.pointer = allocaAtEntry(getStorageType(root.elementType), 1);
    return;
  }
  if (!scope->arena) { // a workspace of the launch
    root.pointer = callAllocate(toI64(mul(count, index(bytes))));
    return;
  }
  View scratch = makeScratch(type.getShape(), root.elementType);
  root.pointer = scratch.root->pointer;
}

View Lowering::addScratch(ArrayRef<Value> extents, Type elementType, Value pointer) {
  auto root = std::make_unique<Root>();
  root->elementType = elementType;
  root->space = tile::Space::Local;
  root->name = "scratch";
  root->extents.assign(extents.begin(), extents.end());
  root->pointer = pointer;
  if (auto own = scope->scopes.find(Value()); own != scope->scopes.end()) {
    SmallVector<Attribute> others;
    for (auto [other, aliasScope] : scope->scopes)
      if (other)
        others.push_back(aliasScope);
    root->ownScope = b.getArrayAttr({own->second});
    root->otherScopes = b.getArrayAttr(others);
  }
  scope->scratch.push_back(std::move(root));
  return makeWholeView(*scope->scratch.back());
}

View Lowering::makeScratch(ArrayRef<int64_t> shape, Type elementType) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  Value pointer;
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(scope->entry);
    Value offset = numbers.integer(b.getI64Type(), scope->arenaBytes);
    pointer = offsetPointer(scope->arena, b.getI8Type(), offset);
  }
  scope->arenaBytes += llvm::alignTo(count * tile::getStorageBytes(elementType), kTileAlignment);
  auto extents = llvm::map_to_vector(shape, [&](int64_t extent) { return index(extent); });
  return addScratch(extents, elementType, pointer);
}

View Lowering::makeScratch(ArrayRef<Value> extents, Type elementType) {
  Value bytes = index(tile::getStorageBytes(elementType));
  for (Value extent : extents)
    bytes = mul(bytes, extent);
  Value pointer = scope->arena ? callAllocateInBlock(toI64(bytes)) : callAllocate(toI64(bytes));
  return addScratch(extents, elementType, pointer);
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

/// The arguments that carry the symbols of a shape.
static SmallVector<Value> getSymbols(tile::ShapeAttr shape, func::FuncOp function) {
  SmallVector<Value> symbols;
  for (StringAttr symbol : shape.getSymbols())
    for (BlockArgument argument : function.getArguments())
      if (function.getArgAttr(argument.getArgNumber(), tile::kSymbolAttr) == symbol)
        symbols.push_back(argument);
  return symbols;
}

SmallVector<Value, 4> Lowering::evaluateShape(tile::ShapeAttr shape, func::FuncOp function) {
  SmallVector<Value> symbols = lookupAll(getSymbols(shape, function));
  SmallVector<Value, 4> extents;
  for (const IndexExpr &extent : shape.getExtents())
    extents.push_back(evaluate(extent, symbols, symbols));
  return extents;
}

/// Arguments arrive as pointers, 64-bit integers and doubles.
void Lowering::bindArguments(func::FuncOp function, Value slots) {
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  for (BlockArgument argument : function.getArguments()) {
    Type type = argument.getType();
    unsigned position = argument.getArgNumber();
    if (isa<MemRefType>(type)) {
      addRoot(argument).pointer = loadSlot(b, slots, position, pointer);
    } else if (isa<FloatType>(type)) {
      Value real = loadSlot(b, slots, position, b.getF64Type());
      define(argument, numbers.convert(real, b.getF64Type(), type));
    } else {
      Value integer = loadSlot(b, slots, position, b.getI64Type());
      Value carrier = isa<IndexType>(type)
                          ? arith::IndexCastOp::create(b, type, integer)
                          : b.createOrFold<arith::TruncIOp>(getCarrierType(type), integer);
      define(argument, carrier);
      if (function.getArgAttr(position, tile::kSymbolAttr))
        ranges.set(carrier, {0, int64_t(1) << 48});
    }
  }
  // Extents are expressions of the symbols, which all have values now.
  for (BlockArgument argument : function.getArguments()) {
    auto type = dyn_cast<MemRefType>(argument.getType());
    if (!type)
      continue;
    auto shape =
        function.getArgAttrOfType<tile::ShapeAttr>(argument.getArgNumber(), tile::kShapeAttr);
    Root &root = *scope->roots[argument];
    if (shape)
      root.extents = evaluateShape(shape, function);
    else if (type.hasStaticShape())
      root.extents = llvm::map_to_vector<4>(type.getShape(), [&](int64_t e) { return index(e); });
    else
      refuse(function, "a tensor argument of run-time shape has no 'tile.shape'");
  }
}

LogicalResult Lowering::lowerFunction(func::FuncOp function) {
  b.setLoc(function.getLoc());
  functionName = function.getName().str();
  isFastMath = function->hasAttr("tile.fast_math");
  if (!function.getBody().hasOneBlock() || function.getNumResults() != 0) {
    refuse(function, "the CPU runs functions of one block without results");
    return failure();
  }
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  LLVM::LLVMFuncOp entry =
      createFunction(b, target, getEntryName(functionName), {pointer, pointer}, false);
  Scope host;
  scope = &host;
  host.entry = &entry.front();
  host.services = entry.getArgument(0);
  b.setInsertionPointToStart(host.entry);
  bindArguments(function, entry.getArgument(1));
  if (!hasFailed)
    lowerRegion(function.getBody());
  LLVM::ReturnOp::create(b, ValueRange());
  scope = nullptr;
  return failure(hasFailed);
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
void Lowering::bindAnnotations(tile::KernelOp kernel) {
  kernel.walk([&](tile::AnnotateLayoutOp op) {
    auto layout = dyn_cast<tile::LayoutAttr>(op.getLayout());
    auto it = scope->roots.find(op.getBuffer());
    if (!layout || it == scope->roots.end() || it->second->isOnChip())
      return;
    const Layout &map = layout.getLayout();
    std::optional<int64_t> places = map.getPhysicalSize(), elements = map.getNumElements();
    it->second->layout = getRuntimeOffset(map);
    if (!it->second->layout)
      return refuse(op, "'" + it->second->name + "': the strides of its layout " + map.str() +
                            " do not follow from the extents that a launch brings");
    bool isWorkspace = bool(op.getBuffer().getDefiningOp<tile::AllocOp>());
    if (isWorkspace && (!places || !elements))
      return refuse(op, "'" + it->second->name +
                            "': a layout of a workspace needs extents that are constants");
    if (isWorkspace && *places > *elements)
      return refuse(op, "'" + it->second->name + "': its layout needs " + Twine(*places) +
                            " elements of memory, got " + Twine(*elements));
  });
  kernel.walk([&](tile::AnnotateSafeValueOp op) {
    auto it = scope->roots.find(op.getBuffer());
    if (it != scope->roots.end())
      it->second->safeValue = cast<TypedAttr>(op.getValue());
  });
  auto noteUpdate = [&](Value buffer) {
    auto it = scope->roots.find(tile::getRoot(buffer));
    if (it != scope->roots.end() && it->second->layout)
      it->second->hasLockedUpdates |=
          tile::getStorageBytes(cast<MemRefType>(buffer.getType()).getElementType()) >
          tile::getStorageBytes(it->second->elementType);
  };
  kernel.walk([&](tile::AtomicOp op) { noteUpdate(op.getDest()); });
  kernel.walk([&](tile::AtomicElementOp op) { noteUpdate(op.getBuffer()); });
}

/// Runs the body for each block number from `first` to `last - 1`.
void Lowering::lowerBlocks(tile::KernelOp kernel, Value gridPointer, Value first, Value last) {
  Type indexType = b.getIndexType();
  auto toIndex = [&](Value value) { return arith::IndexCastOp::create(b, indexType, value); };
  SmallVector<Value> extents;
  for (unsigned dim = 0; dim < kernel.getGrid().size(); ++dim) {
    Value extent = toIndex(loadSlot(b, gridPointer, dim, b.getI64Type()));
    std::optional<int64_t> constant = getConstantIntValue(kernel.getGrid()[dim]);
    extents.push_back(constant ? index(*constant) : extent);
  }
  auto loop = scf::ForOp::create(b, toIndex(first), toIndex(last), index(1));
  b.setInsertionPointToStart(loop.getBody());
  Value rest = loop.getInductionVar();
  for (auto [id, extent] : llvm::zip_equal(kernel.getBlockIds(), extents)) {
    Value coordinate = b.createOrFold<arith::RemUIOp>(rest, extent);
    rest = b.createOrFold<arith::DivUIOp>(rest, extent);
    // Constants fold to themselves and need no range.
    if (!getConstantIntValue(coordinate))
      ranges.set(coordinate, {0, std::min<int64_t>(ranges.get(extent).greatest,
                                                   std::numeric_limits<int32_t>::max()) -
                                     1});
    define(id, coordinate);
  }
  lowerRegion(kernel.getBody());
}

void Lowering::lowerKernel(tile::KernelOp kernel) {
  Captures captures(kernel);
  Scope &host = *scope;
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  std::string name = functionName + ".kernel" + std::to_string(numKernels++);
  LLVM::LLVMFuncOp function = createFunction(
      b, target, name, {pointer, pointer, b.getI64Type(), b.getI64Type(), pointer, pointer}, true);

  // The host writes each slot, the block function reads it.
  SmallVector<Value> sent;
  Scope inner;
  inner.entry = &function.front();
  inner.arena = function.getArgument(4);
  inner.arenaBytes = tilewright::host::kKeptBytes;
  inner.services = function.getArgument(5);
  OpBuilder::InsertPoint hostPoint = b.saveInsertionPoint();
  b.setInsertionPointToStart(inner.entry);
  auto receive = [&](Value hostValue) {
    sent.push_back(hostValue);
    Type carrier = hostValue.getType();
    Value loaded = loadSlot(b, function.getArgument(0), sent.size() - 1, getSlotType(b, carrier));
    Value value = fromSlot(b, loaded, carrier);
    if (isa<IndexType>(carrier))
      ranges.set(value, ranges.get(hostValue));
    return value;
  };
  scope = &inner;
  createScopes(kernel, captures.slots.getArrayRef());
  for (Value constant : captures.constants)
    lowerOp(*constant.getDefiningOp());
  for (Value old : captures.slots) {
    if (!isa<MemRefType>(old.getType())) {
      define(old, receive(host.values.lookup(old)));
      continue;
    }
    const Root &outer = *host.roots.at(old);
    Root &root = addRoot(old);
    root.pointer = receive(outer.pointer);
    for (Value extent : outer.extents) {
      std::optional<int64_t> constant = getConstantIntValue(extent);
      root.extents.push_back(constant ? index(*constant) : receive(extent));
    }
  }
  for (Operation *view : captures.views)
    lowerOp(*view);
  bindAnnotations(kernel);
  kernel.walk(
      [&](Operation *op) { inner.hasAtomics |= isa<tile::AtomicOp, tile::AtomicElementOp>(op); });
  if (!hasFailed)
    lowerBlocks(kernel, function.getArgument(1), function.getArgument(2), function.getArgument(3));
  b.setInsertionPointToEnd(inner.entry);
  if (inner.hasUnfenced)
    fenceStores();
  LLVM::ReturnOp::create(b, ValueRange());
  if (inner.arenaBytes > kMaxArenaBytes)
    refuse(kernel, "the tiles of a block take " + Twine(inner.arenaBytes) + " bytes, more than " +
                       Twine(kMaxArenaBytes));

  scope = &host;
  b.restoreInsertionPoint(hostPoint);
  auto writeSlots = [&](ArrayRef<Value> values, int64_t count) {
    Value slots = allocaAtEntry(b.getI64Type(), count);
    for (auto [position, value] : llvm::enumerate(values)) {
      Value place = offsetPointer(slots, b.getI64Type(), numbers.integer(b.getI64Type(), position));
      LLVM::StoreOp::create(b, toSlot(b, value), place, /*alignment=*/8);
    }
    return slots;
  };
  SmallVector<Value> grid = lookupAll(kernel.getGrid());
  while (grid.size() < 3)
    grid.push_back(index(1));
  Value capturesPointer = writeSlots(sent, std::max<int64_t>(1, sent.size()));
  Value gridPointer = writeSlots(grid, 3);
  Value address = LLVM::AddressOfOp::create(b, function);
  callService(Service::Launch, {address, capturesPointer, gridPointer,
                                numbers.integer(b.getI64Type(), inner.arenaBytes)});
}

OwningOpRef<ModuleOp> tilewright::cpu::lowerToHost(ModuleOp module, const LowerOptions &options) {
  loadHostDialects(*module.getContext());
  OwningOpRef<ModuleOp> target = ModuleOp::create(module.getLoc());
  for (func::FuncOp function : module.getOps<func::FuncOp>())
    if (failed(Lowering(*target, options).lowerFunction(function)))
      return {};
  return target;
}
