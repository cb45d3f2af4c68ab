//===- Elements.cpp - addresses, bounds, loads and stores -------------------------------------===//

#include "Emitter.h"
#include "Scalars.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

//===----------------------------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------------------------===//

std::optional<Window> Buffers::windowOf(const View &view, ArrayRef<unsigned> loopDims,
                                        ArrayRef<Value> extents) {
  Window window;
  window.lowers.assign(extents.size(), e.index(0));
  window.uppers.assign(extents.begin(), extents.end());
  for (auto [surfaceDim, base] : llvm::enumerate(view.base)) {
    Value extent = view.surface[surfaceDim];
    const unsigned *loop =
        llvm::find_if(loopDims, [&, s = surfaceDim](unsigned dim) { return view.dims[dim] == s; });
    if (loop == loopDims.end()) {
      if (e.ranges.isProvenInside(base, extent))
        continue;
      window.condition =
          e.bothTrue(window.condition, e.compare(arith::CmpIPredicate::ult, base, extent));
      window.isWhole = false;
      continue;
    }
    size_t number = loop - loopDims.begin();
    Interval count = e.ranges.get(extents[number]), step = e.ranges.get(view.steps[*loop]);
    Interval last = e.ranges.get(base) + (count - Interval::exactly(1)) * step;
    bool isProven = e.ranges.get(base).isNonNegative() && step.isNonNegative() &&
                    last.greatest < e.ranges.get(extent).least;
    if (isProven)
      continue;
    if (getConstantIntValue(view.steps[*loop]) != 1)
      return std::nullopt;
    auto clamp = [&](Value bound) {
      Value atLeast = e.b.createOrFold<arith::MaxSIOp>(bound, e.index(0));
      return e.b.createOrFold<arith::MinSIOp>(atLeast, extents[number]);
    };
    window.lowers[number] = clamp(e.sub(e.index(0), base));
    window.uppers[number] = clamp(e.sub(extent, base));
    window.isWhole = false;
  }
  if (view.root->isOnChip() && !window.isWhole)
    return std::nullopt;
  return window;
}

//===----------------------------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------------------------===//

SmallVector<Value> Buffers::toSurface(const View &view, ArrayRef<Value> index) {
  SmallVector<Value> result(view.base.begin(), view.base.end());
  for (auto [dim, coordinate] : llvm::enumerate(index)) {
    Value &target = result[view.dims[dim]];
    target = e.add(target, e.mul(view.steps[dim], coordinate));
  }
  return result;
}

Value Buffers::isInside(const View &view, ArrayRef<Value> surfaceIndex) {
  Value inside;
  for (auto [coordinate, extent] : llvm::zip_equal(surfaceIndex, view.surface))
    if (!e.ranges.isProvenInside(coordinate, extent)) // unsigned, so that negative ones are large
      inside = e.bothTrue(inside, e.compare(arith::CmpIPredicate::ult, coordinate, extent));
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

/// The position of an element of the root, counted in root elements. The view may see the root
/// under another shape; both are row-major over the same bytes.
Value Buffers::offsetThroughLayout(const View &view, ArrayRef<Value> surfaceIndex) {
  const Root &root = *view.root;
  SmallVector<Value> coordinates(surfaceIndex);
  bool isOwnShape = view.elementType == root.elementType &&
                    ArrayRef<Value>(view.surface) == ArrayRef<Value>(root.extents);
  if (!isOwnShape) {
    int64_t size = tile::getStorageBytes(view.elementType),
            rootSize = tile::getStorageBytes(root.elementType);
    Value element = linearize(e.b, surfaceIndex, view.surface);
    Value rest = e.b.createOrFold<arith::DivUIOp>(e.mul(element, e.index(size)), e.index(rootSize));
    coordinates.assign(root.extents.size(), Value());
    for (size_t dim = root.extents.size(); dim-- > 0;) {
      coordinates[dim] = e.b.createOrFold<arith::RemUIOp>(rest, root.extents[dim]);
      rest = e.b.createOrFold<arith::DivUIOp>(rest, root.extents[dim]);
    }
  }
  // Here the element is inside, so that quotients of its coordinates need no rounding downwards.
  // Elsewhere the same values may lie outside.
  SmallVector<Ranges::Assumption> insideHere;
  for (auto [coordinate, extent] : llvm::zip_equal(coordinates, root.extents))
    if (!getConstantIntValue(coordinate) && !e.ranges.get(coordinate).isNonNegative())
      insideHere.emplace_back(e.ranges, coordinate,
                              Interval{0, (e.ranges.get(extent) - Interval::exactly(1)).greatest});
  SmallVector<Value> dims(coordinates);
  dims.append(root.extents.begin(), root.extents.end());
  return evaluate(e, *root.layout, dims, {});
}

Value Buffers::addressOf(const View &view, ArrayRef<Value> surfaceIndex) {
  const Root &root = *view.root;
  Type storage = getStorageType(view.elementType);
  if (!root.layout) {
    Value element = linearize(e.b, surfaceIndex, view.surface);
    return e.offsetPointer(root.pointer, storage, element);
  }
  int64_t size = tile::getStorageBytes(view.elementType),
          rootSize = tile::getStorageBytes(root.elementType);
  Value bytes = e.mul(offsetThroughLayout(view, surfaceIndex), e.index(rootSize));
  if (size < rootSize) {
    Value element = linearize(e.b, surfaceIndex, view.surface);
    bytes = e.add(
        bytes, e.b.createOrFold<arith::RemUIOp>(e.mul(element, e.index(size)), e.index(rootSize)));
  }
  return e.offsetPointer(root.pointer, e.b.getI8Type(), bytes);
}

//===----------------------------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------------------------===//

/// Under a layout an element that is wider than the root's lies in several words.
static bool isTornApart(const View &view) {
  return view.root->layout &&
         tile::getStorageBytes(view.elementType) > tile::getStorageBytes(view.root->elementType);
}

/// The view of the pieces that make such an element: the last extent is longer.
static View makePieces(const View &view, ImplicitLocOpBuilder &b) {
  View pieces = view;
  pieces.elementType = b.getIntegerType(tile::getStorageBits(view.root->elementType));
  int64_t count =
      tile::getStorageBytes(view.elementType) / tile::getStorageBytes(view.root->elementType);
  pieces.surface.push_back(Numbers(b).integer(b.getIndexType(), count));
  return pieces;
}

Value Buffers::loadAt(const View &view, ArrayRef<Value> surfaceIndex) {
  Type storage = getStorageType(view.elementType);
  if (!isTornApart(view)) {
    auto load = LLVM::LoadOp::create(e.b, storage, addressOf(view, surfaceIndex),
                                     tile::getStorageBytes(view.elementType));
    return tagged(load, view.root);
  }
  View pieces = makePieces(view, e.b);
  Type bits = e.b.getIntegerType(tile::getStorageBits(view.elementType));
  Value whole = e.numbers.integer(bits, 0);
  int64_t count = *getConstantIntValue(pieces.surface.back());
  for (int64_t piece = 0; piece < count; ++piece) {
    SmallVector<Value> index(surfaceIndex);
    index.push_back(e.index(piece));
    Value part = arith::ExtUIOp::create(e.b, bits, loadAt(pieces, index));
    int64_t distance = piece * tile::getStorageBits(view.root->elementType);
    Value moved = arith::ShLIOp::create(e.b, part, e.numbers.integer(bits, distance));
    whole = arith::OrIOp::create(e.b, whole, moved);
  }
  return storage == bits ? whole : arith::BitcastOp::create(e.b, storage, whole);
}

void Buffers::storeAt(const View &view, ArrayRef<Value> surfaceIndex, Value stored) {
  if (!isTornApart(view)) {
    auto store = LLVM::StoreOp::create(e.b, stored, addressOf(view, surfaceIndex),
                                       tile::getStorageBytes(view.elementType));
    tagged(store, view.root);
    return;
  }
  View pieces = makePieces(view, e.b);
  Type bits = e.b.getIntegerType(tile::getStorageBits(view.elementType));
  Value whole = stored.getType() == bits ? stored : arith::BitcastOp::create(e.b, bits, stored);
  int64_t count = *getConstantIntValue(pieces.surface.back());
  for (int64_t piece = 0; piece < count; ++piece) {
    SmallVector<Value> index(surfaceIndex);
    index.push_back(e.index(piece));
    int64_t distance = piece * tile::getStorageBits(view.root->elementType);
    Value moved = arith::ShRUIOp::create(e.b, whole, e.numbers.integer(bits, distance));
    storeAt(pieces, index, arith::TruncIOp::create(e.b, pieces.elementType, moved));
  }
}

bool Buffers::isWhole(const View &view) {
  SmallVector<unsigned> dims = llvm::to_vector(llvm::seq<unsigned>(0, view.getRank()));
  std::optional<Window> window = windowOf(view, dims, view.extents);
  return window && window->isWhole;
}

bool Buffers::isContiguousAlong(const View &view, unsigned dim) {
  return !view.root->layout && view.dims[dim] + 1 == view.surface.size() &&
         getConstantIntValue(view.steps[dim]) == 1 && isWhole(view);
}

Value Buffers::loadVector(const View &view, ArrayRef<Value> index, int64_t width) {
  auto type = VectorType::get({width}, getStorageType(view.elementType));
  auto load = LLVM::LoadOp::create(e.b, type, addressOf(view, toSurface(view, index)),
                                   tile::getStorageBytes(view.elementType));
  return tagged(load, view.root);
}

void Buffers::storeVector(const View &view, ArrayRef<Value> index, Value stored) {
  auto store = LLVM::StoreOp::create(e.b, stored, addressOf(view, toSurface(view, index)),
                                     tile::getStorageBytes(view.elementType));
  tagged(store, view.root);
}

Value Buffers::safeStored(const View &view) {
  const Root &root = *view.root;
  Type storage = getStorageType(view.elementType);
  if (root.safeValue) {
    // Another element type sees the bits of the value, as many as it has.
    Value bits = e.numbers.toBits(e.numbers.constant(root.safeValue), root.elementType);
    Type target = e.b.getIntegerType(tile::getStorageBits(view.elementType));
    unsigned from = bits.getType().getIntOrFloatBitWidth(), to = target.getIntOrFloatBitWidth();
    if (from != to)
      bits = from < to ? Value(arith::ExtUIOp::create(e.b, target, bits))
                       : Value(arith::TruncIOp::create(e.b, target, bits));
    return storage == target ? bits : arith::BitcastOp::create(e.b, storage, bits);
  }
  return isa<FloatType>(storage) ? e.numbers.real(storage, 0) : e.numbers.integer(storage, 0);
}

/// Names the first index that is outside, and the extent.
void Buffers::failOutside(const View &view, ArrayRef<Value> surfaceIndex) {
  for (auto [dim, coordinate] : llvm::enumerate(surfaceIndex)) {
    Value extent = view.surface[dim];
    if (e.ranges.isProvenInside(coordinate, extent))
      continue;
    std::string text =
        "'" + view.root->name + "': index \1 is out of bounds for dimension " + std::to_string(dim);
    if (std::optional<int64_t> known = getConstantIntValue(extent))
      text += ", which has " + std::to_string(*known) + (*known == 1 ? " element" : " elements");
    e.ifTrue(e.compare(arith::CmpIPredicate::uge, coordinate, extent), [&] {
      e.services.fail(text, e.b.createOrFold<arith::IndexCastOp>(e.b.getI64Type(), coordinate));
    });
  }
}

Value Buffers::load(const View &view, ArrayRef<Value> index) {
  return e.numbers.unpack(loadStored(view, index), view.elementType);
}

void Buffers::store(const View &view, ArrayRef<Value> index, Value carrier) {
  storeStored(view, index, e.numbers.pack(carrier, view.elementType));
}

ArrayAttr Buffers::getAccessGroups() {
  LLVM::AccessGroupAttr group = e.getParallelGroup();
  return group ? e.b.getArrayAttr({group}) : ArrayAttr();
}

Value Buffers::loadStored(const View &view, ArrayRef<Value> index) {
  SmallVector<Value> surface = toSurface(view, index);
  Value inside = isInside(view, surface);
  if (!inside)
    return loadAt(view, surface);
  Type storage = getStorageType(view.elementType);
  auto branch = scf::IfOp::create(e.b, TypeRange{storage}, inside, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(e.b, loadAt(view, surface));
  e.b.setInsertionPointToStart(branch.elseBlock());
  if (view.root->isOnChip())
    failOutside(view, surface);
  scf::YieldOp::create(e.b, safeStored(view));
  return branch.getResult(0);
}

void Buffers::storeStored(const View &view, ArrayRef<Value> index, Value stored) {
  SmallVector<Value> surface = toSurface(view, index);
  Value inside = isInside(view, surface);
  if (!inside)
    return storeAt(view, surface, stored);
  auto branch = scf::IfOp::create(e.b, inside, /*withElseRegion=*/view.root->isOnChip());
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(branch.thenBlock());
  storeAt(view, surface, stored);
  if (view.root->isOnChip()) {
    e.b.setInsertionPointToStart(branch.elseBlock());
    failOutside(view, surface);
  }
}
