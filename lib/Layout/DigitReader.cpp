//===- DigitReader.cpp - read the digit form off expressions --------------------------------===//
//
// A bottom-up reading: every subexpression becomes a DigitSum over the digits known so far.
// Division, remainder and xor may find that a term reaches across a boundary; they then cut
// its digits there, and the reading starts again with more digits. Each restart adds a cut
// and the number of digits is bounded, so this ends.
//
//===----------------------------------------------------------------------------------------===//

#include "tilewright/Layout/DigitForm.h"
#include "tilewright/Support/IndexMath.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <bit>

using namespace tilewright;
using llvm::ArrayRef;
using llvm::SmallVector;
using Kind = IndexExpr::Kind;

namespace {
/// The values that a sum can take if its terms are independent; wide enough for any sum.
struct Reach {
  __int128 low, high;
  bool bounded = true;
};

Reach reachOf(int64_t constant, ArrayRef<DigitTerm> terms) {
  Reach reach{constant, constant};
  for (const DigitTerm &term : terms) {
    reach.bounded &= term.isBounded();
    __int128 end = __int128(term.coefficient) * (term.isBounded() ? term.range - 1 : 0);
    (end < 0 ? reach.low : reach.high) += end;
  }
  return reach;
}

/// Keeps the arithmetic of everyone who works with sums inside 64 bits.
bool isModest(const Reach &reach) {
  constexpr __int128 kLimit = __int128(1) << 61;
  return reach.low >= -kLimit && reach.high <= kLimit;
}
} // namespace

namespace tilewright {

class DigitReader {
public:
  explicit DigitReader(ArrayRef<int64_t> shape) {
    form.shape.assign(shape.begin(), shape.end());
    cuts.resize(shape.size(), {1});
  }

  std::optional<DigitForm> read(ArrayRef<IndexExpr> exprs) {
    if (llvm::is_contained(form.shape, 0))
      return std::nullopt;
    do {
      if (!startOver())
        return std::nullopt;
      for (const IndexExpr &expr : exprs) {
        std::optional<DigitSum> sum = sumOf(expr);
        if (!sum)
          break;
        form.sums.push_back(std::move(*sum));
      }
      if (form.sums.size() == exprs.size())
        return form;
    } while (cutRequested);
    return std::nullopt;
  }

private:
  bool startOver();
  std::optional<DigitSum> sumOf(const IndexExpr &expr);
  std::optional<DigitSum> compute(const IndexExpr &expr);
  DigitSum sumOfDim(unsigned dim) const;
  std::optional<DigitSum> multiply(const DigitSum &lhs, const DigitSum &rhs);
  std::optional<DigitSum> divide(const DigitSum &lhs, const DigitSum &rhs, bool wantQuotient);
  std::optional<DigitSum> combineXor(const DigitSum &lhs, const DigitSum &rhs);
  std::optional<DigitSum> select(Kind kind, const DigitSum &lhs, const DigitSum &rhs);
  bool requestCut(const DigitTerm &term, int64_t at);
  bool alignBits(const DigitSum &lhs, const DigitSum &rhs);

  DigitForm form;
  SmallVector<SmallVector<int64_t, 4>, 4> cuts; ///< Of each dim: weights, ascending, from 1.
  bool cutRequested = false;
  llvm::SmallDenseMap<const void *, DigitSum, 16> done;
};

/// Lists the digits that the cuts make; false if there are too many.
bool DigitReader::startOver() {
  form.digits.clear();
  form.sums.clear();
  form.exact = true;
  done.clear();
  cutRequested = false;
  for (auto [dim, extent] : llvm::enumerate(form.shape)) {
    if (extent == 1)
      continue;
    ArrayRef<int64_t> weights = cuts[dim];
    for (auto [position, weight] : llvm::enumerate(weights)) {
      int64_t range = kDynamic;
      if (position + 1 < weights.size())
        range = weights[position + 1] / weight;
      else if (extent != kDynamic)
        range = llvm::divideCeil(extent, weight);
      form.digits.push_back({unsigned(dim), weight, range});
    }
    // A dynamic extent may be no multiple of a cut.
    if (extent == kDynamic ? weights.size() > 1 : extent % weights.back() != 0)
      form.exact = false;
  }
  return form.digits.size() <= DigitForm::kMaxDigits;
}

/// Cuts all digits of the term where its value reaches `at`; false if it cannot be cut there.
bool DigitReader::requestCut(const DigitTerm &term, int64_t at) {
  if (at <= 1 || (term.isBounded() && at >= term.range))
    return false;
  for (unsigned position = 0; position < form.digits.size(); ++position) {
    if ((term.digits >> position & 1) == 0)
      continue;
    const Digit &digit = form.digits[position];
    std::optional<int64_t> weight = checkedMul(digit.weight, at);
    SmallVector<int64_t, 4> &weights = cuts[digit.dim];
    bool isHighest = digit.weight == weights.back();
    if (!weight || (!isHighest && digit.range % at != 0))
      return false;
    if (llvm::is_contained(weights, *weight))
      continue;
    weights.insert(llvm::lower_bound(weights, *weight), *weight);
    cutRequested = true;
  }
  return cutRequested;
}

std::optional<DigitSum> DigitReader::sumOf(const IndexExpr &expr) {
  if (auto found = done.find(expr.getOpaque()); found != done.end())
    return found->second;
  std::optional<DigitSum> sum = compute(expr);
  if (sum && !isModest(reachOf(sum->constant, sum->terms)))
    return std::nullopt;
  if (sum)
    done.try_emplace(expr.getOpaque(), *sum);
  return sum;
}

std::optional<DigitSum> DigitReader::compute(const IndexExpr &expr) {
  switch (expr.getKind()) {
  case Kind::Constant:
    return DigitSum{*expr.getConstant(), {}};
  case Kind::Dim:
    return sumOfDim(expr.getPosition());
  case Kind::Symbol:
    return std::nullopt;
  default:
    break;
  }
  std::optional<DigitSum> lhs = sumOf(expr.getLhs());
  if (!lhs)
    return std::nullopt;
  std::optional<DigitSum> rhs = sumOf(expr.getRhs());
  if (!rhs)
    return std::nullopt;
  switch (expr.getKind()) {
  case Kind::Add:
    return addScaled(*lhs, *rhs, 1);
  case Kind::Sub:
    return addScaled(*lhs, *rhs, -1);
  case Kind::Mul:
    return multiply(*lhs, *rhs);
  case Kind::FloorDiv:
    return divide(*lhs, *rhs, /*wantQuotient=*/true);
  case Kind::Mod:
    return divide(*lhs, *rhs, /*wantQuotient=*/false);
  case Kind::Xor:
    return combineXor(*lhs, *rhs);
  default:
    return select(expr.getKind(), *lhs, *rhs);
  }
}

DigitSum DigitReader::sumOfDim(unsigned dim) const {
  DigitSum sum;
  for (auto [position, digit] : llvm::enumerate(form.digits))
    if (digit.dim == dim)
      sum.terms.push_back({digit.weight, uint64_t(1) << position, /*flip=*/0, digit.range});
  return sum;
}

std::optional<DigitSum> DigitReader::multiply(const DigitSum &lhs, const DigitSum &rhs) {
  if (rhs.terms.empty())
    return addScaled({}, lhs, rhs.constant);
  if (lhs.terms.empty())
    return addScaled({}, rhs, lhs.constant);
  return std::nullopt;
}

/// `sum // c` and `sum % c`: terms whose coefficient is a multiple of c go into the quotient; all
/// others, with the rest of the constant, must stay within [0, c) and are the remainder.
std::optional<DigitSum> DigitReader::divide(const DigitSum &lhs, const DigitSum &rhs,
                                            bool wantQuotient) {
  if (!rhs.terms.empty() || rhs.constant <= 0)
    return std::nullopt;
  int64_t divisor = rhs.constant;
  DigitSum quotient{*checkedFloorDiv(lhs.constant, divisor), {}};
  DigitSum remainder{floorMod(lhs.constant, divisor), {}};
  for (DigitTerm term : lhs.terms) {
    if (term.coefficient % divisor != 0) {
      remainder.terms.push_back(term);
      continue;
    }
    term.coefficient /= divisor;
    quotient.terms.push_back(term);
  }
  Reach reach = reachOf(remainder.constant, remainder.terms);
  if (reach.bounded && reach.low >= 0 && reach.high < divisor)
    return wantQuotient ? quotient : remainder;
  for (const DigitTerm &term : remainder.terms)
    if (divisor % term.coefficient == 0)
      requestCut(term, std::abs(divisor / term.coefficient));
  return std::nullopt;
}

std::optional<DigitSum> DigitReader::select(Kind kind, const DigitSum &lhs, const DigitSum &rhs) {
  Reach a = reachOf(lhs.constant, lhs.terms), b = reachOf(rhs.constant, rhs.terms);
  if (!a.bounded || !b.bounded)
    return std::nullopt;
  if (a.high <= b.low)
    return kind == Kind::Min ? lhs : rhs;
  if (b.high <= a.low)
    return kind == Kind::Min ? rhs : lhs;
  return std::nullopt;
}

//===----------------------------------------------------------------------------------------===//
// Xor
//===----------------------------------------------------------------------------------------===//

namespace {
/// The bits [begin, end) that a weighted term occupies in a sum.
struct BitRange {
  unsigned begin, end;

  bool overlaps(BitRange other) const { return begin < other.end && other.begin < end; }
  uint64_t mask() const {
    return llvm::maskTrailingOnes<uint64_t>(end) & ~llvm::maskTrailingOnes<uint64_t>(begin);
  }
};

constexpr unsigned kTopBit = 62;

std::optional<BitRange> bitsOf(const DigitTerm &term) {
  if (term.coefficient <= 0 || !std::has_single_bit(uint64_t(term.coefficient)))
    return std::nullopt;
  unsigned begin = std::countr_zero(uint64_t(term.coefficient));
  if (!term.isBounded())
    return BitRange{begin, kTopBit};
  unsigned end = begin + std::bit_width(uint64_t(term.range - 1));
  return end < kTopBit ? std::optional(BitRange{begin, end}) : std::nullopt;
}

bool isFull(const DigitTerm &term) {
  return term.isBounded() && std::has_single_bit(uint64_t(term.range));
}

/// The bits of a sum whose terms and constant occupy disjoint bits; nothing for other sums.
std::optional<uint64_t> disjointBits(const DigitSum &sum) {
  if (sum.constant < 0)
    return std::nullopt;
  uint64_t bits = sum.constant;
  for (const DigitTerm &term : sum.terms) {
    std::optional<BitRange> range = bitsOf(term);
    if (!range || (bits & range->mask()) != 0)
      return std::nullopt;
    bits |= range->mask();
  }
  return bits;
}
} // namespace

/// Requests cuts until terms of `lhs` and `rhs` that overlap occupy the same bits; true if they do.
bool DigitReader::alignBits(const DigitSum &lhs, const DigitSum &rhs) {
  bool aligned = true;
  auto cutAt = [&](const DigitTerm &term, BitRange bits, unsigned boundary) {
    if (bits.begin < boundary && boundary < bits.end) {
      aligned = false;
      requestCut(term, int64_t(1) << (boundary - bits.begin));
    }
  };
  auto cutAlong = [&](const DigitSum &cutSum, const DigitSum &along) {
    for (const DigitTerm &term : cutSum.terms) {
      BitRange bits = *bitsOf(term);
      for (const DigitTerm &other : along.terms) {
        BitRange otherBits = *bitsOf(other); // cuts nothing where the two do not meet
        cutAt(term, bits, otherBits.begin);
        cutAt(term, bits, otherBits.end);
      }
      // A constant flips bits of a full term wherever they are; others are cut free of it.
      uint64_t constant = uint64_t(along.constant) & bits.mask();
      if (constant == 0 || isFull(term))
        continue;
      cutAt(term, bits, std::countr_zero(constant));
      cutAt(term, bits, std::bit_width(constant));
    }
  };
  cutAlong(lhs, rhs);
  cutAlong(rhs, lhs);
  return aligned;
}

std::optional<DigitSum> DigitReader::combineXor(const DigitSum &lhs, const DigitSum &rhs) {
  if (!disjointBits(lhs) || !disjointBits(rhs) || !alignBits(lhs, rhs))
    return std::nullopt;
  DigitSum result{lhs.constant ^ rhs.constant, lhs.terms};
  for (const DigitTerm &term : rhs.terms) {
    DigitTerm *same = llvm::find_if(
        result.terms, [&](const DigitTerm &have) { return bitsOf(have)->overlaps(*bitsOf(term)); });
    if (same == result.terms.end()) {
      result.terms.push_back(term);
      continue;
    }
    if (!isFull(term) || !isFull(*same))
      return std::nullopt;
    same->digits ^= term.digits;
    same->flip ^= term.flip;
  }
  for (DigitTerm &term : result.terms) {
    BitRange bits = *bitsOf(term);
    uint64_t flipped = uint64_t(result.constant) & bits.mask();
    if (flipped != 0 && !isFull(term))
      return std::nullopt;
    term.flip ^= flipped >> bits.begin;
    result.constant &= ~flipped;
    if (term.digits == 0) // x ^ x: only the flip is left
      result.constant |= term.flip << bits.begin;
  }
  llvm::erase_if(result.terms, [](const DigitTerm &term) { return term.digits == 0; });
  return addScaled({}, result, 1); // sorted
}

} // namespace tilewright

std::optional<DigitForm> DigitForm::read(ArrayRef<IndexExpr> exprs, ArrayRef<int64_t> shape) {
  return DigitReader(shape).read(exprs);
}
