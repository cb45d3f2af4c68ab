//===- PlaceIterationArrays.cpp - arrays of iterations are rows of a tile --------------------===//
//
// A `T.alloc_local` belongs to a thread. In a `T.Parallel` no program says which thread runs an
// iteration, so an array that is allocated in such a loop, or whose elements are used in a single
// one only, is one for each iteration. All of them together are a fragment with a row for each
// iteration, so that no later pass needs to know of arrays of iterations:
//
//   %a = tile.alloc "a" : 8 x f32, local         %a = tile.alloc "a" : 64 x 8 x f32, fragment
//   tile.parallel (%i) in (64) {           ──▶   tile.parallel (%i) in (64) {
//     tile.store %x, %a[%k]                        tile.store %x, %a[%i, %k]
//
//===----------------------------------------------------------------------------------------===//

#include "ThreadFacts.h"
#include "tilewright/Threads/Passes.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tilewright {
#define GEN_PASS_DEF_PLACEITERATIONARRAYS
#include "tilewright/Threads/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::threads {

/// The innermost loop of independent iterations in which all elements of an array are read and
/// written; null if there is none.
static ParallelOp findLoopOfUses(AllocOp alloc) {
  ParallelOp loop;
  for (Operation *user : alloc.getBuffer().getUsers()) {
    if (!isa<LoadOp, StoreOp>(user))
      return {};
    if (!loop)
      loop = user->getParentOfType<ParallelOp>();
    while (loop && !loop->isProperAncestor(user))
      loop = loop->getParentOfType<ParallelOp>();
    if (!loop)
      return {};
  }
  return loop;
}

/// The loops of independent iterations whose iterations have an array, the outermost first.
static SmallVector<ParallelOp> getLoops(AllocOp alloc) {
  SmallVector<ParallelOp> loops;
  ParallelOp innermost = findLoopOfUses(alloc);
  if (!innermost)
    innermost = alloc->getParentOfType<ParallelOp>();
  for (ParallelOp loop = innermost; loop; loop = loop->getParentOfType<ParallelOp>())
    loops.push_back(loop);
  return llvm::to_vector(llvm::reverse(loops));
}

/// Lets an access of the array be one of the row of its iteration.
static void replaceAccess(Operation *access, Value tile, ArrayRef<Value> iteration) {
  ImplicitLocOpBuilder b(access->getLoc(), access);
  auto indicesOf = [&](ValueRange indices) {
    SmallVector<Value> all(iteration);
    llvm::append_range(all, indices);
    return all;
  };
  if (auto load = dyn_cast<LoadOp>(access))
    load.replaceAllUsesWith(
        LoadOp::create(b, load.getType(), tile, indicesOf(load.getIndices())).getValue());
  else
    StoreOp::create(b, cast<StoreOp>(access).getValue(), tile,
                    indicesOf(cast<StoreOp>(access).getIndices()));
  access->erase();
}

static LogicalResult place(AllocOp alloc, ArrayRef<ParallelOp> loops) {
  for (Operation *user : alloc.getBuffer().getUsers())
    if (!isa<LoadOp, StoreOp>(user))
      return user->emitError("'")
             << alloc.getName()
             << "' belongs to an iteration of 'T.Parallel' and is used element by element only; "
                "write a loop over its elements";
  SmallVector<int64_t> shape;
  SmallVector<Value> iteration;
  for (ParallelOp loop : loops) {
    llvm::append_range(shape, loop.getStaticExtents());
    llvm::append_range(iteration, loop.getBody().getArguments());
  }
  if (llvm::any_of(shape, ShapedType::isDynamic))
    return alloc.emitError("'T.alloc_local' in a 'T.Parallel' of a run-time extent: each iteration "
                           "has an array of its own, and there must be a constant number of them; "
                           "give the loop constant extents, or use T.alloc_var");
  MemRefType type = alloc.getBuffer().getType();
  llvm::append_range(shape, type.getShape());
  ImplicitLocOpBuilder b(alloc.getLoc(), loops.front());
  MemRefType rows = makeBufferType(shape, type.getElementType(), Space::Fragment);
  Value tile =
      AllocOp::create(b, rows, alloc.getNameAttr(), ValueRange(), ReduceKindAttr()).getBuffer();
  for (Operation *user : llvm::make_early_inc_range(alloc.getBuffer().getUsers()))
    replaceAccess(user, tile, iteration);
  alloc.erase();
  return success();
}

namespace {
struct PlaceIterationArraysPass
    : tilewright::impl::PlaceIterationArraysBase<PlaceIterationArraysPass> {
  void runOnOperation() override {
    SmallVector<AllocOp> arrays;
    getOperation().walk([&](AllocOp alloc) {
      if (isArrayOfThreads(alloc))
        arrays.push_back(alloc);
    });
    for (AllocOp alloc : arrays)
      if (SmallVector<ParallelOp> loops = getLoops(alloc); !loops.empty())
        if (failed(place(alloc, loops)))
          return signalPassFailure();
  }
};
} // namespace

} // namespace tilewright::threads
