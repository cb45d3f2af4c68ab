//===- Views.cpp - elements seen through another element type --------------------------------===//
//
// A view sees the row-major bytes of its source under another shape or element type. Where the
// bytes of a source element lie is the root's layout's business, so an element of a view is read
// and written in pieces that no element on the way splits: one piece where the view is narrower
// than its source, several where it is wider. Nothing is assumed about neighbouring elements.
//
//===----------------------------------------------------------------------------------------===//

#include "Lowerings.h"
#include "tilewright/Layout/Contiguity.h"
#include "tilewright/Layout/Questions.h"
#include "tilewright/Layout/SharedLayouts.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::nvptx {

/// The bytes of the largest piece that lies inside one element of every buffer of the chain.
static int64_t pieceBytes(Value buffer) {
  int64_t bytes = getStorageBytes(cast<MemRefType>(buffer.getType()).getElementType());
  while (Value source = getViewSource(buffer)) {
    buffer = source;
    bytes = std::min(bytes, getStorageBytes(cast<MemRefType>(buffer.getType()).getElementType()));
  }
  return bytes;
}

/// Coordinates in the root, and a byte inside that element, of byte `byte` of an element of
/// `buffer`.
std::pair<SmallVector<Value>, Value> byteCoordinates(Thread &t, Value buffer,
                                                     SmallVector<Value> coordinates, int64_t byte) {
  ImplicitLocOpBuilder &b = t.b;
  Value inElement = t.index(byte);
  while (Value source = getViewSource(buffer)) {
    auto to = cast<MemRefType>(buffer.getType()), from = cast<MemRefType>(source.getType());
    if (!buffer.getDefiningOp<ViewOp>() || to.getElementType() == from.getElementType()) {
      coordinates = viewStep(t, buffer, std::move(coordinates));
      buffer = source;
      continue;
    }
    Value inside = insideView(t, buffer.getDefiningOp<ViewOp>(), coordinates);
    IndexExpr number(0), at = IndexExpr::dim(0);
    for (int64_t dim = 0; dim < to.getRank(); ++dim)
      number = number * to.getDimSize(dim) + IndexExpr::dim(dim);
    Value position = t.evaluate(number * getStorageBytes(to.getElementType()), coordinates);
    position = b.createOrFold<arith::AddIOp>(position, inElement);
    int64_t bytes = getStorageBytes(from.getElementType());
    inElement = t.evaluate(at % bytes, position);
    Value element = t.evaluate(floorDiv(at, bytes), position);
    coordinates.assign(from.getRank(), Value());
    for (int64_t dim = from.getRank() - 1; dim >= 0; --dim) {
      coordinates[dim] = dim == 0 ? element : t.evaluate(at % from.getDimSize(dim), element);
      if (dim)
        element = t.evaluate(floorDiv(at, from.getDimSize(dim)), element);
    }
    if (inside && !coordinates.empty())
      coordinates[0] = b.createOrFold<arith::SelectOp>(inside, coordinates[0], t.index(-1));
    buffer = source;
  }
  return {std::move(coordinates), inElement};
}

/// Calls `access` with the address of each piece and the bits below it, where it is in bounds.
static void
forEachPiece(Thread &t, Value buffer, ArrayRef<Value> coordinates,
             llvm::function_ref<void(Value address, Value condition, int64_t bit)> access) {
  ImplicitLocOpBuilder &b = t.b;
  const Storage &storage = t.storageOf(getRoot(buffer));
  int64_t bytes = getStorageBytes(cast<MemRefType>(buffer.getType()).getElementType());
  for (int64_t byte = 0, step = pieceBytes(buffer); byte < bytes; byte += step) {
    auto [inRoot, inElement] = byteCoordinates(t, buffer, SmallVector<Value>(coordinates), byte);
    Value base = addressOf(t, storage, inRoot);
    Value address = LLVM::GEPOp::create(b, base.getType(), b.getI8Type(), base,
                                        ArrayRef<LLVM::GEPArg>{t.i64(inElement)});
    access(address, inBounds(t, storage, inRoot), 8 * byte);
  }
}

/// Whether all bits of a constant are zero.
static bool isZero(TypedAttr value) {
  if (auto real = dyn_cast<FloatAttr>(value))
    return real.getValue().isPosZero();
  auto integer = dyn_cast<IntegerAttr>(value);
  return integer && integer.getValue().isZero();
}

/// Whether accesses through this view can be done: its shapes are constants, and what is read out
/// of bounds is zero bytes.
static bool canSeeThrough(Thread &t, Value buffer) {
  const Storage &storage = t.storageOf(getRoot(buffer));
  if (storage.isGlobal && !isZero(storage.safeValue))
    return false;
  for (Value at = buffer; Value source = getViewSource(at); at = source) {
    auto to = cast<MemRefType>(at.getType()), from = cast<MemRefType>(source.getType());
    if (at.getDefiningOp<ViewOp>() && (!to.hasStaticShape() || !from.hasStaticShape()))
      return false;
  }
  return true;
}

/// Whether the bytes of an element of a view follow each other in memory, aligned. A view starts
/// its elements at multiples of their size, so one lies inside an element of the root or takes a
/// few whole ones, which the root's layout must keep together.
bool isOnePiece(Thread &t, Value buffer) {
  const Storage &storage = t.storageOf(getRoot(buffer));
  int64_t bytes = getStorageBytes(cast<MemRefType>(buffer.getType()).getElementType());
  int64_t count = bytes / getStorageBytes(storage.elementType);
  if (count <= 1)
    return true;
  if (storage.isGlobal && bytes > t.calls.argumentAlignment)
    return false;
  if (!storage.layout || isEqual(*storage.layout, linearLayout(storage.staticExtents)).isYes())
    return true;
  unsigned last = storage.staticExtents.size() - 1;
  return contiguousRun(*storage.layout, last) % count == 0 &&
         runAlignment(*storage.layout, last, count) % count == 0;
}

LogicalResult checkViews(Thread &t, Operation *op) {
  for (Value buffer : op->getOperands()) {
    if (!isa<MemRefType>(buffer.getType()) || !changesElement(buffer) || canSeeThrough(t, buffer))
      continue;
    bool isPadded = !isZero(t.storageOf(getRoot(buffer)).safeValue);
    return unsupported(op) << "'" << tile::getName(buffer) << "' seen as "
                           << describeElementType(
                                  cast<MemRefType>(buffer.getType()).getElementType())
                           << (isPadded ? ": its safe value is not zero"
                                        : ": its extents are not constants");
  }
  return success();
}

static Value loadThroughView(Thread &t, Value buffer, ArrayRef<Value> coordinates) {
  ImplicitLocOpBuilder &b = t.b;
  Type element = cast<MemRefType>(buffer.getType()).getElementType();
  int64_t step = pieceBytes(buffer);
  Type whole = b.getIntegerType(getStorageBits(element)), part = b.getIntegerType(8 * step);
  Value bits;
  forEachPiece(t, buffer, coordinates, [&](Value address, Value condition, int64_t bit) {
    Value piece;
    if (!condition) {
      piece = LLVM::LoadOp::create(b, part, address, step);
    } else {
      // Out of bounds there are zeros (canSeeThrough refuses other safe values).
      auto branch = scf::IfOp::create(b, TypeRange(part), condition, /*withElse=*/true);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(&branch.getThenRegion().front());
      scf::YieldOp::create(b, LLVM::LoadOp::create(b, part, address, step).getResult());
      b.setInsertionPointToStart(&branch.getElseRegion().front());
      scf::YieldOp::create(b, arith::ConstantOp::create(b, b.getZeroAttr(part)).getResult());
      piece = branch.getResult(0);
    }
    if (part != whole) {
      piece = arith::ExtUIOp::create(b, whole, piece);
      Value shift = arith::ConstantOp::create(b, b.getIntegerAttr(whole, bit));
      piece = b.createOrFold<arith::ShLIOp>(piece, shift);
    }
    bits = bits ? b.createOrFold<arith::OrIOp>(bits, piece) : piece;
  });
  Type stored = getStorageType(element);
  if (bits.getType() != stored)
    bits = LLVM::BitcastOp::create(b, stored, bits);
  return fromStorage(t, bits, element);
}

Value loadElement(Thread &t, Value buffer, ArrayRef<Value> coordinates) {
  if (changesElement(buffer))
    return loadThroughView(t, buffer, coordinates);
  return loadAt(t, t.storageOf(getRoot(buffer)),
                viewCoordinates(t, buffer, SmallVector<Value>(coordinates)));
}

static void storeThroughView(Thread &t, Value buffer, ArrayRef<Value> coordinates, Value value) {
  ImplicitLocOpBuilder &b = t.b;
  Type element = cast<MemRefType>(buffer.getType()).getElementType();
  int64_t step = pieceBytes(buffer);
  Type whole = b.getIntegerType(getStorageBits(element)), part = b.getIntegerType(8 * step);
  Value bits = toStorage(t, value, element);
  if (bits.getType() != whole)
    bits = LLVM::BitcastOp::create(b, whole, bits);
  forEachPiece(t, buffer, coordinates, [&](Value address, Value condition, int64_t bit) {
    Value piece = bits;
    if (part != whole) {
      Value shift = arith::ConstantOp::create(b, b.getIntegerAttr(whole, bit));
      piece = arith::TruncIOp::create(b, part, b.createOrFold<arith::ShRUIOp>(bits, shift));
    }
    t.guarded(condition, [&] { LLVM::StoreOp::create(b, piece, address, step); });
  });
}

void storeElement(Thread &t, Value buffer, ArrayRef<Value> coordinates, Value value) {
  if (changesElement(buffer))
    return storeThroughView(t, buffer, coordinates, value);
  storeAt(t, t.storageOf(getRoot(buffer)),
          viewCoordinates(t, buffer, SmallVector<Value>(coordinates)), value);
}

} // namespace tilewright::nvptx
