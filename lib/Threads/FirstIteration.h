//===- FirstIteration.h - what barriers count in the first iteration of loops ----------------===//

#ifndef TILEWRIGHT_LIB_THREADS_FIRSTITERATION_H
#define TILEWRIGHT_LIB_THREADS_FIRSTITERATION_H

#include "ThreadFacts.h"

namespace tilewright::threads {

/// Plays the first iteration of loops through, as far as barriers are concerned.
class FirstIteration {
public:
  explicit FirstIteration(const ThreadFacts &facts) : facts(facts) {}

  /// The variable of a loop has the value that it starts with.
  void bind(mlir::Value variable, mlir::Value start);

  /// What comes now is after a loop: what its other iterations have counted is unknown.
  void forgetCountsOf(mlir::scf::ForOp loop);

  /// Whether `op` holds a wait at a barrier with an unknown count.
  bool isInDoubt(mlir::Operation *op) const;

  /// Whether the first iteration passes over a wait in `op` that another iteration may come to.
  bool skipsWait(mlir::Operation *op);

  /// Counts the arrivals in `op`; false, with nothing counted, if a wait in it is not met, or in
  /// doubt.
  bool pass(mlir::Operation *op);

private:
  bool visit(mlir::Operation *op);
  bool visit(mlir::Region &region);
  bool visitAllIterations(mlir::scf::ForOp loop);
  bool isMet(tile::BarrierWaitOp wait);
  void count(tile::BarrierArriveOp arrival);
  llvm::SmallVector<int64_t> &countsOf(mlir::Value barriers);

  std::optional<int64_t> evaluateIndex(mlir::Value value);
  /// A scalar as a number; null where it depends on more than loops.
  mlir::Attribute evaluate(mlir::Value value);

  const ThreadFacts &facts;
  llvm::DenseSet<mlir::Value> forgotten; // rows of barriers
  llvm::DenseMap<mlir::Value, mlir::Attribute> known;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<int64_t>> counts;
};

} // namespace tilewright::threads

#endif // TILEWRIGHT_LIB_THREADS_FIRSTITERATION_H
