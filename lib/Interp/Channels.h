//===- Channels.h - barriers with phases, at which asynchronous copies arrive too -------------===//
//
// What Barriers.h counts for single threads, for the teams of a scheduled kernel (Scheduled.h): a
// team arrives with all its threads at once, and a copy under way can keep a phase open.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_LIB_INTERP_CHANNELS_H
#define TILEWRIGHT_LIB_INTERP_CHANNELS_H

#include "RoleWatch.h"

namespace tilewright::interp {

class Channels {
public:
  struct Channel {
    int64_t expected = 0; ///< Arrivals that end a phase; 0 until a use says it.
    int64_t arrived = 0;  ///< In the current phase.
    int64_t numOpen = 0;  ///< Copies without which the phase cannot end.
    int64_t phase = 0;
    Clock current;  ///< What has happened before the arrivals of the current phase,
    Clock finished; ///< and of all phases that are over.
    llvm::DenseMap<unsigned, int64_t> phases; ///< The phase in which a team arrived last.

    void arrive(int64_t count, const Clock &known);
    /// Ends the phase if nothing is missing.
    void finish();
    bool isOver(int64_t parity) const { return (phase - parity) % 2 != 0; }
  };

  /// Starts a row of barriers anew.
  void reset(const Storage *row, llvm::ArrayRef<int64_t> arrivals);
  /// The barrier that two operands of a step name: a row, and a number in it. Null, with an error
  /// reported, if the row does not have it.
  Channel *find(Machine &machine, const Step &step, unsigned operand);
  void clear() { rows.clear(); }

private:
  llvm::DenseMap<const Storage *, std::vector<Channel>> rows;
};

/// `barrier 0 of 'ready' (3 of 128 arrivals in phase 1)`
std::string describe(const Channels::Channel &channel, Machine &machine, const Step &step);

} // namespace tilewright::interp

#endif // TILEWRIGHT_LIB_INTERP_CHANNELS_H
