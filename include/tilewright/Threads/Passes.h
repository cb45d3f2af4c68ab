//===- Passes.h - passes on programs that name their threads, front door of the room -*- C++ -*-===//
//
// A kernel may name its threads (`T.get_thread_binding`), give each of them memory of its own
// (`T.alloc_local`), let groups of them take roles that wait for each other at barriers, and let
// its blocks meet (`T.sync_grid`). These passes rewrite such a kernel as one that names no thread:
// tile statements and loops over the threads, one after another. No later pass and no code
// generator needs a notion of a thread's program.
//
// The reference interpreter does not use these passes. It runs the program as it was traced, thread
// by thread (lib/Interp/Threads.cpp), so that it can judge them.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_THREADS_PASSES_H
#define TILEWRIGHT_THREADS_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace tilewright {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "tilewright/Threads/Passes.h.inc"

} // namespace tilewright

namespace tilewright::threads {

/// Whether these passes change `module`: a kernel names its threads, or its blocks meet.
bool needsRewriting(mlir::ModuleOp module);

} // namespace tilewright::threads

#endif // TILEWRIGHT_THREADS_PASSES_H
