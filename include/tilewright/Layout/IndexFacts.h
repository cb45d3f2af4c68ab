//===- IndexFacts.h - bounds and divisibility of index expressions ----------------*- C++ -*-===//
//
// The cheap half of what can be said about an expression whose dims and symbols are not all known:
// an interval that contains its values, and a congruence `value = remainder (mod modulus)`. Both
// are sound over-approximations, computed in one walk; they decide most questions about global
// tensors (is this row stride a multiple of 16 bytes, can this offset pass 2^31) without any
// search.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_LAYOUT_INDEXFACTS_H
#define TILEWRIGHT_LAYOUT_INDEXFACTS_H

#include "tilewright/Layout/IndexExpr.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <limits>

namespace tilewright {

/// What is known of an index value.
struct IndexFacts {
  /// Bounds with these values are open: the value is not bounded on that side.
  static constexpr int64_t kNoLow = std::numeric_limits<int64_t>::min();
  static constexpr int64_t kNoHigh = std::numeric_limits<int64_t>::max();

  int64_t low = kNoLow;
  int64_t high = kNoHigh;
  /// The value is `remainder` modulo `modulus`, 0 <= remainder < modulus; modulus 0 means that the
  /// value *is* remainder, modulus 1 that nothing is known.
  int64_t modulus = 1;
  int64_t remainder = 0;

  static IndexFacts constant(int64_t value) { return {value, value, 0, value}; }
  /// Values 0, 1, …, extent - 1; a dynamic extent leaves them unbounded.
  static IndexFacts inExtent(int64_t extent);
  /// Values of at least `low` that are multiples of `divisor`, such as the size of a dynamic
  /// tensor.
  static IndexFacts multipleOf(int64_t divisor, int64_t low = 0) {
    return {low, kNoHigh, divisor, 0};
  }

  bool isBounded() const { return low != kNoLow && high != kNoHigh; }
  /// The largest number known to divide the value; 0 if the value is 0, which everything divides.
  int64_t getDivisor() const;

  friend bool operator==(const IndexFacts &, const IndexFacts &) = default;
};

/// Facts about `expr`, given facts about its dims and symbols.
IndexFacts analyzeIndexExpr(const IndexExpr &expr, llvm::ArrayRef<IndexFacts> dims,
                            llvm::ArrayRef<IndexFacts> symbols = {});

/// Facts about `lhs kind rhs`.
IndexFacts combineFacts(IndexExpr::Kind kind, const IndexFacts &lhs, const IndexFacts &rhs);

/// The facts about the dims of a tile of this shape.
llvm::SmallVector<IndexFacts, 4> factsOfShape(llvm::ArrayRef<int64_t> shape);

/// Whether `expr` and all its subexpressions lie in [low, high]: then it can be evaluated with
/// integers of that range without overflow.
bool staysWithin(const IndexExpr &expr, llvm::ArrayRef<IndexFacts> dims, int64_t low, int64_t high);

} // namespace tilewright

#endif // TILEWRIGHT_LAYOUT_INDEXFACTS_H
