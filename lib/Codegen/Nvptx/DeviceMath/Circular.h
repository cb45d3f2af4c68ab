//===- Circular.h - sin, cos, tan -------------------------------------------------------------===//
//
// An argument is reduced to r in [-pi/4, pi/4] and a quadrant. Up to some thousand turns three FMAs
// with pi/2 in three parts are exact enough; beyond, the argument is multiplied as an integer by
// the digits of 2/pi that matter (Payne and Hanek), for every argument up to the greatest.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_CODEGEN_NVPTX_DEVICEMATH_CIRCULAR_H
#define TILEWRIGHT_CODEGEN_NVPTX_DEVICEMATH_CIRCULAR_H

#include "Format.h"

namespace tilewright::devicemath {

template <class F> struct CircularConstants;
template <> struct CircularConstants<float> {
  static constexpr float kTwoOverPi = 0x1.45f306p-1f;
  static constexpr float kHalfPi[] = {0x1.921fb6p+0f, -0x1.777a5cp-25f, -0x1.ee59dap-50f};
  static constexpr float kGreatest = 0x1p14f; ///< Of the reduction by FMAs.
  static constexpr float kTiny = 0x1p-12f;    ///< sin x and tan x round to x below.
};
template <> struct CircularConstants<double> {
  static constexpr double kTwoOverPi = 0x1.45f306dc9c883p-1;
  static constexpr double kHalfPi[] = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54,
                                       -0x1.f1976b7ed8fbcp-110};
  static constexpr double kGreatest = 0x1p20;
  static constexpr double kTiny = 0x1p-27;
};

template <class F> struct Reduced {
  Pair<F> r;
  unsigned quadrant; ///< Its low two bits count.
};

/// The binary digits of 2/pi, after a word of zeros.
inline constexpr Bits64 kTwoOverPiDigits[] = {
    0,
    0xa2f9836e4e441529,
    0xfc2757d1f534ddc0,
    0xdb6295993c439041,
    0xfe5163abdebbc561,
    0xb7246e3a424dd2e0,
    0x06492eea09d1921c,
    0xfe1deb1cb129a73e,
    0xe88235f52ebb4484,
    0xe99c7026b45f7e41,
    0x3991d639835339f4,
    0x9c845f8bbdf9283b,
    0x1ff897ffde05980f,
    0xef2f118b5a0a6d1f,
    0x6d367ecf27cb09b7,
    0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b,
    0x3d0739f78a5292ea,
    0x6bfb5fb11f8d5d08,
    0x56033046fc7b6bab,
};

inline Bits64 multiplyHigh(Bits64 a, Bits64 b) {
  return Bits64((static_cast<unsigned __int128>(a) * b) >> 64);
}

/// For |x| from 2^14 on. With |x| = M 2^E, digits of 2/pi of weight 2^-i contribute multiples of
/// four quadrants while i < E - 1, so 192 digits from there on give |x| 2/pi mod 4 with 137 binary
/// places.
[[clang::noinline]] inline Reduced<double> reduceLarge(double x) {
  Bits64 bits = toBits(abs(x));
  int exponent = int(bits >> 52) - 1075;
  Bits64 m = (bits & 0xfffffffffffff) | 0x10000000000000;
  int first = exponent - 2 + 64; // the table starts with 64 zeros
  int word = first >> 6, shift = first & 63;
  auto digits = [&](int i) {
    Bits64 high = kTwoOverPiDigits[word + i], low = kTwoOverPiDigits[word + i + 1];
    return shift ? high << shift | low >> (64 - shift) : high;
  };
  Bits64 w0 = digits(0), w1 = digits(1), w2 = digits(2);
  Bits64 p2 = m * w2, carry = multiplyHigh(m, w2);
  Bits64 p1 = m * w1 + carry;
  Bits64 p0 = m * w0 + multiplyHigh(m, w1) + (p1 < carry);

  // Two bits of quadrant, then the fraction; it is negative from one half on.
  Bits64 high = p0 << 2 | p1 >> 62, low = p1 << 2 | p2 >> 62;
  unsigned quadrant = unsigned(p0 >> 62) + unsigned(high >> 63);
  bool isNegativeFraction = high >> 63;
  if (isNegativeFraction) {
    low = ~low + 1;
    high = ~high + (low == 0);
  }
  int zeros = high ? __builtin_clzll(high) : 64;
  if (zeros == 64) {
    high = low;
    low = 0;
    zeros = high ? __builtin_clzll(high) : 0;
    high <<= zeros;
    zeros += 64;
  } else if (zeros) {
    high = high << zeros | low >> (64 - zeros);
    low <<= zeros;
  }
  using C = CircularConstants<double>;
  double a = double(high >> 11), b = double((high & 0x7ff) << 42 | low >> 22);
  Pair<double> product = multiplyExactly(a, C::kHalfPi[0]);
  product.low += fma(a, C::kHalfPi[1], b * 0x1p-53 * C::kHalfPi[0]);
  double unit = powerOfTwo<double>(-53 - zeros);
  unit = isNegativeFraction != isNegative(x) ? -unit : unit;
  Pair<double> r = addLarger(product.high * unit, product.low * unit);
  return {r, isNegative(x) ? 0 - quadrant : quadrant};
}

/// For finite x. Straight-line code for arguments of the usual size.
template <class F> Reduced<F> reduce(F x) {
  using C = CircularConstants<F>;
  if (abs(x) >= C::kGreatest) {
    Reduced<double> large = reduceLarge(double(x));
    F high = F(large.r.high);
    F low = F((large.r.high - double(high)) + large.r.low);
    return {{high, low}, large.quadrant};
  }
  Nearest<F> q = nearestOfProduct(x, C::kTwoOverPi);
  F first = fma(-q.number, C::kHalfPi[0], x); // exact: it has no more digits than x
  Pair<F> middle = multiplyExactly(-q.number, C::kHalfPi[1]);
  Pair<F> r = addExactly(first, middle.high);
  r.low += fma(-q.number, C::kHalfPi[2], middle.low);
  return {addLarger(r.high, r.low), unsigned(q.integer)};
}

/// The sine of a reduced argument; a pair, whose low part only the tangent looks at.
template <class F> Pair<F> sinReduced(Pair<F> r) {
  F square = r.high * r.high;
  F curve = evaluate(Polynomials<F>::kSin, square);
  // sin(h + l) = sin h + l cos h, with 1 - h^2 / 2 for the cosine
  F low = fma(-F(0.5) * square, r.low, r.low);
  return addLarger(r.high, fma(square * r.high, curve, low));
}

/// 1 - h^2/2 loses digits, which `lost` gives back.
template <class F> Pair<F> cosReduced(Pair<F> r) {
  F square = r.high * r.high, half = F(0.5) * square;
  F head = 1 - half, lost = (1 - head) - half;
  F curve = square * square * evaluate(Polynomials<F>::kCos, square);
  F squareLow = F(0.5) * fma(r.high, r.high, -square);
  return addLarger(head, lost + (curve - fma(r.high, r.low, squareLow)));
}

template <class F> F sin(F x) {
  if (!(abs(x) < Format<F>::kInfinity))
    return x - x;
  Reduced<F> reduced = reduce(x);
  F value = reduced.quadrant & 1 ? cosReduced(reduced.r).high : sinReduced(reduced.r).high;
  value = reduced.quadrant & 2 ? -value : value;
  return abs(x) < CircularConstants<F>::kTiny ? x : value;
}

template <class F> F cos(F x) {
  if (!(abs(x) < Format<F>::kInfinity))
    return x - x;
  Reduced<F> reduced = reduce(x);
  F value = reduced.quadrant & 1 ? sinReduced(reduced.r).high : cosReduced(reduced.r).high;
  return (reduced.quadrant + 1) & 2 ? -value : value;
}

/// sin / cos, or -cos / sin; the quotient of the high parts is corrected by its remainder.
template <class F> F tan(F x) {
  if (!(abs(x) < Format<F>::kInfinity))
    return x - x;
  Reduced<F> reduced = reduce(x);
  Pair<F> sine = sinReduced(reduced.r), cosine = cosReduced(reduced.r);
  bool isSteep = reduced.quadrant & 1;
  Pair<F> above = isSteep ? Pair<F>{-cosine.high, -cosine.low} : sine;
  Pair<F> below = isSteep ? sine : cosine;
  F reciprocal = 1 / below.high, quotient = above.high * reciprocal;
  F remainder = fma(-quotient, below.high, above.high) + fma(-quotient, below.low, above.low);
  F value = fma(remainder, reciprocal, quotient);
  return abs(x) < CircularConstants<F>::kTiny ? x : value;
}

} // namespace tilewright::devicemath

#endif // TILEWRIGHT_CODEGEN_NVPTX_DEVICEMATH_CIRCULAR_H
