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
//     row 0   0 32  1 33  2 34  3 35         the positions of an 8 x 8 box in its 64 elements:
//     row 1   4 36  5 37  6 38  7 39         the even columns of all rows, then the odd ones
//     …
//
// Such a box is updated by vectors of the tensor; the tile's rows are shuffled into their order.
// The rows of a box share a lock, in all updates of the tensor.
//
//===----------------------------------------------------------------------------------------===//

#include "Atomics.h"
#include "Copies.h"
#include "Operands.h"
#include "tilewright/Layout/Contiguity.h"
#include "tilewright/Tile/InternalError.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <numeric>

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

/// Larger boxes would be long straight code.
static constexpr int64_t kMaxBoxElements = 256;

namespace {
/// What an update needs to know, found out before a lock is taken.
struct TileUpdate {
  tile::AtomicKind kind;
  View dest, source; ///< The source has no root if `scalar` is given.
  Value scalar;
  Pairing pairing;
  std::optional<ContiguousBox> box; ///< Of the tensor's layout, whatever this update is like.

  int64_t rowsOfLock() const { return box ? box->rows : 1; }
};
} // namespace

//===----------------------------------------------------------------------------------------===//
// Boxes and locks
//===----------------------------------------------------------------------------------------===//

std::optional<ContiguousBox> tilewright::cpu::findBox(const Root &root, int64_t unit,
                                                      int64_t limit) {
  SmallVector<int64_t> shape;
  for (Value extent : root.extents)
    shape.push_back(getConstantIntValue(extent).value_or(ShapedType::kDynamic));
  if (!root.layout || llvm::is_contained(shape, ShapedType::kDynamic))
    return std::nullopt;
  return contiguousBox(*root.layout, shape, unit, limit);
}

/// The lock of the logical row in which an element lies, as the services take it.
static SmallVector<Value, 2> lockOf(Emitter &e, const TileUpdate &update,
                                    ArrayRef<Value> surfaceIndex) {
  Value row = e.index(0);
  for (size_t dim = 0; dim + 1 < surfaceIndex.size(); ++dim)
    row = e.add(e.mul(row, update.dest.surface[dim]), surfaceIndex[dim]);
  Value group = e.b.createOrFold<arith::DivUIOp>(row, e.index(update.rowsOfLock()));
  return {update.dest.root->pointer, e.toI64(group)};
}

//===----------------------------------------------------------------------------------------===//
// By rows
//===----------------------------------------------------------------------------------------===//

static void updateByRows(Emitter &e, const TileUpdate &update, const Window &window) {
  const View &dest = update.dest;
  ArrayRef<Value> lowers = window.lowers, uppers = window.uppers;
  e.loopNest(lowers.drop_back(), uppers.drop_back(), false, [&](ArrayRef<Value> outer) {
    SmallVector<Value> start(outer);
    start.push_back(e.index(0));
    SmallVector<Value, 2> lock =
        lockOf(e, update, e.buffers.toSurface(dest, spread(e, dest, update.pairing.dest, start)));
    e.services.call(Service::LockRow, lock);
    // Under a layout neighbours lie apart: a vector would be gathered and scattered.
    bool isParallel = !dest.root->layout;
    auto updateOne = [&](ArrayRef<Value> inner) {
      SmallVector<Value> variables(outer);
      variables.push_back(inner[0]);
      SmallVector<Value> target =
          e.buffers.toSurface(dest, spread(e, dest, update.pairing.dest, variables));
      Value operand = update.scalar;
      if (!operand) {
        SmallVector<Value> index = spread(e, update.source, update.pairing.source, variables);
        operand = e.numbers.convert(e.buffers.load(update.source, index), update.source.elementType,
                                    dest.elementType);
      }
      Value old = e.numbers.unpack(e.buffers.loadAt(dest, target), dest.elementType);
      Value combined = combine(e, update.kind, dest.elementType, old, operand);
      e.buffers.storeAt(dest, target, e.numbers.pack(combined, dest.elementType));
    };
    e.loopNestWithoutPolls(lowers.take_back(), uppers.take_back(), isParallel, updateOne);
    e.services.call(Service::UnlockRow, lock);
  });
}

//===----------------------------------------------------------------------------------------===//
// By boxes
//===----------------------------------------------------------------------------------------===//

/// Whether the tile consists of boxes, and its rows can be read by vectors.
static bool canUpdateBoxes(Emitter &e, const TileUpdate &update) {
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
         (update.scalar ||
          e.buffers.isContiguousAlong(update.source, update.pairing.source.back()));
}

/// Whether, in this launch, the tile begins at the corner of a box and no part of it lies outside.
static Value startsAtBox(Emitter &e, const TileUpdate &update, const Window &window) {
  auto areEqual = [&](Value lhs, Value rhs) {
    return e.compare(arith::CmpIPredicate::eq, lhs, rhs);
  };
  auto isMultiple = [&](Value value, int64_t of) {
    return areEqual(e.b.createOrFold<arith::RemUIOp>(value, e.index(of)), e.index(0));
  };
  ArrayRef<Value> bases = update.dest.base;
  Value holds = e.bothTrue(isMultiple(bases.back(), update.box->columns),
                           isMultiple(bases.drop_back().back(), update.box->rows));
  for (auto [lower, upper, extent] :
       llvm::zip_equal(window.lowers, window.uppers, update.pairing.extents))
    holds = e.bothTrue(holds, e.bothTrue(areEqual(lower, e.index(0)), areEqual(upper, extent)));
  return holds;
}

/// The vectors of memory that the tile's elements of a box make, in the order of memory.
static SmallVector<Value> gatherBox(Emitter &e, const TileUpdate &update, ArrayRef<Value> start,
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
    row = e.add(row, e.index(piece / piecesOfRow));
    column = e.add(column, e.index(piece % piecesOfRow * length));
    Value stored =
        e.buffers.loadVector(source, spread(e, source, update.pairing.source, variables), length);
    Value line = e.numbers.convert(e.numbers.unpack(stored, source.elementType), source.elementType,
                                   update.dest.elementType);
    pieces.push_back(vector::ShuffleOp::create(e.b, line, line, padding));
  }
  SmallVector<int64_t> elementAt(box.positions.size());
  for (auto [element, position] : llvm::enumerate(box.positions))
    elementAt[position] = element;
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
      gathered = vector::ShuffleOp::create(e.b, gathered ? gathered : piece, piece, lanes);
      for (int64_t lane = 0; lane < width; ++lane)
        lanes[lane] = lanes[lane] < 0 ? -1 : lane;
    }
    vectors.push_back(gathered);
  }
  return vectors;
}

static void updateBox(Emitter &e, const TileUpdate &update, ArrayRef<Value> start) {
  const View &dest = update.dest;
  int64_t width = e.getVectorWidth(dest.elementType),
          bytes = tile::getStorageBytes(dest.elementType);
  auto type = VectorType::get({width}, getStorageType(dest.elementType));
  SmallVector<Value> operands;
  if (update.scalar) {
    auto carriers = VectorType::get({width}, update.scalar.getType());
    operands.assign(update.box->positions.size() / width,
                    vector::BroadcastOp::create(e.b, carriers, update.scalar));
  } else {
    operands = gatherBox(e, update, start, width);
  }
  Value corner = e.buffers.addressOf(
      dest, e.buffers.toSurface(dest, spread(e, dest, update.pairing.dest, start)));
  for (auto [number, operand] : llvm::enumerate(operands)) {
    Value address = e.offsetPointer(corner, type.getElementType(),
                                    e.index(static_cast<int64_t>(number) * width));
    Value stored = e.buffers.tagged(LLVM::LoadOp::create(e.b, type, address, bytes), dest.root);
    Value old = e.numbers.unpack(stored, dest.elementType);
    Value combined = combine(e, update.kind, dest.elementType, old, operand);
    e.buffers.tagged(
        LLVM::StoreOp::create(e.b, e.numbers.pack(combined, dest.elementType), address, bytes),
        dest.root);
  }
}

static void updateByBoxes(Emitter &e, const TileUpdate &update) {
  const ContiguousBox &box = *update.box;
  size_t numLoops = update.pairing.extents.size();
  SmallVector<Value> counts(update.pairing.extents);
  auto divide = [&](Value &count, int64_t by) {
    count = e.index(*getConstantIntValue(count) / by);
  };
  divide(counts[numLoops - 1], box.columns);
  divide(counts[numLoops - 2], box.rows);
  e.loopNest(ArrayRef(counts).drop_back(), /*isParallel=*/false, [&](ArrayRef<Value> outer) {
    SmallVector<Value> start(outer);
    start.back() = e.mul(start.back(), e.index(box.rows));
    start.push_back(e.index(0));
    SmallVector<Value, 2> lock = lockOf(
        e, update,
        e.buffers.toSurface(update.dest, spread(e, update.dest, update.pairing.dest, start)));
    e.services.call(Service::LockRow, lock);
    e.loopNestWithoutPolls({e.index(0)}, {counts.back()}, /*isParallel=*/false,
                           [&](ArrayRef<Value> inner) {
                             start.back() = e.mul(inner[0], e.index(box.columns));
                             updateBox(e, update, start);
                           });
    e.services.call(Service::UnlockRow, lock);
  });
}

//===----------------------------------------------------------------------------------------===//
// The statement
//===----------------------------------------------------------------------------------------===//

void tilewright::cpu::updateRows(tile::AtomicOp op, Emitter &e) {
  TileUpdate update;
  update.kind = op.getKind();
  View &dest = update.dest = e.buffers.getView(op.getDest());
  Pairing &pairing = update.pairing;
  if (auto sourceType = dyn_cast<MemRefType>(op.getValue().getType())) {
    // What may fail (an access outside a tile) happens before the lock is taken.
    View &source = update.source = e.buffers.getView(op.getValue());
    if (!e.buffers.isWhole(source))
      source = convertMatrix(e, source, sourceType, source.elementType);
    pairing = pairDimensions(e, source, sourceType, dest, cast<MemRefType>(op.getDest().getType()));
  } else {
    update.scalar = e.lookup(op.getValue());
    pairing.extents.assign(dest.extents.begin(), dest.extents.end());
    pairing.dest = llvm::to_vector(llvm::seq<unsigned>(0, dest.getRank()));
  }
  update.box = findBox(*dest.root, e.getVectorWidth(dest.elementType), kMaxBoxElements);
  std::optional<Window> window = e.buffers.windowOf(dest, pairing.dest, pairing.extents);
  if (!window) {
    emitInternalError(op) << "rows of '" << dest.root->name << "' have no bounds";
    e.program.hasFailed = true;
    return;
  }
  e.ifTrue(window->condition, [&] {
    if (!canUpdateBoxes(e, update))
      return updateByRows(e, update, *window);
    auto branch = scf::IfOp::create(e.b, startsAtBox(e, update, *window), /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToStart(branch.thenBlock());
    updateByBoxes(e, update);
    e.b.setInsertionPointToStart(branch.elseBlock());
    updateByRows(e, update, *window);
  });
}
