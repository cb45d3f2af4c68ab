//===- ThreadStorage.h - where the memory of single threads lives ----------------------------===//
//
// Each thread has a row of its own of a tile over all threads. The tile is a fragment, whose row
// the thread itself holds in registers; registers have no addresses, so that a row whose element is
// picked by a value of the run lives in shared memory instead.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_LIB_THREADS_THREADSTORAGE_H
#define TILEWRIGHT_LIB_THREADS_THREADSTORAGE_H

#include "ThreadFacts.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tilewright::threads {

class ThreadStorage {
public:
  ThreadStorage(tile::KernelOp kernel, const ThreadFacts &facts)
      : kernel(kernel), facts(facts), holder(kernel) {}

  /// From here on the threads are those of `holder`, the kernel or a role of it.
  void enter(mlir::Operation *team) { holder = team; }
  mlir::Operation *getHolder() const { return holder; }

  /// Thread `t` runs iteration `t` of a loop over the threads, and holds row `t` of a tile whose
  /// rows have this shape.
  tile::FragmentAttr makeLayout(llvm::ArrayRef<int64_t> row);

  /// Where thread number `thread` stands in one dimension of the block's thread shape.
  mlir::Value coordinate(mlir::ImplicitLocOpBuilder &b, mlir::Value thread, int64_t dim);

  /// A scalar for each thread that can hold `value`, and how to reach it.
  mlir::Value allocSlot(mlir::Value value);
  void storeSlot(mlir::ImplicitLocOpBuilder &b, mlir::Value value, mlir::Value slot,
                 mlir::Value thread);
  mlir::Value loadSlot(mlir::ImplicitLocOpBuilder &b, mlir::Type type, mlir::Value slot,
                       mlir::Value thread);

  /// Lets the accesses in `op`, a part of a loop over the threads, reach the rows of `thread`.
  /// Gives the results of `op`, which may be another op now.
  llvm::SmallVector<mlir::Value> replacePrivateAccesses(mlir::Operation *op, mlir::Value thread);

private:
  /// The tile that holds a private buffer of all threads.
  mlir::Value tileOf(mlir::Value root);
  mlir::Value alloc(mlir::Location loc, llvm::StringRef name, llvm::ArrayRef<int64_t> row,
                    mlir::Type elementType, bool inRegisters);

  tile::KernelOp kernel;
  const ThreadFacts &facts;
  mlir::Operation *holder; ///< Of the tiles: their rows are those of its threads.
  llvm::DenseMap<mlir::Value, mlir::Value> tiles;
};

} // namespace tilewright::threads

#endif // TILEWRIGHT_LIB_THREADS_THREADSTORAGE_H
