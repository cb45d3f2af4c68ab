//===- F2Matrix.cpp - bit matrices over the field of two elements ---------------------------===//

#include "tilewright/Layout/F2Matrix.h"
#include <bit>
#include <cassert>

using namespace tilewright;

F2Matrix::F2Matrix(unsigned numColumns, llvm::ArrayRef<uint64_t> rowList)
    : numColumns(numColumns), rows(rowList.begin(), rowList.end()) {
  assert(numColumns <= 64 && "a row is one word");
  // Gauss-Jordan, one row at a time.
  for (unsigned row = 0; row < rows.size(); ++row) {
    uint64_t vector = rows[row], combination = 0;
    for (const BasisRow &known : basis) {
      if ((vector >> known.pivot & 1) == 0)
        continue;
      vector ^= known.vector;
      combination ^= known.combination;
    }
    if (vector == 0) {
      if (!dependentRow)
        dependentRow = row;
      continue;
    }
    combination |= uint64_t(1) << independentRows.size();
    independentRows.push_back(row);
    unsigned pivot = std::countr_zero(vector);
    for (BasisRow &known : basis) {
      if ((known.vector >> pivot & 1) == 0)
        continue;
      known.vector ^= vector;
      known.combination ^= combination;
    }
    basis.push_back({vector, combination, pivot});
  }
}

std::optional<uint64_t> F2Matrix::getKernelVector() const {
  uint64_t pivots = 0;
  for (const BasisRow &row : basis)
    pivots |= uint64_t(1) << row.pivot;
  if (std::popcount(pivots) == int(numColumns))
    return std::nullopt;
  // A free column, and the pivots of the rows in which it occurs. Pivots are the lowest columns of
  // their rows when found, so the lowest free column gives the lowest vector.
  unsigned free = std::countr_one(pivots);
  uint64_t vector = uint64_t(1) << free;
  for (const BasisRow &row : basis)
    if (row.vector >> free & 1)
      vector |= uint64_t(1) << row.pivot;
  return vector;
}

std::optional<F2Matrix::LeftInverse> F2Matrix::getLeftInverse() const {
  if (basis.size() != numColumns)
    return std::nullopt;
  // With full rank every reduced row is a unit vector.
  LeftInverse inverse{independentRows, llvm::SmallVector<uint64_t, 8>(numColumns, 0)};
  for (const BasisRow &row : basis)
    inverse.combinations[row.pivot] = row.combination;
  return inverse;
}
