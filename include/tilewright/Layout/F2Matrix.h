//===- F2Matrix.h - bit matrices over the field of two elements -------------------*- C++ -*-===//

#ifndef TILEWRIGHT_LAYOUT_F2MATRIX_H
#define TILEWRIGHT_LAYOUT_F2MATRIX_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <optional>

namespace tilewright {

/// A matrix of zeros and ones with xor as addition: any number of rows, at most 64 columns. A row
/// is a word whose bit c is the entry in column c; a vector of columns is a word as well.
class F2Matrix {
public:
  F2Matrix(unsigned numColumns, llvm::ArrayRef<uint64_t> rows);

  unsigned getNumColumns() const { return numColumns; }
  llvm::ArrayRef<uint64_t> getRows() const { return rows; }
  unsigned getRank() const { return basis.size(); }

  /// A nonzero vector that the matrix maps to 0, with its highest column as low as possible;
  /// nothing if the columns are independent.
  std::optional<uint64_t> getKernelVector() const;

  /// The first row that is the xor of rows above it; nothing if the rows are independent.
  std::optional<unsigned> getDependentRow() const { return dependentRow; }

  /// How to get a vector back from its image: column c is the xor of the image's entries at the
  /// rows `rows[k]` for which bit k of `combinations[c]` is set.
  struct LeftInverse {
    llvm::SmallVector<unsigned, 8> rows;
    llvm::SmallVector<uint64_t, 8> combinations;
  };
  /// Nothing if the columns are dependent.
  std::optional<LeftInverse> getLeftInverse() const;

private:
  /// A reduced row: `vector` has its pivot column set, and no other basis row has it. It is the xor
  /// of the independent rows in `combination` (bit k: independentRows[k]).
  struct BasisRow {
    uint64_t vector;
    uint64_t combination;
    unsigned pivot;
  };

  unsigned numColumns;
  llvm::SmallVector<uint64_t, 8> rows;
  llvm::SmallVector<BasisRow, 8> basis;
  llvm::SmallVector<unsigned, 8> independentRows;
  std::optional<unsigned> dependentRow;
};

} // namespace tilewright

#endif // TILEWRIGHT_LAYOUT_F2MATRIX_H
