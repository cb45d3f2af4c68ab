//===- IndexFacts.cpp - bounds and divisibility of index expressions ------------------------===//

#include "tilewright/Layout/IndexFacts.h"
#include "tilewright/Layout/Layout.h"
#include "tilewright/Support/IndexMath.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <bit>
#include <numeric>

using namespace tilewright;
using llvm::ArrayRef;
using Kind = IndexExpr::Kind;

static constexpr int64_t kNoLow = IndexFacts::kNoLow;
static constexpr int64_t kNoHigh = IndexFacts::kNoHigh;

IndexFacts IndexFacts::inExtent(int64_t extent) {
  if (extent == kDynamic)
    return {0, kNoHigh, 1, 0};
  if (extent <= 1)
    return constant(0);
  return {0, extent - 1, 1, 0};
}

int64_t IndexFacts::getDivisor() const {
  if (modulus == 0) // the most negative value is divided by 2^62, the largest power that fits
    return remainder == kNoLow ? int64_t(1) << 62 : std::abs(remainder);
  return std::gcd(modulus, remainder);
}

//===----------------------------------------------------------------------------------------===//
// Intervals. The ends are computed in 128 bits and opened where they leave 64 bits.
//===----------------------------------------------------------------------------------------===//

namespace {
struct Interval {
  int64_t low, high;

  static Interval all() { return {kNoLow, kNoHigh}; }
  bool hasLow() const { return low != kNoLow; }
  bool hasHigh() const { return high != kNoHigh; }
  bool isBounded() const { return hasLow() && hasHigh(); }
};

int64_t clampLow(__int128 value) {
  return value <= kNoLow ? kNoLow : value > kNoHigh ? kNoHigh : int64_t(value);
}
int64_t clampHigh(__int128 value) {
  return value >= kNoHigh ? kNoHigh : value < kNoLow ? kNoLow : int64_t(value);
}

Interval addIntervals(Interval a, Interval b) {
  return {a.hasLow() && b.hasLow() ? clampLow(__int128(a.low) + b.low) : kNoLow,
          a.hasHigh() && b.hasHigh() ? clampHigh(__int128(a.high) + b.high) : kNoHigh};
}

Interval subIntervals(Interval a, Interval b) {
  return {a.hasLow() && b.hasHigh() ? clampLow(__int128(a.low) - b.high) : kNoLow,
          a.hasHigh() && b.hasLow() ? clampHigh(__int128(a.high) - b.low) : kNoHigh};
}

Interval mulIntervals(Interval a, Interval b) {
  if (a.isBounded() && b.isBounded()) {
    __int128 ends[] = {__int128(a.low) * b.low, __int128(a.low) * b.high, __int128(a.high) * b.low,
                       __int128(a.high) * b.high};
    return {clampLow(*std::min_element(ends, ends + 4)),
            clampHigh(*std::max_element(ends, ends + 4))};
  }
  if (a.low >= 0 && b.low >= 0) // sizes times extents: the common case of unbounded factors
    return {clampLow(__int128(a.low) * b.low), kNoHigh};
  return Interval::all();
}

/// Only positive divisors; layouts divide by constants.
Interval divIntervals(Interval a, Interval b) {
  if (b.low <= 0)
    return Interval::all();
  Interval result = Interval::all();
  if (a.hasLow())
    result.low = *checkedFloorDiv(a.low, a.low >= 0 ? b.high : b.low);
  if (a.hasHigh())
    result.high = *checkedFloorDiv(a.high, a.high >= 0 ? b.low : b.high);
  return result;
}

Interval modIntervals(Interval a, Interval b) {
  if (b.low <= 0)
    return Interval::all();
  if (a.low >= 0 && a.high < b.low) // already reduced
    return a;
  int64_t high = b.hasHigh() ? b.high - 1 : kNoHigh;
  if (a.low >= 0)
    high = std::min(high, a.high);
  return {0, high};
}

Interval xorIntervals(Interval a, Interval b) {
  if (a.low < 0 || b.low < 0)
    return Interval::all();
  if (!a.hasHigh() || !b.hasHigh())
    return {0, kNoHigh};
  unsigned bits = std::bit_width(uint64_t(a.high) | uint64_t(b.high));
  return {0, int64_t(llvm::maskTrailingOnes<uint64_t>(bits))};
}

Interval combineIntervals(Kind kind, Interval a, Interval b) {
  switch (kind) {
  case Kind::Add:
    return addIntervals(a, b);
  case Kind::Sub:
    return subIntervals(a, b);
  case Kind::Mul:
    return mulIntervals(a, b);
  case Kind::FloorDiv:
    return divIntervals(a, b);
  case Kind::Mod:
    return modIntervals(a, b);
  case Kind::Xor:
    return xorIntervals(a, b);
  case Kind::Min:
    return {std::min(a.low, b.low), std::min(a.high, b.high)};
  case Kind::Max:
    return {std::max(a.low, b.low), std::max(a.high, b.high)};
  default:
    return Interval::all();
  }
}

//===----------------------------------------------------------------------------------------===//
// Congruences
//===----------------------------------------------------------------------------------------===//

struct Congruence {
  int64_t modulus, remainder;

  static Congruence nothing() { return {1, 0}; }
  /// Every value of the form remainder + k * modulus; brings the remainder into range.
  static Congruence make(__int128 modulus, __int128 remainder) {
    if (modulus > kNoHigh)
      return nothing();
    if (modulus == 0)
      return remainder < kNoLow || remainder > kNoHigh ? nothing()
                                                       : Congruence{0, int64_t(remainder)};
    __int128 reduced = remainder % modulus;
    return {int64_t(modulus), int64_t(reduced < 0 ? reduced + modulus : reduced)};
  }
};

__int128 gcd128(__int128 a, __int128 b) {
  a = a < 0 ? -a : a;
  b = b < 0 ? -b : b;
  while (b != 0) {
    __int128 rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

Congruence mulCongruences(Congruence a, Congruence b) {
  // (k m + r)(l n + s) = k l m n + k m s + l n r + r s
  __int128 modulus =
      gcd128(gcd128(__int128(a.modulus) * b.modulus, __int128(a.modulus) * b.remainder),
             __int128(b.modulus) * a.remainder);
  return Congruence::make(modulus, __int128(a.remainder) * b.remainder);
}

Congruence divCongruence(Congruence a, int64_t divisor) {
  if (divisor <= 0 || a.modulus % divisor != 0)
    return Congruence::nothing();
  return Congruence::make(a.modulus / divisor, *checkedFloorDiv(a.remainder, divisor));
}

Congruence modCongruence(Congruence a, int64_t divisor) {
  if (divisor <= 0)
    return Congruence::nothing();
  if (a.modulus % divisor == 0)
    return Congruence::make(0, floorMod(a.remainder, divisor));
  return Congruence::make(std::gcd(a.modulus, divisor), a.remainder);
}

/// The lowest bits of both sides are known as far as both moduli have factors of two.
Congruence xorCongruences(Congruence a, Congruence b) {
  auto knownBits = [](int64_t modulus) {
    return modulus == 0 ? 62 : std::countr_zero(uint64_t(modulus));
  };
  if (a.modulus == 0 && b.modulus == 0)
    return Congruence::make(0, a.remainder ^ b.remainder);
  int bits = std::min(knownBits(a.modulus), knownBits(b.modulus));
  return Congruence::make(int64_t(1) << bits, a.remainder ^ b.remainder);
}

Congruence combineCongruences(Kind kind, Congruence a, Congruence b) {
  switch (kind) {
  case Kind::Add:
    return Congruence::make(std::gcd(a.modulus, b.modulus), __int128(a.remainder) + b.remainder);
  case Kind::Sub:
    return Congruence::make(std::gcd(a.modulus, b.modulus), __int128(a.remainder) - b.remainder);
  case Kind::Mul:
    return mulCongruences(a, b);
  case Kind::FloorDiv:
    return b.modulus == 0 ? divCongruence(a, b.remainder) : Congruence::nothing();
  case Kind::Mod:
    if (b.modulus == 0)
      return modCongruence(a, b.remainder);
    // x % y = x - k y keeps what divides both.
    return Congruence::make(gcd128(gcd128(a.modulus, b.modulus), b.remainder), a.remainder);
  case Kind::Xor:
    return xorCongruences(a, b);
  case Kind::Min:
  case Kind::Max: // one of the two
    return Congruence::make(
        gcd128(gcd128(a.modulus, b.modulus), __int128(a.remainder) - b.remainder), a.remainder);
  default:
    return Congruence::nothing();
  }
}
} // namespace

IndexFacts tilewright::combineFacts(Kind kind, const IndexFacts &lhs, const IndexFacts &rhs) {
  Interval interval = combineIntervals(kind, {lhs.low, lhs.high}, {rhs.low, rhs.high});
  Congruence congruence =
      combineCongruences(kind, {lhs.modulus, lhs.remainder}, {rhs.modulus, rhs.remainder});
  // Each half may know that the value is a constant.
  if (interval.low == interval.high && interval.isBounded())
    return IndexFacts::constant(interval.low);
  if (congruence.modulus == 0)
    return IndexFacts::constant(congruence.remainder);
  return {interval.low, interval.high, congruence.modulus, congruence.remainder};
}

//===----------------------------------------------------------------------------------------===//
// Walks
//===----------------------------------------------------------------------------------------===//

namespace {
/// Computes the facts of each node once and shows them to `visit`.
class Analysis {
public:
  Analysis(ArrayRef<IndexFacts> dims, ArrayRef<IndexFacts> symbols,
           llvm::function_ref<void(const IndexFacts &)> visit)
      : dims(dims), symbols(symbols), visit(visit) {}

  IndexFacts analyze(const IndexExpr &expr) {
    if (auto found = done.find(expr.getOpaque()); found != done.end())
      return found->second;
    IndexFacts facts = compute(expr);
    done.try_emplace(expr.getOpaque(), facts);
    visit(facts);
    return facts;
  }

private:
  IndexFacts compute(const IndexExpr &expr) {
    switch (expr.getKind()) {
    case Kind::Constant:
      return IndexFacts::constant(*expr.getConstant());
    case Kind::Dim:
      return expr.getPosition() < dims.size() ? dims[expr.getPosition()] : IndexFacts();
    case Kind::Symbol:
      return expr.getPosition() < symbols.size() ? symbols[expr.getPosition()] : IndexFacts();
    default:
      return combineFacts(expr.getKind(), analyze(expr.getLhs()), analyze(expr.getRhs()));
    }
  }

  ArrayRef<IndexFacts> dims, symbols;
  llvm::function_ref<void(const IndexFacts &)> visit;
  llvm::SmallDenseMap<const void *, IndexFacts, 16> done;
};
} // namespace

IndexFacts tilewright::analyzeIndexExpr(const IndexExpr &expr, ArrayRef<IndexFacts> dims,
                                        ArrayRef<IndexFacts> symbols) {
  return Analysis(dims, symbols, [](const IndexFacts &) {}).analyze(expr);
}

llvm::SmallVector<IndexFacts, 4> tilewright::factsOfShape(ArrayRef<int64_t> shape) {
  return llvm::to_vector<4>(llvm::map_range(shape, IndexFacts::inExtent));
}

bool tilewright::staysWithin(const IndexExpr &expr, ArrayRef<IndexFacts> dims, int64_t low,
                             int64_t high) {
  bool within = true;
  auto check = [&](const IndexFacts &facts) {
    within &= facts.isBounded() && facts.low >= low && facts.high <= high;
  };
  Analysis(dims, {}, check).analyze(expr);
  return within;
}
