//===- Rows.h - rows of a loop as vectors -------------------------------------------*- C++ -*-===//
//
// Some innermost loops, *rows*, are vectorised here instead of by LLVM (LoopVectorizer.h): those that
// update an element of a reducer which is the same for the whole row, held in several vectors of
// partial results meanwhile, those that touch a tensor larger than the caches, which is read ahead and
// written past the caches, those that evaluate functions or compare indices, and those with a body of
// hundreds of operations, in which LLVM would look too long:
//
//   until `out` is at a whole vector    one element at a time
//   then, four vectors at a time        partial results in four registers
//   then, one vector at a time          partial results in one register
//   the rest                            one element at a time
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_LIB_CODEGEN_CPU_ROWS_H
#define TILEWRIGHT_LIB_CODEGEN_CPU_ROWS_H

#include "Combiner.h"
#include "Emitter.h"

namespace tilewright::cpu {

/// The innermost loop of `op`, of `extent` iterations, at the outer variables `outer`. It carries
/// the updates in `carried`, whose element is the same for the whole row.
void lowerRow(tile::ParallelOp op, llvm::ArrayRef<mlir::Value> outer, mlir::Value extent,
              llvm::ArrayRef<tile::ReducerUpdateOp> carried, Emitter &e);

} // namespace tilewright::cpu

#endif // TILEWRIGHT_LIB_CODEGEN_CPU_ROWS_H
