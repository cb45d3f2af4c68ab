//===- Bounds.h - the table of error radii ----------------------------------------*- C++ -*-===//
//
// With Options::bounds each float carries a radius: any engine that follows the rules of the
// language computes a value within it. The rules are one table (Bounds.cpp); a radius is never
// adjusted to make a comparison pass. An infinite radius marks a value as undecided: it depends on
// a comparison, a conversion to an integer or an index that rounding could have decided otherwise.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_LIB_INTERP_BOUNDS_H
#define TILEWRIGHT_LIB_INTERP_BOUNDS_H

#include "Machine.h"

namespace tilewright::interp {

/// `radius` if it is a number, else kUndecided.
inline double sane(double radius) { return radius < kUndecided ? radius : kUndecided; }

/// What one rounding to `format` adds to a value.
double boundRounding(Format format, double value);

/// The error of a sum of `count` terms in any order, whose magnitudes add up to `magnitude`, in an
/// accumulator of unit roundoff `unit`.
double boundSum(double count, double magnitude, double unit);
/// The radius of a sum whose terms have radii of `inputs` in all, and whose parts may be rounded to
/// `format`. A sum of exact terms with an infinity or NaN among them is one, whatever the order;
/// one of finite terms is undecided if a part of it may overflow, which depends on the order.
double boundSumOf(double inputs, double count, double magnitude, Format format, double unit);
/// The unit roundoff of a sum: that of the format, and four times that where tensor cores, which
/// truncate, may form it.
double getSumUnit(Format format, bool onTensorCores);

/// The radius of a converted value whose operand has one.
double boundConversion(const Scalar &operand, Format from, const Scalar &result, Format to,
                       Rounding rounding);

/// The radius of max, min and the like: the operands' larger one.
inline double boundChoice(const Scalar &lhs, const Scalar &rhs) {
  return std::max(lhs.radius, rhs.radius);
}

} // namespace tilewright::interp

#endif // TILEWRIGHT_LIB_INTERP_BOUNDS_H
