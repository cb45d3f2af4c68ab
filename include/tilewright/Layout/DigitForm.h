//===- DigitForm.h - outputs as weighted sums of independent digits ---------------*- C++ -*-===//
//
// Layouts split indices: `l // 8`, `d % 8 // 2`, `d % 2`. All of these are *digits* of an index in
// a mixed radix: cut the index d < 64 at the weights 1, 2, 8 and
//
//        d = 8 * d2 + 2 * d1 + d0,    d0 = d % 2,  d1 = d // 2 % 4,  d2 = d // 8
//
// with d0, d1, d2 independent of each other. In terms of digits a layout's output is a weighted sum
//
//        4 * (l % 8) + (d % 8) // 2   =   4 * l0 + 1 * d1
//
// and a swizzle replaces a digit by the xor of digits of the same power-of-two range:
//
//        j ^ 4 * (i % 8)              =   4 * (j1 ^ i0) + 1 * j0          (j0 = j % 4, j1 = j // 4)
//
// This form is exact for any extents (powers of two, 3 x 5, dynamic ones), costs a few dozen
// operations whatever the size of the tensor, and answers most questions at sight. A sum is
// *decodable* when its terms, sorted by weight, never reach the next weight; its value then tells
// every term. A layout whose outputs are all decodable is injective if and only if the terms,
// as rows of a matrix over F2 with a column per digit, have full column rank; a vector of the
// kernel is a pair of colliding elements. The inverse of that matrix is the inverse layout.
//
// The cuts are found on demand: reading `x // 8` asks that no term reach across 8, and if one does,
// its digits are cut there and the reading starts again. Where the weights do not divide each
// other, or a sum carries (`(i + j) // 8`), there is no digit form and questions are left to
// enumeration.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_LAYOUT_DIGITFORM_H
#define TILEWRIGHT_LAYOUT_DIGITFORM_H

#include "tilewright/Layout/IndexExpr.h"
#include "tilewright/Layout/Layout.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace tilewright {

/// One digit of a logical index: `dim // weight % range`.
struct Digit {
  unsigned dim;
  int64_t weight;
  int64_t range; ///< At least 2; kDynamic for the highest digit of a dynamic extent.

  bool isBounded() const { return range != kDynamic; }
  friend bool operator==(const Digit &, const Digit &) = default;
};

/// `coefficient * (digit ^ digit ^ … ^ flip)`. With more than one digit, or with a flip, all
/// digits have the same range, a power of two.
struct DigitTerm {
  int64_t coefficient;
  uint64_t digits; ///< The set of digits, one bit for each.
  int64_t flip;
  int64_t range; ///< Of the term before it is weighted.

  bool isBounded() const { return range != kDynamic; }
  friend bool operator==(const DigitTerm &, const DigitTerm &) = default;
};

/// `constant + terms`, the terms sorted by the magnitude of their coefficients and different in
/// digits or flip.
struct DigitSum {
  int64_t constant = 0;
  llvm::SmallVector<DigitTerm, 4> terms;

  /// Whether the sum's value determines the value of each term.
  bool isDecodable() const;
  friend bool operator==(const DigitSum &, const DigitSum &) = default;
};

class DigitForm {
public:
  static constexpr unsigned kMaxDigits = 64;

  /// Reads several expressions over one shape with common digits; nothing if there is no digit
  /// form.
  static std::optional<DigitForm> read(llvm::ArrayRef<IndexExpr> exprs,
                                       llvm::ArrayRef<int64_t> shape);
  /// The outputs of a layout (memoised on it).
  static const std::optional<DigitForm> &of(const Layout &layout);

  llvm::ArrayRef<Digit> getDigits() const { return digits; }
  llvm::ArrayRef<DigitSum> getSums() const { return sums; }

  /// Whether every combination of digit values is an index: false where a cut does not divide the
  /// extent (`i // 8` for i < 100), or may not because the extent is dynamic, so that the digits
  /// describe a larger tile. What holds for the larger tile holds for this one; counterexamples
  /// need a look.
  bool isExact() const { return exact; }

  /// The index whose digits are all 0 but those in the set, which are 1.
  llvm::SmallVector<int64_t, 4> indexWithOnes(uint64_t digits) const;

  /// The positions of a dim's digits, ascending in weight.
  llvm::SmallVector<unsigned, 4> digitsOfDim(unsigned dim) const;

  /// An expression for a sum, with neighbouring digits written as one.
  IndexExpr toExpr(const DigitSum &sum) const;

  /// The exact smallest and largest value of a sum. The largest is kDynamic where it is unbounded;
  /// nothing where the terms depend on each other.
  struct Bounds {
    int64_t low, high;
  };
  std::optional<Bounds> getBounds(const DigitSum &sum) const;

private:
  friend class DigitReader;

  llvm::SmallVector<int64_t, 4> shape;
  llvm::SmallVector<Digit, 8> digits;
  llvm::SmallVector<DigitSum, 4> sums;
  bool exact = true;
};

/// `sum + other * factor`; nothing on overflow.
std::optional<DigitSum> addScaled(const DigitSum &sum, const DigitSum &other, int64_t factor);

} // namespace tilewright

#endif // TILEWRIGHT_LAYOUT_DIGITFORM_H
