//===- ThreadStatements.cpp - statements of programs that name their threads -----------------===//

#include "tilewright/Frontend/ThreadStatements.h"

using namespace mlir;

namespace tilewright::frontend {

Scalar ThreadStatements::threadIndex(int64_t dim) {
  regions.requireKernel("the index of a thread");
  auto op = emitter.createVerified<tile::ThreadIdOp>(builder.getIndexType(), dim);
  return emitter.wrap(op.getIndex(), builder.getIndexType());
}

Buffer ThreadStatements::allocBarriers(StringRef name, ArrayRef<int64_t> arrivals, bool atStart) {
  regions.requireKernel("a barrier");
  OpBuilder::InsertionGuard guard(builder);
  if (atStart)
    builder.setInsertionPointToStart(&cast<tile::KernelOp>(regions.findKernel()).getBody().front());
  int64_t count = arrivals.size();
  MemRefType type = tile::makeBufferType(count, builder.getI64Type(), tile::Space::Shared);
  auto op = emitter.createVerified<tile::BarrierAllocOp>(type, builder.getStringAttr(name),
                                                         builder.getDenseI64ArrayAttr(arrivals));
  return {op.getBarriers(), builder.getI64Type(), {IndexExpr(count)}, false, emitter.getId()};
}

static IntegerAttr makeCount(OpBuilder &builder, std::optional<int64_t> count) {
  return count ? builder.getI64IntegerAttr(*count) : IntegerAttr();
}

void ThreadStatements::barrierArrive(const Element &barrier, bool once,
                                     std::optional<int64_t> count,
                                     std::optional<Operand> expectedBytes) {
  emitter.checkOwn(barrier.buffer.traceId);
  Value bytes = expectedBytes ? scalars.toIndex(*expectedBytes, "expected bytes") : Value();
  emitter.createVerified<tile::BarrierArriveOp>(barrier.buffer.value, barrier.indices.front().value,
                                                bytes, once ? builder.getUnitAttr() : UnitAttr(),
                                                UnitAttr(), makeCount(builder, count));
}

void ThreadStatements::barrierWait(const Element &barrier, std::optional<Operand> parity,
                                   std::optional<int64_t> count) {
  emitter.checkOwn(barrier.buffer.traceId);
  Value phase = parity ? scalars.toIndex(*parity, "parity") : Value();
  emitter.createVerified<tile::BarrierWaitOp>(barrier.buffer.value, barrier.indices.front().value,
                                              phase, makeCount(builder, count));
}

void ThreadStatements::gridSync() {
  regions.requireKernel("'T.sync_grid'");
  emitter.createVerified<tile::GridSyncOp>();
}

} // namespace tilewright::frontend
