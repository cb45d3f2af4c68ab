//===- Reduce.cpp - reductions of a tile in registers -----------------------------------------===//
//
// A thread first combines its own slots of a row, then the lanes that share the row meet by
// shuffles over the masks in which they differ, then the warps that share it meet in scratch
// memory.
//
//===----------------------------------------------------------------------------------------===//

#include "Lowerings.h"
#include "tilewright/Tile/InternalError.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::nvptx {

Type combiningType(Emitter &e, ReduceKind kind, Type element, Type result) {
  ImplicitLocOpBuilder &b = e.b;
  if (isa<FloatType>(element))
    return element.isF64() || result.isF64() ? Type(b.getF64Type()) : Type(b.getF32Type());
  if (!isSum(kind))
    return element;
  // A sum that becomes a bool must not wrap to 0; all others wrap at the width of the result.
  int64_t width = result.isInteger(1) ? (element.isInteger(1) ? 32 : 64)
                                      : std::max<int64_t>(32, getStorageBits(result));
  return b.getIntegerType(width);
}

Value reductionOperand(Emitter &e, ReduceKind kind, Value value, Type element, Type sumType) {
  bool isAbsolute = kind == ReduceKind::AbsMax || kind == ReduceKind::AbsSum;
  // The magnitude of an integer is one of its own type; a narrow float must be widened first.
  if (isAbsolute && !isa<FloatType>(element))
    value = magnitudeOf(e, value, element);
  value = convertScalar(e, value, element, sumType, Rounding::NearestEven, false);
  return isAbsolute && isa<FloatType>(sumType) ? magnitudeOf(e, value, sumType) : value;
}

Value finishReduction(Emitter &e, ReduceOp op, Value combined, Type sumType,
                      llvm::function_ref<Value()> loadOld) {
  Type result = op.getDest().getType().getElementType();
  ReduceKind kind = op.getKind();
  auto convert = [&](Value value, Type from, Type to) {
    return convertScalar(e, value, from, to, Rounding::NearestEven, false);
  };
  if (op.getClear())
    return convert(combined, sumType, result);
  Value old = loadOld();
  bool isAbsolute = kind == ReduceKind::AbsMax; // a sum of magnitudes adds to it as it is
  if (isSum(kind) || isa<FloatType>(sumType)) {
    old = convert(old, result, sumType);
    if (isAbsolute)
      old = magnitudeOf(e, old, sumType);
    return convert(combine(e, kind, old, combined, sumType, op.getNanPropagate()), sumType, result);
  }
  if (isAbsolute)
    old = magnitudeOf(e, old, result);
  return combine(e, kind, old, convert(combined, sumType, result), result, false);
}

static Value scratchAddress(Thread &t, Value position, Type type) {
  ImplicitLocOpBuilder &b = t.b;
  Value base = LLVM::GEPOp::create(b, t.arena.getType(), b.getI8Type(), t.arena,
                                   ArrayRef<LLVM::GEPArg>{int32_t(t.scratchOffset)});
  return LLVM::GEPOp::create(b, t.arena.getType(), getStorageType(type), base,
                             ArrayRef<LLVM::GEPArg>{t.i64(position)});
}

Value loadScratch(Thread &t, Value position, Type type) {
  ImplicitLocOpBuilder &b = t.b;
  return fromStorage(t,
                     LLVM::LoadOp::create(b, getStorageType(type),
                                          scratchAddress(t, position, type), getStorageBytes(type)),
                     type);
}

void storeScratch(Thread &t, Value position, Value value, Type type) {
  ImplicitLocOpBuilder &b = t.b;
  LLVM::StoreOp::create(b, toStorage(t, value, type), scratchAddress(t, position, type),
                        getStorageBytes(type));
}

static LogicalResult lowerRegisterReduce(Thread &t, ReduceOp op) {
  ImplicitLocOpBuilder &b = t.b;
  const Storage &source = t.storageOf(getRoot(op.getSource())),
                &dest = t.storageOf(getRoot(op.getDest()));
  Type element = source.elementType,
       sumType = combiningType(t, op.getKind(), element, dest.elementType);
  std::optional<analysis::ReductionPlan> plan =
      analysis::planReduction(source.owners, source.staticExtents, dest.owners, op.getDim());
  if (!plan)
    return emitInternalError(op) << "a reduction over registers that was not laid out for it";
  auto load = [&](int64_t slot) {
    return reductionOperand(t, op.getKind(), t.loadRegister(source, slot), element, sumType);
  };
  SmallVector<Value> partial;
  for (const SmallVector<int64_t> &slots : plan->own) {
    Value value = load(slots.front());
    for (int64_t slot : ArrayRef(slots).drop_front())
      value = combine(t, op.getKind(), value, load(slot), sumType, op.getNanPropagate());
    for (int64_t mask : plan->laneMasks)
      value =
          combine(t, op.getKind(), value, shuffle(t, value, mask), sumType, op.getNanPropagate());
    partial.push_back(value);
  }
  if (plan->warpMask) {
    // scratch[slot][thread]: each thread leaves its part and reads those of the warps it shares
    // with.
    int64_t threads = t.getNumThreads();
    auto cellOf = [&](int64_t slot, Value thread) -> Value {
      return b.createOrFold<arith::AddIOp>(thread, t.index(slot * threads));
    };
    for (auto [slot, value] : llvm::enumerate(partial))
      storeScratch(t, cellOf(slot, t.threadId), value, sumType);
    t.barrier();
    for (auto [slot, value] : llvm::enumerate(partial)) {
      Value combined;
      // In order of the warp's number, so that all owners form the same sum.
      for (int64_t warp = 0; warp * kWarpSize < threads; ++warp) {
        if ((warp & ~plan->warpMask) != 0)
          continue;
        int64_t keep = ~(plan->warpMask * kWarpSize);
        Value thread = b.createOrFold<arith::OrIOp>(
            b.createOrFold<arith::AndIOp>(t.threadId, t.index(keep)), t.index(warp * kWarpSize));
        Value other = loadScratch(t, cellOf(slot, thread), sumType);
        combined = combined
                       ? combine(t, op.getKind(), combined, other, sumType, op.getNanPropagate())
                       : other;
      }
      partial[slot] = combined;
    }
  }
  for (auto [slot, value] : llvm::enumerate(partial)) {
    auto loadOld = [&, slot = slot] { return t.loadRegister(dest, slot); };
    t.storeRegister(dest, slot, finishReduction(t, op, value, sumType, loadOld));
  }
  return success();
}

LogicalResult lowerReduce(Thread &t, ReduceOp op) {
  if (failed(checkViews(t, op)))
    return failure();
  bool sourceInRegisters = t.storageOf(getRoot(op.getSource())).kind == Storage::Kind::Registers;
  bool destInRegisters = t.storageOf(getRoot(op.getDest())).kind == Storage::Kind::Registers;
  if (sourceInRegisters && destInRegisters)
    return lowerRegisterReduce(t, op);
  if (!sourceInRegisters && !destInRegisters)
    return lowerMemoryReduce(t, op);
  return emitInternalError(op) << "a reduction mixes registers and memory";
}

} // namespace tilewright::nvptx
