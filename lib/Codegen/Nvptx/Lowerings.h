//===- Lowerings.h - one function an op: what a thread does for it ---------------------------===//
//
// A lowering looks at its own op and at what passes wrote on it; what spans ops was decided before.
//
//   Kernels.cpp    the function of a kernel, its parameters
//   Flow.cpp       which lowering an op has; loops, branches, versions, groups of copies
//   Vectors.cpp    accesses of many slots at once, as the access planner grouped them
//   Atomics.cpp    updates of one element by many threads
//   Loops.cpp      T.Parallel: which thread runs which iteration
//   Scalars.cpp    arithmetic with the language's corners
//   Gemm.cpp       matrix products without tensor cores
//   Mma.cpp        matrix products on tensor cores
//   Products.cpp   matrix products of warpgroups
//   Reduce.cpp     reductions of tiles in registers
//   Bulk.cpp       barriers in shared memory, bulk copies
//   Clusters.cpp   what blocks of a cluster do for each other
//   Rows.cpp       reductions and running sums of tiles in memory
//   Packed.cpp     pairs of float16 and bfloat16
//   Notes.cpp      printing and assertions
//   Exchange.cpp   fragments that change their layout inside a warp
//
// Layers below: Memory.h (addresses), Thread.h (values and storage), Numbers.h, Emitter.h.
//
//===----------------------------------------------------------------------------------------===//

#ifndef TILEWRIGHT_LIB_CODEGEN_NVPTX_LOWERINGS_H
#define TILEWRIGHT_LIB_CODEGEN_NVPTX_LOWERINGS_H

#include "Memory.h"
#include "tilewright/Tile/Schedule.h"

namespace tilewright::nvptx {

/// Writes the function of a kernel.
mlir::LogicalResult lowerKernel(Thread &t);

// Flow.cpp
mlir::LogicalResult lowerBlock(Thread &t, mlir::Block &block);
mlir::LogicalResult lowerOp(Thread &t, mlir::Operation *op);
/// One branch for these iterations, which all take the same way; the current one may be null.
mlir::LogicalResult lowerIf(Thread &t, mlir::scf::IfOp op, llvm::ArrayRef<Iteration *> members);

// Loops.cpp
mlir::LogicalResult lowerParallel(Thread &t, tile::ParallelOp op);
/// Builds each op of a block for all of these iterations before the next op.
mlir::LogicalResult lowerBlock(Thread &t, mlir::Block &block, llvm::ArrayRef<Iteration *> members);

// Accesses.cpp
mlir::LogicalResult lowerLoad(Thread &t, tile::LoadOp op);
void defineLoaded(Thread &t, tile::LoadOp op, Value value);
mlir::LogicalResult lowerStore(Thread &t, tile::StoreOp op);

// Vectors.cpp
/// Whether the chunk's slots are done together for this access.
bool isPlanned(mlir::Operation *op);
mlir::LogicalResult lowerPlanned(Thread &t, mlir::Operation *op, llvm::ArrayRef<Iteration *> chunk);
void copyAsync(Thread &t, tile::LoadOp load, tile::StoreOp store,
               llvm::ArrayRef<Iteration *> chunk);

// Atomics.cpp
mlir::LogicalResult lowerAtomic(Thread &t, mlir::Operation *op, tile::AtomicKind kind, Value value,
                                Value buffer, mlir::ValueRange indices, tile::MemoryOrder order,
                                Value result);
mlir::LogicalResult lowerReducerUpdate(Thread &t, tile::ReducerUpdateOp op);
/// All threads of the block, those of other roles too, write the zeros that tiles start as. False if no
/// tile does; else the block has to meet.
bool clearTiles(Thread &t);
/// Adds neighbouring elements by one `red` (access::getAtomicWidth says which there are).
void updateVector(Emitter &e, const Storage &storage, Value address,
                  llvm::ArrayRef<Value> operands);
/// Updates an element; gives its old value if that is used.
Value updateElement(Emitter &e, tile::AtomicKind kind, const Storage &storage, Value address,
                    Value operand, tile::MemoryOrder order, bool isUsed);

// Scalars.cpp
mlir::LogicalResult lowerScalar(Thread &t, mlir::Operation *op);

// Packed.cpp
/// Whether two slots can do an op in one instruction.
bool isPackable(mlir::Operation *op);
mlir::LogicalResult lowerPacked(Thread &t, mlir::Operation *op,
                                llvm::ArrayRef<Iteration *> members);

// Gemm.cpp, Mma.cpp, Products.cpp
mlir::LogicalResult lowerGemm(Thread &t, tile::GemmOp op);
mlir::LogicalResult lowerMma(Thread &t, tile::GemmOp op, llvm::ArrayRef<int64_t> warps);
mlir::LogicalResult lowerProduct(Thread &t, tile::GemmOp op);
/// No product of the first branch is under way on the other way: what one would hold is nothing there.
void dropHeldOperands(Thread &t, mlir::scf::IfOp branch);
void lowerProductWait(Thread &t, tile::ProductWaitOp op);
/// The element (row, column) of a matrix operand that lives in memory.
Value loadMatrix(Thread &t, Value buffer, Value row, Value column, bool transposed);

// Reduce.cpp, Rows.cpp
mlir::LogicalResult lowerReduce(Thread &t, tile::ReduceOp op);
mlir::LogicalResult lowerMemoryReduce(Thread &t, tile::ReduceOp op);
mlir::LogicalResult lowerCumsum(Thread &t, tile::CumsumOp op);
/// The type in which elements are combined: sums of narrow floats are formed in float32, sums of
/// integers in the width of the result.
mlir::Type combiningType(Emitter &e, tile::ReduceKind kind, mlir::Type element, mlir::Type result);
/// An element as an operand: of that type, its magnitude if the kind takes that.
Value reductionOperand(Emitter &e, tile::ReduceKind kind, Value value, mlir::Type element,
                       mlir::Type sumType);
/// The element of the result, with what it held before if that takes part.
Value finishReduction(Emitter &e, tile::ReduceOp op, Value combined, mlir::Type sumType,
                      llvm::function_ref<Value()> loadOld);

// Bulk.cpp
/// Makes the kernel's barriers. False if it has none; else the block has to meet.
bool initBarriers(Thread &t);
void lowerBarrierWait(Thread &t, tile::BarrierWaitOp op);
void lowerBarrierArrive(Thread &t, tile::BarrierArriveOp op);
mlir::LogicalResult lowerBulkGroup(Thread &t, tile::AsyncGroupOp op);
mlir::LogicalResult lowerBulkStores(Thread &t, tile::BulkGroupOp op);
void lowerBulkWait(Thread &t, tile::BulkWaitOp op);
/// The number of the thread's warp, which ptxas knows to be the same in all its lanes. i32.
Value warpNumber(Thread &t);
/// Runs `body` in one thread of the warp of this number.
void elect(Thread &t, int64_t warp, llvm::function_ref<void()> body);
mlir::LogicalResult lowerRole(Thread &t, tile::RoleOp role);
/// What this thread wrote is seen by the asynchronous proxy: to shared memory, or to all (kProxyFenceAttr).
void fenceProxy(Thread &t, mlir::Attribute fence);
/// The code of a role that some of the program's threads run.
mlir::LogicalResult lowerTeamRole(Thread &t, tile::RoleOp role);

// Clusters.cpp
/// The extents of the cluster in which blocks start; empty if they start alone.
llvm::SmallVector<int64_t> getCluster(tile::KernelOp kernel);
/// Whether blocks of the cluster touch each other's shared memory.
bool sharesMemory(tile::KernelOp kernel);
/// Whether threads arrive at barriers of other blocks.
bool arrivesAtBlocks(tile::KernelOp kernel);
/// All threads of the cluster meet.
void meetCluster(Thread &t);
/// One copy for all blocks along some dimensions of the cluster.
struct Multicast {
  Value isCopier; ///< This block starts it.
  Value mask;     ///< Of the ranks that get it. i16.
};
Multicast makeMulticast(Thread &t, llvm::ArrayRef<int64_t> dims);
/// The same for the blocks whose ranks `mask` has; `isOther`: this block is none of them.
Multicast makeMulticast(Thread &t, int64_t mask, Value &isOther);
/// A warp arrives at the barrier of each block along `dims` that lies at this address.
void arriveAtBlocks(Thread &t, Value address, Value lane, llvm::ArrayRef<int64_t> dims);

// Notes.cpp
mlir::LogicalResult lowerPrint(Thread &t, tile::PrintOp op);
void lowerAssert(Thread &t, tile::AssertOp op);

// Exchange.cpp
mlir::LogicalResult lowerExchange(Thread &t, tile::ParallelOp op);

} // namespace tilewright::nvptx

#endif // TILEWRIGHT_LIB_CODEGEN_NVPTX_LOWERINGS_H
