//===- ThreadStorage.cpp - where the memory of single threads lives --------------------------===//

#include "ThreadStorage.h"

#include "tilewright/Tile/Teams.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::threads {

FragmentAttr ThreadStorage::makeLayout(ArrayRef<int64_t> row) {
  SmallVector<int64_t> shape{getNumThreads(holder)};
  shape.append(row.begin(), row.end());
  IndexExpr slot = IndexExpr::constant(0);
  for (auto [dim, extent] : llvm::enumerate(row))
    slot = slot * IndexExpr::constant(extent) + IndexExpr::dim(dim + 1);
  return FragmentAttr::get(kernel.getContext(), Fragment::get(shape, IndexExpr::dim(0), slot));
}

Value ThreadStorage::coordinate(ImplicitLocOpBuilder &b, Value thread, int64_t dim) {
  ArrayRef<int64_t> threads = kernel.getThreads();
  int64_t below = 1;
  for (int64_t extent : threads.take_front(dim))
    below *= extent;
  Value result = thread;
  if (int64_t first = getTeam(holder).first)
    result = arith::AddIOp::create(b, result, arith::ConstantIndexOp::create(b, first));
  if (below != 1)
    result = FloorDivOp::create(b, result, arith::ConstantIndexOp::create(b, below), UnitAttr());
  if (dim + 1 < int64_t(threads.size()))
    result =
        FloorModOp::create(b, result, arith::ConstantIndexOp::create(b, threads[dim]), UnitAttr());
  return result;
}

//===----------------------------------------------------------------------------------------===//
// Tiles with a row for each thread
//===----------------------------------------------------------------------------------------===//

Value ThreadStorage::alloc(Location loc, StringRef name, ArrayRef<int64_t> row, Type elementType,
                           bool inRegisters) {
  ImplicitLocOpBuilder b(loc, kernel.getContext());
  b.setInsertionPointToStart(&holder->getRegion(0).front());
  SmallVector<int64_t> shape{getNumThreads(holder)};
  shape.append(row.begin(), row.end());
  MemRefType type =
      makeBufferType(shape, elementType, inRegisters ? Space::Fragment : Space::Shared);
  Value tile = AllocOp::create(b, type, b.getStringAttr(name), ValueRange(), ReduceKindAttr());
  if (inRegisters)
    AnnotateLayoutOp::create(b, tile, makeLayout(row));
  return tile;
}

/// What a tile holds for scalars of this type: an index value has 64 bits in memory.
static Type getStoredType(Type type) {
  return type.isIndex() ? IntegerType::get(type.getContext(), 64) : type;
}

/// Whether a value is a number once loops of constant bounds are unrolled, and how many times they
/// run together.
static bool isKnownUnrolled(Value index, int64_t &trips) {
  if (getConstantIntValue(index))
    return true;
  if (auto argument = dyn_cast<BlockArgument>(index)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (!loop || argument != loop.getInductionVar())
      return false;
    std::optional<int64_t> lower = getConstantIntValue(loop.getLowerBound()),
                           upper = getConstantIntValue(loop.getUpperBound()),
                           step = getConstantIntValue(loop.getStep());
    if (!lower || !upper || !step)
      return false;
    trips *= std::max<int64_t>(1, llvm::divideCeilSigned(*upper - *lower, *step));
    return true;
  }
  Operation *op = index.getDefiningOp();
  return isPureScalar(op) && op->getNumRegions() == 0 &&
         llvm::all_of(op->getOperands(), [&](Value v) { return isKnownUnrolled(v, trips); });
}

/// Beyond this, unrolling a thread's loops costs more than shared memory does.
static constexpr int64_t kMostUnrolled = 4096;

static bool canLiveInRegisters(Value root) {
  return llvm::all_of(root.getUsers(), [](Operation *user) {
    ValueRange indices;
    if (auto load = dyn_cast<LoadOp>(user))
      indices = load.getIndices();
    else if (auto store = dyn_cast<StoreOp>(user))
      indices = store.getIndices();
    else
      return false;
    int64_t trips = 1;
    return llvm::all_of(indices, [&](Value index) { return isKnownUnrolled(index, trips); }) &&
           trips <= kMostUnrolled;
  });
}

Value ThreadStorage::tileOf(Value root) {
  Value &tile = tiles[root];
  if (!tile) {
    auto type = cast<MemRefType>(root.getType());
    tile = alloc(root.getLoc(), getName(root), type.getShape(),
                 getStoredType(type.getElementType()), canLiveInRegisters(root));
  }
  return tile;
}

SmallVector<Value> ThreadStorage::replacePrivateAccesses(Operation *op, Value thread) {
  SmallVector<Value> results(op->result_begin(), op->result_end());
  SmallVector<Operation *> accesses;
  op->walk([&](Operation *inner) {
    if (isa<LoadOp, StoreOp>(inner))
      accesses.push_back(inner);
  });
  auto withThread = [&](ValueRange indices) {
    SmallVector<Value> all{thread};
    all.append(indices.begin(), indices.end());
    return all;
  };
  for (Operation *access : accesses) {
    ImplicitLocOpBuilder b(access->getLoc(), access);
    if (auto load = dyn_cast<LoadOp>(access); load && facts.isPrivateRoot(load.getBuffer())) {
      Type type = load.getType();
      Value value = LoadOp::create(b, getStoredType(type), tileOf(load.getBuffer()),
                                   withThread(load.getIndices()));
      if (type.isIndex())
        value = arith::IndexCastOp::create(b, type, value);
      load.replaceAllUsesWith(value);
      if (access == op)
        results = {value};
      load.erase();
    } else if (auto store = dyn_cast<StoreOp>(access);
               store && facts.isPrivateRoot(store.getBuffer())) {
      Value value = store.getValue();
      if (value.getType().isIndex())
        value = arith::IndexCastOp::create(b, b.getI64Type(), value);
      StoreOp::create(b, value, tileOf(store.getBuffer()), withThread(store.getIndices()));
      store.erase();
    }
  }
  return results;
}

//===----------------------------------------------------------------------------------------===//
// Values that one loop over the threads hands to another
//===----------------------------------------------------------------------------------------===//

Value ThreadStorage::allocSlot(Value value) {
  return alloc(value.getLoc(), "value", {}, getStoredType(value.getType()), /*inRegisters=*/true);
}

void ThreadStorage::storeSlot(ImplicitLocOpBuilder &b, Value value, Value slot, Value thread) {
  if (value.getType().isIndex())
    value = arith::IndexCastOp::create(b, b.getI64Type(), value);
  StoreOp::create(b, value, slot, thread);
}

Value ThreadStorage::loadSlot(ImplicitLocOpBuilder &b, Type type, Value slot, Value thread) {
  Value value = LoadOp::create(b, getStoredType(type), slot, thread);
  return type.isIndex() ? Value(arith::IndexCastOp::create(b, type, value)) : value;
}

} // namespace tilewright::threads
