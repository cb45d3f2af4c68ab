//===- ThreadValues.h - which threads come to a statement, and what differs between them ------===//

#ifndef TILEWRIGHT_LIB_INTERP_THREADVALUES_H
#define TILEWRIGHT_LIB_INTERP_THREADVALUES_H

#include "Machine.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseSet.h"

namespace tilewright::interp {

/// For each branch whose condition only the thread index and constants decide, the threads that take
/// its first side.
class BranchThreads {
public:
  BranchThreads(Machine &machine, tile::KernelOp kernel);

  unsigned getNumThreads() const { return numThreads; }
  bool isDecided(mlir::scf::IfOp branch) const { return taken.contains(branch); }
  /// The threads that can come to `op`: those that the decided branches around it let through.
  llvm::BitVector getThreadsAt(mlir::Operation *op) const;

private:
  mlir::Operation *kernel;
  unsigned numThreads;
  llvm::DenseMap<mlir::Operation *, llvm::BitVector> taken;
};

/// Which values may differ between threads that run one statement together, and which memory is
/// each thread's own by the rules of docs/semantics.md. The sets grow until they are stable.
class ThreadValues {
public:
  ThreadValues(tile::KernelOp kernel, const BranchThreads &branches);

  bool differs(mlir::Value value) const { return differing.contains(value); }
  /// Of a local array or variable, or of a fragment that is one by its use.
  bool isOwn(mlir::Value root) const { return own.contains(root); }
  /// Whether a branch or loop around `op` may let some threads through that only data decide.
  bool isUnderData(mlir::Operation *op) const;

private:
  bool visit(mlir::Operation *op);
  bool visitControl(mlir::Operation *op);
  bool mark(mlir::ValueRange values);
  bool isPartial(mlir::Operation *store, mlir::Value root) const;
  bool isArrayByUse(tile::StoreOp store) const;

  mlir::Operation *kernel;
  const BranchThreads &branches;
  llvm::DenseSet<mlir::Value> differing;
  llvm::DenseSet<mlir::Value> own;
};

} // namespace tilewright::interp

#endif // TILEWRIGHT_LIB_INTERP_THREADVALUES_H
