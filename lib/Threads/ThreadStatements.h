//===- ThreadStatements.h - tile statements of single threads, and what statements touch -----===//

#ifndef TILEWRIGHT_LIB_THREADS_THREADSTATEMENTS_H
#define TILEWRIGHT_LIB_THREADS_THREADSTATEMENTS_H

#include "ThreadFacts.h"

namespace tilewright::threads {

/// Writes what a thread does by itself as loops and element accesses: copies and fills of its own
/// memory or of a region that depends on its index, and pipelined loops that hold no tile
/// statement.
mlir::LogicalResult expandThreadStatements(tile::KernelOp kernel, const ThreadFacts &facts);

/// An access of a statement to memory that threads share.
struct SharedAccess {
  mlir::Operation *op;
  tile::Effect effect;
  mlir::ValueRange indices;
  mlir::Value buffer; // the view that `indices` are of
};

/// What an op and the ops inside it touch of memory that threads share; nothing where it is not
/// made of accesses to single elements.
std::optional<llvm::SmallVector<SharedAccess>> collectAccesses(mlir::Operation *op,
                                                               const ThreadFacts &facts);

/// Whether one thread could see whether another one has made its access yet: both touch the same
/// memory, one changes it, and it is not the thread's own part of it.
bool mayMeet(const SharedAccess &a, const SharedAccess &b);

/// Accesses of many statements. Of those that meet the same others, two of different statements are kept: an
/// access never meets one of its own statement. So a long group is not compared access by access.
class SharedAccesses {
public:
  SharedAccesses() = default;
  explicit SharedAccesses(llvm::ArrayRef<SharedAccess> accesses) { add(accesses); }

  void add(llvm::ArrayRef<SharedAccess> accesses);
  void clear() { kept.clear(); }
  /// Whether any of them may meet any of these.
  bool mayMeet(llvm::ArrayRef<SharedAccess> accesses) const;

private:
  llvm::DenseMap<mlir::Value, llvm::SmallVector<SharedAccess, 2>> kept; // by root
};

/// Whether all threads go round a loop equally often.
bool isUniformLoop(mlir::Operation *op, const ThreadFacts &facts);

/// Whether each thread may run a statement, with all that is in it, without a look at how far the
/// others are.
bool runsAtOwnPace(mlir::Operation *op, const ThreadFacts &facts);

} // namespace tilewright::threads

#endif // TILEWRIGHT_LIB_THREADS_THREADSTATEMENTS_H
