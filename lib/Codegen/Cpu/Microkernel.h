//===- Microkernel.h - the product of two matrices in memory ------------------------*- C++ -*-===//
//
// C = source + A * B, each element a sum over k. Tiles are small enough for the caches, so there is
// no blocking beyond registers. The microkernel keeps a block of C in registers, `rows` x `vectors`
// of them, and goes over k once:
//
//                     B row k:  [ v0 ][ v1 ][ v2 ][ v3 ]
//      A column k:  a0          acc00 acc01 acc02 acc03        acc[i][j] += broadcast(a[i]) * v[j]
//                   a1          acc10 acc11 …
//
// So B must be contiguous along n, while A is read one element at a time and may have any strides.
// Extents that no register block divides leave smaller blocks at the edges; the last columns use
// masked loads and stores.
//
// It knows matrices, element types and what to prefetch, and nothing of tile IR.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_LIB_CODEGEN_CPU_MICROKERNEL_H
#define TILEWRIGHT_LIB_CODEGEN_CPU_MICROKERNEL_H

#include "Matrix.h"

namespace tilewright::cpu {

/// What a part of a tensor is in memory: stretches of so many lines each.
struct Stretches {
  int64_t count, lines;
  std::function<mlir::Value(mlir::Value number)> startOf; ///< The address of one.
  bool isForLater = false;                                ///< Wanted in the second cache.
};

/// C = source + A * B over m x n x k, with all but A contiguous along n.
struct Product {
  /// What one step along k does with an element of A, broadcast, and a vector of B. The dot
  /// products take 32-bit words: two bfloat16, two int16, or four bytes with one unsigned side.
  enum class Step { Fma, DotBf16, DotInt16, DotUnsignedSigned, DotSignedUnsigned };

  Matrix a, b, c, source;
  int64_t m, n, k; ///< k counts elements of `operandType`.
  mlir::Type sumType;
  mlir::Type operandType; ///< Of A and B: `sumType`, or i32 for words.
  Step step;
  int64_t width;                ///< Elements of a vector of sums.
  int64_t alignmentA;           ///< Bytes.
  bool isCompact;               ///< Seldom runs: little code before speed.
  bool isPadded;                ///< B's rows may be read to the end of the last vector.
  bool startsAtZero;            ///< The source is added to the finished sum, not before it.
  bool isFarAway;               ///< C is not in the caches: its lines are prefetched for writing.
  std::optional<Matrix> scale;  ///< One column: factors of the source's rows.
  mlir::Value isNew;            ///< If it is true, the source is zero. Null: it may be anything.
  std::optional<Matrix> excess; ///< One row: by how much each column's sums come out too large.
  llvm::SmallVector<Stretches, 1> prefetches;      ///< A line of each with each step along k.
  llvm::SmallVector<Stretches, 1> prefetchesAtEnd; ///< Of these too, if `isLast`.
  mlir::Value isLast;
  /// If set, `b` holds one panel, which the first block of rows fills from here while it multiplies,
  /// and `a` the rows of one block, which are brought there just before (Panels.h).
  struct Unpacked {
    Matrix matrix;
    mlir::Type elementType;
  };
  std::optional<Unpacked> unpackedA, unpackedB;

  static constexpr int64_t kMaxRows = 12; ///< Of a block in registers.
};

void multiplyMatrices(Emitter &e, const Product &product);

/// sum + the dot products of two bfloat16, or of four bytes, in each 32-bit word (AVX-512).
mlir::Value dotBf16(Emitter &e, mlir::Value left, mlir::Value right, mlir::Value sum);
mlir::Value dotInt8(Emitter &e, mlir::Value unsignedBytes, mlir::Value signedBytes,
                    mlir::Value sum);
/// The same of two int16 (AVX2).
mlir::Value dotInt16(Emitter &e, mlir::Value left, mlir::Value right, mlir::Value sum);
/// The bits of a vector as one of other elements.
mlir::Value castVector(mlir::ImplicitLocOpBuilder &b, mlir::Value value, mlir::Type element);

} // namespace tilewright::cpu

#endif // TILEWRIGHT_LIB_CODEGEN_CPU_MICROKERNEL_H
