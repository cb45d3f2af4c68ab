//===- BruteForce.h - the widest legal plan, by trying ------------------------------*- C++ -*-===//

#ifndef TILEWRIGHT_TEST_UNIT_ACCESS_BRUTEFORCE_H
#define TILEWRIGHT_TEST_UNIT_ACCESS_BRUTEFORCE_H

#include "RandomAccesses.h"

namespace tilewright::test {

/// All that the samples of an access say, place by place, with no help from the planner.
class BruteForce {
public:
  explicit BruteForce(const RandomAccess &access);

  /// The largest width in which every slot is done, on all samples; nothing where no thread has all
  /// its elements in bounds in any sample, so that the samples do not decide it.
  std::optional<int64_t> getMaximum() const;

  /// What is wrong with a plan on some sample; empty if nothing.
  std::string findFault(const access::Plan &plan) const;

private:
  struct Point {
    bool isActive = false, isOwner = false, isInBounds = false;
    int64_t offset = 0;
    uint64_t outside = 0; ///< Dimensions, as bits.
    uint64_t tests = 0;   ///< Which tests of branches hold, as bits.
  };
  const Point &at(size_t sample, int64_t thread, int64_t slot) const {
    return points[(sample * numThreads + thread) * numSlots + slot];
  }
  std::string findGroupFault(llvm::ArrayRef<int64_t> slots, uint64_t guarded) const;
  bool areOneElement(int64_t a, int64_t b) const;

  const RandomAccess &access;
  int64_t numThreads, numSlots;
  std::vector<Point> points;
};

} // namespace tilewright::test

#endif // TILEWRIGHT_TEST_UNIT_ACCESS_BRUTEFORCE_H
