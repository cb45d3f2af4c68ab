//===- Words.h - 32-bit words of narrow elements ------------------------------------*- C++ -*-===//
//
// What is common to operands of dot products (Words.cpp) and of the matrix unit (TileWords.cpp).
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_LIB_CODEGEN_CPU_WORDS_H
#define TILEWRIGHT_LIB_CODEGEN_CPU_WORDS_H

#include "Operands.h"

namespace tilewright::cpu {

/// `width` words of neighbours along a row of the view's last dimension, which is contiguous.
mlir::Value loadWords(Emitter &e, const View &view, mlir::Value row, mlir::Value column,
                      int64_t width);

/// Words of neighbours across the rows of a matrix with contiguous rows.
class WordsAcrossRows {
public:
  WordsAcrossRows(Emitter &e, const View &view, ReadAhead readAhead);
  /// A vector of them, from `column` on.
  mlir::Value load(mlir::Value wordRow, mlir::Value column) const;

private:
  Emitter &e;
  mlir::Type storage;
  int64_t size;
  Matrix source;
  bool readsAhead;
};

/// From `rows` x `columns` elements to words of neighbours across the rows:
/// `rows / size` x `columns`. Of bfloat16 it finds the smallest magnitude on the way, unless it is
/// known.
View interleaveRows(Emitter &e, const View &view, int64_t rows, int64_t columns,
                    mlir::Value &smallest, ReadAhead readAhead);
/// From `columns` x `rows` words, as they lie along the rows of a view, to `rows` x `columns`.
View transposeWords(Emitter &e, const View &view, mlir::MemRefType type, int64_t rows,
                    int64_t columns, ReadAhead readAhead);

/// The largest vector that divides `columns`, which rows of words are walked by.
int64_t getStride(int64_t columns, int64_t width);

/// The smallest magnitude of bfloat16 in vectors of `width` words, one vector after the other: a
/// value to start from, the next, and the result (GemmOperand::smallest).
mlir::Value startSmallest(Emitter &e, int64_t width);
mlir::Value foldSmallest(Emitter &e, mlir::Value smallest, mlir::Value words);
mlir::Value finishSmallest(Emitter &e, mlir::Value smallest);

/// The first and the second elements of words of bfloat16, as float32.
std::pair<mlir::Value, mlir::Value> widenPairs(Emitter &e, mlir::Value words);

} // namespace tilewright::cpu

#endif // TILEWRIGHT_LIB_CODEGEN_CPU_WORDS_H
