//===- F2Form.h - layouts that are linear in the bits of the index ----------------*- C++ -*-===//
//
// Where all extents are powers of two, the usual layouts only move, copy and xor bits: each bit of
// an output is the xor of some bits of the index, perhaps flipped. Such a layout is a bit matrix:
//
//   (i, j) -> (j ^ 4 * (i % 8)) on 8 x 32        columns: the output word for a single index bit
//
//       i: 1 -> 4, 2 -> 8, 4 -> 16               j: 1 -> 1, 2 -> 2, 4 -> 4, 8 -> 8, 16 -> 16
//
// The form is read off the structure: * // % by powers of two shift and mask, ^ xors, + xors where
// both sides have no bit in common. Equality, injectivity and coverage are then exact and cost a
// few word operations; code generation keeps the xors of the thread's part apart from those of a
// constant slot.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_LAYOUT_F2FORM_H
#define TILEWRIGHT_LAYOUT_F2FORM_H

#include "tilewright/Layout/F2Matrix.h"
#include "tilewright/Layout/Layout.h"

namespace tilewright {

/// One output: `constant ^ columns[b1] ^ columns[b2] ^ …` over the set bits of the index.
struct F2Word {
  uint64_t constant = 0;
  llvm::SmallVector<uint64_t, 16> columns; ///< One for each bit of the index.

  /// Every bit that can be set.
  uint64_t getMask() const;
  /// Whether no bit of the index matters.
  bool isConstant() const;
  uint64_t evaluate(uint64_t indexBits) const;
  friend bool operator==(const F2Word &, const F2Word &) = default;
};

class F2Form {
public:
  /// A bit of the logical index; bits are numbered by dim, the lowest bit first.
  struct IndexBit {
    unsigned dim;
    unsigned bit;
  };

  /// Nothing if an extent is no power of two or an expression is not linear.
  static std::optional<F2Form> read(llvm::ArrayRef<IndexExpr> exprs, llvm::ArrayRef<int64_t> shape);
  /// The outputs of a layout (memoised on it).
  static const std::optional<F2Form> &of(const Layout &layout);

  llvm::ArrayRef<IndexBit> getIndexBits() const { return indexBits; }
  llvm::ArrayRef<F2Word> getOutputs() const { return outputs; }

  /// A row for each bit of each output that can be set, a column for each bit of the index.
  F2Matrix getMatrix() const;
  /// The logical index with these bits.
  llvm::SmallVector<int64_t, 4> toIndex(uint64_t bits) const;

private:
  unsigned rank = 0;
  llvm::SmallVector<IndexBit, 16> indexBits;
  llvm::SmallVector<F2Word, 4> outputs;
};

} // namespace tilewright

#endif // TILEWRIGHT_LAYOUT_F2FORM_H
