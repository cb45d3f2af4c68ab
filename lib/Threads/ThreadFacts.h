//===- ThreadFacts.h - what of a kernel differs between its threads --------------------------===//

#ifndef TILEWRIGHT_LIB_THREADS_THREADFACTS_H
#define TILEWRIGHT_LIB_THREADS_THREADFACTS_H

#include "tilewright/Tile/Scalars.h"
#include "tilewright/Tile/Tile.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

namespace tilewright::threads {

/// Erases reads and pure operations in `kernel` that nothing uses.
void eraseDeadOps(tile::KernelOp kernel);

/// Whether a kernel says what single threads do.
bool namesThreads(tile::KernelOp kernel);

/// Whether an allocation is a `T.alloc_local`.
bool isArrayOfThreads(tile::AllocOp alloc);

/// The dimension that a thread index counts in; nothing for any other op.
inline std::optional<int64_t> getThreadDim(mlir::Operation *op) {
  auto index = llvm::dyn_cast_or_null<tile::ThreadIdOp>(op);
  return index ? std::optional<int64_t>(index.getDim()) : std::nullopt;
}

using tile::areEqual;
using tile::isPureScalar;

/// What a scalar is, by folding, if `evaluate` knows what it is computed from; else null. Of a
/// branch the side that its condition names counts.
mlir::Attribute foldScalar(mlir::Value value,
                           llvm::function_ref<mlir::Attribute(mlir::Value)> evaluate);

/// Finds, for a kernel that names its threads, which values, variables and statements are a single
/// thread's. A value *varies* if threads may see different ones; a variable is *private* if threads
/// may assign different values to it; an op is *threaded* if it must run once for each thread.
/// Everything else is the block's.
class ThreadFacts {
public:
  explicit ThreadFacts(tile::KernelOp kernel);

  bool varies(mlir::Value value) const { return varying.contains(value); }
  bool isPrivate(mlir::Value buffer) const { return privates.contains(tile::getRoot(buffer)); }
  bool isPrivateRoot(mlir::Value buffer) const { return privates.contains(buffer); }
  bool isThreaded(mlir::Operation *op) const { return threaded.contains(op); }

  /// Whether `op` reads a variable that all threads have alike. The value is the same for those
  /// that do not come to it, so that it may be read for all, under any condition.
  bool isBlockVariable(mlir::Operation *op) const;

  /// The threads for which a condition is true; nothing where that is not a matter of the thread
  /// index and constants.
  std::optional<llvm::BitVector> threadsWhere(mlir::Value condition) const;
  /// The threads that come to `op` through the branches around it; nothing where a branch on
  /// values of single threads decides that. Answers for the kernel as it was at first.
  const std::optional<llvm::BitVector> &threadsAt(mlir::Operation *op) const {
    return reaching.at(op);
  }
  /// The threads that come to `op` at most, as the kernel is now.
  llvm::BitVector threadsAtMost(mlir::Operation *op) const {
    return *findThreadsAt(op, /*orFewer=*/true);
  }
  llvm::ArrayRef<mlir::Value> getPrivates() const { return privates.getArrayRef(); }

private:
  bool update();
  /// As `threadsAt`. With `orFewer`, those that come there at most: always an answer.
  std::optional<llvm::BitVector> findThreadsAt(mlir::Operation *op, bool orFewer = false) const;
  bool updateOp(mlir::Operation *op);
  bool markVarying(mlir::ValueRange values);
  bool isDivergentBranch(mlir::Operation *op) const;
  bool isUnderThreadCondition(mlir::Operation *op) const;
  bool isArrayByUse(mlir::Operation *op) const;
  /// Whether a buffer is only used by `threads`.
  bool isOfOneRole(const llvm::BitVector &threads, mlir::Value root) const;

  tile::KernelOp kernel;
  llvm::DenseSet<mlir::Value> varying;
  llvm::SetVector<mlir::Value> privates;
  llvm::DenseSet<mlir::Operation *> threaded;
  llvm::DenseMap<mlir::Operation *, std::optional<llvm::BitVector>> reaching;
  mutable llvm::DenseMap<mlir::Value, std::optional<llvm::BitVector>> conditions;
};

} // namespace tilewright::threads

#endif // TILEWRIGHT_LIB_THREADS_THREADFACTS_H
