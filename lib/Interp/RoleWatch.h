//===- RoleWatch.h - accesses of two roles that no barrier orders -----------------------------===//
//
// Threads that run statements together (a strand, Threads.h) have one clock. Its entry for thread
// `t` says up to which statement of the strand that `t` stands for all is known to have happened. A
// strand is stood for by its first thread. Strands that meet, and a wait after an arrival, join
// clocks. So an access at time `c` of the strand of `t` happened before what a strand does now
// exactly if the clock of that strand has at least `c` for `t`.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_LIB_INTERP_ROLEWATCH_H
#define TILEWRIGHT_LIB_INTERP_ROLEWATCH_H

#include "Barriers.h"

namespace tilewright::interp {

/// Makes `clock` know all that `other` knows.
void join(Clock &clock, const Clock &other);

class RoleWatch {
public:
  /// A statement of the strand with this clock begins, whose first thread is `first`.
  void begin(const Clock &clock, unsigned first) {
    now = &clock;
    actor = first;
  }
  /// The clock of the strand that runs.
  const Clock &getClock() const { return *now; }
  /// A new block begins: nothing was touched.
  void reset() { records.clear(); }

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
  const Clock *now = nullptr;
  unsigned actor = 0;
};

} // namespace tilewright::interp

#endif // TILEWRIGHT_LIB_INTERP_ROLEWATCH_H
