//===- IterationArrays.cpp - arrays that each iteration of T.Parallel has for itself ---------===//
//
// A `T.alloc_local` belongs to a thread. In a `T.Parallel` no program says which thread runs an
// iteration, so that one that is used in a single loop only can mean just this: each iteration has
// one for itself.
//
//   %a = tile.alloc "a" : 8 x f32, local         %a = tile.alloc "a" : 64x8 x f32, fragment
//   tile.parallel (%i) in (64) {           ──▶   tile.parallel (%i) in (64) {
//     tile.store %x, %a[%k]                        tile.store %x, %a[%i, %k]
//
//===----------------------------------------------------------------------------------------===//

#include "IterationArrays.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::frontend {

/// The outermost loop of independent iterations around an operation.
static ParallelOp findOutermostLoop(Operation *op) {
  ParallelOp found;
  for (auto loop = op->getParentOfType<ParallelOp>(); loop;
       loop = loop->getParentOfType<ParallelOp>())
    found = loop;
  return found;
}

/// The one loop in which all elements of an array are read and written; null if there is none, or
/// if its rows cannot be counted.
static ParallelOp findOnlyLoop(Value array) {
  ParallelOp found;
  for (Operation *user : array.getUsers()) {
    if (!isa<LoadOp, StoreOp>(user))
      return {};
    ParallelOp loop = findOutermostLoop(user);
    if (!loop || (found && found != loop))
      return {};
    found = loop;
  }
  if (found && llvm::any_of(found.getStaticExtents(), ShapedType::isDynamic))
    return {};
  return found;
}

static void placeRows(AllocOp alloc, ParallelOp loop) {
  ImplicitLocOpBuilder b(alloc.getLoc(), loop);
  MemRefType type = alloc.getBuffer().getType();
  SmallVector<int64_t> shape(loop.getStaticExtents());
  llvm::append_range(shape, type.getShape());
  MemRefType rows = makeBufferType(shape, type.getElementType(), Space::Fragment);
  Value tile =
      AllocOp::create(b, rows, alloc.getNameAttr(), ValueRange(), ReduceKindAttr()).getBuffer();
  auto ofIteration = [&](ValueRange indices) {
    SmallVector<Value> all(loop.getBody().getArguments());
    llvm::append_range(all, indices);
    return all;
  };
  for (Operation *user : llvm::make_early_inc_range(alloc.getBuffer().getUsers())) {
    b.setInsertionPoint(user);
    b.setLoc(user->getLoc());
    if (auto load = dyn_cast<LoadOp>(user))
      load.replaceAllUsesWith(
          LoadOp::create(b, load.getType(), tile, ofIteration(load.getIndices())).getValue());
    else
      StoreOp::create(b, cast<StoreOp>(user).getValue(), tile,
                      ofIteration(cast<StoreOp>(user).getIndices()));
    user->erase();
  }
  alloc.erase();
}

void placeIterationArrays(KernelOp kernel) {
  SmallVector<AllocOp> arrays;
  kernel.walk([&](AllocOp alloc) {
    if (getSpace(alloc.getBuffer()) == Space::Local && alloc.getBuffer().getType().getRank() > 0)
      arrays.push_back(alloc);
  });
  for (AllocOp alloc : arrays)
    if (ParallelOp loop = findOnlyLoop(alloc.getBuffer()))
      placeRows(alloc, loop);
}

} // namespace tilewright::frontend
