//===- Flow.cpp - which lowering an op has, loops and branches -------------------------------===//

#include "Lowerings.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilewright::tile;

namespace tilewright::nvptx {

static LogicalResult lowerLoopBody(Thread &t, Operation *op, Value lower, Value upper, Value step,
                                   Value variable, Block &body) {
  ImplicitLocOpBuilder &b = t.b;
  auto loop = scf::ForOp::create(b, lower, upper, step);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  t.define(variable, loop.getInductionVar());
  b.setLoc(op->getLoc());
  return lowerBlock(t, body);
}

static LogicalResult lowerFor(Thread &t, scf::ForOp op) {
  if (op.getNumResults())
    return unsupported(op) << "loops that carry values";
  return lowerLoopBody(t, op, t.mapped(op.getLowerBound()), t.mapped(op.getUpperBound()),
                       t.mapped(op.getStep()), op.getInductionVar(), *op.getBody());
}

/// Copies of an iteration that does not exist are left out; the group is committed all the same, so
/// that groups can be counted.
static LogicalResult lowerAsyncGroup(Thread &t, AsyncGroupOp op) {
  ImplicitLocOpBuilder &b = t.b;
  Value exists = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, t.mapped(op.getIteration()),
                                       t.mapped(op.getUpper()));
  LogicalResult result = success();
  t.guarded(exists, [&] { result = lowerBlock(t, op.getBody().front()); });
  b.setLoc(op.getLoc());
  NVVM::CpAsyncCommitGroupOp::create(b);
  return result;
}

/// Carried by the loop whose iterations it counts, or computed.
static void lowerVersion(Thread &t, VersionOp op) {
  ImplicitLocOpBuilder &b = t.b;
  if (Value known = t.carried.lookup(op))
    return t.define(op, known);
  Value number =
      b.createOrFold<arith::SubIOp>(t.mapped(op.getIteration()), t.mapped(op.getFirst()));
  number = b.createOrFold<arith::AddIOp>(number, t.index(op.getAhead()));
  t.define(op, t.floorModConstant(number, op.getCount()));
}

/// Versions of its own iterations go round as the loop runs, so no iteration divides: each is
/// carried by the loop, in 32 bits. The next iteration's version at distance d is this one's at
/// d + 1, where there is such, else one more, or 0 after the last.
static LogicalResult lowerPipelined(Thread &t, PipelinedOp op) {
  ImplicitLocOpBuilder &b = t.b;
  SmallVector<VersionOp> versions;
  for (auto version : op.getBody().front().getOps<VersionOp>())
    if (version.getIteration() == op.getInductionVar() && version.getFirst() == op.getLower())
      versions.push_back(version);
  auto distanceOf = [](VersionOp version) { return version.getAhead() % version.getCount(); };
  auto number = [&](int64_t value) { return t.constant(b.getI32IntegerAttr(int32_t(value))); };
  SmallVector<Value> starts, next;
  for (VersionOp version : versions)
    starts.push_back(number(distanceOf(version)));
  auto loop =
      scf::ForOp::create(b, t.mapped(op.getLower()), t.mapped(op.getUpper()), t.index(1), starts);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  b.setLoc(op.getLoc());
  t.define(op.getInductionVar(), loop.getInductionVar());
  for (auto [version, current] : llvm::zip(versions, loop.getRegionIterArgs())) {
    t.carried[version] = arith::IndexCastUIOp::create(b, b.getIndexType(), current);
    uint64_t count = version.getCount(), distance = (distanceOf(version) + 1) % count;
    auto *after = llvm::find_if(versions, [&](VersionOp other) {
      return other.getCount() == count && distanceOf(other) == distance;
    });
    if (after != versions.end()) {
      next.push_back(loop.getRegionIterArgs()[after - versions.begin()]);
      continue;
    }
    Value one = arith::AddIOp::create(b, current, number(1));
    Value isLast = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, one, number(count));
    next.push_back(arith::SelectOp::create(b, isLast, number(0), one));
  }
  if (failed(lowerBlock(t, op.getBody().front())))
    return failure();
  if (!versions.empty())
    scf::YieldOp::create(b, next);
  return success();
}

LogicalResult lowerIf(Thread &t, scf::IfOp op, ArrayRef<Iteration *> members) {
  ImplicitLocOpBuilder &b = t.b;
  Iteration *current = t.iteration;
  auto forEach = [&](llvm::function_ref<void(size_t position)> action) {
    for (auto [position, member] : llvm::enumerate(members)) {
      t.iteration = member;
      action(position);
    }
    t.iteration = current;
  };
  bool hasElse = !op.getElseRegion().empty();
  SmallVector<Type> types;
  forEach(
      [&](size_t) { llvm::append_range(types, map_range(op.getResultTypes(), getScalarType)); });
  t.iteration = members[0];
  Value condition = t.mapped(op.getCondition());
  t.iteration = current;
  auto branch = scf::IfOp::create(b, types, condition, hasElse || !types.empty());
  auto fill = [&](Region &from, Region &to) -> LogicalResult {
    OpBuilder::InsertionGuard guard(b);
    Block *block = &to.front();
    if (types.empty() && !block->empty())
      b.setInsertionPoint(block->getTerminator());
    else
      b.setInsertionPointToEnd(block);
    if (failed(lowerBlock(t, from.front(), members)))
      return failure();
    if (types.empty())
      return success();
    SmallVector<Value> yielded;
    forEach([&](size_t) {
      for (Value value : from.front().getTerminator()->getOperands())
        yielded.push_back(t.mapped(value));
    });
    scf::YieldOp::create(b, yielded);
    return success();
  };
  if (failed(fill(op.getThenRegion(), branch.getThenRegion())) ||
      (hasElse && failed(fill(op.getElseRegion(), branch.getElseRegion()))))
    return failure();
  forEach([&](size_t position) {
    for (auto [number, old] : llvm::enumerate(op.getResults()))
      t.define(old, branch.getResult(position * op.getNumResults() + number));
  });
  return success();
}

static LogicalResult lowerWhile(Thread &t, scf::WhileOp op) {
  ImplicitLocOpBuilder &b = t.b;
  if (op.getNumResults() || op.getNumOperands())
    return unsupported(op) << "loops that carry values";
  auto loop = scf::WhileOp::create(b, TypeRange(), ValueRange());
  OpBuilder::InsertionGuard guard(b);
  b.createBlock(&loop.getBefore());
  if (failed(lowerBlock(t, op.getBefore().front())))
    return failure();
  auto condition = cast<scf::ConditionOp>(op.getBefore().front().getTerminator());
  scf::ConditionOp::create(b, t.mapped(condition.getCondition()), ValueRange());
  b.createBlock(&loop.getAfter());
  if (failed(lowerBlock(t, op.getAfter().front())))
    return failure();
  scf::YieldOp::create(b);
  return success();
}

LogicalResult lowerOp(Thread &t, Operation *op) {
  ImplicitLocOpBuilder &b = t.b;
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](AllocOp alloc) {
        t.addTile(alloc);
        return success();
      })
      .Case<SliceOp, ViewOp>([](Operation *) { return success(); }) // resolved where they are used
      .Case<AnnotateLayoutOp, AnnotateSafeValueOp, UseSwizzleOp, HintOp, AssumeOp>(
          [](Operation *) { return success(); })
      .Case([&](BarrierOp barrier) {
        if (barrier->hasAttr(kProxyFenceAttr))
          NVVM::FenceProxyOp::create(
              b, NVVM::ProxyKindAttr::get(b.getContext(), NVVM::ProxyKind::async_shared),
              NVVM::SharedSpaceAttr::get(b.getContext(), NVVM::SharedSpace::shared_cta));
        t.barrier();
        return success();
      })
      .Case([&](AsyncGroupOp group) { return lowerAsyncGroup(t, group); })
      .Case([&](AsyncWaitOp wait) {
        NVVM::CpAsyncWaitGroupOp::create(b, uint32_t(wait.getPending()));
        return success();
      })
      .Case([&](ProductWaitOp wait) {
        lowerProductWait(t, wait);
        return success();
      })
      .Case([&](memref::DimOp dim) {
        t.define(dim, t.extentOf(dim.getSource(), *dim.getConstantIndex()));
        return success();
      })
      .Case([&](LoadOp load) { return lowerLoad(t, load); })
      .Case([&](StoreOp store) { return lowerStore(t, store); })
      .Case([&](AtomicElementOp atomic) {
        return lowerAtomic(t, atomic, atomic.getKind(), atomic.getValue(), atomic.getBuffer(),
                           atomic.getIndices(), atomic.getOrder(), atomic.getPrevious());
      })
      .Case([&](ReducerUpdateOp update) { return lowerReducerUpdate(t, update); })
      .Case([&](ParallelOp loop) { return lowerParallel(t, loop); })
      .Case([&](PipelinedOp loop) { return lowerPipelined(t, loop); })
      .Case([&](scf::ForOp loop) { return lowerFor(t, loop); })
      .Case([&](scf::IfOp branch) {
        Iteration *only = t.iteration; // the member changes meanwhile
        return lowerIf(t, branch, only);
      })
      .Case([&](scf::WhileOp loop) { return lowerWhile(t, loop); })
      .Case([&](VersionOp version) {
        lowerVersion(t, version);
        return success();
      })
      .Case([&](GemmOp gemm) { return lowerGemm(t, gemm); })
      .Case([&](ReduceOp reduce) { return lowerReduce(t, reduce); })
      .Case([&](CumsumOp scan) { return lowerCumsum(t, scan); })
      .Case([&](PrintOp print) { return lowerPrint(t, print); })
      .Case([&](AssertOp assertion) {
        lowerAssert(t, assertion);
        return success();
      })
      .Default([&](Operation *scalar) { return lowerScalar(t, scalar); });
}

LogicalResult lowerBlock(Thread &t, Block &block) {
  ImplicitLocOpBuilder &b = t.b;
  for (Operation &op : block.without_terminator()) {
    b.setLoc(op.getLoc());
    if (failed(lowerOp(t, &op)))
      return failure();
  }
  return success();
}

} // namespace tilewright::nvptx
