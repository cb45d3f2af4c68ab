//===- Polls.h - where a launch can be stopped --------------------------------------*- C++ -*-===//
//
// Compiled code asks the runtime now and then whether it is to go on (Ctrl-C, a failure elsewhere).
// A call costs two nanoseconds, and a loop with one in it is not vectorised. So loops that end soon
// have none; a loop whose iterations are long polls in each of them; one with many short iterations
// is cut into pieces, between which it polls:
//
//   for i in 0 .. n        for first in 0 .. n step 65536
//     body           ──▶     poll, but for the first piece
//                            for i in first .. min(first + 65536, n)
//                              body
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_LIB_CODEGEN_CPU_POLLS_H
#define TILEWRIGHT_LIB_CODEGEN_CPU_POLLS_H

#include "Emitter.h"

namespace tilewright::cpu {

/// How many iterations the loops of a region may have, those inside others multiplied; a large
/// number where that is not known.
int64_t countIterations(mlir::Region &region);
/// Whether a loop works on whole tiles, element-wise loops aside.
bool hasStatement(mlir::Operation *loop);

/// `Emitter::loopCarrying` for a loop of the program, which can be stopped in between.
llvm::SmallVector<mlir::Value> loopWithPolls(Emitter &e, mlir::scf::ForOp op, mlir::Value lower,
                                             mlir::Value upper, mlir::Value step,
                                             CarryingBody body);

} // namespace tilewright::cpu

#endif // TILEWRIGHT_LIB_CODEGEN_CPU_POLLS_H
