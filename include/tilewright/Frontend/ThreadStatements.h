//===- ThreadStatements.h - statements of programs that name their threads ---------*- C++ -*-===//
//
// Thread indices, barriers and grid syncs.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_FRONTEND_THREADSTATEMENTS_H
#define TILEWRIGHT_FRONTEND_THREADSTATEMENTS_H

#include "tilewright/Frontend/Regions.h"
#include "tilewright/Frontend/Scalars.h"

namespace tilewright::frontend {

class ThreadStatements {
public:
  ThreadStatements(Emitter &emitter, Scalars &scalars, Regions &regions)
      : emitter(emitter), scalars(scalars), regions(regions), builder(emitter.getBuilder()) {}

  /// The index of the thread that runs this, in one dimension of the block's threads.
  Scalar threadIndex(int64_t dim);
  /// Barriers whose phases end after so many arrivals; 0 where each use says how many. With
  /// `atStart` they are allocated where the kernel begins.
  Buffer allocBarriers(llvm::StringRef name, llvm::ArrayRef<int64_t> arrivals, bool atStart);
  /// Each thread that comes arrives at a barrier; with `once` they make one arrival together.
  void barrierArrive(const Element &barrier, bool once, std::optional<int64_t> count,
                     std::optional<Operand> expectedBytes);
  /// Waits for the phase of a parity, or for that of the thread's own arrival.
  void barrierWait(const Element &barrier, std::optional<Operand> parity,
                   std::optional<int64_t> count);
  void gridSync();

private:
  Emitter &emitter;
  Scalars &scalars;
  Regions &regions;
  mlir::OpBuilder &builder;
};

} // namespace tilewright::frontend

#endif // TILEWRIGHT_FRONTEND_THREADSTATEMENTS_H
