//===- SameNumbers.h - numbers that two roles compute alike -------------------------*- C++ -*-===//

#ifndef TILEWRIGHT_LIB_TRANSFORMS_GPU_SAMENUMBERS_H
#define TILEWRIGHT_LIB_TRANSFORMS_GPU_SAMENUMBERS_H

#include "tilewright/Tile/Effects.h"
#include "tilewright/Tile/Tile.h"

namespace tilewright::schedule {

/// Compares numbers of the program with those of a role that runs beside it.
class SameNumbers {
public:
  /// From here on, two values are taken for one number: variables of loops that run alike.
  void pair(mlir::Value program, mlir::Value role) { partners[program] = role; }

  /// Whether two values are the same number: one value from outside, or the same computation.
  bool isSame(mlir::Value program, mlir::Value role, unsigned depth = 0);
  bool isSame(const tile::IndexSum &program, const tile::IndexSum &role);

private:
  bool isSameVariable(tile::LoadOp program, tile::LoadOp role);

  llvm::DenseMap<mlir::Value, mlir::Value> partners;
};

} // namespace tilewright::schedule

#endif // TILEWRIGHT_LIB_TRANSFORMS_GPU_SAMENUMBERS_H
