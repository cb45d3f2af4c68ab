//===- Flow.cpp - which lowering an op has, loops and branches -------------------------------===//

#include "Lowerings.h"
#include "Turns.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/StringSwitch.h"
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
  if (op.getFull())
    return lowerBulkGroup(t, op);
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
template <typename CountOp> static void lowerCount(Thread &t, CountOp op) {
  ImplicitLocOpBuilder &b = t.b;
  if (Value known = t.carried.lookup(op))
    return t.define(op, known);
  Value number =
      b.createOrFold<arith::SubIOp>(t.mapped(op.getIteration()), t.mapped(op.getFirst()));
  number = b.createOrFold<arith::AddIOp>(number, t.index(op.getAhead()));
  if (isa<PhaseOp>(op.getOperation()))
    number = t.floorModConstant(t.floorDivConstant(number, op.getCount()), 2);
  else
    number = t.floorModConstant(number, op.getCount());
  t.define(op, number);
}

namespace {
/// The versions and phases of a loop's own iterations go round as the loop runs, so no iteration
/// divides: each is carried by the loop, in 32 bits. The next iteration's version at distance d is
/// this one's at d + 1, where there is such, else one more, or 0 after the last; then the phase
/// changes. Distances of whole rounds have the same version, and the same or the other phase.
class CarriedCounts {
public:
  CarriedCounts(Thread &t, PipelinedOp loop) : t(t), b(t.b), loop(loop) {
    for (Operation &op : loop.getBody().front()) {
      if (auto version = dyn_cast<VersionOp>(op); version && isOwn(version))
        find(version.getFirst(), version.getAhead(), version.getCount()).versions.push_back(&op);
      if (auto phase = dyn_cast<PhaseOp>(op); phase && isOwn(phase)) {
        Count &count = find(phase.getFirst(), phase.getAhead(), phase.getCount());
        bool isOther = phase.getAhead() / phase.getCount() % 2;
        (isOther ? count.otherPhases : count.phases).push_back(&op);
      }
    }
  }

  SmallVector<Value> getStarts();
  /// Defines the ops for this iteration; gives what the next one starts from.
  SmallVector<Value> advance(ValueRange current);

private:
  /// Ops of one distance.
  struct Count {
    Value first;
    int64_t ahead, count;
    SmallVector<Operation *> versions, phases, otherPhases;

    bool hasPhases() const { return !phases.empty() || !otherPhases.empty(); }
  };
  template <typename CountOp> bool isOwn(CountOp op) {
    return op.getIteration() == loop.getInductionVar() &&
           (op.getFirst() == loop.getLower() ||
            !loop->isAncestor(op.getFirst().getParentRegion()->getParentOp()));
  }
  Count &find(Value first, int64_t ahead, int64_t count) {
    ahead %= count;
    for (Count &known : counts)
      if (known.first == first && known.ahead == ahead && known.count == count)
        return known;
    return counts.emplace_back(Count{first, ahead, count, {}, {}, {}});
  }
  Value number(int64_t value) { return t.constant(b.getI32IntegerAttr(int32_t(value))); }
  Value startOf(const Count &count, bool isPhase);

  Thread &t;
  ImplicitLocOpBuilder &b;
  PipelinedOp loop;
  SmallVector<Count> counts;
};
} // namespace

Value CarriedCounts::startOf(const Count &count, bool isPhase) {
  if (count.first == loop.getLower())
    return number(isPhase ? 0 : count.ahead);
  Value first = b.createOrFold<arith::SubIOp>(t.mapped(loop.getLower()), t.mapped(count.first));
  first = b.createOrFold<arith::AddIOp>(first, t.index(count.ahead));
  first = isPhase ? t.floorModConstant(t.floorDivConstant(first, count.count), 2)
                  : t.floorModConstant(first, count.count);
  return arith::IndexCastOp::create(b, b.getI32Type(), first);
}

SmallVector<Value> CarriedCounts::getStarts() {
  SmallVector<Value> starts;
  for (const Count &count : counts) {
    starts.push_back(startOf(count, /*isPhase=*/false));
    if (count.hasPhases())
      starts.push_back(startOf(count, /*isPhase=*/true));
  }
  return starts;
}

SmallVector<Value> CarriedCounts::advance(ValueRange current) {
  SmallVector<unsigned> positions; // of each count's version
  unsigned next = 0;
  for (const Count &count : counts) {
    positions.push_back(next);
    next += count.hasPhases() ? 2 : 1;
  }
  auto define = [&](ArrayRef<Operation *> ops, Value value) {
    Value index = arith::IndexCastUIOp::create(b, b.getIndexType(), value);
    for (Operation *op : ops)
      t.carried[op] = index;
  };
  SmallVector<Value> following;
  for (auto [count, position] : llvm::zip_equal(counts, positions)) {
    Value version = current[position];
    define(count.versions, version);
    auto *after = llvm::find_if(counts, [&, &own = count](const Count &other) {
      return other.first == own.first && other.count == own.count && !own.hasPhases() &&
             other.ahead == (own.ahead + 1) % own.count;
    });
    if (after != counts.end()) {
      following.push_back(current[positions[after - counts.begin()]]);
      continue;
    }
    Value one = arith::AddIOp::create(b, version, number(1));
    Value isLast = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, one, number(count.count));
    following.push_back(arith::SelectOp::create(b, isLast, number(0), one));
    if (!count.hasPhases())
      continue;
    Value phase = current[position + 1];
    Value other = arith::XOrIOp::create(b, phase, number(1));
    define(count.phases, phase);
    define(count.otherPhases, other);
    following.push_back(arith::SelectOp::create(b, isLast, other, phase));
  }
  return following;
}

static LogicalResult lowerPipelined(Thread &t, PipelinedOp op) {
  ImplicitLocOpBuilder &b = t.b;
  CarriedCounts counts(t, op);
  auto loop = scf::ForOp::create(b, t.mapped(op.getLower()), t.mapped(op.getUpper()), t.index(1),
                                 counts.getStarts());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  b.setLoc(op.getLoc());
  t.define(op.getInductionVar(), loop.getInductionVar());
  SmallVector<Value> next = counts.advance(loop.getRegionIterArgs());
  if (failed(lowerBlock(t, op.getBody().front())))
    return failure();
  if (!next.empty())
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
    if (op->hasAttr(kLeavesOpenAttr) && &from == &op.getElseRegion())
      dropHeldOperands(t, op);
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

void fenceProxy(Thread &t, Attribute fence) {
  MLIRContext *context = t.b.getContext();
  if (isa<StringAttr>(fence)) // "all": global memory too
    NVVM::FenceProxyOp::create(t.b, NVVM::ProxyKindAttr::get(context, NVVM::ProxyKind::async),
                               NVVM::SharedSpaceAttr());
  else
    NVVM::FenceProxyOp::create(t.b,
                               NVVM::ProxyKindAttr::get(context, NVVM::ProxyKind::async_shared),
                               NVVM::SharedSpaceAttr::get(context, NVVM::SharedSpace::shared_cta));
}

/// Programmatic dependent launch: a launch that may begin before the one in front of it has ended waits
/// here for its end, or lets the next one begin.
static void lowerHint(Thread &t, HintOp hint) {
  StringRef instruction = llvm::StringSwitch<StringRef>(hint.getName())
                              .Case("pdl_sync", "griddepcontrol.wait;")
                              .Case("pdl_trigger", "griddepcontrol.launch_dependents;")
                              .Default("");
  if (t.arch.version >= 90 && !instruction.empty())
    callPtx(t.b, instruction, "~{memory}", {}, {});
}

LogicalResult lowerOp(Thread &t, Operation *op) {
  ImplicitLocOpBuilder &b = t.b;
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](AllocOp alloc) {
        t.addTile(alloc);
        return success();
      })
      .Case<SliceOp, ViewOp>([](Operation *) { return success(); }) // resolved where they are used
      .Case<AnnotateLayoutOp, AnnotateSafeValueOp, UseSwizzleOp, AssumeOp>(
          [](Operation *) { return success(); })
      .Case([&](HintOp hint) {
        lowerHint(t, hint);
        return success();
      })
      .Case([&](BarrierOp barrier) {
        if (Attribute fence = barrier->getAttr(kProxyFenceAttr))
          fenceProxy(t, fence);
        t.barrier();
        return success();
      })
      .Case([&](AsyncGroupOp group) { return lowerAsyncGroup(t, group); })
      .Case([&](AsyncWaitOp wait) {
        NVVM::CpAsyncWaitGroupOp::create(b, uint32_t(wait.getPending()));
        return success();
      })
      .Case([&](BulkGroupOp group) { return lowerBulkStores(t, group); })
      .Case([&](BulkWaitOp wait) {
        lowerBulkWait(t, wait);
        return success();
      })
      .Case([&](ProductWaitOp wait) {
        lowerProductWait(t, wait);
        return success();
      })
      .Case([&](TurnOp turn) {
        lowerTurn(t, turn);
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
      .Case<VersionOp, PhaseOp>([&](auto count) {
        lowerCount(t, count);
        return success();
      })
      .Case([&](BarrierWaitOp wait) {
        lowerBarrierWait(t, wait);
        return success();
      })
      .Case([&](BarrierArriveOp arrive) {
        lowerBarrierArrive(t, arrive);
        return success();
      })
      .Case([](BarrierAllocOp) { return success(); }) // lowerKernel's
      .Case([&](RoleOp role) {
        return role->hasAttr(kFirstThreadAttr) ? lowerTeamRole(t, role) : success();
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
