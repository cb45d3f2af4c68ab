//===- Buffers.cpp - views, addresses, bounds, loads and stores -------------------------------===//
//
// The only place where a logical coordinate becomes an address. An index into a view is first moved
// to the surface (base and steps), checked against the surface's extents unless Ranges proves it
// inside, and then laid out row-major, or through the layout that the kernel annotated on the root.
//
//===----------------------------------------------------------------------------------------===//

#include "Lowering.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include <numeric>

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

//===----------------------------------------------------------------------------------------===//
// Pointers
//===----------------------------------------------------------------------------------------===//

Value Lowering::allocaAtEntry(Type type, int64_t count) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(scope->entry);
  return LLVM::AllocaOp::create(b, LLVM::LLVMPointerType::get(b.getContext()), type,
                                numbers.integer(b.getI64Type(), count), /*alignment=*/8);
}

Value Lowering::offsetPointer(Value pointer, Type element, Value offset) {
  if (isa<IndexType>(offset.getType()))
    offset = toI64(offset);
  return LLVM::GEPOp::create(b, pointer.getType(), element, pointer, ArrayRef<LLVM::GEPArg>{offset},
                             LLVM::GEPNoWrapFlags::inbounds);
}

Value Lowering::bothTrue(Value lhs, Value rhs) {
  if (!lhs || !rhs)
    return lhs ? lhs : rhs;
  return b.createOrFold<arith::AndIOp>(lhs, rhs);
}

//===----------------------------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------------------------===//

View Lowering::makeWholeView(const Root &root) {
  View view;
  view.root = &root;
  view.elementType = root.elementType;
  view.surface = view.extents = root.extents;
  view.base.assign(view.getRank(), index(0));
  view.steps.assign(view.getRank(), index(1));
  view.dims.resize(view.getRank());
  std::iota(view.dims.begin(), view.dims.end(), 0u);
  return view;
}

View Lowering::getView(Value buffer) {
  if (auto it = scope->views.find(buffer); it != scope->views.end())
    return it->second;
  return makeWholeView(*scope->roots.at(buffer));
}

Value Lowering::asIndex(OpFoldResult value) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return index(*constant);
  return lookup(cast<Value>(value));
}

View Lowering::makeSlice(tile::SliceOp op) {
  View source = getView(op.getSource()), view = source;
  view.dims.clear();
  view.steps.clear();
  view.extents.clear();
  SmallVector<OpFoldResult> offsets = op.getMixedOffsets(), sizes = op.getMixedSizes(),
                            steps = op.getMixedSteps();
  for (auto [dim, surfaceDim] : llvm::enumerate(source.dims)) {
    Value &base = view.base[surfaceDim];
    base = add(base, mul(source.steps[dim], asIndex(offsets[dim])));
    if (llvm::is_contained(op.getDropped(), static_cast<int64_t>(dim)))
      continue;
    view.dims.push_back(surfaceDim);
    view.steps.push_back(mul(source.steps[dim], asIndex(steps[dim])));
    view.extents.push_back(b.createOrFold<arith::MaxSIOp>(asIndex(sizes[dim]), index(0)));
  }
  return view;
}

/// All of a root under another shape or element type. Run-time extents are stated as a shape; in IR
/// without one a single extent follows from the others.
View Lowering::makeView(tile::ViewOp op) {
  View source = getView(op.getSource()), view;
  MemRefType type = op.getResult().getType();
  view.root = source.root;
  view.elementType = type.getElementType();
  Value elementBytes = index(tile::getStorageBytes(view.elementType));
  Value bytes = index(tile::getStorageBytes(source.elementType));
  for (Value extent : source.surface)
    bytes = mul(bytes, extent);
  if (auto shape = op->getAttrOfType<tile::ShapeAttr>(tile::kShapeAttr)) {
    view.surface = evaluateShape(shape, op->getParentOfType<func::FuncOp>());
  } else if (type.getNumDynamicDims() > 1) {
    refuse(op, "a view with more than one run-time extent needs a 'tile.shape'");
    view.surface.assign(type.getRank(), index(0));
  } else {
    int64_t known = tile::getStorageBytes(view.elementType);
    for (int64_t extent : type.getShape())
      known *= ShapedType::isDynamic(extent) ? 1 : extent;
    Value rest = known ? b.createOrFold<arith::DivUIOp>(bytes, index(known)) : index(0);
    for (int64_t extent : type.getShape())
      view.surface.push_back(ShapedType::isDynamic(extent) ? rest : index(extent));
  }
  view.extents = view.surface;
  view.base.assign(view.getRank(), index(0));
  view.steps.assign(view.getRank(), index(1));
  view.dims.resize(view.getRank());
  std::iota(view.dims.begin(), view.dims.end(), 0u);
  if (!type.hasStaticShape()) {
    Value covered = elementBytes;
    for (Value extent : view.surface)
      covered = mul(covered, extent);
    ifTrue(compare(arith::CmpIPredicate::ne, covered, bytes),
           [&] { callFail("a view of '" + view.root->name + "' does not have its bytes"); });
  }
  return view;
}

//===----------------------------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------------------------===//

SmallVector<Value> Lowering::toSurface(const View &view, ArrayRef<Value> index) {
  SmallVector<Value> result(view.base.begin(), view.base.end());
  for (auto [dim, coordinate] : llvm::enumerate(index)) {
    Value &target = result[view.dims[dim]];
    target = add(target, mul(view.steps[dim], coordinate));
  }
  return result;
}

Value Lowering::isInside(const View &view, ArrayRef<Value> surfaceIndex) {
  Value inside;
  for (auto [coordinate, extent] : llvm::zip_equal(surfaceIndex, view.surface))
    if (!ranges.isProvenInside(coordinate, extent)) // unsigned, so that negative ones are large
      inside = bothTrue(inside, compare(arith::CmpIPredicate::ult, coordinate, extent));
  return inside;
}

/// The row-major number of an element on the surface.
static Value linearize(ImplicitLocOpBuilder &b, ArrayRef<Value> coordinates,
                       ArrayRef<Value> extents) {
  Value element = Numbers(b).integer(b.getIndexType(), 0);
  for (auto [coordinate, extent] : llvm::zip_equal(coordinates, extents))
    element =
        b.createOrFold<arith::AddIOp>(b.createOrFold<arith::MulIOp>(element, extent), coordinate);
  return element;
}

Value Lowering::evaluate(const IndexExpr &expr, ArrayRef<Value> dims, ArrayRef<Value> symbols) {
  using Kind = IndexExpr::Kind;
  switch (expr.getKind()) {
  case Kind::Constant:
    return index(*expr.getConstant());
  case Kind::Dim:
    return dims[expr.getPosition()];
  case Kind::Symbol:
    return symbols[expr.getPosition()];
  default:
    break;
  }
  Value lhs = evaluate(expr.getLhs(), dims, symbols), rhs = evaluate(expr.getRhs(), dims, symbols);
  switch (expr.getKind()) {
  case Kind::Add:
    return add(lhs, rhs);
  case Kind::Sub:
    return sub(lhs, rhs);
  case Kind::Mul:
    return mul(lhs, rhs);
  case Kind::FloorDiv:
    return divide(Division::FloorDiv, lhs, rhs, /*isUnsigned=*/false);
  case Kind::Mod:
    return divide(Division::FloorMod, lhs, rhs, /*isUnsigned=*/false);
  case Kind::Xor:
    return b.createOrFold<arith::XOrIOp>(lhs, rhs);
  case Kind::Min:
    return b.createOrFold<arith::MinSIOp>(lhs, rhs);
  case Kind::Max:
    return b.createOrFold<arith::MaxSIOp>(lhs, rhs);
  default:
    llvm_unreachable("all kinds of index expressions are handled");
  }
}

/// The place of an element of the root, counted in root elements. The view may see the root under
/// another shape; both are row-major over the same bytes.
Value Lowering::offsetThroughLayout(const View &view, ArrayRef<Value> surfaceIndex) {
  const Root &root = *view.root;
  SmallVector<Value> coordinates(surfaceIndex);
  bool isOwnShape = view.elementType == root.elementType &&
                    ArrayRef<Value>(view.surface) == ArrayRef<Value>(root.extents);
  if (!isOwnShape) {
    int64_t size = tile::getStorageBytes(view.elementType),
            rootSize = tile::getStorageBytes(root.elementType);
    Value element = linearize(b, surfaceIndex, view.surface);
    Value rest = b.createOrFold<arith::DivUIOp>(mul(element, index(size)), index(rootSize));
    coordinates.assign(root.extents.size(), Value());
    for (size_t dim = root.extents.size(); dim-- > 0;) {
      coordinates[dim] = b.createOrFold<arith::RemUIOp>(rest, root.extents[dim]);
      rest = b.createOrFold<arith::DivUIOp>(rest, root.extents[dim]);
    }
  }
  // Here the element is inside, so that quotients of its coordinates need no rounding downwards.
  // Elsewhere the same values may lie outside.
  SmallVector<Ranges::Assumption> insideHere;
  for (auto [coordinate, extent] : llvm::zip_equal(coordinates, root.extents))
    if (!getConstantIntValue(coordinate) && !ranges.get(coordinate).isNonNegative())
      insideHere.emplace_back(ranges, coordinate,
                              Interval{0, (ranges.get(extent) - Interval::exactly(1)).greatest});
  SmallVector<Value> dims(coordinates);
  dims.append(root.extents.begin(), root.extents.end());
  return evaluate(*root.layout, dims, {});
}

Value Lowering::addressOf(const View &view, ArrayRef<Value> surfaceIndex) {
  const Root &root = *view.root;
  Type storage = getStorageType(view.elementType);
  if (!root.layout) {
    Value element = linearize(b, surfaceIndex, view.surface);
    return offsetPointer(root.pointer, storage, element);
  }
  int64_t size = tile::getStorageBytes(view.elementType),
          rootSize = tile::getStorageBytes(root.elementType);
  Value bytes = mul(offsetThroughLayout(view, surfaceIndex), index(rootSize));
  if (size < rootSize) {
    Value element = linearize(b, surfaceIndex, view.surface);
    bytes = add(bytes, b.createOrFold<arith::RemUIOp>(mul(element, index(size)), index(rootSize)));
  }
  return offsetPointer(root.pointer, b.getI8Type(), bytes);
}

//===----------------------------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------------------------===//

/// Under a layout an element that is wider than the root's lies in several places.
static bool isTornApart(const View &view) {
  return view.root->layout &&
         tile::getStorageBytes(view.elementType) > tile::getStorageBytes(view.root->elementType);
}

/// The view of the pieces of which such an element consists: the last extent is longer.
static View makePieces(const View &view, ImplicitLocOpBuilder &b, Numbers &numbers) {
  View pieces = view;
  pieces.elementType = b.getIntegerType(tile::getStorageBits(view.root->elementType));
  int64_t count =
      tile::getStorageBytes(view.elementType) / tile::getStorageBytes(view.root->elementType);
  pieces.surface.push_back(numbers.integer(b.getIndexType(), count));
  return pieces;
}

Value Lowering::loadAt(const View &view, ArrayRef<Value> surfaceIndex) {
  Type storage = getStorageType(view.elementType);
  if (!isTornApart(view)) {
    auto load = LLVM::LoadOp::create(b, storage, addressOf(view, surfaceIndex),
                                     tile::getStorageBytes(view.elementType));
    return tagged(load, view.root);
  }
  View pieces = makePieces(view, b, numbers);
  Type bits = b.getIntegerType(tile::getStorageBits(view.elementType));
  Value whole = numbers.integer(bits, 0);
  int64_t count = *getConstantIntValue(pieces.surface.back());
  for (int64_t piece = 0; piece < count; ++piece) {
    SmallVector<Value> place(surfaceIndex);
    place.push_back(index(piece));
    Value part = arith::ExtUIOp::create(b, bits, loadAt(pieces, place));
    int64_t distance = piece * tile::getStorageBits(view.root->elementType);
    Value moved = arith::ShLIOp::create(b, part, numbers.integer(bits, distance));
    whole = arith::OrIOp::create(b, whole, moved);
  }
  return storage == bits ? whole : arith::BitcastOp::create(b, storage, whole);
}

void Lowering::storeAt(const View &view, ArrayRef<Value> surfaceIndex, Value stored) {
  if (!isTornApart(view)) {
    auto store = LLVM::StoreOp::create(b, stored, addressOf(view, surfaceIndex),
                                       tile::getStorageBytes(view.elementType));
    tagged(store, view.root);
    return;
  }
  View pieces = makePieces(view, b, numbers);
  Type bits = b.getIntegerType(tile::getStorageBits(view.elementType));
  Value whole = stored.getType() == bits ? stored : arith::BitcastOp::create(b, bits, stored);
  int64_t count = *getConstantIntValue(pieces.surface.back());
  for (int64_t piece = 0; piece < count; ++piece) {
    SmallVector<Value> place(surfaceIndex);
    place.push_back(index(piece));
    int64_t distance = piece * tile::getStorageBits(view.root->elementType);
    Value moved = arith::ShRUIOp::create(b, whole, numbers.integer(bits, distance));
    storeAt(pieces, place, arith::TruncIOp::create(b, pieces.elementType, moved));
  }
}

bool Lowering::isContiguousAlong(const View &view, unsigned dim) {
  if (view.root->layout || view.dims[dim] + 1 != view.surface.size() ||
      getConstantIntValue(view.steps[dim]) != 1)
    return false;
  SmallVector<unsigned> dims = llvm::to_vector(llvm::seq<unsigned>(0, view.getRank()));
  std::optional<Window> window = windowOf(view, dims, view.extents);
  return window && window->isWhole;
}

Value Lowering::loadVector(const View &view, ArrayRef<Value> index, int64_t width) {
  auto type = VectorType::get({width}, getStorageType(view.elementType));
  auto load = LLVM::LoadOp::create(b, type, addressOf(view, toSurface(view, index)),
                                   tile::getStorageBytes(view.elementType));
  return tagged(load, view.root);
}

void Lowering::storeVector(const View &view, ArrayRef<Value> index, Value stored) {
  auto store = LLVM::StoreOp::create(b, stored, addressOf(view, toSurface(view, index)),
                                     tile::getStorageBytes(view.elementType));
  tagged(store, view.root);
}

Value Lowering::safeStored(const View &view) {
  const Root &root = *view.root;
  Type storage = getStorageType(view.elementType);
  if (root.safeValue) {
    // Another element type sees the bits of the value, as many as it has.
    Value bits = numbers.toBits(numbers.constant(root.safeValue), root.elementType);
    Type target = b.getIntegerType(tile::getStorageBits(view.elementType));
    unsigned from = bits.getType().getIntOrFloatBitWidth(), to = target.getIntOrFloatBitWidth();
    if (from != to)
      bits = from < to ? Value(arith::ExtUIOp::create(b, target, bits))
                       : Value(arith::TruncIOp::create(b, target, bits));
    return storage == target ? bits : arith::BitcastOp::create(b, storage, bits);
  }
  return isa<FloatType>(storage) ? numbers.real(storage, 0) : numbers.integer(storage, 0);
}

/// Names the first index that is outside, and the extent.
void Lowering::failOutside(const View &view, ArrayRef<Value> surfaceIndex) {
  for (auto [dim, coordinate] : llvm::enumerate(surfaceIndex)) {
    Value extent = view.surface[dim];
    if (ranges.isProvenInside(coordinate, extent))
      continue;
    std::string text =
        "'" + view.root->name + "': index \1 is out of bounds for dimension " + std::to_string(dim);
    if (std::optional<int64_t> known = getConstantIntValue(extent))
      text += ", which has " + std::to_string(*known) + (*known == 1 ? " element" : " elements");
    ifTrue(compare(arith::CmpIPredicate::uge, coordinate, extent),
           [&] { callFail(text, b.createOrFold<arith::IndexCastOp>(b.getI64Type(), coordinate)); });
  }
}

Value Lowering::loadStored(const View &view, ArrayRef<Value> index) {
  SmallVector<Value> place = toSurface(view, index);
  Value inside = isInside(view, place);
  if (!inside)
    return loadAt(view, place);
  Type storage = getStorageType(view.elementType);
  auto branch = scf::IfOp::create(b, TypeRange{storage}, inside, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, loadAt(view, place));
  b.setInsertionPointToStart(branch.elseBlock());
  if (view.root->isOnChip())
    failOutside(view, place);
  scf::YieldOp::create(b, safeStored(view));
  return branch.getResult(0);
}

void Lowering::storeStored(const View &view, ArrayRef<Value> index, Value stored) {
  SmallVector<Value> place = toSurface(view, index);
  Value inside = isInside(view, place);
  if (!inside)
    return storeAt(view, place, stored);
  auto branch = scf::IfOp::create(b, inside, /*withElseRegion=*/view.root->isOnChip());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  storeAt(view, place, stored);
  if (view.root->isOnChip()) {
    b.setInsertionPointToStart(branch.elseBlock());
    failOutside(view, place);
  }
}
