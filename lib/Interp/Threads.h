//===- Threads.h - runs kernels that name their threads, as they were traced ------------------===//
//
// Threads step together, statement by statement: each statement is run by all threads that are
// there before the next one begins (docs/semantics.md, "Programs that name their threads"). Threads
// that are at one position of the program are a *strand*. A branch on which threads disagree, and a
// loop that some of them leave, divides a strand; strands that come to the same position are one
// again. The strand that is first in the text runs, until it waits: at a barrier, or at a tile
// statement for threads that have not come. Then the next one in the text goes on. Loops in which
// roles wait run side by side, iteration by iteration. If all wait, that is a deadlock, an error
// that names the lines of all of them.
//
//        strands                         {0..127}                {128..255}
//   if tx < 128:                         copy
//     copy; arrive(ready); wait(free)    arrive, waits           (not yet)
//   else:                                                        waits? no: arrived
//     wait(ready); gemm; arrive(free)    (goes on)               gemm, arrive
//   store                                together again: both run it as one
//
// This shares no code with the passes of lib/Threads, which find an order of the whole program in
// advance. Options::threadOrder picks another strand than the first at each such point; what then
// depends on the choice is reported by RoleWatch.h.
//
// Each thread has a row of all scalars and views. A step runs with the row of its thread swapped in
// for those of the machine, so that the handlers of ops know nothing of threads.
//
// Radii (Options::bounds): a thread in a branch or loop that rounding may have decided otherwise
// writes undecided values; of the side not taken, a shadow run marks what it would have written. If
// a barrier depends on such a decision, every order of the threads does, and all memory is
// undecided.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_LIB_INTERP_THREADS_H
#define TILEWRIGHT_LIB_INTERP_THREADS_H

#include "Barriers.h"
#include "RoleWatch.h"
#include "ThreadPlan.h"
#include "tilewright/Support/SeededRandom.h"
#include <list>

namespace tilewright::interp {

/// Whether a kernel says what single threads do.
bool namesThreads(tile::KernelOp kernel);

/// Where a strand stands in a body: the step it is at, or the branch or loop it is in.
struct Frame {
  const Body *body;
  const Step *owner = nullptr; ///< The branch or loop; null for the kernel.
  unsigned branch = 0;         ///< Which of its bodies.
  int64_t iteration = 0;
  size_t next = 0;
  std::optional<uint64_t> changes = {}; ///< Of memory, when the last iteration of a `while` began.
};

struct Strand {
  llvm::BitVector threads;
  llvm::SmallVector<Frame, 4> frames;
  Clock clock; ///< Empty unless races between roles are watched.
  /// The changes of barriers up to which its wait was not over.
  std::optional<uint64_t> waitsSince;
};

/// Which of two strands is earlier in the text, or in an earlier iteration: negative, 0 or positive.
int comparePositions(const Strand &a, const Strand &b);

/// `threads 0-31, 64`
std::string describeThreads(const llvm::BitVector &threads);

class ThreadRunner {
public:
  ThreadRunner(Machine &machine, tile::KernelOp kernel, const Body &body);
  ~ThreadRunner();

  /// Runs the steps of the kernel's body from `begin` on up to `end`, for one block.
  void run(llvm::ArrayRef<int64_t> block, size_t begin, size_t end);

  /// Calls `visit` with the row of each thread swapped in.
  void forEachRow(llvm::function_ref<void()> visit);

private:
  struct Row {
    std::vector<Scalar> values;
    std::vector<View> views;
    llvm::DenseMap<mlir::Operation *, Storage *> allocations;
    /// Bounds: the frames around the thread, by their depth, that rounding may have decided.
    llvm::SmallVector<size_t, 1> undecided;
  };

  // Scheduling.
  const Step *getStep(const Strand &strand) const;
  bool isBlocked(Strand &strand);
  bool mustLetPass(Strand &strand);
  /// Whose turn it is before whose, in the order of the text and of iterations.
  int compareTurns(const Strand &a, const Strand &b) const;
  std::pair<size_t, int64_t> getProgress(const Strand &strand, size_t depth) const;
  Strand *pick();
  void mergeInto(Strand &strand);
  void reportDeadlock();
  std::string describeWaiting(Strand &strand, bool isHere);

  // Steps of a strand.
  void advance(Strand &strand);
  void runStep(Strand &strand, const Step &step);
  void runEach(Strand &strand, const Step &step, const Conduct &conduct);
  void runOnce(Strand &strand, const Step &step, const Conduct &conduct);
  void runTogether(Strand &strand, const Step &step, const Conduct &conduct);
  void runAllocation(Strand &strand, const Step &step, const Conduct &conduct);
  void runArrival(Strand &strand, const Step &step);
  void runWait(Strand &strand, const Step &step);
  bool haveSameOperands(const Strand &strand, const Step &step) const;

  // Branches and loops.
  void enter(Strand &strand, const Step &step);
  void leave(Strand &strand);

  // Decisions that rounding may have made.
  /// Whether it made one of the first operands of the step for the thread that is swapped in.
  bool isUndecided(const Step &step, unsigned numOperands);
  void noteUndecided(const Strand &strand, unsigned thread);
  bool isInUndecided(const Strand &strand, unsigned thread) const;
  void markResults(const Step &step);
  void runShadow(unsigned thread, const Body &skipped);
  void markAllMemory();

  void finishBody(Strand &strand);
  void beginIteration(Strand &strand);
  void decideWhile(Strand &strand);
  /// Moves `threads` into a strand of their own, at the same position.
  Strand &split(Strand &strand, const llvm::BitVector &threads);

  void run(const Step &step);
  void swapRow(unsigned thread);
  /// Calls `visit(thread)` with the row of each of these threads swapped in, until one stops the
  /// run.
  template <typename VisitT> void forEachThread(const llvm::BitVector &threads, VisitT &&visit) {
    for (unsigned thread : threads.set_bits()) {
      swapRow(thread);
      visit(thread);
      swapRow(thread);
      if (machine.stopped)
        return;
    }
  }

  Machine &machine;
  const Body &body;
  unsigned numThreads;
  bool isSwapped = false; ///< A row is in the machine.
  bool isOrderUndecided = false;
  std::vector<Row> rows;
  Barriers barriers;
  std::optional<RoleWatch> watch;
  SeededRandom random;
  std::list<Strand> strands;
  /// The threads that have come to an allocation since its memory was last started anew.
  llvm::DenseMap<mlir::Operation *, llvm::BitVector> allocatedFor;
  size_t end = 0;
  std::optional<ThreadPlan> plan;
};

} // namespace tilewright::interp

#endif // TILEWRIGHT_LIB_INTERP_THREADS_H
