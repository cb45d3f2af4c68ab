//===- RandomAccesses.h - accesses of distributed loops for property tests ----------*- C++ -*-===//

#ifndef TILEWRIGHT_TEST_UNIT_ACCESS_RANDOMACCESSES_H
#define TILEWRIGHT_TEST_UNIT_ACCESS_RANDOMACCESSES_H

#include "tilewright/Access/Planner.h"
#include "tilewright/Support/SeededRandom.h"

namespace tilewright::test {

/// One choice of everything that only a launch knows.
struct Sample {
  llvm::SmallVector<int64_t, 4> symbols;
  llvm::SmallVector<int64_t, 4> extents; ///< Of the memory; those it has, and some for the others.
};

/// A request to the planner with its distribution and with launches to try it on.
struct RandomAccess {
  Fragment distribution;
  int64_t numThreads;
  analysis::LoopDistribution loop;
  access::Request request; ///< Its loop is set by `getRequest`.
  llvm::SmallVector<Sample> samples;

  access::Request getRequest() const {
    access::Request complete = request;
    complete.loop = &loop;
    return complete;
  }
  std::string str() const;
};

/// Starts from a distribution, a layout and indices that keep vectors together, and spoils them a
/// little: shifts, odd strides, swapped slots, bounds that cut, replicas, unknown alignments.
RandomAccess makeRandomAccess(SeededRandom &random);

} // namespace tilewright::test

#endif // TILEWRIGHT_TEST_UNIT_ACCESS_RANDOMACCESSES_H
