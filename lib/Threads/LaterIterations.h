//===- LaterIterations.h - how numbers go on in iterations that are not tried -------*- C++ -*-===//
//
// A loop whose end only a launch knows is tried with a few trip counts. That says something of all
// others only if what decides in it repeats: `(k // 3) % 2` does after 6 iterations, `k > 2` is
// true from the third iteration on, `k == n - 1` holds in the last one. `k * k > 500` is neither,
// and `k == 1000` comes too late to be tried.
//
// A *counter* counts the iterations of such a loop, or stands for its end. The growth of a number
// says what the number does where a counter goes on.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_LIB_THREADS_LATERITERATIONS_H
#define TILEWRIGHT_LIB_THREADS_LATERITERATIONS_H

#include "tilewright/Tile/Effects.h"

#include "llvm/ADT/DenseMap.h"

namespace tilewright::threads {

/// Where a counter goes on by `period`, a linear number goes on by its drift in this counter; where
/// by `period * m`, any number goes on by a multiple of m. From some count on: see
/// `LaterIterations::getLastChange`.
struct Growth {
  int64_t period = 1;
  llvm::SmallVector<std::pair<unsigned, int64_t>, 2> drifts{}; ///< By counter; none are 0.
  bool isLinear = true;

  bool repeats() const { return isLinear && drifts.empty(); }
};

class LaterIterations {
public:
  /// What a value is in the iteration at hand; nothing if only the run knows.
  using Evaluate = llvm::function_ref<std::optional<int64_t>(mlir::Value)>;

  /// A new counter: of iterations, or the end of loops.
  unsigned add(bool isEnd) {
    counts.push_back(0);
    ends.push_back(isEnd);
    return counts.size() - 1;
  }
  /// The variable of a loop, or the end of one, is `step` times the counter and something that
  /// stays. `evaluate` binds an end before it gives its value.
  void bind(mlir::Value number, unsigned counter, int64_t step) {
    leaves[number] = {counter, step};
  }
  bool isEnd(unsigned counter) const { return ends[counter]; }
  int64_t getCount(unsigned counter) const { return counts[counter]; }
  void setCount(unsigned counter, int64_t count) { counts[counter] = count; }
  /// Another iteration begins: what values are may have changed.
  void forget() { found.clear(); }
  bool hasCounters() const { return !counts.empty(); }

  /// The growth of a value, in the iteration at hand. Nothing if it follows no rule that is known.
  std::optional<Growth> find(mlir::Value value, Evaluate evaluate);
  std::optional<Growth> find(const tile::IndexSum &sum, Evaluate evaluate);

  /// The growth of a number's remainder.
  static std::optional<Growth> takeModulo(const Growth &growth, int64_t divisor);

  /// Takes note of a number that decides: its period. False where it does not repeat.
  bool repeats(const std::optional<Growth> &growth);

  /// After how many iterations, or how many before the last one, comparisons have the answer that
  /// they keep.
  int64_t getLastChange() const { return lastChange; }
  void noteChange(int64_t count) { lastChange = std::max(lastChange, count); }
  /// After how many iterations all that was noted repeats.
  int64_t getPeriod() const { return period; }

private:
  struct Leaf {
    unsigned counter;
    int64_t step;
  };

  std::optional<Growth> findNew(mlir::Value value, Evaluate evaluate);
  std::optional<Growth> compare(mlir::Value lhs, mlir::Value rhs, Evaluate evaluate);
  std::optional<Growth> change(const Growth &difference, int64_t now);

  llvm::DenseMap<mlir::Value, Leaf> leaves;
  llvm::SmallVector<int64_t> counts;
  llvm::SmallVector<bool> ends;
  llvm::DenseMap<mlir::Value, std::optional<Growth>> found; ///< In this iteration.
  int64_t lastChange = 0, period = 1;
};

} // namespace tilewright::threads

#endif // TILEWRIGHT_LIB_THREADS_LATERITERATIONS_H
