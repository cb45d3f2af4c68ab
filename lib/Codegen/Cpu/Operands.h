//===- Operands.h - matrices in the form a microkernel reads ------------------------*- C++ -*-===//
//
// A product reads A by single elements, of any strides, and B by vectors along n. Operands that lie
// so, and whose elements already are what is summed up, are used in place. Others are converted
// into scratch memory; a transposed B is transposed there, a square of vectors at a time.
//
// Where the host has dot products of narrow elements, operands are 32-bit words of neighbours along
// k (Words.cpp); for its matrix unit, tile by tile (TileWords.cpp).
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_LIB_CODEGEN_CPU_OPERANDS_H
#define TILEWRIGHT_LIB_CODEGEN_CPU_OPERANDS_H

#include "Copies.h"
#include "Matrix.h"
#include "tilewright/Tile/CpuPlan.h"

namespace tilewright::cpu {

/// The operand in its form, from a view of type `type`. `smallest` is what is known of its elements
/// already (GemmOperand::smallest).
GemmOperand prepareOperand(Emitter &e, const tile::OperandForm &form, mlir::MemRefType type,
                           const View &view, ReadAhead readAhead = ReadAhead::Allowed,
                           mlir::Value smallest = {});

/// A copy in scratch memory, converted.
View convertMatrix(Emitter &e, const View &view, mlir::MemRefType type, mlir::Type element,
                   ReadAhead readAhead = ReadAhead::Allowed);
/// An n x k matrix becomes k x n in scratch memory, converted.
View transposeMatrix(Emitter &e, const View &view, int64_t n, int64_t k, mlir::Type element);

// Words.cpp
GemmOperand prepareWords(Emitter &e, const tile::OperandForm &form, mlir::MemRefType type,
                         const View &view, ReadAhead readAhead, mlir::Value smallest);
/// Elements of this type in a word.
inline int64_t getWordSize(mlir::Type elementType) {
  return 32 / tile::getStorageBits(elementType);
}
/// Whether bytes are multiplied as pairs of int16, for want of dot products of bytes.
inline bool hasPairsOfBytes(Emitter &e, const tile::OperandForm &form, mlir::Type elementType) {
  return elementType.isInteger(8) && !form.isForUnit && e.options.vectorWidth < 16;
}
/// The words of a matrix in place, if its rows are made of such. They may start at any element.
std::optional<Matrix> getWords(Emitter &e, const View &view);
// TileWords.cpp
GemmOperand prepareTiles(Emitter &e, const tile::OperandForm &form, mlir::MemRefType type,
                         const View &view, ReadAhead readAhead, mlir::Value smallest);
/// Tiles of bfloat16 as a matrix of float32: m x k, or k x n of the right operand.
View widenTiles(Emitter &e, const View &tiles, bool isRight);

/// Words of bfloat16 as float32: `rows` x `columns` words become twice as many rows.
View widenWords(Emitter &e, const View &words, int64_t rows, int64_t columns);
/// Whether no product and no partial sum of two bfloat16 operands can be subnormal.
mlir::Value areFarFromSubnormal(Emitter &e, mlir::Value smallestA, mlir::Value smallestB);

} // namespace tilewright::cpu

#endif // TILEWRIGHT_LIB_CODEGEN_CPU_OPERANDS_H
