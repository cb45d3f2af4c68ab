//===- LowerParallel.cpp - loops of independent iterations ------------------------------------===//
//
// T.Parallel becomes a loop nest whose innermost loop is marked: its accesses carry an access group
// that the loop names, which tells LLVM's vectoriser that iterations do not depend on each other.
// A loop whose iterations meet (in an atomic update of a tile, a tile of their own), or in which
// the order of a single iteration's accesses matters to the vectoriser, is left unmarked.
//
// Rows that carry sums, that stream a tensor larger than the caches, that evaluate functions or compare
// indices, or that have a long body are vectorised here instead of by LLVM: Rows.h.
//
//===----------------------------------------------------------------------------------------===//

#include "Lowerings.h"
#include "Polls.h"
#include "Rows.h"
#include "tilewright/Tile/CpuPlan.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

//===----------------------------------------------------------------------------------------===//
// What iterations share
//===----------------------------------------------------------------------------------------===//

/// The updates of reducers whose element is the same for all iterations of the innermost loop, and
/// which nothing else in the loop touches. Empty unless that holds for all updates.
static SmallVector<tile::ReducerUpdateOp> findCarriedUpdates(tile::ParallelOp op) {
  SmallVector<tile::ReducerUpdateOp> updates;
  llvm::DenseMap<Value, unsigned> numAccesses;
  op.walk([&](Operation *nested) {
    if (auto update = dyn_cast<tile::ReducerUpdateOp>(nested))
      updates.push_back(update);
    for (Value operand : nested->getOperands())
      if (tile::isBufferType(operand.getType()))
        ++numAccesses[tile::getRoot(operand)];
  });
  Value last = op.getIterators().back();
  auto isKnownOutside = [&](Value index) {
    return getConstantIntValue(index) ||
           (index != last && (llvm::is_contained(op.getIterators(), index) ||
                              index.getParentRegion()->isProperAncestor(&op.getBody())));
  };
  bool areCarried = llvm::all_of(updates, [&](tile::ReducerUpdateOp update) {
    Type element = update.getBuffer().getType().getElementType();
    return update->getParentRegion() == &op.getBody() && isa<Float32Type, Float64Type>(element) &&
           numAccesses[tile::getRoot(update.getBuffer())] == 1 &&
           update.getBuffer().getParentRegion() != &op.getBody() &&
           llvm::all_of(update.getIndices(), isKnownOutside);
  });
  return areCarried ? updates : SmallVector<tile::ReducerUpdateOp>();
}

/// Whether no iteration touches memory that another one writes, but for the updates that are
/// `carried`. True by the meaning of T.Parallel, except where iterations combine into one element,
/// or where our own temporaries are shared.
static bool hasIndependentAccesses(tile::ParallelOp op, ArrayRef<tile::ReducerUpdateOp> carried) {
  return !op.walk([&](Operation *nested) {
              bool carries = isa<tile::AtomicOp, tile::AtomicElementOp, tile::CopyOp, tile::FillOp,
                                 tile::GemmOp, tile::ReduceOp, tile::CumsumOp, tile::Im2colOp,
                                 tile::FinalizeReducerOp, tile::PrintOp>(nested);
              if (isa<tile::ReducerUpdateOp>(nested))
                carries = carried.empty();
              if (auto alloc = dyn_cast<tile::AllocOp>(nested))
                carries = alloc.getBuffer().getType().getRank() > 0;
              return carries ? WalkResult::interrupt() : WalkResult::advance();
            }).wasInterrupted();
}

/// Whether the elements that an access touches in one iteration of the innermost loop after another
/// are neighbours in a tile.
static bool isConsecutive(Value buffer, ValueRange indices, Value innermost) {
  bool isPlaced = llvm::any_of(buffer.getUsers(), llvm::IsaPred<tile::AnnotateLayoutOp>);
  if (isPlaced || buffer != tile::getRoot(buffer))
    return false;
  auto factor = [&](Value index) -> int64_t {
    for (auto [value, factor] : tile::IndexSum::get(index).terms)
      if (value == innermost)
        return factor;
    return 0;
  };
  return factor(indices.back()) == 1 &&
         llvm::all_of(indices.drop_back(), [&](Value index) { return factor(index) == 0; });
}

/// Whether an iteration writes an element that it touches again, or may. LLVM's vectoriser gathers
/// accesses a few elements apart, `mine[i, 0]` and `mine[i, 1]`, into one wide access, and takes
/// the marks of a parallel loop to mean that this may pass any other access, one of the same
/// iteration included (InterleavedAccessInfo reads dependences that LoopAccessInfo has not
/// computed). Accesses of consecutive elements are not gathered.
static bool hasOrderInside(tile::ParallelOp op) {
  struct Accesses {
    bool isStored = false, isTouchedAfterStore = false, areConsecutive = true;
  };
  llvm::SmallDenseMap<Value, Accesses> roots;
  auto note = [&](Operation *access, Value buffer, ValueRange indices) {
    if (indices.empty())
      return; // a variable
    Accesses &seen = roots[tile::getRoot(buffer)];
    auto loop = access->getParentOfType<LoopLikeOpInterface>();
    bool isRepeated = loop && op->isProperAncestor(loop);
    bool isStore = isa<tile::StoreOp>(access);
    seen.isTouchedAfterStore |= seen.isStored || (isStore && isRepeated);
    seen.isStored |= isStore;
    seen.areConsecutive &= isConsecutive(buffer, indices, op.getIterators().back());
  };
  op.walk([&](Operation *nested) {
    if (auto load = dyn_cast<tile::LoadOp>(nested))
      note(nested, load.getBuffer(), load.getIndices());
    else if (auto store = dyn_cast<tile::StoreOp>(nested))
      note(nested, store.getBuffer(), store.getIndices());
  });
  return llvm::any_of(roots, [](const auto &entry) {
    return entry.second.isTouchedAfterStore && !entry.second.areConsecutive;
  });
}

//===----------------------------------------------------------------------------------------===//
// The loop nest
//===----------------------------------------------------------------------------------------===//

/// LLVM's vectoriser takes time that grows with the square of a body.
static constexpr int64_t kLongBody = 256;

static bool isLong(tile::ParallelOp op) {
  int64_t count = 0;
  op.getBody().walk([&](Operation *) { ++count; });
  return count > kLongBody;
}

/// Whether an iteration has what LLVM's vectoriser makes slow code of. A function is a long chain of
/// operations, each of which waits for the one before: LLVM writes one chain after the other, and a core
/// does not look so far ahead that it begins with the next one in time. Indices are compared as 64-bit
/// integers, twice as wide as elements.
static bool isBetterDoneHere(tile::ParallelOp op) {
  return llvm::any_of(op.getBody().front(), [](Operation &nested) {
    auto compare = dyn_cast<arith::CmpIOp>(nested);
    return isa<math::Exp2Op, math::ExpOp, math::LogOp, math::Log2Op, math::TanhOp>(nested) ||
           (compare && compare.getLhs().getType().isIndex());
  });
}

static void lowerIteration(tile::ParallelOp op, ArrayRef<Value> variables, Emitter &e) {
  for (auto [old, now] : llvm::zip_equal(op.getIterators(), variables))
    e.define(old, now);
  lowerRegion(op.getBody(), e);
}

void tilewright::cpu::lowerParallel(tile::ParallelOp op, Emitter &e) {
  SmallVector<Value> extents;
  for (OpFoldResult extent : op.getMixedExtents())
    extents.push_back(e.asIndex(extent));
  SmallVector<tile::ReducerUpdateOp> carried = findCarriedUpdates(op);
  bool isIndependent = e.options.calls.disjointArguments && hasIndependentAccesses(op, carried) &&
                       !hasOrderInside(op);
  SmallVector<Value> lowers(extents.size(), e.index(0));
  int64_t bodyCount = countIterations(op.getBody());
  bool isByRows = isIndependent && !e.getPollInterval(lowers, extents, bodyCount) &&
                  (!carried.empty() || op->hasAttr(tile::kStreamsRowsAttr) || isLong(op) ||
                   isBetterDoneHere(op));
  if (!isByRows)
    return e.loopNest(
        lowers, extents, isIndependent && carried.empty(),
        [&](ArrayRef<Value> variables) { lowerIteration(op, variables, e); }, bodyCount);
  e.loopNest(ArrayRef(extents).drop_back(), /*isParallel=*/false,
             [&](ArrayRef<Value> outer) { lowerRow(op, outer, extents.back(), carried, e); });
}
