//===- Families.h - what the instruction families share -----------------------------------===//
//
// Opcodes such as `add` belong to several families by type; Arith.cpp looks at the type and
// forwards to the functions declared here.
//
//===-----------------------------------------------------------------------------------===//
#ifndef VGPU_LIB_EXEC_FAMILIES_H
#define VGPU_LIB_EXEC_FAMILIES_H

#include "vgpu/Exec/Decode.h"

namespace vgpu {

/// Ends decoding: refuses modifiers that were not consumed and appends the instruction.
bool emitInst(InstBuilder &builder);
/// The condition-code register CC.CF of add.cc and friends: a hidden predicate.
bool addCarryDst(InstBuilder &builder);
bool addCarrySrc(InstBuilder &builder);

bool decodeIntegerAdd(InstBuilder &);
bool decodeIntegerSub(InstBuilder &);
bool decodeIntegerMul(InstBuilder &);
bool decodeIntegerMad(InstBuilder &);
bool decodeIntegerDiv(InstBuilder &);
bool decodeIntegerAbs(InstBuilder &);
bool decodeIntegerNeg(InstBuilder &);
bool decodeIntegerMin(InstBuilder &);
bool decodeIntegerMax(InstBuilder &);

/// The arithmetic of f32 and f64, and of f16, bf16 and their pairs.
enum class FloatOp : uint8_t { Add, Sub, Mul, Fma, Div, Abs, Neg, Min, Max, Sqrt, Rcp };
bool decodeFloat(InstBuilder &, FloatOp);
bool decodeHalf(InstBuilder &, FloatOp);

/// mma.m8n8k4 of f16, which has fragments of its own.
bool decodeVoltaMma(InstBuilder &);

/// setmaxnreg (RegisterPool.cpp).
bool decodeRegisterCount(InstBuilder &);

/// bar.warp.sync, barrier.cluster and fences between proxies, which share the words bar and fence.
bool decodeWarpBarrier(InstBuilder &);
bool decodeClusterBarrier(InstBuilder &);
bool decodeProxyFence(InstBuilder &);
/// cp.async.bulk, cp.reduce.async.bulk and cp.async.mbarrier.arrive, which share the word cp.
bool decodeBulkCopy(InstBuilder &);
bool decodeBulkReduction(InstBuilder &);
bool decodeAsyncArrive(InstBuilder &);
/// The handler of bulk copies with a tensor map.
void copyTensor(Warp &, const Inst &, uint32_t mask);

/// mma of f16 or bf16 with f32 sums, m16n8k8 or m16n8k16 (MmaHalves.cpp).
Handler halfMmaHandler(ptx::Type type, unsigned k);

} // namespace vgpu

#endif // VGPU_LIB_EXEC_FAMILIES_H
