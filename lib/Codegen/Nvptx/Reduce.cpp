//===- Reduce.cpp - reductions and running sums of a block -----------------------------------===//
//
// In registers: a thread first combines its own slots of a row, then the lanes that share the row
// meet by shuffles over the masks in which they differ, then the warps that share it meet in
// scratch memory. In memory: each thread takes whole rows.
//
//===----------------------------------------------------------------------------------------===//

#include "ThreadLowering.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::nvptx {

/// Sums of narrow floats are formed in float32.
static Type combiningType(Type element) {
  if (isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32)
    return Float32Type::get(element.getContext());
  return element;
}

Value ThreadLowering::shuffle(Value value, int64_t mask) {
  Type type = value.getType();
  unsigned width = type.getIntOrFloatBitWidth();
  Type word = b.getI32Type();
  auto constant = [&](int64_t number) -> Value {
    return LLVM::ConstantOp::create(b, b.getI32IntegerAttr(number));
  };
  auto exchange = [&](Value bits) -> Value {
    return NVVM::ShflOp::create(b, word, constant(-1), bits, constant(mask), constant(31),
                                NVVM::ShflKind::bfly, UnitAttr());
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

LogicalResult ThreadLowering::lowerReduce(ReduceOp op) {
  bool sourceInRegisters = storageOf(getRoot(op.getSource())).kind == Storage::Kind::Registers;
  bool destInRegisters = storageOf(getRoot(op.getDest())).kind == Storage::Kind::Registers;
  if (sourceInRegisters && destInRegisters)
    return lowerRegisterReduce(op);
  if (!sourceInRegisters && !destInRegisters)
    return lowerMemoryReduce(op);
  return op.emitError() << "internal error: a reduction mixes registers and memory";
}

static Value magnitudeOf(ImplicitLocOpBuilder &b, Value value, Type type) {
  if (type.isUnsignedInteger())
    return value;
  return isa<FloatType>(type) ? math::AbsFOp::create(b, value).getResult()
                              : math::AbsIOp::create(b, value).getResult();
}

LogicalResult ThreadLowering::lowerRegisterReduce(ReduceOp op) {
  const Storage &source = storageOf(getRoot(op.getSource())),
                &dest = storageOf(getRoot(op.getDest()));
  Type element = source.elementType, result = dest.elementType, sumType = combiningType(element);
  std::optional<analysis::ReductionPlan> plan =
      analysis::planReduction(source.places, source.staticExtents, dest.places, op.getDim());
  if (!plan)
    return op.emitError()
           << "internal error: a reduction over registers that was not laid out for it";
  auto convert = [&](Value value, Type from, Type to) {
    return convertScalar(value, from, to, Rounding::NearestEven, false);
  };
  bool isAbsolute = op.getKind() == ReduceKind::AbsMax || op.getKind() == ReduceKind::AbsSum;
  auto load = [&](int64_t slot) -> Value {
    Value value = convert(loadRegister(source, slot), element, sumType);
    return isAbsolute ? magnitudeOf(b, value, sumType) : value;
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
    int64_t threads = kernel.getNumThreads(), bytes = getStorageBytes(sumType);
    Type stored = getStorageType(sumType);
    Value base = LLVM::GEPOp::create(b, arena.getType(), b.getI8Type(), arena,
                                     ArrayRef<LLVM::GEPArg>{int32_t(scratchOffset)});
    auto address = [&](int64_t slot, Value thread) -> Value {
      Value offset = b.createOrFold<arith::AddIOp>(thread, index(slot * threads));
      return LLVM::GEPOp::create(b, arena.getType(), stored, base,
                                 ArrayRef<LLVM::GEPArg>{i64(offset)});
    };
    for (auto [slot, value] : llvm::enumerate(partial))
      LLVM::StoreOp::create(b, toStorage(value, sumType), address(slot, threadId), bytes);
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
        Value other =
            fromStorage(LLVM::LoadOp::create(b, stored, address(slot, thread), bytes), sumType);
        combined = combined ? combine(op.getKind(), combined, other, sumType, op.getNanPropagate())
                            : other;
      }
      partial[slot] = combined;
    }
  }
  for (auto [slot, value] : llvm::enumerate(partial)) {
    if (!op.getClear()) {
      Value old = convert(loadRegister(dest, slot), result, sumType);
      if (op.getKind() == ReduceKind::AbsMax) // a sum of magnitudes adds to it as it is
        old = magnitudeOf(b, old, sumType);
      value = combine(op.getKind(), old, value, sumType, op.getNanPropagate());
    }
    storeRegister(dest, slot, convert(value, sumType, result));
  }
  return success();
}

LogicalResult ThreadLowering::lowerMemoryReduce(ReduceOp op) {
  MemRefType sourceType = op.getSource().getType(), destType = op.getDest().getType();
  const Storage &source = storageOf(getRoot(op.getSource())),
                &dest = storageOf(getRoot(op.getDest()));
  Type element = sourceType.getElementType(), result = destType.getElementType(),
       sumType = combiningType(element);
  int64_t dim = op.getDim(), rows = 1;
  SmallVector<int64_t> outer; // extents without `dim`
  for (int64_t d = 0; d < sourceType.getRank(); ++d)
    if (d != dim) {
      outer.push_back(sourceType.getDimSize(d));
      rows *= outer.back();
    }
  auto loop = scf::ForOp::create(b, threadId, index(rows), index(kernel.getNumThreads()));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> row(outer.size());
  Value number = loop.getInductionVar();
  for (int64_t d = outer.size() - 1; d >= 0; --d) {
    row[d] = d == 0 ? number : evaluate(IndexExpr::dim(0) % outer[d], number);
    number = evaluate(floorDiv(IndexExpr::dim(0), outer[d]), number);
  }
  // From the first element on, so that a row of NaN gives NaN.
  bool isAbsolute = op.getKind() == ReduceKind::AbsMax || op.getKind() == ReduceKind::AbsSum;
  auto load = [&](Value position) -> Value {
    SmallVector<Value> coordinates(row);
    coordinates.insert(coordinates.begin() + dim, position);
    Value value = convertScalar(loadAt(source, viewCoordinates(op.getSource(), coordinates)),
                                element, sumType, Rounding::NearestEven, false);
    return isAbsolute ? magnitudeOf(b, value, sumType) : value;
  };
  auto scan =
      scf::ForOp::create(b, index(1), index(sourceType.getDimSize(dim)), index(1), load(index(0)));
  {
    OpBuilder::InsertionGuard inner(b);
    b.setInsertionPointToStart(scan.getBody());
    scf::YieldOp::create(b, combine(op.getKind(), scan.getRegionIterArg(0),
                                    load(scan.getInductionVar()), sumType, op.getNanPropagate()));
  }
  SmallVector<Value> target(row);
  if (destType.getRank() == sourceType.getRank())
    target.insert(target.begin() + dim, index(0));
  if (target.empty())
    target.push_back(index(0));
  target = viewCoordinates(op.getDest(), target);
  Value value = scan.getResult(0);
  if (!op.getClear()) {
    Value old = convertScalar(loadAt(dest, target), result, sumType, Rounding::NearestEven, false);
    if (op.getKind() == ReduceKind::AbsMax)
      old = magnitudeOf(b, old, sumType);
    value = combine(op.getKind(), old, value, sumType, op.getNanPropagate());
  }
  storeAt(dest, target, convertScalar(value, sumType, result, Rounding::NearestEven, false));
  return success();
}

LogicalResult ThreadLowering::lowerCumsum(CumsumOp op) {
  MemRefType type = op.getSource().getType();
  const Storage &source = storageOf(getRoot(op.getSource())),
                &dest = storageOf(getRoot(op.getDest()));
  if (source.kind != Storage::Kind::Memory || dest.kind != Storage::Kind::Memory)
    return op.emitError() << "internal error: a scan over registers";
  Type element = type.getElementType(), result = op.getDest().getType().getElementType(),
       sumType = combiningType(element);
  int64_t dim = op.getDim(), rows = 1, extent = type.getDimSize(dim);
  SmallVector<int64_t> outer;
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (d != dim) {
      outer.push_back(type.getDimSize(d));
      rows *= outer.back();
    }
  auto loop = scf::ForOp::create(b, threadId, index(rows), index(kernel.getNumThreads()));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> row(outer.size());
  Value number = loop.getInductionVar();
  for (int64_t d = outer.size() - 1; d >= 0; --d) {
    row[d] = d == 0 ? number : evaluate(IndexExpr::dim(0) % outer[d], number);
    number = evaluate(floorDiv(IndexExpr::dim(0), outer[d]), number);
  }
  Value start = arith::ConstantOp::create(b, b.getZeroAttr(getScalarType(sumType)));
  auto scan = scf::ForOp::create(b, index(0), index(extent), index(1), start);
  b.setInsertionPointToStart(scan.getBody());
  Value position = scan.getInductionVar();
  if (op.getReverse())
    position = arith::SubIOp::create(b, index(extent - 1), position);
  SmallVector<Value> coordinates(row);
  coordinates.insert(coordinates.begin() + dim, position);
  Value value = convertScalar(loadAt(source, viewCoordinates(op.getSource(), coordinates)), element,
                              sumType, Rounding::NearestEven, false);
  Value sum = combine(ReduceKind::Sum, scan.getRegionIterArg(0), value, sumType, false);
  storeAt(dest, viewCoordinates(op.getDest(), coordinates),
          convertScalar(sum, sumType, result, Rounding::NearestEven, false));
  scf::YieldOp::create(b, sum);
  return success();
}

} // namespace tilewright::nvptx
