//===- Lowerings.h - one function an op ---------------------------------------------*- C++ -*-===//
//
// From tile IR to scf, arith, math, vector and LLVM memory operations, op by op. Nothing is
// rewritten in place: a lowering reads its op and writes code where the emitter stands.
//
//   Outline.cpp         the host function, one block function a kernel, what passes between them
//   LowerOp.cpp         the table of all lowerings; loads and stores of elements
//   LowerControl.cpp    T.Pipelined, loops, branches
//   LowerParallel.cpp   T.Parallel; rows of vectors in LowerRows.cpp
//   LowerScalars.cpp    arithmetic; exp, log, tanh and their family in LowerFunctions.cpp
//   LowerCopy.cpp       copies, fills, im2col (the moving itself: Copies.h, Streams.h)
//   LowerReduce.cpp     reductions and running sums
//   LowerAtomics.cpp    atomic updates and reducers; whole tiles under locks in LowerUpdates.cpp
//   LowerGemm.cpp       matrix products (operands: Operands.h, the product: Microkernel.h)
//   LowerNotes.cpp      print
//
// Expects tile IR that passed its verifier, tile-check-parallel and the planning passes of
// Transforms/Cpu. Attributes that these left (Tile/CpuPlan.h) are trusted; without them code is
// correct and slower. What the lowerings leave has no tile op.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_LIB_CODEGEN_CPU_LOWERINGS_H
#define TILEWRIGHT_LIB_CODEGEN_CPU_LOWERINGS_H

#include "Emitter.h"

namespace tilewright::cpu {

/// Any op, by the table.
void lowerOp(mlir::Operation &op, Emitter &e);
/// The ops of a region's block, without its terminator.
void lowerRegion(mlir::Region &region, Emitter &e);

void lowerKernel(tile::KernelOp op, Emitter &host);
void lowerAlloc(tile::AllocOp op, Emitter &e);

void lowerPipelined(tile::PipelinedOp op, Emitter &e);
void lowerFor(mlir::scf::ForOp op, Emitter &e);
void lowerIf(mlir::scf::IfOp op, Emitter &e);
void lowerWhile(mlir::scf::WhileOp op, Emitter &e);
void lowerParallel(tile::ParallelOp op, Emitter &e);

void lowerCopy(tile::CopyOp op, Emitter &e);
void lowerFinalizeReducer(tile::FinalizeReducerOp op, Emitter &e);
void lowerFill(tile::FillOp op, Emitter &e);
void lowerIm2col(tile::Im2colOp op, Emitter &e);
void lowerGemm(tile::GemmOp op, Emitter &e);
void lowerReduce(tile::ReduceOp op, Emitter &e);
void lowerCumsum(tile::CumsumOp op, Emitter &e);
void lowerAtomic(tile::AtomicOp op, Emitter &e);
void lowerAtomicElement(tile::AtomicElementOp op, Emitter &e);
void lowerReducerUpdate(tile::ReducerUpdateOp op, Emitter &e);
void lowerPrint(tile::PrintOp op, Emitter &e);

/// Arithmetic on scalars; false for an op that is none.
bool lowerScalar(mlir::Operation &op, Emitter &e);

} // namespace tilewright::cpu

#endif // TILEWRIGHT_LIB_CODEGEN_CPU_LOWERINGS_H
