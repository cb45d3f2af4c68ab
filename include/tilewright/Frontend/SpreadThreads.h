//===- SpreadThreads.h - statements of single threads become loops over threads -----*- C++ -*-===//
//
// A kernel may name its threads (`T.get_thread_binding`) and give each of them memory of its own
// (`T.alloc_local`). Such a program means what all others mean, one statement after another: a
// statement that differs between threads is a loop over the threads of the block, and the next one
// begins when all threads are through. So no engine needs a notion of a thread's program:
//
//   %t = the thread's index                  tile.parallel (%t) in (128) {
//   %v = tile.load %A[%t]            ──▶       %v = tile.load %A[%t]
//   tile.store %v, %local[%c0]                 tile.store %v, %local[%t, %c0]   // a fragment
//   tile.store %v, %s[%t]                      tile.store %v, %s[%t]
//                                            }
//   %w = tile.load %s[%u]                    tile.parallel (%t) in (128) {      // %u: of another
//   tile.store %w, %B[%t]                      ...                              // thread
//                                            }
//
// Statements share a loop where no thread can see how far the others are: none touches what another
// one writes. Where they do, the loop is cut, also inside uniform loops and inside branches on the
// thread index, whose condition then guards each part.
//
// Memory of a thread is a row of a fragment, which the thread itself holds; a row whose elements
// are picked by values of the run lives in shared memory.
//
// A tile statement is the whole block's. Under a condition on the thread index (`if tx < 32`, a
// warp group of its own) it runs once, if some thread meets the condition, in the order of the
// text.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_FRONTEND_SPREADTHREADS_H
#define TILEWRIGHT_FRONTEND_SPREADTHREADS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tilewright::frontend {

/// Writes the kernels of `function` that name their threads without thread indices and without
/// arrays in the `local` space. Fails, with a diagnostic at the user's statement, where a statement
/// cannot be given to single threads.
mlir::LogicalResult spreadThreads(mlir::func::FuncOp function);

} // namespace tilewright::frontend

#endif // TILEWRIGHT_FRONTEND_SPREADTHREADS_H
