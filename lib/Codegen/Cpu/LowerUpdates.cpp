//===- LowerUpdates.cpp - atomic updates of whole tiles under locks ---------------------------===//
//
// A tensor that a kernel touches in no other way than by relaxed updates of whole tiles needs no
// atomic instructions: a row (all of the last dimension) is updated under a lock by plain,
// vectorised code. That is right because every access to an element goes through the same lock,
// that of its logical row, wherever a layout puts it.
//
// Under a layout the neighbours of a row lie apart, but often a *box* of a few rows and columns
// fills a stretch of memory in some order (Layout/Contiguity.h), as in the layout that attention
// programs give dQ so that the tensor cores' fragments lie in one piece:
//
//     row 0   0 32  1 33  2 34  3 35         the places of an 8 x 8 box in its 64 elements:
//     row 1   4 36  5 37  6 38  7 39         the even columns of all rows, then the odd ones
//     …
//
// Such a box is updated by vectors of the tensor; the tile's rows are shuffled into their order.
// The rows of a box share a lock, in all updates of the tensor.
//
//===----------------------------------------------------------------------------------------===//

#include "Lowering.h"
#include "tilewright/Layout/Contiguity.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <numeric>

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

/// Larger boxes would be long straight code.
static constexpr int64_t kMaxBoxElements = 256;

/// What an update needs to know, found out before a lock is taken.
struct Lowering::TileUpdate {
  tile::AtomicKind kind;
  View dest, source; ///< The source has no root if `scalar` is given.
  Value scalar;
  Pairing pairing;
  std::optional<ContiguousBox> box; ///< Of the tensor's layout, whatever this update is like.

  int64_t rowsOfLock() const { return box ? box->rows : 1; }
};

//===----------------------------------------------------------------------------------------===//
// Which updates
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

/// Whether the statement is one of those that guard their tensor by locks of rows: all that its
/// kernel does with the tensor are such updates.
bool Lowering::isGuardedByRows(tile::AtomicOp op) {
  auto kernel = op->getParentOfType<tile::KernelOp>();
  if (!options.calls.disjointArguments || getView(op.getDest()).root->isOnChip() || !kernel)
    return false;
  Value root = tile::getRoot(op.getDest());
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

//===----------------------------------------------------------------------------------------===//
// The statement
//===----------------------------------------------------------------------------------------===//

std::optional<ContiguousBox> Lowering::findBox(const Root &root, int64_t unit, int64_t limit) {
  SmallVector<int64_t> shape;
  for (Value extent : root.extents)
    shape.push_back(getConstantIntValue(extent).value_or(ShapedType::kDynamic));
  if (!root.layout || llvm::is_contained(shape, ShapedType::kDynamic))
    return std::nullopt;
  return contiguousBox(*root.layout, shape, unit, limit);
}

/// The lock of the logical row in which an element lies, as the services take it.
SmallVector<Value, 2> Lowering::lockOf(const TileUpdate &update, ArrayRef<Value> surfaceIndex) {
  Value row = index(0);
  for (size_t dim = 0; dim + 1 < surfaceIndex.size(); ++dim)
    row = add(mul(row, update.dest.surface[dim]), surfaceIndex[dim]);
  Value group = b.createOrFold<arith::DivUIOp>(row, index(update.rowsOfLock()));
  return {update.dest.root->pointer, toI64(group)};
}

void Lowering::updateRows(tile::AtomicOp op) {
  TileUpdate update;
  update.kind = op.getKind();
  View &dest = update.dest = getView(op.getDest());
  Pairing &pairing = update.pairing;
  if (auto sourceType = dyn_cast<MemRefType>(op.getValue().getType())) {
    // What may fail (an access outside a tile) happens before the lock is taken.
    View &source = update.source = getView(op.getValue());
    SmallVector<unsigned> dims = llvm::to_vector(llvm::seq<unsigned>(0, source.getRank()));
    std::optional<Window> whole = windowOf(source, dims, source.extents);
    if (!whole || !whole->isWhole)
      source = convertMatrix(source, sourceType, source.elementType);
    pairing = pairDimensions(source, sourceType, dest, cast<MemRefType>(op.getDest().getType()));
  } else {
    update.scalar = lookup(op.getValue());
    pairing.extents.assign(dest.extents.begin(), dest.extents.end());
    pairing.dest = llvm::to_vector(llvm::seq<unsigned>(0, dest.getRank()));
  }
  update.box = findBox(*dest.root, getVectorWidth(dest.elementType), kMaxBoxElements);
  std::optional<Window> window = windowOf(dest, pairing.dest, pairing.extents);
  if (!window)
    return refuse(op, "internal error: rows of '" + dest.root->name + "' have no bounds");
  ifTrue(window->condition, [&] {
    if (!canUpdateBoxes(update))
      return updateByRows(update, *window);
    auto branch = scf::IfOp::create(b, startsAtBox(update, *window), /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    updateByBoxes(update);
    b.setInsertionPointToStart(branch.elseBlock());
    updateByRows(update, *window);
  });
}

//===----------------------------------------------------------------------------------------===//
// By rows
//===----------------------------------------------------------------------------------------===//

void Lowering::updateByRows(const TileUpdate &update, const Window &window) {
  const View &dest = update.dest;
  ArrayRef<Value> lowers = window.lowers, uppers = window.uppers;
  loopNest(lowers.drop_back(), uppers.drop_back(), false, [&](ArrayRef<Value> outer) {
    SmallVector<Value> start(outer);
    start.push_back(index(0));
    SmallVector<Value, 2> lock =
        lockOf(update, toSurface(dest, spread(dest, update.pairing.dest, start)));
    callService(Service::LockRow, lock);
    holdsLock = true;
    // Under a layout neighbours lie apart: a vector would be gathered and scattered.
    bool isParallel = !dest.root->layout;
    loopNest(lowers.take_back(), uppers.take_back(), isParallel, [&](ArrayRef<Value> inner) {
      SmallVector<Value> variables(outer);
      variables.push_back(inner[0]);
      SmallVector<Value> target = toSurface(dest, spread(dest, update.pairing.dest, variables));
      Value operand = update.scalar;
      if (!operand) {
        SmallVector<Value> place = spread(update.source, update.pairing.source, variables);
        operand = numbers.convert(load(update.source, place), update.source.elementType,
                                  dest.elementType);
      }
      Value old = numbers.unpack(loadAt(dest, target), dest.elementType);
      Value combined = combine(update.kind, dest.elementType, old, operand);
      storeAt(dest, target, numbers.pack(combined, dest.elementType));
    });
    holdsLock = false;
    callService(Service::UnlockRow, lock);
  });
}

//===----------------------------------------------------------------------------------------===//
// By boxes
//===----------------------------------------------------------------------------------------===//

/// Whether the tile consists of boxes, and its rows can be read by vectors.
bool Lowering::canUpdateBoxes(const TileUpdate &update) {
  const View &dest = update.dest;
  ArrayRef<unsigned> dims = update.pairing.dest;
  unsigned last = dest.surface.size() - 1;
  if (!update.box || dims.size() < 2 || dest.dims[dims.back()] != last ||
      dest.dims[dims.drop_back().back()] != last - 1)
    return false;
  ArrayRef<Value> extents = update.pairing.extents;
  auto isMultiple = [](Value extent, int64_t of) {
    std::optional<int64_t> constant = getConstantIntValue(extent);
    return constant && *constant % of == 0;
  };
  return isMultiple(extents.back(), update.box->columns) &&
         isMultiple(extents.drop_back().back(), update.box->rows) &&
         (update.scalar || isContiguousAlong(update.source, update.pairing.source.back()));
}

/// Whether, in this launch, the tile begins at the corner of a box and no part of it lies outside.
Value Lowering::startsAtBox(const TileUpdate &update, const Window &window) {
  auto areEqual = [&](Value lhs, Value rhs) { return compare(arith::CmpIPredicate::eq, lhs, rhs); };
  auto isMultiple = [&](Value value, int64_t of) {
    return areEqual(b.createOrFold<arith::RemUIOp>(value, index(of)), index(0));
  };
  ArrayRef<Value> bases = update.dest.base;
  Value holds = bothTrue(isMultiple(bases.back(), update.box->columns),
                         isMultiple(bases.drop_back().back(), update.box->rows));
  for (auto [lower, upper, extent] :
       llvm::zip_equal(window.lowers, window.uppers, update.pairing.extents))
    holds = bothTrue(holds, bothTrue(areEqual(lower, index(0)), areEqual(upper, extent)));
  return holds;
}

void Lowering::updateByBoxes(const TileUpdate &update) {
  const ContiguousBox &box = *update.box;
  size_t numLoops = update.pairing.extents.size();
  SmallVector<Value> counts(update.pairing.extents);
  auto divide = [&](Value &count, int64_t by) { count = index(*getConstantIntValue(count) / by); };
  divide(counts[numLoops - 1], box.columns);
  divide(counts[numLoops - 2], box.rows);
  loopNest(ArrayRef(counts).drop_back(), /*isParallel=*/false, [&](ArrayRef<Value> outer) {
    SmallVector<Value> start(outer);
    start.back() = mul(start.back(), index(box.rows));
    start.push_back(index(0));
    SmallVector<Value, 2> lock =
        lockOf(update, toSurface(update.dest, spread(update.dest, update.pairing.dest, start)));
    callService(Service::LockRow, lock);
    holdsLock = true;
    loopNest(ArrayRef(counts).take_back(), /*isParallel=*/false, [&](ArrayRef<Value> inner) {
      start.back() = mul(inner[0], index(box.columns));
      updateBox(update, start);
    });
    holdsLock = false;
    callService(Service::UnlockRow, lock);
  });
}

/// The vectors of memory that the tile's elements of a box make, in the order of memory.
SmallVector<Value> Lowering::gatherBox(const TileUpdate &update, ArrayRef<Value> start,
                                       int64_t width) {
  const ContiguousBox &box = *update.box;
  const View &source = update.source;
  // Rows in pieces of at most a vector, padded to one.
  int64_t length = std::gcd(box.columns, width), piecesOfRow = box.columns / length;
  SmallVector<int64_t> padding(width, -1);
  std::iota(padding.begin(), padding.begin() + length, 0);
  SmallVector<Value> pieces;
  for (int64_t piece = 0; piece < box.rows * piecesOfRow; ++piece) {
    SmallVector<Value> variables(start);
    Value &row = variables[variables.size() - 2], &column = variables.back();
    row = add(row, index(piece / piecesOfRow));
    column = add(column, index(piece % piecesOfRow * length));
    Value stored = loadVector(source, spread(source, update.pairing.source, variables), length);
    Value line = numbers.convert(numbers.unpack(stored, source.elementType), source.elementType,
                                 update.dest.elementType);
    pieces.push_back(vector::ShuffleOp::create(b, line, line, padding));
  }
  SmallVector<int64_t> elementAt(box.places.size());
  for (auto [element, place] : llvm::enumerate(box.places))
    elementAt[place] = element;
  SmallVector<Value> vectors;
  for (size_t first = 0; first < elementAt.size(); first += width) {
    // Piece by piece: lanes that are there stay, those of this piece come from it.
    Value gathered;
    SmallVector<int64_t> lanes(width, -1);
    for (auto [number, piece] : llvm::enumerate(pieces)) {
      bool isUsed = false;
      for (int64_t lane = 0; lane < width; ++lane)
        if (elementAt[first + lane] / length == int64_t(number)) {
          lanes[lane] = (gathered ? width : 0) + elementAt[first + lane] % length;
          isUsed = true;
        }
      if (!isUsed)
        continue;
      gathered = vector::ShuffleOp::create(b, gathered ? gathered : piece, piece, lanes);
      for (int64_t lane = 0; lane < width; ++lane)
        lanes[lane] = lanes[lane] < 0 ? -1 : lane;
    }
    vectors.push_back(gathered);
  }
  return vectors;
}

void Lowering::updateBox(const TileUpdate &update, ArrayRef<Value> start) {
  const View &dest = update.dest;
  int64_t width = getVectorWidth(dest.elementType), bytes = tile::getStorageBytes(dest.elementType);
  auto type = VectorType::get({width}, getStorageType(dest.elementType));
  SmallVector<Value> operands;
  if (update.scalar) {
    auto carriers = VectorType::get({width}, update.scalar.getType());
    operands.assign(update.box->places.size() / width,
                    vector::BroadcastOp::create(b, carriers, update.scalar));
  } else {
    operands = gatherBox(update, start, width);
  }
  Value corner = addressOf(dest, toSurface(dest, spread(dest, update.pairing.dest, start)));
  for (auto [number, operand] : llvm::enumerate(operands)) {
    Value address =
        offsetPointer(corner, type.getElementType(), index(static_cast<int64_t>(number) * width));
    Value stored = tagged(LLVM::LoadOp::create(b, type, address, bytes), dest.root);
    Value old = numbers.unpack(stored, dest.elementType);
    Value combined = combine(update.kind, dest.elementType, old, operand);
    tagged(LLVM::StoreOp::create(b, numbers.pack(combined, dest.elementType), address, bytes),
           dest.root);
  }
}
