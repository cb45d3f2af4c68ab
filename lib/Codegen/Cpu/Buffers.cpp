//===- Buffers.cpp - roots, views and scratch memory ------------------------------------------===//

#include "Emitter.h"
#include "Scalars.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include <numeric>

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

/// Tiles start at multiples of this, a cache line and the widest vector.
static constexpr int64_t kTileAlignment = 64;

//===----------------------------------------------------------------------------------------===//
// Roots
//===----------------------------------------------------------------------------------------===//

Root &Buffers::addRoot(Value old) {
  auto type = cast<MemRefType>(old.getType());
  std::unique_ptr<Root> &root = roots[old];
  root = std::make_unique<Root>();
  root->elementType = type.getElementType();
  root->space = tile::getSpace(type);
  root->name = tile::getName(old).str();
  root->isVariable = root->space == tile::Space::Local && type.getRank() == 0;
  auto own = scopes.find(old);
  if (own == scopes.end())
    return *root;
  SmallVector<Attribute> others;
  for (auto [other, aliasScope] : scopes)
    if (other != old)
      others.push_back(aliasScope);
  root->ownScope = e.b.getArrayAttr({own->second});
  root->otherScopes = e.b.getArrayAttr(others);
  return *root;
}

Root *Buffers::findRoot(Value old) {
  auto it = roots.find(old);
  return it == roots.end() ? nullptr : it->second.get();
}

const Root *Buffers::addRoot(Root root) {
  scratch.push_back(std::make_unique<Root>(std::move(root)));
  return scratch.back().get();
}

void Buffers::createScopes(tile::KernelOp kernel, ArrayRef<Value> captured,
                           StringRef functionName) {
  auto domain = LLVM::AliasScopeDomainAttr::get(e.b.getContext(), e.b.getStringAttr(functionName));
  auto add = [&](Value buffer) {
    StringRef name = buffer ? tile::getName(buffer) : "scratch";
    scopes[buffer] = LLVM::AliasScopeAttr::get(domain, e.b.getStringAttr(name));
  };
  add(Value());
  for (Value value : captured)
    if (isa<MemRefType>(value.getType()))
      if (e.options.calls.disjointArguments || value.getDefiningOp<tile::AllocOp>())
        add(value);
  kernel.walk([&](tile::AllocOp alloc) { add(alloc.getBuffer()); });
}

//===----------------------------------------------------------------------------------------===//
// Scratch memory
//===----------------------------------------------------------------------------------------===//

View Buffers::addScratch(ArrayRef<Value> extents, Type elementType, Value pointer) {
  auto root = std::make_unique<Root>();
  root->elementType = elementType;
  root->space = tile::Space::Local;
  root->name = "scratch";
  root->extents.assign(extents.begin(), extents.end());
  root->pointer = pointer;
  if (auto own = scopes.find(Value()); own != scopes.end()) {
    SmallVector<Attribute> others;
    for (auto [other, aliasScope] : scopes)
      if (other)
        others.push_back(aliasScope);
    root->ownScope = e.b.getArrayAttr({own->second});
    root->otherScopes = e.b.getArrayAttr(others);
  }
  scratch.push_back(std::move(root));
  return makeWholeView(*scratch.back());
}

View Buffers::makeScratch(ArrayRef<int64_t> shape, Type elementType) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  Value pointer;
  {
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToStart(e.getEntry());
    Value offset = e.numbers.integer(e.b.getI64Type(), arenaBytes);
    pointer = e.offsetPointer(arena, e.b.getI8Type(), offset);
  }
  arenaBytes += llvm::alignTo(count * tile::getStorageBytes(elementType), kTileAlignment);
  auto extents = llvm::map_to_vector(shape, [&](int64_t extent) { return e.index(extent); });
  return addScratch(extents, elementType, pointer);
}

View Buffers::makeScratch(ArrayRef<Value> extents, Type elementType) {
  Value bytes = e.index(tile::getStorageBytes(elementType));
  for (Value extent : extents)
    bytes = e.mul(bytes, extent);
  Value pointer =
      arena ? e.services.allocateInBlock(e.toI64(bytes)) : e.services.allocate(e.toI64(bytes));
  return addScratch(extents, elementType, pointer);
}

//===----------------------------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------------------------===//

View Buffers::makeWholeView(const Root &root) {
  View view;
  view.root = &root;
  view.elementType = root.elementType;
  view.surface = view.extents = root.extents;
  view.base.assign(view.getRank(), e.index(0));
  view.steps.assign(view.getRank(), e.index(1));
  view.dims.resize(view.getRank());
  std::iota(view.dims.begin(), view.dims.end(), 0u);
  return view;
}

View Buffers::getView(Value buffer) {
  if (auto it = views.find(buffer); it != views.end())
    return it->second;
  return makeWholeView(*roots.at(buffer));
}

std::optional<View> Buffers::getNamedView(int64_t id, Operation *user) {
  if (auto it = named.find(id); it != named.end())
    return getView(it->second);
  e.refuse(user, "the plan names buffer " + Twine(id) + ", which no 'tile.id' before it gives");
  return std::nullopt;
}

View Buffers::makeSlice(tile::SliceOp op) {
  View source = getView(op.getSource()), view = source;
  view.dims.clear();
  view.steps.clear();
  view.extents.clear();
  SmallVector<OpFoldResult> offsets = op.getMixedOffsets(), sizes = op.getMixedSizes(),
                            steps = op.getMixedSteps();
  for (auto [dim, surfaceDim] : llvm::enumerate(source.dims)) {
    Value &base = view.base[surfaceDim];
    base = e.add(base, e.mul(source.steps[dim], e.asIndex(offsets[dim])));
    if (llvm::is_contained(op.getDropped(), static_cast<int64_t>(dim)))
      continue;
    view.dims.push_back(surfaceDim);
    view.steps.push_back(e.mul(source.steps[dim], e.asIndex(steps[dim])));
    view.extents.push_back(e.b.createOrFold<arith::MaxSIOp>(e.asIndex(sizes[dim]), e.index(0)));
  }
  return view;
}

/// All of a root under another shape or element type. Run-time extents are stated as a shape; in IR
/// without one a single extent follows from the others.
View Buffers::makeView(tile::ViewOp op) {
  View source = getView(op.getSource()), view;
  MemRefType type = op.getResult().getType();
  view.root = source.root;
  view.elementType = type.getElementType();
  Value elementBytes = e.index(tile::getStorageBytes(view.elementType));
  Value bytes = e.index(tile::getStorageBytes(source.elementType));
  for (Value extent : source.surface)
    bytes = e.mul(bytes, extent);
  if (auto shape = op->getAttrOfType<tile::ShapeAttr>(tile::kShapeAttr)) {
    view.surface = evaluateShape(shape, op->getParentOfType<func::FuncOp>());
  } else if (type.getNumDynamicDims() > 1) {
    e.refuse(op, "a view with more than one run-time extent needs a 'tile.shape'");
    view.surface.assign(type.getRank(), e.index(0));
  } else {
    int64_t known = tile::getStorageBytes(view.elementType);
    for (int64_t extent : type.getShape())
      known *= ShapedType::isDynamic(extent) ? 1 : extent;
    Value rest = known ? e.b.createOrFold<arith::DivUIOp>(bytes, e.index(known)) : e.index(0);
    for (int64_t extent : type.getShape())
      view.surface.push_back(ShapedType::isDynamic(extent) ? rest : e.index(extent));
  }
  view.extents = view.surface;
  view.base.assign(view.getRank(), e.index(0));
  view.steps.assign(view.getRank(), e.index(1));
  view.dims.resize(view.getRank());
  std::iota(view.dims.begin(), view.dims.end(), 0u);
  if (!type.hasStaticShape()) {
    Value covered = elementBytes;
    for (Value extent : view.surface)
      covered = e.mul(covered, extent);
    e.ifTrue(e.compare(arith::CmpIPredicate::ne, covered, bytes), [&] {
      e.services.fail("a view of '" + view.root->name + "' does not have its bytes");
    });
  }
  return view;
}

SmallVector<Value> tilewright::cpu::getSymbols(tile::ShapeAttr shape, func::FuncOp function) {
  SmallVector<Value> symbols;
  for (StringAttr symbol : shape.getSymbols())
    for (BlockArgument argument : function.getArguments())
      if (function.getArgAttr(argument.getArgNumber(), tile::kSymbolAttr) == symbol)
        symbols.push_back(argument);
  return symbols;
}

SmallVector<Value, 4> Buffers::evaluateShape(tile::ShapeAttr shape, func::FuncOp function) {
  SmallVector<Value> symbols = e.lookupAll(getSymbols(shape, function));
  SmallVector<Value, 4> extents;
  for (const IndexExpr &extent : shape.getExtents())
    extents.push_back(evaluate(e, extent, symbols, symbols));
  return extents;
}
