//===- Barriers.h - what the barriers of a block have counted ---------------------------------===//

#ifndef TILEWRIGHT_LIB_INTERP_BARRIERS_H
#define TILEWRIGHT_LIB_INTERP_BARRIERS_H

#include "Machine.h"

namespace tilewright::interp {

/// When something happened, for each thread that stands for its strand (RoleWatch.h).
using Clock = std::vector<uint32_t>;

/// The barriers of the block that runs. A row of them is known by the storage of its allocation.
class Barriers {
public:
  struct Barrier {
    int64_t count = 0;                        ///< Arrivals so far.
    llvm::DenseMap<unsigned, int64_t> phases; ///< The phase in which a thread arrived last.
    Clock clock;                              ///< What has happened before the arrivals.
  };

  /// Starts a row of barriers anew.
  void reset(const Storage *row, size_t count) {
    rows[row].assign(count, Barrier());
    ++numChanges;
  }
  /// Null, with an error reported, if the row does not have this barrier.
  Barrier *find(Machine &machine, const Step &step);

  /// The thread of the machine arrives, or somebody does for all of its strand.
  void arrive(Machine &machine, const Step &step);
  /// Whether the wait of the machine's thread is over. An error ends a wait too.
  bool isOver(Machine &machine, const Step &step);
  /// `barrier 0 of 'ready' (3 of 128 arrivals in phase 1)`, for the machine's thread.
  std::string describe(Machine &machine, const Step &step);

  /// Grows with each arrival: a wait that was not over stays so while this does not change.
  uint64_t getNumChanges() const { return numChanges; }

private:
  llvm::DenseMap<const Storage *, std::vector<Barrier>> rows;
  uint64_t numChanges = 0;
};

} // namespace tilewright::interp

#endif // TILEWRIGHT_LIB_INTERP_BARRIERS_H
