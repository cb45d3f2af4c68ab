//===- Offsets.h - the offset of every iteration, split by what it depends on -----------------===//
//
// offset(iteration, symbols) = fixed[iteration] + sum over t of moving[t][iteration] * stride_t
//                              + a part of symbols alone
//
// `fixed` is enumerated exactly. The strides are run-time values, known by a divisor only:
// the extents of a dynamic tensor. The part of symbols is known by its congruence. It is the same
// for all iterations, unless a symbol is a function of them: then for those with equal arguments.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_LIB_ACCESS_OFFSETS_H
#define TILEWRIGHT_LIB_ACCESS_OFFSETS_H

#include "tilewright/Access/Planner.h"

namespace tilewright::access {

/// A coordinate of the root under one iteration and any symbols: `own[iteration] + outer`.
struct CoordinateRange {
  std::vector<int64_t> own;
  IndexFacts outer;
};

struct Offsets {
  std::vector<int64_t> fixed;
  llvm::SmallVector<std::vector<int64_t>, 1> moving;
  llvm::SmallVector<int64_t, 1> movingDivisors; ///< A number that divides the stride.
  IndexFacts outer;                             ///< Of the part of symbols.
  /// The arguments of symbols that are functions, as numbers.
  llvm::SmallVector<std::vector<int64_t>, 1> arguments;

  /// Whether two iterations have the same run-time part, so that their distance is known.
  bool areComparable(int64_t a, int64_t b) const {
    auto isSame = [&](const std::vector<int64_t> &values) { return values[a] == values[b]; };
    return llvm::all_of(moving, isSame) && llvm::all_of(arguments, isSame);
  }
  /// Whether `width` divides the offset of an iteration, for all symbols.
  bool isMultiple(int64_t iteration, int64_t width) const;

  /// Nothing where dims and symbols do not separate, or values overflow.
  static std::optional<Offsets> get(const Request &request);
};

/// The coordinates of a global access, to decide where its bounds must be tested.
using CoordinateRanges = llvm::SmallVector<CoordinateRange, 4>;
std::optional<CoordinateRanges> getCoordinateRanges(const Request &request);
/// The same for the values that the branches around the access test.
std::optional<CoordinateRanges> getTestRanges(const Request &request);

} // namespace tilewright::access

#endif // TILEWRIGHT_LIB_ACCESS_OFFSETS_H
