//===- Subject.h - the access that a plan is about ----------------------------------*- C++ -*-===//

#ifndef TILEWRIGHT_LIB_PLANCHECK_SUBJECT_H
#define TILEWRIGHT_LIB_PLANCHECK_SUBJECT_H

#include "IterationOwners.h"

namespace tilewright::plancheck {

/// The buffer that the plan `planName` of `op` is about; null where there is none.
mlir::Value getPlannedBuffer(mlir::Operation *op, llvm::StringRef planName);

/// An operation on one element inside a distributed loop, with its slots or as rows of stmatrix, or an
/// operand that a gemm reads by ldmatrix. The "iterations" of the latter are the operand's elements, and a thread's slots are
/// the rows that it must name, one load after the other.
struct Subject {
  mlir::Operation *op = nullptr;
  mlir::Value buffer;
  mlir::Operation *scope = nullptr; ///< The loop, or the gemm itself.
  tile::KernelOp kernel;
  bool isRead = false;
  bool isMatrix = false;
  bool hasRows = false; ///< Slots are rows of matrices: an operand, or what a store gives stmatrix.
  IterationOwners owners;

  mlir::MemRefType getRootType() const {
    return llvm::cast<mlir::MemRefType>(tile::getRoot(buffer).getType());
  }
  bool isGlobal() const { return tile::getSpace(getRootType()) == tile::Space::Global; }
  int64_t getElementBytes() const { return tile::getStorageBytes(getRootType().getElementType()); }

  /// The access whose plan is the attribute `planName` of `op`.
  static llvm::Expected<Subject> get(mlir::Operation *op, llvm::StringRef planName);
};

/// The elements of `operand` whose rows each thread must name, by the definition of the
/// instructions (MatrixRows.cpp).
llvm::Expected<IterationOwners> getMatrixOwners(tile::GemmOp gemm, bool isA, int64_t numThreads);

/// The elements of the rows that each thread must name in stmatrix, of a loop whose iterations have
/// these owners (MatrixRows.cpp).
llvm::Expected<IterationOwners> getStoredRows(const IterationOwners &owners, int64_t elementBytes);

} // namespace tilewright::plancheck

#endif // TILEWRIGHT_LIB_PLANCHECK_SUBJECT_H
