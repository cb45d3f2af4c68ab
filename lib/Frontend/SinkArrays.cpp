//===- SinkArrays.cpp - arrays that each iteration of T.Parallel has for itself --------------===//
//
// A `T.alloc_local` belongs to a thread. In a `T.Parallel` no program says which thread runs an
// iteration, so an array that is used in a single such loop can only mean that each iteration has
// one for itself. Its allocation says so by where it stands:
//
//   %a = tile.alloc "a" : 8 x f32, local         tile.parallel (%i) in (64) {
//   tile.parallel (%i) in (64) {           ──▶     %a = tile.alloc "a" : 8 x f32, local
//     tile.store %x, %a[%k]                        tile.store %x, %a[%k]
//
//===----------------------------------------------------------------------------------------===//

#include "SinkArrays.h"

#include "tilewright/Tile/Tile.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::frontend {

/// The innermost loop of independent iterations in which all elements of an array are read and
/// written; null if there is none.
static ParallelOp findLoop(AllocOp alloc) {
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
  return loop && !loop->isProperAncestor(alloc) ? loop : ParallelOp();
}

void sinkArrays(func::FuncOp function) {
  function.walk([](AllocOp alloc) {
    if (getSpace(alloc.getBuffer()) == Space::Local && alloc.getBuffer().getType().getRank() > 0)
      if (ParallelOp loop = findLoop(alloc))
        alloc->moveBefore(&loop.getBody().front(), loop.getBody().front().begin());
  });
}

} // namespace tilewright::frontend
