//===- LowerControl.cpp - loops and branches --------------------------------------------------===//

#include "Lowerings.h"
#include "Polls.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

void tilewright::cpu::lowerPipelined(tile::PipelinedOp op, Emitter &e) {
  bool isPolled = hasStatement(op);
  auto iteration = [&](ArrayRef<Value> variables) {
    if (isPolled)
      e.services.poll();
    e.define(op.getInductionVar(), variables[0]);
    lowerRegion(op.getBody(), e);
  };
  e.loopNest({e.lookup(op.getLower())}, {e.lookup(op.getUpper())}, /*isParallel=*/false, iteration,
             isPolled ? 1 : countIterations(op.getBody()));
}

void tilewright::cpu::lowerFor(scf::ForOp op, Emitter &e) {
  Value lower = e.lookup(op.getLowerBound()), upper = e.lookup(op.getUpperBound()),
        step = e.lookup(op.getStep());
  if (!e.ranges.get(step).isWithin(1, std::numeric_limits<int64_t>::max())) {
    // A loop's step must be positive; one that is not would never end.
    Value isBad = e.compare(arith::CmpIPredicate::slt, step, e.numbers.integer(step.getType(), 1));
    e.ifTrue(isBad, [&] { e.services.fail("a loop's step must be positive"); });
    step = e.b.createOrFold<arith::MaxSIOp>(step, e.numbers.integer(step.getType(), 1));
  }
  SmallVector<Value> results =
      loopWithPolls(e, op, lower, upper, step, [&](Value variable, ValueRange carried) {
        e.define(op.getInductionVar(), variable);
        for (auto [old, now] : llvm::zip_equal(op.getRegionIterArgs(), carried))
          e.define(old, now);
        lowerRegion(op.getRegion(), e);
        return e.lookupAll(op.getYieldedValues());
      });
  for (auto [old, now] : llvm::zip_equal(op.getResults(), results))
    e.define(old, now);
}

void tilewright::cpu::lowerIf(scf::IfOp op, Emitter &e) {
  SmallVector<Type> types;
  for (Type type : op.getResultTypes())
    types.push_back(getCarrierType(type));
  bool hasElse = !op.getElseRegion().empty();
  auto branch = scf::IfOp::create(e.b, types, e.lookup(op.getCondition()), hasElse);
  OpBuilder::InsertionGuard guard(e.b);
  auto fill = [&](Region &region, Block *block) {
    e.b.setInsertionPointToStart(block);
    lowerRegion(region, e);
    if (types.empty())
      return;
    auto yield = cast<scf::YieldOp>(region.front().getTerminator());
    scf::YieldOp::create(e.b, e.lookupAll(yield.getOperands()));
  };
  fill(op.getThenRegion(), branch.thenBlock());
  if (hasElse)
    fill(op.getElseRegion(), branch.elseBlock());
  for (auto [old, now] : llvm::zip_equal(op.getResults(), branch.getResults()))
    e.define(old, now);
}

void tilewright::cpu::lowerWhile(scf::WhileOp op, Emitter &e) {
  SmallVector<Type> types;
  for (Type type : op.getResultTypes())
    types.push_back(getCarrierType(type));
  SmallVector<Value> initial = e.lookupAll(op.getInits());
  auto loop = scf::WhileOp::create(e.b, types, initial);
  OpBuilder::InsertionGuard guard(e.b);
  auto enter = [&](Region &from, Region &to, TypeRange argumentTypes) {
    SmallVector<Location> locations(argumentTypes.size(), e.b.getLoc());
    Block *block = e.b.createBlock(&to, to.end(), argumentTypes, locations);
    for (auto [old, now] : llvm::zip_equal(from.getArguments(), block->getArguments()))
      e.define(old, now);
    lowerRegion(from, e);
  };
  enter(op.getBefore(), loop.getBefore(), ValueRange(initial).getTypes());
  if (e.canPoll())
    e.services.poll();
  scf::ConditionOp::create(e.b, e.lookup(op.getConditionOp().getCondition()),
                           e.lookupAll(op.getConditionOp().getArgs()));
  enter(op.getAfter(), loop.getAfter(), types);
  scf::YieldOp::create(e.b, e.lookupAll(op.getYieldOp().getOperands()));
  for (auto [old, now] : llvm::zip_equal(op.getResults(), loop.getResults()))
    e.define(old, now);
}
