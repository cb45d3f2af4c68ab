//===- SplitArrays.cpp - an array of threads that roles share only by name --------------------===//
//
// An array in the `local` space is each thread's own, so that what one thread writes into it no
// other sees. Where roles use one array, each for itself, every role can have an array:
//
//   row = T.alloc_local((1,))              row0, row1 = ...
//   if tx < 128:                           if tx < 128:
//     row[0] = start[bx]; ... row[0]  ──▶    row0[0] = start[bx]; ... row0[0]
//   else:                                  else:
//     row[0] = end[bx]; ... row[0]           row1[0] = end[bx]; ... row1[0]
//
// One array would hold different values in different threads, and no tile statement of a role
// could use it. An array for each role may be the same for all threads that come to it. What all
// threads store, such as the first value of a variable, is stored into each.
//
//===----------------------------------------------------------------------------------------===//

#include "SplitArrays.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

namespace {
/// Uses of an array by threads that no other use has.
struct Group {
  llvm::BitVector threads;
  SmallVector<OpOperand *> uses;
};
} // namespace

/// The threads that may come to an op, or to one that uses a view that it makes.
static llvm::BitVector findUsingThreads(Operation *op, const threads::ThreadFacts &facts) {
  llvm::BitVector threads = facts.threadsAtMost(op);
  if (isa<ViewLikeOpInterface>(op))
    for (Operation *user : op->getUsers())
      threads |= findUsingThreads(user, facts);
  return threads;
}

/// Whether an op is a store that all threads come to.
static bool isStoreOfAll(Operation *op, const threads::ThreadFacts &facts) {
  return isa<StoreOp>(op) && facts.threadsAt(op) && facts.threadsAt(op)->all();
}

/// The uses of an array, those together that one thread may come to; not the stores of all.
static SmallVector<Group> groupUses(AllocOp alloc, const threads::ThreadFacts &facts) {
  SmallVector<Group> groups;
  for (OpOperand &use : alloc.getBuffer().getUses()) {
    if (isStoreOfAll(use.getOwner(), facts))
      continue;
    Group merged{findUsingThreads(use.getOwner(), facts), {&use}};
    SmallVector<Group> others;
    for (Group &group : groups) {
      if (!group.threads.anyCommon(merged.threads)) {
        others.push_back(std::move(group));
        continue;
      }
      merged.threads |= group.threads;
      merged.uses.append(group.uses);
    }
    others.push_back(std::move(merged));
    groups = std::move(others);
  }
  return groups;
}

bool tilewright::threads::splitArrays(KernelOp kernel, const ThreadFacts &facts) {
  SmallVector<AllocOp> arrays;
  kernel.walk([&](AllocOp alloc) {
    if (getSpace(alloc.getBuffer()) == Space::Local && facts.isPrivate(alloc.getBuffer()))
      arrays.push_back(alloc);
  });
  bool isSplit = false;
  for (AllocOp alloc : arrays) {
    SmallVector<Group> groups = groupUses(alloc, facts);
    if (groups.empty()) // only stores of all threads
      continue;
    SmallVector<Operation *> stores = llvm::filter_to_vector(
        alloc.getBuffer().getUsers(), [&](Operation *user) { return isStoreOfAll(user, facts); });
    for (Group &group : llvm::drop_begin(groups)) {
      OpBuilder b(alloc);
      auto own = cast<AllocOp>(b.clone(*alloc));
      for (OpOperand *use : group.uses)
        use->set(own.getBuffer());
      for (Operation *store : stores) {
        b.setInsertionPointAfter(store);
        cast<StoreOp>(b.clone(*store)).getBufferMutable().set(own.getBuffer());
      }
      isSplit = true;
    }
  }
  return isSplit;
}
