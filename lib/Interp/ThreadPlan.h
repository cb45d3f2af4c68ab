//===- ThreadPlan.h - how the threads of a block run each statement ---------------------------===//

#ifndef TILEWRIGHT_LIB_INTERP_THREADPLAN_H
#define TILEWRIGHT_LIB_INTERP_THREADPLAN_H

#include "ThreadValues.h"

namespace tilewright::interp {

/// How the threads that come to a statement together run it.
enum class Manner : uint8_t {
  Skip,     ///< An annotation.
  Each,     ///< By each thread; once where all of them have the same operands.
  Own,      ///< By each thread, however equal.
  Once,     ///< Once.
  Together, ///< Once, when all threads that can come have come: a tile statement.
  Allocate, ///< A tile of the block: anew for those who come first.
  Walk,     ///< A branch or loop, statement by statement.
  Wait,     ///< At a barrier.
  Arrive    ///< At a barrier, each thread.
};

struct Conduct {
  Manner manner = Manner::Each;
  bool touchesMemory = false; ///< Others can see whether it has run.
  bool mayMeet = false;       ///< Threads that run it may touch the same element.
  bool isWaitLoop = false;    ///< A loop in which threads wait at barriers.
  /// Branches on the thread index that stand next to each other are the roles of one group, if one
  /// of them holds a wait; this is its number, 0 elsewhere.
  unsigned roleGroup = 0;
  llvm::BitVector threads;           ///< Those that can come.
  llvm::SmallVector<Slot, 1> views;  ///< Results that are buffers,
  llvm::SmallVector<Slot, 1> values; ///< and that are scalars.
  /// Of a tile statement: memory of single threads that it writes, for all of them.
  llvm::SmallVector<Slot, 1> ownWritten;
};

class ThreadPlan {
public:
  ThreadPlan(Machine &machine, tile::KernelOp kernel, const Body &body);

  const Conduct &at(const Step &step) const { return conducts.at(&step); }

private:
  Manner choose(const Step &step) const;
  void groupRoles(const Body &body, unsigned &numGroups);
  bool isQuiet(mlir::Operation *op) const;

  BranchThreads branches;
  ThreadValues values;
  llvm::DenseMap<const Step *, Conduct> conducts;
};

/// Whether each thread has a copy of this memory: local arrays and variables.
bool isOfThread(tile::AllocOp alloc, const ThreadValues &values);

} // namespace tilewright::interp

#endif // TILEWRIGHT_LIB_INTERP_THREADPLAN_H
