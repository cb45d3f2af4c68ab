//===- Memory.h - where a buffer's elements lie -------------------------------------*- C++ -*-===//

#ifndef TILEWRIGHT_ACCESS_MEMORY_H
#define TILEWRIGHT_ACCESS_MEMORY_H

#include "tilewright/Layout/IndexFacts.h"
#include "tilewright/Layout/Layout.h"
#include "tilewright/Target/Arch.h"
#include "tilewright/Tile/CallFacts.h"
#include "tilewright/Tile/Tile.h"

namespace tilewright::access {

/// A root that lives in memory: its elements and their positions.
struct Memory {
  llvm::SmallVector<int64_t, 4> extents;        ///< Logical; kDynamic where known only at launch.
  llvm::SmallVector<int64_t, 4> extentDivisors; ///< Of dynamic extents; 1 where not given.
  std::optional<Layout> layout;                 ///< Row-major if none.
  int64_t elementBytes = 1;
  int64_t baseAlignment = 1; ///< In bytes.
  bool isGlobal = false;     ///< Bounds are tested at run time.

  /// What is known of an extent.
  IndexFacts getExtentFacts(unsigned dim) const {
    if (extents[dim] != kDynamic)
      return IndexFacts::constant(extents[dim]);
    return IndexFacts::multipleOf(dim < extentDivisors.size() ? extentDivisors[dim] : 1);
  }
};

/// What is known around the accesses of a kernel. Layouts of tensors are looked up once: a kernel has
/// thousands of accesses.
struct Context {
  Context(tile::KernelOp kernel, const Arch &arch, CallFacts calls);

  tile::KernelOp kernel;
  const Arch &arch;
  CallFacts calls;
  llvm::DenseMap<mlir::Value, Layout> layouts; ///< Of annotated tensors.
};

/// The memory of a root; nothing for registers and variables. Reads annotations of the kernel for
/// arguments and `tile.placement` for tiles.
std::optional<Memory> getMemory(mlir::Value root, const Context &context);

/// A comparison that a branch inside a loop depends on.
struct BranchTest {
  IndexExpr value;
  bool isEquality = false; ///< The test is `value == 0`, else `value < 0`.
};

/// The coordinates of an access in its root, as expressions of the loop's variables and of symbols,
/// with what is known of the symbols; nothing where they depend on memory or on a view of another
/// element width.
struct AccessCoordinates {
  llvm::SmallVector<IndexExpr, 4> coordinates;
  llvm::SmallVector<IndexFacts, 4> symbols;
  /// What each symbol is a function of; empty where it is the same for all iterations.
  llvm::SmallVector<llvm::SmallVector<IndexExpr, 2>, 4> arguments;
  /// What decides the branches around the access; none where they are no comparisons of such
  /// expressions.
  std::optional<llvm::SmallVector<BranchTest, 2>> tests;
  /// What is not negative whenever the access runs (Surroundings.h).
  llvm::SmallVector<IndexExpr, 4> known;
  llvm::SmallVector<std::optional<IndexExpr>, 4> extents; ///< Of the root.
};
std::optional<AccessCoordinates> getCoordinates(mlir::Operation *access, tile::ParallelOp loop,
                                                mlir::Value buffer, mlir::ValueRange indices);
/// The same for all elements of a matrix operand, whose row and column are the dims.
std::optional<AccessCoordinates> getMatrixCoordinates(mlir::Operation *op, mlir::Value buffer);

} // namespace tilewright::access

#endif // TILEWRIGHT_ACCESS_MEMORY_H
