//===- F2Form.cpp - layouts that are linear in the bits of the index ------------------------===//

#include "tilewright/Layout/F2Form.h"
#include "LayoutCache.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <bit>

using namespace tilewright;
using llvm::ArrayRef;
using llvm::SmallVector;
using Kind = IndexExpr::Kind;

/// Output words stay below this bit, so that they are non-negative as integers.
static constexpr unsigned kMaxBits = 62;

uint64_t F2Word::getMask() const {
  uint64_t mask = constant;
  for (uint64_t column : columns)
    mask |= column;
  return mask;
}

bool F2Word::isConstant() const {
  return llvm::all_of(columns, [](uint64_t column) { return column == 0; });
}

uint64_t F2Word::evaluate(uint64_t indexBits) const {
  uint64_t word = constant;
  for (auto [bit, column] : llvm::enumerate(columns))
    if (indexBits >> bit & 1)
      word ^= column;
  return word;
}

namespace {

class F2Reader {
public:
  F2Reader(ArrayRef<F2Form::IndexBit> indexBits) : indexBits(indexBits) {}

  std::optional<F2Word> wordOf(const IndexExpr &expr) {
    if (auto found = done.find(expr.getOpaque()); found != done.end())
      return found->second;
    std::optional<F2Word> word = compute(expr);
    if (word && std::bit_width(word->getMask()) > kMaxBits)
      word = std::nullopt;
    if (word)
      done.try_emplace(expr.getOpaque(), *word);
    return word;
  }

private:
  F2Word constantWord(uint64_t value) const {
    return {value, SmallVector<uint64_t, 16>(indexBits.size(), 0)};
  }

  std::optional<F2Word> compute(const IndexExpr &expr) {
    switch (expr.getKind()) {
    case Kind::Constant:
      if (*expr.getConstant() < 0)
        return std::nullopt;
      return constantWord(*expr.getConstant());
    case Kind::Dim: {
      F2Word word = constantWord(0);
      for (auto [bit, column] : llvm::zip(indexBits, word.columns))
        if (bit.dim == expr.getPosition())
          column = uint64_t(1) << bit.bit;
      return word;
    }
    case Kind::Symbol:
      return std::nullopt;
    default:
      break;
    }
    std::optional<F2Word> lhs = wordOf(expr.getLhs());
    if (!lhs)
      return std::nullopt;
    std::optional<F2Word> rhs = wordOf(expr.getRhs());
    if (!rhs)
      return std::nullopt;
    return combine(expr.getKind(), *lhs, *rhs);
  }

  static std::optional<F2Word> combine(Kind kind, const F2Word &lhs, const F2Word &rhs) {
    switch (kind) {
    case Kind::Xor:
      return xorWords(lhs, rhs);
    case Kind::Add:
      if ((lhs.getMask() & rhs.getMask()) != 0)
        return std::nullopt;
      return xorWords(lhs, rhs);
    case Kind::Sub: // c - x flips the bits of x where c has them all
      if (!lhs.isConstant() || (rhs.getMask() & ~lhs.constant) != 0)
        return std::nullopt;
      return xorWords(lhs, rhs);
    case Kind::Mul:
      if (std::optional<unsigned> shift = powerOfTwo(rhs))
        return shiftLeft(lhs, *shift);
      if (std::optional<unsigned> shift = powerOfTwo(lhs))
        return shiftLeft(rhs, *shift);
      return std::nullopt;
    case Kind::FloorDiv:
      if (std::optional<unsigned> shift = powerOfTwo(rhs))
        return map(lhs, [&](uint64_t word) { return word >> *shift; });
      return std::nullopt;
    case Kind::Mod:
      if (std::optional<unsigned> bits = powerOfTwo(rhs))
        return map(lhs,
                   [&](uint64_t word) { return word & llvm::maskTrailingOnes<uint64_t>(*bits); });
      return std::nullopt;
    default:
      return std::nullopt;
    }
  }

  /// The exponent, if the word is a constant power of two.
  static std::optional<unsigned> powerOfTwo(const F2Word &word) {
    if (!word.isConstant() || !std::has_single_bit(word.constant))
      return std::nullopt;
    return std::countr_zero(word.constant);
  }

  static std::optional<F2Word> shiftLeft(const F2Word &word, unsigned shift) {
    if (std::bit_width(word.getMask()) + shift > kMaxBits)
      return std::nullopt;
    return map(word, [&](uint64_t bits) { return bits << shift; });
  }

  template <typename FnT> static F2Word map(const F2Word &word, FnT fn) {
    F2Word result{fn(word.constant), {}};
    for (uint64_t column : word.columns)
      result.columns.push_back(fn(column));
    return result;
  }

  static F2Word xorWords(const F2Word &lhs, const F2Word &rhs) {
    F2Word result{lhs.constant ^ rhs.constant, {}};
    for (auto [a, b] : llvm::zip(lhs.columns, rhs.columns))
      result.columns.push_back(a ^ b);
    return result;
  }

  ArrayRef<F2Form::IndexBit> indexBits;
  llvm::SmallDenseMap<const void *, F2Word, 16> done;
};

} // namespace

std::optional<F2Form> F2Form::read(ArrayRef<IndexExpr> exprs, ArrayRef<int64_t> shape) {
  F2Form form;
  form.rank = shape.size();
  for (auto [dim, extent] : llvm::enumerate(shape)) {
    if (extent <= 0 || !std::has_single_bit(uint64_t(extent)))
      return std::nullopt;
    for (unsigned bit = 0; bit < unsigned(std::countr_zero(uint64_t(extent))); ++bit)
      form.indexBits.push_back({unsigned(dim), bit});
  }
  if (form.indexBits.size() > kMaxBits)
    return std::nullopt;
  F2Reader reader(form.indexBits);
  for (const IndexExpr &expr : exprs) {
    std::optional<F2Word> word = reader.wordOf(expr);
    if (!word)
      return std::nullopt;
    form.outputs.push_back(std::move(*word));
  }
  return form;
}

const std::optional<F2Form> &F2Form::of(const Layout &layout) {
  return layout.getCache().f2.get(
      [&] { return F2Form::read(layout.getOutputs(), layout.getShape()); });
}

F2Matrix F2Form::getMatrix() const {
  SmallVector<uint64_t, 16> rows;
  for (const F2Word &output : outputs) {
    for (uint64_t left = output.getMask(); left != 0; left &= left - 1) {
      unsigned outputBit = std::countr_zero(left);
      uint64_t row = 0;
      for (auto [bit, column] : llvm::enumerate(output.columns))
        row |= (column >> outputBit & 1) << bit;
      rows.push_back(row);
    }
  }
  return F2Matrix(indexBits.size(), rows);
}

SmallVector<int64_t, 4> F2Form::toIndex(uint64_t bits) const {
  SmallVector<int64_t, 4> index(rank, 0);
  for (auto [position, bit] : llvm::enumerate(indexBits))
    if (bits >> position & 1)
      index[bit.dim] |= int64_t(1) << bit.bit;
  return index;
}
