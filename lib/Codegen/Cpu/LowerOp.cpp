//===- LowerOp.cpp - the table of all lowerings -----------------------------------------------===//

#include "Lowerings.h"
#include "tilewright/Tile/CpuPlan.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

void tilewright::cpu::lowerRegion(Region &region, Emitter &e) {
  for (Operation &op : region.front()) {
    if (op.hasTrait<OpTrait::IsTerminator>() || e.program.hasFailed)
      return;
    e.b.setLoc(op.getLoc());
    lowerOp(op, e);
  }
}

/// Remembers the buffer if other ops name it by a number.
static void nameBuffer(Operation *op, Value buffer, Emitter &e) {
  if (std::optional<int64_t> id = tile::getPlanNumber(op, tile::kPlanIdAttr))
    e.buffers.nameView(*id, buffer);
}

static void lowerSlice(tile::SliceOp op, Emitter &e) {
  e.buffers.setView(op.getResult(), e.buffers.makeSlice(op));
  nameBuffer(op, op.getResult(), e);
}

static void lowerView(tile::ViewOp op, Emitter &e) {
  e.buffers.setView(op.getResult(), e.buffers.makeView(op));
}

static void lowerLoad(tile::LoadOp op, Emitter &e) {
  View view = e.buffers.getView(op.getBuffer());
  Value stored = e.buffers.loadStored(view, e.lookupAll(op.getIndices()));
  e.define(op.getValue(), e.numbers.unpack(stored, view.elementType));
  e.defineStored(op.getValue(), view.elementType, stored);
}

static void lowerStore(tile::StoreOp op, Emitter &e) {
  View view = e.buffers.getView(op.getBuffer());
  SmallVector<Value> index = e.lookupAll(op.getIndices());
  if (Value stored = e.lookupStored(op.getValue(), view.elementType))
    e.buffers.storeStored(view, index, stored);
  else
    e.buffers.store(view, index, e.lookup(op.getValue()));
}

static void lowerAssert(tile::AssertOp op, Emitter &e) {
  Value fails = e.b.createOrFold<arith::XOrIOp>(e.lookup(op.getCondition()),
                                                e.numbers.integer(e.b.getI1Type(), 1));
  e.ifTrue(fails, [&] { e.services.fail(("assertion failed: " + op.getMessage()).str()); });
}

void tilewright::cpu::lowerOp(Operation &op, Emitter &e) {
  llvm::TypeSwitch<Operation *>(&op)
      .Case([&](tile::KernelOp op) { lowerKernel(op, e); })
      .Case([&](tile::ParallelOp op) { lowerParallel(op, e); })
      .Case([&](tile::PipelinedOp op) { lowerPipelined(op, e); })
      .Case([&](scf::ForOp op) { lowerFor(op, e); })
      .Case([&](scf::IfOp op) { lowerIf(op, e); })
      .Case([&](scf::WhileOp op) { lowerWhile(op, e); })
      .Case([&](tile::AllocOp op) {
        lowerAlloc(op, e);
        nameBuffer(op, op.getBuffer(), e);
      })
      .Case([&](tile::SliceOp op) { lowerSlice(op, e); })
      .Case([&](tile::ViewOp op) { lowerView(op, e); })
      .Case([&](tile::LoadOp op) { lowerLoad(op, e); })
      .Case([&](tile::StoreOp op) { lowerStore(op, e); })
      .Case([&](tile::CopyOp op) { lowerCopy(op, e); })
      .Case([&](tile::FinalizeReducerOp op) { lowerFinalizeReducer(op, e); })
      .Case([&](tile::FillOp op) { lowerFill(op, e); })
      .Case([&](tile::GemmOp op) { lowerGemm(op, e); })
      .Case([&](tile::ReduceOp op) { lowerReduce(op, e); })
      .Case([&](tile::CumsumOp op) { lowerCumsum(op, e); })
      .Case([&](tile::Im2colOp op) { lowerIm2col(op, e); })
      .Case([&](tile::AtomicOp op) { lowerAtomic(op, e); })
      .Case([&](tile::AtomicElementOp op) { lowerAtomicElement(op, e); })
      .Case([&](tile::ReducerUpdateOp op) { lowerReducerUpdate(op, e); })
      .Case([&](tile::PrintOp op) { lowerPrint(op, e); })
      .Case([&](tile::AssertOp op) { lowerAssert(op, e); })
      .Case<tile::AnnotateLayoutOp, tile::AnnotateSafeValueOp, tile::UseSwizzleOp, tile::HintOp,
            tile::AssumeOp>([](auto) {}) // bound with the kernel, or without effect on values
      .Default([&](Operation *other) {
        if (!lowerScalar(*other, e))
          e.refuse(other, "'" + other->getName().getStringRef() + "' has no lowering for the CPU");
      });
}
