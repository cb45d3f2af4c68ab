//===- SeededRandom.h - random choices that a seed replays ------------------------*- C++ -*-===//

#ifndef TILEWRIGHT_SUPPORT_SEEDEDRANDOM_H
#define TILEWRIGHT_SUPPORT_SEEDEDRANDOM_H

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>

namespace tilewright {

/// A small generator (xoshiro256**) whose sequence depends on the seed alone: the standard
/// library's distributions may differ between implementations, and a printed seed must replay the
/// same case everywhere.
class SeededRandom {
public:
  explicit SeededRandom(uint64_t seed);

  uint64_t next();
  /// Uniform in [low, high], both included.
  int64_t uniform(int64_t low, int64_t high);
  /// True once in `outOf` times on average.
  bool oneIn(unsigned outOf) { return uniform(1, outOf) == 1; }
  template <typename T> const T &pick(llvm::ArrayRef<T> choices) {
    return choices[uniform(0, choices.size() - 1)];
  }

private:
  uint64_t state[4];
};

} // namespace tilewright

#endif // TILEWRIGHT_SUPPORT_SEEDEDRANDOM_H
