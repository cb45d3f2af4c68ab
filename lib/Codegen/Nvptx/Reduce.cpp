//===- Reduce.cpp - reductions of a tile in registers -----------------------------------------===//
//
// A thread first combines its own slots of a row, then the lanes that share the row meet by
// shuffles over the masks in which they differ, then the warps that share it meet in scratch
// memory.
//
//===----------------------------------------------------------------------------------------===//

#include "ThreadLowering.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::nvptx {

Type ThreadLowering::combiningType(ReduceKind kind, Type element, Type result) {
  if (isa<FloatType>(element))
    return element.isF64() || result.isF64() ? Type(b.getF64Type()) : Type(b.getF32Type());
  if (!isSum(kind))
    return element;
  // A sum that becomes a bool must not wrap to 0; all others wrap at the width of the result.
  int64_t width = result.isInteger(1) ? (element.isInteger(1) ? 32 : 64)
                                      : std::max<int64_t>(32, getStorageBits(result));
  return b.getIntegerType(width);
}

Value ThreadLowering::reductionOperand(ReduceKind kind, Value value, Type element, Type sumType) {
  bool isAbsolute = kind == ReduceKind::AbsMax || kind == ReduceKind::AbsSum;
  // The magnitude of an integer is one of its own type; a narrow float must be widened first.
  if (isAbsolute && !isa<FloatType>(element))
    value = magnitudeOf(value, element);
  value = convertScalar(value, element, sumType, Rounding::NearestEven, false);
  return isAbsolute && isa<FloatType>(sumType) ? magnitudeOf(value, sumType) : value;
}

Value ThreadLowering::finishReduction(ReduceOp op, Value combined, Type sumType,
                                      llvm::function_ref<Value()> loadOld) {
  Type result = op.getDest().getType().getElementType();
  ReduceKind kind = op.getKind();
  auto convert = [&](Value value, Type from, Type to) {
    return convertScalar(value, from, to, Rounding::NearestEven, false);
  };
  if (op.getClear())
    return convert(combined, sumType, result);
  Value old = loadOld();
  bool isAbsolute = kind == ReduceKind::AbsMax; // a sum of magnitudes adds to it as it is
  if (isSum(kind) || isa<FloatType>(sumType)) {
    old = convert(old, result, sumType);
    if (isAbsolute)
      old = magnitudeOf(old, sumType);
    return convert(combine(kind, old, combined, sumType, op.getNanPropagate()), sumType, result);
  }
  if (isAbsolute)
    old = magnitudeOf(old, result);
  return combine(kind, old, convert(combined, sumType, result), result, false);
}

Value ThreadLowering::shuffle(Value value, int64_t lane, NVVM::ShflKind kind) {
  Type type = value.getType();
  unsigned width = type.getIntOrFloatBitWidth();
  Type word = b.getI32Type();
  auto number = [&](int64_t value) { return constant(b.getI32IntegerAttr(value)); };
  auto exchange = [&](Value bits) -> Value {
    // A shift upwards stops at lane 0, the other kinds at lane 31.
    int64_t bound = kind == NVVM::ShflKind::up ? 0 : kWarpSize - 1;
    return NVVM::ShflOp::create(b, word, number(-1), bits, number(lane), number(bound), kind,
                                UnitAttr());
  };
  Type integer = b.getIntegerType(width);
  Value bits =
      isa<FloatType>(type) ? LLVM::BitcastOp::create(b, integer, value).getResult() : value;
  if (width < 32) {
    bits = arith::ExtUIOp::create(b, word, bits);
    bits = arith::TruncIOp::create(b, integer, exchange(bits));
  } else if (width == 32) {
    bits = exchange(bits);
  } else {
    Value shift = arith::ConstantOp::create(b, b.getI64IntegerAttr(32));
    Value low = exchange(arith::TruncIOp::create(b, word, bits));
    Value high = exchange(arith::TruncIOp::create(b, word, arith::ShRUIOp::create(b, bits, shift)));
    bits = arith::OrIOp::create(
        b, arith::ExtUIOp::create(b, integer, low),
        arith::ShLIOp::create(b, arith::ExtUIOp::create(b, integer, high), shift));
  }
  return isa<FloatType>(type) ? LLVM::BitcastOp::create(b, type, bits).getResult() : bits;
}

Value ThreadLowering::scratchAddress(Value position, Type type) {
  Value base = LLVM::GEPOp::create(b, arena.getType(), b.getI8Type(), arena,
                                   ArrayRef<LLVM::GEPArg>{int32_t(scratchOffset)});
  return LLVM::GEPOp::create(b, arena.getType(), getStorageType(type), base,
                             ArrayRef<LLVM::GEPArg>{i64(position)});
}

Value ThreadLowering::loadScratch(Value position, Type type) {
  return fromStorage(LLVM::LoadOp::create(b, getStorageType(type), scratchAddress(position, type),
                                          getStorageBytes(type)),
                     type);
}

void ThreadLowering::storeScratch(Value position, Value value, Type type) {
  LLVM::StoreOp::create(b, toStorage(value, type), scratchAddress(position, type),
                        getStorageBytes(type));
}

LogicalResult ThreadLowering::lowerReduce(ReduceOp op) {
  if (failed(checkViews(op)))
    return failure();
  bool sourceInRegisters = storageOf(getRoot(op.getSource())).kind == Storage::Kind::Registers;
  bool destInRegisters = storageOf(getRoot(op.getDest())).kind == Storage::Kind::Registers;
  if (sourceInRegisters && destInRegisters)
    return lowerRegisterReduce(op);
  if (!sourceInRegisters && !destInRegisters)
    return lowerMemoryReduce(op);
  return op.emitError() << "internal error: a reduction mixes registers and memory";
}

Value ThreadLowering::magnitudeOf(Value value, Type type) {
  if (type.isUnsignedInteger() || type.isInteger(1))
    return value;
  return isa<FloatType>(type) ? math::AbsFOp::create(b, value).getResult()
                              : math::AbsIOp::create(b, value).getResult();
}

LogicalResult ThreadLowering::lowerRegisterReduce(ReduceOp op) {
  const Storage &source = storageOf(getRoot(op.getSource())),
                &dest = storageOf(getRoot(op.getDest()));
  Type element = source.elementType,
       sumType = combiningType(op.getKind(), element, dest.elementType);
  std::optional<analysis::ReductionPlan> plan =
      analysis::planReduction(source.places, source.staticExtents, dest.places, op.getDim());
  if (!plan)
    return op.emitError()
           << "internal error: a reduction over registers that was not laid out for it";
  auto load = [&](int64_t slot) {
    return reductionOperand(op.getKind(), loadRegister(source, slot), element, sumType);
  };
  SmallVector<Value> partial;
  for (const SmallVector<int64_t> &slots : plan->own) {
    Value value = load(slots.front());
    for (int64_t slot : ArrayRef(slots).drop_front())
      value = combine(op.getKind(), value, load(slot), sumType, op.getNanPropagate());
    for (int64_t mask : plan->laneMasks)
      value = combine(op.getKind(), value, shuffle(value, mask), sumType, op.getNanPropagate());
    partial.push_back(value);
  }
  if (plan->warpMask) {
    // scratch[slot][thread]: each thread leaves its part and reads those of the warps it shares
    // with.
    int64_t threads = kernel.getNumThreads();
    auto place = [&](int64_t slot, Value thread) -> Value {
      return b.createOrFold<arith::AddIOp>(thread, index(slot * threads));
    };
    for (auto [slot, value] : llvm::enumerate(partial))
      storeScratch(place(slot, threadId), value, sumType);
    barrier();
    for (auto [slot, value] : llvm::enumerate(partial)) {
      Value combined;
      // In order of the warp's number, so that all owners form the same sum.
      for (int64_t warp = 0; warp * kWarpSize < threads; ++warp) {
        if ((warp & ~plan->warpMask) != 0)
          continue;
        int64_t keep = ~(plan->warpMask * kWarpSize);
        Value thread = b.createOrFold<arith::OrIOp>(
            b.createOrFold<arith::AndIOp>(threadId, index(keep)), index(warp * kWarpSize));
        Value other = loadScratch(place(slot, thread), sumType);
        combined = combined ? combine(op.getKind(), combined, other, sumType, op.getNanPropagate())
                            : other;
      }
      partial[slot] = combined;
    }
  }
  for (auto [slot, value] : llvm::enumerate(partial)) {
    auto loadOld = [&, slot = slot] { return loadRegister(dest, slot); };
    storeRegister(dest, slot, finishReduction(op, value, sumType, loadOld));
  }
  return success();
}

} // namespace tilewright::nvptx
