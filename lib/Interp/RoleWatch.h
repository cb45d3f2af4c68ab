//===- RoleWatch.h - accesses of two roles that no barrier orders -----------------------------===//
//
// Threads that run statements together (a strand, Threads.h) have one clock. Its entry for thread
// `t` says up to which statement of the strand that `t` stands for all is known to have happened. A
// strand is stood for by its first thread. Strands that meet, and a wait after an arrival, join
// clocks. So an access at time `c` of the strand of `t` happened before what a strand does now
// exactly if the clock of that strand has at least `c` for `t`.
//
// The teams of a scheduled kernel (Scheduled.h) have two clocks: what all their threads know of
// memory, and what any of them knows, which counts for registers.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_LIB_INTERP_ROLEWATCH_H
#define TILEWRIGHT_LIB_INTERP_ROLEWATCH_H

#include "Barriers.h"

namespace tilewright::interp {

/// Makes `clock` know all that `other` knows.
void join(Clock &clock, const Clock &other);

inline uint32_t getTime(const Clock &clock, unsigned actor) {
  return actor < clock.size() ? clock[actor] : 0;
}

class RoleWatch {
public:
  /// A statement of the strand with this clock begins, whose first thread is `first`.
  void begin(const Clock &clock, unsigned first) { begin({clock, clock, first, first}); }
  /// The clock of the strand that runs.
  const Clock &getClock() const { return *now->memory; }
  /// A new block begins: nothing was touched.
  void reset() { records.clear(); }

  /// Who touches memory now.
  struct Toucher {
    Toucher(const Clock &memory, const Clock &registers, unsigned actor, unsigned globalActor)
        : memory(&memory), registers(&registers), actor(actor), globalActor(globalActor) {}
    const Clock *memory, *registers;
    unsigned actor;
    /// The actor of accesses to global memory: the part of a statement that may end later.
    unsigned globalActor;
  };
  void begin(const Toucher &toucher) { now = toucher; }

  /// How reports name an actor, if not by its thread.
  std::function<std::string(unsigned)> describeActor;

  /// Reports the access if another strand touched the element and nothing orders the two.
  void touch(Machine &machine, const Step &step, const View &view, int64_t element, Access access);

private:
  struct Touch {
    unsigned actor;
    uint32_t time;
    mlir::Operation *op;
    Access access;
  };

  llvm::DenseMap<std::pair<const Storage *, int64_t>, llvm::SmallVector<Touch, 2>> records;
  std::string describe(unsigned actor) const;

  std::optional<Toucher> now;
};

} // namespace tilewright::interp

#endif // TILEWRIGHT_LIB_INTERP_ROLEWATCH_H
