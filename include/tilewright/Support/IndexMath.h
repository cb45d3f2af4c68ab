//===- IndexMath.h - the integer arithmetic of index values -----------------------*- C++ -*-===//
//
// Index values are mathematical integers computed in 64 bits: `//` and `%` are Python's (they
// round towards minus infinity), `x // 0` is 0 and `x % 0` is x. The checked forms return nothing
// where the result does not fit in 64 bits.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_SUPPORT_INDEXMATH_H
#define TILEWRIGHT_SUPPORT_INDEXMATH_H

#include <cstdint>
#include <limits>
#include <optional>

namespace tilewright {

inline std::optional<int64_t> checkedAdd(int64_t lhs, int64_t rhs) {
  int64_t result;
  if (__builtin_add_overflow(lhs, rhs, &result))
    return std::nullopt;
  return result;
}

inline std::optional<int64_t> checkedSub(int64_t lhs, int64_t rhs) {
  int64_t result;
  if (__builtin_sub_overflow(lhs, rhs, &result))
    return std::nullopt;
  return result;
}

inline std::optional<int64_t> checkedMul(int64_t lhs, int64_t rhs) {
  int64_t result;
  if (__builtin_mul_overflow(lhs, rhs, &result))
    return std::nullopt;
  return result;
}

/// `lhs // rhs`; the only overflow is the most negative value divided by -1.
inline std::optional<int64_t> checkedFloorDiv(int64_t lhs, int64_t rhs) {
  if (rhs == 0)
    return 0;
  if (rhs == -1)
    return checkedSub(0, lhs);
  int64_t quotient = lhs / rhs;
  bool roundedUp = lhs % rhs != 0 && (lhs < 0) != (rhs < 0);
  return quotient - (roundedUp ? 1 : 0);
}

/// `lhs % rhs`: the remainder has the sign of the divisor. Never overflows.
inline int64_t floorMod(int64_t lhs, int64_t rhs) {
  if (rhs == 0)
    return lhs;
  if (rhs == -1)
    return 0;
  int64_t remainder = lhs % rhs;
  return remainder != 0 && (remainder < 0) != (rhs < 0) ? remainder + rhs : remainder;
}

} // namespace tilewright

#endif // TILEWRIGHT_SUPPORT_INDEXMATH_H
