//===- Ranges.h - what is known about the size of index values ----------------------*- C++ -*-===//
//
// An interval for each index value of the code being built: constants have one point, loop
// variables and block numbers run between their bounds, and sums, products, quotients, remainders,
// minima and maxima follow from their operands. It answers one question: can this index leave that
// extent.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_LIB_CODEGEN_CPU_RANGES_H
#define TILEWRIGHT_LIB_CODEGEN_CPU_RANGES_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include <cstdint>
#include <limits>
#include <optional>

namespace tilewright::cpu {

/// All integers from `least` to `greatest`. The limits of int64 stand for "not known".
struct Interval {
  int64_t least = std::numeric_limits<int64_t>::min();
  int64_t greatest = std::numeric_limits<int64_t>::max();

  static Interval exactly(int64_t value) { return {value, value}; }
  bool isNonNegative() const { return least >= 0; }
  bool isWithin(int64_t lower, int64_t upper) const { return least >= lower && greatest <= upper; }
  bool hasBothEnds() const {
    return least != std::numeric_limits<int64_t>::min() &&
           greatest != std::numeric_limits<int64_t>::max();
  }

  friend Interval operator+(Interval lhs, Interval rhs);
  friend Interval operator-(Interval lhs, Interval rhs);
  friend Interval operator*(Interval lhs, Interval rhs);
};
Interval minOf(Interval lhs, Interval rhs);
Interval maxOf(Interval lhs, Interval rhs);
Interval unite(Interval lhs, Interval rhs);
/// Python's // and %, by a divisor that is a constant.
Interval floorDivide(Interval value, int64_t divisor);
Interval floorModulo(Interval value, int64_t divisor);

class Ranges {
public:
  /// States what a value without operands of its own (a loop variable, a quotient) lies between.
  void set(mlir::Value value, Interval range) { known[value] = range; }
  Interval get(mlir::Value value, unsigned depth = 16) const;

  /// States what holds for a value only for a while, for example inside a branch that checked it.
  class Assumption {
  public:
    Assumption(Ranges &ranges, mlir::Value value, Interval interval);
    ~Assumption();
    Assumption(const Assumption &) = delete;
    Assumption(Assumption &&other);

  private:
    Ranges *ranges;
    mlir::Value value;
    std::optional<Interval> before;
  };

  /// Whether `0 <= value < extent` holds always.
  bool isProvenInside(mlir::Value value, mlir::Value extent) const;

private:
  llvm::DenseMap<mlir::Value, Interval> known;
};

} // namespace tilewright::cpu

#endif // TILEWRIGHT_LIB_CODEGEN_CPU_RANGES_H
