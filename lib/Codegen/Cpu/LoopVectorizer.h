//===- LoopVectorizer.h - several iterations of a loop at once ----------------------*- C++ -*-===//
//
// LLVM vectorises the loops of T.Parallel well enough where nothing else is needed. A loop that
// carries sums in several registers, writes past the caches or reads ahead has to know where its
// vectors begin, so its body becomes vectors here, from the scalar body that the lowering
// built for one iteration.
//
//   for %j step 1 carrying %s {             for %j step 16 carrying %vs {
//     %x = load %row[%j]                      %vx = load vector<16xf32> %row[%j]
//     %y = mulf %x, %factor          ──▶      %vy = mulf %vx, splat %factor
//     store %y, %out[%j]                      store vector<16xf32> %vy, %out[%j]
//     yield addf %s, %x                       (whoever carries %vs adds %vx)
//   }                                       }
//
// Each value of the body is *uniform* (the same in all iterations), *linear* (a constant more in
// each next one: the loop's variable, indices and addresses made of it) or *varying*, a vector. A
// body is refused if it has anything else: branches, calls, elements that are no neighbours.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_LIB_CODEGEN_CPU_LOOPVECTORIZER_H
#define TILEWRIGHT_LIB_CODEGEN_CPU_LOOPVECTORIZER_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

namespace tilewright::cpu {

class LoopVectorizer {
public:
  /// Looks at the body of `loop`, whose iterations must be independent but for what they carry.
  explicit LoopVectorizer(mlir::scf::ForOp loop);

  bool isPossible() const { return possible; }
  /// The accesses of the body that become vectors.
  llvm::ArrayRef<mlir::Operation *> getVectorAccesses() const { return accesses.getArrayRef(); }

  /// Writes groups of `width` iterations from each of `firsts` on where the builder stands, without
  /// what they carry, and gives for each the `wanted` values of the body as vectors. The groups go
  /// step by step together, so that the processor need not look far ahead to find work that does
  /// not wait. `onAccess` is told of each vector load and store, beside the scalar one that it
  /// stands for.
  llvm::SmallVector<llvm::SmallVector<mlir::Value>>
  emit(mlir::ImplicitLocOpBuilder &b, int64_t width, llvm::ArrayRef<mlir::Value> firsts,
       llvm::ArrayRef<mlir::Value> wanted,
       llvm::function_ref<void(mlir::Operation *scalar, mlir::Operation *vector)> onAccess);

  /// Writes only what an address of the body is computed from, in iteration `first`.
  mlir::Value emitAddress(mlir::ImplicitLocOpBuilder &b, mlir::Value address, mlir::Value first);

private:
  /// Iterations that become vectors together, while they are written.
  struct Group {
    mlir::IRMapping scalars; ///< Uniform values, and linear ones in the first iteration.
    llvm::DenseMap<mlir::Value, mlir::Value> vectors;
  };
  mlir::Value asVector(mlir::ImplicitLocOpBuilder &b, int64_t width, Group &group, mlir::Value old);

  /// What iterations know of a value; a step of 0 is uniform, none is varying.
  using Step = std::optional<int64_t>;

  Step getStep(mlir::Value value) const;
  bool classify(mlir::Operation &op);
  Step findStep(mlir::Operation &op) const;

  mlir::scf::ForOp loop;
  bool possible = true;
  llvm::DenseMap<mlir::Value, Step> steps;     ///< Of values of the body; others are uniform.
  llvm::DenseSet<mlir::Operation *> ofCarried; ///< What depends on carried values.
  llvm::SmallSetVector<mlir::Operation *, 8> accesses;
};

} // namespace tilewright::cpu

#endif // TILEWRIGHT_LIB_CODEGEN_CPU_LOOPVECTORIZER_H
