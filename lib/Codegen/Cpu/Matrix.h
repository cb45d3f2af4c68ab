//===- Matrix.h - a matrix in memory, as products read it ---------------------------*- C++ -*-===//

#ifndef TILEWRIGHT_LIB_CODEGEN_CPU_MATRIX_H
#define TILEWRIGHT_LIB_CODEGEN_CPU_MATRIX_H

#include "Emitter.h"

namespace tilewright::cpu {

/// Element (r, c) is `pointer[r * rowStride + c * columnStride]`.
struct Matrix {
  const Root *root;
  mlir::Value pointer;
  mlir::Value rowStride, columnStride;

  Matrix transposed() const { return {root, pointer, columnStride, rowStride}; }
};

/// The last two dimensions of a row-major view without elements out of bounds.
Matrix asMatrix(Emitter &e, const View &view);
/// The same if that is so, and the elements are stored as `element`.
std::optional<Matrix> getMatrix(Emitter &e, const View &view, mlir::Type element);

/// One matrix or the other. What is known of accesses holds for both.
Matrix chooseMatrix(Emitter &e, mlir::Value condition, const Matrix &yes, const Matrix &no);

mlir::Value addressIn(Emitter &e, const Matrix &matrix, mlir::Type element, mlir::Value row,
                      mlir::Value column);
/// `width` elements of a row, from `column` on. Only the first `count` are read, all if negative.
mlir::Value loadVector(Emitter &e, const Matrix &matrix, mlir::Type element, int64_t width,
                       mlir::Value row, mlir::Value column, int64_t count = -1);
void storeVector(Emitter &e, const Matrix &matrix, mlir::Value row, mlir::Value column,
                 mlir::Value value, int64_t count);

/// Transposes a square of vectors.
void transposeSquare(mlir::ImplicitLocOpBuilder &b, llvm::MutableArrayRef<mlir::Value> rows);

} // namespace tilewright::cpu

#endif // TILEWRIGHT_LIB_CODEGEN_CPU_MATRIX_H
