//===- Threads.cpp - thread indices, barriers and grid syncs of a trace ----------------------===//

#include "TraceImpl.h"

using namespace mlir;

namespace tilewright::frontend {

Scalar Trace::threadIndex(int64_t dim) {
  requireKernel("the index of a thread");
  auto op = verified(create<tile::ThreadIdOp>(builder.getIndexType(), dim));
  return wrap(op.getIndex(), builder.getIndexType());
}

Buffer Trace::allocBarriers(StringRef name, ArrayRef<int64_t> arrivals, bool atStart) {
  requireKernel("a barrier");
  OpBuilder::InsertionGuard guard(builder);
  if (atStart)
    for (const Frame &frame : frames)
      if (auto kernel = dyn_cast_or_null<tile::KernelOp>(frame.op)) {
        builder.setInsertionPointToStart(&kernel.getBody().front());
        break;
      }
  int64_t count = arrivals.size();
  MemRefType type = bufferType(IndexExpr(count), builder.getI64Type(), tile::Space::Shared);
  auto op = verified(create<tile::BarrierAllocOp>(type, builder.getStringAttr(name),
                                                  builder.getDenseI64ArrayAttr(arrivals)));
  return {op.getBarriers(), builder.getI64Type(), {IndexExpr(count)}, false, id};
}

static IntegerAttr makeCount(OpBuilder &builder, std::optional<int64_t> count) {
  return count ? builder.getI64IntegerAttr(*count) : IntegerAttr();
}

void Trace::barrierArrive(const Element &barrier, bool once, std::optional<int64_t> count,
                          std::optional<Operand> expectedBytes) {
  checkOwn(barrier.buffer.traceId);
  Value bytes = expectedBytes ? toIndex(*expectedBytes, "expected bytes") : Value();
  verified(create<tile::BarrierArriveOp>(barrier.buffer.value, barrier.indices.front().value, bytes,
                                         once ? builder.getUnitAttr() : UnitAttr(), UnitAttr(),
                                         makeCount(builder, count)));
}

void Trace::barrierWait(const Element &barrier, std::optional<Operand> parity,
                        std::optional<int64_t> count) {
  checkOwn(barrier.buffer.traceId);
  Value phase = parity ? toIndex(*parity, "parity") : Value();
  verified(create<tile::BarrierWaitOp>(barrier.buffer.value, barrier.indices.front().value, phase,
                                       makeCount(builder, count)));
}

void Trace::gridSync() {
  requireKernel("'T.sync_grid'");
  verified(create<tile::GridSyncOp>());
}

} // namespace tilewright::frontend
